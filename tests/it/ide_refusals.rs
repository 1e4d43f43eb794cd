//! How the IDE layer refuses opening handshakes, byte for byte: each row of the table, their order, and known attacks.
//! The marks N1–N3, H1, H2, H4, H6, H8, H9 and H11 name rows of `tests/it/threats.rs`.

use crate::support::ide::{ACCEPTED, Editor, HEAD, INITIALIZE, PORT, TOKEN, at, config, shown, text, token};
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::{
    ide::{Auth, Policy, Server, ServerConfig},
    testing::pass,
};

// The refusals: the status, and the text for a human.

const TIMEOUT: &str = "408 Request Timeout: the request was not complete in time";
const TOO_LONG: &str = "431 Request Header Fields Too Large: the request head is too long";
const TOO_MANY_FIELDS: &str =
    "431 Request Header Fields Too Large: the request has more than 64 header fields";
const NOT_HTTP: &str = "400 Bad Request: the request is not HTTP/1.1";
const NOT_GET: &str = "400 Bad Request: the method must be GET";
const NOT_A_PATH: &str = "400 Bad Request: the request target must be a path or an http URI";
const HTTP_VERSION: &str = "505 HTTP Version Not Supported: the HTTP version must be 1.1";
const WS_VERSION: &str = "426 Upgrade Required: the WebSocket version must be 13";
const HOST: &str = "403 Forbidden: the host of the request must be localhost, [::1] or an address of 127.0.0.0/8, with this port";
const ORIGIN: &str = "403 Forbidden: web pages may not attach";
const PATH: &str = "404 Not Found: there is nothing at this path: agents attach at /";
const AUTH: &str =
    "401 Unauthorized: the token of the lock file is missing or wrong: read the lock file again";
const SUBPROTOCOL: &str = "400 Bad Request: the sub-protocol mcp must be offered";
const FULL: &str = "503 Service Unavailable: too many agents are attached: end one of them";

/// Returns the bytes of a refusal.
fn full(refusal: &str) -> String {
    let (status, text) = refusal.split_once(": ").unwrap();
    let required =
        if refusal == WS_VERSION { "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" } else { "" };
    format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\n{required}Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\n\r\n{text}\n",
        text.len() + 1
    )
}

/// Returns the status and the text of a refusal, and checks all its bytes.
fn brief(answer: &str) -> String {
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.lines().next().unwrap().strip_prefix("HTTP/1.1 ").unwrap();
    let refusal = format!("{status}: {}", text.trim_end());
    assert_eq!(answer, full(&refusal));
    refusal
}

/// Returns the head of the real client with replacements. Panics if a replaced text is not there.
fn head(changes: &[(&str, &str)]) -> Vec<u8> {
    let mut head = HEAD.to_owned();
    for (from, to) in changes {
        assert!(head.contains(from), "{from}");
        head = head.replace(from, to);
    }
    head.into_bytes()
}

/// Returns the head of the real client with one more field.
fn with(field: &str) -> Vec<u8> {
    head(&[("\r\n\r\n", &format!("\r\n{field}\r\n\r\n"))])
}

/// Returns the answer of the editor to a head: a refusal in brief, any other answer whole. Checks that a refusal is not
/// an event, is counted, and ends the connection.
fn answer_of(config: ServerConfig, head: &[u8]) -> String {
    let mut editor = Editor::new(config);
    assert_eq!(shown(&editor.feed(head)), [""; 0]);
    let answer = String::from_utf8(editor.written()).unwrap();
    let is_accepted = answer.starts_with("HTTP/1.1 101 ");
    assert_eq!((editor.is_attached(), refusals(&editor)), (is_accepted, u64::from(!is_accepted)));
    if is_accepted {
        return answer;
    }
    assert!(editor.is_over(), "everything has been written");
    brief(&answer)
}

/// Returns the number of refused clients. Checks that no client was kept out for another reason.
fn refusals(editor: &Editor) -> u64 {
    let counted = editor.server.unauthenticated();
    assert_eq!(counted.total(), counted.refused, "{counted:?}");
    counted.refused
}

fn answer(head: &[u8]) -> String {
    answer_of(config(), head)
}

fn strict() -> ServerConfig {
    let mut config = config();
    config.policy.paths = vec!["/".into(), "/mcp".into()];
    config.policy.subprotocol_required = true;
    config
}

