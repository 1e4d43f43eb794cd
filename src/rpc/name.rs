//! The name of a member, and what kind of value stands behind it: what decides whether a value can be decoded at all
//! without being kept raw first.

use serde::Deserialize;

/// The name of a member that is written without escapes, where it lies in its text.
///
/// The place tells what kind of value follows, which a [`Deserializer`](serde::Deserializer) tells nobody.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Name<'t>(pub(crate) &'t str);

impl Name<'_> {
    /// Whether the value behind this name in `text` is an object. False where it cannot be told.
    #[must_use]
    pub(crate) fn is_of_object(self, text: &str) -> bool {
        let begin = text.as_ptr().addr();
        let behind = self.0.as_ptr().addr().checked_sub(begin).and_then(|at| at.checked_add(self.0.len()));
        // A form feed is skipped as well, but makes the text no JSON.
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
    fn a_name_tells_what_follows() {
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
