//! The invariants of a session, I1 to I38, each with a test that has the number in its name. The
//! invariants of the dialect (I26, I30, I35, I37, I38) are tested with the dialect. The last test
//! here checks that each invariant has a test, and that each of the JSON rows J1 to J13 has one too
//! (`mcp_vectors.rs`).
//!
//! Many of them are checked by the random scripts of `crate::mcp_scripts`, whose model stops at the
//! first broken invariant. Their tests here assert that the scripts reach the situations of the
//! invariant, and add examples. `arbtest` prints the seed of a failure.

use crate::support::CALL;
use std::{cell::RefCell, time::Duration};

use crate::mcp_scripts::reach;
use crate::mcp_support::{
    Agent, Bench, HELLO, INITIALIZE, INITIALIZED, Messages, NEWEST, TestCall, client_config,
};
use ide_mcp::Keepalive;
use ide_mcp::{
    Time,
    mcp::{
        ClientEvent, Context, FormAnswer, Forward, Progress, PromptSpec, ResourceSpec, ServerConfig,
        ServerEvent, Timeout, ToolResult,
    },
    rpc::{CallId, ErrorObject, NotAnswered, NotSent, RequestId},
};

fn config() -> ServerConfig {
    let mut config = crate::mcp_support::config();
    config.forward = Forward::Methods(vec!["x/raw".into()]);
    config.context = Context::new()
        .prompt(PromptSpec::new("p", ""))
        .resource(ResourceSpec::new("r://1", "one"))
        .resource(ResourceSpec::new("r://tool", "of a tool").read_by("soon"))
        .into();
    config
}