/// The rows of the table for a complete head, in order: a fault as a change of the good head, and
/// the answer.
const FAULTS: &[(&str, (&str, &str), &str)] = &[
    ("too many fields", ("User-Agent: claude-code/2.1.330 (cli)\r\n", SIXTY_FIELDS), TOO_MANY_FIELDS),
    ("method", ("GET ", "POST "), NOT_GET),
    ("HTTP version", ("HTTP/1.1\r\n", "HTTP/1.0\r\n"), HTTP_VERSION),
    ("WebSocket version", ("Version: 13", "Version: 12"), WS_VERSION),
    ("foreign host", ("Host: 127.0.0.1", "Host: evil.example"), HOST),
    ("origin", ("Connection: Upgrade\r\n", "Connection: Upgrade\r\nOrigin: null\r\n"), ORIGIN),
    ("path", (" / ", " /elsewhere "), PATH),
    ("token", ("Authorization: tok", "Authorization: kot"), AUTH),
    ("no sub-protocol", ("Protocol: mcp", "Protocol: pcm"), SUBPROTOCOL),
];

/// Sixty fields that replace one of the nine fields of the good head.
const SIXTY_FIELDS: &str = "a: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\n\
    a: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\n\
    a: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\n\
    a: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\n\
    a: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\n\
    a: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\na: b\r\n";

#[test]
fn first_fault_decides_the_refusal() {
    for (index, (name, change, expected)) in FAULTS.iter().enumerate() {
        assert_eq!(answer_of(strict(), &head(&[*change])), *expected, "{name}");
        for (later, other, _) in FAULTS.iter().skip(index + 1) {
            assert_eq!(answer_of(strict(), &head(&[*change, *other])), *expected, "{name}, then {later}");
        }
    }
    assert_eq!(answer_of(strict(), HEAD.as_bytes()), ACCEPTED);
}

#[test]
fn n03_malformed_heads_are_refused() {
    let cases: &[(&str, Vec<u8>, &str)] = &[
        ("N3: absolute form of a foreign host", head(&[("GET /", "GET http://evil/")]), HOST),
        ("N3: absolute form with TLS", head(&[("GET /", "GET https://127.0.0.1:41111/")]), NOT_A_PATH),
        ("N3: authority form", head(&[("GET /", "GET evil:80")]), NOT_A_PATH),
        ("space before the colon", with("X : y"), NOT_HTTP),
        ("lower-case method", head(&[("GET", "get")]), NOT_GET),
        ("an unknown HTTP version", head(&[("HTTP/1.1", "HTTP/2.0")]), HTTP_VERSION),
    ];
    for (name, head, expected) in cases {
        assert_eq!(answer(head), *expected, "{name}");
    }
}

#[test]
fn h01_incomplete_head_is_refused_after_5_s() {
    // Neither faults in the head nor further bytes prolong the timeout.
    for change in [("GET", "GET"), FAULTS[1].1, FAULTS[4].1, FAULTS[7].1] {
        let mut head = head(&[change]);
        head.pop();
        let mut editor = Editor::new(config());
        for (index, byte) in head.iter().enumerate() {
            assert_eq!(shown(&editor.at(u64::try_from(index).unwrap() * 10)), [""; 0]);
            assert_eq!(shown(&editor.feed(&[*byte])), [""; 0]);
        }
        assert_eq!(shown(&editor.at(4_999)), [""; 0]);
        assert_eq!(editor.server.deadline(), Some(at(5_000)));
        assert_eq!(shown(&editor.at(5_000)), [""; 0]);
        assert_eq!(refusals(&editor), 1);
        assert_eq!(String::from_utf8(editor.written()).unwrap(), full(TIMEOUT));
    }
    // A head that is complete at the deadline is accepted.
    let mut editor = Editor::new(config());
    editor.at(4_999);
    editor.feed_unpolled(HEAD.as_bytes());
    assert_eq!(shown(&editor.at(5_000)), [""; 0]);
    assert_eq!(editor.written(), ACCEPTED.as_bytes());
}

#[test]
fn h02_head_limit_is_8_kib() {
    let padded = |len: usize| with(&format!("X: {}", "x".repeat(len - HEAD.len() - "X: \r\n".len())));
    assert_eq!(padded(8192).len(), 8192);
    assert_eq!(answer(&padded(8192)), ACCEPTED);
    assert_eq!(answer(&padded(8193)), TOO_LONG);
    assert_eq!(answer(&[b'G'; 8193]), TOO_LONG);
    // The check of the length comes before all other checks.
    let late = head(&[FAULTS[1].1, FAULTS[4].1, ("Connection", &"x".repeat(8192))]);
    assert_eq!(answer(&late), TOO_LONG);
}

