//! The actions of the editor itself: the person selects, mentions and changes things, and the
//! application sends requests to clients.

use std::time::Duration;

use ide_mcp::ide::kit::Range;
use ide_mcp::{
    Time,
    ide::{AgentId, ConnId, DiagnosticsChanged, Mention, Selected, Selection},
    mcp::{Outcome, Timeout},
    rpc::{NotSent, RequestId},
};

use super::{Editor, Mentioned, Wanted};
use crate::sim_support::{
    ledger::Ledger,
    oracle::{Invariant as I, Oracle},
    plan::{Plan, form},
    plant::{Subject, conn_of_request},
    tap::{is_odd, nonce, selected},
};

impl Editor {
    /// Does one of many things as the person or the application.
    pub fn live(&mut self, time: Time, plan: &Plan, subject: &mut Subject, oracle: &mut Oracle) {
        match self.random.below(14) {
            0..=2 => {
                self.select(time, subject, oracle);
            }
            3 => {
                oracle.hit("storm of selections");
                for _ in 0..100 {
                    self.select(time, subject, oracle);
                }
            }
            4 | 5 => self.mention(time, subject, oracle),
            6 => {
                let before = std::mem::replace(&mut self.edition, self.random.number() % 3);
                self.past.changes.extend((self.edition != before).then_some(time));
                let tools = plan.tools(self.edition);
                subject.server.set_tools(tools);
                oracle.hit("tools set");
            }
            7 | 8 => self.request(time, subject, oracle),
            12 | 13 => self.broadcast(subject, oracle),
            9 => {
                let request = self.requests.keys().nth(self.random.below(self.requests.len())).copied();
                if let Some(request) = request {
                    subject.server.cancel(request, Some("never mind"));
                }
            }
            10 => {
                // A call that ended some time ago.
                let ended = self.ended.get(self.random.below(self.ended.len())).copied();
                if let Some((call, _)) = ended {
                    self.answer(call, true, subject, oracle);
                }
            }
            _ => {
                // An open call, before its planned answer.
                let open = self.open.keys().nth(self.random.below(self.open.len())).copied();
                if let Some(call) = open {
                    self.answer(call, true, subject, oracle);
                }
            }
        }
    }

    /// Moves the cursor.
    pub fn select(&mut self, time: Time, subject: &mut Subject, oracle: &mut Oracle) {
        self.selected += 1;
        self.past.selections.push(time);
        let filler = if self.big && self.random.one_in(8) { 100_000 } else { 3 };
        let text = format!("{}{}", selected(self.selected), "s".repeat(filler));
        self.selected_len = self.selected_len.max(text.len());
        let record = subject.server.select(time, Selection::new("/w/a.txt", Range::default(), text));
        oracle.claim(record == Selected::Whole, I::Selection, || format!("{record:?}"));
    }

    fn mention(&mut self, time: Time, subject: &mut Subject, oracle: &mut Oracle) {
        self.mentions += 1;
        let number = self.mentions;
        let conns: Vec<ConnId> = subject.server.connections().collect();
        let to = conns.get(self.random.below(conns.len().max(1))).copied().filter(|_| self.random.one_in(2));
        let mention = Mention::new(format!("/w/mention-{number:08}"), None);
        let until = time.saturating_add(Duration::from_secs(30));
        let taken = subject.server.mention(time, mention, to.map(AgentId::from));
        oracle.note(|| format!("editor mentions {number} to {to:?}: {taken:?}"));
        if taken.is_ok() {
            self.waiting_mentions.insert(number, Mentioned { to, until, is_doubtful: false });
        } else {
            oracle.hit("mention refused");
        }
    }

    /// Checks the mentions that the server wrote to this connection.
    pub fn mentioned(&mut self, conn: ConnId, ledger: &mut Ledger, oracle: &mut Oracle) {
        for number in std::mem::take(&mut ledger.mentions) {
            let waiting = self.waiting_mentions.remove(&number);
            let right = waiting.as_ref().is_some_and(|of| of.to.is_none_or(|to| to == conn));
            oracle.claim(right, I::Mentions, || format!("{number} goes to {conn:?}: {waiting:?}"));
            // A mention for the latest client goes to another client if that one is gone, and may then
            // come after later mentions.
            let for_any = waiting.as_ref().is_some_and(|of| of.to.is_none());
            let is_late = for_any && waiting.is_some_and(|of| of.is_doubtful);
            let last = &mut ledger.last_mentions[usize::from(for_any)];
            oracle.claim(*last < number || is_late, I::Mentions, || format!("{number} comes after {last}"));
            *last = number.max(*last);
            oracle.hit("mention sent");
        }
    }

    /// Checks the expiry of a mention that found no client.
    pub fn mention_expired(
        &mut self,
        time: Time,
        mention: &Mention,
        is_gone: impl FnOnce(ConnId) -> bool,
        oracle: &mut Oracle,
    ) {
        let number = mention_number(&mention.file_path);
        let Some(Mentioned { to, until, .. }) = self.waiting_mentions.remove(&number) else {
            return oracle.claim(false, I::Mentions, || format!("{number} expires, and does not wait"));
        };
        let bereft = to.is_some_and(is_gone);
        oracle.claim(time >= until || bereft, I::Mentions, || format!("{number} expires too early"));
        oracle.hit("mention expired");
    }

