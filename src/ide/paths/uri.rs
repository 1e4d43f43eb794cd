//! `file:` URIs (RFC 8089, RFC 3986).
//!
//! ```text
//! file-URI = "file:" ( "//" [ "localhost" ] path-absolute / path-absolute )
//! ```
//!
//! Characters that RFC 3986 wants percent-encoded are accepted unencoded too, because editors write them so. VS Code
//! gives the two sides of a proposed change their own schemes, as in `_claude_fs_right:/w/a`. Agents send such URIs in
//! requests, so we read them as the path of the file.

use super::Suspicion;
use super::lexical::{is_absolute, is_separator, is_windows, without_verbatim};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The schemes of the two sides of a proposed change.
const SIDES: [&str; 4] =
    ["_claude_fs_left", "_claude_fs_right", "_claude_vscode_fs_left", "_claude_vscode_fs_right"];

/// The servers under which Windows shows the Linux distributions of the same machine, as a URI names them.
const DISTRIBUTIONS: [&str; 3] = ["wsl.localhost", "wsl$", "wsl%24"];

/// Returns the path of a `file:` URI, decoded once; `None` if the string is a path and not a URI. If `reads_windows`, a
/// drive or a distribution in the place of the host does not count as another machine.
pub(super) fn path_of(given: &str, reads_windows: bool) -> Result<Option<Vec<u8>>, Suspicion> {
    let Some((scheme, rest)) = given.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(None);
    };
    if !scheme.eq_ignore_ascii_case("file") && !SIDES.contains(&scheme) {
        return Err(Suspicion::OtherScheme);
    }
    let after = after_file(rest).filter(|_| reads_windows);
    if let Some(written) = after.filter(|path| is_as_written(path)) {
        return Ok(Some(written.into()));
    }
    if rest.contains(['?', '#']) {
        return Err(Suspicion::QueryOrFragment);
    }
    let path = match (after, rest.strip_prefix("//")) {
        (Some(path), _) => path,
        (None, None) => rest,
        (None, Some(named)) => {
            let (authority, path) = named.split_at(named.find('/').unwrap_or(named.len()));
            let is = |name: &str| authority.eq_ignore_ascii_case(name);
            if reads_windows && DISTRIBUTIONS.into_iter().any(is) {
                let share = Vec::from(br"\\").into_iter().chain(decode(named)?);
                return Ok(Some(share.collect()));
            }
            if !authority.is_empty() && !is("localhost") {
                return Err(Suspicion::Authority);
            }
            path
        }
    };
    decode(path).map(Some)
}

/// Returns the Windows path that follows `file://`, where a URI has its host. The real client puts `file://` before a
/// path (measured on Linux), and no host is named like a drive or begins with `\`.
fn after_file(rest: &str) -> Option<&str> {
    rest.strip_prefix("//").filter(|path| is_windows(path))
}

/// Returns true for a path that was not percent-encoded: it has a backslash.
fn is_as_written(path: &str) -> bool {
    path.contains('\\')
}

/// Returns true for a scheme (RFC 3986 section 3.1) and for one of `SIDES`. A single letter is a drive, not a scheme.
fn is_scheme(text: &str) -> bool {
    let is_plain = text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_plain || SIDES.contains(&text)
}

fn decode(path: &str) -> Result<Vec<u8>, Suspicion> {
    let mut decoded = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => escape(&mut bytes)?,
            byte => byte,
        });
    }
    Ok(decoded)
}

/// Returns the bytes of a path with all escapes decoded. A `%` without two hexadecimal digits after it is kept.
pub(in crate::ide) fn unescaped(path: &str) -> impl Iterator<Item = u8> {
    let mut bytes = path.bytes();
    core::iter::from_fn(move || {
        let byte = bytes.next()?;
        let mut after = bytes.clone();
        let escaped = if byte == b'%' { escape(&mut after).ok() } else { None };
        if escaped.is_some() {
            bytes = after;
        }
        escaped.or(Some(byte))
    })
}

/// Returns the byte for the two digits after a `%`.
fn escape(digits: &mut impl Iterator<Item = u8>) -> Result<u8, Suspicion> {
    Ok(digit(digits.next())? << 4 | digit(digits.next())?)
}

