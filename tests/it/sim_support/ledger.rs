//! The ledger of one connection, kept by watching its wire: requests, answers and pushes.
//!
//! The ledger uses only the bytes on the wire and the events of the application.

mod consent;
mod pushes;
mod repeats;

use std::collections::{BTreeMap, BTreeSet};

use ide_mcp::{
    Time,
    rpc::{CallId, code::INVALID_REQUEST},
};

pub use consent::Consent;
use consent::Wait;
pub use pushes::Past;
use repeats::Repeats;
pub use repeats::SETTLE;

use super::{
    oracle::{Invariant as I, Oracle, digest},
    tap::{Item, Tap, edition_in, nonce_in},
};
use crate::model::{Answer, Expected, Message};

/// The method of a form.
const FORM: &str = "elicitation/create";

/// An answer that is due for a message.
#[derive(Clone, Debug)]
pub struct Owed {
    pub id: String,
    /// The only correct error, if there is one.
    pub code: Option<i64>,
}

/// The rights of the peer at the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// A peer that keeps all rules.
    #[default]
    Honest,
    /// A peer that has the token and breaks rules.
    Insider,
    /// A peer that is not to be accepted.
    Outsider,
}

/// A request that has been delivered and has not ended.
#[derive(Debug)]
struct Request {
    id: String,
    /// When it was delivered.
    at: Time,
    /// The size of its message.
    bytes: usize,
    method: String,
    expected: Expected,
    nonce: Option<String>,
    /// The tab of an `openDiff`.
    tab: Option<String>,
    /// True if the tab has been closed since.
    doomed: bool,
    /// True if the request closes tabs.
    closes: bool,
    token: Option<String>,
    reached: f64,
    call: Option<CallId>,
    /// The wait for the consent to the client, which has ended once there is a call.
    wait: Option<Wait>,
}

/// The record of one connection.
#[derive(Debug, Default)]
pub struct Ledger {
    pub standing: Standing,
    pub consent: Consent,
    /// The latest time at which bytes were read, by the clock of the server.
    now: Time,
    received: Tap,
    input: Tap,
    pending: Vec<Request>,
    /// The requests that ended without an answer since the output was last written completely.
    echoes: Vec<Request>,
    /// The marks (nonces, see `tap::nonce_in`) of all calls on this connection.
    marks: BTreeSet<String>,
    /// The limits of open calls and of their bytes.
    room: (usize, usize),
    /// The limit of the requests of the server.
    requests: usize,
    /// The ids of all requests of the client.
    ids: BTreeSet<String>,
    /// The ids that the client cancelled.
    given_up: BTreeSet<String>,
    silenced: BTreeSet<String>,
    /// The answers that are due to messages that break a rule.
    pub meanings: BTreeMap<String, Vec<Owed>>,
    initialized: bool,
    pub last_selection: u64,
    /// True if the selection has been sent since the last list of the tools or `list_changed`; a
    /// client can forget the selection at either.
    pub is_selection_known: bool,
    list_changed: bool,
    repeats: Repeats,
    /// The edition of the tools that the client listed last.
    edition: Option<u64>,
    /// The number of changes of the tools before the connection, and the number announced since.
    changes_before: usize,
    changes_announced: usize,
    /// The ids of all requests of the server.
    own_ids: BTreeSet<u64>,
    /// The id of the latest form.
    last_form: u64,
    own_given_up: BTreeSet<String>,
    /// The requests of the server that wait for the client, except pings, with their methods.
    own_open: BTreeMap<String, String>,
    /// Whether the client has declared roots, and whether it has declared forms.
    declared: (bool, bool),
    /// The earliest time at which the server can write a form; `None` before `initialized`.
    shows_forms_from: Option<Time>,
    /// How often the server may still send `roots/list`, and whether it must.
    roots_due: (usize, bool),
    /// The last answer to `roots/list`, until the application receives the folders.
    pub folders: Option<String>,
    /// The mentions that were written and are not checked yet.
    pub mentions: Vec<u64>,
    /// The last mentions that were written here: of those addressed to this client, and of those
    /// without an address.
    pub last_mentions: [u64; 2],
    pub status: Option<u16>,
    pub close_code: Option<u16>,
    /// True if the server has got the end of the client's stream. It then only answers the calls of the client.
    pub has_hung_up: bool,
    pub has_ended: bool,
    /// The time of the latest write, then that of the reported end, by the clock of the server.
    pub moved_at: Time,
    pub digest: u64,
}

