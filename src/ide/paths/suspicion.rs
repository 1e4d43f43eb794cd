//! What makes a path of a peer one that nobody should open, name by name.

use super::MAX_PATH;
use super::lexical::is_separator;
use core::fmt;

/// Why a path is not to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suspicion {
    /// There is nothing.
    Empty,
    /// It has more than [`MAX_PATH`] bytes.
    TooLong {
        /// How many it has.
        len: usize,
    },
    /// It has a control character, such as NUL, where a name would end for some and not for others.
    ControlCharacter,
    /// It depends on where somebody is: no root, or on Windows no drive.
    NotAbsolute,
    /// It is a URI of another scheme.
    OtherScheme,
    /// Its URI names a user, another machine or a port.
    Authority,
    /// Its URI has a query or a fragment.
    QueryOrFragment,
    /// Its URI has a `%` without two hexadecimal digits behind it.
    BadEscape,
    /// It is no Unicode, and Windows has none such.
    NotUnicode,
    /// It leads past the rules of names: `\\?\` or `\\.\` on Windows.
    DevicePath,
    /// It names a server and no share, or neither.
    IncompleteShare,
    /// A name is that of a device on Windows: `NUL`, `CON.txt`.
    DeviceName,
    /// A name has a colon on Windows: a stream beside the file.
    Stream,
    /// A name ends in a dot or a space, which Windows drops.
    TrailingDotOrSpace,
    /// A name has one of `<>"|?*`, which none has on Windows.
    IllegalCharacter,
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the path is empty",
            Self::TooLong { len } => {
                return write!(f, "the path has {len} bytes, {MAX_PATH} are the most");
            }
            Self::ControlCharacter => "the path has a control character",
            Self::NotAbsolute => "the path is not absolute",
            Self::OtherScheme => "the URI is not of the scheme file",
            Self::Authority => "the URI names another machine",
            Self::QueryOrFragment => "the URI has a query or a fragment: write ? and # as %3F and %23",
            Self::BadEscape => "the URI has a % without two hexadecimal digits behind it",
            Self::NotUnicode => "the path is not Unicode",
            Self::DevicePath => "the path goes past the rules of Windows for names",
            Self::IncompleteShare => "the path names no share of a server",
            Self::DeviceName => "the path has the name of a device",
            Self::Stream => "the path has a colon in a name",
            Self::TrailingDotOrSpace => "the path has a name that ends in a dot or a space",
            Self::IllegalCharacter => "the path has a character that no name may have",
        })
    }
}

impl core::error::Error for Suspicion {}

/// Looks at every name as it was given, also at those that a later `..` takes back.
pub(super) fn check(given: &[u8], windows: bool) -> Result<(), Suspicion> {
    check_bytes(given)?;
    if windows { check_windows(given) } else { Ok(()) }
}

/// The same for a path that is relative to a folder of whichever system. It may be a pattern, so every letter is good.
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

/// Those of ASCII among any bytes, and those of Unicode in what is that.
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

/// What a name means to Windows that is not just a name.
fn check_meaning(name: &str) -> Result<(), Suspicion> {
    if name.contains(':') {
        return Err(Suspicion::Stream);
    }
    if name.ends_with(['.', ' ']) {
        return Err(Suspicion::TrailingDotOrSpace);
    }
    // What stands behind a dot does not count, nor do spaces before it.
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    if is_device(stem) { Err(Suspicion::DeviceName) } else { Ok(()) }
}

/// The reserved names of Windows; the digits of ports may be superscript.
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
