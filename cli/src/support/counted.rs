//! Counts with their words.

/// Returns a count with its word, in the plural unless there is one: "1 byte", "2 bytes".
pub(crate) fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
