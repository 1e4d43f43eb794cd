//! Searches a text.

use std::collections::VecDeque;
use std::ops::Range;

/// The maximum number of characters of a search: more than anybody types, and more than the status line shows. A paste
/// may be longer, and each key copies the string.
pub(crate) const LONGEST: usize = 1000;

/// A text to search for. Without a capital, it matches letters of either case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    folded: Vec<char>,
    /// For each prefix of `folded`, the length of its longest proper prefix that is also its suffix. A search
    /// continues with that prefix after a difference, so it compares each character of a text at most twice
    /// on average (the algorithm of Knuth, Morris and Pratt).
    borders: Vec<usize>,
    is_exact: bool,
}

impl Needle {
    /// Returns `None` for an empty string, which would match at every place, and for a string of more than [`LONGEST`]
    /// characters.
    pub(crate) fn new(text: &str) -> Option<Self> {
        if text.is_empty() || is_too_long(text) {
            return None;
        }
        let is_exact = text.chars().any(char::is_uppercase);
        let folded: Vec<char> = text.chars().flat_map(|character| fold(character, is_exact)).collect();
        let mut needle = Self { borders: Vec::with_capacity(folded.len()), folded, is_exact };
        let mut matched = 0;
        for at in 1..=needle.folded.len() {
            needle.borders.push(matched);
            matched = needle.folded.get(at).map_or(0, |next| needle.advance(matched, *next));
        }
        Some(needle)
    }

    /// Returns the first match that begins at the byte `from` or after it.
    pub(crate) fn next(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let found = self.matches(text.get(from..)?).next()?;
        Some(found.start.saturating_add(from)..found.end.saturating_add(from))
    }

    /// Returns the last match that begins before this byte.
    pub(crate) fn previous(&self, text: &str, before: usize) -> Option<Range<usize>> {
        self.matches(text).take_while(|found| found.start < before).last()
    }

    /// Returns all matches, even those that overlap, in time proportional to the text.
    pub(crate) fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        Matches { needle: self, text, at: 0, begins: VecDeque::new() }
    }

    /// Returns the number of characters of the needle that match after the character `next`. `matched` is the
    /// number before `next`.
    fn advance(&self, mut matched: usize, next: char) -> usize {
        while self.folded.get(matched) != Some(&next) {
            let Some(last) = matched.checked_sub(1) else { return 0 };
            matched = self.borders.get(last).copied().unwrap_or(0);
        }
        matched.saturating_add(1)
    }

    /// Returns the byte offset of the first character that can begin a match. Compares bytes, which is much faster
    /// than comparing characters.
    fn begin(&self, text: &str) -> Option<usize> {
        // The lowercase form of a character outside of ASCII can be an ASCII letter (the Kelvin sign becomes `k`), but
        // the lowercase form of an ASCII letter is always ASCII.
        let first = self.folded.first().and_then(|first| u8::try_from(*first).ok()).filter(u8::is_ascii);
        let capital = first.filter(|_| !self.is_exact).map(|first| first.to_ascii_uppercase());
        text.bytes().position(|byte| byte >= 0xc0 || Some(byte) == first || Some(byte) == capital)
    }
}

/// Returns true if a string has more than [`LONGEST`] characters.
pub(crate) fn is_too_long(text: &str) -> bool {
    text.chars().nth(LONGEST).is_some()
}

/// Goes through all matches.
struct Matches<'a> {
    needle: &'a Needle,
    text: &'a str,
    /// The byte after the characters that were compared.
    at: usize,
    /// For each folded character of the current match, the byte where its character begins; `None` if the folded
    /// character is not the first of its character.
    begins: VecDeque<Option<usize>>,
}

impl Iterator for Matches<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut rest = self.text.get(self.at..)?;
            if self.begins.is_empty() {
                let skipped = self.needle.begin(rest)?;
                self.at = self.at.saturating_add(skipped);
                rest = rest.get(skipped..)?;
            }
            let character = rest.chars().next()?;
            for (nth, folded) in fold(character, self.needle.is_exact).enumerate() {
                let matched = self.needle.advance(self.begins.len(), folded);
                self.begins.push_back((nth == 0).then_some(self.at));
                self.begins.drain(..self.begins.len().saturating_sub(matched));
            }
            self.at = self.at.saturating_add(character.len_utf8());
            // A match consists of whole characters.
            if let (true, Some(Some(begin))) =
                (self.begins.len() == self.needle.folded.len(), self.begins.front())
            {
                return Some(*begin..self.at);
            }
        }
    }
}

