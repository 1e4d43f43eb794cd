//! The folders to publish. The real client resolves the links in its working directory and then compares
//! strings, so an editor that was opened through a link must publish both the given folder and the resolved
//! one. Other [`spellings`] on this [`system`] follow; Linux and macOS have none.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf, absolute};

use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::paths::{System, spellings, without_verbatim};

use crate::links::canonical;
use crate::{Error, system};

/// Returns what to put into [`LockFile::workspace_folders`] so that agents find the editor: the absolute path
/// of each folder as given and, if it differs, as resolved (without symbolic links, and on macOS and Windows
/// with the case on disk). Other [`spellings`] on this [`system`] follow; Linux and macOS have none. There
/// are no duplicates and no trailing slashes.
///
/// A missing folder is published as given. A path with `..` is published only as resolved, because the given
/// form never equals the resolved path of a client. Drive letters are upper case. The folders may take up to
/// [`LockFile::MAX_FOLDERS_LEN`] bytes; a spelling that does not fit is left out.
///
/// # Errors
/// [`Error::NotUnicode`]; [`Error::Io`] if a folder exists but cannot be resolved; [`Error::TooManyFolders`]
/// if the given and resolved folders alone exceed the limit.
pub fn workspace_folders<P: AsRef<Path>>(folders: impl IntoIterator<Item = P>) -> Result<Vec<String>, Error> {
    let mut given = Vec::new();
    for folder in folders {
        let folder = folder.as_ref();
        let logical = absolute(folder).map_err(Error::io("resolve", folder))?;
        let canonical = match canonical(&logical) {
            Ok(path) => Some(path),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io("resolve", folder)(error)),
        };
        let comparable =
            canonical.is_none() || !logical.components().any(|part| part == Component::ParentDir);
        for path in comparable.then_some(logical).into_iter().chain(canonical) {
            given.push(text(&path)?);
        }
    }
    published(given, system())
}

/// Returns the folders that fit in a lock file: first the given ones without duplicates, then their other
/// spellings.
fn published(given: Vec<String>, system: System<'_>) -> Result<Vec<String>, Error> {
    let max = LockFile::MAX_FOLDERS_LEN;
    let mut list = List::default();
    for folder in given {
        list.push(folder);
    }
    if list.len > max {
        return Err(Error::TooManyFolders { len: list.len, max });
    }
    let further: Vec<String> =
        list.folders.iter().flat_map(|folder| spellings(folder, system).into_iter().skip(1)).collect();
    for spelling in further {
        if list.len.saturating_add(json_len(&spelling)) <= max {
            list.push(spelling);
        }
    }
    Ok(list.folders)
}

/// Folders without duplicates, and their length in JSON.
#[derive(Default)]
struct List {
    folders: Vec<String>,
    len: usize,
}

impl List {
    fn push(&mut self, folder: String) {
        if !self.folders.contains(&folder) {
            self.len = self.len.saturating_add(json_len(&folder));
            self.folders.push(folder);
        }
    }
}

/// Returns how many bytes a string takes in a JSON list, with its quotes and a comma.
fn json_len(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        // Some control characters have a shorter escape; ignore that.
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum::<usize>().saturating_add(3)
}

/// Returns the path as a string for the lock file. Collecting the components drops trailing slashes.
fn text(path: &Path) -> Result<String, Error> {
    let path: PathBuf = path.components().collect();
    path.to_str().map(plain).ok_or_else(|| Error::NotUnicode { path: path.clone() })
}

/// Returns a path in the form in which we publish it.
pub(crate) fn plain(text: &str) -> String {
    if cfg!(windows) { windows_plain(text) } else { text.to_owned() }
}