impl Ledger {
    /// Creates a ledger. `consent` is given if it is not required. `changes` is the number of changes of the tools so
    /// far, `room` the limits of open calls and of their bytes, and `requests` the limit of the server's requests.
    pub fn new(
        standing: Standing,
        consent: Consent,
        changes: usize,
        room: (usize, usize),
        requests: usize,
    ) -> Self {
        Self {
            standing,
            consent,
            requests,
            received: Tap::new(true),
            input: Tap::new(false),
            room,
            changes_before: changes,
            digest: 0xcbf2_9ce4_8422_2325,
            ..Self::default()
        }
    }

    /// Returns true if the client was accepted and the connection is open.
    pub fn is_attached(&self) -> bool {
        !self.has_ended && self.status == Some(101) && self.close_code.is_none()
    }

    /// Records bytes that the server read.
    pub fn on_received(&mut self, now: Time, bytes: &[u8], oracle: &mut Oracle) {
        self.now = now;
        for item in self.received.take(bytes) {
            let Item::Text(text) = item else {
                oracle.note(|| format!("  received {}", short(&format!("{item:?}"))));
                continue;
            };
            oracle.note(|| format!("  received {}", short(&text)));
            if let Some(owed) = self.meanings.get(&text) {
                for Owed { id, code } in owed.clone() {
                    self.expect_answer(&id, "", &text, code, oracle);
                }
            } else if let Some(message) = Message::read(&text) {
                self.on_received_message(&message, &text, oracle);
            }
        }
    }

    fn on_received_message(&mut self, message: &Message<'_>, text: &str, oracle: &mut Oracle) {
        let honest = self.standing == Standing::Honest;
        let params = || message.member("params");
        match (message.method(), message.get("id")) {
            (Some("initialize"), Some(_)) if honest && self.ids.is_empty() => {
                let declared = params()
                    .and_then(|params| params.member("capabilities"))
                    .map(|all| (all.get("roots").is_some(), all.get("elicitation").is_some()));
                self.declared = declared.unwrap_or_default();
                self.expect_answer(message.get("id").unwrap_or_default(), "initialize", text, None, oracle);
            }
            (Some(method), Some(id)) => {
                let fresh = id.parse::<u64>().is_ok_and(|number| number >= 1) && !self.ids.contains(id);
                oracle.claim(fresh || !honest, I::OwnIds, || {
                    format!("a client asks under the id {id}: {text}")
                });
                self.expect_answer(id, method, text, None, oracle);
            }
            (Some("notifications/initialized"), None) => {
                if !std::mem::replace(&mut self.initialized, true) {
                    self.repeats.settle(self.now, self.now);
                    self.shows_forms_from = Some(self.now.saturating_add(SETTLE));
                }
                self.roots_due = (usize::from(self.declared.0), self.declared.0);
            }
            (Some("notifications/roots/list_changed"), None) if self.declared.0 => {
                self.roots_due = (self.roots_due.0 + 1, true);
                oracle.hit("folders: changed by the agent");
            }
            (None, Some(id)) => {
                let ended = self.own_open.remove(id);
                if ended.is_some_and(|method| method == "roots/list") {
                    self.folders = message.get("result").map(str::to_owned);
                    oracle.hit(if self.folders.is_some() { "folders: answered" } else { "folders: refused" });
                }
            }
            (Some("notifications/cancelled"), None) => {
                let Some(id) = params().and_then(|params| params.get("requestId").map(str::to_owned)) else {
                    return;
                };
                let fresh = self.given_up.insert(id.clone());
                let known = self.ids.contains(&id);
                self.cancel_waiting(&id);
                oracle.claim(fresh && known || !honest, I::OneCancel, || format!("a client gives up {id}"));
            }
            _ => {}
        }
    }

