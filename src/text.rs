//! Truncates text at a character boundary.

/// Returns the longest prefix of at most `max` bytes that ends at a character boundary.
pub(crate) fn truncate(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_never_splits_a_character() {
        assert_eq!(truncate("né", 2), "n");
        assert_eq!(truncate("né", 3), "né");
        assert_eq!(truncate("né", 99), "né");
        assert_eq!(truncate("", 0), "");
    }
}
