//! An agent calls an editor in Rust, or one that uses the C functions, all in the same process. The editor answers
//! getDiagnostics with a value (`rust`) or with JSON (`json`, `c`). `tests/lab/capi/cost.sh` counts the instructions.
//! Run: cost rust|json|c diagnostics|diff CALLS
#![allow(unsafe_code, reason = "the functions of C are called")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::wildcard_enum_match_arm, reason = "a test")]

mod functions;

use functions::*;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    Diagnostic, Diagnostics, FileDiagnostics, GetDiagnostics, OpenDiff, Severity, Tool, ToolCall, ToolSet,
};
use ide_mcp::ide::{Auth, Client, ClientConfig, ClientEvent, ConnId, Policy, Server, ServerConfig};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::Random;
use ide_mcp::{Output, Time};
use std::ffi::{CStr, c_void};
use std::{env, hint, ptr, slice};

const TOKEN: &str = "0123456789abcdef";
const URI: &str = "file:///w/a.rs";

/// The problems of the file.
const JSON: &str = r#"[{"uri":"file:///w/a.rs","diagnostics":[{"message":"expected `;`","severity":"Error","range":{"start":{"line":10,"character":5},"end":{"line":10,"character":8}}}]}]"#;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [side, kind, calls] = arguments.as_slice() else {
        panic!("usage: cost rust|json|c diagnostics|diff CALLS")
    };
    let calls: u32 = calls.parse().unwrap();
    match side.as_str() {
        "rust" => run(InRust::new(false), kind, calls),
        "json" => run(InRust::new(true), kind, calls),
        _ => run(InC::new(), kind, calls),
    }
}

/// An editor with one connection.
trait Editor {
    fn feed(&mut self, bytes: &[u8]);
    /// Takes a turn, answers calls, and moves the output of the connection to `to`.
    fn turn(&mut self, to: &mut Vec<u8>);
}

fn run(mut editor: impl Editor, kind: &str, calls: u32) {
    let config =
        ClientConfig::new(Implementation::new("agent", "1"), 1, Some(AuthToken::from_text(TOKEN).unwrap()));
    let mut client = Client::new(config, Random::new(0).source(), SessionId::new(0), Time::ZERO).unwrap();
    // Like most files, this text needs escapes in JSON.
    let diff = OpenDiff::new("/w/a.rs", "let a = \"b\";\n".repeat((64 << 10) / 13), "tab");
    let diagnostics = GetDiagnostics::new(Some(URI.into()));
    let mut bytes = Vec::new();
    exchange(&mut client, &mut editor, &mut bytes);
    for _ in 0..calls {
        match kind {
            "diff" => drop(client.call_tool(&diff).unwrap()),
            _ => drop(client.call_tool(&diagnostics).unwrap()),
        }
        assert_eq!(exchange(&mut client, &mut editor, &mut bytes), 1, "each call is answered");
    }
}

/// Moves bytes until none are left, and returns how many outcomes there were.
fn exchange(client: &mut Client, editor: &mut impl Editor, bytes: &mut Vec<u8>) -> usize {
    let mut outcomes = 0;
    loop {
        let sent = pass(client, editor, &mut outcomes);
        bytes.clear();
        editor.turn(bytes);
        if sent == 0 && bytes.is_empty() {
            return outcomes;
        }
        for piece in bytes.chunks(64 << 10) {
            client.feed(Time::ZERO, piece);
            pass(client, editor, &mut outcomes);
        }
    }
}

/// Runs a pass of the agent, and returns how many bytes it wrote.
fn pass(client: &mut Client, editor: &mut impl Editor, outcomes: &mut usize) -> usize {
    let mut sent = 0;
    loop {
        match client.poll(Time::ZERO) {
            Output::Event(event) => *outcomes += usize::from(matches!(event, ClientEvent::Outcome { .. })),
            Output::Write { bytes, .. } => {
                let n = bytes.len();
                editor.feed(bytes);
                client.written(n);
                sent += n;
            }
            Output::Close(()) => {}
            Output::Wait(_) => return sent,
        }
    }
}

/// An editor in Rust.
struct InRust {
    server: Server,
    conn: ConnId,
    answers_in_json: bool,
}

