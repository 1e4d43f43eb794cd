//! What a path or a `file:` URI from a peer means, before you open it.
//!
//! ```text
//!  text ──`file:`?──▶ decoded once ──▶ checked name by name ──▶ LocalPath, without `.` and `..` ──▶ Inside | Outside
//!   │                    │                    │
//!   └────────────────────┴────────────────────┴──▶ Suspicious(why)
//! ```
//!
//! Only the string counts: the disk is not read, so links go unnoticed. The rules are those of the system that you
//! pass, so a program on any host can judge POSIX paths and Windows paths. Open the [`LocalPath`], not the string that
//! it was made from. If it must stay inside the folders, resolve it first (`ide_mcp_lockfile::resolve`). Nothing is
//! expanded: `~`, `$HOME`, `%TEMP%` and `*` are ordinary names.
//!
//! | given | on POSIX | on Windows |
//! | --- | --- | --- |
//! | `/home/../q` | `/q` | suspicious: no drive |
//! | `c:\w`, `C:/w`, `\\?\C:\w` | suspicious | `C:\w` |
//! | `/c/w`, `/mnt/c/w` | `/c/w`, `/mnt/c/w` | `C:\w` |
//! | `file:///home/%C3%A9` | `/home/é` | suspicious: no drive |
//! | `file:///c%3A/w` | `/c:/w` | `C:\w` |
//! | `file://C:\w`, `file://C:/w`, as written by a client that encodes nothing | suspicious: another machine | `C:\w` |
//! | `\\server\share\x`, `\\?\UNC\server\share\x` | suspicious | `\\server\share\x` |
//! | `file://server/share/x` | suspicious: another machine | suspicious: another machine |
//! | `file://wsl.localhost/Ubuntu/x` | suspicious: another machine | `\\wsl.localhost\Ubuntu\x` |
//! | `_claude_fs_right:/home/x` | `/home/x` | suspicious: no drive |
//! | `C:w`, `\w`, `\\.\C:\w`, `\\?\Volume{0}\w`, `C:\NUL`, `C:\a:b`, `C:\a.` | suspicious | suspicious |
//!
//! In WSL ([`System::Wsl`]) a Windows path is judged by the rules of Windows, and then becomes the path of the same
//! file in the distribution: `C:\w` becomes `/mnt/c/w`, and `\\wsl.localhost\Ubuntu\w` in Ubuntu becomes `/w`.
//!
//! [`spellings`] returns the other spellings of an open folder, for clients on the other side of WSL.

mod lexical;
mod spelling;
mod suspicion;
mod uri;
mod windows;

pub use spelling::{System, spellings};
pub use suspicion::Suspicion;
pub use windows::closest_window;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

pub use lexical::without_verbatim;
pub(super) use lexical::{is_absolute, is_windows};
pub(super) use spelling::{Fit, fit, resolved};
pub(super) use suspicion::check_relative;
pub(super) use uri::{Unencoded, as_written, lenient, of_file, unescaped};

/// The maximum length of a path in bytes: `PATH_MAX` of Linux, which cannot open a longer one.
pub const MAX_PATH: usize = 4096;

/// Which family of systems a path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Platform {
    /// One root, with names separated by `/`. Every other byte is part of a name.
    Posix,
    /// Drives and shares, with names separated by `/` or `\`.
    Windows,
}

impl Platform {
    /// Returns the platform this crate was compiled for.
    #[must_use]
    pub const fn native() -> Self {
        if cfg!(windows) { Self::Windows } else { Self::Posix }
    }
}

/// Whether an editor may open a path from a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathClass {
    /// In one of the open folders, as far as the string shows.
    Inside(LocalPath),
    /// An ordinary path outside the folders, such as the plans and settings of an agent. Ask the person, or follow your
    /// settings.
    Outside(LocalPath),
    /// Do not open this path, for this reason.
    Suspicious(Suspicion),
}

/// Call this before you open a path or a `file:` URI from a peer. `folders` are the open folders of your editor, and
/// the system is a [`Platform`] or a [`System`].
///
/// ```
/// use ide_mcp::ide::paths::{LocalPath, PathClass, Platform::Posix, classify};
///
/// let folders = [LocalPath::parse("/w/p", Posix)?];
/// assert!(matches!(classify("file:///w/p/a%20b", &folders, Posix), PathClass::Inside(path) if path.as_bytes() == b"/w/p/a b"));
/// assert!(matches!(classify("/w/p/../q", &folders, Posix), PathClass::Outside(_)));
/// assert!(matches!(classify("file://server/x", &folders, Posix), PathClass::Suspicious(_)));
/// # Ok::<(), ide_mcp::ide::paths::Suspicion>(())
/// ```
#[must_use]
pub fn classify<'s>(given: &str, folders: &[LocalPath], system: impl Into<System<'s>>) -> PathClass {
    match LocalPath::parse(given, system) {
        Ok(path) if folders.iter().any(|folder| path.is_within(folder)) => PathClass::Inside(path),
        Ok(path) => PathClass::Outside(path),
        Err(why) => PathClass::Suspicious(why),
    }
}

