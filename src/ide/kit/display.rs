//! Makes strings from a peer safe for a terminal or a title: tab names, names of clients and editors, folders,
//! messages. A terminal executes some characters as commands instead of showing them.

use alloc::borrow::Cow;

/// Call this before you show a string from a peer. Replaces each dangerous character by U+FFFD: control characters,
/// line separators, and characters that set the direction of writing. With these a string could overwrite the screen or
/// show itself in another order.
///
/// ```
/// assert_eq!(ide_mcp::ide::kit::display_safe("\u{1b}]0;pwn\u{7}"), "\u{fffd}]0;pwn\u{fffd}");
/// ```
#[must_use]
pub fn display_safe(text: &str) -> Cow<'_, str> {
    replace(text, is_display_unsafe)
}

/// Like [`display_safe`], but keeps line feeds and tabs.
#[must_use]
pub fn display_safe_lines(text: &str) -> Cow<'_, str> {
    replace(text, |character| is_display_unsafe(character) && !matches!(character, '\n' | '\t'))
}

/// Returns a string from a peer as one safe line of at most `most` characters. A longer one ends in `…`.
///
/// ```
/// assert_eq!(ide_mcp::ide::kit::display_line("attach?\n1: no", 12), "attach?\u{fffd}1: …");
/// ```
#[must_use]
pub fn display_line(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else { return display_safe(text) };
    let last = text.get(..end).unwrap_or_default().char_indices().next_back().map_or(0, |(at, _)| at);
    Cow::Owned(display_safe(text.get(..last).unwrap_or_default()).into_owned() + "…")
}

/// Returns true if [`display_safe`] replaces this character.
#[must_use]
pub fn is_display_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

fn replace(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(&is_bad) {
        Cow::Owned(text.chars().map(|c| if is_bad(c) { char::REPLACEMENT_CHARACTER } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p08_names_cannot_overwrite_the_screen() {
        let bad = "a\u{1b}]0;pwn\u{7}\u{202e}b\n\u{9b}2J\u{2028}\u{2066}\0\u{7f}";
        let good = "a\u{fffd}]0;pwn\u{fffd}\u{fffd}b\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}\u{fffd}";
        assert_eq!(display_safe(bad), good);
        for shown in ["", "✻ [Claude Code] naïve.txt (c5bbaf) ⧉", "👩\u{200d}💻 שלום"] {
            assert!(matches!(display_safe(shown), Cow::Borrowed(same) if same == shown), "{shown}");
        }
    }

    #[test]
    fn line_feeds_and_tabs_are_kept() {
        assert_eq!(display_safe_lines("a\n\tb\r\u{9b}2J"), "a\n\tb\u{fffd}\u{fffd}2J");
    }
}
