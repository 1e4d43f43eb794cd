//! What an unknown editor may write: correct answers of every tool in every dialect, pushes in every form, and JSON
//! with one member changed, removed or doubled.

use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    CheckDocumentDirty, CloseAllDiffTabs, CloseTab, ClosedDiffTabs, CodeOutput, CurrentSelection,
    CursorPosition, Diagnostic, Diagnostics, DiffOutcome, DocumentSaved, DocumentState, Done, EditorTab,
    ExecuteCode, FileDiagnostics, FilePaths, GetAllOpenedFilePaths, GetCurrentSelection, GetCursorPosition,
    GetDiagnostics, GetLatestSelection, GetOpenEditors, GetWorkspaceFolders, LatestSelection, OpenDiff,
    OpenEditors, OpenFile, OpenFiles, OpenedFile, OpenedFiles, OutputBlock, ReformatFile, Reformatted,
    SaveDocument, SetCursorPosition, SetPermissionMode, SetSelection, Severity, TabClosed, Tool,
    WorkspaceFolder, WorkspaceFolders,
};
use ide_mcp::ide::{Client, Dialect, EditorNotification, FromResult, Pending, RequestError, Selection};
use ide_mcp::mcp::{Outcome, Timeout};
use ide_mcp::rpc::{NotSent, RequestId};
use ide_mcp::testing::arbitrary::{Arbitrary, Result, Unstructured};
use ide_mcp::testing::written_answer;
use serde_json::Value;
use std::fmt::Debug;

/// Reads the outcome of a request as the type of its answer, and returns the answer as a string to compare.
pub type Reader = Box<dyn FnOnce(Outcome) -> std::result::Result<String, RequestError>>;

/// Returns the name of a request, with the reader of its outcome.
pub fn typed<A: FromResult + Debug + 'static>(pending: Pending<A>) -> (RequestId, Reader) {
    (pending.id(), Box::new(move |outcome| pending.answer(outcome).map(|answer| format!("{answer:?}"))))
}

/// Calls each tool, in the order of [`Tool::ALL`], and answers it.
macro_rules! tools {
    ($($arguments:expr => $answer:expr,)*) => {
        /// The number of tools of the protocol.
        const TOOLS: usize = [$(stringify!($arguments)),*].len();

        /// Calls a tool by its number, without a timeout, as a user's agent does.
        pub fn call_tool(
            client: &mut Client,
            which: usize,
            timeout: Option<Timeout>,
        ) -> std::result::Result<(RequestId, Reader), NotSent> {
            let mut numbers = 0..;
            $(if numbers.next() == Some(which) {
                let called = match timeout {
                    Some(timeout) => client.call_tool_within(&$arguments, timeout),
                    None => client.call_tool(&$arguments),
                };
                return called.map(typed);
            })*
            unreachable!("there are {TOOLS} tools")
        }

        /// Returns the result of a tool, as an editor of this dialect writes it.
        pub fn result_of_tool(which: usize, dialect: Dialect) -> String {
            let mut numbers = 0..;
            $(if numbers.next() == Some(which) {
                return serde_json::to_string(&written_answer(&$answer, dialect)).expect("an answer is JSON");
            })*
            unreachable!("there are {TOOLS} tools")
        }
    };
}

const _: () = assert!(TOOLS == Tool::ALL.len(), "add the new tool at the end of `tools!` in this file");
const _: () = assert!(PUSHES.len() == EditorNotification::ALL.len(), "add the new notification to `PUSHES`");

/// The number of tools when the seeds were made.
const SEEDED_TOOLS: usize = 19;

/// Returns the index in [`Tool::ALL`] for a byte of an input. A tool that is added at the end of the list takes over
/// one byte, so that seeds keep their meaning.
pub fn tool_index(byte: u8) -> usize {
    let index = usize::from(byte);
    if index < TOOLS { index } else { index % SEEDED_TOOLS }
}

fn selection() -> Selection {
    Selection::new("/a", Range::new(Position::new(1, 2), Position::new(3, 4)), "text")
}

