//! An agent and an editor joined by two pipes and a clock: handshakes, calls, diffs, cancellation, refusals, and how
//! connections end.

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use crate::support::ide::{ACCEPTED, PORT, at, called, config, save, selection, show, token};
use crate::support::joined::{self, drain, write};
use ide_mcp::ide::discovery::{AuthToken, Backoff, GaveUp, LockFile, Reconnect, Transport};
use ide_mcp::ide::tool::{
    CloseAllDiffTabs, CloseTab, DiffOutcome, GetDiagnostics, OpenDiff, OtherTool, ToolCall, ToolSet,
};
use ide_mcp::{
    Time,
    ide::{
        Agent, AgentMut, Auth, Client, ClientConfig, ClientEvent, DiagnosticsChanged, Mention, Policy, Push,
        Server, ServerConfig, ServerEvent, TOKEN_FIELD,
    },
    mcp::{Forward, Implementation, List, Outcome, Progress, Timeout, ToolResult},
    rpc::{ErrorObject, NotAnswered, NotSent, RequestId, SessionId},
    testing::{self, Random, pass},
    ws::{self, Closed, NotAccepted, ProtocolError},
};
use serde_json::value::RawValue;

/// An editor and an agent, with the helpers of these tests.
struct Pair(testing::Pair<Server, Client>);

