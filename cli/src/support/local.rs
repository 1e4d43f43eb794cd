//! Paths of this system in the one form that people and agents see: on Windows `C:\p\a.txt`, also for `c:/p/a.txt` and
//! for the `\\?\C:\p\a.txt` that resolving returns.

use ide_mcp::ide::paths::{LocalPath, Platform, System};
use ide_mcp::ide::tool::WorkspaceFolder;
use ide_mcp_lockfile::system;
use std::io;
use std::path::{Path, PathBuf};

/// Returns an absolute path in its plain form. On POSIX that is the path as it is, since what `..` means there
/// depends on the links before it.
pub(crate) fn plain(path: &Path) -> PathBuf {
    plain_on(path, system())
}

fn plain_on(path: &Path, system: System<'_>) -> PathBuf {
    let local = path.to_str().filter(|_| system == System::Windows);
    local.and_then(|path| read(path, system)).unwrap_or_else(|| path.to_owned())
}

fn read(text: &str, system: System<'_>) -> Option<PathBuf> {
    LocalPath::parse(text, system).ok()?.to_str().map(Into::into)
}

/// Resolves the symbolic links of a path, and returns its plain form.
///
/// # Errors
/// Every error of the system.
pub(crate) fn resolved(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map(|path| plain(&path))
}

/// Returns the absolute path in its plain form.
///
/// # Errors
/// The path is empty, or there is no working directory.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path).map(|path| plain(&path))
}

/// Returns `real`, which has the case on the disk, if the path differs from it only in case and this is Windows;
/// otherwise the path.
pub(crate) fn as_on_disk(path: PathBuf, real: &Path) -> PathBuf {
    let lower = |path: &Path| path.to_str().map(str::to_lowercase);
    if cfg!(windows) && lower(&path).is_some_and(|path| Some(path) == lower(real)) {
        real.to_owned()
    } else {
        path
    }
}

/// Returns the URI of the file with this absolute path.
pub(crate) fn uri(path: &str) -> String {
    LocalPath::from_bytes(path.as_bytes(), Platform::native())
        .map_or_else(|_| uri_unencoded(path), |path| path.to_uri())
}

/// Returns the name of a file.
pub(crate) fn name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// Returns the URI as the real client writes it, without encoding anything (measured): some editors take all that
/// follows `file://` for the path.
pub(crate) fn uri_unencoded(path: &str) -> String {
    WorkspaceFolder::new(path).uri
}

/// Returns the paths that a string can mean, best first. It is a path, relative to `folder` or absolute, or a `file:`
/// URI. Some clients encode a URI and some do not, so both readings of it are returned.
///
/// # Errors
/// Why the string names no file on this machine.
pub(crate) fn meanings(text: &str, folder: &Path) -> Result<Vec<PathBuf>, String> {
    meanings_on(text, folder, system())
}

