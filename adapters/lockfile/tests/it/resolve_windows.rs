//! The spellings of a path that clients on Windows send, resolved on a real disk.

use std::fs;

use crate::support::TempDir;
use ide_mcp::ide::paths::{LocalPath, PathClass, Platform, Suspicion};
use ide_mcp_lockfile::classify;

#[test]
fn p06_each_spelling_leads_to_the_file() {
    let temp = TempDir::new();
    fs::create_dir_all(temp.join(r"p\Sub")).unwrap();
    fs::create_dir(temp.join("q")).unwrap();
    fs::write(temp.join(r"p\Sub\a b.txt"), "").unwrap();
    // The temporary directory itself may be spelled in another case than on disk.
    let root = fs::canonicalize(temp.path()).unwrap();
    let root = LocalPath::parse(root.to_str().unwrap(), Platform::Windows).unwrap();
    let folders = [LocalPath::parse(&format!(r"{}\p", root.to_str().unwrap()), Platform::Windows).unwrap()];
    let file = format!(r"{}\p\Sub\a b.txt", root.to_str().unwrap());
    let (drive, behind) = file.split_once(':').unwrap();
    let slashed = behind.replace('\\', "/");
    let uri = LocalPath::parse(&file, Platform::Windows).unwrap().to_uri();
    for given in [
        file.clone(),
        file.to_lowercase(),
        file.to_uppercase(),
        format!("{drive}:{slashed}"),
        format!(r"\\?\{file}"),
        format!("/{}{slashed}", drive.to_lowercase()),
        format!("/mnt/{}{slashed}", drive.to_lowercase()),
        format!("file://{file}"),
        format!("file://{}", file.to_lowercase()),
        format!("file://{drive}:{slashed}"),
        format!("file:///{drive}:{slashed}"),
        uri.clone(),
        uri.replacen(':', "%3A", 2).replacen("%3A", ":", 1),
    ] {
        match classify(&given, &folders) {
            Ok(PathClass::Inside(path)) => assert_eq!(path.to_str(), Some(file.as_str()), "{given}"),
            other => panic!("{given}: {other:?}"),
        }
    }
    let of = |given: &str| classify(given, &folders).unwrap();
    let new = format!(r"file://{}\P\SUB\New.txt", root.to_str().unwrap());
    assert!(
        matches!(of(&new), PathClass::Inside(path) if path.to_str().unwrap().ends_with(r"\p\Sub\New.txt"))
    );
    let outside = format!(r"file://{}\p\..\q\x", root.to_str().unwrap());
    assert!(matches!(of(&outside), PathClass::Outside(_)));
    for (given, why) in [
        (format!("file://{file}::$DATA"), Suspicion::Stream),
        (format!(r"\\?\{file}."), Suspicion::TrailingDotOrSpace),
        (format!(r"\\.\{file}"), Suspicion::DevicePath),
        (format!(r"file://{}\p\NUL", root.to_str().unwrap()), Suspicion::DeviceName),
    ] {
        assert_eq!(of(&given), PathClass::Suspicious(why), "{given}");
    }
}
