//! A file of a proposal, as it is on disk.

use crate::support::save::Seen;
use std::path::{Path, PathBuf};

/// A file that differs from what the editor last saw.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) real: PathBuf,
    /// What the editor had seen.
    pub(crate) seen: Seen,
    pub(crate) now: Seen,
    /// The text on disk now; meaningless if there is no file.
    pub(crate) text: Result<String, String>,
}

/// A file of a proposal: the file that it changes, or the file at its new path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Old {
    /// The file without symbolic links, and what it contained; `None` if it is not read.
    pub(crate) place: Option<(PathBuf, Seen)>,
    pub(crate) text: OldText,
}

/// The text of a file of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OldText {
    Text(String),
    /// There is no file yet.
    Nothing,
    /// The text is not shown, for this reason.
    Hidden(String),
}

impl Old {
    /// Returns true if this is the file.
    pub(crate) fn is_of(&self, real: &Path) -> bool {
        self.place.as_ref().is_some_and(|(path, _)| path == real)
    }

    /// Takes over a change on disk.
    pub(crate) fn found(&mut self, changed: &Changed) {
        let Some((real, seen)) = &mut self.place else { return };
        if *real == changed.real {
            *seen = changed.now;
            self.text = match &changed.text {
                _ if changed.now.is_absent() => OldText::Nothing,
                Ok(text) => OldText::Text(text.clone()),
                Err(reason) => OldText::Hidden(reason.clone()),
            };
        }
    }
}

impl OldText {
    /// Returns the text, which is empty if there is none, or if it is not shown.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Nothing | Self::Hidden(_) => "",
        }
    }

    /// Returns true if a write over this text loses nothing.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Nothing => true,
            Self::Hidden(_) => false,
        }
    }

    /// Returns this, or [`Nothing`](Self::Nothing) for a text that a diff shows.
    pub(crate) const fn unless_shown(&self) -> &Self {
        match self {
            Self::Text(_) => &Self::Nothing,
            Self::Nothing | Self::Hidden(_) => self,
        }
    }
}
