//! Scripts for a connection of an editor that has another connection as well: input from an agent, as messages and as
//! arbitrary bytes, what the editor does, and steps of the clock, in any order. The editor uses any dialect, handles
//! any tools, and answers with the results of these tools.

use super::foreign::tool_index;
use crate::support::client_messages::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, call, close_tab, open_diff, request, text,
};
use crate::support::editors::selection;
use crate::support::frames::masked;
use crate::support::laws::Subject as _;
use crate::support::run::Run;
use crate::support::servers::IdeServer;
use ide_mcp::Time;
use ide_mcp::ide::tool::{FileDiagnostics, Tool, ToolSet};
use ide_mcp::ide::{DiagnosticsChanged, Dialect, Mention, Server};
use ide_mcp::testing::Span;
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};

#[derive(Arbitrary, Debug)]
enum Act<'a> {
    Send(Input<'a>),
    /// Later input arrives in pieces of this size.
    Cut(u8),
    Select(u16),
    Mention,
    SetTools(u32),
    Problems(bool),
    Look(u16),
    /// Input from the other client.
    Aside(Input<'a>),
    ShutDown(bool, bool, bool),
    Write(u16),
    Wait(Span),
    Due,
    Poll,
    Trim,
    Refuse,
    Eof(bool, bool, bool),
}

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Head,
    Initialize,
    Initialized,
    Connected,
    OpenDiff(u8),
    CloseTab(u8),
    CloseAll,
    GetDiagnostics,
    Tool(u8, u8),
    Direct(u8, &'a str),
    ListTools,
    Ping,
    Call(&'a str, &'a str),
    Cancel(u8),
    Answer(u8),
    Text(&'a str),
    Frame(u8, &'a [u8]),
    Bytes(&'a [u8]),
}

impl Input<'_> {
    /// Returns the bytes on the wire. The requests of a script have different ids.
    fn bytes(&self, id: u32) -> Vec<u8> {
        let tab = |tab: &u8| format!("tab {}", tab & 3);
        match self {
            Self::Head => HEAD.into(),
            Self::Initialize => text(INITIALIZE),
            Self::Initialized => text(INITIALIZED),
            Self::Connected => text(CONNECTED),
            Self::OpenDiff(of) => text(&open_diff(id, &tab(of))),
            Self::CloseTab(of) => text(&close_tab(id, &tab(of))),
            Self::CloseAll => text(&call(id, "closeAllDiffTabs", "{}")),
            Self::GetDiagnostics => text(&call(id, "getDiagnostics", "{}")),
            Self::Tool(of, with) => text(&call(id, named(*of), arguments(*with))),
            Self::Direct(of, path) => text(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{}","params":{{"path":{path:?},"content":"x"}}}}"#,
                METHODS[usize::from(*of) % METHODS.len()]
            )),
            Self::ListTools => text(&request(id, "tools/list")),
            Self::Ping => text(&request(id, "ping")),
            Self::Call(name, arguments) => text(&call(id, name, arguments)),
            Self::Cancel(of) => text(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{of}}}}}"#
            )),
            Self::Answer(of) => text(&format!(r#"{{"jsonrpc":"2.0","id":{of},"result":{{}}}}"#)),
            Self::Text(any) => text(any),
            Self::Frame(first, payload) => masked(*first, payload),
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }
}

const METHODS: [&str; 7] = [
    "readFile",
    "writeFile",
    "listFiles",
    "getWorkspaceInfo",
    "getOpenFiles",
    "getCurrentFile",
    "ide_connected",
];

/// Returns the name of a tool in one of the dialects.
fn named(of: u8) -> &'static str {
    let dialect = if of & 0x80 == 0 { Dialect::VsCode } else { Dialect::SnakeCase };
    Tool::ALL[tool_index(of & 0x7f)].name(dialect)
}

