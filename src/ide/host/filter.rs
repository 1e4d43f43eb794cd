//! What may leave the editor unasked: the selection and mentions go into a prompt, and with it to a service, without
//! anybody being asked again.

use crate::ide::paths::{LocalPath, Platform, as_written, lenient};
use crate::ide::{ContentLimits, DiagnosticsChanged, Selection};
use alloc::sync::Arc;
use core::fmt;

/// Which files an agent is told of unasked, and how much of them. Everything by default.
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
        Self { hides: None, most: usize::MAX }
    }

    /// Keeps back whatever concerns a file for whose path this is true: secrets, ignored files, buffers that are no
    /// files. It is asked for every selection, so it should be quick; and for every path that a text can be read as, the
    /// text itself and the decoded path of a URI among them, of which any is enough.
    #[must_use]
    pub fn hide(mut self, hides: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.hides = Some(Arc::new(hides));
        self
    }

    /// Cuts the text of a selection to so many bytes, at a character; more than
    /// [`ContentLimits::selection`](crate::ide::ContentLimits::selection) it never is.
    #[must_use]
    pub const fn max_text(mut self, bytes: usize) -> Self {
        if bytes < self.most {
            self.most = bytes;
        }
        self
    }

    /// What may be told in the place of this selection.
    pub(super) fn selection(&self, selection: &mut Selection, limits: &ContentLimits) -> Selected {
        let url = selection.file_url.as_deref();
        if self.hides(&selection.file_path) || url.is_some_and(|url| self.hides(url)) {
            // The client would go on to show the one before, as if it were still selected.
            *selection = Selection::cleared();
            return Selected::Hidden;
        }
        if selection.cut(self.most.min(limits.selection)) { Selected::Truncated } else { Selected::Whole }
    }

    /// What may be told of changed problems; `None` if nothing may.
    pub(super) fn diagnostics(&self, mut changed: DiagnosticsChanged) -> Option<DiagnosticsChanged> {
        let is_told = match &mut changed {
            DiagnosticsChanged::Stale { uris } => {
                uris.retain(|uri| !self.hides(uri));
                !uris.is_empty()
            }
            DiagnosticsChanged::Now(file) => !self.hides(&file.uri),
        };
        is_told.then_some(changed)
    }

    /// Whether what this text names is to be hidden. It may be a path or a URI, percent-encoded or not, with a place in the
    /// file behind it or not, and which it was cannot be seen: any reading hides it.
    pub(super) fn hides(&self, text: &str) -> bool {
        let Some(hides) = &self.hides else { return false };
        let without_place = text.split(['?', '#']).next().unwrap_or(text);
        let places = if without_place.len() == text.len() { &[text][..] } else { &[text, without_place] };
        places.iter().any(|text| {
            let normal = LocalPath::parse(text, Platform::native()).ok();
            hides(text)
                || hides(as_written(text))
                || hides(&lenient(text))
                || normal.as_ref().and_then(LocalPath::to_str).is_some_and(|path| hides(path))
        })
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
    Truncated,
    /// It is not told: the filter hides its file. Told is that nothing is selected.
    Hidden,
}
