//! A client session from the outside: handshake, requests and their outcomes, messages of the server.

use std::{collections::BTreeMap, time::Duration};

use crate::mcp_support::{Agent, HELLO, client_config};
use ide_mcp::{
    Time,
    mcp::{ClientEvent, Failure, List, Outcome, Timeout},
    rpc::{NotSent, RequestId},
};

/// The time that a server has for `initialize`, in ms.
const INITIALIZE: u64 = Timeout::INITIALIZE.as_secs() * 1000;

#[test]
fn the_handshake_is_three_messages() {
    let mut agent = Agent::new();
    assert_eq!(agent.client.start(Time::ZERO, &mut agent.out), Ok(()));
    assert_eq!(
        agent.out.take(),
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"2"}}}"#
        ]
    );
    assert_eq!(agent.client.start(Time::ZERO, &mut agent.out), Err(NotSent::NotReady));
    assert_eq!(agent.receive(HELLO), [r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#]);
    let Some(ClientEvent::Ready) = agent.client.poll(agent.now, &mut agent.out) else { panic!("not ready") };
    let server = agent.client.server().unwrap();
    assert_eq!(server.instructions.as_deref(), Some("be kind"));
    assert_eq!(server.capabilities.as_ref().map(|raw| raw.get()), Some(r#"{"tools":{}}"#));
    assert!(agent.client.is_ready());
    assert_eq!(agent.client.deadline(), None);
}

#[test]
fn declaration_of_the_client_is_configurable() {
    let mut config = client_config();
    config.capabilities = serde_json::from_str(r#"{"roots":{"listChanged":true}}"#).unwrap();
    config.version = ide_mcp::mcp::ProtocolVersion::V2024_11_05;
    let mut agent = Agent::with(config);
    agent.client.start(Time::ZERO, &mut agent.out).unwrap();
    let out = agent.out;
    let wanted = r#""params":{"protocolVersion":"2024-11-05","capabilities":{"roots":{"listChanged":true}},"#;
    assert!(out.sent[0].contains(wanted), "{:?}", out.sent);
}

#[test]
fn handshake_succeeds_or_reports_why() {
    const UNREADABLE: &str = "failed: the answer of the server could not be read";
    const CASES: &[(&str, &str, &[&str])] = &[
        ("the oldest version alone", r#""result":{"protocolVersion":"2024-11-05"}"#, &["ready - 2024-11-05"]),
        (
            "unreadable info",
            r#""result":{"protocolVersion":"2025-06-18","serverInfo":7,"instructions":null}"#,
            &["ready - 2025-06-18"],
        ),
        (
            "info that is a list",
            r#""result":{"protocolVersion":"2025-06-18","serverInfo":["a","1"]}"#,
            &["ready - 2025-06-18"],
        ),
        (
            "unknown version",
            r#""result":{"protocolVersion":"2026-07-28"}"#,
            &[r#"failed: the server chose the unknown version "2026-07-28": update the older of the two"#],
        ),
        ("no version", r#""result":{}"#, &[UNREADABLE]),
        ("error", r#""error":{"code":-32602,"message":"no"}"#, &["failed: the server refused: no (-32602)"]),
        ("neither", r#""x":1"#, &["violation MalformedResponse", UNREADABLE]),
    ];
    for (name, answer, events) in CASES {
        let mut agent = Agent::negotiating();
        let sent = agent.receive(&format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#));
        assert_eq!(agent.events(), *events, "{name}");
        assert_eq!(
            sent.len(),
            usize::from(agent.client.is_ready()),
            "{name}: initialized is sent only by a ready client"
        );
        agent.receive(HELLO);
        assert_eq!(agent.events(), ["violation LateResponse"], "{name}: a second answer changes nothing");
    }
}

#[test]
fn handshake_deadline_sends_no_cancellation() {
    let mut agent = Agent::negotiating();
    assert_eq!(agent.client.deadline(), Some(Time::from_millis(INITIALIZE)));
    assert_eq!(agent.at(INITIALIZE - 1), (vec![], vec![]));
    let failed = vec!["failed: the server did not answer in time".to_owned()];
    assert_eq!(agent.at(INITIALIZE), (failed, vec![]));
    assert_eq!(agent.client.deadline(), None);
    agent.receive(HELLO);
    assert!(!agent.client.is_ready());

    let mut agent = Agent::negotiating();
    agent.client.close();
    let Some(ClientEvent::Failed(Failure::Closed)) = agent.client.poll(agent.now, &mut agent.out) else {
        panic!("a handshake that was begun has an end");
    };
    assert_eq!(agent.client.start(Time::ZERO, &mut agent.out), Err(NotSent::Closed));
    assert_eq!(agent.out.take(), [""; 0]);
}

#[test]
fn client_sends_only_pings_before_ready() {
    let mut failed = Agent::negotiating();
    failed.at(INITIALIZE);
    let mut closed = Agent::ready();
    closed.client.close();
    let rows = [
        ("idle", Agent::new(), Err(NotSent::NotReady), Err(NotSent::NotReady)),
        ("negotiating", Agent::negotiating(), Err(NotSent::NotReady), Ok(())),
        ("ready", Agent::ready(), Ok(()), Ok(())),
        ("failed", failed, Err(NotSent::NotReady), Err(NotSent::NotReady)),
        ("closed", closed, Err(NotSent::Closed), Err(NotSent::Closed)),
    ];
    for (state, mut agent, input, pinged) in rows {
        let (client, out) = (&mut agent.client, &mut agent.out);
        assert_eq!(client.notify("n", None::<&()>, out), input, "{state}");
        assert_eq!(out.take().len(), usize::from(input.is_ok()), "{state}");
        assert_eq!(client.list(List::Tools, Timeout::Default, out).map(drop), input, "{state}");
        assert_eq!(client.call_tool("t", &(), Timeout::Default, out).map(drop), input, "{state}");
        assert_eq!(client.request("ping", None::<&()>, Timeout::Default, out).map(drop), pinged, "{state}");
        let sent = [input; 2].iter().chain([&pinged]).filter(|result| result.is_ok()).count();
        assert_eq!(out.take().len(), sent, "{state}");
    }
}

#[test]
fn requests_omit_absent_parameters() {
    let mut agent = Agent::ready();
    agent.client.list(List::Tools, Timeout::Default, &mut agent.out).unwrap();
    agent.client.call_tool("a", &BTreeMap::from([("x", "y")]), Timeout::Never, &mut agent.out).unwrap();
    agent.client.call_tool("b", &(), Timeout::Never, &mut agent.out).unwrap();
    agent.client.notify("ide_connected", Some(&BTreeMap::from([("pid", 1)])), &mut agent.out).unwrap();
    assert_eq!(
        agent.out.take(),
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":{"x":"y"}}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"b"}}"#,
            r#"{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":1}}"#,
        ]
    );
    let unserializable = BTreeMap::from([((1, 2), 3)]);
    let refused = agent.client.call_tool("c", &unserializable, Timeout::Default, &mut agent.out);
    assert_eq!(refused, Err(NotSent::Unserializable));
    // Parameters must be an object.
    assert_eq!(
        agent.client.call_tool("c", &[1], Timeout::Default, &mut agent.out),
        Err(NotSent::Unserializable)
    );
    assert_eq!(agent.client.notify("n", Some("text"), &mut agent.out), Err(NotSent::Unserializable));
    assert_eq!(agent.out.take(), [""; 0]);
}

#[test]
fn received_answer_wins_over_its_timeout() {
    let mut agent = Agent::ready();
    let timeout = Timeout::After(Duration::from_millis(5));
    agent.client.call_tool("t", &(), timeout, &mut agent.out).unwrap();
    agent.now = Time::from_millis(9);
    agent.receive(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert_eq!(agent.events(), ["result {}"]);
}

/// A response in a batch can lead to a new request; the array of answers contains only answers.
#[test]
fn batch_of_answers_contains_no_request() {
    let mut agent = Agent::negotiating();
    agent.receive(&HELLO.replace("2025-11-25", "2025-03-26"));
    agent.events();
    agent.client.list(List::Tools, Timeout::Default, &mut agent.out).unwrap();
    agent.out.take();
    let page = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"a"}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    assert_eq!(
        agent.receive(&format!("[{ping},{page}]")),
        [
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"a"}}"#,
            r#"[{"jsonrpc":"2.0","id":"p","result":{}}]"#,
        ]
    );
}

#[test]
fn draining_client_does_not_become_ready() {
    let mut agent = Agent::negotiating();
    agent.client.drain();
    assert_eq!(agent.receive(HELLO), [""; 0]);
    assert_eq!(agent.events(), ["failed: the session ended before the server answered"]);
    assert!(!agent.client.is_ready());
}

#[test]
fn full_outbox_delays_the_start() {
    let mut agent = Agent::new();
    agent.out.full = true;
    assert_eq!(agent.client.start(agent.now, &mut agent.out), Err(NotSent::Full));
    assert_eq!(agent.out.take(), [""; 0]);
    agent.out.full = false;
    assert_eq!(agent.client.start(agent.now, &mut agent.out), Ok(()));
    assert_eq!(agent.out.take().len(), 1);
    assert_eq!(agent.client.start(agent.now, &mut agent.out), Err(NotSent::NotReady), "once");
}

#[test]
fn added_capabilities_stand_beside_those_of_the_client() {
    let rows = [
        (false, r#"{"roots":{},"x":{"y":1},"elicitation":{"url":{}}}"#),
        (true, r#"{"roots":{"listChanged":true},"elicitation":{},"x":{"y":1}}"#),
    ];
    for (is_on, expected) in rows {
        let mut config = client_config();
        config.capabilities =
            serde_json::from_str(r#"{"roots":{},"x":{"y":1},"elicitation":{"url":{}}}"#).unwrap();
        (config.roots, config.elicitation) = (is_on.then(Vec::new), is_on);
        let mut agent = Agent::with(config);
        agent.client.start(agent.now, &mut agent.out).unwrap();
        let initialize = agent.out.take().remove(0);
        assert!(initialize.contains(&format!(r#""capabilities":{expected},"#)), "{initialize}");
    }
}

/// Returns a page of prompts that answers the request with this id.
fn page_of(id: usize, items: &str, next: &str) -> String {
    let next = if next.is_empty() { String::new() } else { format!(r#","nextCursor":"{next}""#) };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"prompts":[{items}]{next}}}}}"#)
}

/// Returns a client that has asked for a list, with the handle of the list.
fn listing_within(timeout: Timeout) -> (Agent, RequestId) {
    let mut agent = Agent::ready();
    let request = agent.client.list(List::Prompts, timeout, &mut agent.out).unwrap();
    agent.out.take();
    (agent, request)
}

/// Returns a client that has asked for the second page of a list, with the handle of the list.
fn on_second_page(timeout: Timeout) -> (Agent, RequestId) {
    let (mut agent, request) = listing_within(timeout);
    assert_eq!(agent.receive(&page_of(2, "", "a")).len(), 1);
    (agent, request)
}

#[test]
fn a_list_in_pages_is_one_outcome() {
    let (mut agent, request) = listing_within(Timeout::Default);
    assert_eq!(
        agent.receive(&page_of(2, "1,2", r"\u00e9")),
        [r#"{"jsonrpc":"2.0","id":3,"method":"prompts/list","params":{"cursor":"\u00e9"}}"#],
        "the cursor is returned as received"
    );
    assert_eq!(agent.events(), [""; 0]);
    assert_eq!(agent.receive(&page_of(3, "3", "")), [""; 0]);
    let Some(ClientEvent::Outcome { request: ended, outcome: Outcome::Result(list) }) =
        agent.client.poll(agent.now, &mut agent.out)
    else {
        panic!("no result")
    };
    assert_eq!(
        (ended, list.get()),
        (request, r#"{"prompts":[1,2,3]}"#),
        "under the handle of the first page"
    );

    let (mut agent, request) = on_second_page(Timeout::Default);
    assert!(agent.client.cancel(request, None, &mut agent.out));
    assert_eq!(
        agent.out.take(),
        [r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#],
        "the page in flight"
    );
    assert!(!agent.client.cancel(request, None, &mut agent.out));
    assert_eq!(agent.events(), ["outcome Cancelled"]);

    let (mut agent, _) = listing_within(Timeout::Default);
    let mut pages = 0;
    while !agent.receive(&page_of(2 + pages, "", &pages.to_string())).is_empty() {
        pages += 1;
    }
    assert_eq!((pages, agent.events().len()), (63, 2), "64 pages at most");

    let (mut agent, _) = listing_within(Timeout::Default);
    let twice = page_of(2, "", "a").replace("}}", r#","nextCursor":"b"}}"#);
    assert!(agent.receive(&twice)[0].contains(r#""cursor":"b""#), "the last of two cursors counts");

    let (mut agent, _) = on_second_page(Timeout::Default);
    agent.client.close();
    assert_eq!(agent.events(), ["outcome Closed"]);

    let (mut agent, _) = listing_within(Timeout::Default);
    agent.out.closed = true;
    agent.receive(&page_of(2, "", "a"));
    assert_eq!(agent.events(), ["outcome Closed"], "the next page cannot be requested");

    for (name, result) in [("items", r#"{"prompts":7}"#), ("none", "{}"), ("no object", "[]")] {
        let (mut agent, _) = listing_within(Timeout::Default);
        agent.receive(&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#));
        assert_eq!(agent.events(), ["violation UnreadableList", "outcome Malformed"], "{name}");
    }
}

fn progress_of(token: usize, progress: f64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
    )
}

fn reported_progress(agent: &mut Agent) -> Vec<f64> {
    std::iter::from_fn(|| agent.client.poll(agent.now, &mut agent.out))
        .map(|event| match event {
            ClientEvent::Progress { progress, .. } => progress.progress,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn progress_of_a_list_never_goes_back() {
    let seconds = Duration::from_secs;
    let (mut agent, _) = listing_within(Timeout::Progress { idle: seconds(10), total: seconds(600) });
    agent.receive(&progress_of(2, 0.5));
    agent.receive(&progress_of(2, 0.9));
    assert_eq!(reported_progress(&mut agent), [0.5, 0.9]);
    agent.receive(&page_of(2, "", "a"));
    assert_eq!(agent.at(9_000).0, [""; 0]);
    // The second page starts its progress anew: that is not a violation, extends the deadline, and is not reported.
    agent.receive(&progress_of(3, 0.1));
    assert_eq!(reported_progress(&mut agent), [0.0; 0]);
    agent.receive(&progress_of(3, 1.5));
    assert_eq!(reported_progress(&mut agent), [1.5]);
    assert_eq!(agent.at(18_999).0, [""; 0]);
    assert_eq!(agent.at(19_000).0, ["outcome TimedOut"]);
}

#[test]
fn cursor_cycle_of_two_ends_the_list() {
    let (mut agent, _) = on_second_page(Timeout::Default);
    assert_eq!(agent.receive(&page_of(3, "", "b")).len(), 1);
    assert_eq!(agent.receive(&page_of(4, "", "a")), [""; 0]);
    let events = agent.events();
    assert!(
        matches!(&events[..], [fault, list] if fault == "violation BrokenCursor" && list.starts_with("result ")),
        "{events:?}"
    );
}

#[test]
fn session_opens_although_no_request_may_wait() {
    let mut config = client_config();
    config.limits.requests = 0;
    let mut agent = Agent::with(config);
    agent.client.start(agent.now, &mut agent.out).unwrap();
    agent.receive(HELLO);
    assert_eq!(agent.events(), ["ready editor 2025-11-25"]);
    assert_eq!(
        agent.client.list(List::Tools, Timeout::Default, &mut agent.out),
        Err(NotSent::TooManyInFlight)
    );
}