impl Deref for Pair {
    type Target = testing::Pair<Server, Client>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Pair {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Pair {
    fn joined(token: Option<AuthToken>, config: ServerConfig) -> Self {
        let mut client = ClientConfig::new(Implementation::new("agent", "2.0"), PORT, token);
        client.pid = Some(4711);
        Self::of(client, config)
    }

    fn of(client: ClientConfig, server: ServerConfig) -> Self {
        let client = Client::new(client, Random::new(1).source(), SessionId::new(2), Time::ZERO).unwrap();
        Self::at_time(client, server, Time::ZERO)
    }

    /// Joins an agent to an editor that sends each selection at once.
    fn at_time(client: Client, mut server: ServerConfig, now: Time) -> Self {
        server.debounce = Duration::ZERO;
        let mut server = Server::new(server);
        let conn = server.connect(now);
        Self(testing::Pair::joined(server, conn, client, now))
    }

    /// Returns the agent, as the editor speaks to it.
    fn agent(&mut self) -> AgentMut<'_> {
        self.0.server.agent_mut(self.0.conn.into())
    }

    fn attached() -> Self {
        Self::joined(Some(token()), config()).settled()
    }

    /// Lets both sides attach, and drops the events so far.
    fn settled(mut self) -> Self {
        self.settle();
        let accepts = self.server.agent(self.conn.into()).is_some_and(Agent::accepts_pushes);
        assert!(self.client.is_ready() && accepts);
        self.client_events.clear();
        self.server_events.clear();
        self
    }

    /// Advances the clock to this time.
    fn at(&mut self, millis: u64) {
        self.settle();
        let now = self.now;
        self.advance(at(millis).saturating_since(now));
    }

    fn client_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.client_events).iter().map(|event| format!("{event:?}")).collect()
    }

    fn editor_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.server_events).iter().map(show).collect()
    }

    /// Returns the outcome of this request, which must be the only event of the client.
    fn outcome(&mut self, pending: RequestId) -> Outcome {
        match &std::mem::take(&mut self.client_events)[..] {
            [ClientEvent::Outcome { request, outcome }] if *request == pending => outcome.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the text blocks in the result of this call.
    fn result(&mut self, pending: RequestId) -> Vec<String> {
        let Outcome::Result(result) = self.outcome(pending) else { panic!("no result") };
        ToolResult::read(&result).unwrap().texts().map(str::to_owned).collect()
    }

    /// Opens a diff from the client. Returns its ids on both sides.
    fn diff(&mut self, tab: &str) -> (RequestId, ide_mcp::rpc::CallId) {
        let pending = self.client.call_tool(&OpenDiff::new("/w/a", "new", tab)).unwrap().id();
        self.settle();
        (pending, called(&std::mem::take(&mut self.server_events)))
    }
}

fn agent() -> ClientConfig {
    ClientConfig::new(Implementation::new("agent", "2.0"), PORT, Some(token()))
}

/// Returns an agent, and a bare WebSocket server that has read its request.
fn asking() -> (Client, ws::Server) {
    let mut client = Client::new(agent(), Random::new(1).source(), SessionId::new(2), at(0)).unwrap();
    let mut server = ws::Server::new(ws::Limits::default(), at(0));
    server.feed(at(0), &write(&mut client, usize::MAX));
    assert!(matches!(&drain(&mut server)[..], [ws::OwnedEvent::Upgrade(_)]));
    (client, server)
}

#[test]
fn client_attaches_at_every_piece_size() {
    let mut seen = Vec::new();
    for piece in [usize::MAX, 100, 7, 1] {
        let mut pair = Pair::joined(Some(token()), config());
        pair.cut_into(piece);
        pair.server.select(Time::ZERO, selection("sel"));
        pair.settle();
        let (client_log, editor_log) = (pair.client_log(), pair.editor_log());
        assert!(
            client_log[0].starts_with("Ready(") && client_log[0].contains(r#"name: "editor""#),
            "{client_log:?}"
        );
        assert!(
            client_log[1].starts_with("Pushed(SelectionChanged(") && client_log[1].contains(r#"text: "sel""#),
            "{client_log:?}"
        );
        assert_eq!(client_log.len(), 2, "{client_log:?}");
        assert!(editor_log[0].contains(r#"name: "agent""#), "{editor_log:?}");
        assert_eq!(
            editor_log[1..],
            ["IdeConnected { pid: Some(4711), is_version_unsupported: false }"],
            "{editor_log:?}"
        );
        assert!(pair.client.is_ready() && pair.server.agent(pair.conn.into()).is_some());
        seen.push((client_log, editor_log));
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn tools_are_listed_and_called() {
    let mut pair = Pair::attached();
    let pending = pair.client.list_tools().unwrap();
    pair.settle();
    let outcome = pair.outcome(pending.id());
    let tools = pending.answer(outcome).unwrap();
    for name in ["openDiff", "close_tab", "closeAllDiffTabs", "getDiagnostics", "openFile", "countLines"] {
        assert!(tools.iter().any(|tool| tool.name == name), "{name}");
    }
    assert!(tools.iter().all(|tool| tool.input_schema.starts_with('{')), "{tools:?}");

    let pending = pair.client.call_tool(&CloseAllDiffTabs).unwrap().id();
    pair.settle();
    assert_eq!(pair.result(pending), ["CLOSED_0_DIFF_TABS"]);
    assert!(pair.server_events.is_empty());

    let pending = pair.client.call_tool(&GetDiagnostics::new(None)).unwrap().id();
    pair.settle();
    let call = called(&std::mem::take(&mut pair.server_events));
    pair.server.call(call).respond(&ToolResult::text("[]")).unwrap();
    pair.settle();
    assert_eq!(pair.result(pending), ["[]"]);

    let pending = pair.client.request("fly", None::<&()>, Timeout::Default).unwrap();
    pair.settle();
    assert!(matches!(pair.outcome(pending), Outcome::Error(error) if error.code == -32601));
}

#[test]
fn a_diff_is_accepted_edited_or_rejected() {
    let mut pair = Pair::attached();
    let saved = |contents: &str| DiffOutcome::Accepted { contents: contents.into() };
    let rejected = DiffOutcome::Rejected { tab_name: "✻ t ⧉".into() };
    for (outcome, expected) in [
        (saved("new"), ["FILE_SAVED", "new"]),
        (saved("edited\n\u{1f600}"), ["FILE_SAVED", "edited\n\u{1f600}"]),
        (rejected, ["DIFF_REJECTED", "✻ t ⧉"]),
    ] {
        let (pending, call) = pair.diff("✻ t ⧉");
        // A person takes a day.
        let day = u64::try_from(pair.now.since_start().as_millis()).unwrap() + 86_400_000;
        pair.at(day);
        assert_eq!((pair.client_log(), pair.editor_log()), (vec![], vec![]));
        pair.server.call(call).respond(&crate::support::ide::vs_code(&outcome)).unwrap();
        pair.settle();
        assert_eq!(pair.result(pending), expected);
        let closed = pair.client.call_tool(&CloseTab::new("✻ t ⧉")).unwrap().id();
        pair.settle();
        assert_eq!(pair.result(closed), ["TAB_CLOSED"]);
        assert!(pair.server_events.is_empty());
    }
}

#[test]
fn diff_decided_in_terminal_ends_with_tab() {
    let mut pair = Pair::attached();
    let (pending, call) = pair.diff("t");
    let closed = pair.client.call_tool(&CloseTab::new("t")).unwrap().id();
    pair.settle();
    assert_eq!(pair.editor_log(), ["diff t TabClosed"]);
    let client_log = std::mem::take(&mut pair.client_events);
    let ended: Vec<RequestId> = client_log
        .iter()
        .filter_map(|event| {
            if let ClientEvent::Outcome { request, outcome: Outcome::Result(_) } = event {
                Some(*request)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(ended, [pending, closed]);
    assert_eq!(save(&mut pair.server, call, "x"), Err(NotAnswered::Answered));
}

#[test]
fn cancelled_call_ends_once_on_both_sides() {
    let mut pair = Pair::attached();
    let (pending, call) = pair.diff("t");
    assert!(pair.client.cancel(pending, Some("escape")));
    assert_eq!(pair.client.deadline(), Some(pair.now), "law 5: the outcome waits");
    assert!(!pair.client.cancel(pending, None));
    pair.settle();
    assert!(matches!(pair.outcome(pending), Outcome::Cancelled));
    assert_eq!(pair.editor_log(), ["diff t Cancelled"]);
    assert_eq!(save(&mut pair.server, call, "x"), Err(NotAnswered::Cancelled));

    // The answer crosses the cancellation.
    let (pending, call) = pair.diff("u");
    pair.client.cancel(pending, None);
    save(&mut pair.server, call, "x").unwrap();
    pair.settle();
    let client_log = pair.client_log();
    assert!(
        client_log[0].contains("Cancelled") && client_log[1] == "PeerFault(LateResponse)",
        "{client_log:?}"
    );
    assert_eq!((client_log.len(), pair.editor_log()), (2, vec![]));
}

#[test]
fn unanswered_diagnostics_call_is_answered_as_unknown() {
    let mut pair = Pair::attached();
    let mut begin = 0;
    let rows = [(Some("file:///w/a".into()), 400, "edit of /w/a"), (None, 1_900, "edit of /w/a TurnDone")];
    for (uri, millis, edit) in rows {
        let pending = pair.client.call_tool(&GetDiagnostics::new(uri)).unwrap().id();
        pair.at(begin + millis - 1);
        assert!(pair.client_events.is_empty(), "before {millis} ms");
        pair.at(begin + millis);
        let unknown = "unknown: the editor has not reported the problems in time";
        assert_eq!(pair.result(pending), [unknown], "after {millis} ms");
        assert_eq!(pair.editor_log(), [edit, "call getDiagnostics", "ended Expired"]);
        begin += millis;
    }
}

#[test]
fn pushes_arrive_typed() {
    let mut pair = Pair::attached();
    pair.server.select(Time::ZERO, selection("sel"));
    pair.settle();
    pair.server.mention(Time::ZERO, Mention::new("/w/a", Some((3, 4))), None).unwrap();
    let stale = DiagnosticsChanged::Stale { uris: vec!["file:///w/a".into()] };
    assert_eq!(pair.server.diagnostics_changed(stale.clone()), []);
    assert_eq!(pair.server.active_editor_changed(selection("")), []);
    pair.agent().notify("diagnostics_changed", None::<&()>).unwrap();
    pair.server.set_tools(ToolSet::new());
    pair.settle();
    let client_log = std::mem::take(&mut pair.client_events);
    let [
        ClientEvent::Pushed(Push::SelectionChanged(changed)),
        ClientEvent::Pushed(Push::AtMentioned(mention)),
        ClientEvent::Pushed(Push::DiagnosticsChanged(record)),
        ClientEvent::Pushed(Push::ActiveEditorChanged(active)),
        ClientEvent::Notification { method, params: None },
        ClientEvent::ToolsChanged,
    ] = &client_log[..]
    else {
        panic!("{client_log:?}")
    };
    assert_eq!((changed.text.as_str(), changed.file_path.as_str()), ("sel", "/w/a.txt"));
    assert_eq!(changed.file_url.as_deref(), Some("file:///w/a.txt"));
    assert_eq!(*mention, Mention::new("/w/a", Some((3, 4))));
    assert_eq!((record, active.file_url.as_deref()), (&stale, Some("file:///w/a.txt")));
    assert_eq!(&**method, "diagnostics_changed", "a push that cannot be read is passed on raw");
    // The agent lists the tools again, and receives the selection again.
    pair.client.list_tools().unwrap();
    pair.settle();
    let client_log = pair.client_log();
    assert!(client_log.len() == 2 && client_log[1].starts_with("Pushed(SelectionChanged("), "{client_log:?}");
}

#[test]
fn requests_of_the_editor_are_answered() {
    let mut pair = Pair::attached();
    let ping = pair.agent().request("ping", None::<&()>, Timeout::Default).unwrap();
    let roots = pair.agent().request("roots/list", None::<&()>, Timeout::Default).unwrap();
    pair.settle();
    let editor_log = std::mem::take(&mut pair.server_events);
    let [
        ServerEvent::Outcome { request: first, outcome: Outcome::Result(empty), .. },
        ServerEvent::Outcome { request: second, outcome: Outcome::Error(error), .. },
    ] = &editor_log[..]
    else {
        panic!("{editor_log:?}")
    };
    assert_eq!((*first, *second, empty.get(), error.code), (ping, roots, "{}", -32601));
    assert!(pair.client_events.is_empty());
}

/// Checks requests that the crate does not model, with progress and raw answers, in both directions.
#[test]
fn raw_requests_go_both_ways() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let everything = Timeout::Progress { idle: Duration::from_secs(9), total: Duration::from_secs(99) };
    let mut config = config();
    config.mcp.forward = Forward::Unmodelled;
    let mut client = agent();
    client.mcp.forward = Forward::Methods(vec!["roots/list".into()]);
    let mut pair = Pair::of(client, config).settled();

    let pending = pair.client.request("x/raw", Some(&raw(r#"{"a":1}"#)), everything).unwrap();
    pair.settle();
    let events = std::mem::take(&mut pair.server_events);
    let [ServerEvent::Request { call, method, params: Some(params), .. }] = &events[..] else {
        panic!("{events:?}")
    };
    let serial = params.get().matches(|c: char| c.is_ascii_digit()).next_back().unwrap().to_owned();
    let want = format!(r#"{{"a":1,"_meta":{{"progressToken":{serial}}}}}"#);
    assert_eq!((&**method, params.get()), ("x/raw", want.as_str()));
    assert_eq!(pair.server.call(*call).progress(&Progress::new(1.0)), Ok(true));
    pair.settle();
    assert!(matches!(
        &std::mem::take(&mut pair.client_events)[..],
        [ClientEvent::Progress { request, progress }] if *request == pending && progress.progress == 1.0
    ));
    pair.server.call(*call).respond_raw(&raw(r#"{"b":2}"#)).unwrap();
    assert_eq!(pair.server.call(*call).respond_raw(&raw("{}")), Err(NotAnswered::Answered));
    pair.settle();
    assert!(matches!(pair.outcome(pending), Outcome::Result(result) if result.get() == r#"{"b":2}"#));

    for well in [true, false] {
        pair.agent().request("roots/list", None::<&()>, Timeout::Default).unwrap();
        pair.settle();
        let events = std::mem::take(&mut pair.client_events);
        let [ClientEvent::Request { call, params: None, .. }] = &events[..] else { panic!("{events:?}") };
        match well {
            true => pair.client.respond_raw(*call, &raw(r#"{"roots":[]}"#)).unwrap(),
            false => pair.client.fail(*call, ErrorObject::new(-1, "no")).unwrap(),
        }
        pair.settle();
        let outcome = std::mem::take(&mut pair.server_events);
        let [ServerEvent::Outcome { outcome, .. }] = &outcome[..] else { panic!("{outcome:?}") };
        assert_eq!(matches!(outcome, Outcome::Result(_)), well, "{outcome:?}");
    }

    // An open request ends with the connection.
    pair.agent().request("roots/list", None::<&()>, Timeout::Default).unwrap();
    pair.settle();
    pair.client_events.clear();
    pair.client.close();
    pair.settle();
    assert!(
        matches!(&pair.client_events[..], [ClientEvent::CallEnded { .. }, ClientEvent::Closed(_)]),
        "{:?}",
        pair.client_events
    );
}

/// Checks what a bridge needs of its agent's side: raw notifications and requests, and calls without a timeout.
#[test]
fn bridge_receives_and_answers_raw() {
    let mut client = ClientConfig::new(Implementation::new("bridge", "1"), PORT, Some(token()));
    client.mcp.forward = Forward::All;
    client.raw_notifications = true;
    let mut pair = Pair::of(client, config()).settled();

    let odd = RawValue::from_string(r#"{"text":"t", "odd":1}"#.to_owned()).unwrap();
    for client_log in ["selection_changed", "notifications/tools/list_changed"] {
        pair.agent().notify(client_log, Some(&*odd)).unwrap();
        pair.settle();
        let events = std::mem::take(&mut pair.client_events);
        let [ClientEvent::Notification { method, params: Some(params) }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!((&**method, params.get()), (client_log, odd.get()));
    }

    let patient = Timeout::Progress { idle: Duration::from_secs(900), total: Duration::from_secs(900) };
    pair.agent().request("x/ask", None::<&()>, patient).unwrap();
    pair.settle();
    let events = std::mem::take(&mut pair.client_events);
    let [ClientEvent::Request { call, .. }] = &events[..] else { panic!("{events:?}") };
    pair.client.set_call_timeout(*call, Timeout::Never).unwrap();
    pair.at(40_000);
    assert_eq!(pair.client.progress(*call, &Progress::new(0.5)), Ok(true), "the call is open after 30 s");
    let mut error = ErrorObject::new(-7, "no");
    error.data = Some(odd.clone().into());
    pair.client.fail(*call, error.clone()).unwrap();
    for gone in [
        pair.client.fail(*call, error.clone()),
        pair.client.set_call_timeout(*call, Timeout::Never),
        pair.client.progress(*call, &Progress::new(0.6)).map(drop),
    ] {
        assert_eq!(gone, Err(NotAnswered::Answered));
    }
    pair.settle();
    let editor_log = std::mem::take(&mut pair.server_events);
    let [ServerEvent::Progress { .. }, ServerEvent::Outcome { outcome: Outcome::Error(error), .. }] =
        &editor_log[..]
    else {
        panic!("{editor_log:?}")
    };
    assert_eq!((error.code, error.data.as_deref().unwrap().get()), (-7, odd.get()));
}

#[test]
fn refused_client_reads_the_status() {
    let wrong = AuthToken::from_text("tok-wrong").unwrap();
    let status = |code, phrase: &str| Closed::NotAccepted(NotAccepted::Status(code, phrase.into()));
    let mut other_port = config();
    other_port.policy.port = 1;
    let mut cases = vec![
        ("a wrong token", Some(wrong), config(), status(401, "Unauthorized")),
        ("no token", None, config(), status(401, "Unauthorized")),
        ("another port", Some(token()), other_port, status(403, "Forbidden")),
    ];
    for (name, token, config, expected) in cases.drain(..) {
        let mut pair = Pair::joined(token, config);
        pair.settle();
        assert_eq!(pair.client_log(), [format!("{:?}", ClientEvent::Closed(expected))], "{name}");
        assert_eq!((pair.editor_log(), pair.server.unauthenticated().refused), (vec![], 1), "{name}");
        assert!(pair.is_over(), "{name}");
        assert_eq!(pair.client.list_tools().unwrap_err(), NotSent::Closed, "{name}");
    }
}

#[test]
fn own_tool_arrives_as_the_agent_named_it() {
    let own = |name: &str, json: &str| OtherTool::new(name, RawValue::from_string(json.into()).unwrap());
    let mut config = config();
    config.tools = ToolSet::new().custom("countLines", "", "{}").custom("countWords", "", "{}").into();
    let mut pair = Pair::joined(Some(token()), config).settled();
    let arguments = r#"{"path":"a"}"#;
    let request = pair.client.call_tool(&own("countLines", arguments)).unwrap();
    pair.settle();
    let Some(ServerEvent::Call { call: ToolCall::Other(call, pending), .. }) = pair.server_events.pop()
    else {
        panic!("{:?}", pair.server_events);
    };
    for (name, other, is_equal) in [
        ("the same", own("countLines", arguments), true),
        ("another tool", own("countWords", arguments), false),
        ("other arguments", own("countLines", "{}"), false),
    ] {
        assert_eq!(pending == other, is_equal, "{name}");
    }
    pair.server.answer(call, ToolResult::text("1")).unwrap();
    pair.settle();
    let answers = &pair.client_events;
    assert!(
        matches!(&answers[..], [ClientEvent::Outcome { request: answered, .. }] if *answered == request.id()),
        "{answers:?}"
    );
}

#[test]
fn agent_is_open_until_its_end_begins() {
    let mut pair = Pair::attached();
    let id = pair.conn.into();
    assert!(pair.server.agent(id).is_some_and(Agent::is_open));
    let now = pair.now;
    pair.agent().disconnect(now);
    assert!(!pair.server.agent(id).is_some_and(Agent::is_open), "its close frame is not answered yet");
}

#[test]
fn close_before_the_answer_ends_at_once() {
    let (mut client, mut server) = asking();
    client.close();
    let passed = pass(&mut client, at(0), 0);
    assert!(
        matches!(&passed.events[..], [ClientEvent::Closed(Closed::Local { clean: false })]),
        "{passed:?}"
    );
    assert_eq!((passed.closed, passed.unwritten), (vec![()], vec![]));
    // The answer comes too late.
    server.accept(Some("mcp")).unwrap();
    client.feed(at(0), &write(&mut server, usize::MAX));
    assert!(drain(&mut client).is_empty() && !client.is_ready());
}

#[test]
fn client_leaves_editor_without_mcp_subprotocol() {
    let (mut client, mut server) = asking();
    server.accept(None).unwrap();
    client.feed(at(0), &write(&mut server, usize::MAX));
    let events = drain(&mut client);
    assert!(matches!(&events[..], [ClientEvent::SubprotocolMissing]), "{events:?}");
    assert_eq!(client.list_tools().unwrap_err(), NotSent::NotReady);
    server.feed(at(0), &write(&mut client, usize::MAX));
    let events = drain(&mut server);
    let [ws::OwnedEvent::Closed(Closed::Remote { code: Some(ws::CloseCode::PROTOCOL), reason })] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(&**reason, "the sub-protocol mcp was not chosen");
    client.feed(at(0), &write(&mut server, usize::MAX));
    let (events, is_over) = joined::at(&mut client, at(0));
    assert!(matches!(&events[..], [ClientEvent::Closed(Closed::Local { clean: true })]), "{events:?}");
    assert!(is_over);
}

#[test]
fn ide_connected_waits_for_send_buffer_room() {
    let policy = Policy::new(PORT, Auth::Disabled);
    let server = ServerConfig::new("editor", "1").policy(policy);
    let mut client = ClientConfig::new(Implementation::new("agent", "1"), PORT, None);
    client.pid = Some(7);
    // The messages before `ide_connected` fill the send buffer.
    client.ws.outgoing = 20;
    let mut pair = Pair::of(client, server);
    pair.settle();
    let connected = |event: &&ServerEvent| matches!(event, ServerEvent::IdeConnected { pid: Some(7), .. });
    assert_eq!(pair.server_events.iter().filter(connected).count(), 1, "{:?}", pair.server_events);
}

/// Checks that a client above its high-water mark waits for the transport, and that the timers of its
/// session neither fire nor wake it.
#[test]
fn full_client_waits_for_send_buffer_room() {
    let mut client = agent();
    client.ws.outgoing = 2_000;
    let mut pair = Pair::of(client, config()).settled();
    let timeout = Timeout::After(Duration::from_secs(1));
    let mut pending = Vec::new();
    for _ in 0..2 {
        pending.push(
            pair.client.call_tool_within(&OpenDiff::new("/w/a", "x".repeat(900), "t"), timeout).unwrap().id(),
        );
    }
    assert_eq!(pair.client.call_tool(&GetDiagnostics::default()).unwrap_err(), NotSent::Full);
    let cancelled = pending.remove(0);
    pair.client.cancel(cancelled, None);
    assert_eq!(pair.client.deadline(), Some(pair.now), "law 5: the outcome waits");
    assert!(matches!(
        &drain(&mut pair.client)[..],
        [ClientEvent::Outcome { outcome: Outcome::Cancelled, .. }]
    ));
    let after = pair.now.saturating_add(Duration::from_secs(2));
    pair.now = after;
    assert!(joined::at(&mut pair.client, after).0.is_empty(), "the answers can be on their way");
    assert!(pair.client.deadline().is_none_or(|due| due > after), "nothing is due");
    let outcomes = pass(&mut pair.client, after, usize::MAX).events;
    let ended: Vec<RequestId> = outcomes
        .iter()
        .filter_map(|event| match event {
            ClientEvent::Outcome { request, outcome: Outcome::TimedOut } => Some(*request),
            _ => None,
        })
        .collect();
    assert_eq!(ended, pending, "{outcomes:?}");
}

#[test]
fn client_leaves_editor_after_failed_initialize() {
    let version = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"e","version":"1"}}}"#;
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#;
    for (name, answer, expected) in [
        ("an unknown version", version, r#"Failed(UnknownVersion("1999-01-01"))"#),
        ("an error", error, "Failed(Refused(ErrorObject"),
    ] {
        let (mut client, mut server) = asking();
        server.accept(Some("mcp")).unwrap();
        server.sender().text(answer).unwrap();
        let bytes = write(&mut server, usize::MAX);
        assert!(bytes.starts_with(&ACCEPTED.as_bytes()[..30]));
        client.feed(at(0), &bytes);
        let events = drain(&mut client);
        assert!(events.len() == 1 && format!("{:?}", events[0]).starts_with(expected), "{name}: {events:?}");
        server.feed(at(0), &write(&mut client, usize::MAX));
        client.feed(at(0), &{
            drain(&mut server);
            write(&mut server, usize::MAX)
        });
        assert!(
            matches!(&drain(&mut client)[..], [ClientEvent::Closed(Closed::Local { clean: true })]),
            "{name}"
        );
    }
}

/// Checks messages that the real client, as measured, reads or skips.
#[test]
fn binary_messages_batches_and_nonsense_are_tolerated() {
    let (mut client, mut server) = asking();
    server.accept(Some("mcp")).unwrap();
    let oldest = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"e","version":"1"}}}"#;
    server.sender().binary(oldest.as_bytes()).unwrap();
    let client_log = [
        r#"{"jsonrpc":"2.0","method":"selection_changed","params":{}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
        "nonsense",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/a"}}"#,
    ];
    for text in client_log {
        server.sender().binary(text.as_bytes()).unwrap();
    }
    client.feed(at(0), &write(&mut server, usize::MAX));
    let editor_log: Vec<String> = drain(&mut client).iter().map(|event| format!("{event:?}")).collect();
    let expected = [
        "Ready(",
        "Pushed(SelectionChanged(",
        "PeerFault(",
        "PeerFault(",
        "PeerFault(",
        "Pushed(AtMentioned(",
    ];
    assert_eq!(editor_log.len(), expected.len(), "{editor_log:?}");
    assert!(
        editor_log.iter().zip(expected).all(|(editor_log, expected)| editor_log.starts_with(expected)),
        "{editor_log:?}"
    );
    assert!(client.is_ready());
    server.feed(at(0), &write(&mut client, usize::MAX));
    let answers = drain(&mut server).into_iter().filter(|event| format!("{event:?}").contains("result"));
    assert_eq!(answers.count(), 0, "a batch is not answered");
}

#[test]
fn binary_message_that_is_not_text_ends_the_client() {
    let (mut client, mut server) = asking();
    server.accept(Some("mcp")).unwrap();
    server.sender().binary(&[0xff]).unwrap();
    client.feed(at(0), &write(&mut server, usize::MAX));
    let events = drain(&mut client);
    let [.., ClientEvent::Closed(Closed::ProtocolError(ProtocolError::UnexpectedBinary))] = &events[..]
    else {
        panic!("{events:?}")
    };
    let last = pass(&mut client, at(0), usize::MAX);
    assert_eq!(last.closed, [()]);
    server.feed(at(0), &last.written_bytes());
    let events = drain(&mut server);
    assert!(format!("{events:?}").contains("binary message: all messages are text"), "{events:?}");
    // The end of the transport brings nothing further.
    client.feed_eof(at(0));
    let late = pass(&mut client, at(0), usize::MAX);
    assert!(late.events.is_empty() && late.closed.is_empty(), "{late:?}");
}

#[test]
fn client_leaves_silent_editor_after_30_s() {
    let mut client = Client::new(agent(), Random::new(1).source(), SessionId::new(2), at(0)).unwrap();
    write(&mut client, usize::MAX);
    assert!(joined::at(&mut client, at(29_999)).0.is_empty());
    assert_eq!(client.deadline(), Some(at(30_000)));
    let (events, _) = joined::at(&mut client, at(30_000));
    assert!(matches!(&events[..], [ClientEvent::Closed(Closed::NotAccepted(NotAccepted::TimedOut))]));
}

#[test]
fn pending_requests_end_once_with_the_connection() {
    type Going = fn(&mut Pair);
    let cases: &[(&str, Going, &str)] = &[
        (
            "the transport is gone",
            |pair| {
                pair.0.client.feed_eof(pair.0.now);
                pair.0.server.feed_eof(pair.0.now, pair.0.conn);
            },
            "Closed(Abnormal)",
        ),
        (
            "the input is no WebSocket",
            |pair| pair.0.client.feed(pair.0.now, &[0xff, 0xff]),
            "Closed(ProtocolError(ReservedBit))",
        ),
    ];
    for (name, go, closed) in cases {
        let mut pair = Pair::attached();
        let (diff, _) = pair.diff("t");
        let file = pair.client.request("countLines", None::<&()>, Timeout::Never).unwrap();
        go(&mut pair);
        let events = drain(&mut pair.client);
        let mut outcomes = Vec::new();
        for event in &events {
            if let ClientEvent::Outcome { request, outcome } = event {
                assert!(matches!(outcome, Outcome::Closed), "{name}: {outcome:?}");
                outcomes.push(*request);
            }
        }
        assert_eq!(outcomes, [diff, file], "{name}");
        assert_eq!((events.len(), format!("{:?}", events[2])), (3, (*closed).to_owned()), "{name}");
        assert!(drain(&mut pair.client).is_empty() && !pair.client.is_ready(), "{name}");
        assert_eq!(pair.client.list_tools().unwrap_err(), NotSent::Closed, "{name}");
    }
}

#[test]
fn leaving_agent_ends_its_diffs() {
    let mut pair = Pair::attached();
    let (pending, _) = pair.diff("t");
    pair.client.close();
    // A message after the close frame would never arrive.
    let late = pair.client.call_tool(&CloseAllDiffTabs).map(|pending| pending.id());
    assert_eq!(late, Err(NotSent::Closed));
    assert_eq!(pair.client.notify("x", None::<&()>), Err(NotSent::Closed));
    pair.settle();
    assert_eq!(
        pair.editor_log(),
        ["diff t Disconnected", r#"Closed(Remote { code: Some(CloseCode(1000)), reason: "" })"#]
    );
    let client_log = pair.client_log();
    assert!(
        client_log[0].contains("outcome: Closed") && client_log[0].contains(&format!("{pending:?}")),
        "{client_log:?}"
    );
    assert_eq!(client_log[1..], ["Closed(Local { clean: true })"]);
}

#[test]
fn request_timeout_starts_at_latest_time() {
    let mut pair = Pair::attached();
    joined::at(&mut pair.client, at(1_000_000));
    let pending = pair.client.request("fly", None::<&()>, Timeout::After(Duration::from_secs(1))).unwrap();
    assert!(joined::at(&mut pair.client, at(1_000_999)).0.is_empty());
    pair.client_events = joined::at(&mut pair.client, at(1_001_000)).0;
    assert!(matches!(pair.outcome(pending), Outcome::TimedOut));
}

/// Checks the timeout of a typed call, and its progress.
#[test]
fn call_ends_after_its_own_timeout() {
    let second = Duration::from_secs(1);
    let mut pair = Pair::attached();
    let diff = OpenDiff::new("/w/a", "new", "t");
    let patient = Timeout::Progress { idle: second, total: Duration::from_secs(9) };
    let pending = pair.client.call_tool_within(&diff, patient).unwrap().id();
    pair.settle();
    let call = called(&std::mem::take(&mut pair.server_events));
    pair.at(900);
    assert_eq!(pair.server.call(call).progress(&Progress::new(1.0)), Ok(true));
    pair.at(1_800);
    assert!(matches!(
        &std::mem::take(&mut pair.client_events)[..],
        [ClientEvent::Progress { request, .. }] if *request == pending
    ));
    pair.at(1_901);
    assert!(matches!(pair.outcome(pending), Outcome::TimedOut));
    assert_eq!(pair.editor_log(), ["diff t Cancelled"]);

    let pending = pair.client.call_tool_within(&diff, Timeout::After(second)).unwrap().id();
    pair.at(2_902);
    assert!(matches!(pair.outcome(pending), Outcome::TimedOut));

    let pending = pair.client.list(List::Prompts, Timeout::After(second)).unwrap();
    pair.settle();
    assert!(matches!(pair.outcome(pending), Outcome::Result(list) if list.get() == r#"{"prompts":[]}"#));
}

/// Checks that the client sends `ClientConfig::fields`, with which a program (such as `doctor`)
/// asks an editor as a web page would (`Origin`).
#[test]
fn client_sends_configured_header_fields() {
    let ask = |name: &str, value: &str| {
        let mut config = ClientConfig::new(Implementation::new("agent", "2.0"), PORT, None);
        config.fields = vec![(name.into(), value.into())];
        Client::new(config, Random::new(1).source(), SessionId::new(2), at(0))
            .map(|mut client| String::from_utf8(write(&mut client, usize::MAX)).unwrap())
    };
    let pending = ask(TOKEN_FIELD, "wrong").unwrap();
    assert!(pending.contains("\r\nX-Claude-Code-Ide-Authorization: wrong\r\n"), "{pending}");
    assert!(ask("Origin", "https://a.example").unwrap().contains("\r\nOrigin: https://a.example\r\n"));
    assert!(ask("Origin", "a\r\nb: c").is_err() && ask("a:b", "c").is_err());
}

/// Checks an editor that restarts on the same port with the same token. As measured, the real
/// client attaches again within about 12 s, with all handshakes.
#[test]
fn client_reconnects_to_restarted_editor() {
    let lock = LockFile::new(1, vec!["/w".into()], "editor", token());
    let mut agent = ClientConfig::of_lock_file(Implementation::new("agent", "2.0"), PORT, &lock).unwrap();
    agent.pid = Some(4711);
    let mut reconnect = Reconnect::new(Backoff::default(), Time::ZERO);
    let (stopped_at, back_at) = (at(100_000), at(109_000));
    let mut sessions = 0;
    let mut now = Time::ZERO;
    while sessions < 2 {
        now = now.max(reconnect.next_attempt().unwrap());
        reconnect.on_attempt();
        sessions += 1;
        let client =
            Client::new(agent.clone(), Random::new(sessions).source(), SessionId::new(sessions), now)
                .unwrap();
        let mut pair = Pair::at_time(client, config(), now);
        pair.settle();
        assert!(matches!(&pair.client_events[..], [ClientEvent::Ready(_)]), "{:?}", pair.client_events);
        let connected = "IdeConnected { pid: Some(4711), is_version_unsupported: false }";
        assert!(pair.editor_log().contains(&connected.to_owned()));
        reconnect.on_connected();
        assert_eq!(reconnect.next_attempt(), None);
        pair.server.shutdown(Time::ZERO);
        pair.settle();
        let Some(ClientEvent::Closed(closed)) = pair.client_events.last() else {
            panic!("the editor stopped")
        };
        now = stopped_at;
        reconnect.on_disconnected(now, closed).unwrap();
        // Until the editor is back, no process listens.
        while reconnect.next_attempt().unwrap() < back_at {
            now = reconnect.next_attempt().unwrap();
            reconnect.on_attempt();
            reconnect.on_disconnected(now, &Closed::Abnormal).unwrap();
        }
    }
    assert!(
        now.saturating_since(stopped_at) <= Duration::from_secs(12),
        "{:?}",
        now.saturating_since(stopped_at)
    );

    // An editor with another token refuses, and the client gives up: it must read the lock file first.
    let mut config = config();
    config.policy.auth = Auth::Token(AuthToken::from_text("another").unwrap());
    let mut pair = Pair::joined(Some(token()), config);
    pair.settle();
    let Some(ClientEvent::Closed(closed)) = pair.client_events.last() else { panic!("the editor refuses") };
    assert_eq!(reconnect.on_disconnected(now, closed), Err(GaveUp::Refused));
    assert_eq!(reconnect.next_attempt(), None);

    let mut legacy = lock;
    legacy.transport = Transport::Sse;
    assert!(ClientConfig::of_lock_file(Implementation::new("agent", "2.0"), PORT, &legacy).is_none());
}

#[test]
fn limit_of_zero_is_an_error() {
    type Change = fn(&mut ide_mcp::rpc::SessionLimits);
    let cases: &[(&str, Change)] = &[
        ("depth", |limits| limits.depth = 0),
        ("id", |limits| limits.id = 0),
        ("method", |limits| limits.method = 0),
        ("open_calls", |limits| limits.open_calls = 0),
        ("requests", |limits| limits.requests = 0),
    ];
    for (name, change) in cases {
        let mut client = agent();
        change(&mut client.mcp.limits);
        let client = Client::new(client, Random::new(1).source(), SessionId::new(2), Time::ZERO);
        assert_eq!(client.err(), Some(ws::InvalidClientRequest::ZeroLimit(name)));
        let mut server = config();
        change(&mut server.mcp.limits);
        let mut server = Server::new(server);
        let conn = server.connect(at(0));
        let passed = pass(&mut server, at(0), usize::MAX);
        assert_eq!((passed.closed, passed.written), (vec![conn], vec![]), "{name}");
        assert_eq!((passed.events.len(), server.unauthenticated().ended), (0, 1), "{name}");
    }
}
