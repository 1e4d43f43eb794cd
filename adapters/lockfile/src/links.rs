//! Resolves a path, link by link.

use std::ffi::OsString;
use std::fs::{self, Metadata, symlink_metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf, absolute};

/// Returns the path without symbolic links and `..`, on macOS and Windows with the case on disk.
///
/// Windows cannot do this on a drive that its mount manager does not know, such as a disk in memory (ImDisk,
/// dokan: "Incorrect function (os error 1)"). There we follow the links ourselves, so that such a folder can
/// be opened, and no link in it gets past the check of a path.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    or_follow(fs::canonicalize(path), path)
}

fn or_follow(found: io::Result<PathBuf>, path: &Path) -> io::Result<PathBuf> {
    match found {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let followed = follow(&absolute(path)?, |_, _, _| {});
            followed.map_err(|(_, error)| error)?.ok_or(error)
        }
        found => found,
    }
}

/// What lies on the way to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A directory above the file.
    Above,
    /// A symbolic link. Its owner decides where it leads.
    Link,
}

/// Follows an absolute path from its root, link by link, and returns it without links; `None` if a part of it
/// does not exist. `see` gets each directory and each link on the way. An error comes with the path that
/// caused it.
pub(crate) fn follow(
    path: &Path,
    mut see: impl FnMut(Step, &Path, &Metadata),
) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
    let mut left: Vec<OsString> = Vec::new();
    push(&mut left, path);
    let (mut at, mut links) = (root(path), 0_u32);
    match symlink_metadata(&at) {
        Ok(metadata) => see(Step::Above, &at, &metadata),
        Err(error) => return Err((at, error)),
    }
    while let Some(part) = left.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        let metadata = match symlink_metadata(&next) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err((next, error)),
        };
        if !metadata.is_symlink() {
            at = next;
            if !left.is_empty() {
                see(Step::Above, &at, &metadata);
            }
            continue;
        }
        links = links.saturating_add(1);
        if links > MAX_LINKS {
            return Err((next, io::Error::other(format!("there are more than {MAX_LINKS} symbolic links"))));
        }
        see(Step::Link, &next, &metadata);
        let target = fs::read_link(&next).map_err(|error| (next, error))?;
        if target.is_absolute() {
            at = root(&target);
        } else if target.has_root() {
            // On Windows: the root of the same drive.
            at = root(&at);
        }
        push(&mut left, &target);
    }
    Ok(Some(at))
}

/// How many symbolic links Linux follows in one path.
const MAX_LINKS: u32 = 40;

/// Returns the root of a path, on Windows with its drive or share.
fn root(path: &Path) -> PathBuf {
    let is_root = |part: &Component<'_>| matches!(part, Component::Prefix(_) | Component::RootDir);
    path.components().take_while(is_root).collect()
}

/// Pushes the names of a path onto the stack, the first name on top.
fn push(left: &mut Vec<OsString>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::Normal(name) => left.push(name.to_owned()),
            Component::ParentDir => left.push("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;
    use crate::temp_dir::TempDir;

    /// What Windows returns for a drive that it does not know.
    fn refused() -> io::Result<PathBuf> {
        Err(io::Error::from_raw_os_error(1))
    }

    #[test]
    fn folder_that_the_system_cannot_resolve_is_followed() {
        let temp = TempDir::new();
        fs::create_dir_all(temp.join("p/sub")).unwrap();
        fs::write(temp.join("p/file"), "").unwrap();
        for (given, expected) in [
            ("p", Some("p")),
            ("p/sub/", Some("p/sub")),
            ("p/./sub/../file", Some("p/file")),
            ("p/missing", None),
            ("missing/p", None),
        ] {
            let found = or_follow(refused(), &temp.join(given));
            match expected {
                Some(path) => assert_eq!(found.unwrap(), temp.join(path), "{given}"),
                None => assert_eq!(found.unwrap_err().raw_os_error(), Some(1), "{given}: the first error"),
            }
        }
        let missing = or_follow(Err(ErrorKind::NotFound.into()), &temp.join("p"));
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound, "Windows knows this drive");
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_where_the_system_says() {
        use std::os::unix::fs::symlink;
        let temp = TempDir::new();
        fs::create_dir_all(temp.join("p/sub")).unwrap();
        fs::create_dir_all(temp.join("q/r")).unwrap();
        fs::write(temp.join("q/r/file"), "").unwrap();
        for (target, link) in [
            (temp.join("q"), "p/absolute"),
            ("../q/r".into(), "p/relative"),
            ("../../p/relative".into(), "p/sub/chain"),
            ("./../q/../q/./r".into(), "p/dots"),
            ("loop".into(), "loop"),
            ("missing".into(), "dangling"),
        ] {
            symlink(target, temp.join(link)).unwrap();
        }
        for given in
            ["p/absolute/r/file", "p/relative/file", "p/sub/chain/file", "p/dots/..", "p/relative/../r", "q"]
        {
            let path = temp.join(given);
            assert_eq!(or_follow(refused(), &path).unwrap(), fs::canonicalize(&path).unwrap(), "{given}");
        }
        assert_eq!(or_follow(refused(), &temp.join("dangling")).unwrap_err().raw_os_error(), Some(1));
        assert!(or_follow(refused(), &temp.join("loop")).unwrap_err().to_string().contains("more than 40"));
        // One link more than the limit, and the limit.
        symlink("p", temp.join("chain 0")).unwrap();
        for link in 1..=40 {
            symlink(format!("chain {}", link - 1), temp.join(&format!("chain {link}"))).unwrap();
        }
        assert_eq!(or_follow(refused(), &temp.join("chain 39")).unwrap(), temp.join("p"));
        assert!(or_follow(refused(), &temp.join("chain 40")).is_err());
    }
}