/// Removes the `\\?\` that resolving adds, and makes the drive letter upper case, as the real client expects.
fn windows_plain(text: &str) -> String {
    let text = without_verbatim(text).into_owned();
    match text.split_once(':') {
        Some((drive, rest)) if drive.len() == 1 => format!("{}:{rest}", drive.to_ascii_uppercase()),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WSL: System<'_> = System::Wsl { distribution: Some("Ubuntu") };

    #[test]
    fn folders_come_first_and_other_spellings_last() {
        let cases: &[(&str, System<'_>, &[&str], &[&str])] = &[
            ("none", WSL, &[], &[]),
            ("Linux", System::Linux, &["/mnt/c/w", "/home/u", "/mnt/c/w"], &["/mnt/c/w", "/home/u"]),
            ("macOS", System::MacOs, &["/Users/u", "/users/u"], &["/Users/u", "/users/u"]),
            (
                "WSL",
                WSL,
                &["/mnt/c/w", "/home/u"],
                &["/mnt/c/w", "/home/u", r"C:\w", r"\\wsl.localhost\Ubuntu\home\u", r"\\wsl$\Ubuntu\home\u"],
            ),
            (
                "Windows",
                System::Windows,
                &[r"C:\w", r"C:\W"],
                &[r"C:\w", r"C:\W", "/mnt/c/w", "/c/w", "/mnt/c/W", "/c/W"],
            ),
        ];
        for (name, system, given, expected) in cases {
            let given = given.iter().map(ToString::to_string).collect();
            assert_eq!(published(given, *system).unwrap(), *expected, "{name}");
        }
    }

    /// Returns a lock file of `folders`, with a name and a token of usual length.
    fn file(folders: &[String]) -> LockFile {
        LockFile::new(u32::MAX, folders.to_vec(), "An editor with a long name", crate::new_token().unwrap())
    }

    #[test]
    fn length_of_folders_in_lock_file_is_limited() {
        // Each folder takes 100 bytes in JSON.
        let folder = |number: usize, fill: usize| format!("/home/{number:04}/{}", "x".repeat(fill));
        let of_100 = |count: usize| (0..count).map(|number| folder(number, 86)).collect::<Vec<_>>();
        let max = LockFile::MAX_FOLDERS_LEN;
        let most = max / 100;
        let mut full = of_100(most);
        full.push(folder(9999, max % 100 - 14));
        assert_eq!(full.iter().map(|folder| json_len(folder)).sum::<usize>(), max);

        for system in [System::Linux, WSL] {
            assert_eq!(published(full.clone(), system).unwrap(), full, "{system:?}: no room for more");
            let mut over = full.clone();
            over.last_mut().unwrap().push('x');
            let error = published(over, system).unwrap_err();
            assert!(
                matches!(error, Error::TooManyFolders { len, max: most } if len == max + 1 && most == max)
            );
            assert!(error.to_string().contains("open fewer of them"), "{error}");
        }
        let half = published(of_100(most / 2), WSL).unwrap();
        assert!(half.len() > most / 2 && half.len() < most / 2 * 3, "{}", half.len());
        assert!(half.iter().map(|folder| json_len(folder)).sum::<usize>() <= max);
        for folders in [full, half, vec!["\u{1}\"\\".repeat(max / 10 - 1)]] {
            let folders = published(folders, WSL).unwrap();
            let text = file(&folders).to_json();
            assert!(text.len() <= LockFile::MAX_LEN, "{}", text.len());
            assert_eq!(LockFile::parse(&text).unwrap().workspace_folders, folders);
        }
    }

    #[test]
    fn windows_paths_are_published_in_client_form() {
        for (given, published) in [
            (r"\\?\c:\w\p", r"C:\w\p"),
            (r"c:\w\p", r"C:\w\p"),
            (r"C:\", r"C:\"),
            (r"\\?\UNC\server\share\p", r"\\server\share\p"),
            (r"\\server\share", r"\\server\share"),
            (r"C:\a:b", r"C:\a:b"),
            (r"\\?\Volume{0}\p", r"\\?\Volume{0}\p"),
            (r"\\?\unc\server\share", r"\\server\share"),
            (r"\\.\C:\w", r"\\.\C:\w"),
            ("é:", "é:"),
            ("", ""),
        ] {
            assert_eq!(windows_plain(given), published, "{given}");
        }
    }
}
