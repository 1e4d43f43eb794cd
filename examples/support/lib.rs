//! What the programs share: lines to standard output, complaints to standard error, and names that are safe to show.

use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write as _};

/// Writes a line to standard output at once; false if nobody reads it any more.
pub fn say(line: &str) -> bool {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
}

/// Writes a value as one line of JSON to standard output at once; false if nobody reads it any more.
pub fn say_json<T: Serialize>(value: &T) -> bool {
    serde_json::to_string(value).is_ok_and(|line| say(&line))
}

/// Writes a complaint of this program to standard error.
pub fn complain(program: &str, text: &str) {
    // Where even that fails there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{program}: {text}");
}

/// A text of the peer without the characters that would let it write over the screen: control characters, and those
/// that turn the direction of writing. Each becomes U+FFFD.
#[must_use]
pub fn display_safe(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_unsafe) {
        text.chars().map(|c| if is_unsafe(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
    } else {
        Cow::Borrowed(text)
    }
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_write_over_the_screen() {
        assert_eq!(display_safe("a\u{1b}]0;pwn\u{7}\u{202e}b"), "a\u{fffd}]0;pwn\u{fffd}\u{fffd}b");
        assert!(matches!(display_safe("✻ naïve ⧉"), Cow::Borrowed(_)));
    }
}
