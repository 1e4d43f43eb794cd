//! The order in which an editor checks an opening request: if two rules are broken, the one in the earlier row
//! decides. docs/errors.md lists the rows for people.

use crate::support::ide::{HEAD, at, config};
use ide_mcp::ide::Server;
use ide_mcp::testing::pass;

/// A change of the good request that breaks one rule.
#[derive(Clone, Copy)]
enum Fault {
    /// Text of the good request, and its replacement.
    Change(&'static str, &'static str),
    /// A field, and the number of times that it is added at the end.
    Add(&'static str, usize),
    /// No change: an acceptable request reaches a full editor.
    Full,
}
use Fault::{Add, Change, Full};

/// The refusals in the order of the checks: the status, the text, the subject and the fault. Among adjacent rows with
/// a `*`, the fault that comes first in the request decides. A request can break only one of the rows with the same
/// subject.
const ROWS: &[(&str, &str, &str, Fault)] = &[
    ("400", "the request line is missing", "first line", Change("GET ", "\r\n\r\n\r\nGET ")),
    ("400", "a line must end in CR LF", "line", Change("(cli)\r\n", "(cli)\n")),
    ("431", "the request head is too long", "length", Add("Cookie: a=b", 700)),
    ("408", "the request was not complete in time", "end", Change("\r\n\r\n", "\r\n")),
    ("505*", "the HTTP version must be 1.1", "HTTP version", Change("HTTP/1.1\r\n", "HTTP/2.0\r\n")),
    ("431*", "the request has more than 64 header fields", "count", Add("a: b", 60)),
    ("400*", "the request is not HTTP/1.1", "grammar", Add("X : y", 1)),
    ("400", "the method must be GET", "method", Change("GET ", "POST ")),
    (
        "400",
        "the request target must be a path or an http URI",
        "target",
        Change(" / ", " https://127.0.0.1/ "),
    ),
    ("505", "the HTTP version must be 1.1", "HTTP version", Change("HTTP/1.1\r\n", "HTTP/1.0\r\n")),
    ("400*", "Expect is not accepted", "expect", Add("Expect: 100-continue", 1)),
    (
        "400*",
        "a request to upgrade has no body: Content-Length must be 0 or absent",
        "body",
        Add("Content-Length: 5", 1),
    ),
    (
        "400*",
        "a request to upgrade has no body: Transfer-Encoding is not accepted",
        "coding",
        Add("Transfer-Encoding: chunked", 1),
    ),
    ("400*", "Sec-WebSocket-Version is repeated", "version", Add("Sec-WebSocket-Version: 14", 1)),
    ("400*", "Sec-WebSocket-Key is repeated", "key", Add("Sec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==", 1)),
    (
        "400",
        "this is a WebSocket endpoint: the Upgrade field must name websocket",
        "upgrade",
        Change("Upgrade: websocket\r\n", ""),
    ),
    ("400", "the Connection field must name Upgrade", "connection", Change("Connection: Upgrade\r\n", "")),
    ("400", "Sec-WebSocket-Version is missing", "version", Change("Sec-WebSocket-Version: 13\r\n", "")),
    (
        "400",
        "Sec-WebSocket-Key is missing",
        "key",
        Change("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""),
    ),
    ("426", "the WebSocket version must be 13", "version", Change("Version: 13", "Version: 12")),
    ("400", "Sec-WebSocket-Key must be 16 bytes in base64", "key", Change("jZQ==", "jZQ=")),
    (
        "403",
        "the host of the request must be localhost, [::1] or an address of 127.0.0.0/8, with this port",
        "host",
        Change("Host: 127.0.0.1", "Host: evil.example"),
    ),
    ("403", "web pages may not attach", "origin", Add("Origin: null", 1)),
    ("404", "there is nothing at this path: agents attach at /", "target", Change(" / ", " /elsewhere ")),
    (
        "401",
        "the token of the lock file is missing or wrong: read the lock file again",
        "token",
        Change("Authorization: tok", "Authorization: kot"),
    ),
    ("400", "the sub-protocol mcp must be offered", "sub-protocol", Change("Protocol: mcp", "Protocol: pcm")),
    ("503", "too many agents are attached: end one of them", "place", Full),
];

impl Fault {
    /// Returns the request with this fault added, or `None` if an earlier fault left no place for it.
    fn break_in(self, request: &str) -> Option<String> {
        match self {
            Change(from, to) => request.contains(from).then(|| request.replacen(from, to, 1)),
            Add(field, count) => {
                let fields = request.strip_suffix("\r\n").filter(|fields| fields.ends_with("\r\n"))?;
                Some(format!("{fields}{}\r\n", format!("{field}\r\n").repeat(count)))
            }
            Full => Some(request.to_owned()),
        }
    }

    /// Returns the position of this fault in a request.
    fn place(self, request: &str) -> Option<usize> {
        match self {
            Change(_, text) | Add(text, _) => request.find(text),
            Full => None,
        }
    }
}

/// Returns the status and the body with which a full editor refuses: at once, or else after 5 s.
fn answer(request: &str) -> (String, String) {
    let mut config = config();
    config.policy.paths = vec!["/".into()];
    config.policy.subprotocol_required = true;
    config.max_clients = 0;
    let mut server = Server::new(config);
    let conn = server.connect(at(0));
    server.feed(at(0), conn, request.as_bytes());
    let mut answer = pass(&mut server, at(0), usize::MAX).written_bytes();
    if answer.is_empty() {
        answer = pass(&mut server, at(5_000), usize::MAX).written_bytes();
    }
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().to_owned(), body.trim_end().to_owned())
}

#[test]
fn earlier_broken_rule_decides() {
    let mut pairs = 0;
    for (index, (status, text, about, fault)) in ROWS.iter().enumerate() {
        let one = fault.break_in(HEAD).unwrap();
        assert_eq!(answer(&one), (status.trim_end_matches('*').to_owned(), (*text).to_owned()));
        for (later, (other_status, other_text, other_about, other)) in ROWS.iter().enumerate().skip(index + 1)
        {
            if about == other_about {
                continue;
            }
            // True if every row from the first to the second has a star.
            let together = ROWS[index..=later].iter().all(|(status, ..)| status.ends_with('*'));
            for (first, second) in [(fault, other), (other, fault)] {
                let Some(both) = first.break_in(HEAD).and_then(|request| second.break_in(&request)) else {
                    continue;
                };
                let (status, text) = if together && other.place(&both) < fault.place(&both) {
                    (other_status, other_text)
                } else {
                    (status, text)
                };
                let expected = (status.trim_end_matches('*').to_owned(), (*text).to_owned());
                assert_eq!(answer(&both), expected, "{about} and {other_about}: {both:?}");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 600, "{pairs} pairs");
}
