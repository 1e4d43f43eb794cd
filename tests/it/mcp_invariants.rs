//! The invariants of a session, I1 to I38, each with a test that has the number in its name. The
//! invariants of the dialect (I26, I30, I35, I37, I38) are tested with the dialect. The last test
//! here checks that each invariant has a test, and each of the rows J1 to J13 of the acceptance
//! table.
//!
//! Most tests are properties: a random script of actions of a client, the application and the clock
//! runs under the model of `crate::mcp_support::watch`, which stops at the first broken invariant.
//! `arbtest` prints the seed of a failure.

use std::{cell::RefCell, time::Duration};

use crate::mcp_support::{
    Bench, INITIALIZE, INITIALIZED, Messages, TestTools,
    peer::{Happened, Peer},
    rules,
    watch::{Ask, Hits, Meaning, Watch},
};
use arbitrary::Unstructured;
use ide_mcp::Keepalive;
use ide_mcp::{
    Time,
    mcp::{
        Client, ClientConfig, Event, Forward, Implementation, Outcome, Progress, ProtocolVersion, Server,
        ServerConfig, Timeout, ToolResult,
    },
    rpc::{NotOpen, NotSent, SessionId},
};

/// Ids of both types. `7` and `7.0` are two spellings of one id, and `"7"` is another id.
const IDS: &[&str] = &["0", "7", "7.0", "\"7\"", "\"\"", "-1", "9007199254740993"];
const TOOLS: &[&str] = &["plain", "soon", "never"];

/// An action of a script.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// The client calls a tool.
    Call,
    /// The client calls a tool and requests progress.
    CallWithProgress,
    /// The client sends another request, which the server serves or forwards, or does not know.
    Request,
    /// The client cancels an id.
    Cancel,
    /// The application answers a call, open or not.
    Answer,
    /// The application reports the progress of a call.
    Progress,
    /// The application sends a request.
    Ask,
    /// The application cancels a request.
    GiveUp,
    /// The client answers a request of the server: one in flight, one that has ended, or one that
    /// never was.
    Reply,
    /// The client sends an invalid message.
    Garbage,
    /// The client sends a notification.
    Notification,
    /// Time passes.
    Wait,
    /// The session drains, shuts down or closes.
    End,
}

use Op::*;

const ALL: &[Op] = &[
    Call,
    CallWithProgress,
    Request,
    Cancel,
    Answer,
    Answer,
    Progress,
    Ask,
    GiveUp,
    Reply,
    Garbage,
    Notification,
    Wait,
    End,
];

fn config() -> ServerConfig {
    let mut config = ServerConfig::new(Implementation::new("editor", "1"));
    config.forward = Forward::Methods(vec!["x/raw".into()]);
    config
}

/// Returns a server that a client of this version has opened.
fn watched(config: ServerConfig, version: &str) -> Watch<Server<TestTools>> {
    let mut watch = Watch::new(Server::new(config, TestTools::default(), SessionId::new(1)));
    watch.hear(&INITIALIZE.replace("2025-11-25", version), &Meaning::ask("0"));
    watch.hear(INITIALIZED, &Meaning::nothing());
    watch.opened_by = Some("0".into());
    watch
}

