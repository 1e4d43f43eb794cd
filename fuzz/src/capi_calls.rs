//! Calls the C functions in any order, with an agent, and with connections that never authenticate.

#[path = "../../tests/lab/capi/functions.rs"]
mod functions;

use functions::*;
use ide_mcp::Time;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{GetDiagnostics, GetOpenEditors, OpenDiff};
use ide_mcp::ide::{Client, ClientConfig};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::{RequestId, SessionId};
use ide_mcp::testing::{Random, pass};
use ide_mcp_embed::EVENTS;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::{ptr, slice};

const CONFIG: &CStr = cr#"{"name":"E","folders":["/w"],"port":1,"token":"0123456789abcdef","tools":["openDiff","getDiagnostics","getOpenEditors"]}"#;

/// `IDEMCP_INVALID`, `IDEMCP_GONE` and `IDEMCP_PANIC`.
const INVALID: i64 = -2;
const GONE: i64 = -3;
const PANIC: i64 = -6;

const MEMBERS: &[&CStr] = &[
    c"call",
    c"contents",
    c"path",
    c"tool",
    c"arguments",
    c"arguments.uri",
    c"event",
    c"a.b.c",
    c"",
    c"\xff",
];

const COMMANDS: &[&CStr] = &[
    cr#"{"cmd":"status"}"#,
    cr#"{"cmd":"pause"}"#,
    cr#"{"cmd":"resume"}"#,
    cr#"{"cmd":"timeout","call":1,"within":0}"#,
    cr#"{"cmd":"disconnect","conn":1}"#,
    cr#"{"cmd":"folders","folders":["/v"]}"#,
    cr#"{"cmd":"tools","offer":[]}"#,
    cr#"{"cmd":"answer","call":2,"verdict":"reject"}"#,
];

/// Checks that no function panics, that strings lent to the caller stay valid until the next event, that no two calls
/// have the same number, and that each call is either answered once or ends once.
pub fn capi_calls(data: &[u8]) {
    // SAFETY: the string is alive, and NULL means that there is no room for an error.
    let ed = unsafe { idemcp_new(CONFIG.as_ptr(), ZT, ptr::null_mut(), 0) };
    assert!(!ed.is_null());
    let mut run = Run {
        ed,
        data,
        agent: None,
        lent: Vec::new(),
        given: BTreeSet::new(),
        diffs: BTreeSet::new(),
        open: BTreeSet::new(),
        answered: BTreeSet::new(),
        conns: 0,
    };
    run.attach();
    while let Some(step) = run.byte() {
        run.step(step);
        run.check_lent();
    }
    run.end();
}

struct Run<'a> {
    ed: *mut c_void,
    data: &'a [u8],
    agent: Option<Agent>,
    /// The strings that were lent to the caller since the last event: their addresses, and copies.
    lent: Vec<(*const u8, Vec<u8>)>,
    given: BTreeSet<i64>,
    diffs: BTreeSet<i64>,
    open: BTreeSet<i64>,
    answered: BTreeSet<i64>,
    conns: i64,
}

struct Agent {
    conn: i64,
    client: Client,
    requests: Vec<RequestId>,
}

