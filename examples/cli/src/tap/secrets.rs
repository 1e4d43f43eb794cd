//! By which names a token is known in a line of a head.

/// What stands behind one of these in a line of the head may be a token.
const SECRETIVE: [&[u8]; 3] = [b"auth", b"cookie", b"token"];

/// Where in a line of the head a token may begin: behind the name that speaks of one.
pub(crate) fn secret_at(line: &[u8]) -> Option<usize> {
    let ends = SECRETIVE.iter().filter_map(|word| {
        let at = line.windows(word.len()).position(|here| here.eq_ignore_ascii_case(word))?;
        let end = at.saturating_add(word.len());
        let len = line.get(end..)?.iter().position(|byte| is_mark(*byte));
        Some(end.saturating_add(len.unwrap_or_default()))
    });
    ends.min()
}

/// What stands between a name and its value.
pub(crate) const fn is_mark(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b':' | b'=')
}
