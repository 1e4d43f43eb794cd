//! The folders to publish. The real client resolves symbolic links in its working directory before it compares, so an
//! editor that was opened through one has to publish both forms.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf, absolute};

use crate::Error;

/// The absolute paths of `folders` for [`LockFile::workspace_folders`](ide_mcp::ide::LockFile): each as it was given
/// and, where that differs, without symbolic links, without doubles and without trailing slashes.
///
/// A folder that is not there is published as it was given. One with a `..` is published only in its canonical form,
/// as the other cannot be compared as text. Drive letters are upper case.
///
/// # Errors
/// [`Error::NotUnicode`]; [`Error::Io`] if a folder cannot be resolved for another reason than that it is missing.
pub fn workspace_folders<P: AsRef<Path>>(folders: impl IntoIterator<Item = P>) -> Result<Vec<String>, Error> {
    let mut published = Vec::new();
    for folder in folders {
        let folder = folder.as_ref();
        let logical = absolute(folder).map_err(Error::io("resolve", folder))?;
        let canonical = match fs::canonicalize(&logical) {
            Ok(path) => Some(path),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io("resolve", folder)(error)),
        };
        let comparable =
            canonical.is_none() || !logical.components().any(|part| part == Component::ParentDir);
        for path in comparable.then_some(logical).into_iter().chain(canonical) {
            let text = text(&path)?;
            if !published.contains(&text) {
                published.push(text);
            }
        }
    }
    Ok(published)
}

/// The path as JSON gets it. Collecting the components drops trailing slashes.
fn text(path: &Path) -> Result<String, Error> {
    let path: PathBuf = path.components().collect();
    match path.to_str() {
        Some(text) => Ok(plain(text)),
        None => Err(Error::NotUnicode { path }),
    }
}

/// The path of the system as it is published.
pub(crate) fn plain(text: &str) -> String {
    if cfg!(windows) { windows_plain(text) } else { text.to_owned() }
}

/// Without the `\\?\` that resolving brings, and with the upper-case drive letter that the real client expects.
fn windows_plain(text: &str) -> String {
    let text = match text.strip_prefix(r"\\?\UNC\") {
        Some(share) => format!(r"\\{share}"),
        None => text.strip_prefix(r"\\?\").unwrap_or(text).to_owned(),
    };
    match text.split_once(':') {
        Some((drive, rest)) if drive.len() == 1 => format!("{}:{rest}", drive.to_ascii_uppercase()),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_are_published_as_the_client_has_them() {
        for (given, published) in [
            (r"\\?\c:\w\p", r"C:\w\p"),
            (r"c:\w\p", r"C:\w\p"),
            (r"C:\", r"C:\"),
            (r"\\?\UNC\server\share\p", r"\\server\share\p"),
            (r"\\server\share", r"\\server\share"),
            (r"C:\a:b", r"C:\a:b"),
            (r"\\?\Volume{0}\p", r"Volume{0}\p"),
            ("é:", "é:"),
            ("", ""),
        ] {
            assert_eq!(windows_plain(given), published, "{given}");
        }
    }
}
