//! The behaviors, a row each: the actions, and the answer that is due.

use std::{collections::VecDeque, time::Duration};

use ide_mcp::testing::Random;

use crate::sim_support::{
    client_messages::{
        CONNECTED, HEAD, INITIALIZE, INITIALIZED, TOKEN, call, close_tab, open_diff, request, text,
    },
    frames::{frame, masked},
    ledger::Owed,
    plan::MESSAGE,
    tap::nonce,
};

/// A behavior: its name, the answer that is due, and its actions.
pub type Row = (&'static str, Due, fn(&mut Script<'_>));

/// The answer to a behavior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Due {
    /// The peer gets this status, or no answer if the server needed the room for other peers.
    Status(u16),
    /// The peer gets the answer to a wrong token.
    Unauthorized,
    /// The peer is accepted, and gets this close code when it breaks the rule.
    Close(u16),
    /// The peer is accepted, and stays connected until a timeout ends its silence.
    #[default]
    Stays,
}

/// The peers that are not accepted.
pub const OUTSIDERS: &[Row] = &[
    ("outsider: no token", Due::Unauthorized, |s| s.head(&[(&token_line(), "")])),
    ("outsider: wrong token", Due::Unauthorized, |s| s.head(&[("tok-0123", "tok-0124")])),
    ("outsider: token twice", Due::Unauthorized, |s| s.head(&[(&token_line(), &token_line().repeat(2))])),
    ("outsider: wrong token, sends messages anyway", Due::Unauthorized, |s| {
        s.head(&[("tok-0123", "tok-0124")]);
        s.talk(&[INITIALIZE, INITIALIZED, CONNECTED]);
    }),
    ("outsider: from a web page", Due::Status(403), |s| {
        s.head(&[("Upgrade: w", "Origin: https://evil.example\r\nUpgrade: w")])
    }),
    ("outsider: from the origin null", Due::Status(403), |s| {
        s.head(&[("Upgrade: w", "Origin: null\r\nUpgrade: w")])
    }),
    ("outsider: fetched across sites", Due::Status(403), |s| {
        s.head(&[("Upgrade: w", "Sec-Fetch-Site: cross-site\r\nUpgrade: w")])
    }),
    ("outsider: another host", Due::Status(403), |s| {
        s.head(&[("Host: 127.0.0.1", "Host: 127.0.0.1.evil.example")])
    }),
    ("outsider: another port", Due::Status(403), |s| s.head(&[("127.0.0.1:41111", "127.0.0.1:41112")])),
    ("outsider: absolute target", Due::Status(403), |s| s.head(&[("GET / ", "GET http://evil/ ")])),
    ("outsider: another method", Due::Status(400), |s| s.head(&[("GET ", "POST ")])),
    ("outsider: another version of HTTP", Due::Status(505), |s| s.head(&[("HTTP/1.1", "HTTP/1.0")])),
    ("outsider: another version of WebSocket", Due::Status(426), |s| {
        s.head(&[("Version: 13", "Version: 12")])
    }),
    ("outsider: no upgrade", Due::Status(400), |s| s.head(&[("Upgrade: websocket\r\n", "")])),
    ("outsider: a body", Due::Status(400), |s| s.head(&[("Upgrade: w", "Content-Length: 5\r\nUpgrade: w")])),
    ("outsider: a chunked body", Due::Status(400), |s| {
        s.head(&[("Upgrade: w", "Transfer-Encoding: chunked\r\nUpgrade: w")])
    }),
    ("outsider: two Host fields", Due::Status(403), |s| {
        s.head(&[("Connection:", "Host: 127.0.0.1:41111\r\nConnection:")])
    }),
    ("outsider: a head without end", Due::Status(431), |s| {
        s.send(&[b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 9_000]].concat())
    }),
    ("outsider: too many fields", Due::Status(431), |s| {
        s.head(&[("Upgrade: w", &format!("{}Upgrade: w", "a: b\r\n".repeat(64)))])
    }),
    ("outsider: garbage", Due::Status(400), |s| {
        let garbage = s.random.bytes(200);
        s.send(&[b"\x16\x03\x01".as_slice(), &garbage, b"\r\n\r\n"].concat());
    }),
    ("outsider: never finishes", Due::Status(408), |s| {
        for byte in HEAD.as_bytes().iter().take(60) {
            s.send(&[*byte]);
            s.pause(Duration::from_millis(200));
        }
    }),
    ("outsider: says nothing", Due::Status(408), |_| {}),
    ("outsider: leaves in the middle", Due::Status(408), |s| {
        s.send(&HEAD.as_bytes()[..50]);
        s.pause(Duration::from_millis(50));
        s.leaves = true;
    }),
];

