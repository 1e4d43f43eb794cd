//! What may leave the editor unasked: the selection and mentions go into a prompt, and with it to a service, without
//! anybody being asked again.

use crate::ide::paths::{LocalPath, Platform, as_written};
use crate::ide::{DiagnosticsChanged, Mention, Selection};
use alloc::sync::Arc;
use core::fmt;

/// Which files an agent is told of unasked, and how much of them. Everything by default, up to 256 KiB of text.
///
/// What an agent asks for is answered by the application, which decides about that itself.
#[derive(Clone)]
pub struct Filter {
    hides: Option<Arc<dyn Fn(&str) -> bool + Send + Sync>>,
    most: usize,
}

impl Filter {
    /// Lets everything through.
    #[must_use]
    pub const fn new() -> Self {
        Self { hides: None, most: crate::ide::MAX_SELECTION }
    }

    /// Keeps back whatever concerns a file for whose path this is true: secrets, ignored files, buffers that are no
    /// files. It is asked for every selection, so it should be quick.
    #[must_use]
    pub fn hide(mut self, hides: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.hides = Some(Arc::new(hides));
        self
    }

    /// Cuts the text of a selection to so many bytes, at a character; more than 256 KiB it never is.
    #[must_use]
    pub const fn max_text(mut self, bytes: usize) -> Self {
        if bytes < self.most {
            self.most = bytes;
        }
        self
    }

    /// What may be told in the place of this selection.
    pub(super) fn selection(&self, selection: &mut Selection) -> Selected {
        if self.hides_path(&selection.file_path) {
            // The client would go on to show the one before, as if it were still selected.
            *selection = Selection::cleared();
            return Selected::Hidden;
        }
        if selection.cut(self.most) { Selected::Cut } else { Selected::Whole }
    }

    pub(super) fn hides_mention(&self, mention: &Mention) -> bool {
        self.hides_path(&mention.file_path)
    }

    /// What may be told of changed problems; `None` if nothing may.
    pub(super) fn diagnostics(&self, mut changed: DiagnosticsChanged) -> Option<DiagnosticsChanged> {
        let is_told = match &mut changed {
            DiagnosticsChanged::Stale { uris } => {
                uris.retain(|uri| !self.hides_uri(uri));
                !uris.is_empty()
            }
            DiagnosticsChanged::Now(file) => !self.hides_uri(&file.uri),
        };
        is_told.then_some(changed)
    }

    /// Editors write URIs percent-encoded or not, and which it was cannot be seen: either reading hides it.
    fn hides_uri(&self, uri: &str) -> bool {
        let decoded = LocalPath::parse(uri, Platform::native()).ok();
        decoded.as_ref().and_then(LocalPath::to_str).is_some_and(|path| self.hides_path(path))
            || self.hides_path(as_written(uri))
    }

    fn hides_path(&self, path: &str) -> bool {
        self.hides.as_ref().is_some_and(|hides| hides(path))
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hides = if self.hides.is_some() { "some" } else { "nothing" };
        f.debug_struct("Filter").field("hides", &hides).field("most", &self.most).finish()
    }
}

/// What became of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selected {
    /// It is told as it is.
    Whole,
    /// The beginning of its text is told: it is longer than the filter lets through.
    Cut,
    /// It is not told: the filter hides its file. Told is that nothing is selected.
    Hidden,
}