fn fold(character: char, is_exact: bool) -> impl Iterator<Item = char> {
    let lower = (!is_exact).then(|| character.to_lowercase());
    lower.into_iter().flatten().chain(is_exact.then_some(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::Clock;

    #[test]
    fn needles_match_by_their_case() {
        let cases: &[(&str, &str, &str, &[(usize, usize)])] = &[
            ("lowercase letters match both cases", "ab", "xAb aB", &[(1, 3), (4, 6)]),
            ("a capital matches itself", "Ab", "xAb aB", &[(1, 3)]),
            ("overlaps", "aa", "aaa", &[(0, 2), (1, 3)]),
            ("nowhere", "b", "a", &[]),
            ("longer than the text", "abc", "ab", &[]),
            ("other scripts", "\u{f6}\u{6f22}", "\u{d6}\u{6f22}", &[(0, 5)]),
            ("a capital whose lowercase form is two characters", "i\u{307}", "\u{130}", &[(0, 2)]),
            ("half of that capital", "i", "\u{130}i", &[(2, 3)]),
            ("the Kelvin sign", "k", "k\u{212a}K", &[(0, 1), (1, 4), (4, 5)]),
        ];
        for (name, needle, text, expected) in cases {
            let needle = Needle::new(needle).unwrap();
            let found: Vec<_> = needle.matches(text).map(|found| (found.start, found.end)).collect();
            assert_eq!(found, *expected, "{name}");
        }
        assert_eq!(Needle::new(""), None);
    }

    #[test]
    fn needles_have_a_maximum_length() {
        for letter in ["a", "A", "\u{130}"] {
            let longest = letter.repeat(LONGEST);
            let needle = Needle::new(&longest).unwrap();
            assert_eq!(needle.next(&longest, 0), Some(0..longest.len()), "{letter}");
            assert_eq!(Needle::new(&(longest + letter)), None, "{letter}");
        }
    }

    #[test]
    fn search_time_is_independent_of_needle() {
        let text = "a".repeat(256 * 1024);
        let time = |length: usize| {
            let needle = Needle::new(&("a".repeat(length - 1) + "b")).unwrap();
            let clock = Clock::new();
            assert_eq!(needle.next(&text, 0), None);
            assert_eq!(needle.previous(&text, text.len()), None);
            clock.now().since_start()
        };
        let (short, long) = (time(2), time(LONGEST));
        // Comparing at each place takes 500 times as long.
        assert!(long < short * 20, "{long:?} for the longest needle, {short:?} for two letters");
    }

    /// Returns the matches by the definition: the parts that are equal when both are lowercase.
    fn model(needle: &str, text: &str) -> Vec<Range<usize>> {
        let exact = needle.chars().any(char::is_uppercase);
        let fold = |text: &str| {
            if exact { text.to_owned() } else { text.chars().flat_map(char::to_lowercase).collect() }
        };
        let ends = || (0..=text.len()).filter(|at| text.is_char_boundary(*at));
        let parts =
            ends().flat_map(|start| ends().filter(move |end| *end > start).map(move |end| start..end));
        parts.filter(|part| fold(text.get(part.clone()).unwrap()) == fold(needle)).collect()
    }

    #[test]
    fn any_search_agrees_with_its_definition() {
        arbtest::arbtest(|u| {
            let word = |u: &mut arbitrary::Unstructured<'_>, longest| -> arbitrary::Result<String> {
                let length = u.int_in_range(1..=longest)?;
                (0..length)
                    .map(|_| {
                        Ok(*u
                            .choose(&["a", "A", "b", "\u{e9}", "\u{c9}", "\n", "\u{130}", "k", "\u{212a}"])?)
                    })
                    .collect()
            };
            let (needle, text) = (word(u, 3)?, word(u, 20)?);
            let expected = model(&needle, &text);
            let search = Needle::new(&needle).unwrap();
            assert_eq!(search.matches(&text).collect::<Vec<_>>(), expected, "{needle:?} in {text:?}");
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let next = expected.iter().find(|found| found.start >= at).cloned();
                let previous = expected.iter().rev().find(|found| found.start < at).cloned();
                assert_eq!((search.next(&text, at), search.previous(&text, at)), (next, previous));
            }
            Ok(())
        });
    }
}