impl InRust {
    fn new(answers_in_json: bool) -> Self {
        let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
        let policy = Policy::new(1, Auth::Token(AuthToken::from_text(TOKEN).unwrap()));
        let mut server = Server::new(ServerConfig::new("E", "").policy(policy).tools(tools));
        let conn = server.connect(Time::ZERO);
        Self { server, conn, answers_in_json }
    }
}

impl Editor for InRust {
    fn feed(&mut self, bytes: &[u8]) {
        self.server.feed(Time::ZERO, self.conn, bytes);
    }

    fn turn(&mut self, to: &mut Vec<u8>) {
        loop {
            let event = match self.server.poll(Time::ZERO) {
                Output::Event(event) => event,
                Output::Write { conn, bytes } => {
                    let n = bytes.len();
                    to.extend_from_slice(bytes);
                    self.server.written(conn, n);
                    continue;
                }
                Output::Close(_) => continue,
                Output::Wait(_) => return,
            };
            match event.into_call() {
                Some(ToolCall::GetDiagnostics(call, _)) if self.answers_in_json => {
                    self.server.call(call.id()).answer_json(JSON).unwrap();
                }
                Some(ToolCall::GetDiagnostics(call, query)) => {
                    let range = Range::new(Position::new(10, 5), Position::new(10, 8));
                    let problem = Diagnostic::new(Severity::Error, range, "expected `;`");
                    let file = FileDiagnostics::new(query.uri.unwrap_or_default(), vec![problem]);
                    self.server.answer(call, Diagnostics { files: vec![file] }).unwrap();
                }
                Some(ToolCall::OpenDiff(call, diff)) => {
                    hint::black_box((&diff.new_file_path, &diff.new_file_contents));
                    self.server.answer(call, diff.accept()).unwrap();
                }
                _ => {}
            }
        }
    }
}

/// An editor that uses the C functions.
struct InC {
    handle: *mut c_void,
    conn: i64,
}

impl InC {
    fn new() -> Self {
        const CONFIG: &CStr =
            cr#"{"name":"E","folders":["/w"],"port":1,"token":"0123456789abcdef","tools":["openDiff","getDiagnostics"],"filter":"none"}"#;
        // SAFETY: the configuration outlives the call, and NULL with size 0 asks for no error text.
        let handle = unsafe { idemcp_new(CONFIG.as_ptr(), ZT, ptr::null_mut(), 0) };
        // SAFETY: the handle was created, as in the calls below.
        let conn = unsafe { idemcp_connect(handle) };
        Self { handle, conn }
    }

    fn text(&self, name: &CStr) -> &[u8] {
        let mut len = 0;
        // SAFETY: the text has `len` bytes until the next event.
        unsafe {
            let text = idemcp_text(self.handle, name.as_ptr(), &raw mut len);
            slice::from_raw_parts(text.cast(), len)
        }
    }
}

impl Editor for InC {
    fn feed(&mut self, bytes: &[u8]) {
        // SAFETY: the slice has this length.
        assert_eq!(unsafe { idemcp_feed(self.handle, self.conn, bytes.as_ptr(), bytes.len()) }, 0);
    }

    fn turn(&mut self, to: &mut Vec<u8>) {
        // SAFETY: the handle lives, and the texts and the output have their lengths.
        unsafe {
            loop {
                let kind = idemcp_next(self.handle);
                let call = || idemcp_number(self.handle, c"call".as_ptr(), 0);
                let done = match kind {
                    0 => break,
                    8 => {
                        hint::black_box((self.text(c"path"), self.text(c"contents")));
                        idemcp_accept(self.handle, call(), ptr::null(), 0)
                    }
                    10 => {
                        assert_eq!(self.text(c"tool"), b"getDiagnostics");
                        assert_eq!(self.text(c"arguments.uri"), URI.as_bytes());
                        idemcp_respond(self.handle, call(), JSON.as_ptr().cast(), JSON.len())
                    }
                    kind => kind,
                };
                assert!(done >= 0);
            }
            let (mut bytes, mut len) = (ptr::null(), 0);
            loop {
                let conn = idemcp_next_output(self.handle, &raw mut bytes, &raw mut len);
                if conn == 0 {
                    return;
                }
                assert!(conn == self.conn && !bytes.is_null());
                to.extend_from_slice(slice::from_raw_parts(bytes, len));
                assert_eq!(idemcp_written(self.handle, conn, len), 0);
            }
        }
    }
}
