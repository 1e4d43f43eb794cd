//! Scripts for a connection of an editor: what an agent says, in the clear and as any bytes, what the editor does of its own
//! accord, and what the clock does, in any order.

use crate::support::editors::{IdeServer, selection};
use crate::support::frames::masked;
use crate::support::laws::Subject as _;
use crate::support::run::Run;
use crate::support::said::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, call, close_tab, open_diff, request, text,
};
use ide_mcp::Time;
use ide_mcp::ide::{Mention, Tool, ToolSet};
use ide_mcp::testing::Span;
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};

#[derive(Arbitrary, Debug)]
enum Act<'a> {
    Say(Said<'a>),
    /// The pieces in which what is said arrives from here on.
    Cut(u8),
    Select(u16),
    Mention,
    SetTools(bool),
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
enum Said<'a> {
    Head,
    Initialize,
    Initialized,
    Connected,
    OpenDiff(u8),
    CloseTab(u8),
    CloseAll,
    GetDiagnostics,
    ListTools,
    Ping,
    Call(&'a str, &'a str),
    Cancel(u8),
    Answer(u8),
    Text(&'a str),
    Frame(u8, &'a [u8]),
    Bytes(&'a [u8]),
}

impl Said<'_> {
    /// As it goes out; the requests of a script have different ids.
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

/// The laws of a machine hold whatever comes, and an application that answers at once, later or never.
pub fn ide_server_script(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let (attached, app) = <(bool, u8)>::arbitrary(&mut script).unwrap_or_default();
    let mut run = Run::new(&IdeServer, u64::from(app), u64::from(app));
    let (mut cut, mut id) = (usize::MAX, 0);
    if attached {
        run.feed(run.now(), &IdeServer.opening());
        run.settle();
    }
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        match act {
            Act::Say(said) => {
                id += 1;
                let bytes = said.bytes(id);
                for piece in bytes.chunks(cut.max(bytes.len() / 64).max(1)) {
                    if run.wants_input() {
                        run.feed_wanted(run.now(), piece);
                    }
                }
            }
            Act::Cut(pieces) => cut = usize::from(pieces).max(1),
            Act::Select(len) => run.act(|server| {
                server.select(selection(usize::from(len)));
            }),
            Act::Mention => run.act(|server| {
                let _ = server.mention(&Mention::new("/a", None));
            }),
            Act::SetTools(some) => run.act(|server| {
                let tools = if some { ToolSet::new().handle(Tool::OpenDiff) } else { ToolSet::new() };
                let _ = server.set_tools(tools);
            }),
            Act::Write(most) => run.write(usize::from(most)),
            Act::Wait(span) => run.tick(run.now().after(span.duration())),
            Act::Due => run.tick(run.deadline().unwrap_or_else(|| run.now())),
            Act::Poll => run.settle(),
            Act::Trim => run.trim(),
            // What was fed and not polled may have ended the connection; then it refuses in another way.
            Act::Refuse => {
                run.settle();
                run.refuse();
            }
            // One in eight, so that most of a script happens on a living connection.
            Act::ShutDown(true, true, true) => run.act(|server| server.shutdown()),
            Act::Eof(true, true, true) => run.eof(Time::ZERO),
            Act::ShutDown(..) | Act::Eof(..) => {}
        }
    }
    run.finish();
}
