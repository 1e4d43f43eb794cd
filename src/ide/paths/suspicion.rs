//! Checks that a path from a peer is safe to open, name by name.

use super::MAX_PATH;
use super::lexical::is_separator;
use core::fmt;

/// Why a path should not be opened.
///
/// [Causes and reactions](crate::guide::errors#a-path-is-not-opened).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suspicion {
    /// The path is empty.
    Empty,
    /// The path has more than [`MAX_PATH`] bytes.
    TooLong {
        /// The length of the path in bytes.
        len: usize,
    },
    /// It has a control character. Programs disagree about those: some end a name at a NUL, for example, and others do
    /// not.
    ControlCharacter,
    /// It depends on the current directory: it has no root, or on Windows no drive.
    NotAbsolute,
    /// It is a URI whose scheme is not `file:`.
    OtherScheme,
    /// It is a URI that names a user, another machine or a port.
    Authority,
    /// It is a URI with a query or a fragment.
    QueryOrFragment,
    /// A `%` in a URI is not followed by two hexadecimal digits.
    BadEscape,
    /// It is not Unicode, which a Windows path must be.
    NotUnicode,
    /// It bypasses the rules for names: `\\.\` on Windows, or `\\?\` before anything but a drive or a share.
    DevicePath,
    /// It begins like a share, but lacks the server or the share.
    IncompleteShare,
    /// It names a Windows device: `NUL`, `CON.txt`.
    DeviceName,
    /// It has a colon in a name, which on Windows means a stream beside the file.
    Stream,
    /// A name ends in a dot or a space, which Windows drops.
    TrailingDotOrSpace,
    /// It has one of `<>"|?*`, which Windows does not allow in a name.
    IllegalCharacter,
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the path is empty",
            Self::TooLong { len } => {
                return write!(f, "the path has {len} bytes, more than the limit of {MAX_PATH}");
            }
            Self::ControlCharacter => "the path has a control character",
            Self::NotAbsolute => "the path is not absolute",
            Self::OtherScheme => "the URI does not have the scheme file",
            Self::Authority => "the URI names another machine",
            Self::QueryOrFragment => "the URI has a query or a fragment: write ? and # as %3F and %23",
            Self::BadEscape => "a % in the URI is not followed by two hexadecimal digits",
            Self::NotUnicode => "the path is not Unicode",
            Self::DevicePath => "the path bypasses the rules for names on Windows",
            Self::IncompleteShare => "the path does not name a share of a server",
            Self::DeviceName => "the path has the name of a device",
            Self::Stream => "the path has a colon in a name",
            Self::TrailingDotOrSpace => "the path has a name that ends in a dot or a space",
            Self::IllegalCharacter => "the path has a character that Windows does not allow in a name",
        })
    }
}

impl core::error::Error for Suspicion {}

/// Checks every name as it was given, even those that a later `..` removes.
pub(super) fn check(given: &[u8], windows: bool) -> Result<(), Suspicion> {
    check_bytes(given)?;
    if windows { check_windows(given) } else { Ok(()) }
}

/// Checks a path that is relative to a folder, on any system. It may be a pattern, so the characters of patterns are
/// accepted.
pub(in crate::ide) fn check_relative(given: &str) -> Result<(), Suspicion> {
    check_bytes(given.as_bytes())?;
    names(given).try_for_each(check_meaning)
}

fn check_bytes(given: &[u8]) -> Result<(), Suspicion> {
    if given.is_empty() {
        return Err(Suspicion::Empty);
    }
    if given.len() > MAX_PATH {
        return Err(Suspicion::TooLong { len: given.len() });
    }
    if has_control(given) { Err(Suspicion::ControlCharacter) } else { Ok(()) }
}

/// Returns true if the bytes contain an ASCII control character, or if they are Unicode text that
/// contains any control character.
fn has_control(given: &[u8]) -> bool {
    given.iter().any(u8::is_ascii_control)
        || core::str::from_utf8(given).is_ok_and(|text| text.contains(char::is_control))
}

fn check_windows(given: &[u8]) -> Result<(), Suspicion> {
    let text = core::str::from_utf8(given).map_err(|_| Suspicion::NotUnicode)?;
    let rest = match given {
        [b'/' | b'\\', b'/' | b'\\', b'?' | b'.', rest @ ..]
            if rest.first().is_none_or(|byte| is_separator(*byte, true)) =>
        {
            return Err(Suspicion::DevicePath);
        }
        [b'/' | b'\\', b'/' | b'\\', ..] => {
            let mut names = text.get(2..).unwrap_or_default().split(['/', '\\']);
            let is_name = |name: Option<&str>| name.is_some_and(|name| !matches!(name, "" | "." | ".."));
            if !is_name(names.next()) || !is_name(names.next()) {
                return Err(Suspicion::IncompleteShare);
            }
            text
        }
        [letter, b':', ..] if letter.is_ascii_alphabetic() => text.get(2..).unwrap_or_default(),
        _ => text,
    };
    names(rest).try_for_each(|name| {
        check_meaning(name)?;
        if name.contains(['<', '>', '"', '|', '?', '*']) { Err(Suspicion::IllegalCharacter) } else { Ok(()) }
    })
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|name| !matches!(*name, "" | "." | ".."))
}

/// Checks that a name has no special meaning on Windows.
fn check_meaning(name: &str) -> Result<(), Suspicion> {
    if name.contains(':') {
        return Err(Suspicion::Stream);
    }
    if name.ends_with(['.', ' ']) {
        return Err(Suspicion::TrailingDotOrSpace);
    }
    // In the name of a device, Windows ignores the first dot, all that follows it, and spaces before it.
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    if is_device(stem) { Err(Suspicion::DeviceName) } else { Ok(()) }
}

/// Returns true for a name that Windows reserves for a device. The digit of a port can be superscript.
fn is_device(stem: &str) -> bool {
    const WHOLE: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    if WHOLE.iter().any(|device| stem.eq_ignore_ascii_case(device)) {
        return true;
    }
    let Some((port, number)) = stem.split_at_checked(3) else { return false };
    let is_port = ["COM", "LPT"].iter().any(|device| port.eq_ignore_ascii_case(device));
    let mut number = number.chars();
    is_port && matches!(number.next(), Some('0'..='9' | '¹' | '²' | '³')) && number.next().is_none()
}
