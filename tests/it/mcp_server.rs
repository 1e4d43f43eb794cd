//! A server session from the outside: what each state permits, the answers, and how calls and requests end.

use crate::support::CALL;
use std::{collections::BTreeMap, time::Duration};

use crate::mcp_support::{Bench, INITIALIZE, INITIALIZED, NEWEST, config};
use ide_mcp::{
    Time,
    mcp::{CallEnd, Implementation, LogLevel, ServerConfig, ServerEvent, Timeout, ToolResult},
    rpc::{NotAnswered, NotSent},
};

/// Returns a server in each of the four states in which it takes messages.
fn states() -> [(&'static str, Bench); 4] {
    let mut draining = Bench::ready();
    draining.server.drain();
    [
        ("awaiting initialize", Bench::new()),
        ("initializing", Bench::initializing()),
        ("ready", Bench::ready()),
        ("draining", draining),
    ]
}

#[test]
fn j12_each_state_permits_its_messages() {
    const NONE: &[&str] = &[];
    const PONG: &str = r#""result":{}"#;
    const NO_DISCOVER: &str = r#""error":{"code":-32601,"message":"method not found: server/discover"}"#;
    const NOT_YET: &str = r#""error":{"code":-32600,"message":"not initialized"}"#;
    const NO_MORE: &str = r#""error":{"code":-32600,"message":"shutting down"}"#;
    const TWICE: &str = r#""error":{"code":-32600,"message":"already initialized"}"#;
    const HELLO: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"editor","version":"1"}}"#;
    const LIST: &str = r#""result":{"tools":[{"name":"plain","description":"does nothing","inputSchema":{"type":"object"}},{"name":"typed","inputSchema":{}}]}"#;
    const UNKNOWN: &str = r#""error":{"code":-32601,"message":"method not found: x/y"}"#;
    const RESOURCES: &str = r#""result":{"resources":[]}"#;
    const TEMPLATES: &str = r#""result":{"resourceTemplates":[]}"#;
    const PROMPTS: &str = r#""result":{"prompts":[]}"#;
    const CURSOR: &str = r#","params":{"cursor":null}"#;
    const PLAIN: &str = r#","params":{"name":"plain"}"#;
    // The members of the answer in each state. An accepted call is reported, and not answered yet.
    let requests = [
        ("ping", "", [PONG; 4]),
        ("server/discover", "", [NO_DISCOVER; 4]),
        ("initialize", "", [HELLO, TWICE, TWICE, NO_MORE]),
        ("tools/list", "", [NOT_YET, LIST, LIST, NO_MORE]),
        ("tools/call", PLAIN, [NOT_YET, "", "", NO_MORE]),
        ("resources/list", "", [NOT_YET, RESOURCES, RESOURCES, NO_MORE]),
        ("resources/templates/list", "", [NOT_YET, TEMPLATES, TEMPLATES, NO_MORE]),
        ("prompts/list", CURSOR, [NOT_YET, PROMPTS, PROMPTS, NO_MORE]),
        ("x/y", "", [NOT_YET, UNKNOWN, UNKNOWN, NO_MORE]),
    ];
    for (method, params, answers) in requests {
        for ((state, mut bench), answer) in states().into_iter().zip(answers) {
            let sent =
                bench.receive(&format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}"{params}}}"#)).concat();
            let event = match answer {
                "" => "call Plain",
                LIST => "tools listed",
                _ => "",
            };
            let answer = match answer {
                "" => String::new(),
                answer => format!(r#"{{"jsonrpc":"2.0","id":5,{answer}}}"#),
            };
            assert_eq!((sent, bench.events().concat()), (answer, event.to_owned()), "{method}, {state}");
        }
    }

    const PREMATURE: &[&str] = &["violation Premature"];
    const PROGRESS: &[&str] = &["violation UnknownProgress"];
    const OTHER: &[&str] = &[r#"notification ide_connected {"pid":1}"#];
    // The events in each state. None of these messages is answered.
    let others: [(&str, &str, [&[&str]; 4]); 7] = [
        ("initialized", r#""method":"notifications/initialized""#, [PREMATURE, &["ready"], NONE, NONE]),
        (
            "cancelled, nothing open",
            r#""method":"notifications/cancelled","params":{"requestId":5}"#,
            [NONE; 4],
        ),
        (
            "progress",
            r#""method":"notifications/progress","params":{"progressToken":1}"#,
            [NONE, PROGRESS, PROGRESS, PROGRESS],
        ),
        (
            "other notification",
            r#""method":"ide_connected","params":{"pid":1}"#,
            [PREMATURE, OTHER, OTHER, NONE],
        ),
        (
            "request without id",
            r#""method":"tools/call","params":{"name":"plain"}"#,
            [&["violation RequestWithoutId"]; 4],
        ),
        ("response", r#""id":5,"result":{}"#, [&["violation UnknownResponse"]; 4]),
        ("peer error", r#""error":{"code":1,"message":"m"}"#, [&["peer error m (1)"]; 4]),
    ];
    for (name, members, events) in others {
        for ((state, mut bench), events) in states().into_iter().zip(events) {
            assert_eq!(
                bench.receive(&format!(r#"{{"jsonrpc":"2.0",{members}}}"#)),
                [""; 0],
                "{name}, {state}"
            );
            assert_eq!(bench.events(), events, "{name}, {state}");
        }
    }
    for (state, mut bench) in states() {
        assert_eq!(bench.receive(r#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#), [""; 0], "{state}");
        assert_eq!(bench.events(), ["violation Batch"], "{state}");
    }
}

#[test]
fn the_handshake_is_reported_and_configurable() {
    let mut config = ServerConfig::new(Implementation::new("e", "1"));
    config.instructions = Some("be kind".into());
    config.tools_list_changed = false;
    let mut bench = Bench::with(config);
    assert_eq!(
        bench.receive(r#"{"jsonrpc":"2.0","id":"é\u0041","method":"initialize","params":{"protocolVersion":"2024-11-05","clientInfo":{"name":"agent","version":"2"}}}"#),
        [r#"{"jsonrpc":"2.0","id":"é\u0041","result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"e","version":"1"},"instructions":"be kind"}}"#]
    );
    assert_eq!(bench.server.client().map(|client| client.name.as_str()), Some("agent"));
    assert_eq!(bench.server.protocol_version().map(|version| version.as_str()), Some("2024-11-05"));
    bench.receive(INITIALIZED);
    assert!(bench.server.is_ready());
    assert_eq!(bench.server.tools_list_changed(&mut bench.out), Err(NotSent::Undeclared));
}

#[test]
fn initialize_is_answered_despite_bad_parameters() {
    for params in [
        "{}",
        r#"{"protocolVersion":7}"#,
        r#"{"protocolVersion":"x","clientInfo":[]}"#,
        r#"{"clientInfo":["a","1"]}"#,
        r#"{"clientInfo":1}"#,
    ] {
        let mut bench = Bench::new();
        let sent =
            bench.receive(&format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#));
        assert!(sent[0].contains(r#""protocolVersion":"2025-11-25""#), "{params}: {sent:?}");
        assert_eq!(bench.server.client(), None, "{params}");
    }
}

#[test]
fn invalid_call_is_refused_under_its_id() {
    const CASES: &[(&str, &str, &str)] = &[
        ("no params", "", "missing field `name`"),
        ("no name", r#","params":{"arguments":{}}"#, "missing field `name`"),
        ("unknown tool", r#","params":{"name":"nobody"}"#, "tool nobody not found"),
        (
            "arguments array",
            r#","params":{"name":"plain","arguments":[]}"#,
            "Invalid arguments: arguments is not an object",
        ),
        ("missing argument", r#","params":{"name":"typed"}"#, "Invalid arguments: missing field `n`"),
        (
            "doubled argument",
            r#","params":{"name":"typed","arguments":{"n":1,"n":2}}"#,
            "Invalid arguments: duplicate field `n`",
        ),
    ];
    for (name, params, message) in CASES {
        let mut bench = Bench::ready();
        let sent = bench.receive(&format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call"{params}}}"#));
        let want = match message.starts_with("Invalid arguments") {
            true => format!(
                r#"{{"jsonrpc":"2.0","id":5,"result":{{"content":[{{"type":"text","text":"{message}"}}],"isError":true}}}}"#
            ),
            false => format!(r#"{{"jsonrpc":"2.0","id":5,"error":{{"code":-32602,"message":"{message}"}}}}"#),
        };
        assert_eq!(sent, [want], "{name}");
        assert_eq!(bench.events(), [""; 0], "{name}");
        assert_eq!(bench.server.open_calls(), 0, "{name}");
    }
    let mut bench = Bench::ready();
    let sent = bench.receive(
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"typed","arguments":{"n":"\ud83d"}}}"#,
    );
    assert!(sent[0].contains(r#""isError":true"#), "{sent:?}");
    let mut bench = Bench::ready();
    bench.receive(
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"typed","arguments":{"\ud83d":1.5,"n":7.0}}}"#,
    );
    assert_eq!(bench.events(), ["call Typed(7)"]);
}

#[test]
fn arguments_may_be_absent_or_null() {
    for params in [
        r#"{"name":"plain"}"#,
        r#"{"name":"plain","arguments":null}"#,
        r#"{"arguments":{"x":[]},"_meta":{"progressToken":5},"name":"plain"}"#,
    ] {
        let mut bench = Bench::ready();
        let sent =
            bench.receive(&format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{params}}}"#));
        assert_eq!(sent, [""; 0], "{params}");
        assert_eq!(bench.events(), ["call Plain"], "{params}");
    }
}

#[test]
fn member_that_occurs_twice_is_refused() {
    for params in [
        r#"{"name":"plain","_meta":{"progressToken":5},"_meta":{"progressToken":6}}"#,
        r#"{"name":"plain","arguments":{},"arguments":{}}"#,
        r#"{"name":"plain","name":"plain"}"#,
    ] {
        let mut bench = Bench::ready();
        let sent =
            bench.receive(&format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{params}}}"#));
        assert!(sent.len() == 1 && sent[0].contains("-32602"), "{params}: {sent:?}");
        assert_eq!(bench.events(), [""; 0], "{params}");
    }
}

/// Races between an answer and a cancellation.
mod cancellation {
    use super::*;

    #[test]
    fn is_exact_in_type_and_value() {
        // The id of the call, the parameters of the cancellation, and whether the cancellation ends
        // the call.
        const CASES: &[(&str, &str, bool)] = &[
            ("7", r#","params":{"requestId":7}"#, true),
            ("7", r#","params":{"requestId":7.0}"#, true),
            ("7", r#","params":{"requestId":"7"}"#, false),
            ("7", r#","params":{"requestId":8}"#, false),
            ("7", r#","params":{"requestId":null}"#, false),
            ("7", r#","params":{"requestId":[7]}"#, false),
            ("7", r#","params":{"requestId":7,"requestId":7}"#, false),
            ("7", r#","params":{"reason":"x"}"#, false),
            ("7", r#","params":{}"#, false),
            ("7", "", false),
            (r#""7""#, r#","params":{"requestId":"7"}"#, true),
            (r#""7""#, r#","params":{"requestId":7}"#, false),
            ("0", r#","params":{"requestId":0}"#, true),
            (r#""""#, r#","params":{"requestId":""}"#, true),
            (r#""""#, r#","params":{"requestId":0}"#, false),
            (r#""A""#, r#","params":{"requestId":"\u0041"}"#, true),
        ];
        for (id, params, hit) in CASES {
            let mut bench = Bench::ready();
            bench.call(id, "plain");
            let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled"{params}}}"#);
            assert_eq!(bench.receive(&text), [""; 0], "{id}, {params}");
            assert_eq!(bench.server.open_calls() == 0, *hit, "{id}, {params}");
            assert_eq!(bench.events().len(), usize::from(*hit), "{id}, {params}");
        }
    }

    #[test]
    fn passes_on_a_bounded_reason() {
        let cases = [
            ("at the limit", format!("\"{}\"", "x".repeat(4096)), Some(4096)),
            ("beyond it", format!("\"{}\"", "x".repeat(4097)), Some(4096)),
            ("a character across it", format!("\"{}é\"", "x".repeat(4095)), Some(4095)),
            ("null", "null".into(), None),
            ("a number", "7".into(), None),
            ("half a surrogate pair", r#""\ud83d""#.into(), Some("\u{fffd}".len())),
        ];
        for (name, reason, length) in cases {
            let mut bench = Bench::ready();
            bench.call("7", "plain");
            bench.receive(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":7,"reason":{reason}}}}}"#
            ));
            let Some(ServerEvent::CallEnded { reason: CallEnd::Cancelled { reason }, .. }) = bench.poll()
            else {
                unreachable!("{name}");
            };
            assert_eq!(reason.map(|reason| reason.len()), length, "{name}");
        }
    }
}

#[test]
fn eight_invalid_messages_are_tolerated() {
    let mut bench = Bench::ready();
    // A violation does not count if it can be answered, or if a race explains it.
    for _ in 0..20 {
        bench.receive(r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}"#);
        bench.receive(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    }
    assert_eq!(bench.events().iter().filter(|event| *event == "too many faults").count(), 0);
    for _ in 0..8 {
        assert_eq!(bench.receive("garbage"), [""; 0]);
    }
    assert_eq!(bench.events(), ["violation NotJson"; 8]);
    bench.receive("[]");
    assert_eq!(bench.events(), ["violation Batch", "too many faults"]);
    bench.receive("garbage");
    assert_eq!(bench.events(), ["violation NotJson"], "it is reported once");
}

#[test]
fn j07_forgotten_call_is_answered_at_its_deadline() {
    let failed = |span: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"no answer to this call within {span}"}}],"isError":true}}}}"#
        )
    };
    let cases = [
        ("plain", Some(CALL), failed(&format!("{:?}", Timeout::CALL))),
        ("soon", Some(400), r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#.to_owned()),
        ("soon_without_result", Some(400), failed("400ms")),
        ("soon_with_bad_result", Some(400), failed("400ms")),
        ("soon_with_list", Some(400), failed("400ms")),
        ("never", None, String::new()),
    ];
    for (name, due, sent) in cases {
        let mut bench = Bench::ready();
        let call = bench.call("7", name);
        assert_eq!(bench.server.deadline(), due.map(Time::from_millis), "{name}");
        let Some(due) = due else {
            assert_eq!(bench.at(u64::MAX / 2), (vec![], vec![]), "{name}");
            continue;
        };
        assert_eq!(bench.at(due - 1), (vec![], vec![]), "{name}: early");
        assert_eq!(bench.at(due), (vec!["ended Expired".to_owned()], vec![sent]), "{name}");
        assert_eq!(bench.at(due + 1), (vec![], vec![]), "{name}: again");
        assert_eq!(
            bench.server.respond(call, &ToolResult::text("late"), &mut bench.out),
            Err(NotAnswered::Expired),
            "{name}"
        );
        assert_eq!(bench.server.deadline(), None, "{name}");
    }
}

#[test]
fn received_messages_come_before_due_timers() {
    let mut bench = Bench::ready();
    bench.call("7", "soon");
    bench.now = Time::from_millis(400);
    bench.cancel("7");
    assert_eq!(bench.events(), ["ended Cancelled why"]);
    assert_eq!(bench.out.take(), [""; 0]);
}

#[test]
fn time_does_not_run_backwards() {
    let mut bench = Bench::ready();
    bench.at(1_000);
    bench.now = Time::ZERO;
    bench.call("7", "soon");
    assert_eq!(bench.server.deadline(), Some(Time::from_millis(1_400)));
}

/// Every result of MCP is an object. A result that is not an object is refused, and the call stays open for another
/// answer.
#[test]
fn non_object_result_leaves_the_call_open() {
    let unserializable = BTreeMap::from([((1, 2), 3)]);
    let mut bench = Bench::ready();
    let call = bench.call("7", "plain");
    let (server, out) = (&mut bench.server, &mut bench.out);
    let refused = Err(NotAnswered::Unserializable);
    for (name, input) in [
        ("no JSON", server.respond_with(call, &unserializable, out)),
        ("text", server.respond_with(call, "x", out)),
        ("a list", server.respond_with(call, &[1], out)),
        ("null", server.respond_with(call, &(), out)),
    ] {
        assert_eq!((input, &out.sent[..]), (refused, &[][..]), "{name}");
        assert!(server.is_open(call), "{name}");
    }
    assert_eq!(server.deadline(), Some(Time::from_millis(CALL)), "its deadline runs on");
    assert_eq!(server.respond_with(call, &BTreeMap::from([("a", 1)]), out), Ok(()));
    assert_eq!(out.take(), [r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#]);
    assert_eq!(server.respond_with(call, "x", out), Err(NotAnswered::Answered));
}

/// Four checks decide the error, in this order: whether the capability was declared, the state of the session, whether
/// there is anything to send, and whether the outbox has room.
#[test]
fn log_and_changed_tools_follow_notification_rules() {
    fn config(declared: bool) -> ServerConfig {
        let mut config = crate::mcp_support::config();
        config.logging = declared.then_some(LogLevel::Warning);
        config.tools_list_changed = declared;
        config
    }
    fn in_state(state: &str, declared: bool) -> Bench {
        let mut bench = Bench::with(config(declared));
        if state != "awaiting initialize" {
            bench.receive(INITIALIZE);
        }
        if !matches!(state, "awaiting initialize" | "initializing") {
            bench.receive(INITIALIZED);
        }
        match state {
            "draining" => bench.server.drain(),
            "closed" => bench.server.close(),
            "full" => bench.out.full = true,
            _ => {}
        }
        bench
    }
    let (not_yet, closed, full) = (NotSent::NotReady, NotSent::Closed, NotSent::Full);
    // The results for a log message that is severe enough and for one that is not, then for tools that have changed
    // and for tools that have not.
    type Sent = Result<bool, NotSent>;
    let rows: [(&str, [Sent; 2], [Sent; 2]); 6] = [
        ("awaiting initialize", [Err(not_yet); 2], [Err(not_yet); 2]),
        ("initializing", [Ok(true), Ok(false)], [Err(not_yet); 2]),
        ("ready", [Ok(true), Ok(false)], [Ok(true), Ok(false)]),
        ("full", [Err(full), Ok(false)], [Err(full), Ok(false)]),
        ("draining", [Err(not_yet); 2], [Err(not_yet); 2]),
        ("closed", [Err(closed); 2], [Err(closed); 2]),
    ];
    for (state, logged, listed) in rows {
        for (level, want) in [(LogLevel::Error, logged[0]), (LogLevel::Notice, logged[1])] {
            let mut bench = in_state(state, true);
            assert_eq!(bench.server.log(level, None, "x", &mut bench.out), want, "{state}, {level}");
            assert_eq!(bench.out.take().len(), usize::from(want == Ok(true)), "{state}, {level}");
        }
        for (changed, want) in [(true, listed[0]), (false, listed[1])] {
            let mut bench = in_state(state, true);
            if changed {
                bench.server.tools_mut().add("another");
            }
            let record = bench.server.tools_list_changed(&mut bench.out);
            assert_eq!(record, want, "{state}, changed: {changed}");
            assert_eq!(bench.out.take().len(), usize::from(want == Ok(true)), "{state}, changed: {changed}");
            // A refused notification can be sent later.
            bench.out.full = false;
            let again = bench.server.tools_list_changed(&mut bench.out);
            let expected = if want == Err(full) {
                Ok(true)
            } else if want == Ok(true) {
                Ok(false)
            } else {
                want
            };
            assert_eq!(again, expected, "{state}, changed: {changed}, again");
        }
        let mut bench = in_state(state, false);
        let undeclared = Err(NotSent::Undeclared);
        assert_eq!(bench.server.log(LogLevel::Emergency, None, "x", &mut bench.out), undeclared, "{state}");
        assert_eq!(bench.server.tools_list_changed(&mut bench.out), undeclared, "{state}");
    }
}

#[test]
fn server_sends_only_pings_before_ready() {
    let mut closed = Bench::ready();
    closed.server.close();
    let [(_, new), (_, initializing), (_, ready), (_, draining)] = states();
    let rows = [
        ("awaiting initialize", new, Err(NotSent::NotReady), true),
        ("initializing", initializing, Err(NotSent::NotReady), true),
        ("ready", ready, Ok(()), true),
        ("draining", draining, Err(NotSent::NotReady), false),
        ("closed", closed, Err(NotSent::Closed), false),
    ];
    for (state, mut bench, input, ping) in rows {
        assert_eq!(bench.server.notify("n", None::<&()>, &mut bench.out), input, "{state}");
        assert_eq!(bench.out.take().len(), usize::from(input.is_ok()), "{state}");
        let pending = bench.server.request("roots/list", None::<&()>, Timeout::Default, &mut bench.out);
        assert_eq!(pending.map(drop), input, "{state}");
        let pinged = bench.server.request("ping", None::<&()>, Timeout::Default, &mut bench.out);
        assert_eq!(pinged.is_ok(), ping, "{state}");
        let sent = usize::from(input.is_ok()) + usize::from(ping);
        assert_eq!(bench.out.take().len(), sent, "{state}");
    }
}

#[test]
fn a_full_outbox_refuses_all_but_answers() {
    let mut bench = Bench::ready();
    let call = bench.call("7", "plain");
    bench.out.full = true;
    assert_eq!(bench.server.notify("n", None::<&()>, &mut bench.out), Err(NotSent::Full));
    assert_eq!(bench.server.request("r", None::<&()>, Timeout::Default, &mut bench.out), Err(NotSent::Full));
    assert_eq!(bench.out.take(), [""; 0]);
    bench.server.respond(call, &ToolResult::text("x"), &mut bench.out).unwrap();
    assert_eq!(bench.out.take().len(), 1);
    assert_eq!(bench.ask("8", "ping").len(), 1);
}

#[test]
fn log_is_sent_from_the_requested_level() {
    let mut config = config();
    config.logging = Some(LogLevel::Warning);
    let mut bench = Bench::with(config);
    bench.receive(INITIALIZE);
    let set = |level: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{{"level":{level}}}}}"#)
    };
    assert_eq!(bench.receive(&set("\"debug\"")), [r#"{"jsonrpc":"2.0","id":5,"result":{}}"#]);
    bench.server.log(LogLevel::Debug, None, "text", &mut bench.out).unwrap();
    assert_eq!(
        bench.out.take(),
        [r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"text"}}"#]
    );
    for level in ["\"loud\"", "7", "null"] {
        assert!(bench.receive(&set(level))[0].contains("-32602"), "{level}");
    }
    assert_eq!(bench.server.log_level(), Some(LogLevel::Debug));
    assert!(Bench::ready().receive(&set("\"debug\""))[0].contains("-32601"), "a server without a log");
}

/// The requests of the server.
mod requests {
    use super::*;

    #[test]
    fn end_once_with_the_first_response() {
        const CASES: &[(&str, &str, &[&str])] = &[
            ("result", r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#, &[r#"result {"roots":[]}"#]),
            ("id as a string", r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, &["result {}"]),
            ("error", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#, &["error no (-1)"]),
            ("neither", r#"{"jsonrpc":"2.0","id":1}"#, &["violation MalformedResponse", "outcome Malformed"]),
        ];
        for (name, text, events) in CASES {
            let mut bench = Bench::ready();
            let pending = bench.server.request(
                "roots/list",
                Some(&BTreeMap::from([("a", 1)])),
                Timeout::Default,
                &mut bench.out,
            );
            assert!(pending.is_ok());
            assert_eq!(
                bench.out.take(),
                [r#"{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"a":1}}"#]
            );
            assert_eq!(bench.receive(text), [""; 0], "{name}");
            assert_eq!(bench.events(), *events, "{name}");
            assert_eq!(bench.receive(text), [""; 0], "{name}, again");
            assert_eq!(bench.events(), ["violation LateResponse"], "{name}, again");
            assert_eq!(bench.at(100_000), (vec![], vec![]), "{name}: its timer is gone");
        }
    }

    #[test]
    fn i14_deadline_runs_from_request_to_answer() {
        let cases = [
            (Timeout::Default, Some(60_500)),
            (Timeout::After(Duration::from_millis(10)), Some(510)),
            (Timeout::Never, None),
        ];
        for (timeout, due) in cases {
            let mut bench = Bench::ready();
            bench.at(500);
            bench.server.request("r", None::<&()>, timeout, &mut bench.out).unwrap();
            bench.out.take();
            assert_eq!(bench.server.deadline(), due.map(Time::from_millis), "{timeout:?}");
            let Some(due) = due else { continue };
            assert_eq!(bench.at(due - 1), (vec![], vec![]), "{timeout:?}");
            bench.ask("5", "ping");
            assert_eq!(
                bench.server.deadline(),
                Some(Time::from_millis(due)),
                "other messages do not extend it"
            );
            let (events, sent) = bench.at(due);
            assert_eq!(events, ["outcome TimedOut"], "{timeout:?}");
            assert_eq!(
                sent,
                [
                    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timed out"}}"#
                ]
            );
            bench.receive(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            assert_eq!(bench.events(), ["violation LateResponse"], "{timeout:?}");
        }
    }

    #[test]
    fn are_limited() {
        let mut bench = Bench::ready();
        for _ in 0..256 {
            bench.server.request("r", None::<&()>, Timeout::Never, &mut bench.out).unwrap();
        }
        bench.out.take();
        let one_more = bench.server.request("r", None::<&()>, Timeout::Never, &mut bench.out);
        assert_eq!(one_more, Err(NotSent::TooManyInFlight));
        assert_eq!(bench.out.take(), [""; 0]);
        bench.receive(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert!(bench.server.request("r", None::<&()>, Timeout::Never, &mut bench.out).is_ok());
        assert_eq!(bench.out.take(), [r#"{"jsonrpc":"2.0","id":257,"method":"r"}"#]);
    }
}

/// Returns a call of `len` bytes, padded with white space.
fn sized(id: u32, len: usize) -> String {
    let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"never"}}"#);
    format!("{call}{}}}", " ".repeat(len - call.len() - 1))
}

fn busy(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"busy: too many calls are open"}}}}"#
    )
}

fn limited(version: &str) -> Bench {
    let mut config = config();
    config.limits.open_bytes = 1000;
    Bench::opened(config, version)
}

#[test]
fn calls_beyond_the_byte_limit_are_refused() {
    for (name, sizes, taken) in [
        ("one alone", &[1000][..], &[true][..]),
        ("one alone, however large", &[5000, 100], &[true, false]),
        ("at the limit", &[400, 600, 100], &[true, true, false]),
        ("a byte above it", &[400, 601, 600], &[true, false, true]),
    ] {
        let mut bench = limited(NEWEST);
        let answers = sizes.iter().zip(1..).map(|(size, id)| bench.receive(&sized(id, *size)));
        let answers: Vec<Vec<String>> = answers.collect();
        for ((taken, answers), id) in taken.iter().zip(answers).zip(1..) {
            assert_eq!(answers, if *taken { vec![] } else { vec![busy(id)] }, "{name}: {id}");
        }
        let open = sizes.iter().zip(taken).filter(|(_, taken)| **taken).map(|(size, _)| size);
        assert_eq!(bench.server.open_bytes(), open.sum::<usize>(), "{name}");
    }
}

#[test]
fn batch_elements_count_separately_against_the_limit() {
    let mut old = limited("2025-03-26");
    let batch = format!("[{},{},{}]", sized(1, 400), sized(2, 601), sized(3, 600));
    assert_eq!(old.receive(&batch), [format!("[{}]", busy(2))]);
    assert_eq!(old.server.open_bytes(), 1000);
    old.server.close();
    assert_eq!(old.server.open_bytes(), 0);
    // A large message that opens no call leaves nothing counted.
    let mut bench = limited(NEWEST);
    assert_eq!(bench.receive(&format!("{}{}", INITIALIZED, " ".repeat(5000))), [""; 0]);
    assert_eq!(bench.receive(&sized(1, 100)), [""; 0]);
    assert_eq!(bench.server.open_bytes(), 100);
}