// SAFETY, for all blocks below: the handle lives until `end`, and each pointer comes with the length of its string.
impl Run<'_> {
    fn step(&mut self, step: u8) {
        let (ed, call, conn) = (self.ed, i64::from(step >> 5), 2 + i64::from(step >> 5));
        match step % 26 {
            0..=2 => drop(self.next()),
            3..=5 => while self.next() != 0 {},
            6 => {
                let name = self.choose(MEMBERS).as_ptr();
                let mut len = 0;
                let text = unsafe { idemcp_text(ed, name, &raw mut len) };
                self.lend(text.cast(), len);
                unsafe { idemcp_number(ed, name, 0) };
            }
            7 => {
                let mut len = 0;
                let text = unsafe { idemcp_json(ed, &raw mut len) };
                self.lend(text.cast(), len);
            }
            8 => {
                let mut room = [1; 64];
                let (size, text) = (usize::from(self.byte().unwrap_or(0) % 65), self.some());
                let len = unsafe { idemcp_quote(room.as_mut_ptr(), size, text.as_ptr().cast(), text.len()) };
                assert!(
                    room[size..].iter().all(|byte| *byte == 1),
                    "only the room that was given is written"
                );
                assert!(size == 0 || room[..size].contains(&0) && (len < size || room[0] == 0));
            }
            9 => {
                let text = self.some();
                let contents = if step > 127 { ptr::null() } else { text.as_ptr().cast() };
                let done = unsafe { idemcp_accept(ed, call, contents, text.len()) };
                self.answer(call, done.into());
            }
            10 => {
                let done = unsafe { idemcp_reject(ed, call) };
                self.answer(call, done.into());
            }
            11 | 12 => {
                let json = self.choose(&[c"[]", c"{\"tabs\":[]}", c"\"text\"", c"{", c"7"]).as_ptr();
                let was_open = self.is_open(call);
                let done =
                    unsafe { idemcp_respond(ed, call, if step > 223 { ptr::null() } else { json }, ZT) };
                self.respond(call, done.into(), was_open);
            }
            13 => {
                let done = unsafe { idemcp_fail(ed, call, c"m".as_ptr()) };
                self.answer(call, done.into());
            }
            14 => {
                let path = self.choose(&[c"/w/a", c"/w/.env", c"", c"\xff"]).as_ptr();
                let some = self.some();
                let path = if step > 223 { ptr::null() } else { path };
                let (line, len, text) = (u32::from(step), some.len(), some.as_ptr().cast::<c_char>());
                unsafe { idemcp_select(ed, path, line, 0, 3, 9, text, len) };
                unsafe { idemcp_mention(ed, path, call - 2, call << 30, call) };
            }
            15 | 16 => {
                let command = self.choose(COMMANDS).as_ptr();
                let done = unsafe { idemcp_do(ed, command, ZT) };
                assert!(done != PANIC && done != 0);
                if command == COMMANDS[7].as_ptr() {
                    self.answer(2, done);
                }
            }
            17 => {
                let text = self.some();
                assert_ne!(unsafe { idemcp_do(ed, text.as_ptr().cast(), text.len()) }, PANIC);
            }
            18 => {
                let text = self.some();
                self.conns = unsafe { idemcp_connect(ed) }.max(self.conns);
                unsafe { idemcp_feed(ed, conn, text.as_ptr(), text.len()) };
            }
            19 => {
                let (mut bytes, mut len) = (ptr::null(), 0);
                let of = unsafe { idemcp_next_output(ed, &raw mut bytes, &raw mut len) };
                assert!(bytes.is_null() == (len == 0) && (of > 0 || bytes.is_null()));
                self.close(of, bytes);
                unsafe { idemcp_written(ed, of, len + usize::from(step >> 7)) };
                unsafe { idemcp_feed_eof(ed, conn) };
            }
            20 => self.lose(if step > 223 { 1 } else { conn }),
            21 => {
                let mut len = 0;
                let text = unsafe { idemcp_lock_file(ed, &raw mut len) };
                self.lend(text.cast(), len);
                assert!(unsafe { idemcp_fd(ed) } < 0 && unsafe { idemcp_timeout(ed) } >= -1);
                unsafe { CStr::from_ptr(idemcp_error(ed)) }.to_str().unwrap();
            }
            22 | 23 => self.ask(step >> 5),
            24 if step > 223 => drop(unsafe { idemcp_quit(ed) }),
            24 => self.feed_editor(),
            _ => self.exchange(),
        }
    }

    /// Takes the next event.
    fn next(&mut self) -> i64 {
        self.check_lent();
        self.lent.clear();
        let kind = unsafe { idemcp_next(self.ed) }.into();
        let Some(row) = EVENTS.iter().find(|row| i64::from(row.number) == kind) else {
            assert_eq!(kind, 0);
            return 0;
        };
        let call = unsafe { idemcp_number(self.ed, c"call".as_ptr(), 0) };
        match row.name {
            "diff" | "call" => {
                assert!(self.given.insert(call), "{call} was given twice");
                self.open.insert(call);
                if row.name == "diff" {
                    self.diffs.insert(call);
                }
            }
            "diff_closed" | "call_ended" => {
                assert!(self.open.remove(&call) && !self.answered.contains(&call), "{call} ends twice");
            }
            _ => assert_eq!(call, 0),
        }
        kind
    }

    /// Checks the result of an answer, which only an open call can have.
    fn answer(&mut self, call: i64, done: i64) {
        assert_ne!(done, PANIC);
        if done >= 0 {
            assert!(self.answered.insert(call), "{call} was answered twice");
            assert!(self.open.contains(&call) || !self.given.contains(&call), "{call} has ended");
            assert_eq!(i64::from(unsafe { idemcp_reject(self.ed, call) }), GONE);
        }
    }

    /// Checks the result of a command `respond`. It ends an open call even if it cannot be used.
    fn respond(&mut self, call: i64, done: i64, was_open: bool) {
        if done == INVALID && was_open && !self.is_open(call) {
            assert!(self.answered.insert(call), "{call} was answered twice");
        } else if done == INVALID && was_open {
            // A diff has its own command, so a result cannot answer it. The event of the call may not have come yet.
            assert!(
                self.diffs.contains(&call) || !self.given.contains(&call),
                "{call} waits for its deadline"
            );
        } else {
            self.answer(call, done);
        }
    }

    /// Returns true if the editor waits for an answer to a call. The agent asks for no progress.
    fn is_open(&self, call: i64) -> bool {
        let command = format!(r#"{{"cmd":"progress","call":{call},"progress":1}}"#);
        unsafe { idemcp_do(self.ed, command.as_ptr().cast(), command.len()) > 0 }
    }

    fn is_over(&self) -> bool {
        unsafe { idemcp_is_over(self.ed) }
    }

    fn lend(&mut self, text: *const u8, len: usize) {
        if text.is_null() {
            assert_eq!(len, 0);
        } else {
            self.lent.push((text, unsafe { slice::from_raw_parts(text, len + 1) }.to_vec()));
        }
    }

    fn check_lent(&self) {
        for (text, copy) in &self.lent {
            assert_eq!(
                unsafe { slice::from_raw_parts(*text, copy.len()) },
                copy,
                "a lent string has changed"
            );
            assert_eq!(copy.last(), Some(&0));
            assert!(std::str::from_utf8(copy).is_ok());
        }
    }

    fn attach(&mut self) {
        let token = AuthToken::from_text("0123456789abcdef").ok();
        let config = ClientConfig::new(Implementation::new("agent", "1"), 1, token);
        let client = Client::new(config, Random::new(0).source(), SessionId::new(0), Time::ZERO);
        let conn = unsafe { idemcp_connect(self.ed) };
        self.agent = client.ok().map(|client| Agent { conn, client, requests: Vec::new() });
        (0..6).for_each(|_| self.exchange());
    }

    fn ask(&mut self, what: u8) {
        let Some(agent) = &mut self.agent else { return };
        let client = &mut agent.client;
        let request = match what {
            0 | 1 => client.call_tool(&OpenDiff::new("/w/a", "text\0", "t")).map(|request| request.id()),
            2 | 3 => {
                client.call_tool(&GetDiagnostics::new(Some("file:///w/a".into()))).map(|request| request.id())
            }
            4 | 5 => client.call_tool(&GetOpenEditors).map(|request| request.id()),
            _ => {
                if let Some(last) = agent.requests.pop() {
                    client.cancel(last, None);
                }
                return;
            }
        };
        agent.requests.extend(request);
    }

    /// Moves bytes in both directions once, and takes a turn.
    fn exchange(&mut self) {
        self.feed_editor();
        while self.next() != 0 {}
        self.feed_agent();
    }

    fn feed_editor(&mut self) {
        let Some(Agent { conn, client, .. }) = &mut self.agent else { return };
        if unsafe { idemcp_wants_input(self.ed, *conn) } {
            let bytes = pass(client, Time::ZERO, usize::MAX).written_bytes();
            unsafe { idemcp_feed(self.ed, *conn, bytes.as_ptr(), bytes.len()) };
        }
    }

    fn feed_agent(&mut self) {
        loop {
            let (mut bytes, mut len) = (ptr::null(), 0);
            let of = unsafe { idemcp_next_output(self.ed, &raw mut bytes, &raw mut len) };
            if of <= 0 {
                return;
            }
            self.close(of, bytes);
            if let Some(Agent { client, .. }) =
                self.agent.as_mut().filter(|agent| agent.conn == of && len > 0)
            {
                client.feed(Time::ZERO, unsafe { slice::from_raw_parts(bytes, len) });
                unsafe { idemcp_written(self.ed, of, len) };
                // The next exchange carries what the agent sends.
                pass(client, Time::ZERO, 0);
            }
        }
    }

    /// Drops the agent if the output closes its connection.
    fn close(&mut self, conn: i64, bytes: *const u8) {
        self.agent.take_if(|agent| agent.conn == conn && bytes.is_null());
    }

    /// Ends a connection in both directions.
    fn lose(&self, conn: i64) {
        for _ in 0..2 {
            unsafe { idemcp_feed_eof(self.ed, conn) };
        }
    }

    fn end(&mut self) {
        unsafe { idemcp_quit(self.ed) };
        for conn in 0..=self.conns.max(1) {
            self.lose(conn);
        }
        // It is over once the last event is taken and the last socket is closed, in either order.
        for _ in 0..2 {
            while self.next() != 0 {}
            self.feed_agent();
        }
        assert!(self.is_over() && self.next() == 0);
        assert!(self.open.is_subset(&self.answered), "{:?} of {:?} were answered", self.answered, self.open);
        unsafe { idemcp_free(self.ed) };
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.data.split_first()?;
        self.data = rest;
        Some(*first)
    }

    fn choose<'t>(&mut self, from: &[&'t CStr]) -> &'t CStr {
        from[usize::from(self.byte().unwrap_or(0)) % from.len()]
    }

    /// Returns some of the bytes of the input.
    fn some(&mut self) -> Vec<u8> {
        let len = usize::from(self.byte().unwrap_or(0) % 48).min(self.data.len());
        let (some, rest) = self.data.split_at(len);
        self.data = rest;
        some.to_vec()
    }
}