#[test]
fn only_acceptable_clients_receive_503() {
    for (name, change, expected) in FAULTS.iter().chain(&[("none", ("GET", "GET"), FULL)]) {
        let mut config = strict();
        config.max_clients = 0;
        let mut host = Server::new(config);
        let conn = host.connect(at(0));
        host.feed(at(0), conn, &head(&[*change]));
        let passed = pass(&mut host, at(0), usize::MAX);
        assert!(passed.events.is_empty(), "{name}");
        assert_eq!(host.unauthenticated().refused, 1, "{name}");
        assert_eq!(passed.written_bytes(), full(expected).as_bytes(), "{name}");
    }
}

/// Checks the target for models: the policy does not have to list it, and every other rule applies.
#[test]
fn n01_h09_models_target_has_the_same_rules() {
    let models = ("GET / ", "GET /models ");
    for (name, change, expected) in FAULTS.iter().filter(|(name, ..)| *name != "path") {
        assert_eq!(answer_of(strict(), &head(&[models, *change])), *expected, "{name}");
    }
    let missing = ("X-Claude-Code-Ide-Authorization: tok-0123456789abcdef0123456789abcdef\r\n", "");
    assert_eq!(answer_of(strict(), &head(&[models, missing])), AUTH);
    for policy in [strict(), config()] {
        assert_eq!(answer_of(policy, &head(&[models])), ACCEPTED);
    }
    for target in ["/models/", "/models?x", "/Models"] {
        assert_eq!(answer_of(strict(), &head(&[("GET / ", &format!("GET {target} "))])), PATH, "{target}");
    }
}

#[test]
fn n01_web_pages_are_refused() {
    let refused = [
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: http://localhost:3000",
        "Origin: http://127.0.0.1:41111",
        "Origin: vscode-webview://x",
        "Origin:",
        "oRIGIN: a",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: none",
    ];
    for field in refused {
        assert_eq!(answer(&with(field)), ORIGIN, "{field}");
    }
    // The WebSocket client of Node sends this field.
    assert_eq!(answer(&with("Sec-Fetch-Mode: websocket")), ACCEPTED);

    let mut config = config();
    config.policy.allowed_origins = vec!["https://good.example".into()];
    let cases = [
        ("Origin: https://good.example", ACCEPTED),
        ("Origin: https://good.example\r\nSec-Fetch-Site: cross-site", ACCEPTED),
        ("Origin: https://good.example:443", ORIGIN),
        ("Origin: https://GOOD.example", ORIGIN),
        ("Origin: https://good.example\r\nOrigin: https://good.example", ORIGIN),
        ("Sec-Fetch-Site: same-origin", ORIGIN),
    ];
    for (field, expected) in cases {
        assert_eq!(answer_of(config.clone(), &with(field)), expected, "{field}");
    }
}

