//! Progress on standard error, for a user at a terminal.

use ide_mcp::ide::kit::display_safe;
use std::env;
use std::io::{self, IsTerminal as _, Write as _};

/// A progress line, which the next one overwrites. Writes nothing if standard error is not a terminal, or is one that
/// cannot overwrite a line. Dropping it removes the line.
#[derive(Debug)]
pub(crate) struct Progress {
    program: &'static str,
    is_shown: bool,
    is_dirty: bool,
}

impl Progress {
    /// Creates a progress line that is empty at first.
    pub(crate) fn new(program: &'static str) -> Self {
        let is_shown = io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|name| name != "dumb");
        Self { program, is_shown, is_dirty: false }
    }

    /// Shows this text in place of the last one.
    pub(crate) fn show(&mut self, text: &str) {
        if self.is_shown {
            self.is_dirty = true;
            // The program goes on without the progress line.
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K{}: {}", self.program, display_safe(text));
        }
    }

    /// Removes the line, before other output.
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