fn call_text(id: &str, tool: &str, token: Option<&str>) -> String {
    let meta = token.map(|token| format!(r#","_meta":{{"progressToken":{token}}}"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"{meta}}}}}"#)
}

fn play(watch: &mut Watch<Server<TestTools>>, op: Op, u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let id = *u.choose(IDS)?;
    match op {
        Call => {
            watch.hear(&call_text(id, u.choose(TOOLS)?, None), &Meaning::ask(id));
        }
        CallWithProgress => {
            // Each call has its own token, as the specification requires.
            let token = format!("\"t{}\"", watch.calls().len());
            let ask = Ask { id: id.into(), progress: Some(token.clone()) };
            let text = call_text(id, u.choose(TOOLS)?, Some(&token));
            watch.hear(&text, &Meaning { asks: vec![ask], ..Meaning::nothing() });
        }
        Request => {
            let method =
                u.choose(&["ping", "tools/list", "x/raw", "nobody", "server/discover", "initialize"])?;
            watch.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#), &Meaning::ask(id));
        }
        Cancel => {
            let text = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            );
            watch.hear(&text, &Meaning::cancel(id));
        }
        Answer => {
            let foreign = watched(config(), "2025-11-25");
            let mut calls = watch.calls();
            calls.extend(foreign.calls());
            if !calls.is_empty() {
                let _ = watch.answer(*u.choose(&calls)?, u.arbitrary()?);
            }
        }
        Progress => {
            let calls = watch.calls();
            if !calls.is_empty() {
                let reached = f64::from(u.int_in_range(0..=5)?);
                watch.progress(*u.choose(&calls)?, &Progress::new(reached));
            }
        }
        Ask => {
            let timeout =
                *u.choose(&[Timeout::Default, Timeout::Never, Timeout::After(Duration::from_secs(1))])?;
            watch.ask("roots/list", timeout);
        }
        GiveUp => {
            let requests = watch.requests();
            if !requests.is_empty() {
                watch.cancel(*u.choose(&requests)?);
            }
        }
        Reply => {
            let serial = u.int_in_range(0..=watch.last_id() + 2)?;
            let answer = u.choose(&[
                r#""result":{}"#,
                r#""error":{"code":-1,"message":"no"}"#,
                r#""result":{},"error":null"#,
                r#""result":{},"error":{}"#,
            ])?;
            let quote = if u.ratio(1, 8)? { "\"" } else { "" };
            let text = format!(r#"{{"jsonrpc":"2.0","id":{quote}{serial}{quote},{answer}}}"#);
            watch.hear(&text, &Meaning::nothing());
        }
        Garbage => {
            let text =
                u.choose(&["garbage", "[]", "null", "{}", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#])?;
            watch.hear(text, &Meaning::nothing());
        }
        Notification => {
            let method =
                u.choose(&["x/note", "tools/call", "notifications/initialized", "notifications/progress"])?;
            watch.hear(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#), &Meaning::nothing());
        }
        Wait => {
            let millis = *u.choose(&[0, 1, 399, 400, 1_000, 30_000])?;
            watch.at(watch.now.saturating_add(Duration::from_millis(millis)));
        }
        End => match u.int_in_range(0..=24)? {
            0 => watch.drain(),
            1 => watch.shutdown(),
            2 => watch.close(),
            _ => {}
        },
    }
    Ok(())
}

/// Runs random scripts of these actions, and closes the session at the end of each. Each entry of
/// `must` has to happen in at least one script.
fn scripts(ops: &[Op], must: &[&str]) {
    let hits = RefCell::new(Hits::new());
    let missed = || must.iter().filter(|what| !hits.borrow().contains_key(**what)).collect::<Vec<_>>();
    // A slow computer needs more than one round.
    for _ in 0..10 {
        arbtest::arbtest(|u| {
            let mut watch = watched(config(), "2025-11-25");
            for _ in 0..u.int_in_range(1..=60)? {
                let op = *u.choose(ops)?;
                play(&mut watch, op, u)?;
            }
            watch.close();
            for (what, count) in &watch.hits {
                *hits.borrow_mut().entry(what.clone()).or_default() += count;
            }
            Ok(())
        })
        .budget_ms(500);
        if missed().is_empty() {
            return;
        }
    }
    panic!("never happened: {:?}", missed());
}

#[test]
fn i01_every_request_ends_exactly_once() {
    let must = [
        "answer result",
        "answer -32600",
        "answer -32601",
        "call ended Cancelled",
        "call ended Expired",
        "call ended Closed",
        "call ended ShutDown",
    ];
    scripts(ALL, &must);
}

#[test]
fn i02_answer_repeats_the_id_as_written() {
    const TOKENS: &[&str] =
        &["1", "\"1\"", "0", "\"\"", "-1", "9007199254740993", "7.0", "1e2", "-0", r#""é\u0041""#];
    for id in TOKENS {
        let starts = |sent: &[String]| {
            let want = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            assert!(sent.len() == 1 && sent[0].starts_with(&want), "{id}: {sent:?}");
        };
        let mut bench = Bench::ready();
        starts(&bench.ask(id, "ping"));
        starts(&bench.ask(id, "tools/list"));
        bench.events();
        starts(&bench.ask(id, "nobody"));
        starts(&bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":7}}"#)));
        bench.events();
        let call = bench.call(id, "plain");
        bench.server.respond(call, &ToolResult::text("x"), &mut bench.out).unwrap();
        starts(&bench.out.take());
        let call = bench.call(id, "plain");
        bench.server.fail(call, -1, "no", &mut bench.out).unwrap();
        starts(&bench.out.take());
        bench.call(id, "soon");
        starts(&bench.at(60_000).1);
    }
}

#[test]
fn i03_duplicate_of_an_open_id_is_refused() {
    scripts(&[Call, Request, Answer, Answer, Cancel], &["answer -32600"]);
    // The rule holds within a batch too.
    let mut watch = watched(config(), "2025-03-26");
    let sent = watch.raw(&format!("[{},{}]", call_text("7", "never", None), call_text("7.0", "plain", None)));
    assert_eq!(
        sent,
        [
            r#"[{"jsonrpc":"2.0","id":7.0,"error":{"code":-32600,"message":"a request with this id is open"}}]"#
        ]
    );
}

#[test]
fn i04_handle_answers_only_its_own_call() {
    scripts(
        &[Call, Call, Answer, Answer, Answer, Cancel, Wait, End],
        &[
            "refused Answered",
            "refused Cancelled",
            "refused Expired",
            "race: cancelled, its id again, then answered",
        ],
    );
    let mut one = watched(config(), "2025-11-25");
    let mut other = Watch::new(Server::new(config(), TestTools::default(), SessionId::new(2)));
    other.hear(INITIALIZE, &Meaning::ask("0"));
    for watch in [&mut one, &mut other] {
        watch.hear(&call_text("7", "never", None), &Meaning::ask("7"));
    }
    let foreign = other.calls()[0];
    assert_eq!(one.answer(foreign, true), Err(NotOpen::Unknown));
}

#[test]
fn i05_cancelled_call_is_never_answered() {
    scripts(
        &[Call, CallWithProgress, Cancel, Answer, Progress, Wait],
        &["race: cancelled, then answered", "race: cancelled, then progress"],
    );
}

#[test]
fn i06_cancellation_ends_only_the_named_call() {
    scripts(
        &[Call, Ask, Cancel, Cancel, Answer],
        &[
            "call ended Cancelled",
            "race: cancelled twice",
            "race: answered, then cancelled",
            "race: cancelled what never was",
        ],
    );
    // A request of the server with the same number stays open.
    let mut watch = watched(config(), "2025-11-25");
    watch.ask("roots/list", Timeout::Never).unwrap();
    watch.hear(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        &Meaning::cancel("1"),
    );
    assert_eq!(watch.waiting(), 1);
}

#[test]
fn i07_initialize_is_never_cancelled() {
    let cancel = |id| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    let mut bench = Bench::new();
    bench.hear(&cancel("0"));
    assert_eq!(bench.hear(INITIALIZE).len(), 1);
    bench.hear(&cancel("0"));
    bench.hear(INITIALIZED);
    assert_eq!(bench.events(), ["ready"]);

    // Neither the timeout nor the end of the session sends a message.
    for end in [false, true] {
        let (mut client, mut out) = client(ClientConfig::new(Implementation::new("agent", "2")));
        client.start(Time::ZERO, &mut out).unwrap();
        assert_eq!(out.take().len(), 1);
        if end {
            client.close();
        }
        client.tick(Time::from_millis(30_000));
        assert!(matches!(client.poll(&mut out), Some(Happened::Failed)));
        assert_eq!(out.take(), [""; 0]);
    }
}

fn client(config: ClientConfig) -> (Client, Messages) {
    (Client::new(config, SessionId::new(2)), Messages::default())
}

#[test]
fn i08_a_notification_is_never_answered_nor_executed() {
    let methods = [
        "tools/call",
        "tools/list",
        "initialize",
        "ping",
        "server/discover",
        "logging/setLevel",
        "resources/read",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/initialized",
        "ide_connected",
        "",
        "rpc.x",
    ];
    let params = [
        "",
        r#","params":{}"#,
        r#","params":null"#,
        r#","params":[]"#,
        r#","params":{"name":"plain"}"#,
        r#","params":7"#,
    ];
    for method in methods {
        for params in params {
            for mut bench in [Bench::new(), Bench::initializing(), Bench::ready()] {
                assert_eq!(
                    bench.hear(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#)),
                    [""; 0],
                    "{method} {params}"
                );
                bench.events();
                assert_eq!((bench.server.open_calls(), bench.out.take().len()), (0, 0), "{method} {params}");
            }
        }
    }
    scripts(&[Notification, Call, Answer], &["violation RequestWithoutId"]);
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
        let sent = bench.hear(&text);
        assert!(sent.len() <= 1, "{text}: {sent:?}");
        if let [answer] = &sent[..] {
            *answered.borrow_mut() += 1;
            // The message has one readable id, and the answer repeats that id.
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let id = &value["id"];
            assert!(id.is_i64() || id.is_string(), "{text}: {answer}");
            assert_eq!(text.matches(r#"{"id":"#).count() + text.matches(r#","id":"#).count(), 1, "{text}");
            let [rules::Said::Answer { token, .. }] = &rules::check(answer, None)[..] else { unreachable!() };
            assert_eq!(*token, id.to_string(), "{text}");
        }
        Ok(())
    })
    .budget_ms(500);
    assert!(*answered.borrow() > 0);
}

#[test]
fn i10_sent_messages_follow_their_protocol_version() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        // The model checks each message as it is sent.
        arbtest::arbtest(|u| {
            let mut watch = watched(config(), version);
            for _ in 0..u.int_in_range(1..=40)? {
                let op = *u.choose(ALL)?;
                play(&mut watch, op, u)?;
            }
            Ok(())
        })
        .budget_ms(200);
        let mut watch = watched(config(), version);
        let ask = Ask { id: "5".into(), progress: Some("\"p\"".into()) };
        watch.hear(
            &call_text("5", "never", Some("\"p\"")),
            &Meaning { asks: vec![ask], ..Meaning::nothing() },
        );
        let said = Progress::new(1.0).of(f64::NAN).saying("text");
        watch.progress(watch.live_calls()[0], &said);
        let (text, _) = watch.outbox.last().unwrap();
        assert_eq!(text.contains(r#""message":"text""#), version != "2024-11-05", "{text}");
        assert!(!text.contains("total"), "{text}");
    }
}

#[test]
fn i11_control_traffic_never_waits_for_the_application() {
    let mut watch = watched(config(), "2025-11-25");
    let request = watch.ask("roots/list", Timeout::Default).unwrap();
    for id in 1..=256 {
        let id = id.to_string();
        watch.hear(&call_text(&id, "never", None), &Meaning::ask(&id));
    }
    for (method, answer) in
        [("ping", "\"result\":{}"), ("server/discover", "-32601"), ("tools/list", "tools")]
    {
        let sent = watch
            .hear(&format!(r#"{{"jsonrpc":"2.0","id":"c","method":"{method}"}}"#), &Meaning::ask("\"c\""));
        assert!(sent.len() == 1 && sent[0].contains(answer), "{method}: {sent:?}");
    }
    watch.hear(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &Meaning::nothing());
    assert!(
        matches!(watch.happened.last(), Some(Happened::Outcome(ended, Outcome::Result(_))) if *ended == request)
    );
    watch.hear(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        &Meaning::cancel("9"),
    );
    assert_eq!(watch.live_calls().len(), 255);
}

#[test]
fn i12_forgotten_call_is_answered_at_its_deadline() {
    scripts(&[Call, Wait, Answer, Progress], &["call ended Expired", "refused Expired"]);
    // Progress extends the deadline, but not beyond the limit; the application can set another
    // timeout.
    let mut config = config();
    config.longest_call = Duration::from_secs(70);
    let mut watch = watched(config, "2025-11-25");
    watch.hear(&call_text("7", "plain", None), &Meaning::ask("7"));
    let call = watch.live_calls()[0];
    for (at, due) in [(20_000, 50_000), (40_000, 70_000), (60_000, 70_000)] {
        watch.at(Time::from_millis(at));
        watch.progress(call, &Progress::new(f64::from(u32::try_from(at).unwrap())));
        assert_eq!(watch.peer.deadline(), Some(Time::from_millis(due)));
        watch.progress(call, &Progress::new(1.0));
        assert_eq!(
            watch.peer.deadline(),
            Some(Time::from_millis(due)),
            "progress that does not grow does not count"
        );
    }
    let due = |watch: &Watch<Server<TestTools>>| watch.peer.deadline().map(|at| at.since_start().as_millis());
    watch.set_call_timeout(call, Timeout::Never);
    assert_eq!(due(&watch), None);
    watch.set_call_timeout(call, Timeout::After(Duration::from_secs(1)));
    assert_eq!(due(&watch), Some(61_000));
    watch.at(Time::from_millis(60_500));
    watch.progress(call, &Progress::new(100_000.0));
    assert_eq!(due(&watch), Some(61_000), "progress does not extend a fixed timeout");
    let paced = Timeout::Progress { idle: Duration::from_secs(2), total: Duration::from_secs(3) };
    watch.set_call_timeout(call, paced);
    assert_eq!(due(&watch), Some(62_500));
    watch.at(Time::from_millis(62_000));
    watch.progress(call, &Progress::new(100_001.0));
    assert_eq!(due(&watch), Some(63_500));
    watch.set_call_timeout(call, Timeout::Default);
    assert_eq!(due(&watch), Some(92_000));

    // After any sequence of timeouts, the call is answered at its deadline with the answer of its
    // tool.
    let mut bench = Bench::ready();
    let call = bench.call("7", "soon");
    for timeout in [Timeout::Never, Timeout::After(Duration::from_millis(7))] {
        bench.server.set_call_timeout(call, timeout).unwrap();
    }
    let none = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
    assert_eq!(bench.at(7), (vec!["ended Expired".to_owned()], vec![none.to_owned()]));
}

#[test]
fn i13_each_request_of_ours_has_one_outcome() {
    scripts(
        &[Ask, Ask, GiveUp, Reply, Reply, Wait, End],
        &[
            "outcome Result",
            "outcome Error",
            "outcome Malformed",
            "outcome TimedOut",
            "outcome Cancelled",
            "outcome Closed",
        ],
    );
}

#[test]
fn i14_deadline_runs_from_request_to_answer() {
    let mut watch = watched(config(), "2025-11-25");
    watch.at(Time::from_millis(500));
    watch.ask("roots/list", Timeout::After(Duration::from_millis(100))).unwrap();
    // Other messages do not extend the deadline.
    watch.at(Time::from_millis(599));
    watch.hear(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#, &Meaning::ask("5"));
    assert_eq!(watch.waiting(), 1);
    watch.at(Time::from_millis(600));
    assert!(matches!(watch.happened.last(), Some(Happened::Outcome(_, Outcome::TimedOut))));
}

#[test]
fn i15_late_and_unknown_answers_are_harmless() {
    scripts(&[Ask, Reply, Reply, GiveUp, Wait], &["violation LateResponse", "violation UnknownResponse"]);
}

#[test]
fn i16_ids_are_numbers_that_grow() {
    // The model checks every id; in addition, the end of a request does not free its id.
    scripts(&[Ask, GiveUp, Reply, Wait], &["outcome Cancelled"]);
    let mut watch = watched(config(), "2025-11-25");
    for _ in 0..1_000 {
        let request = watch.ask("roots/list", Timeout::Never).unwrap();
        watch.cancel(request);
    }
    assert_eq!(watch.last_id(), 1_000);
}

#[test]
fn i17_abandoned_request_is_cancelled_once() {
    scripts(&[Ask, GiveUp, GiveUp, Wait, Reply], &["cancelled sent"]);
    // A refused request was never sent, so it has no timeout and no cancellation.
    let mut bench = Bench::ready();
    bench.out.full = true;
    let asked = bench.server.request("roots/list", None::<&()>, Timeout::Default, &mut bench.out);
    assert_eq!(asked, Err(NotSent::Full));
    assert_eq!(bench.at(600_000), (vec![], vec![]));
}

#[test]
fn i18_progress_grows_and_ends_with_its_call() {
    scripts(
        &[CallWithProgress, CallWithProgress, Call, Progress, Progress, Progress, Answer, Cancel, Wait],
        &["progress sent", "race: cancelled, then progress"],
    );
}

#[test]
fn i18_progress_of_our_requests_is_matched() {
    let span = Duration::from_millis;
    let mut watch = watched(config(), "2025-11-25");
    let timeout = Timeout::Progress { idle: span(100), total: span(250) };
    let asked = watch.ask("elicitation/create", timeout).unwrap();
    assert_eq!(
        watch.outbox.pop().unwrap().0,
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"progressToken":1}}}"#
    );
    watch.ask("roots/list", Timeout::Never).unwrap();
    let say = |watch: &mut Watch<_>, at: u64, token: &str, progress: &str| {
        watch.at(Time::from_millis(at));
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
        );
        watch.happened.clear();
        watch.hear(&text, &Meaning::nothing());
        format!("{:?}", watch.happened)
    };
    let progressed = |by: f64| format!("[Progress({asked:?}, {by:?})]");
    assert_eq!(say(&mut watch, 90, "1", "1"), progressed(1.0));
    assert_eq!(watch.peer.deadline(), Some(Time::from_millis(190)), "the clock starts again");
    assert_eq!(say(&mut watch, 100, "1", "1.0"), "[PeerFault(StaleProgress)]");
    assert_eq!(say(&mut watch, 100, "2", "5"), "[PeerFault(UnknownProgress)]", "the request had no token");
    assert_eq!(say(&mut watch, 100, "\"x\"", "5"), "[PeerFault(UnknownProgress)]");
    assert_eq!(say(&mut watch, 100, "1", "\"5\""), "[PeerFault(UnknownProgress)]", "no number");
    assert_eq!(say(&mut watch, 180, "\"1\"", "1.5"), progressed(1.5));
    assert_eq!(watch.peer.deadline(), Some(Time::from_millis(250)), "but not beyond the total");
    assert_eq!(say(&mut watch, 240, "1", "9"), progressed(9.0));
    watch.at(Time::from_millis(250));
    assert!(
        matches!(watch.happened.last(), Some(Happened::Outcome(ended, Outcome::TimedOut)) if *ended == asked)
    );
    assert_eq!(say(&mut watch, 250, "1", "10"), "[PeerFault(UnknownProgress)]");
}

#[test]
fn i19_each_call_has_its_own_deadline() {
    let mut watch = watched(config(), "2025-11-25");
    watch.hear(&call_text("1", "plain", None), &Meaning::ask("1"));
    let still = watch.live_calls()[0];
    watch.at(Time::from_millis(10_000));
    watch.hear(&call_text("2", "plain", None), &Meaning::ask("2"));
    let other = watch.live_calls()[1];
    for at in [15_000, 20_000, 29_999] {
        watch.at(Time::from_millis(at));
        watch.progress(other, &Progress::new(f64::from(u32::try_from(at).unwrap())));
        watch.hear(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#, &Meaning::ask("5"));
        assert_eq!(watch.peer.deadline(), Some(Time::from_millis(30_000)));
    }
    watch.at(Time::from_millis(30_000));
    assert_eq!((watch.answer(still, true), watch.answer(other, true)), (Err(NotOpen::Expired), Ok(())));
}

#[test]
fn i20_every_offer_gets_a_supported_version() {
    arbtest::arbtest(|u| {
        let offers = [
            "\"2024-11-05\"",
            "\"2025-03-26\"",
            "\"2025-06-18\"",
            "\"2025-11-25\"",
            "\"2026-07-28\"",
            "\"1999-01-01\"",
            "\"\"",
            "null",
            "7",
            "{}",
            "[]",
            "\"\\ud83d\"",
            "\"2025\\u002d11-25\"",
        ];
        let offer = u.choose(&offers)?;
        let params = u.choose(&["", ",\"params\":null", ",\"params\":{}", "+"])?;
        let params = params.replace('+', &format!(",\"params\":{{\"protocolVersion\":{offer}}}"));
        let mut bench = Bench::new();
        let sent = bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize"{params}}}"#));
        let version = bench.server.protocol_version().unwrap();
        let want = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","#);
        assert!(sent.len() == 1 && sent[0].starts_with(&want), "{params}: {sent:?}");
        let known = ProtocolVersion::from_name(offer.trim_matches('"'));
        assert_eq!(version, known.filter(|_| params.contains(offer)).unwrap_or(ProtocolVersion::NEWEST));
        Ok(())
    })
    .budget_ms(200);
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
    let mut draining = Bench::ready();
    draining.server.drain();
    for mut bench in [Bench::new(), Bench::initializing(), Bench::ready(), draining] {
        let fresh = bench.server.protocol_version().is_none();
        assert!(bench.ask("\"probe\"", "server/discover")[0].contains("-32601"));
        if fresh {
            assert!(bench.hear(INITIALIZE)[0].contains("protocolVersion"));
        }
    }
}

#[test]
fn i23_a_second_initialize_changes_nothing() {
    let mut bench = Bench::ready();
    let before = (bench.server.protocol_version(), bench.server.client().cloned());
    let again = INITIALIZE.replace("2025-11-25", "2024-11-05").replace("agent", "other");
    assert!(bench.hear(&again)[0].contains("-32600"));
    assert_eq!((bench.server.protocol_version(), bench.server.client().cloned()), before);
    assert_eq!(bench.events(), [""; 0]);
}

#[test]
fn i24_nothing_of_a_later_version_is_sent() {
    // `rules::check` checks every message that the model sends; here the server declares everything
    // that can be declared.
    let mut config = config();
    config.logging = Some(ide_mcp::mcp::LogLevel::Debug);
    config.capabilities.insert("completions".into(), "{}".into());
    config.capabilities.insert("resources".into(), "no JSON".into());
    config.capabilities.insert("tools".into(), r#"{"of":"its own"}"#.into());
    config.capabilities.insert("logging".into(), "{}".into());
    let mut watch = Watch::new(Server::new(config, TestTools::default(), SessionId::new(1)));
    let modern = INITIALIZE.replace("2025-11-25", "2026-07-28");
    let sent = watch.hear(&modern, &Meaning::ask("0"));
    let declared =
        r#""capabilities":{"tools":{"listChanged":true},"logging":{},"completions":{},"resources":{}}"#;
    assert!(sent[0].contains("2025-11-25") && sent[0].contains(declared), "{sent:?}");
    for method in ["server/discover", "subscriptions/listen", "tools/list", "resources/list", "prompts/list"]
    {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
        );
        watch.hear(&text, &Meaning::ask("1"));
    }
}

#[test]
fn i25_lists_are_answered_unknown_tools_refused() {
    let mut bench = Bench::ready();
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for params in ["", r#","params":null"#, r#","params":{"cursor":null}"#, r#","params":{"cursor":""}"#]
        {
            let sent = bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#));
            assert!(sent.len() == 1 && sent[0].contains("\"result\""), "{method}{params}: {sent:?}");
        }
        let sent = bench.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"cursor":"made up"}}}}"#
        ));
        assert!(sent[0].contains("-32602"), "{method}: {sent:?}");
    }
    bench.events();
    bench.call("5", "never");
    assert!(bench.hear(&call_text("6", "nobody", None))[0].contains("-32602"));
}

#[test]
fn i27_ended_calls_and_requests_hold_no_memory() {
    let mut bench = Bench::ready();
    let one = |bench: &mut Bench, n: u32| {
        let call = bench.call(&format!("\"{n}\""), "plain");
        bench.server.respond(call, &ToolResult::text("x"), &mut bench.out).unwrap();
        let request = bench.server.request("ping", None::<&()>, Timeout::Default, &mut bench.out).unwrap();
        bench.server.cancel(request, None, &mut bench.out);
        bench.hear("{}");
        bench.events();
        bench.out = Messages::default();
    };
    let held = |bench: &mut Bench, count: u32| {
        let measured = allocation_counter::measure(|| (0..count).for_each(|n| one(bench, n)));
        measured.bytes_current
    };
    held(&mut bench, 1_000);
    let (few, many) = (held(&mut bench, 100), held(&mut bench, 10_000));
    assert_eq!((few, many), (0, 0), "bytes that stay");
    assert_eq!((bench.server.open_calls(), bench.server.open_requests()), (0, 0));
}

#[test]
fn i28_call_above_the_limit_is_refused() {
    let mut watch = watched(config(), "2025-11-25");
    for id in 1..=256 {
        let (id, tool) = (id.to_string(), if id % 2 == 0 { "never" } else { "x" });
        let text = match tool {
            "never" => call_text(&id, "never", None),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/raw"}}"#),
        };
        assert_eq!(watch.hear(&text, &Meaning::ask(&id)), [""; 0]);
    }
    for text in [call_text("999", "never", None), r#"{"jsonrpc":"2.0","id":999,"method":"x/raw"}"#.into()] {
        assert!(watch.hear(&text, &Meaning::ask("999"))[0].contains("-32603"), "{text}");
    }
    watch.answer(watch.live_calls()[0], true).unwrap();
    assert_eq!(watch.hear(&call_text("999", "never", None), &Meaning::ask("999")), [""; 0]);
}

#[test]
fn i29_messages_are_sent_in_call_order() {
    arbtest::arbtest(|u| {
        let mut watch = watched(config(), "2025-11-25");
        watch.outbox.clear();
        let mut expected = Vec::new();
        for n in 0..u.int_in_range(1..=20)? {
            match u.int_in_range(0..=2)? {
                0 => {
                    let id = n.to_string();
                    watch.hear(&call_text(&id, "never", None), &Meaning::ask(&id));
                    watch.answer(watch.live_calls()[0], true).unwrap();
                    expected.push(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
                }
                1 => {
                    watch.notify(&format!("n/{n}"));
                    expected.push(format!(r#"{{"jsonrpc":"2.0","method":"n/{n}"}}"#));
                }
                _ => {
                    watch.ask(&format!("r/{n}"), Timeout::Never).unwrap();
                    let id = watch.last_id();
                    expected.push(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"r/{n}"}}"#));
                }
            }
        }
        let sent: Vec<String> = watch.outbox.drain(..).map(|(text, _)| text).collect();
        assert_eq!(sent, expected);
        Ok(())
    })
    .budget_ms(200);
}

#[test]
fn i31_tools_change_is_announced_only_once() {
    let mut bench = Bench::ready();
    let tell = |bench: &mut Bench| {
        let told = bench.server.tools_list_changed(&mut bench.out);
        (told, bench.out.take().len())
    };
    for _ in 0..3 {
        assert_eq!(tell(&mut bench), (Ok(false), 0), "nothing has changed");
    }
    bench.server.tools_mut().add("one");
    assert_eq!(tell(&mut bench), (Ok(true), 1));
    bench.server.tools_mut().add("two");
    assert_eq!(tell(&mut bench), (Ok(false), 0), "the client is about to list, and gets both");
    bench.ask("5", "tools/list");
    bench.events();
    assert_eq!(tell(&mut bench), (Ok(false), 0), "the client has the list");
    bench.server.tools_mut().add("three");
    bench.out.full = true;
    assert_eq!(tell(&mut bench), (Err(NotSent::Full), 0));
    bench.out.full = false;
    assert_eq!(tell(&mut bench), (Ok(true), 1), "a refused notification was not sent");

    let mut config = config();
    config.tools_list_changed = false;
    let mut silent = watched(config, "2025-11-25");
    silent.act(|server, _| server.tools_mut().add("one"));
    assert_eq!(silent.act(|server, out| server.tools_list_changed(out)), Err(NotSent::Undeclared));
}

#[test]
fn i32_closing_ends_everything_exactly_once() {
    scripts(
        &[Call, Ask, Cancel, End, End, Answer, Progress, GiveUp, Wait],
        &["call ended Closed", "refused Closed"],
    );
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
    let due = |bench: &Bench| bench.server.deadline().unwrap().since_start().as_millis();

    let mut config = config();
    config.keepalive = Some(Keepalive::JSON_RPC);
    let mut bench = Bench::with(config);
    bench.hear(INITIALIZE);
    assert_eq!(bench.server.deadline(), None, "not before the session is open");

    let mut bench = Bench::pinging();
    assert_eq!(due(&bench), 5_000);
    assert_eq!(bench.at(4_999), nothing());
    assert_eq!(bench.at(5_000), (vec![], vec![PING.to_owned()]));
    assert_eq!((due(&bench), bench.server.open_requests()), (8_000, 1));
    bench.now = Time::from_millis(7_999);
    bench.server.tick(bench.now);
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"an error is an answer too"}}"#);
    assert_eq!(bench.events(), [""; 0]);
    assert_eq!((due(&bench), bench.server.open_requests()), (12_999, 0));

    let mut bench = Bench::pinging();
    bench.at(5_000);
    assert_eq!(bench.at(7_999), nothing());
    assert_eq!(bench.at(8_000), (vec!["unresponsive".to_owned()], vec![]));
    assert_eq!((bench.server.deadline(), bench.server.open_requests()), (None, 0), "said once");

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
    // The late answer to the ping is no violation, and there is never a second ping in flight.
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
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
    let mut config = ServerConfig::new(Implementation::new("editor", "1"));
    config.keepalive = Some(Keepalive::JSON_RPC);
    config.limits.requests = 2;
    let mut bench = Bench::with(config);
    bench.hear(INITIALIZE);
    bench.hear(INITIALIZED);
    bench.events();
    let ask = |bench: &mut Bench| {
        let asked = bench.server.request("r", None::<&()>, Timeout::Never, &mut bench.out).map(drop);
        bench.out.take();
        asked
    };
    assert_eq!((ask(&mut bench), ask(&mut bench)), (Ok(()), Ok(())));
    let (events, sent) = bench.at(5_000);
    assert_eq!((events, sent), (vec![], vec![PING.replace(":1,", ":3,")]));
    assert_eq!((ask(&mut bench), bench.server.open_requests()), (Err(NotSent::TooManyInFlight), 3));
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(ask(&mut bench), Ok(()), "while the ping is in flight");
    assert_eq!(ask(&mut bench), Err(NotSent::TooManyInFlight));
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(ask(&mut bench), Err(NotSent::TooManyInFlight), "the end of the ping frees no place");

    // Polling ends at the end of time, and with no time between two pings.
    for every in [Duration::ZERO, Duration::from_secs(5)] {
        let mut config = ServerConfig::new(Implementation::new("editor", "1"));
        config.keepalive = Some(Keepalive::new(every, Duration::ZERO));
        for full in [false, true] {
            let mut bench = Bench::with(config.clone());
            bench.hear(INITIALIZE);
            bench.hear(INITIALIZED);
            bench.out.full = full;
            bench.at(u64::MAX);
            assert!(bench.server.deadline().is_none_or(|at| at > bench.now));
        }
    }
}

#[test]
fn i36_after_polling_the_next_deadline_lies_ahead() {
    // The model checks the deadline whenever time passes.
    scripts(&[Call, Ask, Wait, Wait, Cancel, Garbage], &["call ended Expired", "outcome TimedOut"]);
}

/// A call that is decoded while it is parsed equals the call that is decoded from its raw
/// parameters.
#[test]
fn both_ways_of_decoding_a_call_agree() {
    let hits = RefCell::new([0, 0]);
    arbtest::arbtest(|u| {
        let mut members = vec![
            (*u.choose(&[
                r#""name":"typed""#,
                r#""name":"plain""#,
                r#""name":"nobody""#,
                r#""n\u0061me":"typed""#,
                r#""name":7"#,
            ])?)
            .to_owned(),
            (*u.choose(&[
                r#""arguments":{"n":7}"#,
                r#""arguments": {"n": 7, "x": [{}]}"#,
                r#""arguments":{"n":"7"}"#,
                r#""arguments":[7]"#,
                r#""arguments":null"#,
                r#""arguments":{"n":7,"n":8}"#,
                r#""arguments":{"n":7},"arguments":{"n":8}"#,
                r#""x":1"#,
            ])?)
            .to_owned(),
        ];
        if u.arbitrary()? {
            members.push(
                (*u.choose(&[
                    r#""_meta":{"progressToken":"t"}"#,
                    r#""_meta":{"progressToken":null}"#,
                    r#""_meta":7"#,
                ])?)
                .to_owned(),
            );
        }
        if u.ratio(1, 3)? {
            members.reverse();
        }
        let params = format!(r#""params":{{{}}}"#, members.join(","));
        let straight = format!(r#"{{"method":"tools/call",{params},"jsonrpc":"2.0","id":5}}"#);
        let around = format!(r#"{{{params},"method":"tools/call","jsonrpc":"2.0","id":5}}"#);
        let result = |text: &str| {
            let mut bench = Bench::ready();
            let sent = bench.hear(text);
            let tool = match bench.poll() {
                Some(Event::Call { call, tool }) => {
                    let progress = bench.server.progress(call, &Progress::new(1.0), &mut bench.out);
                    format!("{tool:?} {progress:?} {:?}", bench.out.take())
                }
                other => format!("{other:?}"),
            };
            (sent, tool)
        };
        let (one, other) = (result(&straight), result(&around));
        assert_eq!(one, other, "{straight}");
        hits.borrow_mut()[usize::from(one.0.is_empty())] += 1;
        Ok(())
    })
    .budget_ms(500);
    assert!(hits.borrow().iter().all(|hits| *hits > 0), "{hits:?}");
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