fn digit(byte: Option<u8>) -> Result<u8, Suspicion> {
    match byte {
        Some(digit @ b'0'..=b'9') => Ok(digit & 0x0f),
        Some(letter @ (b'a'..=b'f' | b'A'..=b'F')) => Ok((letter & 0x0f).saturating_add(9)),
        _ => Err(Suspicion::BadEscape),
    }
}

/// Returns the URI of a normal path.
pub(super) fn of(path: &[u8], windows: bool) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let digit = |half: u8| DIGITS.get(usize::from(half)).copied().unwrap_or_default();
    let has_drive = windows && path.get(1) == Some(&b':');
    let mut uri = String::from(if has_drive { "file:///" } else { "file://" });
    for (at, byte) in path.iter().enumerate() {
        match byte {
            separator if is_separator(*separator, windows) => uri.push('/'),
            b':' if has_drive && at == 1 => uri.push(':'),
            plain if plain.is_ascii_alphanumeric() || matches!(plain, b'-' | b'.' | b'_' | b'~') => {
                uri.push(char::from(*plain));
            }
            other => uri.extend(['%', digit(other >> 4), digit(other & 0x0f)]),
        }
    }
    uri
}

/// The URI of an absolute path in either form, as VS Code writes it: nothing is percent-encoded. For any other path
/// nothing is written, because it has no URI: in `file://src/main.ts`, `src` would be a host.
pub(in crate::ide) struct Unencoded<'a>(pub(in crate::ide) &'a str);

impl fmt::Display for Unencoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0;
        if !is_absolute(path) {
            return Ok(());
        }
        if !is_windows(path) {
            return write!(f, "file://{path}");
        }
        let path = &*without_verbatim(path);
        f.write_str(if path.starts_with('\\') { "file://" } else { "file:///" })?;
        path.split('\\').enumerate().try_for_each(|(at, name)| {
            f.write_str(if at == 0 { "" } else { "/" })?;
            f.write_str(name)
        })
    }
}

/// Returns the path in a URI that [`Unencoded`] writes. Any other string counts as the path itself.
pub(in crate::ide) fn as_written(uri: &str) -> &str {
    drive_first(uri.strip_prefix("file://").unwrap_or(uri))
}

/// Returns the path that a careless program might read from a string: for a URI with any scheme, the path of the URI.
/// Every valid escape is decoded, and bytes that are not Unicode become U+FFFD.
pub(in crate::ide) fn lenient(given: &str) -> String {
    let of_uri = given.split_once(':').filter(|(scheme, _)| is_scheme(scheme)).map(|(_, rest)| rest);
    let path = match of_uri.map(|rest| (rest, after_file(rest), rest.strip_prefix("//"))) {
        Some((_, Some(path), _)) => path,
        Some((_, None, Some(rest))) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default(),
        Some((rest, None, None)) => rest,
        None => given,
    };
    let mut decoded = Vec::with_capacity(path.len());
    decoded.extend(unescaped(path));
    drive_first(&String::from_utf8_lossy(&decoded)).into()
}

/// Returns the path of a file that a `file:` URI or a path names, for a client that wants a path. A share keeps its
/// server: `file://server/share/x` and `file:////server/share/x` become `//server/share/x`. Escapes are decoded in a
/// URI only, not in a path.
pub(in crate::ide) fn of_file(given: &str) -> Cow<'_, str> {
    let Some((_, rest)) = given.split_once(':').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file"))
    else {
        return Cow::Borrowed(given);
    };
    let after = after_file(rest);
    if let Some(written) = after.filter(|path| is_as_written(path)) {
        return Cow::Borrowed(written);
    }
    let named = rest.strip_prefix("//").filter(|_| after.is_none());
    let server = named.map(|rest| rest.split('/').next().unwrap_or_default());
    let server = server.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("localhost"));
    Cow::Owned(match server {
        Some(_) => String::from_utf8_lossy(&unescaped(rest).collect::<Vec<u8>>()).into_owned(),
        None => lenient(given),
    })
}

/// Removes the slash that a URI has before a drive: `/C:/x` becomes `C:/x`.
fn drive_first(path: &str) -> &str {
    path.strip_prefix('/').filter(|path| is_windows(path) && !path.starts_with('\\')).unwrap_or(path)
}
