//! Absolute paths as strings: the root, the names, the normal form, and containment.

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

/// Returns true if a path is absolute on either family of systems: `/x`, `C:\x`, `C:/x` or `\\server\x`.
pub(in crate::ide) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_windows(path)
}

/// Returns true if a path has the form of an absolute path on Windows.
pub(in crate::ide) fn is_windows(path: &str) -> bool {
    match path.as_bytes() {
        [b'\\', b'\\', ..] => true,
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Returns true if `path` is `folder` or below it. Both are in normal form.
pub(super) fn is_below(path: &[u8], folder: &[u8], windows: bool) -> bool {
    let separator = separator(windows);
    match path.strip_prefix(folder) {
        Some([]) => true,
        Some([first, ..]) => *first == separator || folder.last() == Some(&separator),
        None => false,
    }
}

/// Returns the normal form of an absolute path; `None` if it is not absolute. `..` is resolved without the disk, and
/// does not lead above the root.
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

/// Returns the root in normal form, and what follows it.
fn root(given: &[u8], windows: bool) -> Option<(Vec<u8>, &[u8])> {
    match given {
        [b'/', rest @ ..] if !windows => Some((Vec::from(*b"/"), rest)),
        _ if !windows => None,
        [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() => {
            rest.first().is_some_and(|byte| is_separator(*byte, true)).then(|| drive(*letter, rest))
        }
        [b'/' | b'\\', b'/' | b'\\', rest @ ..] => Some(share(rest)),
        _ => posix_drive(given).map(|(letter, rest)| drive(letter, rest)),
    }
}

/// Returns the letter of a drive in the form `/c/x` of POSIX tools or `/mnt/c/x` of WSL, and what follows it.
pub(super) fn posix_drive(given: &[u8]) -> Option<(u8, &[u8])> {
    match given.strip_prefix(b"/mnt").unwrap_or(given) {
        [b'/', letter, rest @ ..] if letter.is_ascii_alphabetic() => {
            rest.first().is_none_or(|byte| is_separator(*byte, true)).then_some((*letter, rest))
        }
        _ => None,
    }
}

/// Returns a Windows path without the prefix `\\?\`, which switches off the limits of paths. Programs get this prefix
/// when they resolve a path; neither people nor clients write it. It stays before anything but a drive or a share,
/// because `\\?\Volume{0}\x` has no other form.
///
/// ```
/// use ide_mcp::ide::paths::without_verbatim;
///
/// assert_eq!(without_verbatim(r"\\?\C:\w"), r"C:\w");
/// assert_eq!(without_verbatim(r"\\?\UNC\server\share"), r"\\server\share");
/// ```
#[must_use]
pub fn without_verbatim(path: &str) -> Cow<'_, str> {
    let is_any = |byte: u8| is_separator(byte, true);
    match path.as_bytes() {
        [a, b, b'?', c, rest @ ..] if is_any(*a) && is_any(*b) && is_any(*c) => match rest {
            [letter, b':', d, ..] if letter.is_ascii_alphabetic() && is_any(*d) => {
                Cow::Borrowed(path.get(4..).unwrap_or(path))
            }
            [u, n, c, d, ..] if [*u, *n, *c].eq_ignore_ascii_case(b"UNC") && is_any(*d) => {
                Cow::Owned(format!(r"\\{}", path.get(8..).unwrap_or_default()))
            }
            _ => Cow::Borrowed(path),
        },
        _ => Cow::Borrowed(path),
    }
}

/// Returns the root of a drive, and what follows it. The letter becomes upper case, because peers write it in either
/// case.
fn drive(letter: u8, rest: &[u8]) -> (Vec<u8>, &[u8]) {
    (Vec::from([letter.to_ascii_uppercase(), b':', b'\\']), rest)
}

/// Returns the root of a share, with server and share, and what follows it. The name of the server becomes lower case,
/// because the case of a server name does not matter.
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

/// Removes the slash that a URI has before a drive: `/C:/x` becomes `C:/x`.
pub(super) fn without_uri_slash(decoded: &[u8]) -> &[u8] {
    match decoded.strip_prefix(b"/") {
        Some(rest @ [letter, b':', ..]) if letter.is_ascii_alphabetic() => rest,
        Some(_) | None => decoded,
    }
}

pub(super) const fn is_separator(byte: u8, windows: bool) -> bool {
    byte == b'/' || (windows && byte == b'\\')
}

const fn separator(windows: bool) -> u8 {
    if windows { b'\\' } else { b'/' }
}
