//! A text and its lines.

use std::ops::Range;

/// A text with an index of its lines. A line contains its line end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    text: String,
    /// The offset of the first byte of each line, and at the end the length of the text.
    bounds: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(text: String) -> Self {
        let ends = text.split_inclusive('\n').scan(0_usize, |end, line| {
            *end = end.saturating_add(line.len());
            Some(*end)
        });
        let bounds = std::iter::once(0).chain(ends).collect();
        Self { text, bounds }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Returns a line with its end, or an empty string if there is no such line.
    pub(crate) fn line(&self, number: usize) -> &str {
        self.get(number..number.saturating_add(1))
    }

    /// Returns consecutive lines, or an empty string if there are no such lines.
    pub(crate) fn get(&self, lines: Range<usize>) -> &str {
        let bytes = self.bounds.get(lines.start).zip(self.bounds.get(lines.end));
        bytes.and_then(|(start, end)| self.text.get(*start..*end)).unwrap_or_default()
    }

    pub(crate) fn iter(
        &self,
        lines: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        lines.map(|number| self.line(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_a_newline() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("no line", "", &[]),
            ("an empty line", "\n", &["\n"]),
            ("a line without a line end", "a", &["a"]),
            ("lines with line ends", "a\nb\n", &["a\n", "b\n"]),
            ("returns", "a\r\nb\rc\n\rd", &["a\r\n", "b\rc\n", "\rd"]),
        ];
        for (name, text, expected) in cases {
            let lines = Lines::new((*text).into());
            assert_eq!(lines.iter(0..lines.len()).collect::<Vec<_>>(), *expected, "{name}");
            assert_eq!(lines.get(0..lines.len()), *text, "{name}");
            assert_eq!(lines.line(lines.len()), "", "{name}");
        }
    }
}
