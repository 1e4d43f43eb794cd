//! What an editor asks its client: the folders (`roots/list`), and forms for the person (`elicitation/create`).

use crate::support::ide::{Editor, INITIALIZE, INITIALIZED, PORT, config, settling, shown, text, token};
use ide_mcp::{
    Output, Time,
    ide::{
        Client, ClientConfig, ClientEvent, Pending, RequestError, Server, ServerConfig, ServerEvent,
        paths::{LocalPath, Platform},
    },
    mcp::{FieldValue, Form, FormAnswer, FormField, Implementation, Outcome, Root, Timeout},
    rpc::{NotSent, SessionId},
    testing::{Pair, Random, pass},
};
use std::{collections::BTreeMap, mem, time::Duration};

const ASKED: &str = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;

/// Returns an editor whose client has declared these capabilities, and the messages of the editor.
fn attached(client: &str, capabilities: &str) -> (Editor, Vec<String>) {
    attached_to(config(), client, capabilities)
}

fn attached_to(config: ServerConfig, client: &str, capabilities: &str) -> (Editor, Vec<String>) {
    let mut editor = Editor::open(config);
    let initialize = INITIALIZE
        .replace(r#""capabilities":{}"#, &format!(r#""capabilities":{capabilities}"#))
        .replace("claude-code", client);
    editor.receive(&initialize);
    editor.written();
    editor.receive(INITIALIZED);
    let texts = editor.texts();
    (editor, texts)
}

/// Returns the answer to the request with this id: these folders.
fn roots(id: u64, uris: &[&str]) -> String {
    let roots: Vec<String> = uris.iter().map(|uri| format!(r#"{{"uri":"{uri}"}}"#)).collect();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[{}]}}}}"#, roots.join(","))
}

fn local(path: &str) -> LocalPath {
    LocalPath::parse(path, Platform::native()).unwrap()
}

#[test]
fn declared_roots_are_asked_once() {
    let rows = [
        ("as the real client declares", "claude-code", r#"{"roots":{"listChanged":true}}"#, true),
        ("without changes", "claude-code", r#"{"roots":{}}"#, true),
        ("not declared", "claude-code", "{}", false),
        ("no object", "claude-code", r#"{"roots":true}"#, false),
        ("a client that answers nothing", "opencode", r#"{"roots":{}}"#, false),
    ];
    for (name, client, capabilities, is_asked) in rows {
        let (mut editor, texts) = attached(client, capabilities);
        let want: &[&str] = if is_asked { &[ASKED] } else { &[] };
        assert_eq!(texts, want, "{name}");
        let events = editor.receive(CHANGED);
        let is_passed_on = matches!(&events[..], [ServerEvent::Notification { .. }]);
        assert_eq!((events.len(), is_passed_on), if is_asked { (0, false) } else { (1, true) }, "{name}");
        assert_eq!(editor.texts(), [""; 0], "{name}: one question at a time");
    }
}

#[test]
fn switched_off_question_is_not_sent() {
    let mut config = config();
    config.ask_for_roots = false;
    let (mut editor, texts) = attached_to(config, "claude-code", r#"{"roots":{}}"#);
    assert_eq!(texts, [""; 0]);
    assert!(matches!(&editor.receive(CHANGED)[..], [ServerEvent::Notification { .. }]));
    assert_eq!(editor.texts(), [""; 0]);
}

#[test]
fn answer_gives_the_client_its_folders() {
    let (mut editor, _) = attached("claude-code", r#"{"roots":{}}"#);
    let answer = roots(1, &["file:///w/p/src", "https://x/y", "file:///w/q"]);
    let events = editor.receive(&answer);
    let [ServerEvent::RootsChanged { roots: named, .. }] = &events[..] else { panic!("{events:?}") };
    let want = [Root::new("file:///w/p/src"), Root::new("https://x/y"), Root::new("file:///w/q")];
    assert_eq!((&named[..], editor.agent().roots()), (&want[..], &want[..]));
    assert_eq!(editor.agent().folders(), [local("/w/p/src"), local("/w/q")]);
    let rows = [
        ("a window whose folder contains a root", vec!["/a", "/w/p"], Some(1)),
        ("of two such windows, the innermost", vec!["/w", "/w/p", "/w/p/srcs"], Some(1)),
        (
            "of windows below a root, the outermost",
            vec!["/w/p/src/x/y", "/w/p/src/longer", "/w/p/src/z"],
            Some(1),
        ),
        ("a window around a root wins over one below it", vec!["/w/p/src/x", "/w"], Some(1)),
        (
            "a window around the second root wins over one below the first",
            vec!["/w/p/src/x", "/w/q"],
            Some(1),
        ),
        ("a window below the second root", vec!["/w/q/r"], Some(0)),
        ("no window near a root", vec!["/w/o", "/w/p/s"], None),
        ("no window at all", vec![], None),
    ];
    for (name, windows, want) in rows {
        let windows: Vec<_> = windows.into_iter().map(|folder| [local(folder)]).collect();
        assert_eq!(editor.agent().closest_window(&windows, None), want, "{name}");
        let other = local("/e/x");
        assert_eq!(editor.agent().closest_window(&windows, Some(&other)), want, "{name}");
    }
}

#[test]
fn empty_first_answer_is_an_event() {
    let (mut editor, _) = attached("claude-code", r#"{"roots":{}}"#);
    for (id, count) in [(1, 1), (2, 0)] {
        assert_eq!(editor.receive(&roots(id, &[])).len(), count);
        editor.receive(CHANGED);
        editor.written();
    }
}

#[test]
fn changed_roots_are_asked_again() {
    let (mut editor, _) = attached("claude-code", r#"{"roots":{}}"#);
    editor.receive(CHANGED);
    assert_eq!(editor.texts(), [""; 0], "the first question has no answer yet");
    assert_eq!(editor.receive(&roots(1, &["file:///a"])).len(), 1);
    assert_eq!(editor.texts(), [ASKED.replace(":1,", ":2,")]);
    assert_eq!(shown(&editor.receive(&roots(2, &["file:///a"]))), [""; 0], "the list is the same");
    for (id, uris) in [(3, vec!["file:///b"]), (4, vec![])] {
        editor.receive(CHANGED);
        assert_eq!(editor.texts(), [ASKED.replace(":1,", &format!(":{id},"))]);
        let events = editor.receive(&roots(id, &uris));
        assert!(
            matches!(&events[..], [ServerEvent::RootsChanged { roots, .. }] if roots.len() == uris.len())
        );
        assert_eq!(editor.agent().folders().len(), uris.len());
    }
}

#[test]
fn failed_question_keeps_the_known_folders() {
    let many: Vec<String> = (0..65).map(|n| format!("file:///w/{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let rows = [
        ("an error", r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#.into(), 1),
        ("no list", r#"{"jsonrpc":"2.0","id":2,"result":{}}"#.into(), 1),
        ("64 of them", roots(2, &many[..64]), 64),
        ("65 of them", roots(2, &many), 64),
    ];
    for (name, answer, count) in rows {
        let (mut editor, _) = attached("claude-code", r#"{"roots":{}}"#);
        editor.receive(&roots(1, &["file:///a"]));
        editor.receive(CHANGED);
        // The list changes once more while the question waits.
        editor.receive(CHANGED);
        editor.written();
        let events = editor.receive(&answer);
        assert_eq!(events.len(), usize::from(count > 1), "{name}: {events:?}");
        assert_eq!(editor.agent().folders().len(), count, "{name}");
        assert_eq!(editor.texts(), [ASKED.replace(":1,", ":3,")], "{name}");
    }
}

#[test]
fn unanswered_question_ends_after_ten_seconds() {
    const CANCELLED: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timed out"}}"#;
    let (mut editor, _) = attached("claude-code", r#"{"roots":{}}"#);
    assert_eq!(shown(&editor.at(9_999)), [""; 0]);
    assert_eq!(editor.texts(), [""; 0]);
    assert_eq!(shown(&editor.at(10_000)), [""; 0]);
    assert_eq!(editor.texts(), [CANCELLED]);
    let late = editor.receive(&roots(1, &["file:///a"]));
    assert_eq!(shown(&late), ["PeerFault(LateResponse)"]);
    editor.receive(CHANGED);
    assert_eq!(editor.texts(), [ASKED.replace(":1,", ":2,")]);
    assert!(matches!(&editor.eof()[..], [ServerEvent::Closed { .. }]), "the end of the question is no event");
}

#[test]
fn question_for_roots_waits_for_room() {
    let mut config = config();
    config.ws.outgoing = 256;
    let mut editor = Editor::open(config);
    editor.receive(&INITIALIZE.replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{}}"#));
    editor.written();
    editor.feed_unpolled(&text(INITIALIZED));
    assert!(matches!(editor.server.poll(Time::ZERO), Output::Event(ServerEvent::Ready { .. })));
    let filler = serde_json::json!({"x": "x".repeat(256)});
    editor.agent_mut().notify("x/fill", Some(&filler)).unwrap();
    let len = editor.waiting();
    let texts = editor.texts();
    assert!(len < 400 && texts.len() == 2, "the question waits: {len}, {texts:?}");
    assert_eq!(texts[1], ASKED);
}

fn agent(change: impl FnOnce(&mut ClientConfig)) -> Client {
    let mut config = ClientConfig::new(Implementation::new("agent", "2.0"), PORT, Some(token()));
    change(&mut config);
    Client::new(config, Random::new(1).source(), SessionId::new(2), Time::ZERO).unwrap()
}

/// Returns an editor and this agent, which has not attached yet.
fn joined(client: Client) -> Pair<Server, Client> {
    let mut server = Server::new(config());
    let conn = server.connect(Time::ZERO);
    Pair::joined(server, conn, client, Time::ZERO)
}

/// Returns an editor and this agent, attached.
fn pair(change: impl FnOnce(&mut ClientConfig)) -> Pair<Server, Client> {
    let mut pair = joined(agent(change));
    pair.settle();
    pair.client_events.clear();
    pair
}

#[test]
fn agent_answers_with_its_folders() {
    let mut pair = pair(|config| config.mcp.roots = Some(vec![Root::new("file:///w").name("w")]));
    let roots_of = |events: Vec<ServerEvent>| match &events[..] {
        [.., ServerEvent::RootsChanged { roots, .. }] => roots.clone(),
        _ => panic!("{events:?}"),
    };
    assert_eq!(roots_of(mem::take(&mut pair.server_events)), [Root::new("file:///w").name("w")]);
    for uri in ["file:///x", "file:///y"] {
        pair.client.set_roots(vec![Root::new(uri)]).unwrap();
        pair.settle();
        assert_eq!(roots_of(mem::take(&mut pair.server_events)), [Root::new(uri)]);
        pair.client.set_roots(vec![Root::new(uri)]).unwrap();
        assert!(!pair.client.wants_output(), "the list is the same");
    }
    assert!(pair.client_events.is_empty());
}

#[test]
fn agent_without_folders_declares_none() {
    let mut pair = pair(|_| {});
    assert_eq!(pair.client.set_roots(vec![]), Err(NotSent::Undeclared));
    assert!(!pair.server_events.iter().any(|event| matches!(event, ServerEvent::RootsChanged { .. })));

    let mut early = agent(|config| config.mcp.roots = Some(vec![]));
    early.set_roots(vec![Root::new("file:///w")]).unwrap();
    let mut pair = joined(early);
    pair.settle();
    assert_eq!(
        pair.server.agent(pair.conn.into()).unwrap().roots(),
        [Root::new("file:///w")],
        "the list that was set before the session"
    );
}

#[test]
fn refused_change_of_roots_can_be_repeated() {
    let mut pair = pair(|config| {
        config.mcp.roots = Some(vec![]);
        config.ws.outgoing = 64;
    });
    let filler = serde_json::json!({"x": "x".repeat(256)});
    pair.client.notify("x/fill", Some(&filler)).unwrap();
    let changed = vec![Root::new("file:///w")];
    assert_eq!(pair.client.set_roots(changed.clone()), Err(NotSent::Full));
    pair.settle();
    pair.server_events.clear();
    pair.client.set_roots(changed.clone()).unwrap();
    pair.settle();
    assert!(
        matches!(&pair.server_events[..], [ServerEvent::RootsChanged { roots, .. }] if *roots == changed)
    );
    pair.client.close();
    pair.settle();
    assert_eq!(pair.client.set_roots(vec![]), Err(NotSent::Closed));
}

fn form() -> Form {
    Form::new("Which tests?").field(FormField::choice("suite", ["all", "failed"]).required())
}

fn chosen(suite: &str) -> FormAnswer {
    FormAnswer::Accepted(BTreeMap::from([("suite".to_string(), FieldValue::from(suite))]))
}

/// Sends a form, and returns the request and the form that the agent received.
fn elicit(pair: &mut Pair<Server, Client>) -> (Pending<FormAnswer>, ide_mcp::rpc::CallId) {
    let pending = pair.server.agent_mut(pair.conn.into()).elicit(form()).unwrap();
    pair.settle();
    let events = mem::take(&mut pair.client_events);
    let [ClientEvent::Form { call, form: shown }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*shown, form());
    pair.server_events.clear();
    (pending, *call)
}

/// Returns the answer to a form, as the editor reads it.
fn outcome(
    pair: &mut Pair<Server, Client>,
    pending: Pending<FormAnswer>,
) -> Result<FormAnswer, RequestError> {
    pair.settle();
    let mut events = mem::take(&mut pair.server_events);
    assert_eq!(events.len(), 1, "{events:?}");
    match events.remove(0) {
        ServerEvent::Outcome { request, outcome, .. } if request == pending.id() => pending.answer(outcome),
        other => panic!("{other:?}"),
    }
}

#[test]
fn form_returns_with_an_answer_that_fits() {
    let mut pair = pair(|config| config.mcp.elicitation = true);
    let rows = [
        ("accepted", chosen("failed"), true),
        ("declined", FormAnswer::Declined, true),
        ("closed", FormAnswer::Cancelled, true),
        ("none of the choices", chosen("some"), false),
        ("without the required field", FormAnswer::Accepted(BTreeMap::new()), false),
        ("accepted the second time", chosen("all"), true),
    ];
    for (name, answer, fits) in rows {
        let (pending, call) = elicit(&mut pair);
        assert_eq!(form().check(&answer).is_ok(), fits, "{name}");
        pair.client.answer_form(call, &answer).unwrap();
        match outcome(&mut pair, pending) {
            Ok(read) => assert!(fits && read == answer, "{name}: {read:?}"),
            Err(error) => assert!(!fits && matches!(error, RequestError::Unreadable), "{name}: {error}"),
        }
    }
    let (pending, call) = elicit(&mut pair);
    pair.client.fail(call, "no terminal").unwrap();
    assert!(pair.client.answer_form(call, &FormAnswer::Declined).is_err(), "it has ended");
    let refused = outcome(&mut pair, pending);
    assert!(
        matches!(&refused, Err(RequestError::Refused(error)) if error.message == "no terminal"),
        "{refused:?}"
    );
}

#[test]
fn every_form_ends_on_both_sides() {
    let open = || {
        let mut pair = pair(|config| config.mcp.elicitation = true);
        let (pending, call) = elicit(&mut pair);
        (pair, pending, call)
    };
    let ends = |pair: &mut Pair<Server, Client>| {
        mem::take(&mut pair.client_events)
            .iter()
            .filter(|end| matches!(end, ClientEvent::CallEnded { .. }))
            .count()
    };

    let (mut cancelled, pending, _) = open();
    assert!(cancelled.server.cancel(pending.id(), None));
    assert!(matches!(outcome(&mut cancelled, pending), Err(RequestError::Cancelled)));
    assert_eq!(ends(&mut cancelled), 1);

    // The person has ten minutes.
    let (mut late, pending, call) = open();
    late.advance_with(Duration::from_millis(599_999), |_, _| {}, |_, _| {});
    assert_eq!(ends(&mut late), 0);
    late.server_events.clear();
    late.advance_with(Duration::from_millis(1), |_, _| {}, |_, _| {});
    assert_eq!(ends(&mut late), 1);
    assert!(late.client.answer_form(call, &FormAnswer::Declined).is_err());
    assert!(
        matches!(outcome(&mut late, pending), Err(RequestError::Refused(error)) if error.code == -32_603)
    );

    let (mut short, _, _) = open();
    let pending = short.server.agent_mut(short.conn.into());
    let pending = pending.elicit_within(form(), Timeout::After(Duration::from_secs(1))).unwrap();
    short.settle();
    short.client_events.clear();
    short.server_events.clear();
    short.advance_with(Duration::from_secs(1), |_, _| {}, |_, _| {});
    assert!(matches!(outcome(&mut short, pending), Err(RequestError::TimedOut)));
    assert_eq!(ends(&mut short), 1, "the client closes the form");

    let (mut gone, pending, _) = open();
    gone.client.close();
    gone.settle();
    let mut events = mem::take(&mut gone.server_events).into_iter();
    let Some(ServerEvent::Outcome { outcome, .. }) = events.next() else { panic!("no outcome") };
    assert!(matches!(pending.answer(outcome), Err(RequestError::Closed)));
    assert!(matches!(events.next(), Some(ServerEvent::Closed { .. })));
    assert_eq!(ends(&mut gone), 1);
}

/// Checks that no form is written before the client can show it, and that every form sent earlier has an outcome.
#[test]
fn form_waits_until_the_client_shows_it() {
    let asking = || {
        let (mut editor, _) = attached_to(settling(), "claude-code", r#"{"elicitation":{}}"#);
        let pending =
            editor.agent_mut().elicit_within(form(), Timeout::After(Duration::from_secs(60))).unwrap();
        assert_eq!(editor.texts(), [""; 0]);
        (editor, pending.id())
    };
    let forms = |editor: &mut Editor| {
        editor.texts().iter().filter(|text| text.contains("elicitation/create")).count()
    };
    type Act = fn(&mut Editor, ide_mcp::rpc::RequestId) -> Vec<ServerEvent>;
    let rows: [(&str, Act, usize, &str); 4] = [
        ("nothing happens", |_, _| Vec::new(), 1, ""),
        ("another form", |editor, _| editor.agent_mut().elicit(form()).map(|_| Vec::new()).unwrap(), 2, ""),
        (
            "it is cancelled",
            |editor, pending| {
                assert!(editor.server.cancel(pending, None));
                assert!(!editor.server.cancel(pending, None), "once");
                editor.at(1)
            },
            0,
            "Cancelled",
        ),
        ("the client leaves", |editor, _| editor.eof(), 0, "Closed"),
    ];
    for (name, act, written, outcome) in rows {
        let (mut editor, pending) = asking();
        let events = act(&mut editor, pending);
        let outcomes = events.iter().filter_map(|event| match event {
            ServerEvent::Outcome { request, outcome, .. } if *request == pending => {
                Some(format!("{outcome:?}"))
            }
            _ => None,
        });
        assert_eq!(outcomes.collect::<Vec<_>>().concat(), outcome, "{name}");
        assert!(editor.at(1_599).is_empty(), "{name}");
        assert_eq!(editor.texts(), [""; 0], "{name}");
        editor.at(1_600);
        assert_eq!(forms(&mut editor), written, "{name}");
        editor.at(1_700);
        assert_eq!(forms(&mut editor), 0, "{name}: once");
    }

    let (mut editor, _) = attached_to(settling(), "claude-code", r#"{"elicitation":{}}"#);
    editor.at(1_600);
    editor.agent_mut().elicit(form()).unwrap();
    assert_eq!(forms(&mut editor), 1, "from now on at once");
}

/// Checks that the timeout of a form starts when the form is written, not while it waits.
#[test]
fn person_has_the_whole_time_for_a_form_that_waited() {
    let span = Duration::from_millis(300);
    let rows = [
        ("a time of its own", Timeout::After(span)),
        ("the time in the settings", Timeout::Default),
        ("a time between reports", Timeout::Progress { idle: span, total: span }),
    ];
    for (name, timeout) in rows {
        let mut config = settling();
        config.mcp.request_timeout = span;
        let (mut editor, _) = attached_to(config, "claude-code", r#"{"elicitation":{}}"#);
        editor.at(600);
        let pending = editor.agent_mut().elicit_within(form(), timeout).unwrap();
        assert!(editor.at(1_599).is_empty(), "{name}");
        assert_eq!(editor.texts(), [""; 0], "{name}");
        assert!(editor.at(1_600).is_empty(), "{name}");
        assert_eq!(editor.texts().len(), 1, "{name}");
        assert!(editor.at(1_899).is_empty(), "{name}");
        let events = editor.at(1_900);
        let is_late = |event: &ServerEvent| matches!(event, ServerEvent::Outcome { request, outcome: Outcome::TimedOut, .. } if *request == pending.id());
        assert!(matches!(&events[..], [event] if is_late(event)), "{name}: {events:?}");
    }
}

/// Checks that a form waits for the settle time after `initialized`, no matter when the person allows the client.
#[test]
fn consent_does_not_show_a_form_earlier_or_later() {
    let rows = [("not yet", None), ("before", Some(1)), ("in the settle time", Some(900))];
    for (name, allowed) in rows {
        let mut config = settling();
        config.asks_for_consent = true;
        let (mut editor, _) = attached_to(config, "claude-code", r#"{"elicitation":{}}"#);
        editor.agent_mut().elicit(form()).unwrap();
        if let Some(allowed) = allowed {
            editor.at(allowed);
            assert!(editor.agent_mut().allow(), "{name}");
        }
        editor.at(1_599);
        assert_eq!(editor.texts(), [""; 0], "{name}");
        editor.at(1_600);
        assert_eq!(editor.texts().len(), 1, "{name}");
    }
}

#[test]
fn form_needs_a_client_with_forms() {
    let rows = [
        ("as MCP 2025-06-18 declares", "claude-code", r#"{"elicitation":{}}"#, true),
        ("forms by name", "claude-code", r#"{"elicitation":{"form":{},"url":{}}}"#, true),
        ("pages alone", "claude-code", r#"{"elicitation":{"url":{}}}"#, false),
        ("not declared", "claude-code", r#"{"roots":{}}"#, false),
        ("no object", "claude-code", r#"{"elicitation":1}"#, false),
        ("a client that answers nothing", "opencode", r#"{"elicitation":{}}"#, false),
    ];
    for (name, client, capabilities, is_sent) in rows {
        let (mut editor, _) = attached(client, capabilities);
        let pending = editor.agent_mut().elicit(form());
        assert_eq!(pending.map(drop), if is_sent { Ok(()) } else { Err(NotSent::Undeclared) }, "{name}");
        assert_eq!(editor.texts().len(), usize::from(is_sent), "{name}");
    }
    let mut early = Editor::open(config());
    assert_eq!(early.agent_mut().elicit(form()).unwrap_err(), NotSent::NotReady);
}

#[test]
fn unusable_question_is_refused_by_the_agent() {
    let url = serde_json::json!({"mode": "url", "message": "m", "url": "https://x", "elicitationId": "1"});
    for (name, elicitation, code) in [("another mode", true, -32_602), ("not declared", false, -32_601)] {
        let mut pair = pair(|config| config.mcp.elicitation = elicitation);
        pair.server_events.clear();
        pair.server
            .agent_mut(pair.conn.into())
            .request("elicitation/create", Some(&url), Timeout::Default)
            .unwrap();
        pair.settle();
        let events = mem::take(&mut pair.server_events);
        let [ServerEvent::Outcome { outcome: Outcome::Error(error), .. }] = &events[..] else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(error.code, code, "{name}");
        assert!(pair.client_events.is_empty(), "{name}");
    }
}

#[test]
fn server_asks_each_agent_separately() {
    let mut server = Server::new(config());
    let mut agents = Vec::new();
    for folder in ["/w/a", "/w/b"] {
        let conn = server.connect(Time::ZERO);
        let initialize =
            INITIALIZE.replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{},"elicitation":{}}"#);
        let answer = roots(1, &[&format!("file://{folder}")]);
        let head = crate::support::ide::HEAD.as_bytes().to_vec();
        for bytes in [head, text(&initialize), text(INITIALIZED), text(&answer)] {
            server.feed(Time::ZERO, conn, &bytes);
            for event in pass(&mut server, Time::ZERO, usize::MAX).events {
                if let ServerEvent::RootsChanged { agent, .. } = event {
                    agents.push(agent);
                }
            }
        }
    }
    let windows = [[local("/w/b")], [local("/w/a")]];
    let places: Vec<_> =
        agents.iter().map(|agent| server.agent(*agent).unwrap().closest_window(&windows, None)).collect();
    assert_eq!(places, [Some(1), Some(0)]);
    let pending = server.agent_mut(agents[1]).elicit(form()).unwrap();
    assert!(server.cancel(pending.id(), None));
    let events = pass(&mut server, Time::ZERO, usize::MAX).events;
    assert!(
        matches!(&events[..], [ServerEvent::Outcome { agent, request, .. }]
            if *agent == agents[1] && *request == pending.id()),
        "{events:?}"
    );
}