    /// Sends all clients a notification that is not kept for clients without room.
    fn broadcast(&mut self, subject: &mut Subject, oracle: &mut Oracle) {
        let missed = match self.random.below(3) {
            0 => {
                let uris = vec!["file:///w/a.txt".into()];
                subject.server.diagnostics_changed(DiagnosticsChanged::Stale { uris })
            }
            1 => subject.server.active_editor_changed(Selection::new("/w/a.txt", Range::default(), "")),
            _ => subject.server.notify_all("x/news", None::<&()>).unwrap(),
        };
        oracle.hit("broadcast");
        for conn in missed.into_iter().filter_map(AgentId::conn) {
            oracle.claim(subject.wants_output(conn), I::NothingUnseen, || {
                format!("{conn:?} has room, and gets nothing")
            });
            oracle.hit("broadcast that finds no room");
        }
    }

    /// Sends a request to a client: a form, or another one.
    fn request(&mut self, time: Time, subject: &mut Subject, oracle: &mut Oracle) {
        let conns: Vec<ConnId> = subject.server.connections().collect();
        let Some(conn) = conns.get(self.random.below(conns.len())).copied() else { return };
        let span = Duration::from_millis(300);
        let (timeout, deadline) = match self.random.below(3) {
            0 => (Timeout::After(span), Some(time.saturating_add(span))),
            1 => (Timeout::Never, None),
            _ => (Timeout::Default, Some(time.saturating_add(self.request_timeout))),
        };
        let method = ["x/ask", "x/ask", "ping", "x/unknown"][self.random.below(4)];
        let before = subject.snapshot(conn);
        self.forms += 1;
        let mark = self.random.one_in(2).then(|| nonce(self.forms));
        let client = subject.server.agent_mut(conn.into());
        let pending = match &mark {
            Some(mark) => client.elicit_within(form(mark), timeout).map(|pending| pending.id()),
            None => client.request(method, None::<&()>, timeout),
        };
        match pending {
            Ok(request) => {
                oracle.claim(conn_of_request(request) == conn, I::CrossTalk, || format!("{request:?}"));
                self.requests.insert(request, Wanted { deadline, form: mark });
            }
            Err(error) => {
                if error == NotSent::Undeclared {
                    oracle.hit("form: not declared");
                }
                let after = subject.snapshot(conn);
                oracle.claim(before == after, I::RefusalsFree, || {
                    format!("{error}: {before:?} is {after:?} now")
                });
                oracle.hit("editor's request refused");
            }
        }
    }

    pub(super) fn outcome(&mut self, time: Time, request: RequestId, outcome: &Outcome, oracle: &mut Oracle) {
        let Some(wanted) = self.requests.remove(&request) else {
            return oracle.claim(false, I::OneOutcome, || format!("{request:?} ends twice: {outcome:?}"));
        };
        let timed_out = matches!(outcome, Outcome::TimedOut);
        let due = wanted.deadline.is_some_and(|due| due <= time);
        oracle.claim(!timed_out || due, I::RequestDeadline, || format!("{request:?} times out too early"));
        oracle.hit(match outcome {
            Outcome::Result(_) => "editor's request: result",
            Outcome::Error(_) => "editor's request: error",
            Outcome::TimedOut => "editor's request: timed out",
            Outcome::Cancelled => "editor's request: cancelled",
            Outcome::Closed => "editor's request: closed",
            _ => "editor's request: malformed",
        });
        if let Some(mark) = wanted.form {
            form_ended(&mark, outcome, oracle);
        }
    }
}

/// Checks the outcome of a form. An accepted answer repeats the mark of the form, and fits if the mark is
/// even.
fn form_ended(mark: &str, outcome: &Outcome, oracle: &mut Oracle) {
    let accepted = serde_json::json!({ "action": "accept", "content": { "mark": mark, "n": 9 } });
    let (fits, hit) = match outcome {
        Outcome::Result(result) => match result.get() {
            r#"{"action":"decline"}"# => (true, "form: declined"),
            r#"{"action":"cancel"}"# => (true, "form: closed by the person"),
            text => (!is_odd(mark) && serde_json::from_str(text).ok() == Some(accepted), "form: accepted"),
        },
        Outcome::Malformed => (is_odd(mark), "form: malformed"),
        Outcome::Error(_) => (true, "form: refused"),
        Outcome::TimedOut => (true, "form: timed out"),
        Outcome::Cancelled => (true, "form: cancelled"),
        Outcome::Closed => (true, "form: closed"),
        _ => (false, "form: ended otherwise"),
    };
    oracle.claim(fits, I::Forms, || format!("{mark} ends with {outcome:?}"));
    oracle.hit(hit);
}

fn mention_number(path: &str) -> u64 {
    path.split("mention-").nth(1).and_then(|rest| rest.parse().ok()).unwrap_or(0)
}
