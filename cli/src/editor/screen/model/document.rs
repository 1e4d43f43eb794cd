//! An open file.

use super::buffer::Buffer;
use crate::editor::diagnostics::check;
use crate::support::save::Seen;
use ide_mcp::ide::Selection;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::Diagnostic;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The absolute path as the user knows it.
    pub(crate) path: String,
    /// The path without symbolic links: a file with several names is open only once.
    pub(crate) real: PathBuf,
    /// The path below its folder, not yet safe to display.
    pub(crate) label: String,
    pub(crate) buffer: Buffer,
    /// The problems of the text in the editor.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The [state](Buffer::state) of the text that has these problems.
    checked: u64,
    /// What the file contained when it was last read or written.
    pub(crate) seen: Seen,
    /// The [states](Buffer::state) of the text that are being saved, in order.
    pub(crate) saving: Vec<u64>,
    /// True if the file has changed on disk since it was [seen](Self::seen), but was not read again because its text
    /// has changed here too.
    pub(crate) conflict: bool,
    /// True while the file is being saved under another name.
    pub(crate) is_renamed: bool,
    /// True if agents do not get the file.
    pub(crate) is_hidden: bool,
    /// The [state](Buffer::state) of the text that the user accepted a proposal for, and the accepted text. Once the
    /// agent has written it, it replaces the text here, saved or not.
    pub(crate) accepted: Option<(u64, String)>,
}

impl Document {
    pub(crate) fn new(path: String, real: PathBuf, label: String, text: String, seen: Seen) -> Self {
        let diagnostics = check(&real, &text);
        let buffer = Buffer::new(text);
        let checked = buffer.state();
        Self {
            path,
            real,
            label,
            buffer,
            diagnostics,
            checked,
            seen,
            saving: Vec::new(),
            conflict: false,
            accepted: None,
            is_renamed: false,
            is_hidden: false,
        }
    }

    /// Checks the text if it has changed. Returns true if its problems have changed.
    pub(crate) fn check(&mut self) -> bool {
        if self.is_checked() {
            return false;
        }
        self.checked = self.buffer.state();
        let found = check(&self.real, self.buffer.text().as_str());
        let changed = found != self.diagnostics;
        self.diagnostics = found;
        changed
    }

    pub(crate) const fn is_checked(&self) -> bool {
        self.checked == self.buffer.state()
    }

    /// Returns true if this text on disk may replace the text here: there are no unsaved changes, both texts are equal,
    /// or the user has accepted this text in a proposal.
    pub(crate) fn can_take(&self, text: &str) -> bool {
        let is_accepted =
            |(state, accepted): &(u64, String)| *state == self.buffer.state() && accepted == text;
        !self.buffer.is_dirty()
            || self.buffer.text().as_str() == text
            || self.accepted.as_ref().is_some_and(is_accepted)
    }

    /// Takes over the text that was read again.
    pub(crate) fn reload(&mut self, text: String, seen: Seen) {
        if self.buffer.text().as_str() == text {
            self.buffer.mark_saved(self.buffer.state());
        } else {
            self.buffer.reload(text);
        }
        (self.seen, self.conflict, self.accepted) = (seen, false, None);
    }

    /// Gives the file another name, under which it may have other problems.
    pub(crate) fn rename(&mut self, path: String, real: PathBuf, label: String) {
        (self.path, self.real, self.label) = (path, real, label);
        self.diagnostics = check(&self.real, self.buffer.text().as_str());
        self.checked = self.buffer.state();
    }