/// Returns arguments that fit some of the tools.
fn arguments(with: u8) -> &'static str {
    const ARGUMENTS: [&str; 6] = [
        "{}",
        r#"{"filePath":"/a","old_file_path":"/a","new_file_path":"/a","new_file_contents":"","tab_name":"tab 0"}"#,
        r#"{"file_path":"/a","text_edit":1,"line":1,"column":2,"character":2}"#,
        r#"{"filePaths":["/a","/b"],"file_paths":["/a"],"uri":"file:///a","mode":"plan"}"#,
        r#"{"code":"1+1","startLine":1,"startColumn":2,"endLine":3,"endColumn":4}"#,
        r#"{"path":7}"#,
    ];
    ARGUMENTS[usize::from(with) % ARGUMENTS.len()]
}

/// Returns the tools whose bits are set, and one custom tool of the application.
fn tools(handled: u32) -> ToolSet {
    let with = |set: ToolSet, (at, tool): (usize, Tool)| match handled >> at & 1 {
        1 => set.handle(tool),
        _ => set,
    };
    let own = ToolSet::new().custom("echo", "", r#"{"type":"object"}"#);
    Tool::ALL.into_iter().enumerate().fold(own, with)
}

/// Checks that the laws of a machine hold for any input, with an application that answers at once, later or never.
pub fn ide_server_script(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let (attached, app, dialect, handled) = <(bool, u8, u8, u32)>::arbitrary(&mut script).unwrap_or_default();
    let dialect = Dialect::ALL[usize::from(dialect) % Dialect::ALL.len()];
    let subject = IdeServer { tools: tools(handled), dialect };
    let mut run = Run::new(&subject, u64::from(app), u64::from(app));
    let (mut cut, mut id) = (usize::MAX, 0);
    if attached {
        run.feed(run.now(), &subject.opening());
        run.settle();
    }
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        let now = run.now();
        match act {
            Act::Send(input) => {
                id += 1;
                let bytes = input.bytes(id);
                for piece in bytes.chunks(cut.max(bytes.len() / 64).max(1)) {
                    if run.wants_input() {
                        run.feed_wanted(run.now(), piece);
                    }
                }
            }
            Act::Aside(input) => {
                id += 1;
                run.act(|held| held.feed_other(now, &input.bytes(id)));
            }
            Act::Cut(pieces) => cut = usize::from(pieces).max(1),
            Act::Select(len) => on_server(&mut run, |server| {
                server.select(Time::ZERO, selection(len.into()));
            }),
            Act::Look(len) => {
                on_server(&mut run, |server| drop(server.active_editor_changed(selection(len.into()))))
            }
            Act::Mention => on_server(&mut run, |server| {
                let _ = server.mention(Time::ZERO, Mention::new("/a", None), None);
            }),
            Act::SetTools(handled) => on_server(&mut run, |server| server.set_tools(tools(handled))),
            Act::Problems(now) => on_server(&mut run, |server| {
                let uri = "file:///a".to_owned();
                let changed = match now {
                    true => DiagnosticsChanged::Now(FileDiagnostics::new(uri, vec![])),
                    false => DiagnosticsChanged::Stale { uris: vec![uri] },
                };
                server.diagnostics_changed(changed);
            }),
            Act::Write(most) => run.write(usize::from(most)),
            Act::Wait(span) => run.tick(run.now().saturating_add(span.duration())),
            Act::Due => run.tick(run.deadline().unwrap_or_else(|| run.now())),
            Act::Poll => run.settle(),
            Act::Trim => run.trim(),
            // Input that was fed but not polled may already have ended the connection, which then refuses for another
            // reason.
            Act::Refuse => {
                run.settle();
                run.refuse();
            }
            // One shutdown or end of input in eight takes effect, so that most of a script runs on an open
            // connection.
            Act::ShutDown(true, true, true) => on_server(&mut run, |server| server.shutdown(now)),
            Act::Eof(true, true, true) => run.eof(Time::ZERO),
            Act::ShutDown(..) | Act::Eof(..) => {}
        }
    }
    run.finish();
}

/// Does what an application does on its own.
fn on_server(run: &mut Run<'_, IdeServer>, act: impl FnOnce(&mut Server)) {
    run.act(|held| held.act(act));
}
