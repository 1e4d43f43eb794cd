//! The folders to publish.

use std::fs;
use std::path::MAIN_SEPARATOR;

use crate::support::TempDir;
use ide_mcp::ide::paths::spellings;
use ide_mcp_lockfile::{system, workspace_folders};

#[test]
fn a_plain_folder_is_listed_once() {
    let temp = TempDir::new();
    fs::create_dir(temp.join("p")).unwrap();
    let given = [temp.join("p"), temp.join("p"), temp.join(&format!("p{MAIN_SEPARATOR}"))];
    // On Windows other spellings follow.
    let once = spellings(given[0].to_str().unwrap(), system());
    assert_eq!(workspace_folders(&given).unwrap(), once);
    assert!(workspace_folders([""; 0]).unwrap().is_empty());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use ide_mcp_lockfile::Error;

    fn text(path: &Path) -> String {
        path.to_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn missing_folder_is_listed_as_given() {
        let temp = TempDir::new();
        assert_eq!(workspace_folders([temp.join("missing")]).unwrap(), [text(&temp.join("missing"))]);
    }

    #[test]
    fn l08_linked_folder_is_listed_in_both_forms() {
        let temp = TempDir::new();
        fs::create_dir_all(temp.join("real/sub")).unwrap();
        symlink(temp.join("real"), temp.join("link")).unwrap();
        let (real, link) = (text(&temp.join("real")), text(&temp.join("link")));
        let sub = |path: &str| format!("{path}/sub");
        let cases = [
            ("the link", vec![temp.join("link")], vec![link.clone(), real.clone()]),
            ("below the link", vec![temp.join("link/sub/")], vec![sub(&link), sub(&real)]),
            ("both", vec![temp.join("real"), temp.join("link")], vec![real.clone(), link.clone()]),
            ("dots", vec![temp.join("link/./sub")], vec![sub(&link), sub(&real)]),
            ("up again", vec![temp.join("link/sub/..")], vec![real.clone()]),
        ];
        for (name, given, expected) in cases {
            assert_eq!(workspace_folders(given).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn unresolvable_or_non_unicode_folder_is_error() {
        let temp = TempDir::new();
        let odd = temp.path().join(OsStr::from_bytes(b"\xff"));
        assert!(matches!(workspace_folders([&odd]), Err(Error::NotUnicode { .. })));
        symlink(temp.join("loop"), temp.join("loop")).unwrap();
        assert!(matches!(workspace_folders([temp.join("loop")]), Err(Error::Io { .. })));
    }
}