    /// Returns true if the current text is neither on disk nor being saved.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.buffer.is_dirty() && self.saving.last() != Some(&self.buffer.state())
    }

    /// Records the outcome of writing the first text of [`saving`](Self::saving): what the file contains then, or
    /// `None` for a failure. It may have failed because of a change that the attributes of the file do not show.
    pub(crate) fn saved(&mut self, written: Option<Seen>) {
        if self.saving.is_empty() {
            return;
        }
        let state = self.saving.remove(0);
        if let Some(seen) = written {
            self.buffer.mark_saved(state);
            (self.seen, self.conflict) = (seen, false);
        } else {
            self.seen.doubt();
        }
    }

    /// Returns the selection as agents receive it.
    pub(crate) fn selection(&self) -> Selection {
        let (text, range) = (self.buffer.text(), self.buffer.selection());
        let positions = Range::new(text.position(range.start), text.position(range.end));
        Selection::new(self.path.as_str(), positions, self.buffer.selected())
    }

    /// Returns the first and the last selected line, from 0 as in the protocol. Returns `None` if
    /// nothing is selected.
    pub(crate) fn selected_lines(&self) -> Option<(u32, u32)> {
        let (first, last) = self.buffer.selected_lines()?;
        Some((u32::try_from(first).ok()?, u32::try_from(last).ok()?))
    }

    /// Selects a range in positions of the protocol.
    pub(crate) fn select(&mut self, range: Range) {
        let byte = |position: Position| position.to_byte_offset(self.buffer.text().as_str());
        let (start, end) = (byte(range.start), byte(range.end));
        if let (Some(start), Some(end)) = (start, end) {
            self.buffer.select(start..end);
        }
    }

    /// Returns the problem of a line. Lines count from 0.
    pub(crate) fn problem_in(&self, line: usize) -> Option<&Diagnostic> {
        let covers = |problem: &&Diagnostic| {
            let (first, last) = (problem.range.start.line, problem.range.end.line);
            u32::try_from(line).is_ok_and(|line| first <= line && line <= last)
        };
        self.diagnostics.iter().find(covers)
    }

    /// Returns the language identifier that VS Code uses for this file.
    pub(crate) fn language(&self) -> &'static str {
        match self.real.extension().and_then(|extension| extension.to_str()) {
            Some("json") => "json",
            Some("toml") => "toml",
            Some("rs") => "rust",
            Some("md") => "markdown",
            Some("py") => "python",
            Some("js") => "javascript",
            Some("ts") => "typescript",
            Some("sh") => "shellscript",
            Some("html") => "html",
            Some("css") => "css",
            Some("yml" | "yaml") => "yaml",
            _ => "plaintext",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str, text: &str) -> Document {
        let path = format!("/p/{name}");
        Document::new(path.clone(), path.into(), name.into(), text.into(), Seen::ABSENT)
    }

    #[test]
    fn problems_follow_the_unsaved_text() {
        let mut document = document("a.json", "{\n  x\n}");
        assert_eq!(document.diagnostics.len(), 1);
        assert!(document.problem_in(1).is_some() && document.problem_in(0).is_none());
        assert!(!document.check(), "nothing has changed");
        document.select(Range::new(Position::new(1, 2), Position::new(1, 3)));
        document.buffer.insert("\"a\": 1");
        assert!(!document.is_checked());
        assert!(document.check() && document.diagnostics.is_empty());
        document.buffer.type_text(" ");
        assert!(!document.check(), "there are none as before");
    }

    #[test]
    fn selected_lines_follow_the_selection() {
        let mut document = document("a.txt", "one\ntwo\nthree");
        let cases = [
            ("a cursor", [0, 1, 0, 1], None),
            ("in a line", [1, 0, 1, 2], Some((1, 1))),
            ("two lines", [0, 2, 1, 1], Some((0, 1))),
            ("to the beginning of a line", [0, 0, 2, 0], Some((0, 1))),
            ("a line end", [0, 3, 1, 0], Some((0, 0))),
        ];
        for (name, [line, column, last_line, last_column], lines) in cases {
            let range = Range::new(Position::new(line, column), Position::new(last_line, last_column));
            document.select(range);
            assert_eq!(document.selected_lines(), lines, "{name}");
            assert_eq!(document.selection().range, range, "{name}");
        }
    }

    #[test]
    fn reload_of_equal_text_keeps_undo() {
        let mut document = document("a.txt", "a");
        document.buffer.type_text("b");
        document.reload("ba".into(), Seen::ABSENT);
        assert!(!document.buffer.is_dirty() && document.buffer.undo());
        document.reload("c".into(), Seen::ABSENT);
        assert!(!document.buffer.is_dirty() && !document.buffer.undo());
    }
}
