//! A peer's paths against a disk with symbolic links.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::TempDir;
use ide_mcp::ide::paths::{LocalPath, PathClass, Platform, Suspicion};
use ide_mcp_lockfile::{Error, classify, resolve};

fn local(path: &Path) -> LocalPath {
    LocalPath::from_bytes(path.as_os_str().as_bytes(), Platform::Posix).unwrap()
}

/// Creates a folder `p` with links out of it and into it.
fn world() -> TempDir {
    let temp = TempDir::new();
    for dir in ["p/sub", "q"] {
        fs::create_dir_all(temp.join(dir)).unwrap();
    }
    fs::write(temp.join("p/file"), "").unwrap();
    fs::write(temp.join("q/secret"), "").unwrap();
    symlink(temp.join("q"), temp.join("p/link")).unwrap();
    symlink(temp.join("p"), temp.join("alias")).unwrap();
    symlink(temp.join("q/not yet"), temp.join("p/dangling")).unwrap();
    symlink(temp.join("p/loop"), temp.join("p/loop")).unwrap();
    temp
}

/// Each path is classified twice: with the folder given directly, and through a link.
#[test]
fn p02_p03_links_are_resolved_on_both_sides() {
    let temp = world();
    let cases: &[(&str, bool, &str)] = &[
        ("p/file", true, "p/file"),
        ("p", true, "p"),
        ("alias/file", true, "p/file"),
        ("p/new", true, "p/new"),
        ("p/new/deeper/still", true, "p/new/deeper/still"),
        ("alias/new", true, "p/new"),
        ("p/link", false, "q"),
        ("p/link/secret", false, "q/secret"),
        ("p/link/newfile", false, "q/newfile"),
        ("alias/link/new/deeper", false, "q/new/deeper"),
        ("p/sub/../../q/secret", false, "q/secret"),
        ("p/nowhere/../../q/secret", false, "q/secret"),
        ("p_evil", false, "p_evil"),
    ];
    for folder in ["p", "alias"] {
        let folders = [local(&temp.join("missing")), local(&temp.join(folder))];
        for (given, inside, resolved) in cases {
            let resolved = local(&temp.join(resolved));
            let expected = if *inside { PathClass::Inside(resolved) } else { PathClass::Outside(resolved) };
            let given = temp.join(given);
            let text = given.to_str().unwrap();
            assert_eq!(classify(text, &folders).unwrap(), expected, "{text} in {folder}");
            assert_eq!(
                classify(&format!("file://{text}"), &folders).unwrap(),
                expected,
                "{text} in {folder}"
            );
        }
    }
}

#[test]
fn p03_unresolvable_path_is_an_error_never_inside() {
    let temp = world();
    let folders = [local(&temp.join("p"))];
    let of = |name: &str| classify(temp.join(name).to_str().unwrap(), &folders);
    for name in ["p/dangling", "p/dangling/x", "alias/dangling"] {
        assert!(matches!(of(name), Err(Error::Dangling { .. })), "{name}: {:?}", of(name));
    }
    for name in ["p/loop", "p/loop/x", "p/file/x"] {
        assert!(matches!(of(name), Err(Error::Io { .. })), "{name}: {:?}", of(name));
    }
    let suspicious = classify("file://server/x", &folders).unwrap();
    assert_eq!(suspicious, PathClass::Suspicious(Suspicion::Authority));
    assert_eq!(resolve(&local(Path::new("/"))).unwrap(), local(Path::new("/")));
    assert_eq!(resolve(&local(Path::new("/no/such"))).unwrap(), local(Path::new("/no/such")));
}
