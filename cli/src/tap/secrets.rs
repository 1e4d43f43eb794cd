//! Finds possible tokens in the head of an HTTP request, by the names before them.

/// The words in a name that suggest that its value is a token.
const SECRET_WORDS: [&[u8]; 3] = [b"auth", b"cookie", b"token"];

/// Returns the position of the end of the first name in `line` that suggests a token, such as
/// `token` or `cookie`. The separator between the name and the token, if any, is at this position.
pub(crate) fn secret_at(line: &[u8]) -> Option<usize> {
    let ends = SECRET_WORDS.iter().filter_map(|word| {
        let at = line.windows(word.len()).position(|here| here.eq_ignore_ascii_case(word))?;
        let end = at.saturating_add(word.len());
        let len = line.get(end..)?.iter().position(|byte| is_mark(*byte));
        Some(end.saturating_add(len.unwrap_or_default()))
    });
    ends.min()
}

/// Returns true for a byte of the separator between a name and its value.
pub(crate) const fn is_mark(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b':' | b'=')
}
