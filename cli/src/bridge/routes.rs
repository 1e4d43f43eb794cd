//! The routes between the two sessions: for each request from one side, the request that it became on the other.
//!
//! ```text
//!  client ──request──▶ mcp::Server ──▶ down ──▶ ide::Client ──request──▶ editor
//!         ◀─answer, progress──────── down ◀──────────────────answer────
//!         ──cancelled──▶ CallEnded ──▶ down ──▶ cancel ───────cancelled──▶
//! ```
//!
//! The opposite direction is symmetric, with `up`. The bridge does not read the contents of messages and sets no
//! deadlines: whoever sends a request sets its timeout and cancels it. About a tool the bridge checks one thing only:
//! whether it ends other calls that are still open.

use crate::support::complain;
use ide_mcp::Outbox;
use ide_mcp::ide::tool::Tool;
use ide_mcp::ide::{Client, ClientEvent};
use ide_mcp::mcp::{CallEnd, Outcome, Served, Server, ServerEvent, Timeout, ToolSpec, Tools};
use ide_mcp::rpc::{CallId, ErrorObject, Json, NotSent, RequestId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The client's side, and the editor's side.
pub(crate) type Below = Server<OfEditor>;
pub(crate) type Above = Client;

/// The tools of the editor. The editor lists them and decodes their calls.
#[derive(Debug)]
pub(crate) struct OfEditor;

impl Tools for OfEditor {
    type Call = ();

    fn specs(&self) -> &[ToolSpec] {
        &[]
    }

    /// Never called: the bridge forwards every call unchanged.
    fn decode<'de, D: Deserializer<'de>>(&self, _: &str, arguments: D) -> Result<(), D::Error> {
        IgnoredAny::deserialize(arguments).map(|_| ())
    }

    /// The same tools as in an editor are answered at once, so that a call that closes diffs does not have to wait for
    /// the open diffs.
    fn check(&self, name: &str) -> Result<Served, ErrorObject> {
        Ok(match Tool::from_name(name) {
            Some(Tool::CloseTab | Tool::CloseAllDiffTabs | Tool::SetPermissionMode) => Served::AtOnce,
            _ => Served::Later,
        })
    }
}

/// The error message for the client while there is no editor.
pub(crate) const AWAY: &str = "the editor is away; the bridge keeps trying to reach it";

/// How many notifications and requests of the editor the bridge keeps until the client is ready. An editor has time
/// for only a few.
const HELD: usize = 256;

/// How many bytes these messages may have together: 8 MiB, the size of the send buffer that an editor keeps for a
/// client that does not read (`ws::Limits::outgoing`).
const HELD_BYTES: usize = 8 << 20;

#[derive(Debug, Default)]
pub(crate) struct Routes {
    down: BTreeMap<RequestId, CallId>,
    up: BTreeMap<RequestId, CallId>,
    /// The messages of the editor that arrived before the client was ready.
    held: VecDeque<Held>,
    /// How many notifications the client sent while there was no editor, and the method of the first.
    undelivered: Option<(usize, Box<str>)>,
}

/// A message of the editor that waits for the client. The editor sends requests as soon as it has received
/// `initialized`, which the bridge sends before its client does.
#[derive(Debug)]
struct Held {
    /// The call, if the message is a request.
    call: Option<CallId>,
    method: Box<str>,
    params: Option<Json>,
}

impl Held {
    fn bytes(&self) -> usize {
        self.method.len().saturating_add(self.params.as_ref().map_or(0, |params| params.get().len()))
    }
}

impl Routes {
    /// Handles an event of the client's side. `above` is the editor, if it is attached.
    pub(crate) fn on_client_event(
        &mut self,
        event: ServerEvent<()>,
        below: &mut Below,
        mut above: Option<&mut Above>,
        out: &mut impl Outbox,
    ) {
        match event {
            ServerEvent::Ready => {
                for Held { call, method, params } in std::mem::take(&mut self.held) {
                    match (call, above.as_deref_mut()) {
                        (None, _) => {
                            report_loss(below.notify(&method, params.as_deref(), out), &method, "client")
                        }
                        (Some(call), Some(above)) => {
                            self.ask_client(call, &method, params.as_deref(), below, above, out);
                        }
                        // The editor is gone, and does not wait for an answer.
                        (Some(_), None) => {}
                    }
                }
            }
            ServerEvent::Request { call, method, params } => {
                let timeout = patience(params.as_deref());
                let sent = match above {
                    Some(above) => above.request(&method, params.as_deref(), timeout),
                    None => Err(NotSent::Closed),
                };
                // A call that the session has just opened accepts an answer.
                let _ = match sent {
                    Ok(request) => {
                        self.down.insert(request, call);
                        below.set_call_timeout(call, Timeout::Never)
                    }
                    Err(error) => below.fail(call, unsent(&error), out),
                };
            }
            ServerEvent::CallEnded { call, reason: how } => {
                let reason = match how {
                    CallEnd::Cancelled { reason } => reason,
                    _ => Some("the client is gone".into()),
                };
                let found = self.down.iter().find(|(_, waiting)| **waiting == call);
                if let (Some((request, _)), Some(above)) = (found, above.as_mut()) {
                    above.cancel(*request, reason.as_deref());
                }
            }
            ServerEvent::Notification { method, params } => {
                let sent = match above {
                    Some(above) => above.notify(&method, params.as_deref()),
                    None => Err(NotSent::Closed),
                };
                match sent {
                    Err(NotSent::Closed | NotSent::NotReady) => {
                        let undelivered = self.undelivered.get_or_insert((0, method));
                        undelivered.0 = undelivered.0.saturating_add(1);
                    }
                    sent => report_loss(sent, &method, "editor"),
                }
            }
            ServerEvent::Outcome { request, outcome } => {
                if let (Some(call), Some(above)) = (self.up.remove(&request), above) {
                    // This fails if the call has ended meanwhile, which needs no answer, or if the result is not an
                    // object, which does not happen in such an outcome.
                    let _ = match answer(outcome, "the client") {
                        Some(Ok(result)) => above.respond_raw(call, &result),
                        Some(Err(error)) => above.fail(call, error),
                        None => Ok(()),
                    };
                }
            }
            ServerEvent::Progress { request, progress } => {
                if let (Some(call), Some(above)) = (self.up.get(&request), above) {
                    let _ = above.progress(*call, &progress);
                }
            }
            ServerEvent::PeerError(error) => complain("bridge", &format!("the client reports {error}")),
            ServerEvent::PeerFault(violation) => complain("bridge", &format!("the client: {violation}")),
            _ => {}
        }
    }

    /// Handles an event of the editor's side. `below` is the client, after its `initialize`.
    pub(crate) fn on_editor_event(
        &mut self,
        event: ClientEvent,
        below: Option<&mut Below>,
        above: &mut Above,
        out: &mut impl Outbox,
    ) {
        match event {
            ClientEvent::Request { call, method, params } => match below {
                Some(below) if below.is_ready() => {
                    self.ask_client(call, &method, params.as_deref(), below, above, out);
                }
                _ => {
                    // A call that the session has just opened accepts a timeout and an answer.
                    let _ = match self.hold(Held { call: Some(call), method, params }) {
                        Ok(()) => above.set_call_timeout(call, Timeout::Never),
                        Err(_) => above.fail(call, "the client is not ready"),
                    };
                }
            },
            ClientEvent::CallEnded { call, reason: how } => {
                let reason = match how {
                    CallEnd::Cancelled { reason } => reason,
                    _ => Some("the editor is gone".into()),
                };
                self.held.retain(|held| held.call != Some(call));
                let found = self.up.iter().find(|(_, waiting)| **waiting == call);
                if let (Some((request, _)), Some(below)) = (found, below) {
                    below.cancel(*request, reason.as_deref(), out);
                }
            }
            ClientEvent::Notification { method, params } => match below {
                Some(below) if below.is_ready() => {
                    report_loss(below.notify(&method, params.as_deref(), out), &method, "client");
                }
                _ => {
                    if let Err(held) = self.hold(Held { call: None, method, params }) {
                        report_loss(Err(NotSent::Full), &held.method, "client");
                    }
                }
            },
            ClientEvent::Outcome { request, outcome } => {
                if let (Some(call), Some(below)) = (self.down.remove(&request), below) {
                    let _ = match answer(outcome, "the editor") {
                        Some(Ok(result)) => below.respond_with(call, &result, out),
                        Some(Err(error)) => below.fail(call, error, out),
                        None => Ok(()),
                    };
                }
            }
            ClientEvent::Progress { request, progress } => {
                if let (Some(call), Some(below)) = (self.down.get(&request), below) {
                    let _ = below.progress(*call, &progress, out);
                }
            }
            ClientEvent::PeerError(error) => complain("bridge", &format!("the editor reports {error}")),
            ClientEvent::PeerFault(violation) => complain("bridge", &format!("the editor: {violation}")),
            _ => {}
        }
    }

    /// Keeps a message until the client is ready. Gives it back if there is no room.
    fn hold(&mut self, message: Held) -> Result<(), Held> {
        let bytes = self.held.iter().map(Held::bytes).fold(message.bytes(), usize::saturating_add);
        if self.held.len() >= HELD || bytes > HELD_BYTES {
            return Err(message);
        }
        self.held.push_back(message);
        Ok(())
    }

    /// Sends a request of the editor to the client, which is ready.
    fn ask_client(
        &mut self,
        call: CallId,
        method: &str,
        params: Option<&RawValue>,
        below: &mut Below,
        above: &mut Above,
        out: &mut impl Outbox,
    ) {
        // A call that is still open accepts a timeout and an answer.
        let _ = match below.request(method, params, patience(params), out) {
            Ok(request) => {
                self.up.insert(request, call);
                above.set_call_timeout(call, Timeout::Never)
            }
            Err(error) => above.fail(call, format!("the client: {error}")),
        };
    }

    /// Answers the requests of the editor that still wait for a client that will never be ready.
    pub(crate) fn fail_held(&mut self, above: Option<&mut Above>) {
        let Some(above) = above else { return };
        for call in std::mem::take(&mut self.held).into_iter().filter_map(|held| held.call) {
            let _ = above.fail(call, "the client was gone before it was ready");
        }
    }

    /// Reports the notifications that the editor did not get, once, when it is back or the bridge ends.
    pub(crate) fn end_absence(&mut self) {
        if let Some((count, first)) = self.undelivered.take() {
            let what = match count {
                1 => format!("{first}, which was sent while it was away"),
                _ => {
                    format!("{count} notifications, which were sent while it was away; the first was {first}")
                }
            };
            complain("bridge", &format!("the editor did not receive {what}"));
        }
    }

    /// Returns the number of requests of the client that the editor has not answered.
    pub(crate) fn open(&self) -> usize {
        self.down.len()
    }
}

/// Returns the answer for an outcome; `None` if nobody waits for it.
fn answer(outcome: Outcome, who: &str) -> Option<Result<Json, ErrorObject>> {
    let failed = |reason: String| Some(Err(ErrorObject::from(reason)));
    match outcome {
        Outcome::Result(result) => Some(Ok(result)),
        Outcome::Error(error) => Some(Err(error)),
        Outcome::Cancelled => None,
        Outcome::Closed => failed(format!("{who} was gone before it answered")),
        _ => failed(format!("the answer from {who} cannot be read")),
    }
}

/// Returns the timeout of a forwarded request, with progress if the sender wants it.
fn patience(params: Option<&RawValue>) -> Timeout {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Option<Meta<'a>>,
    }
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow, rename = "progressToken")]
        token: Option<&'a RawValue>,
    }
    let params: Option<Params<'_>> = params.and_then(|params| serde_json::from_str(params.get()).ok());
    match params.and_then(|params| params.meta?.token) {
        Some(_) => Timeout::Progress { idle: Duration::MAX, total: Duration::MAX },
        None => Timeout::Never,
    }
}

