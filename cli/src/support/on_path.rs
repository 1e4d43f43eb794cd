//! Searches PATH for a program.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Returns the first file in a search path that has one of these names. Relative directories are skipped, because a
/// command runs in a project, and must not trust the programs there.
pub(crate) fn on_path(path: &OsStr, names: &[&str]) -> Option<PathBuf> {
    let dirs = env::split_paths(path).filter(|dir| dir.is_absolute());
    let mut programs = dirs.flat_map(|dir| names.iter().map(move |name| dir.join(name)));
    programs.find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn program_is_found_in_absolute_directories() {
        let temp = crate::support::temp::private_temp_dir();
        let [a, b, c] = ["a", "b", "c"].map(|name| temp.path().join(name));
        [&a, &b, &c].into_iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
        std::fs::create_dir(a.join("claude")).unwrap();
        ["claude", "claude.cmd"].into_iter().for_each(|name| std::fs::write(b.join(name), "").unwrap());
        ["claude.exe", "claude.cmd"].into_iter().for_each(|name| std::fs::write(c.join(name), "").unwrap());
        let (unix, windows): (&[&str], &[&str]) = (&["claude"], &["claude.exe", "claude.cmd"]);
        // The tests run in the folder of the package.
        let (here, nothing) = (Path::new("."), Path::new(""));
        let cases: [(&str, &[&Path], &[&str], Option<PathBuf>); 6] = [
            ("a directory is not a program", &[&a], unix, None),
            ("the second directory", &[&a, &b], unix, Some(b.join("claude"))),
            ("a relative directory", &[here, nothing], &["Cargo.toml"], None),
            ("a name of Windows does not count on Unix", &[&a, &c], unix, None),
            ("the script that npm installs", &[&b, &c], windows, Some(b.join("claude.cmd"))),
            ("the native program comes first", &[&c], windows, Some(c.join("claude.exe"))),
        ];
        for (name, dirs, names, expected) in cases {
            assert_eq!(on_path(&env::join_paths(dirs).unwrap(), names), expected, "{name}");
        }
    }
}