fn meanings_on(text: &str, folder: &Path, system: System<'_>) -> Result<Vec<PathBuf>, String> {
    let is_windows = system == System::Windows;
    let parsed = LocalPath::parse(text, system);
    let local = || parsed.as_ref().ok().and_then(LocalPath::to_str).map(PathBuf::from);
    if let Some(rest) = text.strip_prefix("file://") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        let literal = if is_windows {
            read(rest.strip_prefix('/').unwrap_or(rest), system)
        } else {
            rest.starts_with('/').then(|| rest.into())
        };
        let mut all: Vec<PathBuf> = literal.into_iter().chain(local()).collect();
        all.dedup();
        return if all.is_empty() {
            Err(format!("{text:?} is not the URI of a file on this machine"))
        } else {
            Ok(all)
        };
    }
    let is_of_posix = text.starts_with('/');
    let is_rooted = match system {
        System::Windows => text.starts_with(['/', '\\']),
        System::Wsl { .. } => text.starts_with('\\'),
        _ => false,
    };
    match (local(), &parsed) {
        // A URI, or a Windows path.
        (Some(path), _) if is_windows || !is_of_posix => Ok(vec![path]),
        (None, Err(why)) if is_rooted => Err(format!("{text}: {why}")),
        _ if is_windows => {
            let joined = format!(r"{}\{text}", folder.display());
            match LocalPath::parse(&joined, system) {
                Ok(path) => Ok(path.to_str().map(PathBuf::from).into_iter().collect()),
                Err(why) => Err(format!("{text}: {why}")),
            }
        }
        _ => Ok(vec![folder.join(text)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use System::{Linux, Windows};

    const WSL: System<'_> = System::Wsl { distribution: Some("Ubuntu") };

    #[test]
    fn each_spelling_means_one_file() {
        let (a, b) = (r"C:\proj\a.txt", r"C:\proj\sub\b ü.txt");
        let windows: &[(&str, &str, &[&str])] = &[
            ("plain", a, &[a]),
            ("a drive in lower case, slashes and dots", "c:/proj/sub/../a.txt", &[a]),
            ("as resolving returns it", r"\\?\C:\proj\a.txt", &[a]),
            ("as POSIX tools write it", "/c/proj/a.txt", &[a]),
            ("as WSL writes it", "/mnt/c/proj/a.txt", &[a]),
            ("a relative path", "a.txt", &[a]),
            ("a relative path, down and up", r"sub\../a.txt", &[a]),
            ("a URI", "file:///C:/proj/a.txt", &[a]),
            ("a URI with an encoded drive", "file:///c%3A/proj/a.txt", &[a]),
            ("a URI of this machine", "file://localhost/C:/proj/a.txt", &[a]),
            ("a URI with one slash", "file:/C:/proj/a.txt", &[a]),
            ("as the real client writes it", r"file://C:\proj\a.txt", &[a]),
            ("the same with slashes", "file://c:/proj/a.txt", &[a]),
            ("a URI, encoded", "file:///C:/proj/sub/b%20%C3%BC.txt", &[r"C:\proj\sub\b%20%C3%BC.txt", b]),
            ("a URI, not encoded", "file:///C:/proj/sub/b ü.txt", &[b]),
            ("a URI, half encoded", "file:///C:/proj/50%", &[r"C:\proj\50%"]),
            ("a network share", r"\\Server\share\x", &[r"\\server\share\x"]),
            ("above", "..", &[r"C:\"]),
            ("elsewhere", r"D:\x", &[r"D:\x"]),
            ("a path without a drive", r"\proj\a.txt", &[]),
            ("a POSIX path", "/etc/passwd", &[]),
            ("a path relative to a drive", "C:a.txt", &[]),
            ("an alternate data stream", "a.txt::$DATA", &[]),
            ("a device", "NUL", &[]),
            ("a named pipe", r"\\.\pipe\x", &[]),
            ("another machine", "file://other/a.txt", &[]),
            ("a NUL", "a\0b", &[]),
        ];
        let posix: &[(&str, &str, &[&str])] = &[
            ("plain", "/p/a.txt", &["/p/a.txt"]),
            ("dots, which the system resolves", "/p/link/../a.txt", &["/p/link/../a.txt"]),
            ("a relative path", "sub/../a.txt", &["/p/sub/../a.txt"]),
            ("a name with a backslash", r"a\b:c", &[r"/p/a\b:c"]),
            ("a URI, encoded or not", "file:///p/%C3%BC", &["/p/%C3%BC", "/p/ü"]),
            ("a URI with one slash", "file:/p/a", &["/p/a"]),
            ("a URI of this machine", "file://localhost/p/a", &["/p/a"]),
            ("a URI, half encoded", "file:///p/50%", &["/p/50%"]),
            ("a URI with a sign in place of a digit", "file:///p/%+1", &["/p/%+1"]),
            ("another machine", "file://other/a", &[]),
            ("a Windows path", r"file://C:\p\a", &[]),
        ];
        let wsl: &[(&str, &str, &[&str])] = &[
            ("a path of the distribution", "/mnt/c/proj/a.txt", &["/mnt/c/proj/a.txt"]),
            ("a Windows path", a, &["/mnt/c/proj/a.txt"]),
            ("in the distribution", r"\\wsl.localhost\Ubuntu\p\a", &["/p/a"]),
            ("in another distribution", r"\\wsl.localhost\Debian\p\a", &[]),
            ("a Windows URI", "file:///c:/proj/a.txt", &["/c:/proj/a.txt", "/mnt/c/proj/a.txt"]),
            ("as the real client writes it", r"file://C:\proj\a.txt", &["/mnt/c/proj/a.txt"]),
            ("a relative path", "a.txt", &["/mnt/c/proj/a.txt"]),
        ];
        for (system, folder, rows) in
            [(Windows, r"C:\proj", windows), (Linux, "/p", posix), (WSL, "/mnt/c/proj", wsl)]
        {
            for (name, text, expected) in rows {
                let found = meanings_on(text, Path::new(folder), system);
                assert_eq!(found.is_err(), expected.is_empty(), "{system:?}, {name}: {found:?}");
                let found = found.unwrap_or_default();
                assert_eq!(
                    found,
                    expected.iter().map(PathBuf::from).collect::<Vec<_>>(),
                    "{system:?}, {name}"
                );
            }
        }
    }

    #[test]
    fn windows_paths_have_one_form() {
        for (path, expected) in [
            (r"\\?\C:\proj", r"C:\proj"),
            (r"\\?\UNC\server\share\p", r"\\server\share\p"),
            (r"c:/proj\", r"C:\proj"),
            (r"C:\", r"C:\"),
            // These have no other form.
            (r"\\?\Volume{0}\p", r"\\?\Volume{0}\p"),
            (r"\\?\C:\a.", r"\\?\C:\a."),
        ] {
            assert_eq!(plain_on(Path::new(path), Windows), Path::new(expected), "{path}");
        }
        for path in ["/p/../q", r"/\\?\C:\p", r"c:\p"] {
            assert_eq!(plain_on(Path::new(path), Linux), Path::new(path));
        }
    }

    #[test]
    fn files_have_uris_and_names() {
        let path = if cfg!(windows) { r"C:\proj\ü.txt" } else { "/proj/ü.txt" };
        let begin = if cfg!(windows) { "file:///C:" } else { "file://" };
        assert_eq!(uri(path), format!("{begin}/proj/%C3%BC.txt"));
        assert_eq!(uri_unencoded(path), format!("{begin}/proj/ü.txt"));
        assert_eq!(name(path), "ü.txt");
    }
}