#[test]
fn n02_foreign_hosts_are_refused() {
    const OURS: &str = "Host: 127.0.0.1:41111\r\n";
    const ACCEPTED_HOSTS: &str = "localhost:41111 LOCALHOST:41111 [::1]:41111 127.0.0.2:41111 127.1.2.3:41111 \
        127.0.0.0:41111 127.255.255.255:41111";
    const FOREIGN_HOSTS: &str = "127.0.0.2 127.0.0.2: 127.0.0.2:41112 127.0.0.2:041111 127.0.0.2:41111:41111 \
        127.0.0.2.evil:41111 127.0.0.2.:41111 evil.127.0.0.2:41111 127.0.0.2@evil.example:41111 \
        127.1:41111 127.0.1:41111 127:41111 2130706434:41111 127.0.0.1.1:41111 \
        126.255.255.255:41111 128.0.0.1:41111 127.0.0.256:41111 127.0.0.02:41111 \
        127.0.00.2:41111 0127.0.0.2:41111 0177.0.0.2:41111 0x7f.0.0.2:41111 127.0.0.+2:41111 \
        127.0.0.2,127.0.0.2:41111 [127.0.0.2]:41111 [::ffff:127.0.0.2]:41111 \
        \u{661}27.0.0.2:41111 evil.example:41111 127.0.0.1.evil.example:41111 127.0.0.1 \
        127.0.0.1:41112 127.0.0.1:041111 127.0.0.1:+41111 127.0.0.1:106647 user@127.0.0.1:41111 \
        0x7f000001:41111 0.0.0.0:41111 ::1:41111";
    for (hosts, expected) in [(ACCEPTED_HOSTS, ACCEPTED), (FOREIGN_HOSTS, HOST)] {
        for host in hosts.split(' ') {
            let head = head(&[(OURS, &format!("Host: {host}\r\n"))]);
            assert_eq!(answer(&head), expected, "{host}");
        }
    }
    let fields = [
        ("host:127.0.0.1:41111 \r\n", ACCEPTED),
        ("", HOST),
        ("Host:\r\n", HOST),
        ("Host: 127.0.0.1:41111, x\r\n", HOST),
        ("Host: 127.0.0.1:41111\r\nHost: 127.0.0.1:41111\r\n", HOST),
        ("Host: 127.0.0.1:41111\r\nHost: evil.example\r\n", HOST),
    ];
    for (field, expected) in fields {
        assert_eq!(answer(&head(&[(OURS, field)])), expected, "{field:?}");
    }
    let mut config = config();
    config.policy.extra_hosts =
        vec!["host.docker.internal:8080".into(), "gateway".into(), "[fe80::1]".into()];
    for (field, expected) in [
        ("Host: Host.Docker.Internal:8080\r\n", ACCEPTED),
        ("Host: gateway:41111\r\n", ACCEPTED),
        ("Host: gateway:8080\r\n", HOST),
        ("Host: gateway\r\n", HOST),
        ("Host: [FE80::1]:41111\r\n", ACCEPTED),
        ("Host: host.docker.internal\r\n", HOST),
        ("Host: host.docker.internal:80\r\n", HOST),
        ("Host: 127.0.0.2:8080\r\n", HOST),
        ("Host: 127.0.0.2:41111\r\n", ACCEPTED),
        (OURS, ACCEPTED),
    ] {
        assert_eq!(answer_of(config.clone(), &head(&[(OURS, field)])), expected, "{field:?}");
    }
}

#[test]
fn n02_absolute_target_replaces_host_field() {
    const OURS: &str = "Host: 127.0.0.1:41111\r\n";
    let cases = [
        ("http://127.0.0.1:41111/", OURS, ACCEPTED),
        ("http://LocalHost:41111/mcp", OURS, ACCEPTED),
        ("http://[::1]:41111", OURS, ACCEPTED),
        ("http://127.0.0.1:41111/", "Host: evil.example\r\n", ACCEPTED),
        ("http://evil.example:41111/", OURS, HOST),
        ("http://127.0.0.1.evil.example:41111/", OURS, HOST),
        ("http://127.0.0.1:41112/", OURS, HOST),
        ("http://127.0.0.1/", OURS, HOST),
        ("http://evil.example/", "Host: evil.example\r\n", HOST),
        ("http://127.0.0.1:41111/", "", HOST),
        ("http://127.0.0.1:41111/", "Host: 127.0.0.1:41111\r\nHost: 127.0.0.1:41111\r\n", HOST),
        ("http://a@127.0.0.1:41111/", OURS, NOT_A_PATH),
        ("http://127.0.0.1:41111/elsewhere", OURS, PATH),
        ("http://127.0.0.1:41111/mcp?x", OURS, PATH),
        ("http://127.0.0.1:41111?x", OURS, PATH),
        ("http://evil.example:41111?x", OURS, HOST),
    ];
    for (target, field, expected) in cases {
        let head = head(&[("GET / ", &format!("GET {target} ")), (OURS, field)]);
        assert_eq!(answer_of(strict(), &head), expected, "{target} {field:?}");
    }
    let query = head(&[("GET / ", "GET http://127.0.0.1:41111?x ")]);
    assert_eq!(answer(&query), ACCEPTED, "any query is accepted");
    let mut one = strict();
    one.policy.paths = vec!["/?x".into()];
    assert_eq!(answer_of(one, &query), ACCEPTED, "an empty path stands for `/`");
}

