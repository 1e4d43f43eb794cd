//! The search in a text.

use std::ops::Range;

/// A text that is searched for. Without a capital, it matches letters of either case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    folded: Vec<char>,
    is_exact: bool,
}

impl Needle {
    /// Returns `None` for an empty text, which is nowhere and everywhere.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let is_exact = text.chars().any(char::is_uppercase);
        let folded = text.chars().flat_map(|character| fold(character, is_exact)).collect();
        (!text.is_empty()).then_some(Self { folded, is_exact })
    }

    /// Returns the first match that begins at a byte or after it.
    pub(crate) fn next(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = text.get(from..)?;
        let found = self.matches(rest).next()?;
        Some(found.start.saturating_add(from)..found.end.saturating_add(from))
    }

    /// Returns the last match that begins before a byte.
    pub(crate) fn previous(&self, text: &str, before: usize) -> Option<Range<usize>> {
        let begins = self.begins(text.get(..before)?);
        begins.rev().find_map(|at| self.at(text, at))
    }

    /// Returns all matches, also those that overlap.
    pub(crate) fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        self.begins(text).filter_map(|at| self.at(text, at))
    }

    /// Returns the characters of a text that can begin a match. Only their bytes are compared, which
    /// takes a small part of the time of a comparison of characters.
    fn begins<'a>(&self, text: &'a str) -> impl DoubleEndedIterator<Item = usize> + 'a {
        // A letter of ASCII in lower case can be that of a character outside of ASCII (such as the sign
        // of kelvin), but not the other way round.
        let first = self.folded.first().and_then(|first| u8::try_from(*first).ok()).filter(u8::is_ascii);
        let capital = first.filter(|_| !self.is_exact).map(|first| first.to_ascii_uppercase());
        let bytes = text.bytes().enumerate();
        let can_begin = move |byte: u8| byte >= 0xc0 || Some(byte) == first || Some(byte) == capital;
        bytes.filter(move |(_, byte)| can_begin(*byte)).map(|(at, _)| at)
    }

    fn at(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let length = self.length(text.get(at..)?)?;
        Some(at..at.saturating_add(length))
    }

    /// Returns the length of the match at the beginning of a text.
    fn length(&self, text: &str) -> Option<usize> {
        let (mut wanted, mut length) = (self.folded.as_slice(), 0_usize);
        for character in text.chars() {
            if wanted.is_empty() {
                break;
            }
            for folded in fold(character, self.is_exact) {
                let (first, rest) = wanted.split_first()?;
                if *first != folded {
                    return None;
                }
                wanted = rest;
            }
            length = length.saturating_add(character.len_utf8());
        }
        wanted.is_empty().then_some(length)
    }
}

fn fold(character: char, is_exact: bool) -> impl Iterator<Item = char> {
    let lower = (!is_exact).then(|| character.to_lowercase());
    lower.into_iter().flatten().chain(is_exact.then_some(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needles_match_by_their_case() {
        let cases: &[(&str, &str, &str, &[(usize, usize)])] = &[
            ("small letters match both cases", "ab", "xAb aB", &[(1, 3), (4, 6)]),
            ("a capital matches itself", "Ab", "xAb aB", &[(1, 3)]),
            ("overlaps", "aa", "aaa", &[(0, 2), (1, 3)]),
            ("nowhere", "b", "a", &[]),
            ("longer than the text", "abc", "ab", &[]),
            ("other scripts", "\u{f6}\u{6f22}", "\u{d6}\u{6f22}", &[(0, 5)]),
            ("a capital of two small letters", "i\u{307}", "\u{130}", &[(0, 2)]),
            ("half of that capital", "i", "\u{130}i", &[(2, 3)]),
            ("the sign of kelvin", "k", "k\u{212a}K", &[(0, 1), (1, 4), (4, 5)]),
        ];
        for (name, needle, text, expected) in cases {
            let needle = Needle::new(needle).unwrap();
            let found: Vec<_> = needle.matches(text).map(|found| (found.start, found.end)).collect();
            assert_eq!(found, *expected, "{name}");
        }
        assert_eq!(Needle::new(""), None);
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
