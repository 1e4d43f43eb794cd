//! Texts in chunks, as editors keep them in ropes, and how to search them. No text is copied here.

use alloc::vec::Vec;

/// A text in chunks. Each character is in one chunk; a line ending `\r\n` may be split over two.
///
/// Implement it for a type of your own around your rope:
///
/// ```
/// # use ropey::Rope;
/// use ide_mcp::ide::kit::{Position, Text};
///
/// struct Buffer(Rope);
///
/// impl Text for Buffer {
///     fn chunks(&self) -> impl Iterator<Item = &str> {
///         self.0.chunks()
///     }
/// }
///
/// let buffer = Buffer(Rope::from_str("one\ntwo"));
/// assert_eq!(Position::from_byte_offset(&buffer, 5), Position::new(1, 1));
/// ```
pub trait Text {
    /// Returns the chunks in order. They may be empty.
    fn chunks(&self) -> impl Iterator<Item = &str>;
}

/// A text in one piece: `str`, `String`, `Cow<str>`, `Arc<str>` and the like.
impl<T: AsRef<str> + ?Sized> Text for T {
    fn chunks(&self) -> impl Iterator<Item = &str> {
        core::iter::once(self.as_ref())
    }
}

/// Returns the length of a text in bytes.
pub(crate) fn len<T: Text + ?Sized>(text: &T) -> usize {
    text.chunks().map(str::len).fold(0, usize::saturating_add)
}

/// Returns the chunks from this byte on, each with its offset. An offset inside a character counts as the beginning of
/// the next one.
pub(super) fn from<T: Text + ?Sized>(text: &T, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0_usize;
    text.chunks().filter_map(move |chunk| {
        let begin = at;
        at = at.saturating_add(chunk.len());
        let skipped =
            (from.saturating_sub(begin)..=chunk.len()).find(|skip| chunk.is_char_boundary(*skip))?;
        Some((begin.saturating_add(skipped), chunk.get(skipped..)?))
    })
}

/// Returns where `wanted` first occurs at byte `begin` or later. The text after it is not read.
pub(crate) fn find<T: Text + ?Sized>(text: &T, wanted: &str, begin: usize) -> Option<usize> {
    let mut parts = from(text, begin).peekable();
    let (at, first) = parts.next()?;
    if parts.peek().is_none() || wanted.is_empty() {
        return first.find(wanted).map(|found| at.saturating_add(found));
    }
    // Without this check, the table of a long `wanted` could be longer than the text.
    if wanted.len() > first.len() && wanted.len() > len(text) {
        return None;
    }
    let mut search = Search::new(wanted.as_bytes());
    let bytes = first.bytes().chain(parts.flat_map(|(_, part)| part.bytes()));
    let (_, last) = bytes.zip(at..).find(|(byte, _)| search.step(*byte))?;
    last.saturating_add(1).checked_sub(wanted.len())
}

/// Returns where the line of byte `begin` ends, before its `\n` or `\r\n`.
pub(crate) fn line_end<T: Text + ?Sized>(text: &T, begin: usize) -> usize {
    let mut end = begin;
    let mut is_after_carriage = false;
    for (byte, at) in from(text, begin).flat_map(|(at, part)| part.bytes().zip(at..)) {
        if byte == b'\n' {
            return if is_after_carriage { at.saturating_sub(1) } else { at };
        }
        is_after_carriage = byte == b'\r';
        end = at.saturating_add(1);
    }
    end
}

/// A search that reads each byte of the text once (Knuth, Morris and Pratt).
struct Search<'a> {
    wanted: &'a [u8],
    /// For each prefix of `wanted`, the length of its longest proper suffix that is also a prefix.
    borders: Vec<u32>,
    /// How many bytes match so far.
    matched: usize,
}

