//! Absolute paths as text: their root, their names, and what lies below what.

use super::Platform;
use alloc::vec::Vec;

/// Whether a path is absolute, in the form of either family of systems: `/x`, `C:\x`, `C:/x` or `\\server\x`.
pub(in crate::ide) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_windows(path)
}

/// Whether a path has the form of an absolute one on Windows.
pub(in crate::ide) fn is_windows(path: &str) -> bool {
    match path.as_bytes() {
        [b'\\', b'\\', ..] => true,
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Whether a normal path is another one or lies below it.
pub(super) fn is_below(path: &[u8], folder: &[u8], windows: bool) -> bool {
    let separator = separator(windows);
    match path.strip_prefix(folder) {
        Some([]) => true,
        Some([first, ..]) => *first == separator || folder.last() == Some(&separator),
        None => false,
    }
}

/// The absolute path in its only form; `None` if it is not absolute. `..` is resolved as text and does not lead above
/// the root.
pub(super) fn normal(given: &[u8], windows: bool) -> Option<Vec<u8>> {
    let (mut normal, names) = root(given, windows)?;
    let root_len = normal.len();
    let separator = separator(windows);
    for name in names.split(|byte| is_separator(*byte, windows)) {
        match name {
            b"" | b"." => {}
            b".." => {
                let above = normal.iter().rposition(|byte| *byte == separator).unwrap_or_default();
                normal.truncate(above.max(root_len));
            }
            name => {
                if normal.last() != Some(&separator) {
                    normal.push(separator);
                }
                normal.extend_from_slice(name);
            }
        }
    }
    Some(normal)
}

/// The root in its only form, and what follows it.
fn root(given: &[u8], windows: bool) -> Option<(Vec<u8>, &[u8])> {
    match given {
        [b'/', rest @ ..] if !windows => Some((Vec::from(*b"/"), rest)),
        _ if !windows => None,
        [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() => {
            rest.first().is_some_and(|byte| is_separator(*byte, true)).then(|| drive(*letter, rest))
        }
        [b'/' | b'\\', b'/' | b'\\', rest @ ..] => Some(share(rest)),
        [b'/', letter, rest @ ..] if is_drive(given) => Some(drive(*letter, rest)),
        _ => None,
    }
}

/// Whether a path begins with a drive as `/c/x` has it.
pub(super) fn is_drive(given: &[u8]) -> bool {
    match given {
        [b'/', letter, rest @ ..] if letter.is_ascii_alphabetic() => {
            rest.first().is_none_or(|byte| is_separator(*byte, true))
        }
        _ => false,
    }
}

/// The case of its letter depends on who asked.
fn drive(letter: u8, rest: &[u8]) -> (Vec<u8>, &[u8]) {
    (Vec::from([letter.to_ascii_uppercase(), b':', b'\\']), rest)
}

/// The server and the share belong to the root. The name of a server has no case.
fn share(given: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut root = Vec::from(*b"\\\\");
    let (server, rest) = first_name(given);
    root.extend(server.iter().map(u8::to_ascii_lowercase));
    let [_, rest @ ..] = rest else { return (root, rest) };
    let (name, rest) = first_name(rest);
    if !name.is_empty() {
        root.push(b'\\');
        root.extend_from_slice(name);
    }
    (root, rest)
}

fn first_name(given: &[u8]) -> (&[u8], &[u8]) {
    let end = given.iter().position(|byte| is_separator(*byte, true)).unwrap_or(given.len());
    given.split_at(end)
}

/// `/C:/x` is how a URI has `C:/x`.
pub(super) fn without_uri_slash(decoded: &[u8], platform: Platform) -> &[u8] {
    match decoded.strip_prefix(b"/") {
        Some(rest @ [letter, b':', ..]) if platform == Platform::Windows && letter.is_ascii_alphabetic() => {
            rest
        }
        Some(_) | None => decoded,
    }
}

pub(super) const fn is_separator(byte: u8, windows: bool) -> bool {
    byte == b'/' || (windows && byte == b'\\')
}

const fn separator(windows: bool) -> u8 {
    if windows { b'\\' } else { b'/' }
}