/// The kinds of calls: the methods, and parameters that are accepted.
const KINDS: [(&str, &str); 5] = [
    ("tools/call", r#"{"name":"plain"}"#),
    ("prompts/get", r#"{"name":"p"}"#),
    ("resources/read", r#"{"uri":"r://1"}"#),
    ("resources/read", r#"{"uri":"r://tool"}"#),
    ("x/raw", "{}"),
];

/// The ids of requests, as JSON tokens.
const IDS: [&str; 10] =
    ["1", "\"1\"", "0", "\"\"", "-1", "9007199254740993", "7.0", "1e2", "-0", r#""é\u0041""#];

fn kind_text(id: &str, (method, params): (&str, &str)) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// Receives a call of this kind, which the server must accept.
fn open(bench: &mut Bench, id: &str, kind: (&str, &str)) -> CallId {
    assert_eq!(bench.receive(&kind_text(id, kind)), [""; 0], "{kind:?}");
    called(bench)
}

/// Sends a request and returns it with its text.
fn request(bench: &mut Bench, method: &str, timeout: Timeout) -> (RequestId, String) {
    let pending = bench.server.request(method, None::<&()>, timeout, &mut bench.out).unwrap();
    (pending, bench.out.take().concat())
}

/// Returns the call that the next event reports.
fn called(bench: &mut Bench) -> CallId {
    match bench.poll() {
        Some(
            ServerEvent::<TestCall>::Call { call, .. }
            | ServerEvent::GetPrompt { call, .. }
            | ServerEvent::ReadResource { call, .. }
            | ServerEvent::Request { call, .. },
        ) => call,
        other => panic!("{other:?}"),
    }
}

fn progress(bench: &mut Bench, call: CallId, to: f64) {
    bench.server.progress(call, &Progress::new(to), &mut bench.out).unwrap();
}

fn due(bench: &Bench) -> Option<u128> {
    bench.server.deadline().map(|at| at.since_start().as_millis())
}

fn call_text(id: &str, tool: &str, token: Option<&str>) -> String {
    let meta = token.map(|token| format!(r#","_meta":{{"progressToken":{token}}}"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"{meta}}}}}"#)
}

/// A form waits as long as progress can extend other calls.
const FORM_DUE: u64 = Timeout::LONGEST_CALL.as_secs() * 1000;

/// Returns a client that shows forms and declares folders.
fn forms() -> Agent {
    let mut config = client_config();
    (config.roots, config.elicitation) = (Some(vec![]), true);
    let mut agent = Agent::with(config);
    agent.client.start(agent.now, &mut agent.out).unwrap();
    agent.receive(HELLO);
    agent.events();
    agent
}

/// Receives a form with this id, a JSON token. Returns the answers that the client sends at once.
fn ask_form(agent: &mut Agent, id: &str) -> Vec<String> {
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    agent.receive(&kind_text(id, ("elicitation/create", form)))
}

/// Receives a form with this id, which the client must show.
fn open_form(agent: &mut Agent, id: &str) -> CallId {
    assert_eq!(ask_form(agent, id), [""; 0]);
    match agent.client.poll(agent.now, &mut agent.out) {
        Some(ClientEvent::Form { call, .. }) => call,
        other => panic!("{other:?}"),
    }
}

/// Declines a form. Returns the result and the messages that the client sends.
fn decline(agent: &mut Agent, call: CallId) -> (Result<(), NotAnswered>, Vec<String>) {
    let answered = agent.client.respond_with(call, &FormAnswer::Declined, &mut agent.out);
    (answered, agent.out.take())
}

#[test]
fn i01_every_request_ends_exactly_once() {
    reach(&[("answer", "result -32600 -32601"), ("call ended", "Cancelled Expired Closed ShutDown")]);
    for kind in ["Tool", "Request", "Prompt", "Resource", "ReadByTool", "Form"] {
        reach(&[(kind, "answered Cancelled Expired Closed ShutDown")]);
    }
}

#[test]
fn i02_answer_repeats_the_id_as_written() {
    for id in IDS {
        let starts = |sent: &[String]| {
            let want = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            assert!(sent.len() == 1 && sent[0].starts_with(&want), "{id}: {sent:?}");
        };
        let mut bench = Bench::opened(config(), NEWEST);
        starts(&bench.ask(id, "ping"));
        starts(&bench.ask(id, "tools/list"));
        bench.events();
        starts(&bench.ask(id, "nobody"));
        starts(&bench.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":7}}"#)));
        bench.events();
        for (at, kind) in (1..).zip(KINDS) {
            let call = open(&mut bench, id, kind);
            bench.server.respond_with(call, &ToolResult::text("x"), &mut bench.out).unwrap();
            starts(&bench.out.take());
            let call = open(&mut bench, id, kind);
            bench.server.fail(call, ErrorObject::new(-1, "no"), &mut bench.out).unwrap();
            starts(&bench.out.take());
            open(&mut bench, id, kind);
            starts(&bench.at(at * 60_000).1);
        }
    }
}

#[test]
fn i02_answer_to_a_form_repeats_the_id() {
    for (at, id) in (1..).zip(IDS) {
        let starts = |sent: &[String]| {
            let want = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            assert!(sent.len() == 1 && sent[0].starts_with(&want), "{id}: {sent:?}");
        };
        let mut agent = forms();
        starts(&agent.receive(&kind_text(id, ("roots/list", "{}"))));
        let call = open_form(&mut agent, id);
        starts(&decline(&mut agent, call).1);
        let call = open_form(&mut agent, id);
        agent.client.fail(call, ErrorObject::new(-1, "no"), &mut agent.out).unwrap();
        starts(&agent.out.take());
        open_form(&mut agent, id);
        starts(&agent.at(at * FORM_DUE).1);
    }
}

#[test]
fn i03_duplicate_of_an_open_id_is_refused() {
    reach(&[("answer", "-32600")]);
    // The rule holds within a batch too.
    let mut bench = Bench::opened(config(), "2025-03-26");
    let sent =
        bench.receive(&format!("[{},{}]", call_text("7", "never", None), call_text("7.0", "plain", None)));
    assert_eq!(
        sent,
        [
            r#"[{"jsonrpc":"2.0","id":7.0,"error":{"code":-32600,"message":"a request with this id is open"}}]"#
        ]
    );
    for (kind, again) in KINDS.iter().flat_map(|kind| KINDS.map(|again| (*kind, again))) {
        let mut bench = Bench::opened(config(), NEWEST);
        let call = open(&mut bench, "7", kind);
        assert!(bench.receive(&kind_text("7.0", again))[0].contains("-32600"), "{again:?} beside {kind:?}");
        assert_eq!(
            (bench.events().len(), bench.server.is_open(call)),
            (0, true),
            "{again:?} beside {kind:?}"
        );
    }
}

#[test]
fn i04_handle_answers_only_its_own_call() {
    let refused = "Answered Cancelled Closed Expired Unknown";
    reach(&[("refused", refused), ("race:", "cancelled_then_id_again_then_answered")]);
}

#[test]
fn i05_cancelled_call_is_never_answered() {
    reach(&[("race:", "cancelled_then_answered cancelled_then_progress")]);
}

#[test]
fn i06_cancellation_ends_only_the_named_call() {
    reach(&[
        ("call ended", "Cancelled"),
        ("race:", "cancelled_twice answered_then_cancelled cancelled_unknown_id"),
    ]);
    // A request of the server with the same number stays open.
    let mut bench = Bench::ready();
    request(&mut bench, "roots/list", Timeout::Never);
    bench.cancel("1");
    assert_eq!((bench.events().len(), bench.server.open_requests()), (0, 1));
}

#[test]
fn i07_initialize_is_never_cancelled() {
    let cancel = |id| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    let mut bench = Bench::new();
    bench.receive(&cancel("0"));
    assert_eq!(bench.receive(INITIALIZE).len(), 1);
    bench.receive(&cancel("0"));
    bench.receive(INITIALIZED);
    assert_eq!(bench.events(), ["ready"]);
}

#[test]
fn i08_a_notification_is_never_answered_nor_executed() {
    const METHODS: &str = "tools/call tools/list initialize ping server/discover logging/setLevel \
        resources/read prompts/get roots/list elicitation/create notifications/cancelled notifications/progress notifications/initialized \
        ide_connected rpc.x";
    const PARAMS: &str = r#"{} null [] {"name":"plain"} {"name":"p"} {"uri":"r://1"} 7"#;
    let params = PARAMS.split(' ').map(|params| format!(r#","params":{params}"#));
    let params: Vec<String> = params.chain([String::new()]).collect();
    for method in METHODS.split(' ').chain([""]) {
        for params in &params {
            let mut initializing = Bench::with(config());
            initializing.receive(INITIALIZE);
            for mut bench in [Bench::with(config()), initializing, Bench::opened(config(), NEWEST)] {
                assert_eq!(
                    bench.receive(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#)),
                    [""; 0],
                    "{method} {params}"
                );
                bench.events();
                assert_eq!((bench.server.open_calls(), bench.out.take().len()), (0, 0), "{method} {params}");
            }
        }
    }
    reach(&[("violation", "RequestWithoutId")]);
}

#[test]
fn i09_garbage_without_a_readable_id_is_unanswered() {
    let members = [
        r#""jsonrpc":"2.0""#,
        r#""id":7"#,
        r#""method":"ping""#,
        r#""method":7"#,
        r#""method":null"#,
        r#""jsonrpc":"1.0""#,
        r#""id":null"#,
        r#""id":1.5"#,
        r#""id":"x""#,
        r#""params":[]"#,
        r#""result":{}"#,
        r#""error":{}"#,
        r#""x":[{"y":9}]"#,
    ];
    let answered = RefCell::new(0);
    arbtest::arbtest(|u| {
        let mut picked = members[..3].to_vec();
        for _ in 0..u.int_in_range(0..=3)? {
            let member = *u.choose(&members)?;
            let at = u.choose_index(picked.len())?;
            match u.int_in_range(0..=2)? {
                0 => picked.insert(at, member),
                1 => picked[at] = member,
                _ if picked.len() > 1 => drop(picked.remove(at)),
                _ => {}
            }
        }
        let mut text = format!("{{{}}}", picked.join(","));
        if u.ratio(1, 3)? {
            let at = u.choose_index(text.len())?;
            text.remove(at);
        }
        let mut bench = Bench::ready();
        let sent = bench.receive(&text);
        assert!(sent.len() <= 1, "{text}: {sent:?}");
        if let [answer] = &sent[..] {
            *answered.borrow_mut() += 1;
            // The message has one readable id, and the answer repeats that id.
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let id = &value["id"];
            assert!(id.is_i64() || id.is_string(), "{text}: {answer}");
            assert_eq!(text.matches(r#"{"id":"#).count() + text.matches(r#","id":"#).count(), 1, "{text}");
            assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{text}: {answer}");
        }
        Ok(())
    })
    .budget_ms(500);
    assert!(*answered.borrow() > 0);
}

#[test]
fn i10_sent_messages_follow_their_protocol_version() {
    reach(&[("progress", "sent")]);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut bench = Bench::opened(config(), version);
        bench.receive(&call_text("5", "never", Some("\"p\"")));
        let call = called(&mut bench);
        let input = Progress::new(1.0).of(f64::NAN).message("text");
        bench.server.progress(call, &input, &mut bench.out).unwrap();
        let text = bench.out.take().concat();
        assert_eq!(text.contains(r#""message":"text""#), version != "2024-11-05", "{text}");
        assert!(!text.contains("total"), "{text}");
    }
}

#[test]
fn i11_control_traffic_never_waits_for_the_application() {
    let mut bench = Bench::ready();
    request(&mut bench, "roots/list", Timeout::Default);
    for id in 1..=256 {
        bench.call(&id.to_string(), "never");
    }
    for (method, answer) in
        [("ping", "\"result\":{}"), ("server/discover", "-32601"), ("tools/list", "tools")]
    {
        let sent = bench.ask("\"c\"", method);
        assert!(sent.len() == 1 && sent[0].contains(answer), "{method}: {sent:?}");
    }
    bench.receive(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    bench.cancel("9");
    assert_eq!(bench.events(), ["tools listed", "result {}", "ended Cancelled why"]);
    assert_eq!(bench.server.open_calls(), 255);
}

#[test]
fn i12_forgotten_call_is_answered_at_its_deadline() {
    reach(&[("call ended", "Expired"), ("refused", "Expired")]);
    for kind in KINDS {
        let mut bench = Bench::opened(config(), NEWEST);
        let call = open(&mut bench, "7", kind);
        assert_eq!(bench.at(CALL - 1), (vec![], vec![]), "{kind:?}");
        let (events, sent) = bench.at(CALL);
        assert_eq!((&events[..], sent.len()), (&["ended Expired".to_owned()][..], 1), "{kind:?}: {sent:?}");
        let late = bench.server.respond_with(call, &ToolResult::text("x"), &mut bench.out);
        assert_eq!((late, bench.out.take().len()), (Err(NotAnswered::Expired), 0), "{kind:?}");
    }
    // Progress extends the deadline, but not beyond the limit; the application can set another
    // timeout.
    let mut config = config();
    config.longest_call = Duration::from_secs(70);
    let mut bench = Bench::opened(config, NEWEST);
    let call = bench.call("7", "plain");
    for (at, end) in [(20_000, 50_000), (40_000, 70_000), (60_000, 70_000)] {
        bench.at(at);
        progress(&mut bench, call, f64::from(u32::try_from(at).unwrap()));
        assert_eq!(due(&bench), Some(end));
        progress(&mut bench, call, 1.0);
        assert_eq!(due(&bench), Some(end), "progress that does not grow does not count");
    }
    let wait = |bench: &mut Bench, timeout| bench.server.set_call_timeout(call, timeout).unwrap();
    wait(&mut bench, Timeout::Never);
    assert_eq!(due(&bench), None);
    wait(&mut bench, Timeout::After(Duration::from_secs(1)));
    assert_eq!(due(&bench), Some(61_000));
    bench.at(60_500);
    progress(&mut bench, call, 100_000.0);
    assert_eq!(due(&bench), Some(61_000), "progress does not extend a fixed timeout");
    wait(&mut bench, Timeout::Progress { idle: Duration::from_secs(2), total: Duration::from_secs(3) });
    assert_eq!(due(&bench), Some(62_500));
    bench.at(62_000);
    progress(&mut bench, call, 100_001.0);
    assert_eq!(due(&bench), Some(63_500));
    wait(&mut bench, Timeout::Default);
    assert_eq!(due(&bench), Some(92_000));

    // Changes of the timeout do not change the answer to a late call: it is the answer that its tool
    // has for that case.
    let mut bench = Bench::ready();
    let call = bench.call("7", "soon");
    for timeout in [Timeout::Never, Timeout::After(Duration::from_millis(7))] {
        bench.server.set_call_timeout(call, timeout).unwrap();
    }
    let none = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
    assert_eq!(bench.at(7), (vec!["ended Expired".to_owned()], vec![none.to_owned()]));
}

#[test]
fn i12_forgotten_form_is_answered_at_its_deadline() {
    let mut agent = forms();
    for begin in [0, FORM_DUE] {
        let call = open_form(&mut agent, "7");
        assert_eq!(agent.at(begin + FORM_DUE - 1), (vec![], vec![]));
        let (ends, sent) = agent.at(begin + FORM_DUE);
        assert_eq!((&ends[..], sent.len()), (&["ended Expired".to_owned()][..], 1));
        assert!(sent[0].contains("-32603"), "{sent:?}");
        assert_eq!(decline(&mut agent, call), (Err(NotAnswered::Expired), vec![]));
    }
}

#[test]
fn i13_each_request_of_ours_has_one_outcome() {
    let ends = "Result Error Malformed TimedOut Cancelled Closed";
    reach(&[("outcome", ends), ("form", ends)]);
}

#[test]
fn i15_late_and_unknown_answers_are_harmless() {
    reach(&[("violation", "LateResponse UnknownResponse")]);
}

#[test]
fn i16_ids_are_numbers_that_grow() {
    // The model checks every id; in addition, the end of a request does not free its id.
    reach(&[("outcome", "Cancelled")]);
    let mut bench = Bench::ready();
    for id in 1..=1_000 {
        let (pending, text) = request(&mut bench, "roots/list", Timeout::Never);
        assert!(text.contains(&format!(r#""id":{id},"#)), "{text}");
        assert!(bench.server.cancel(pending, None, &mut bench.out));
        bench.out.take();
    }
}

#[test]
fn i17_abandoned_request_is_cancelled_once() {
    reach(&[("cancelled", "sent")]);
    // A refused request was never sent, so it has no timeout and no cancellation.
    let mut bench = Bench::ready();
    bench.out.full = true;
    let pending = bench.server.request("roots/list", None::<&()>, Timeout::Default, &mut bench.out);
    assert_eq!(pending, Err(NotSent::Full));
    assert_eq!(bench.at(600_000), (vec![], vec![]));
}

#[test]
fn i18_progress_grows_and_ends_with_its_call() {
    reach(&[("progress", "sent"), ("race:", "cancelled_then_progress")]);
}

#[test]
fn i18_progress_of_our_requests_is_matched() {
    let span = Duration::from_millis;
    let mut bench = Bench::ready();
    let timeout = Timeout::Progress { idle: span(100), total: span(250) };
    assert_eq!(
        request(&mut bench, "elicitation/create", timeout).1,
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"progressToken":1}}}"#
    );
    request(&mut bench, "roots/list", Timeout::Never);
    let report = |bench: &mut Bench, at: u64, token: &str, progress: &str| {
        assert_eq!(bench.at(at).0, [""; 0]);
        bench.receive(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
        ));
        bench.events().concat()
    };
    assert_eq!(report(&mut bench, 90, "1", "1"), "progress 1");
    assert_eq!(due(&bench), Some(190), "the clock starts again");
    assert_eq!(report(&mut bench, 100, "1", "1.0"), "violation StaleProgress");
    assert_eq!(report(&mut bench, 100, "2", "5"), "violation UnknownProgress", "the request had no token");
    assert_eq!(report(&mut bench, 100, "\"x\"", "5"), "violation UnknownProgress");
    assert_eq!(report(&mut bench, 100, "1", "\"5\""), "violation UnknownProgress", "no number");
    assert_eq!(report(&mut bench, 180, "\"1\"", "1.5"), "progress 1.5");
    assert_eq!(due(&bench), Some(250), "but not beyond the total");
    assert_eq!(report(&mut bench, 240, "1", "9"), "progress 9");
    assert_eq!(bench.at(250).0, ["outcome TimedOut"]);
    assert_eq!(report(&mut bench, 250, "1", "10"), "violation UnknownProgress");
}

#[test]
fn i19_each_call_has_its_own_deadline() {
    let mut bench = Bench::ready();
    let still = bench.call("1", "plain");
    bench.at(10_000);
    let other = bench.call("2", "plain");
    for at in [15_000, 20_000, CALL - 1] {
        bench.at(at);
        progress(&mut bench, other, f64::from(u32::try_from(at).unwrap()));
        bench.ask("5", "ping");
        assert_eq!(due(&bench), Some(CALL.into()));
    }
    assert_eq!(bench.at(CALL).0, ["ended Expired"]);
    assert!(!bench.server.is_open(still) && bench.server.is_open(other));
}

#[test]
fn i20_every_offer_gets_a_supported_version() {
    // The server accepts each supported version. It answers every other offer with the newest one: a version without a
    // handshake, one that was withdrawn, or one that never existed.
    const OFFERS: &str = r#""2024-11-05" "2025-03-26" "2025-06-18" "2025-11-25" "2026-07-28" "2024-10-07" "1999-01-01" "" null 7 {} [] "\ud83d" "2025\u002d11-25""#;
    let offers = OFFERS.split(' ').map(|offer| (offer, format!(r#"{{"protocolVersion":{offer}}}"#)));
    for (offer, params) in offers.chain([("", "null".into()), ("", "{}".into())]) {
        let mut bench = Bench::new();
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
        let sent = bench.receive(&text).concat();
        let version = bench.server.protocol_version().unwrap();
        let want = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","#);
        assert!(sent.starts_with(&want), "{params}: {sent}");
        let is_supported = ["2024-11-05", "2025-03-26", "2025-06-18"].contains(&offer.trim_matches('"'));
        let expected = if is_supported { offer.trim_matches('"') } else { NEWEST };
        assert_eq!(version.as_str(), expected, "{params}");
    }
}

#[test]
fn i21_requests_before_initialized_are_served() {
    let mut bench = Bench::initializing();
    assert!(bench.ask("1", "tools/list")[0].contains("\"tools\""));
    assert_eq!(bench.events(), ["tools listed"]);
    let call = bench.call("2", "plain");
    assert_eq!(bench.server.respond(call, &ToolResult::text("x"), &mut bench.out), Ok(()));
}

#[test]
fn i22_discover_is_answered_in_every_state() {
    // `j12_each_state_permits_its_messages` has the answer in each state. The session opens afterwards.
    let mut bench = Bench::new();
    assert!(bench.ask("\"probe\"", "server/discover")[0].contains("-32601"));
    assert!(bench.receive(INITIALIZE)[0].contains("protocolVersion"));
}

#[test]
fn i23_a_second_initialize_changes_nothing() {
    let mut bench = Bench::ready();
    let before = (bench.server.protocol_version(), bench.server.client().cloned());
    let again = INITIALIZE.replace("2025-11-25", "2024-11-05").replace("agent", "other");
    assert!(bench.receive(&again)[0].contains("-32600"));
    assert_eq!((bench.server.protocol_version(), bench.server.client().cloned()), before);
    assert_eq!(bench.events(), [""; 0]);
}

#[test]
fn i24_nothing_of_a_later_version_is_sent() {
    // The server declares everything that can be declared.
    let mut config = crate::mcp_support::config();
    config.logging = Some(ide_mcp::mcp::LogLevel::Debug);
    config.capabilities.insert("completions".into(), "{}".into());
    config.capabilities.insert("resources".into(), "no JSON".into());
    config.capabilities.insert("x-list".into(), "[1]".into());
    config.capabilities.insert("tools".into(), r#"{"of":"its own"}"#.into());
    config.capabilities.insert("logging".into(), "{}".into());
    let mut bench = Bench::with(config);
    let mut sent = bench.receive(&INITIALIZE.replace("2025-11-25", "2026-07-28"));
    let declared = r#""capabilities":{"tools":{"listChanged":true},"logging":{},"completions":{},"resources":{},"x-list":{}}"#;
    assert!(sent[0].contains("2025-11-25") && sent[0].contains(declared), "{sent:?}");
    for method in ["server/discover", "subscriptions/listen", "tools/list", "resources/list", "prompts/list"]
    {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
        );
        sent.extend(bench.receive(&text));
    }
    for later in
        ["resultType", "ttlMs", "cacheScope", "io.modelcontextprotocol/", "-32020", "-32021", "-32022"]
    {
        assert!(!sent.concat().contains(later), "{later}: {sent:?}");
    }
}

#[test]
fn i25_lists_are_answered_unknown_tools_refused() {
    let mut bench = Bench::ready();
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for params in ["", r#","params":null"#, r#","params":{"cursor":null}"#, r#","params":{"cursor":""}"#]
        {
            let sent = bench.receive(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#));
            assert!(sent.len() == 1 && sent[0].contains("\"result\""), "{method}{params}: {sent:?}");
        }
        let sent = bench.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"cursor":"made up"}}}}"#
        ));
        assert!(sent[0].contains("-32602"), "{method}: {sent:?}");
    }
    bench.events();
    bench.call("5", "never");
    assert!(bench.receive(&call_text("6", "nobody", None))[0].contains("-32602"));
}

#[test]
fn i27_ended_calls_and_requests_hold_no_memory() {
    let mut bench = Bench::ready();
    let one = |bench: &mut Bench, n: u32| {
        let call = bench.call(&format!("\"{n}\""), "plain");
        bench.server.respond(call, &ToolResult::text("x"), &mut bench.out).unwrap();
        let request = bench.server.request("ping", None::<&()>, Timeout::Default, &mut bench.out).unwrap();
        bench.server.cancel(request, None, &mut bench.out);
        bench.receive("{}");
        bench.events();
        bench.out = Messages::default();
    };
    let held = |bench: &mut Bench, count: u32| {
        let measured = allocation_counter::measure(|| (0..count).for_each(|n| one(bench, n)));
        measured.bytes_current
    };
    held(&mut bench, 1_000);
    let (few, many) = (held(&mut bench, 100), held(&mut bench, 10_000));
    assert_eq!((few, many), (0, 0), "bytes that are not freed");
    assert_eq!((bench.server.open_calls(), bench.server.open_requests()), (0, 0));
}

#[test]
fn i28_call_above_the_limit_is_refused() {
    let mut bench = Bench::opened(config(), NEWEST);
    let text = |id: usize| kind_text(&id.to_string(), KINDS[id % KINDS.len()]);
    for id in 1..=256 {
        assert_eq!(bench.receive(&text(id)), [""; 0]);
    }
    let open = called(&mut bench);
    for id in 995..1_000 {
        assert!(bench.receive(&text(id))[0].contains("-32603"), "{}", text(id));
    }
    bench.server.fail(open, ErrorObject::new(-1, "no"), &mut bench.out).unwrap();
    bench.out.take();
    assert_eq!(bench.receive(&text(998)), [""; 0]);
    reach(&[("prompts/get", "-32603"), ("resources/read", "-32603"), ("elicitation/create", "-32603")]);
}

#[test]
fn i28_form_above_the_limit_is_refused() {
    let mut agent = forms();
    let first = open_form(&mut agent, "1");
    for id in 2..=256 {
        open_form(&mut agent, &id.to_string());
    }
    assert!(ask_form(&mut agent, "257")[0].contains("-32603"));
    // The client answers other requests at the limit.
    for method in ["ping", "roots/list"] {
        assert!(agent.receive(&kind_text("258", (method, "{}")))[0].contains("result"), "{method}");
    }
    assert_eq!(decline(&mut agent, first).0, Ok(()));
    open_form(&mut agent, "257");
    assert!(ask_form(&mut agent, "259")[0].contains("-32603"));
}

#[test]
fn i29_messages_are_sent_in_call_order() {
    let mut bench = Bench::ready();
    let [first, second] = ["1", "2"].map(|id| bench.call(id, "never"));
    let result = ToolResult::text("x");
    bench.server.respond(second, &result, &mut bench.out).unwrap();
    bench.server.notify("n", None::<&()>, &mut bench.out).unwrap();
    bench.server.request("r", None::<&()>, Timeout::Never, &mut bench.out).unwrap();
    bench.server.respond(first, &result, &mut bench.out).unwrap();
    bench.server.notify("n", None::<&()>, &mut bench.out).unwrap();
    let wanted =
        [r#""id":2,"result""#, r#""method":"n""#, r#""method":"r""#, r#""id":1,"result""#, r#""method":"n""#];
    let sent = bench.out.take();
    assert_eq!(sent.len(), wanted.len(), "{sent:?}");
    for (sent, wanted) in sent.iter().zip(wanted) {
        assert!(sent.contains(wanted), "{sent}, not {wanted}");
    }
}

#[test]
fn i31_tools_change_is_announced_only_once() {
    let mut bench = Bench::ready();
    let announce = |bench: &mut Bench| {
        let record = bench.server.tools_list_changed(&mut bench.out);
        (record, bench.out.take().len())
    };
    for _ in 0..3 {
        assert_eq!(announce(&mut bench), (Ok(false), 0), "nothing has changed");
    }
    bench.server.tools_mut().add("one");
    assert_eq!(announce(&mut bench), (Ok(true), 1));
    bench.server.tools_mut().add("two");
    assert_eq!(announce(&mut bench), (Ok(false), 0), "the client is about to list, and gets both");
    bench.ask("5", "tools/list");
    bench.events();
    assert_eq!(announce(&mut bench), (Ok(false), 0), "the client has the list");
    bench.server.tools_mut().add("three");
    assert_eq!(announce(&mut bench), (Ok(true), 1));
}

#[test]
fn i32_closing_ends_everything_exactly_once() {
    reach(&[("call ended", "Closed"), ("refused", "Closed"), ("form", "Closed")]);
}

#[test]
fn i33_closed_session_reports_it_at_once() {
    let mut bench = Bench::ready();
    bench.call("5", "never");
    assert!(!bench.server.is_closed());
    bench.server.close();
    assert!(bench.server.is_closed() && !bench.server.is_ready(), "before its events are polled");
    assert_eq!(bench.server.notify("n", None::<&()>, &mut bench.out), Err(NotSent::Closed));
}

#[test]
fn i34_one_ping_with_its_own_deadline() {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let nothing = || (Vec::<String>::new(), Vec::<String>::new());
    let due = |bench: &Bench| due(bench).unwrap();

    let mut config = config();
    config.keepalive = Some(Keepalive::JSON_RPC);
    let mut bench = Bench::with(config);
    bench.receive(INITIALIZE);
    assert_eq!(bench.server.deadline(), None, "not before the session is open");

    let mut bench = Bench::pinging();
    assert_eq!(due(&bench), 5_000);
    assert_eq!(bench.at(4_999), nothing());
    assert_eq!(bench.at(5_000), (vec![], vec![PING.to_owned()]));
    assert_eq!((due(&bench), bench.server.open_requests()), (8_000, 1));
    bench.now = Time::from_millis(7_999);
    bench
        .receive(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"an error is an answer too"}}"#);
    assert_eq!(bench.events(), [""; 0]);
    assert_eq!((due(&bench), bench.server.open_requests()), (12_999, 0));

    let mut bench = Bench::pinging();
    bench.at(5_000);
    assert_eq!(bench.at(7_999), nothing());
    assert_eq!(bench.at(8_000), (vec!["unresponsive".to_owned()], vec![]));
    assert_eq!((bench.server.deadline(), bench.server.open_requests()), (None, 0), "reported once");

    // After a sleep the side pings again before it gives up.
    let mut bench = Bench::pinging();
    bench.at(5_000);
    assert_eq!(bench.at(3_600_000), (vec![], vec![PING.replace(":1,", ":2,")]));
    assert_eq!((due(&bench), bench.server.open_requests()), (3_603_000, 1));

    // Any message counts as an answer.
    let mut bench = Bench::pinging();
    bench.at(5_000);
    bench.now = Time::from_millis(6_000);
    bench.ask("9", "ping");
    assert_eq!(due(&bench), 11_000);
    // The late answer to the ping is not a violation, and there is never a second ping in flight.
    bench.receive(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!((bench.events(), bench.server.open_requests()), (vec![], 0));
    bench.at(11_000);
    bench.ask("9", "ping");
    bench.at(16_000);
    assert_eq!(bench.server.open_requests(), 1);

    // Without room in the send buffer there is no ping; the next one follows later.
    let mut bench = Bench::pinging();
    bench.out.full = true;
    assert_eq!(bench.at(5_000), nothing());
    assert_eq!(due(&bench), 10_000);
    bench.out.full = false;
    assert_eq!(bench.at(10_000).1.len(), 1);

    // The application has as many requests in flight as the limit permits. The ping does not count
    // among them and takes no place.
    let mut config = crate::mcp_support::config();
    config.keepalive = Some(Keepalive::JSON_RPC);
    config.limits.requests = 2;
    let mut bench = Bench::opened(config, NEWEST);
    let ask = |bench: &mut Bench| {
        let pending = bench.server.request("r", None::<&()>, Timeout::Never, &mut bench.out).map(drop);
        bench.out.take();
        pending
    };
    assert_eq!((ask(&mut bench), ask(&mut bench)), (Ok(()), Ok(())));
    let (events, sent) = bench.at(5_000);
    assert_eq!((events, sent), (vec![], vec![PING.replace(":1,", ":3,")]));
    assert_eq!((ask(&mut bench), bench.server.open_requests()), (Err(NotSent::TooManyInFlight), 3));
    bench.receive(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(ask(&mut bench), Ok(()), "while the ping is in flight");
    assert_eq!(ask(&mut bench), Err(NotSent::TooManyInFlight));
    bench.receive(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(ask(&mut bench), Err(NotSent::TooManyInFlight), "the end of the ping frees no place");

    // A poll to `None` terminates even at the last time that the clock can show, and even if the
    // interval of the pings is zero.
    for every in [Duration::ZERO, Duration::from_secs(5)] {
        let mut config = crate::mcp_support::config();
        config.keepalive = Some(Keepalive::new(every, Duration::ZERO));
        for full in [false, true] {
            let mut bench = Bench::opened(config.clone(), NEWEST);
            bench.out.full = full;
            bench.at(u64::MAX);
            assert!(bench.server.deadline().is_none_or(|at| at > bench.now));
        }
    }
}

#[test]
fn i36_after_polling_the_next_deadline_lies_ahead() {
    // The model checks the deadline whenever time passes.
    reach(&[("call ended", "Expired"), ("outcome", "TimedOut")]);
}

/// A call that is decoded while it is parsed equals the call that is decoded from its raw
/// parameters.
#[test]
fn both_ways_of_decoding_a_call_agree() {
    let names = [
        r#""name":"typed""#,
        r#""name":"plain""#,
        r#""name":"nobody""#,
        r#""n\u0061me":"typed""#,
        r#""name":7"#,
    ];
    let arguments = [
        r#""arguments":{"n":7}"#,
        r#""arguments": {"n": 7, "x": [{}]}"#,
        r#""arguments":{"n":"7"}"#,
        r#""arguments":[7]"#,
        r#""arguments":null"#,
        r#""arguments":{"n":7,"n":8}"#,
        r#""arguments":{"n":7},"arguments":{"n":8}"#,
        r#""x":1"#,
    ];
    let metas = [
        None,
        Some(r#""_meta":{"progressToken":"t"}"#),
        Some(r#""_meta":{"progressToken":null}"#),
        Some(r#""_meta":7"#),
    ];
    let result = |text: String| {
        let mut bench = Bench::ready();
        let sent = bench.receive(&text);
        let tool = match bench.poll() {
            Some(ServerEvent::Call { call, tool }) => {
                let progress = bench.server.progress(call, &Progress::new(1.0), &mut bench.out);
                format!("{tool:?} {progress:?} {:?}", bench.out.take())
            }
            other => format!("{other:?}"),
        };
        (sent, tool)
    };
    let mut counts = [0, 0];
    for name in names {
        for (arguments, meta) in arguments.iter().flat_map(|arguments| metas.map(|meta| (*arguments, meta))) {
            let mut members: Vec<&str> = [name, arguments].into_iter().chain(meta).collect();
            for _ in 0..2 {
                members.reverse();
                let params = format!(r#""params":{{{}}}"#, members.join(","));
                let one = result(format!(r#"{{"method":"tools/call",{params},"jsonrpc":"2.0","id":5}}"#));
                let other = result(format!(r#"{{{params},"method":"tools/call","jsonrpc":"2.0","id":5}}"#));
                assert_eq!(one, other, "{params}");
                counts[usize::from(one.0.is_empty())] += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "refused and taken: {counts:?}");
}

#[test]
fn each_invariant_and_row_has_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    let named = |id: &str| {
        let mut lines = all.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().copied().unwrap_or_default();
            if line == "#[test]" && next.starts_with(&format!("fn {id}_")) {
                return true;
            }
        }
        false
    };
    let rows = (1..=13).map(|n| format!("j{n:02}"));
    let ids = (1..=38).map(|n| format!("i{n:02}")).chain(rows);
    let missing: Vec<String> = ids.filter(|id| !named(id)).collect();
    assert!(missing.is_empty(), "without a test: {missing:?}");
    assert!(!named("i39"), "the scan finds what is not there");
}