impl<'a> Search<'a> {
    fn new(wanted: &'a [u8]) -> Self {
        let mut search = Self { wanted, borders: Vec::with_capacity(wanted.len()), matched: 0 };
        for (index, byte) in wanted.iter().enumerate() {
            if index > 0 {
                search.step(*byte);
            }
            search.borders.push(u32::try_from(search.matched).unwrap_or(u32::MAX));
        }
        search.matched = 0;
        search
    }

    /// Takes the next byte of the text. Returns true if it completes an occurrence.
    fn step(&mut self, byte: u8) -> bool {
        while self.matched > 0 && self.wanted.get(self.matched) != Some(&byte) {
            let shorter = self.borders.get(self.matched.saturating_sub(1));
            self.matched = shorter.and_then(|border| usize::try_from(*border).ok()).unwrap_or_default();
        }
        if self.wanted.get(self.matched) == Some(&byte) {
            self.matched = self.matched.saturating_add(1);
        }
        self.matched == self.wanted.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{borrow::Cow, boxed::Box, string::String, sync::Arc};

    /// A text in these chunks.
    struct Cut<'a>(&'a [&'a str]);

    impl Text for Cut<'_> {
        fn chunks(&self) -> impl Iterator<Item = &str> {
            self.0.iter().copied()
        }
    }

    #[test]
    fn occurrences_over_borders_are_found() {
        // The text, the wanted text, the first byte, and where it occurs.
        let cases: &[(&str, &[&str], &str, usize, Option<usize>)] = &[
            ("in one chunk", &["abc"], "bc", 0, Some(1)),
            ("over a border", &["ab", "cd"], "bc", 0, Some(1)),
            ("over three chunks", &["a", "b", "", "c"], "abc", 0, Some(0)),
            ("with a repeated beginning", &["aa", "ab", "aac"], "aac", 0, Some(4)),
            ("the second occurrence", &["ab", "ab"], "ab", 1, Some(2)),
            ("from inside a chunk", &["xab", "ab"], "b", 3, Some(4)),
            ("characters of several bytes", &["ü", "ß"], "üß", 0, Some(0)),
            ("no occurrence", &["ab", "cd"], "ac", 0, None),
            ("longer than the text", &["ab", "cd"], "abcde", 0, None),
            ("empty", &["ab", "cd"], "", 3, Some(3)),
            ("in an empty text", &[], "a", 0, None),
            ("after the end", &["ab", "cd"], "d", 9, None),
        ];
        for (name, text, wanted, begin, found) in cases {
            assert_eq!(find(&Cut(text), wanted, *begin), *found, "{name}");
        }
    }

    #[test]
    fn line_ends_before_its_ending() {
        let cases: &[(&str, &[&str], usize, usize)] = &[
            ("line feed", &["ab\ncd"], 0, 2),
            ("carriage return and line feed", &["ab\r\ncd"], 0, 2),
            ("carriage return and line feed, in two chunks", &["ab\r", "\ncd"], 0, 2),
            ("carriage return alone", &["a\rb\n"], 0, 3),
            ("carriage return at the end", &["ab\r"], 0, 3),
            ("from inside the ending", &["ab\r", "\ncd"], 3, 3),
            ("end of the text", &["ab", "cd"], 1, 4),
        ];
        for (name, text, begin, end) in cases {
            assert_eq!(line_end(&Cut(text), *begin), *end, "{name}");
        }
    }

    #[test]
    fn every_string_type_has_its_chunks() {
        fn has<T: Text + ?Sized>(text: &T, chunks: &[&str]) {
            assert_eq!(text.chunks().collect::<Vec<_>>(), chunks, "{}", core::any::type_name::<T>());
        }
        let (list, one): ([&str; 2], &str) = (["ab", "c"], "abc");
        has(one, &[one]);
        has(&String::from(one), &[one]);
        has(&Cow::Borrowed(one), &[one]);
        has(&one, &[one]);
        has(&Box::<str>::from(one), &[one]);
        has(&Arc::<str>::from(one), &[one]);
        has(&Cut(&list), &list);
    }
}
