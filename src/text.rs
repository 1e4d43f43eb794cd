//! The truncation of text at a character boundary.

/// Returns the longest prefix of `text` that has at most `max` bytes and ends at a character boundary.
pub(crate) fn truncate(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
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
