//! The filter for pushes and answers. An agent puts the selection and mentions into a prompt, and sends
//! the prompt to a service, without asking the person again.

use crate::ide::kit::secret_reason;
use crate::ide::paths::{LocalPath, Platform, as_written, lenient};
use crate::ide::{ContentLimits, DiagnosticsChanged, Selection};
use alloc::sync::Arc;
use core::fmt;

/// A filter for pushes and answers: the files that they can name, and the length of a selected text. By
/// default everything passes.
///
/// The filter applies to the pushes of a [`Server`](super::Server), and to the answers of the tools of the
/// protocol, by [`Server::answer`](super::Server::answer) and by every method of
/// [`Server::call`](super::Server::call): no selection and no cursor in a hidden file, no problems, no tabs
/// and no paths of hidden files. An answer with the path of a hidden file becomes the answer
/// for a missing file. The resources that these tools read, and the requests of the Obsidian dialect,
/// are filtered in the same way.
///
/// The filter cannot determine the files in the following parts, so the application itself decides
/// about them:
///
/// - the texts of failures and of JSON-RPC errors, and the reports of progress,
/// - [`Done`](crate::ide::tool::Done) in place of a failure, or a failure in place of an answer: each can
///   reveal that a hidden file exists, so an application fails all calls about hidden files with one
///   text, before it looks for the file,
/// - links to hidden files, which only their real paths show,
/// - the answers of its own tools, prompts and resources, and of forwarded requests,
/// - the notifications and requests of [`notify_all`](super::Server::notify_all) and
///   [`agent_mut`](super::Server::agent_mut),
/// - the output of `executeCode`, which is code of the agent,
/// - the messages and other texts within the answers, such as the text of a problem in a visible file
///   that names a hidden file.
#[derive(Clone)]
pub struct Filter {
    hides: Option<Arc<dyn Fn(&str) -> bool + Send + Sync>>,
    most: usize,
}

impl Filter {
    /// Creates a filter that hides and cuts nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { hides: None, most: usize::MAX }
    }

    /// Hides every file.
    pub(super) fn everything() -> Self {
        Self::new().hide(|_| true)
    }

    /// Hides the files that usually contain secrets, as [`secret_reason`] decides: `.env`, private keys,
    /// stores of passwords, the files of `.ssh` and `.aws`, and others. [`hide`](Self::hide) adds more
    /// files.
    ///
    /// ```
    /// use ide_mcp::ide::Filter;
    /// let filter = Filter::secrets().hide(|path| path.ends_with(".private")).max_text(10_000);
    /// ```
    #[must_use]
    pub fn secrets() -> Self {
        Self::new().hide(|path| secret_reason(path).is_some())
    }

    /// Hides each file for whose path `hides` returns true, in addition to the files that are hidden
    /// already: ignored files, buffers that are no files.
    ///
    /// The filter calls `hides` for every selection and connection, so `hides` has to be quick. It calls `hides`
    /// with each reading of a text as a path, among them the text itself and the decoded path of a URI.
    /// One path for which `hides` returns true is enough. In the Obsidian dialect the paths are relative
    /// to the workspace.
    #[must_use]
    pub fn hide(mut self, hides: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.hides = Some(match self.hides.take() {
            Some(earlier) => Arc::new(move |path: &str| earlier(path) || hides(path)),
            None => Arc::new(hides),
        });
        self
    }

    /// Cuts the text of a selection to this many bytes, at a character.
    /// [`ContentLimits::selection`](crate::ide::ContentLimits::selection) stays the upper limit.
    #[must_use]
    pub const fn max_text(mut self, bytes: usize) -> Self {
        if bytes < self.most {
            self.most = bytes;
        }
        self
    }

    /// Changes the selection into the selection to send, and returns the kind of the change.
    pub(super) fn selection(&self, selection: &mut Selection, limits: &ContentLimits) -> Selected {
        if selection.is_hidden(&|text| self.hides(text)) {
            // Without a cleared selection the client would continue to show the previous selection.
            *selection = Selection::cleared();
            return Selected::Hidden;
        }
        if selection.cut(self.most.min(limits.selection)) { Selected::Truncated } else { Selected::Whole }
    }

    /// Returns the part of the change that can be sent; `None` if nothing can be sent.
    pub(super) fn diagnostics(&self, mut changed: DiagnosticsChanged) -> Option<DiagnosticsChanged> {
        let is_visible = match &mut changed {
            DiagnosticsChanged::Stale { uris } => {
                uris.retain(|uri| !self.hides(uri));
                !uris.is_empty()
            }
            DiagnosticsChanged::Now(file) => !self.hides(&file.uri),
        };
        is_visible.then_some(changed)
    }

    /// Returns true if the filter hides the file that this text names. The text can be a path or a URI,
    /// percent-encoded or not, with or without a position in the file behind it (after `?` or `#`). The
    /// text does not show which of these forms it has, so one reading for which `hides` returns true is
    /// enough.
    pub(super) fn hides(&self, text: &str) -> bool {
        let Some(hides) = &self.hides else { return false };
        let without_place = text.split(['?', '#']).next().unwrap_or(text);
        let places = if without_place.len() == text.len() { &[text][..] } else { &[text, without_place] };
        // An editor can show files of another system: those of WSL on Windows, or those of a machine far away.
        let systems = [Platform::Posix, Platform::Windows];
        places.iter().any(|text| {
            let normal = systems.map(|system| LocalPath::parse(text, system).ok());
            hides(text)
                || hides(as_written(text))
                || hides(&lenient(text))
                || normal.iter().flatten().filter_map(LocalPath::to_str).any(|path| hides(path))
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

/// The effect of the [`Filter`] and the limits on a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selected {
    /// The selection is sent unchanged.
    Whole,
    /// The beginning of the text is sent: the text is longer than the filter and the
    /// [limits](ContentLimits) allow.
    Truncated,
    /// The selection is not sent, because the filter hides its file, or because the server is
    /// [paused](super::Server::pause). The clients receive an empty selection.
    Hidden,
}
