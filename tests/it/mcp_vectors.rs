//! The messages that we measured other implementations with, what this crate does with them, and the JSON rows (J1 to
//! J13). The rows J7 and J12 are in `mcp_server.rs`.

use crate::mcp_support::{Bench, INITIALIZE, config};
use ide_mcp::{
    mcp::{PeerFault, ServerEvent, ToolResult},
    rpc::NotAnswered,
};

/// Returns a server that a client of this version has opened.
fn ready(version: &str) -> Bench {
    Bench::opened(config(), version)
}

/// Sends a message, and checks how each message that the server returns begins.
#[track_caller]
fn probe(name: &str, bench: &mut Bench, text: &str, want: &[&str]) {
    let sent = bench.receive(text);
    bench.events();
    let alike = sent.len() == want.len() && sent.iter().zip(want).all(|(sent, want)| sent.starts_with(want));
    assert!(alike, "{name}: {sent:?}, not {want:?}");
}

fn ask(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#)
}

fn call(id: &str, name: &str) -> String {
    ask(id, "tools/call", &format!(r#","params":{{"name":"{name}"}}"#))
}

fn cancelled(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

fn error(id: &str, code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#)
}

#[test]
fn measured_requests_of_odd_form() {
    let rows: &[(&str, String, String)] = &[
        ("params array", ask("1", "tools/list", r#","params":[]"#), error("1", -32602)),
        ("method and result", ask("1", "ping", r#","result":{}"#), error("1", -32600)),
        ("byte order mark", format!("\u{feff}{}", ask("1", "ping", "")), result("1")),
    ];
    for (name, text, want) in rows {
        probe(name, &mut Bench::ready(), text, &[want]);
    }
}

#[test]
fn measured_calls_in_flight() {
    let answer = ToolResult::text("x");
    let mut bench = Bench::ready();
    let first = bench.call("7", "plain");
    let text = bench.call("\"7\"", "plain");
    bench.server.respond(text, &answer, &mut bench.out).unwrap();
    bench.server.respond(first, &answer, &mut bench.out).unwrap();
    let sent = bench.out.take();
    assert!(
        sent[0].starts_with(&result("\"7\"")) && sent[1].starts_with(&result("7")),
        "types kept: {sent:?}"
    );

    let mut bench = Bench::ready();
    let old = bench.call("7", "plain");
    probe("cancel 7", &mut bench, &cancelled("7"), &[]);
    let new = bench.call("7", "plain");
    assert_eq!(
        bench.server.respond(old, &ToolResult::text("old"), &mut bench.out),
        Err(NotAnswered::Cancelled)
    );
    assert_eq!(bench.server.respond(new, &ToolResult::text("new"), &mut bench.out), Ok(()));
    let sent = bench.out.take();
    assert!(sent.len() == 1 && sent[0].contains("new"), "then new call 7: {sent:?}");
}

/// Answers that are ready at once form one array; a later answer is sent alone. Messages without an
/// answer are left out.
#[test]
fn batches_of_version_2025_03_26() {
    let note = r#"{"jsonrpc":"2.0","method":"x"}"#;
    let pong = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    let (ping, call) = (ask("1", "ping", ""), call("2", "plain"));
    let rows = [
        (
            "two",
            format!("[{ping},{}]", ask("\"3\"", "ping", "")),
            vec![format!("[{},{}]", pong("1"), pong("\"3\""))],
        ),
        ("a call among others", format!("[{call},{ping},{note}]"), vec![format!("[{}]", pong("1"))]),
        ("notifications alone", format!("[{note},{note}]"), vec![]),
        ("a response alone", r#"[{"jsonrpc":"2.0","id":9,"result":{}}]"#.to_owned(), vec![]),
        ("an array in it", format!("[[{ping}],{ping}]"), vec![format!("[{}]", pong("1"))]),
        ("a scalar in it", format!("[1,{ping}]"), vec![format!("[{}]", pong("1"))]),
        ("nothing", "[]".to_owned(), vec![]),
    ];
    for (name, text, want) in rows {
        let mut bench = ready("2025-03-26");
        assert_eq!(bench.receive(&text), want, "{name}");
    }
    let mut bench = ready("2025-03-26");
    bench.receive(&format!("[{call},{ping}]"));
    let Some(ServerEvent::Call { call, .. }) = bench.poll() else { unreachable!("no call") };
    bench.server.respond(call, &ToolResult::text("x"), &mut bench.out).unwrap();
    assert!(bench.out.take()[0].starts_with(&result("2")), "alone");
}

#[test]
fn j01_depth_is_limited_in_raw_json_too() {
    let deep = |levels: usize| {
        let x = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        ask("5", "tools/call", &format!(r#","params":{{"name":"plain","arguments":{{"x":{x}}}}}"#))
    };
    // The envelope, the parameters and the arguments are three of the 128 levels.
    probe("at the limit", &mut Bench::ready(), &deep(125), &[]);
    probe("beyond it", &mut Bench::ready(), &deep(126), &[&error("5", -32600)]);
    probe("a bomb", &mut Bench::ready(), &"[".repeat(1_000_000), &[]);
    probe("half a million levels, all closed", &mut Bench::ready(), &deep(500_000), &[&error("5", -32600)]);
}

/// No version permits a batch within a batch, so its fault does not name the version.
#[test]
fn nested_batch_differs_from_forbidden_batch() {
    let nested = format!("[[{}]]", ask("1", "ping", ""));
    let within = "a batch within a batch: put its messages into the outer one";
    let rows = [
        ("2025-03-26", PeerFault::NestedBatch, within),
        ("2025-11-25", PeerFault::Batch, "a batch, which only version 2025-03-26 has: send"),
    ];
    for (version, want, message) in rows {
        let mut bench = ready(version);
        assert_eq!(bench.receive(&nested), [""; 0], "{version}");
        let Some(ServerEvent::PeerFault(violation)) = bench.poll() else {
            unreachable!("{version}: no fault")
        };
        assert_eq!(violation, want, "{version}");
        assert!(violation.to_string().starts_with(message), "{version}: {violation}");
        assert!(bench.poll().is_none(), "{version}: the messages in it are not read");
    }
    let mut bench = ready("2025-03-26");
    bench.receive(&format!("[{}]", vec!["1"; 65].join(",")));
    let Some(ServerEvent::PeerFault(violation)) = bench.poll() else { unreachable!("no fault") };
    assert!(violation.to_string().contains("more than 64"), "{violation}");
}

/// The server copies the raw arguments of a large call once, and builds no tree of them.
#[test]
fn j02_raw_arguments_are_copied_only_once() {
    let zeros = "0,".repeat(2 * 1024 * 1024);
    let text =
        ask("5", "tools/call", &format!(r#","params":{{"name":"plain","arguments":{{"x":[{zeros}0]}}}}"#));
    let mut bench = Bench::ready();
    let measured = allocation_counter::measure(|| {
        bench.receive(&text);
    });
    let most = u64::try_from(text.len()).unwrap() * 2 + 64 * 1024;
    assert!(measured.bytes_max < most, "{} bytes for {}", measured.bytes_max, text.len());
    assert_eq!(bench.events(), ["call Plain"]);
}

#[test]
fn j03_names_compare_bytewise_and_duplicates_are_refused() {
    let (pong, invalid) = (result("5"), error("5", -32600));
    let named = r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"Invalid arguments: duplicate field `n`"}],"isError":true}}"#;
    let rows: &[(&str, &str, &[&str])] = &[
        ("method twice", r#""id":5,"method":"ping","method":"ping""#, &[&invalid]),
        ("id twice, once escaped", r#""id":5,"\u0069d":6,"method":"ping""#, &[]),
        ("another case", r#""id":5,"method":"ping","Method":"x""#, &[&pong]),
        ("with a NUL", r#""id":5,"method":"ping","method\u0000":"x""#, &[&pong]),
        ("with a long s", "\"id\":5,\"method\":\"ping\",\"param\u{17f}\":[]", &[&pong]),
        (
            "an argument twice",
            r#""id":5,"method":"tools/call","params":{"name":"typed","arguments":{"n":1,"n":2}}"#,
            &[named],
        ),
    ];
    for (name, text, want) in rows {
        probe(name, &mut Bench::ready(), &format!(r#"{{"jsonrpc":"2.0",{text}}}"#), want);
    }
}

#[test]
fn j04_ids_have_two_types_and_1_kib() {
    for id in [
        "1.0",
        "1e2",
        "18446744073709551616",
        &"7".repeat(40),
        "\"1\"",
        "1",
        &"9".repeat(1024),
        &format!("\"{}\"", "x".repeat(1024)),
    ] {
        probe(id, &mut Bench::ready(), &ask(id, "ping", ""), &[&result(id)]);
    }
    // C7 and C8: these ids get no answer, since no answer could name them.
    for id in
        ["null", "true", "[]", "{}", "0.5", "1.5", &"9".repeat(1025), &format!("\"{}\"", "x".repeat(1025))]
    {
        probe(id, &mut Bench::ready(), &ask(id, "ping", ""), &[]);
    }
}

#[test]
fn j05_id_is_free_after_its_call() {
    let mut bench = Bench::ready();
    let open = bench.call("7", "plain");
    probe("in flight", &mut bench, &call("7", "plain"), &[&error("7", -32600)]);
    bench.server.respond(open, &ToolResult::text("x"), &mut bench.out).unwrap();
    assert_eq!(bench.out.take().len(), 1);
    bench.call("7", "plain");
}

#[test]
fn j06_256_calls_may_wait() {
    let mut bench = Bench::ready();
    for id in 1..=256 {
        bench.call(&id.to_string(), "never");
    }
    probe("one more", &mut bench, &call("257", "never"), &[&error("257", -32603)]);
    assert_eq!(bench.server.open_calls(), 256);
}

#[test]
fn j09_handle_of_the_previous_session_is_unknown() {
    let mut before = Bench::ready();
    let old = before.call("7", "plain");
    before.server.close();
    let mut after = Bench::numbered(config(), 2);
    after.receive(INITIALIZE);
    let new = after.call("7", "plain");
    assert_eq!(after.server.respond(old, &ToolResult::text("x"), &mut after.out), Err(NotAnswered::Unknown));
    assert_eq!(before.server.respond(old, &ToolResult::text("x"), &mut before.out), Err(NotAnswered::Closed));
    assert_eq!(after.server.respond(new, &ToolResult::text("x"), &mut after.out), Ok(()));
}

#[test]
fn j10_a_batch_has_64_messages_at_most() {
    let batch = |count: usize| format!("[{}]", vec![ask("1", "ping", ""); count].join(","));
    for (count, answers) in [(0, 0), (1, 1), (64, 64), (65, 0)] {
        let sent = ready("2025-03-26").receive(&batch(count));
        assert_eq!(
            sent.iter().map(|text| text.matches("\"result\"").count()).sum::<usize>(),
            answers,
            "{count}"
        );
        assert_eq!(sent.len(), usize::from(answers > 0), "{count}");
    }
    probe("nested", &mut ready("2025-03-26"), &format!("[{}]", batch(1)), &[]);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        probe(version, &mut ready(version), &batch(1), &[]);
    }
}

#[test]
fn j11_notifications_and_responses_are_unanswered() {
    for text in [
        r#"{"jsonrpc":"2.0","method":"nobody"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        &cancelled("99"),
    ] {
        probe(text, &mut Bench::ready(), text, &[]);
    }
    probe("unknown request", &mut Bench::ready(), &ask("1", "nobody", ""), &[&error("1", -32601)]);
}
