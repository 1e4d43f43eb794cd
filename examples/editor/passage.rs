//! The passage of a file that `openFile` asks to be selected, by the texts with which it begins and ends.

use ide_mcp::ide::{OpenFile, Position, Range};

/// A range, and which of the texts is not there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) range: Range,
    pub(crate) missing: Option<&'static str>,
}

/// From the first occurrence of `startText` (without one, from the beginning) to the end of the next occurrence of
/// `endText` (without one, to the end of `startText`). What is not there counts as not asked for, so that a file
/// without either is opened at its beginning.
pub(crate) fn passage(asked: &OpenFile, text: &str) -> Passage {
    let mut missing = None;
    let (mut start, mut end) = (0, 0);
    if let Some(wanted) = &asked.start_text {
        match text.find(wanted.as_str()) {
            Some(at) => (start, end) = (at, at.saturating_add(wanted.len())),
            None => missing = Some("startText"),
        }
    }
    if let Some(wanted) = asked.end_text.as_ref().filter(|_| missing.is_none()) {
        match text.get(end..).and_then(|rest| rest.find(wanted.as_str())) {
            Some(at) => end = end.saturating_add(at).saturating_add(wanted.len()),
            None => missing = Some("endText"),
        }
    }
    if asked.select_to_end_of_line && end > 0 {
        let rest = text.get(end..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        end = end.saturating_add(rest.len());
    }
    Passage { range: Range::new(Position::of_byte(text, start), Position::of_byte(text, end)), missing }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn a() {\n  1\n}\r\nfn ü() {\n  2 // one\n}\n";

    #[test]
    fn texts_say_what_is_selected() {
        let cases = [
            ("nothing", None, None, false, Some(""), None),
            ("only a start", Some("fn ü"), None, false, Some("fn ü"), None),
            ("both", Some("fn ü"), Some("}"), false, Some("fn ü() {\n  2 // one\n}"), None),
            ("the next end, not the first", Some("2"), Some("}"), false, Some("2 // one\n}"), None),
            ("an end that overlaps", Some("() {"), Some("{"), false, Some("() {\n  1\n}\r\nfn ü() {"), None),
            ("only an end", None, Some("a()"), false, Some("fn a()"), None),
            ("to the end of the line", Some("2"), None, true, Some("2 // one"), None),
            (
                "to the end of a line with a carriage return",
                Some("  1"),
                Some("}"),
                true,
                Some("  1\n}"),
                None,
            ),
            ("where a line ends", Some("{\n"), None, true, Some("{\n  1"), None),
            ("no such start", Some("fn b"), Some("}"), true, Some(""), Some("startText")),
            ("no such end", Some("fn ü"), Some("fn b"), false, Some("fn ü"), Some("endText")),
        ];
        for (name, start, end, to_end, selected, missing) in cases {
            let mut asked = OpenFile::new("/a");
            asked.start_text = start.map(Into::into);
            asked.end_text = end.map(Into::into);
            asked.select_to_end_of_line = to_end;
            let passage = passage(&asked, TEXT);
            assert_eq!((passage.range.of(TEXT), passage.missing), (selected, missing), "{name}");
        }
    }
}