#[test]
fn h04_subprotocol_is_chosen_and_never_echoed() {
    const LINE: &str = "Sec-WebSocket-Protocol: mcp\r\n";
    let spaces = format!("Sec-WebSocket-Protocol: b{}x\r\n", " ".repeat(6 * 1024));
    let without = ACCEPTED.replace(LINE, "");
    let cases: &[(&str, &str, bool)] = &[
        ("alone", LINE, true),
        ("second in a list", "Sec-WebSocket-Protocol: foo, mcp\r\n", true),
        (
            "on a second line",
            "Sec-WebSocket-Protocol: foo\r\nSec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Protocol: bar\r\n",
            true,
        ),
        ("twice", "Sec-WebSocket-Protocol: mcp,mcp\r\n", true),
        ("upper case", "Sec-WebSocket-Protocol: MCP\r\n", false),
        ("longer", "Sec-WebSocket-Protocol: mcpx\r\n", false),
        ("shorter", "Sec-WebSocket-Protocol: mc\r\n", false),
        ("two words", "Sec-WebSocket-Protocol: m cp\r\n", false),
        ("above ASCII", "Sec-WebSocket-Protocol: \u{fffd}\r\n", false),
        ("many spaces", &spaces, false),
        ("empty", "Sec-WebSocket-Protocol:\r\n", false),
        ("none", "", false),
    ];
    for (name, field, chosen) in cases {
        let head = head(&[(LINE, field)]);
        let lenient = if *chosen { ACCEPTED } else { &without };
        assert_eq!(answer(&head), lenient, "{name}, not demanded");
        let demanded = if *chosen { ACCEPTED } else { SUBPROTOCOL };
        assert_eq!(answer_of(strict(), &head), demanded, "{name}, demanded");
    }
}

#[test]
fn h06_bytes_after_refused_head_are_ignored() {
    for (name, change, accepted) in [
        ("bad token", FAULTS[7].1, false),
        ("bad host", FAULTS[4].1, false),
        ("bad method", FAULTS[1].1, false),
        ("good", ("GET", "GET"), true),
    ] {
        let mut bytes = head(&[change]);
        bytes.extend(text(INITIALIZE));
        bytes.extend(text("not JSON"));
        let mut editor = Editor::new(config());
        let events = editor.feed(&bytes);
        let after = editor.feed(&text("not JSON either"));
        let answers =
            editor.written().windows(20).filter(|window| *window == b"\"protocolVersion\":\"2").count();
        if accepted {
            assert_eq!(shown(&events), ["PeerFault(Message(NotJson))"], "{name}");
            assert_eq!(shown(&after), ["PeerFault(Message(NotJson))"], "{name}");
        } else {
            assert_eq!((shown(&events), refusals(&editor)), (vec![], 1), "{name}");
            assert_eq!(shown(&after), [""; 0], "{name}");
        }
        assert_eq!(answers, usize::from(accepted), "{name}");
    }
}

#[test]
fn h08_all_wrong_tokens_are_answered_alike() {
    let field = format!("X-Claude-Code-Ide-Authorization: {TOKEN}\r\n");
    let flipped = |at: usize| {
        let mut token = TOKEN.to_owned().into_bytes();
        token[at] ^= 1;
        format!("X-Claude-Code-Ide-Authorization: {}\r\n", String::from_utf8(token).unwrap())
    };
    let mut cases = vec![
        ("missing", String::new()),
        ("empty", "X-Claude-Code-Ide-Authorization:\r\n".into()),
        ("doubled", format!("{field}{field}")),
        ("right and wrong", format!("{field}X-Claude-Code-Ide-Authorization: x\r\n")),
        ("short", field.replace("f\r\n", "\r\n")),
        ("long", field.replace("f\r\n", "ff\r\n")),
        ("in a list", field.replace("\r\n", ", x\r\n")),
        ("in quotes", format!("X-Claude-Code-Ide-Authorization: \"{TOKEN}\"\r\n")),
        ("in the field of another scheme", format!("Authorization: Bearer {TOKEN}\r\n")),
        ("upper case", field.replace("tok", "TOK")),
        ("above ASCII", field.replace('f', "\u{e9}")),
    ];
    cases.extend((0..TOKEN.len()).map(|at| ("flipped", flipped(at))));
    for (name, replaced) in &cases {
        assert_eq!(answer(&head(&[(&field, replaced)])), AUTH, "{name}");
    }
    // Bytes that are not UTF-8, of the length of the token.
    let mut obs_text = HEAD.to_owned().into_bytes();
    let at = HEAD.find(TOKEN).unwrap();
    obs_text[at..at + TOKEN.len()].fill(0xff);
    assert_eq!(answer(&obs_text), AUTH);

    for (name, replaced) in [
        ("name in another case", field.to_lowercase()),
        ("white space around it", format!("X-Claude-Code-Ide-Authorization: \t {TOKEN} \t\r\n")),
    ] {
        assert_eq!(answer(&head(&[(&field, &replaced)])), ACCEPTED, "{name}");
    }
}