fn unsent(error: &NotSent) -> String {
    match error {
        NotSent::Closed | NotSent::NotReady => AWAY.into(),
        error => format!("the request to the editor failed: {error}"),
    }
}

/// Reports a notification that was lost.
fn report_loss(sent: Result<(), NotSent>, method: &str, to: &str) {
    if let Err(error) = sent {
        complain("bridge", &format!("the {to} did not receive {method}: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::greeting::itself;
    use ide_mcp::ide::ClientConfig;
    use ide_mcp::mcp::{Forward, Lines, ServerConfig};
    use ide_mcp::rpc::SessionId;
    use ide_mcp::testing::pass_with;
    use ide_mcp::{Time, ws};
    use serde_json::{Value, json};

    /// The two sessions. The test is the client, the editor and the clock.
    struct World {
        routes: Routes,
        below: Below,
        above: Above,
        out: Lines,
        editor: ws::Server,
        now: Time,
        at_client: Vec<Value>,
        at_editor: Vec<Value>,
    }

    impl World {
        /// The editor is attached, and the client has sent `initialize`.
        fn new() -> Self {
            let mut below = ServerConfig::new(itself());
            below.forward = Forward::All;
            let mut above = ClientConfig::new(itself(), 1, None);
            above.raw_notifications = true;
            above.mcp.forward = Forward::All;
            let mut world = Self {
                routes: Routes::default(),
                below: Server::new(below, OfEditor, SessionId::new(1)),
                above: Client::new(above, getrandom::fill, SessionId::new(2), Time::ZERO).unwrap(),
                out: Lines::default(),
                editor: ws::Server::new(ws::Limits::default(), Time::ZERO),
                now: Time::ZERO,
                at_client: Vec::new(),
                at_editor: Vec::new(),
            };
            world.pump();
            let [greeting] = &world.at_editor[..] else { panic!("{:?}", world.at_editor) };
            let info = json!({"name": "e", "version": "1"});
            let result = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info});
            let answer = json!({"jsonrpc": "2.0", "id": greeting["id"], "result": result});
            world.editor_sends(&answer);
            assert!(world.above.is_ready());
            let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
            world.client_sends(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
            world.forget();
            world
        }

        fn initialized(&mut self) {
            self.client_sends(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            assert!(self.below.is_ready());
        }

        fn client_sends(&mut self, message: &Value) {
            self.below.receive(self.now, &message.to_string(), &mut self.out);
            self.pump();
        }

        fn editor_sends(&mut self, message: &Value) {
            self.editor.sender().text(&message.to_string()).unwrap();
            self.pump();
        }

        fn forget(&mut self) {
            self.at_client.clear();
            self.at_editor.clear();
        }

        /// Moves everything that can move now.
        fn pump(&mut self) {
            let Self { routes, below, above, out, editor, at_editor, now, .. } = self;
            loop {
                while let Some(event) = below.poll(*now, out) {
                    let above = Some(&mut *above).filter(|above| above.is_ready());
                    routes.on_client_event(event, below, above, out);
                }
                let up = pass_with(above, *now, usize::MAX, |above, event| {
                    routes.on_editor_event(event.clone(), Some(below), above, out);
                });
                let up = up.written_bytes();
                editor.feed(*now, &up);
                let down = pass_with(editor, *now, usize::MAX, |editor, event| match event {
                    ws::OwnedEvent::Upgrade(_) => editor.accept(Some("mcp")).unwrap(),
                    ws::OwnedEvent::Text(text) => at_editor.push(serde_json::from_str(text).unwrap()),
                    ws::OwnedEvent::Closed(closed) => panic!("{closed:?}"),
                    _ => {}
                });
                let down = down.written_bytes();
                above.feed(*now, &down);
                if up.is_empty() && down.is_empty() {
                    break;
                }
            }
            let lines = String::from_utf8(self.out.outgoing().to_vec()).unwrap();
            self.out.written(lines.len());
            self.at_client.extend(lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }

        /// Lets this much time pass, and stops at each deadline in it.
        fn pass(&mut self, span: Duration) {
            let until = self.now.saturating_add(span);
            while self.now < until {
                let Self { below, above, editor, .. } = self;
                let due = [below.deadline(), above.deadline(), editor.deadline()].into_iter().flatten().min();
                let soonest = self.now.saturating_add(Duration::from_millis(1));
                self.now = due.unwrap_or(until).clamp(soonest, until.max(soonest));
                self.pump();
            }
        }
    }

    /// Whoever made the request decides how long to wait, and says so with `notifications/cancelled`: people review a
    /// diff for hours. So the bridge never gives up on a request, whatever it is for.
    #[test]
    fn no_request_ends_by_itself() {
        let rows = [
            ("no parameters", Value::Null),
            ("empty parameters", json!({})),
            ("arguments", json!({"name": "openDiff", "arguments": {}})),
            ("`_meta` without a token", json!({"_meta": {}})),
            ("`_meta` with another member", json!({"_meta": {"odd": 1}, "a": 1})),
            ("a number as the token", json!({"_meta": {"progressToken": 1}})),
            ("a string as the token", json!({"_meta": {"progressToken": "t"}, "a": 1})),
            ("`_meta` that is not an object", json!({"_meta": 1})),
        ];
        let directions: [(&str, bool, bool); 3] = [
            ("the client asks", true, false),
            ("the editor asks", false, false),
            ("the editor asks before the client is ready", false, true),
        ];
        for (name, params) in rows {
            for (direction, is_from_client, is_held) in directions {
                let mut world = World::new();
                let mut request =
                    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
                if params.is_null() {
                    request.as_object_mut().unwrap().remove("params");
                }
                if !is_held {
                    world.initialized();
                }
                if is_from_client {
                    world.client_sends(&request);
                } else {
                    world.editor_sends(&request);
                }
                if is_held {
                    // The request waits in the bridge first.
                    world.pass(Duration::from_secs(24 * 60 * 60));
                    assert_eq!((&world.at_client[..], &world.at_editor[..]), (&[][..], &[][..]), "{name}");
                    world.initialized();
                }
                let inbox = if is_from_client { &mut world.at_editor } else { &mut world.at_client };
                let [forwarded] = &inbox[..] else { panic!("{name}, {direction}: {inbox:?}") };
                let id = forwarded["id"].clone();
                world.forget();
                world.pass(Duration::from_secs(24 * 60 * 60));
                let seen = (&world.at_client[..], &world.at_editor[..]);
                assert_eq!(seen, (&[][..], &[][..]), "{name}, {direction}: something ends it");
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"late": true}});
                let answers = if is_from_client {
                    world.editor_sends(&answer);
                    &world.at_client
                } else {
                    world.client_sends(&answer);
                    &world.at_editor
                };
                let expected = json!({"jsonrpc": "2.0", "id": 7, "result": {"late": true}});
                assert_eq!(answers[..], [expected], "{name}, {direction}");
            }
        }
    }

    /// Returns a notification of this size.
    fn early(bytes: usize) -> Held {
        let params = RawValue::from_string(format!("\"{}\"", "x".repeat(bytes - 3))).unwrap();
        Held { call: None, method: "m".into(), params: Some(params.into()) }
    }

    #[test]
    fn early_messages_are_limited() {
        let rows = [
            ("as many messages as the limit", vec![3; HELD], true),
            ("one more message", vec![3; HELD + 1], false),
            ("as many bytes as the limit", vec![HELD_BYTES - 3, 3], true),
            ("one more byte", vec![HELD_BYTES - 3, 4], false),
            ("one message above the limit", vec![HELD_BYTES + 1], false),
        ];
        for (name, sizes, is_kept) in rows {
            let mut routes = Routes::default();
            // The second round begins with an empty queue.
            for _ in 0..2 {
                let (last, others) = sizes.split_last().unwrap();
                assert!(others.iter().all(|size| routes.hold(early(*size)).is_ok()), "{name}");
                assert_eq!(routes.hold(early(*last)).is_ok(), is_kept, "{name}");
                assert_eq!(routes.held.len(), others.len() + usize::from(is_kept), "{name}");
                routes.held.clear();
            }
        }
    }
}
