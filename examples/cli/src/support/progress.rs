//! What a program waits for, on standard error, for a person who sits at a terminal.

use ide_mcp::ide::display_safe;
use std::io::{self, IsTerminal as _, Write as _};

/// One line that is written over. Nothing is written where standard error is no terminal. It vanishes when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    program: &'static str,
    is_shown: bool,
    is_dirty: bool,
}

impl Progress {
    /// Shows nothing yet.
    pub(crate) fn new(program: &'static str) -> Self {
        Self { program, is_shown: io::stderr().is_terminal(), is_dirty: false }
    }

    /// Shows this in place of what was shown before.
    pub(crate) fn show(&mut self, text: &str) {
        if self.is_shown {
            self.is_dirty = true;
            // Who cannot be told waits all the same.
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K{}: {}", self.program, display_safe(text));
        }
    }

    /// Takes the line away, before something else is written.
    pub(crate) fn clear(&mut self) {
        if self.is_dirty {
            self.is_dirty = false;
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
