//! The files that agents wrote without asking, as a list with a cursor.

use ide_mcp::Time;
use ide_mcp::rpc::CallId;
use std::path::PathBuf;

/// The list, the latest file first.
#[derive(Debug, Default)]
pub(crate) struct WrittenFiles {
    files: Vec<Written>,
    cursor: usize,
}

/// A file that an agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) id: CallId,
    /// The agent. Its name stays in the list after the agent is gone.
    pub(crate) who: String,
    pub(crate) path: PathBuf,
    pub(crate) label: String,
    /// `created`, `changed`, `removed`, or `dropped` if it cannot be undone any more.
    pub(crate) kind: &'static str,
    pub(crate) at: Time,
}

impl WrittenFiles {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Written> {
        self.files.iter()
    }

    /// Returns the index of the file that the keys act on.
    pub(crate) const fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the file that the keys act on.
    pub(crate) fn current(&self) -> Option<&Written> {
        self.files.get(self.cursor)
    }

    /// Moves the cursor.
    pub(crate) fn step(&mut self, rows: isize) {
        self.cursor = self.cursor.saturating_add_signed(rows).min(self.files.len().saturating_sub(1));
    }

    /// Replaces the list. The cursor stays on its file, and the names of agents that are gone stay.
    pub(crate) fn replace(&mut self, mut files: Vec<Written>) {
        for file in &mut files {
            if let Some(known) = self.files.iter().find(|known| known.id == file.id) {
                file.who.clone_from(&known.who);
            }
        }
        let current = self.current().map(|file| file.id);
        let at = files.iter().position(|file| Some(file.id) == current);
        self.files = files;
        self.cursor = at.unwrap_or(self.cursor);
        self.step(0);
    }
}