fn problems() -> Diagnostics {
    let mut problem = Diagnostic::new(Severity::Warning, Range::default(), "m");
    (problem.source, problem.code) = (Some("lint".into()), Some("7".into()));
    Diagnostics { files: vec![FileDiagnostics::new("file:///a", vec![problem.clone(), problem])] }
}

tools! {
    OpenDiff::new("/a", "new", "tab") => DiffOutcome::Accepted { contents: "edited".into() },
    CloseTab::new("tab") => TabClosed { found: true },
    CloseAllDiffTabs => ClosedDiffTabs { count: 2 },
    GetDiagnostics::new(Some("file:///a".into())) => problems(),
    OpenFile::new("/a") => OpenedFile::unfocused("/a", "rust", 3),
    OpenFiles::new(vec!["/a".into()]) => OpenedFiles { opened_files: vec!["/a".into()] },
    GetAllOpenedFilePaths => FilePaths { paths: vec!["/a".into(), "/b".into()] },
    GetOpenEditors => OpenEditors { tabs: vec![EditorTab::new("file:///a", "a", "rust")] },
    GetWorkspaceFolders => WorkspaceFolders { folders: vec![WorkspaceFolder::new("/w")] },
    GetCurrentSelection => CurrentSelection(Some(selection())),
    GetLatestSelection => LatestSelection(None),
    GetCursorPosition => CursorPosition::new("/a", Position::new(1, 2)),
    SetCursorPosition::new(Position::new(1, 2)) => Done,
    SetSelection::new(Range::default()) => Done,
    CheckDocumentDirty::new("/a") => DocumentState::Open { file_path: "/a".into(), is_dirty: true, is_untitled: false },
    SaveDocument::new("/a") => DocumentSaved::NotOpen { file_path: "/a".into() },
    ReformatFile::new("/a") => Reformatted { found: true },
    ExecuteCode::new("1+1") => CodeOutput { blocks: vec![OutputBlock::Text("2".into())] },
    SetPermissionMode::new("plan") => Done,
}

const RANGE: &str = r#"{"start":{"line":0,"character":0},"end":{"line":1,"character":2},"isEmpty":false}"#;

/// The pushes of all dialects: the name without a prefix, and the forms of the parameters. `@` stands for a range.
pub const PUSHES: &[(&str, &[&str])] = &[
    (
        "selection_changed",
        &[
            r#"{"text":"s","filePath":"/a","fileUrl":"file:///a","selection":@}"#,
            r#"{"selection":@,"text":"s","filePath":"/a"}"#,
            r#"{"file_path":"/a","range":@,"text":"s"}"#,
            r#"{"text":null,"filePath":null,"fileUrl":null,"selection":null}"#,
            "{}",
        ],
    ),
    (
        "at_mentioned",
        &[
            r#"{"filePath":"/a"}"#,
            r#"{"filePath":"/a","lineStart":1,"lineEnd":2}"#,
            r#"{"file_path":"/a","line_start":1,"line_end":2}"#,
        ],
    ),
    (
        "diagnostics_changed",
        &[
            r#"{"uris":["file:///a","file:///b"]}"#,
            r#"{"uri":"file:///a","diagnostics":[{"message":"m","severity":"Error","range":@,"source":"s","code":7}]}"#,
            r#"{"uri":"file:///a","linesInFile":3,"diagnostics":[{"message":"m","severity":"WEAK_WARNING","range":@}]}"#,
        ],
    ),
    (
        "workspace/didChangeActiveEditor",
        &[
            r#"{"text":"s","filePath":"/a","fileUrl":"file:///a","selection":@}"#,
            r#"{"file_path":"/a","range":@,"text":""}"#,
        ],
    ),
];

/// Returns a push with these parameters, in which `text` replaces the string `s`.
pub fn push(name: &str, is_prefixed: bool, params: &str, text: &str) -> String {
    let prefix = if is_prefixed && !name.contains('/') { "notifications/" } else { "" };
    let params = params.replace('@', RANGE).replace("\"s\"", &format!("\"{text}\""));
    format!(r#"{{"jsonrpc":"2.0","method":"{prefix}{name}","params":{params}}}"#)
}

/// A change of one place of a message.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    None,
    /// Another value at this place.
    Replace(u8, u8),
    Remove(u8),
    /// A member twice: the place of its object.
    Double(u8),
}

