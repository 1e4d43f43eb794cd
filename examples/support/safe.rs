//! Texts of a peer on a terminal, which obeys some characters instead of showing them.

use std::borrow::Cow;

/// A text of the peer without the characters that would let it write over the screen: control characters, and those
/// that turn the direction of writing. Each becomes U+FFFD.
#[must_use]
pub fn display_safe(text: &str) -> Cow<'_, str> {
    replace(text, is_unsafe)
}

/// The same for a text that may have several lines, and tabs in them.
#[must_use]
pub fn display_safe_lines(text: &str) -> Cow<'_, str> {
    replace(text, |character| is_unsafe(character) && !matches!(character, '\n' | '\t'))
}

pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn replace(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().any(&is_bad) {
        text.chars().map(|c| if is_bad(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_write_over_the_screen() {
        assert_eq!(display_safe("a\u{1b}]0;pwn\u{7}\u{202e}b\n"), "a\u{fffd}]0;pwn\u{fffd}\u{fffd}b\u{fffd}");
        assert!(matches!(display_safe("✻ naïve ⧉"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_of_lines_keeps_them() {
        assert_eq!(display_safe_lines("a\n\tb\r\u{9b}2J"), "a\n\tb\u{fffd}\u{fffd}2J");
    }
}
