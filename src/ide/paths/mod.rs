//! What a path or a `file:` URI of a peer means, before anybody opens it.
//!
//! ```text
//!  text ──`file:`?──▶ decoded once ──▶ checked name by name ──▶ LocalPath, without `.` and `..` ──▶ Inside | Outside
//!   │                    │                    │
//!   └────────────────────┴────────────────────┴──▶ Suspicious(why)
//! ```
//!
//! It is decided as text, for either family of systems on either: no disk is asked, so a symbolic link is not seen.
//! Open the [`LocalPath`] and not the text that it was made of, and where it must not leave the folders, resolve it
//! first (`ide_mcp_lockfile::resolve`). Nothing is expanded: `~`, `$HOME`, `%TEMP%` and `*` are names like others.
//!
//! | given | on POSIX | on Windows |
//! | --- | --- | --- |
//! | `/home/../q` | `/q` | suspicious: no drive |
//! | `c:\w`, `C:/w`, `/c/w` | suspicious, suspicious, `/c/w` | `C:\w` |
//! | `file:///home/%C3%A9` | `/home/é` | suspicious: no drive |
//! | `file:///c%3A/w` | `/c:/w` | `C:\w` |
//! | `\\server\share\x` | suspicious | `\\server\share\x` |
//! | `_claude_fs_right:/home/x` | `/home/x` | suspicious: no drive |
//! | `C:w`, `\w`, `\\?\C:\w`, `C:\NUL`, `C:\a:b`, `C:\a.` | suspicious | suspicious |
//!
//! [`spellings`] returns the other spellings of an open folder, by which clients on the far side of WSL know it.

pub(super) mod display;
mod lexical;
mod spelling;
mod suspicion;
mod uri;

pub use spelling::{System, spellings};
pub use suspicion::Suspicion;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

pub(super) use lexical::{is_absolute, is_windows};
pub(super) use spelling::{Fit, fit, resolved};
pub(super) use suspicion::check_relative;
pub(super) use uri::{Unencoded, as_written, lenient, unescaped};

/// The most bytes a path may have: `PATH_MAX` of Linux. What is longer could not be opened there.
pub const MAX_PATH: usize = 4096;

/// Whose rules a path follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Platform {
    /// One root, names separated by `/`, every other byte is part of a name.
    Posix,
    /// Drives and shares, names separated by `/` or `\`.
    Windows,
}

impl Platform {
    /// The one that this was compiled for.
    #[must_use]
    pub const fn native() -> Self {
        if cfg!(windows) { Self::Windows } else { Self::Posix }
    }
}

/// What a path of a peer is to an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathClass {
    /// In one of the open folders, as far as the text tells.
    Inside(LocalPath),
    /// A path like others, elsewhere: plans and settings of an agent are. Ask the person, or the settings.
    Outside(LocalPath),
    /// Nothing to be opened.
    Suspicious(Suspicion),
}

/// What `given`, a path or a `file:` URI of a peer, is to an editor with these folders.
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
pub fn classify(given: &str, folders: &[LocalPath], platform: Platform) -> PathClass {
    match LocalPath::parse(given, platform) {
        Ok(path) if folders.iter().any(|folder| path.is_within(folder)) => PathClass::Inside(path),
        Ok(path) => PathClass::Outside(path),
        Err(why) => PathClass::Suspicious(why),
    }
}

/// An absolute path in its only form: no `.`, no `..`, no doubled and no trailing separator, a drive in upper case.
///
/// On POSIX it is bytes and need not be Unicode; on Windows it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalPath {
    bytes: Vec<u8>,
    windows: bool,
}

impl LocalPath {
    /// Reads an absolute path, or a `file:` URI.
    ///
    /// # Errors
    /// The first [`Suspicion`] that it raises.
    pub fn parse(given: &str, platform: Platform) -> Result<Self, Suspicion> {
        match uri::path_of(given)? {
            Some(decoded) => Self::from_bytes(lexical::without_uri_slash(&decoded, platform), platform),
            None => Self::from_bytes(given.as_bytes(), platform),
        }
    }

    /// Takes an absolute path, which may be no Unicode on POSIX.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn from_bytes(given: &[u8], platform: Platform) -> Result<Self, Suspicion> {
        let windows = platform == Platform::Windows;
        suspicion::check(given, windows)?;
        let bytes = lexical::normal(given, windows).ok_or(Suspicion::NotAbsolute)?;
        // A drive that was written as `/c` is longer in its own form.
        if bytes.len() > MAX_PATH {
            return Err(Suspicion::TooLong { len: bytes.len() });
        }
        Ok(Self { bytes, windows })
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its text; `None` where it is no Unicode.
    #[must_use]
    pub fn to_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.bytes).ok()
    }

    /// Whether it is `folder` or lies below it, name by name. Names are compared byte for byte, also where a file system
    /// would not: what is taken for outside then is only asked about.
    #[must_use]
    pub fn is_within(&self, folder: &Self) -> bool {
        self.windows == folder.windows && lexical::is_below(&self.bytes, &folder.bytes, self.windows)
    }

    /// The path as a `file:` URI (RFC 8089): everything is percent-encoded but what RFC 3986 calls unreserved, the
    /// separators, and the colon of a drive. A share has four slashes in front, so that nobody takes it for an authority.
    #[must_use]
    pub fn to_uri(&self) -> String {
        uri::of(&self.bytes, self.windows)
    }

    /// The form that POSIX tools on Windows use, and one plugin in its lock file: `C:\w\p` as `/c/w/p`, a share with
    /// slashes. `None` where it is no Unicode.
    #[must_use]
    pub fn to_posix_form(&self) -> Option<String> {
        let text = self.to_str()?;
        if !self.windows {
            return Some(text.into());
        }
        let slashed = text.replace('\\', "/");
        Some(match slashed.split_once(':') {
            Some((drive, rest)) => {
                let rest = rest.trim_end_matches('/');
                alloc::format!("/{}{rest}", drive.to_ascii_lowercase())
            }
            None => slashed,
        })
    }
}

impl fmt::Debug for LocalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.bytes).fmt(f)
    }
}

#[cfg(test)]
mod tests;
