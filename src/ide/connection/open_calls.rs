//! The open calls of one client that the application has received: the tool of each, and the tab that an `openDiff`
//! opened.
//!
//! Each connection has its own list, so that a client can only end its own diffs. A client never cancels an `openDiff`
//! that was decided in its terminal (measured): `close_tab` is the only sign.

use crate::ide::tool::{DirectRequest, Tool};
use crate::rpc::CallId;
use alloc::{format, string::String, sync::Arc, vec::Vec};

/// Why a diff ended without your answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffEnd {
    /// The client closed the tab of the diff, because it was decided elsewhere. The call has been answered.
    TabClosed,
    /// The client closed all its tabs. The call has been answered.
    AllClosed,
    /// The editor shut down, or disconnected the client. The call has been answered.
    ShutDown,
    /// The client cancelled the call. The call is not answered.
    Cancelled,
    /// The deadline that you [set](crate::ide::OpenCall::set_timeout) has passed. The call has been answered.
    Expired,
    /// The connection ended. The call cannot be answered.
    Disconnected,
}

impl DiffEnd {
    /// Returns the reason as a word: the method of the agent (`close_tab`, `closeAllDiffTabs`), or `shutdown`,
    /// `cancelled`, `expired` or `disconnected`, so that all programs that report events as JSON spell it the same.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TabClosed => "close_tab",
            Self::AllClosed => "closeAllDiffTabs",
            Self::ShutDown => "shutdown",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Disconnected => "disconnected",
        }
    }
}

/// The open calls of one connection, in the order in which they came, which is the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    call: CallId,
    kind: CallKind,
    /// The tab that an `openDiff` opened.
    tab_name: Option<String>,
    /// The file that a `getDiagnostics`, or a `readFile` of the Obsidian dialect, asks for.
    file: Option<CallFile>,
}

/// A file as the client spells it.
#[derive(Debug)]
struct CallFile {
    /// The length of what comes before the path, in bytes.
    prefix: u8,
    /// The path. It is shared with the event about an expected edit, so that nearly no call needs a copy.
    path: Arc<str>,
}

impl CallFile {
    /// Shares `path` if `file` is this path, or this path after a slash or the scheme. Otherwise copies `file`.
    fn new(file: &str, path: Option<Arc<str>>) -> Self {
        let shared = path.and_then(|path| {
            let prefix = file.strip_suffix(&*path)?;
            Some(Self { prefix: PREFIXES.contains(&prefix).then(|| u8::try_from(prefix.len()).ok())??, path })
        });
        shared.unwrap_or_else(|| Self { prefix: 0, path: file.into() })
    }

    fn prefix(&self) -> &'static str {
        let prefix = PREFIXES.iter().find(|prefix| prefix.len() == usize::from(self.prefix));
        prefix.copied().unwrap_or_default()
    }

    fn spelling(&self) -> String {
        format!("{}{}", self.prefix(), self.path)
    }

    /// Returns true if `text` is the spelling.
    fn is(&self, text: &str) -> bool {
        text.strip_suffix(&*self.path) == Some(self.prefix())
    }
}

/// What may come before the path in the spelling of a file. Each has a different length.
const PREFIXES: [&str; 4] = ["", "/", "file://", "file:///"];

/// What kind of call it is, which decides what can answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// A call of a tool of the protocol.
    Tool(Tool),
    /// A call of one of the application's own tools.
    OwnTool,
    /// A request for a prompt.
    Prompt,
    /// A request for a resource that no tool reads.
    Resource,
    /// Any other request.
    Request,
}

impl OpenCalls {
    pub(crate) fn open(&mut self, call: CallId, kind: CallKind, tab_name: Option<String>) {
        self.0.push(Entry { call, kind, tab_name, file: None });
    }

    /// Adds a call of `getDiagnostics`, for this file or all files. `path` is the path in `file`, if the caller has it
    /// already.
    pub(crate) fn open_diagnostics(&mut self, call: CallId, file: Option<&str>, path: Option<Arc<str>>) {
        let file = file.map(|file| CallFile::new(file, path));
        self.0.push(Entry { call, kind: CallKind::Tool(Tool::GetDiagnostics), tab_name: None, file });
    }

    /// Adds a request of the Obsidian dialect.
    pub(crate) fn open_direct(&mut self, call: CallId, request: &DirectRequest) {
        let file = if let DirectRequest::ReadFile(params) = request {
            Some(CallFile::new(&params.path, None))
        } else {
            None
        };
        self.0.push(Entry { call, kind: CallKind::Request, tab_name: None, file });
    }

    /// Returns the file that an open `getDiagnostics` or `readFile` asks for.
    pub(crate) fn file(&self, call: CallId) -> Option<String> {
        let entry = self.place(call).and_then(|place| self.0.get(place))?;
        entry.file.as_ref().map(CallFile::spelling)
    }

    /// Returns the file that a call asks for, if `text` does not spell it the same.
    pub(crate) fn other_spelling(&self, call: CallId, text: &str) -> Option<String> {
        let file = self.place(call).and_then(|place| self.0.get(place))?.file.as_ref()?;
        (!file.is(text)).then(|| file.spelling())
    }

    /// Returns the kind of a call; `None` if the application has not received the call, or it has ended.
    pub(crate) fn kind(&self, call: CallId) -> Option<CallKind> {
        self.place(call).and_then(|place| self.0.get(place)).map(|entry| entry.kind)
    }

    /// Removes a call that has ended. Returns the name of its tab if the call is an `openDiff`.
    pub(crate) fn remove(&mut self, call: CallId) -> Option<String> {
        self.0.remove(self.place(call)?).tab_name
    }

    /// Returns the open diffs: the call and its tab.
    pub(crate) fn diffs(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.0.iter().filter_map(|entry| Some((entry.call, entry.tab_name.as_deref()?)))
    }

    /// Returns true if any call but an `openDiff` is open.
    pub(crate) fn has_any_but_diffs(&self) -> bool {
        self.0.iter().any(|entry| entry.tab_name.is_none())
    }

    /// Frees memory that is not in use.
    pub(crate) fn trim(&mut self) {
        self.0.shrink_to_fit();
    }

    fn place(&self, call: CallId) -> Option<usize> {
        // Usually the latest call is answered first.
        match self.0.split_last() {
            Some((last, others)) if last.call == call => Some(others.len()),
            _ => self.0.binary_search_by_key(&call, |entry| entry.call).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_keeps_its_spelling() {
        for (file, path) in [
            ("/w/a", Some("/w/a")),
            ("file:///w/a", Some("/w/a")),
            ("file:///C:/w", Some("C:/w")),
            ("/C:/w", Some("C:/w")),
            ("file:///w/a%20b", None),
            ("file://localhost/w/a", Some("/w/a")),
            ("", None),
        ] {
            assert_eq!(CallFile::new(file, path.map(Into::into)).spelling(), file);
        }
    }

    #[test]
    fn end_of_a_diff_has_its_name() {
        for (end, name) in [
            (DiffEnd::TabClosed, "close_tab"),
            (DiffEnd::AllClosed, "closeAllDiffTabs"),
            (DiffEnd::ShutDown, "shutdown"),
            (DiffEnd::Cancelled, "cancelled"),
            (DiffEnd::Expired, "expired"),
            (DiffEnd::Disconnected, "disconnected"),
        ] {
            assert_eq!(end.as_str(), name);
        }
    }
}