    /// Records a request.
    fn expect_answer(&mut self, id: &str, method: &str, text: &str, code: Option<i64>, oracle: &mut Oracle) {
        let params = Message::read(text).and_then(|message| message.member("params"));
        let member = |name: &str| params.as_ref().and_then(|params| params.get(name));
        let arguments = member("arguments").and_then(Message::read);
        let tab = arguments.as_ref().and_then(|all| all.get("tab_name").map(str::to_owned));
        let closes = match member("name").unwrap_or_default() {
            r#""close_tab""# => Some(tab.clone()),
            r#""closeAllDiffTabs""# | r#""close_all_diff_tabs""# => Some(None),
            _ => None,
        };
        if closes.is_some()
            && self.pending.iter().filter(|request| request.call.is_some()).count() >= self.room.0
        {
            oracle.hit("diffs closed beside a full table");
        }
        match closes.as_ref().filter(|_| code.is_none()) {
            Some(Some(tab)) => self.doom(|of| tab == of),
            Some(None) => self.doom(|_| true),
            None => {}
        }
        let expected = match code {
            Some(code) => Expected::Error(code),
            None if self.standing == Standing::Honest => {
                Expected::of_editor(method, member("protocolVersion"))
            }
            None => Expected::Any,
        };
        let meta = member("_meta").and_then(Message::read);
        let wait = self.wait_of(text, closes.is_some()).filter(|_| code.is_none());
        self.ids.insert(id.to_owned());
        self.marks.extend(nonce_in(text).map(str::to_owned));
        self.pending.push(Request {
            id: id.to_owned(),
            at: self.now,
            bytes: text.len(),
            method: method.to_owned(),
            expected,
            nonce: nonce_in(text).map(str::to_owned),
            tab: tab.filter(|_| member("name") == Some(r#""openDiff""#)),
            doomed: false,
            closes: closes.is_some(),
            token: meta.and_then(|meta| meta.get("progressToken").map(str::to_owned)),
            reached: f64::NEG_INFINITY,
            call: None,
            wait,
        });
    }

    fn doom(&mut self, which: impl Fn(&str) -> bool) {
        for request in &mut self.pending {
            request.doomed |= request.tab.as_deref().is_some_and(&which);
        }
    }

    /// Records that the application got a call with this mark. Returns the earliest and the latest time at
    /// which the session can have begun the call.
    pub fn opened(&mut self, now: Time, call: CallId, nonce: Option<&str>, oracle: &mut Oracle) -> [Time; 2] {
        oracle.claim(!self.lacks_consent(), I::Consent, || format!("{call:?} comes at {:?}", self.consent));
        let unbound = |request: &&mut Request| {
            let is_refused = matches!(request.expected, Expected::Error(_));
            request.call.is_none() && request.nonce.as_deref() == nonce && !is_refused
        };
        match self.pending.iter_mut().find(unbound) {
            Some(request) => {
                request.call = Some(call);
                let wait = request.wait.take();
                oracle.hit(if wait.is_some() { "consent: waiting call opened" } else { "call opened" });
                wait.map_or([now; 2], |wait| wait.begin(now))
            }
            None => {
                oracle.claim(false, I::CrossTalk, || format!("a call that was not made here: {nonce:?}"));
                [now; 2]
            }
        }
    }

    /// Records that the application got the end of a call without an answer. Returns the id of the
    /// call.
    pub fn silenced(&mut self, call: CallId, by_client: bool, oracle: &mut Oracle) -> Option<String> {
        let at = self.pending.iter().position(|request| request.call == Some(call));
        oracle.claim(at.is_some(), I::AnsweredOnce, || format!("{call:?} ends unanswered, and was answered"));
        let at = at?;
        let request = self.pending.remove(at);
        let asked_for = !by_client || self.given_up.iter().any(|id| same(id, &request.id));
        oracle.claim(asked_for, I::CrossTalk, || format!("{} was cancelled by another client", request.id));
        let id = request.id.clone();
        self.silenced.insert(id.clone());
        self.echoes.push(request);
        Some(id)
    }

    /// Returns true if the tab of this diff was closed since the diff was opened.
    pub fn is_doomed(&self, call: CallId) -> bool {
        self.pending.iter().any(|request| request.call == Some(call) && request.doomed)
    }

    /// Records bytes that the server wrote, after these actions of the person.
    pub fn on_sent(&mut self, now: Time, bytes: &[u8], past: &Past, oracle: &mut Oracle) {
        if !bytes.is_empty() && !self.has_ended {
            self.moved_at = now;
        }
        for item in self.input.take(bytes) {
            // The digest takes whole items with their times, so that it does not depend on the
            // cuts.
            let seen = match &item {
                Item::Head(text) | Item::Text(text) => text.as_bytes(),
                Item::Close(_) => b"close",
                Item::Ping | Item::Pong | Item::Binary => b"control",
            };
            let at = u64::try_from(now.since_start().as_nanos()).unwrap_or(u64::MAX);
            self.digest = digest(self.digest ^ at, seen);
            match item {
                Item::Head(head) => {
                    self.status = head.get(9..12).and_then(|code| code.parse().ok());
                    oracle.note(|| format!("  sent {}", short(&head)));
                }
                Item::Close(code) => {
                    oracle.note(|| format!("  sent close {code:?}"));
                    self.check_close(code, oracle);
                    self.close_code = code;
                }
                Item::Text(text) => {
                    oracle.note(|| format!("  sent {}", short(&text)));
                    let let_in = self.standing != Standing::Outsider && self.status == Some(101);
                    oracle.claim(let_in, I::NoToken, || format!("an outsider gets {text}"));
                    self.on_sent_text(now, &text, past, oracle);
                }
                Item::Ping | Item::Pong => oracle.note(|| format!("  sent {item:?}")),
                Item::Binary => oracle.claim(false, I::Envelope, || "a binary message is sent".into()),
            }
        }
        oracle.claim(!self.input.is_broken, I::Envelope, || "what is sent is no frame".into());
    }

    fn on_sent_text(&mut self, now: Time, text: &str, past: &Past, oracle: &mut Oracle) {
        match Message::sent(text) {
            Ok(messages) => {
                if text.starts_with('[') {
                    oracle.hit("a batch is answered as one");
                }
                messages.iter().for_each(|message| self.on_sent_message(now, message, text, past, oracle));
            }
            Err(fault) => oracle.claim(false, I::Envelope, || fault),
        }
    }

    fn on_sent_message(
        &mut self,
        now: Time,
        message: &Message<'_>,
        text: &str,
        past: &Past,
        oracle: &mut Oracle,
    ) {
        if let Some(answer) = message.answer() {
            return self.answer(now, &answer, text, oracle);
        }
        match (message.method(), message.get("id")) {
            (None, _) => oracle.claim(false, I::Envelope, || format!("no plain method: {text}")),
            (Some(method), Some(id)) => {
                let number = id.parse().unwrap_or(0);
                // A form has its id before the client shows forms, and waits after the forms before it.
                let last = match method {
                    FORM => std::mem::replace(&mut self.last_form, number),
                    _ => self.own_ids.last().copied().unwrap_or(0),
                };
                oracle.claim(number > last && self.own_ids.insert(number), I::OwnIds, || {
                    format!("{id} after {last}: {text}")
                });
                oracle.claim(self.initialized || method == "ping", I::Selection, || {
                    format!("too early: {text}")
                });
                self.own_request((now, id), method, text, oracle);
            }
            (Some(method), None) => self.push((now, method), message, past, oracle),
        }
    }

    /// Records a request of the server.
    fn own_request(&mut self, (now, id): (Time, &str), method: &str, text: &str, oracle: &mut Oracle) {
        let honest = self.standing == Standing::Honest;
        if method == "roots/list" {
            let is_asked = self.own_open.values().any(|open| open == method);
            let is_right = self.roots_due.0 > 0 && !is_asked;
            oracle.claim(is_right || !honest, I::Roots, || format!("{:?}: {text}", self.own_open));
            self.roots_due = (self.roots_due.0.saturating_sub(1), false);
            oracle.hit("folders: asked");
        }
        let is_shown = (self.declared.1 || !honest) && self.shows_forms_from.is_some_and(|from| now >= from);
        oracle.claim(method != FORM || is_shown, I::Forms, || {
            format!("no form is shown, or from {:?} on: {text}", self.shows_forms_from)
        });
        if method != "ping" {
            self.own_open.insert(id.to_owned(), method.to_owned());
        }
    }

    fn answer(&mut self, now: Time, answer: &Answer, text: &str, oracle: &mut Oracle) {
        let (id, code) = (answer.id.as_str(), answer.code);
        let mark = nonce_in(text);
        let of_mark =
            |request: &Request| mark.is_none() || request.nonce.is_none() || request.nonce.as_deref() == mark;
        let waiting: Vec<usize> = (0..self.pending.len()).filter(|at| self.pending[*at].id == id).collect();
        let Some(first) = waiting.first() else {
            let invariant = match (self.silenced.contains(id), self.ids.contains(id)) {
                _ if mark.is_some_and(|mark| !self.marks.contains(mark)) => I::CrossTalk,
                (true, _) => I::SilenceAfterCancel,
                (false, true) => I::AnsweredOnce,
                (false, false) => I::NothingUnasked,
            };
            return oracle.claim(false, invariant, || format!("{id} does not wait for this: {text}"));
        };
        // Of two requests with the same id the later one is refused, and the first one belongs to the application.
        let fits = |at: &&usize| {
            let expected = &self.pending[**at].expected;
            matches!(expected, Expected::Error(_)) && expected.fits(answer)
        };
        let refused = || waiting.iter().rev().find(|at| self.pending[**at].call.is_none());
        let marked =
            || waiting.iter().find(|at| mark.is_some() && self.pending[**at].nonce.as_deref() == mark);
        let at = waiting.iter().find(fits).or_else(marked);
        let at =
            *at.or_else(|| if code == Some(INVALID_REQUEST) { refused() } else { None }).unwrap_or(first);
        let request = self.pending.remove(at);
        oracle.claim(of_mark(&request), I::CrossTalk, || format!("{:?} is answered {text}", request.nonce));
        // An editor that shuts down refuses every request. So an honest client may also get -32600 instead of the
        // answer of I20–I25; the ledger does not check that a shutdown is under way.
        let is_honest = self.standing == Standing::Honest;
        let holds = request.expected.fits(answer) || is_honest && code == Some(INVALID_REQUEST);
        let rule = if is_honest { I::Negotiation } else { I::Refusal };
        oracle.claim(holds, rule, || format!("{}: {:?} is due: {text}", request.method, request.expected));
        oracle.hit(match code {
            None => "answer result",
            Some(-32600) => "answer -32600",
            Some(-32601) => "answer -32601",
            Some(-32602) => "answer -32602",
            Some(-32603) => "answer -32603",
            Some(_) => "answer of the application's own",
        });
        if request.closes && code.is_some() {
            // The call was refused, so its tabs stay open.
            self.pending.iter_mut().for_each(|of| of.doomed = false);
        }
        // A call whose answer is not written yet still counts as open in this ledger; see
        // `check_busy`.
        if code == Some(-32603) && text.contains("busy: too many calls") {
            self.check_busy(&request, oracle);
        }
        if let Some(edition) = edition_in(text) {
            self.list_changed = false;
            self.edition = Some(edition);
            self.listed(now, request.at);
        }
    }

    /// Checks the refusal of a call as one too many. The refusal is right only at a limit, and never for a call that
    /// ends diffs, since such a call can free the room. The ledger can count more open calls than the server did at the
    /// refusal: calls that came after it, and calls whose answers are not written yet. So the check is lenient.
    fn check_busy(&self, request: &Request, oracle: &mut Oracle) {
        let (calls, room) = self.room;
        let open = self.pending.len() + self.echoes.len();
        let others = self.pending.iter().chain(&self.echoes);
        let bytes = others.map(|open| open.bytes).sum::<usize>() + request.bytes;
        let full = open >= calls || bytes > room && open > 0;
        if bytes > room && open < calls {
            oracle.hit("busy: too many bytes");
        }
        oracle.claim(full && !request.closes, I::Refusal, || {
            format!(
                "{} is refused as one too many beside {open} of {calls}, {bytes} bytes of {room}",
                request.id
            )
        });
    }

    /// Checks that each request is answered or open at the application, after the application got
    /// all events and all output was written.
    pub fn check_settled(
        &mut self,
        now: Time,
        edition: u64,
        is_open: impl Fn(CallId) -> bool,
        oracle: &mut Oracle,
    ) {
        self.echoes.clear();
        // Bytes after our close frame are ignored.
        if self.close_code.is_some() || self.standing == Standing::Outsider {
            return;
        }
        self.rest_waiting(now, oracle);
        let knows = self.list_changed || self.edition.is_none_or(|known| known == edition);
        oracle.claim(knows || !self.initialized || self.has_hung_up, I::ListChanged, || {
            format!("it knows of edition {:?} of the tools, and not of {edition}", self.edition)
        });
        let is_asked = self.own_open.values().any(|method| method == "roots/list");
        let may_wait = !self.roots_due.1 || is_asked || self.own_open.len() >= self.requests;
        oracle.claim(may_wait || self.has_hung_up, I::Roots, || {
            format!("roots/list is due, beside {:?}", self.own_open)
        });
        for request in &self.pending {
            let waits = match request.call {
                Some(call) => is_open(call),
                None => self.lacks_consent() && request.wait.is_some(),
            };
            oracle.claim(waits, I::AnsweredOnce, || {
                format!("{} {} is neither answered nor open: {:?}", request.method, request.id, request.nonce)
            });
            oracle.claim(!request.doomed, I::Diffs, || {
                format!("{} is open, and {:?} was closed", request.id, request.tab)
            });
        }
    }

    /// Returns true if a request that belongs to this call waits for its answer.
    pub fn awaits(&self, call: CallId) -> bool {
        self.pending.iter().any(|request| request.call == Some(call))
    }
}

/// Returns true if two ids are equal, in the spellings of the clients of this simulation.
fn same(one: &str, other: &str) -> bool {
    let number = |id: &str| id.parse::<f64>().ok();
    one == other || number(one).is_some_and(|it| number(other) == Some(it))
}

/// Returns the part of a text that a trace shows.
pub fn short(text: &str) -> String {
    let line = text.replace("\r\n", " ");
    if line.chars().count() <= 200 {
        return line;
    }
    let head: String = line.chars().take(180).collect();
    format!("{head}… ({} bytes)", text.len())
}
