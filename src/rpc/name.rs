//! The name of a member, and the kind of the value behind it. The kind decides if a value can be
//! decoded without being kept raw first.

use serde::Deserialize;

/// The name of a member that is written without escapes, as a slice of its text.
///
/// The value begins behind the name, so the position of the slice in the text leads to the first
/// byte of the value, which shows its kind. A [`Deserializer`](serde::Deserializer) does not report
/// that kind.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Name<'t>(pub(crate) &'t str);

impl Name<'_> {
    /// Returns true if the value behind this name in `text` is an object. Returns false if the kind
    /// cannot be found.
    #[must_use]
    pub(crate) fn is_of_object(self, text: &str) -> bool {
        let begin = text.as_ptr().addr();
        let behind = self.0.as_ptr().addr().checked_sub(begin).and_then(|at| at.checked_add(self.0.len()));
        // `trim_ascii_start` skips a form feed as well. A text with a form feed between tokens is
        // not JSON, so the result does not matter.
        let mut rest = behind.and_then(|at| text.get(at..));
        for wanted in ['"', ':', '{'] {
            rest = rest.and_then(|rest| rest.trim_ascii_start().strip_prefix(wanted));
        }
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_decides_what_follows() {
        const CASES: &[(&str, bool)] = &[
            (r#"{"a":{}}"#, true),
            ("{\"a\" \t:\r\n {}}", true),
            (r#"{"a":[]}"#, false),
            (r#"{"a":"{"}"#, false),
            (r#"{"a"#, false),
        ];
        for (text, want) in CASES {
            assert_eq!(Name(text.get(2..3).unwrap()).is_of_object(text), *want, "{text}");
        }
        assert!(!Name("a").is_of_object(r#"{"a":{}}"#), "it lies elsewhere");
    }
}