/// The peers that have the token.
pub const INSIDERS: &[Row] = &[
    ("insider: frames without a mask", Due::Close(1002), |s| s.raw(&frame(0x81, None, b"{}"))),
    ("insider: reserved bits", Due::Close(1002), |s| s.raw(&masked(0xc1, b"{}"))),
    ("insider: reserved opcode", Due::Close(1002), |s| s.raw(&masked(0x83, b""))),
    ("insider: a long control frame", Due::Close(1002), |s| s.raw(&masked(0x89, &[0; 126]))),
    ("insider: a length in a longer form", Due::Close(1002), |s| {
        s.raw(&[0x81, 0xfe, 0, 2, 0, 0, 0, 0, b'{', b'}'])
    }),
    ("insider: claims 2^62 bytes", Due::Close(1009), |s| {
        s.raw(&[0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }),
    ("insider: claims 2^63 bytes", Due::Close(1002), |s| {
        s.raw(&[0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }),
    ("insider: too much in fragments", Due::Close(1009), |s| {
        s.raw(&masked(0x01, b"["));
        for _ in 0..=MESSAGE / 60_000 {
            s.raw(&masked(0x00, &[b' '; 60_000]));
        }
    }),
    ("insider: empty fragments", Due::Close(1008), |s| {
        s.raw(&masked(0x01, b""));
        s.raw(&masked(0x00, b"").repeat(1_100));
    }),
    ("insider: invalid UTF-8", Due::Close(1007), |s| s.raw(&masked(0x01, b"\xff"))),
    ("insider: binary", Due::Close(1003), |s| s.raw(&masked(0x82, b"{}"))),
    ("insider: closes with 1005", Due::Close(1002), |s| s.raw(&masked(0x88, &[0x03, 0xed]))),
    ("insider: closes with 3000", Due::Close(3000), |s| s.raw(&masked(0x88, &[0x0b, 0xb8]))),
    ("insider: data inside a fragment", Due::Close(1002), |s| {
        s.raw(&masked(0x01, b"["));
        s.raw(&masked(0x81, b"{}"));
    }),
    ("insider: garbage", Due::Close(1002), |s| {
        let garbage = s.random.bytes(300);
        s.raw(&[b"\xff".as_slice(), &garbage].concat());
    }),
    ("insider: invalid JSON, again and again", Due::Close(1008), |s| {
        for _ in 0..9 {
            s.send_text("garbage", &[]);
        }
    }),
    ("insider: invalid JSON, a few times", Due::Stays, |s| {
        for text in ["{", "1", "null", "[1]", "\"\""] {
            s.send_text(text, &[]);
        }
    }),
    ("insider: floods with pings", Due::Stays, |s| {
        for count in 0..2_000_u32 {
            s.raw(&masked(0x89, &count.to_be_bytes()));
        }
    }),
    ("insider: floods with pings and does not read", Due::Stays, |s| {
        s.reads = false;
        for count in 0..2_000_u32 {
            s.raw(&masked(0x89, &count.to_be_bytes()));
        }
    }),
    ("insider: asks without end and does not read", Due::Stays, |s| {
        s.reads = false;
        for id in 1..2_000_u32 {
            let (id, method) = (id.to_string(), if id % 8 == 0 { "tools/list" } else { "ping" });
            s.send_text(&request(&id, method), &[(&id, None)]);
        }
    }),
    ("insider: the same id twice", Due::Stays, |s| {
        let (one, other) = (s.mark(), s.mark());
        s.send_text(&diff("7", &one), &[("7", None)]);
        // The second call is refused, unless the first one was answered before. The pause keeps the
        // end of the connection out of the same read: then the cuts would decide, because an answer
        // after the end is refused.
        s.pause(Duration::from_millis(20));
        s.send_text(&diff("7", &other), &[("7", None)]);
    }),
    ("insider: an id again after its cancellation", Due::Stays, |s| {
        for _ in 0..3 {
            let mark = s.mark();
            s.send_text(&diff("7", &mark), &[("7", None)]);
            s.cancel("7");
        }
    }),
    ("insider: odd ids", Due::Stays, |s| {
        for id in
            ["\"1\"", "0", "\"\"", "-1", "9007199254740993", "18446744073709551616", "7.0", "\"\\u00e9A\""]
        {
            let mark = s.mark();
            s.send_text(&open_file(id, &mark), &[(id, None)]);
        }
    }),
    ("insider: ids of other types", Due::Stays, |s| {
        for id in ["null", "1.5", "true", "{}", "[]"] {
            s.send_text(&request(id, "ping"), &[]);
        }
    }),
    ("insider: cancels requests of others", Due::Stays, |s| {
        for id in 1..40 {
            s.cancel(&id.to_string());
        }
    }),
    ("insider: responses to no request", Due::Stays, |s| {
        for id in 1..40 {
            s.send_text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#), &[]);
        }
        s.send_text(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}}"#, &[]);
    }),
    ("insider: progress of no request", Due::Stays, |s| {
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
        s.send_text(progress, &[]);
    }),
    ("insider: calls without an id", Due::Stays, |s| {
        let mark = s.mark();
        s.send_text(&diff("7", &mark).replace(r#","id":7"#, ""), &[]);
    }),
    ("insider: closes the tabs of others", Due::Stays, |s| {
        for (id, tab) in ["a", "b"].iter().enumerate() {
            let id = (id + 1).to_string();
            s.send_text(&close_tab(&id, tab), &[(&id, None)]);
        }
        s.send_text(&call("9", "closeAllDiffTabs", "{}"), &[("9", None)]);
    }),
    ("insider: deep JSON", Due::Stays, |s| {
        let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
        s.send_text(&call("7", "countLines", &format!(r#"{{"n":{deep}}}"#)), &[("7", Some(-32600))]);
    }),
    ("insider: members twice", Due::Stays, |s| {
        s.send_text(r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"ping"}"#, &[("7", Some(-32600))]);
        s.send_text(r#"{"id":8,"method":"ping"}"#, &[("8", Some(-32600))]);
        s.send_text(r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#, &[("9", Some(-32602))]);
        s.send_text(r#"{"jsonrpc":"2.0","id":10,"method":7}"#, &[("10", Some(-32600))]);
    }),
    ("insider: arguments that do not fit", Due::Stays, |s| {
        s.send_text(&call("7", "openDiff", "{}"), &[("7", None)]);
        s.send_text(&call("8", "openFile", "[1]"), &[("8", None)]);
    }),
    ("insider: initializes twice", Due::Stays, |s| {
        s.send_text(&INITIALIZE.replace("\"id\":0", "\"id\":7"), &[("7", Some(-32600))])
    }),
    ("insider: probes", Due::Stays, |s| {
        s.send_text(&request("\"probe\"", "server/discover"), &[("\"probe\"", Some(-32601))])
    }),
    ("insider: a batch", Due::Stays, |s| {
        s.version = "2025-03-26";
        let parts = [request(1, "ping"), request("\"2\"", "tools/list"), request(3, "x/unknown")];
        s.send_text(&format!("[{}]", parts.join(",")), &[("1", None), ("\"2\"", None), ("3", Some(-32601))]);
    }),
    ("insider: cancels in the same batch what is answered at once", Due::Stays, |s| {
        s.version = "2025-03-26";
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        s.send_text(&format!("[{},{cancelled}]", call("1", "closeAllDiffTabs", "{}")), &[]);
    }),
    ("insider: a batch in a version without batches", Due::Stays, |s| {
        s.send_text(&format!("[{}]", request(1, "ping")), &[])
    }),
    ("insider: many calls at once", Due::Stays, |s| {
        // These are more calls than the limit of some editors, so each may be refused as busy.
        for id in 1..20 {
            let (id, mark) = (id.to_string(), s.mark());
            s.send_text(&diff(&id, &mark), &[(&id, None)]);
        }
        if s.random.one_in(2) {
            // This call is accepted no matter how many calls are open.
            s.send_text(&call("20", "closeAllDiffTabs", "{}"), &[("20", None)]);
        }
    }),
    ("insider: calls before it is initialized", Due::Stays, |s| {
        s.opens = false;
        s.send_text(&request(1, "tools/list"), &[("1", Some(-32600))]);
        s.send_text(&request(2, "ping"), &[("2", None)]);
        s.send_text(&request(3, "server/discover"), &[("3", Some(-32601))]);
    }),
    ("insider: lists before it is initialized, which takes a while", Due::Stays, |s| {
        s.opens = false;
        s.talk(&[INITIALIZE]);
        s.send_text(&request(1, "tools/list"), &[("1", None)]);
        s.pause(Duration::from_secs(3));
        s.talk(&[INITIALIZED, CONNECTED]);
    }),
    ("insider: leaves with a diff open", Due::Stays, |s| {
        let mark = s.mark();
        s.send_text(&diff("7", &mark), &[("7", None)]);
        s.pause(Duration::from_millis(20));
        s.leaves = true;
    }),
];

/// Returns the names of all behaviors.
pub fn names() -> impl Iterator<Item = &'static str> {
    OUTSIDERS.iter().chain(INSIDERS).map(|row| row.0)
}

fn token_line() -> String {
    format!("X-Claude-Code-Ide-Authorization: {TOKEN}\r\n")
}

fn diff(id: &str, mark: &str) -> String {
    open_diff(id, "a").replace(&serde_json::to_string(id).unwrap(), &format!("{mark:?}"))
}

fn open_file(id: &str, mark: &str) -> String {
    call(id, "openFile", &format!(r#"{{"filePath":"/w/{mark}"}}"#))
}

/// The actions of a behavior, as its row adds them.
pub struct Script<'a> {
    pub random: &'a mut Random,
    pub serial: &'a mut u64,
    /// The bytes to send, each with the pause before them.
    pub sends: VecDeque<(Duration, Vec<u8>)>,
    pub meanings: Vec<(String, Vec<Owed>)>,
    pub version: &'static str,
    pub opens: bool,
    pub reads: bool,
    pub leaves: bool,
    pub pause: Duration,
}

impl Script<'_> {
    fn send(&mut self, bytes: &[u8]) {
        self.sends.push_back((std::mem::take(&mut self.pause), bytes.to_vec()));
    }

    fn pause(&mut self, span: Duration) {
        self.pause += span;
    }

    /// Sends the head of an honest client with some replacements.
    fn head(&mut self, changes: &[(&str, &str)]) {
        let changed = changes.iter().fold(HEAD.to_owned(), |head, (from, to)| head.replacen(from, to, 1));
        self.send(changed.as_bytes());
    }

    fn talk(&mut self, texts: &[&str]) {
        texts.iter().for_each(|input| self.send(&text(input)));
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.send(bytes);
    }

    /// Sends a message for which these answers are due.
    fn send_text(&mut self, input: &str, owed: &[(&str, Option<i64>)]) {
        let owed = owed.iter().map(|(id, code)| Owed { id: (*id).to_owned(), code: *code }).collect();
        self.meanings.push((input.to_owned(), owed));
        self.send(&text(input));
    }

    fn cancel(&mut self, id: &str) {
        let params = format!(r#"{{"requestId":{id}}}"#);
        self.send(&text(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#
        )));
    }

    fn mark(&mut self) -> String {
        *self.serial += 1;
        nonce(*self.serial)
    }
}