/// Checks a policy whose token no server has generated yet: no token opens it.
#[test]
fn h08_policy_without_generated_token_refuses_all() {
    let missing =
        (concat!("X-Claude-Code-Ide-Authorization: ", "tok-0123456789abcdef0123456789abcdef", "\r\n"), "");
    let empty = ("tok-0123456789abcdef0123456789abcdef", "");
    for (name, changes) in [("a token", vec![]), ("none", vec![missing]), ("an empty one", vec![empty])] {
        let mut generated = config();
        generated.policy = Policy::new(0, Auth::Generated);
        generated.policy.port = config().policy.port;
        assert_eq!(answer_of(generated, &head(&changes)), AUTH, "{name}");
    }
}

#[test]
fn without_authentication_browsers_are_still_refused() {
    let open = || {
        let mut config = config();
        config.policy = Policy::new(PORT, Auth::Disabled);
        config
    };
    let field = format!("X-Claude-Code-Ide-Authorization: {TOKEN}\r\n");
    assert_eq!(answer_of(open(), &head(&[(&field, "")])), ACCEPTED);
    assert_eq!(answer_of(open(), &head(&[FAULTS[7].1])), ACCEPTED);
    assert_eq!(answer_of(open(), &with("Origin: null")), ORIGIN);
    assert_eq!(answer_of(open(), &head(&[FAULTS[4].1])), HOST);
    assert!(AuthToken::from_text("").is_err(), "N4: an empty token is not the way to require none");
}

#[test]
fn h09_input_of_refused_peer_is_ignored() {
    let mut editor = Editor::new(config());
    assert_eq!(shown(&editor.feed(&head(&[FAULTS[7].1]))), [""; 0]);
    assert_eq!((refusals(&editor), editor.server.unauthenticated().wrong_tokens), (1, 1));
    assert_eq!(editor.pass(0).unwritten_bytes(), full(AUTH).as_bytes());
    for _ in 0..64 {
        assert!(!editor.server.wants_input(editor.conn) && editor.server.space(editor.conn).is_empty());
        assert_eq!(shown(&editor.feed(HEAD.as_bytes())), [""; 0]);
    }
    assert_eq!(editor.written(), full(AUTH).as_bytes());
    assert!(editor.is_over() && editor.server.deadline().is_none());
}

#[test]
fn h09_unread_refusal_is_dropped_after_2_s() {
    let mut editor = Editor::new(config());
    editor.feed(&head(&[FAULTS[7].1]));
    editor.at(1_999);
    assert!(!editor.is_over());
    assert_eq!(editor.server.deadline(), Some(at(2_000)));
    editor.at(2_000);
    assert!(editor.is_over() && editor.waiting() == 0);
}

#[test]
fn h11_paths_are_compared_byte_by_byte() {
    let mut listed = config();
    listed.policy.paths = vec!["/".into(), "/mcp".into()];
    let cases = [
        ("/", true, true),
        ("/mcp", true, true),
        ("/mcp/", false, false),
        ("/MCP", false, false),
        ("/../mcp", false, false),
        ("//", false, false),
        ("/%6dcp", false, false),
        ("/mcp?x", false, true),
        ("/?", false, true),
    ];
    let answer_of_path = |served| if served { ACCEPTED } else { PATH };
    for (path, listed_path, usual) in cases {
        let head = head(&[("GET / ", &format!("GET {path} "))]);
        assert_eq!(answer_of(listed.clone(), &head), answer_of_path(listed_path), "{path}");
        assert_eq!(answer(&head), answer_of_path(usual), "{path}, without a list");
    }
}

#[test]
fn j13_refusals_hold_no_token_and_no_input() {
    for (name, change, _) in FAULTS {
        let answer = answer_of(strict(), &head(&[*change]));
        for secret in [token().as_str(), "evil.example", "elsewhere", "pcm"] {
            assert!(!answer.contains(secret), "{name}: {answer}");
        }
    }
}
