//! The filter for pushes and answers. An agent puts the selection and mentions into a prompt, and sends that to a
//! service, without asking the person again.

use crate::ide::kit::secret_reason;
use crate::ide::paths::{LocalPath, Platform, as_written, lenient};
use crate::ide::{ContentLimits, DiagnosticsChanged, Selection};
use alloc::sync::Arc;
use core::fmt;

/// Keeps files from agents: decides which files pushes and answers may name, and how much of a selected text they
/// contain. By default everything passes.
///
/// The filter applies to the pushes of a [`Server`](super::Server), and to the answers of the tools of the protocol, by
/// [`Server::answer`](super::Server::answer) and by every method of [`Server::call`](super::Server::call): no selection
/// and no cursor in a hidden file, no problems, no tabs and no paths of hidden files. An answer about a hidden file
/// becomes the one for a missing file. The resources that these tools read, and the requests of the Obsidian dialect,
/// are filtered too.
///
/// The filter cannot tell which files the following are about, so they are up to you:
///
/// - the messages of failures and of JSON-RPC errors, and the reports of progress,
/// - [`Done`](crate::ide::tool::Done) instead of a failure, or a failure instead of an answer: each can reveal that a
///   hidden file exists, so fail all calls about hidden files with the same message, before you look for the file,
/// - symbolic links to hidden files: only the resolved path shows where a link leads,
/// - the answers of your own tools, prompts and resources, and of forwarded requests,
/// - the notifications and requests of [`notify_all`](super::Server::notify_all) and
///   [`agent_mut`](super::Server::agent_mut),
/// - the output of `executeCode`, which is code of the agent,
/// - messages and other strings in answers, such as a problem in a visible file whose message names a hidden one.
///
/// ```
/// use ide_mcp::ide::{Filter, ServerConfig};
///
/// let filter = Filter::secrets().hide(|path| path.contains("/private/"));
/// let editor = ServerConfig::new("my editor", "1.0").filter(filter);
/// ```
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

    /// Hides files that usually contain secrets, as [`secret_reason`] decides: `.env`, private keys, password stores,
    /// the files of `.ssh` and `.aws`, and others. Add more with [`hide`](Self::hide).
    ///
    /// ```
    /// use ide_mcp::ide::Filter;
    /// let filter = Filter::secrets().hide(|path| path.ends_with(".private")).max_text(10_000);
    /// ```
    #[must_use]
    pub fn secrets() -> Self {
        Self::new().hide(|path| secret_reason(path).is_some())
    }

    /// Also hides the files that `hides` returns true for, such as ignored files, or buffers that are not files.
    ///
    /// `hides` is called for every selection and connection, so it must be quick. A string may be a path or a URI, so
    /// `hides` gets several readings of it, among them the string itself and the decoded path of a URI; the file is
    /// hidden if it returns true for any of them. In the Obsidian dialect, paths are relative to the workspace.
    #[must_use]
    pub fn hide(mut self, hides: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.hides = Some(match self.hides.take() {
            Some(earlier) => Arc::new(move |path: &str| earlier(path) || hides(path)),
            None => Arc::new(hides),
        });
        self
    }

    /// Cuts the text of a selection to this many bytes, at a character boundary.
    /// [`ContentLimits::selection`](crate::ide::ContentLimits::selection) stays the upper limit.
    #[must_use]
    pub const fn max_text(mut self, bytes: usize) -> Self {
        if bytes < self.most {
            self.most = bytes;
        }
        self
    }

    /// Changes the selection into what may be sent, and returns what was done to it.
    pub(super) fn selection(&self, selection: &mut Selection, limits: &ContentLimits) -> Selected {
        if selection.is_hidden(&|text| self.hides(text)) {
            // Without a cleared selection the client would go on showing the previous one.
            *selection = Selection::cleared();
            return Selected::Hidden;
        }
        if selection.cut(self.most.min(limits.selection)) { Selected::Truncated } else { Selected::Whole }
    }

    /// Returns what may be sent of the change, if anything.
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

    /// Returns true if the filter hides the file that this text names: a path or a URI, percent-encoded or not, perhaps
    /// followed by a position in the file (after `?` or `#`). The text does not show which of these it is, so it is
    /// enough that `hides` returns true for one reading.
    pub(super) fn hides(&self, text: &str) -> bool {
        let Some(hides) = &self.hides else { return false };
        let without_place = text.split(['?', '#']).next().unwrap_or(text);
        let places = if without_place.len() == text.len() { &[text][..] } else { &[text, without_place] };
        // An editor may show files of another system, such as WSL on Windows, or a remote machine.
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

/// What the [`Filter`] and the limits did to a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selected {
    /// The selection is sent unchanged.
    Whole,
    /// Only the beginning of the text is sent: it is longer than the filter and the [limits](ContentLimits) allow.
    Truncated,
    /// The clients get an empty selection instead, because the filter hides the file, or the server is
    /// [paused](super::Server::pause).
    Hidden,
}