/// An absolute path in its normal form: no `.`, no `..`, no doubled and no trailing separator, a drive in upper case.
///
/// On POSIX it consists of bytes and need not be Unicode; on Windows it is Unicode.
///
/// ```
/// use ide_mcp::ide::paths::{LocalPath, Platform};
///
/// let path = LocalPath::parse("file:///home/a/../b/%C3%A9.txt", Platform::Posix).unwrap();
/// assert_eq!(path.to_str(), Some("/home/b/é.txt"));
/// assert!(LocalPath::parse("notes.txt", Platform::Posix).is_err()); // relative to what?
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalPath {
    bytes: Vec<u8>,
    windows: bool,
}

impl LocalPath {
    /// Reads an absolute path, or a `file:` URI, on a [`Platform`] or a [`System`]. In WSL pass a [`System`], because
    /// agents on Windows write Windows paths; elsewhere a [`Platform`] is enough.
    ///
    /// # Errors
    /// The first [`Suspicion`] that the path raises.
    pub fn parse<'s>(given: &str, system: impl Into<System<'s>>) -> Result<Self, Suspicion> {
        let system = system.into();
        let reads_windows = matches!(system, System::Windows | System::Wsl { .. });
        let decoded = uri::path_of(given, reads_windows)?;
        let whole = decoded.as_deref().unwrap_or(given.as_bytes());
        let of_windows = if decoded.is_some() { lexical::without_uri_slash(whole) } else { whole };
        match system {
            System::Windows => Self::from_bytes(of_windows, Platform::Windows),
            System::Wsl { distribution } if core::str::from_utf8(of_windows).is_ok_and(is_windows) => {
                let there = Self::from_bytes(of_windows, Platform::Windows)?;
                let here = spelling::in_distribution(&there, distribution).ok_or(Suspicion::NotAbsolute)?;
                Self::from_bytes(here.as_bytes(), Platform::Posix)
            }
            System::Wsl { .. } | System::Linux | System::MacOs => Self::from_bytes(whole, Platform::Posix),
        }
    }

    /// Takes an absolute path, which need not be Unicode on POSIX.
    ///
    /// # Errors
    ///
    /// The first [`Suspicion`] that the path raises.
    pub fn from_bytes(given: &[u8], platform: Platform) -> Result<Self, Suspicion> {
        let windows = platform == Platform::Windows;
        let plain = core::str::from_utf8(given).ok().filter(|_| windows).map(without_verbatim);
        let given = plain.as_ref().map_or(given, |plain| plain.as_bytes());
        suspicion::check(given, windows)?;
        let bytes = lexical::normal(given, windows).ok_or(Suspicion::NotAbsolute)?;
        // A drive in the form `/c` is longer in its normal form.
        if bytes.len() > MAX_PATH {
            return Err(Suspicion::TooLong { len: bytes.len() });
        }
        Ok(Self { bytes, windows })
    }

    /// Returns the bytes of the path.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the path as a string; `None` if it is not Unicode.
    #[must_use]
    pub fn to_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.bytes).ok()
    }

    /// Returns true if the path is `folder` or below it, name by name. Names are compared byte for byte, even if the
    /// file system ignores a difference such as case. At worst, a path inside then counts as outside, and the person is
    /// asked.
    #[must_use]
    pub fn is_within(&self, folder: &Self) -> bool {
        self.windows == folder.windows && lexical::is_below(&self.bytes, &folder.bytes, self.windows)
    }

    /// Returns how many names the path has; a drive counts as one.
    fn depth(&self) -> usize {
        let separator = if self.windows { b'\\' } else { b'/' };
        self.bytes.split(|byte| *byte == separator).filter(|name| !name.is_empty()).count()
    }

    /// Returns the path as a `file:` URI (RFC 8089). Everything is percent-encoded except the characters that RFC 3986
    /// calls unreserved, the separators, and the colon of a drive. A share begins with four slashes, so that its server
    /// is not read as an authority.
    #[must_use]
    pub fn to_uri(&self) -> String {
        uri::of(&self.bytes, self.windows)
    }

    /// Returns the path as it is written by POSIX tools on Windows, and in the lock file of one plugin: `C:\w\p` as
    /// `/c/w/p`, a share with slashes. `None` if it is not Unicode.
    #[must_use]
    pub fn to_posix_form(&self) -> Option<String> {
        Some(posix_form(self.to_str()?).into_owned())
    }
}

/// Returns an absolute Windows path as POSIX tools write it: `C:\w\p` as `/c/w/p`, a share with slashes, both without
/// `\\?\`. Returns any other path unchanged.
pub(super) fn posix_form(path: &str) -> Cow<'_, str> {
    if !is_windows(path) {
        return Cow::Borrowed(path);
    }
    let slashed = without_verbatim(path).replace('\\', "/");
    Cow::Owned(match slashed.split_once(':').filter(|(drive, _)| drive.len() == 1) {
        Some((drive, rest)) => {
            let rest = rest.trim_end_matches('/');
            alloc::format!("/{}{rest}", drive.to_ascii_lowercase())
        }
        None => slashed,
    })
}

impl fmt::Debug for LocalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.bytes).fmt(f)
    }
}

#[cfg(test)]
mod tests;