impl<'a> Arbitrary<'a> for Change {
    /// Returns a change. Every second message, on average, stays unchanged.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=7)? {
            0 | 1 => Self::Replace(u.arbitrary()?, u.arbitrary()?),
            2 => Self::Remove(u.arbitrary()?),
            3 => Self::Double(u.arbitrary()?),
            _ => Self::None,
        })
    }
}

/// Strange values. Editors do not write them where another value is expected, except for a few that editors in
/// JavaScript do write.
const STRANGE: &[&str] = &[
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "3.0",
    "1e400",
    "4294967296",
    "18446744073709551616",
    r#""""#,
    r#""\ud800""#,
    r#""\u0000\u001b[2J""#,
    r#""\u202e""#,
    "[]",
    "{}",
    "[[]]",
    "[null]",
    r#"{"":{"a":[1]}}"#,
    r#""file:///%ff""#,
    r#""\\\\server\\share""#,
    r#""ERROR""#,
    r#""1""#,
    "-0.0",
];

/// A placeholder for the strange value, and for the second name of a doubled member.
const PLACE: &str = "@@@";

impl Change {
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }

    /// Returns the message with the change. If it is not JSON, returns it unchanged.
    pub fn of(self, text: String) -> String {
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return text };
        let mut name = None;
        let is_wanted = |value: &Value| match self {
            Self::None => false,
            Self::Replace(..) => true,
            Self::Remove(_) => {
                value.as_object().is_some_and(|members| !members.is_empty())
                    || value.as_array().is_some_and(|items| !items.is_empty())
            }
            Self::Double(_) => value.as_object().is_some_and(|members| !members.is_empty()),
        };
        let (Self::Replace(place, _) | Self::Remove(place) | Self::Double(place)) = self else { return text };
        let Some(count) = std::num::NonZeroUsize::new(count(&value, &is_wanted)) else { return text };
        let mut at = usize::from(place) % count;
        let Some(node) = nth(&mut value, &mut at, &is_wanted) else { return text };
        let with = match self {
            Self::Replace(_, with) => {
                *node = PLACE.into();
                STRANGE[usize::from(with) % STRANGE.len()]
            }
            _ => "",
        };
        match (self, node) {
            (Self::Remove(place), Value::Object(members)) => {
                let name = members.keys().nth(usize::from(place >> 4) % members.len()).cloned();
                name.and_then(|name| members.remove(&name));
            }
            (Self::Remove(place), Value::Array(items)) => {
                items.remove(usize::from(place >> 4) % items.len());
            }
            (Self::Double(place), Value::Object(members)) => {
                let member = members.iter().nth(usize::from(place >> 4) % members.len());
                let member = member.map(|(name, value)| (name.clone(), value.clone()));
                name = member.map(|(name, value)| {
                    members.insert(PLACE.into(), value);
                    name
                });
            }
            _ => {}
        }
        let text = value.to_string();
        let quoted = format!("\"{PLACE}\"");
        match name {
            Some(name) => text.replace(&quoted, &Value::from(name).to_string()),
            None => text.replace(&quoted, with),
        }
    }
}

fn count(value: &Value, is_wanted: &impl Fn(&Value) -> bool) -> usize {
    let below: usize = match value {
        Value::Array(items) => items.iter().map(|item| count(item, is_wanted)).sum(),
        Value::Object(members) => members.values().map(|member| count(member, is_wanted)).sum(),
        _ => 0,
    };
    below + usize::from(is_wanted(value))
}

/// Returns the wanted value with this number.
fn nth<'v>(
    value: &'v mut Value,
    at: &mut usize,
    is_wanted: &impl Fn(&Value) -> bool,
) -> Option<&'v mut Value> {
    if is_wanted(value) {
        if *at == 0 {
            return Some(value);
        }
        *at -= 1;
    }
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, at, is_wanted)),
        Value::Object(members) => members.values_mut().find_map(|member| nth(member, at, is_wanted)),
        _ => None,
    }
}
