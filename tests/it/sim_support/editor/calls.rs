//! The calls of the editor's clients: the actions on each, and the end of each.

use std::time::Duration;

use ide_mcp::ide::tool::{Call, Diagnostics, DiffOutcome, FileDiagnostics, OpenDiff, ToolCall};
use ide_mcp::{
    Time,
    ide::{ConnId, Dialect, DiffEnd},
    mcp::{CallEnd, Progress, PromptResult, ResourceResult, ToolResult},
    rpc::{CallId, ErrorObject, NotAnswered},
    testing::written_answer,
};

use super::Editor;
use crate::sim_support::{
    ledger::Ledger,
    oracle::{Invariant as I, Oracle},
    plant::{Snapshot, Subject, conn_of},
    tap::nonce_in,
};

/// The number of ended calls that are answered again.
const REMEMBERED: usize = 40;

/// A call that waits for the application.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) nonce: Option<String>,
    pub(super) what: What,
    /// The time for an answer, from the call or its latest progress.
    span: Option<Duration>,
    /// The earliest and the latest time of the deadline. They differ only after a wait for the consent.
    pub(super) due: Option<[Time; 2]>,
    longest: [Time; 2],
    reached: f64,
}

#[derive(Debug)]
pub(super) enum What {
    /// The typed call is answered first; if its answer is refused, the call is answered by its
    /// name.
    Diff {
        tab: String,
        call: Option<Call<OpenDiff>>,
    },
    Diagnostics,
    File,
    Tool,
    Prompt,
    /// The field is the URI.
    Resource(String),
    Raw,
}

/// A planned action on a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Answer,
    Fail,
    Twice,
    Progress(u8),
}

impl Editor {
    pub(super) fn take(
        &mut self,
        (now, time): (Time, Time),
        (call, conn): (CallId, ConnId),
        (nonce, what, span, longest): (Option<String>, What, Option<Duration>, Duration),
        subject: &mut Subject,
        ledger: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        oracle.claim(conn_of(call) == conn, I::CrossTalk, || format!("{call:?} comes from {conn:?}"));
        let begun = ledger.opened(time, call, nonce.as_deref(), oracle);
        let is_diff = matches!(what, What::Diff { .. });
        let open = Open {
            nonce,
            what,
            span,
            due: span.map(|span| begun.map(|at| at.saturating_add(span))),
            longest: begun.map(|at| at.saturating_add(longest)),
            reached: f64::NEG_INFINITY,
        };
        self.open.insert(call, open);
        let usual = span.unwrap_or(Duration::from_secs(5)).as_micros().try_into().unwrap_or(u64::MAX);
        let later = Duration::from_micros(self.random.number() % (usual * 5 / 4));
        let mut plan = |at: Time, action| {
            self.serial += 1;
            self.actions.insert((at, self.serial), (call, action));
        };
        match self.random.below(12) {
            0..=2 if !is_diff => self.act(time, call, Action::Answer, subject, oracle),
            3 => self.act(time, call, Action::Twice, subject, oracle),
            4 => self.act(time, call, Action::Fail, subject, oracle),
            5 => plan(now.saturating_add(later), Action::Twice),
            6 => plan(now.saturating_add(later), Action::Fail),
            7 => {
                for part in 1..=3 {
                    plan(
                        now.saturating_add(later * part / 3),
                        Action::Progress(u8::try_from(part).unwrap_or(0)),
                    );
                }
                plan(now.saturating_add(later * 5 / 4), Action::Answer);
            }
            8 | 9 => oracle.hit("editor never answers"),
            _ => plan(now.saturating_add(later), Action::Answer),
        }
    }

    /// Does everything that is due, outside of the loop.
    pub fn run_actions(&mut self, now: Time, time: Time, subject: &mut Subject, oracle: &mut Oracle) -> bool {
        let mut any = false;
        while let Some(entry) = self.actions.first_entry().filter(|entry| entry.key().0 <= now) {
            let (call, action) = entry.remove();
            self.act(time, call, action, subject, oracle);
            any = true;
        }
        any
    }

    fn act(&mut self, time: Time, call: CallId, action: Action, subject: &mut Subject, oracle: &mut Oracle) {
        match action {
            Action::Answer => self.answer(call, true, subject, oracle),
            Action::Fail => self.answer(call, false, subject, oracle),
            Action::Twice => {
                self.answer(call, true, subject, oracle);
                self.answer(call, true, subject, oracle);
                oracle.hit("editor answers twice");
            }
            Action::Progress(part) => self.progress(time, call, f64::from(part), subject, oracle),
        }
    }

    /// Answers a call, open or not.
    pub(super) fn answer(&mut self, call: CallId, well: bool, subject: &mut Subject, oracle: &mut Oracle) {
        oracle.note(|| format!("editor answers {call:?}"));
        let before = subject.snapshot(conn_of(call));
        let open = self.open.get_mut(&call);
        let nonce = open.as_ref().and_then(|open| open.nonce.clone()).unwrap_or_default();
        let filler = if self.big && self.random.one_in(4) { 30_000 } else { 5 };
        let text = format!("{nonce}{}", "y".repeat(filler));
        let respond = |subject: &mut Subject, result: &ToolResult<'_>| {
            subject.server.call(call).respond(result).map_err(gone)
        };
        let done = match open.map(|open| &mut open.what) {
            _ if !well => subject.server.call(call).fail(ErrorObject::new(-7, nonce.as_str())),
            Some(What::Diff { tab, call }) => {
                let outcome = match self.random.one_in(3) {
                    true => DiffOutcome::Rejected { tab_name: tab.clone() },
                    false => DiffOutcome::Accepted { contents: text },
                };
                match call.take() {
                    Some(call) => subject.server.answer(call, &outcome),
                    None => respond(subject, &written_answer(&outcome, Dialect::VsCode)),
                }
            }
            Some(What::Diagnostics) => respond(
                subject,
                &written_answer(
                    &Diagnostics { files: vec![FileDiagnostics::new(text, Vec::new())] },
                    Dialect::VsCode,
                ),
            ),
            Some(What::File) => respond(subject, &ToolResult::text(format!("Opened file: {text}"))),
            Some(What::Prompt) => {
                subject.server.call(call).respond_prompt(&PromptResult::text(text)).map_err(gone)
            }
            Some(What::Resource(uri)) => {
                let result = ResourceResult::text(uri.as_str(), "", text);
                subject.server.call(call).respond_resource(&result).map_err(gone)
            }
            Some(What::Raw) => {
                let result =
                    serde_json::value::to_raw_value(&serde_json::json!({ "content": text })).unwrap();
                subject.server.call(call).respond_raw(&result).map_err(gone)
            }
            Some(What::Tool) | None => respond(subject, &ToolResult::text(text)),
        };
        self.judge(call, before, done, subject, oracle);
        if done.is_ok() && self.open.remove(&call).is_some() {
            self.end(call, NotAnswered::Answered);
            oracle.hit("editor answers");
        }
    }

    fn progress(
        &mut self,
        time: Time,
        call: CallId,
        reached: f64,
        subject: &mut Subject,
        oracle: &mut Oracle,
    ) {
        let before = subject.snapshot(conn_of(call));
        let input = Progress::new(reached).of(3.0).message("on its way");
        let record = subject.server.call(call).progress(&input);
        self.judge(call, before, record.map(drop), subject, oracle);
        if let (Some(open), Ok(_)) = (self.open.get_mut(&call), record) {
            if reached > open.reached {
                open.reached = reached;
                open.due = open.span.map(|span| open.longest.map(|last| time.saturating_add(span).min(last)));
            }
        }
    }

    /// Checks that an answer was rightly accepted or refused.
    fn judge(
        &mut self,
        call: CallId,
        before: Snapshot,
        done: Result<(), NotAnswered>,
        subject: &mut Subject,
        oracle: &mut Oracle,
    ) {
        let mut done = done;
        if done.is_err() && subject.after_refusal(call) {
            done = Ok(());
        }
        let open = self.open.contains_key(&call);
        match done {
            Ok(()) => oracle.claim(open, I::StaleHandles, || format!("{call:?} is answered, and has ended")),
            Err(gone) => {
                let after = subject.snapshot(conn_of(call));
                oracle.claim(before == after, I::RefusalsFree, || {
                    format!("{gone}: {before:?} is {after:?} now")
                });
                // The connection may have ended, with the event not yet polled.
                let known = self.ended.iter().find(|(ended, _)| *ended == call).map(|(_, how)| *how);
                let fits = gone == NotAnswered::Closed || (!open && known.is_none_or(|how| how == gone));
                oracle.claim(fits, I::StaleHandles, || {
                    format!("{call:?} is refused with {gone:?}, not {known:?}")
                });
                oracle.hit(match gone {
                    NotAnswered::Answered => "refused: answered",
                    NotAnswered::Cancelled => "refused: cancelled",
                    NotAnswered::Expired => "refused: expired",
                    NotAnswered::Closed => "refused: closed",
                    _ => "refused: unknown",
                });
            }
        }
    }

    fn end(&mut self, call: CallId, how: NotAnswered) {
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((call, how));
    }

    pub(super) fn call_ended(
        &mut self,
        time: Time,
        call: CallId,
        how: &CallEnd,
        subject: &mut Subject,
        ledger: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        let Some(open) = self.open.remove(&call) else {
            return oracle
                .claim(false, I::AnsweredOnce, || format!("{call:?} ends by {how:?}, and had ended"));
        };
        let gone = match how {
            CallEnd::Cancelled { .. } => {
                subject.after_cancel(call, ledger.silenced(call, true, oracle));
                oracle.hit("call cancelled");
                NotAnswered::Cancelled
            }
            CallEnd::Expired => {
                let due = open.due.is_some_and(|[due, _]| due <= time);
                oracle.claim(due, I::CallDeadline, || format!("{call:?} expires before {:?}", open.due));
                oracle.hit("call expired");
                NotAnswered::Expired
            }
            CallEnd::Closed => {
                ledger.silenced(call, false, oracle);
                oracle.hit("call abandoned");
                NotAnswered::Closed
            }
            CallEnd::ShutDown => {
                oracle.hit("call shut down");
                NotAnswered::Answered
            }
            _ => NotAnswered::Unknown,
        };
        self.end(call, gone);
    }

    pub(super) fn diff_closed(
        &mut self,
        (call, tab, why): (CallId, &str, DiffEnd),
        subject: &mut Subject,
        ledger: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        let open = self.open.remove(&call);
        let fits =
            open.as_ref().is_some_and(|open| matches!(&open.what, What::Diff { tab: of, .. } if of == tab));
        oracle.claim(fits, I::Diffs, || format!("{tab} closes by {why:?}: {open:?}"));
        let gone = match why {
            DiffEnd::TabClosed | DiffEnd::AllClosed => {
                oracle.claim(ledger.is_doomed(call), I::Diffs, || {
                    format!("{tab} closes, and nobody closed it")
                });
                oracle.hit(if why == DiffEnd::TabClosed { "diff: tab closed" } else { "diff: all closed" });
                NotAnswered::Answered
            }
            DiffEnd::Cancelled => {
                subject.after_cancel(call, ledger.silenced(call, true, oracle));
                oracle.hit("diff: cancelled");
                NotAnswered::Cancelled
            }
            DiffEnd::Disconnected => {
                ledger.silenced(call, false, oracle);
                oracle.hit("diff: disconnected");
                NotAnswered::Closed
            }
            _ => {
                oracle.hit("diff: shut down");
                NotAnswered::Answered
            }
        };
        self.end(call, gone);
    }
}

/// Returns the mark of a call, and its kind.
pub(super) fn pending(call: ToolCall) -> (Option<String>, What) {
    let (text, what) = match call {
        ToolCall::OpenDiff(call, diff) => {
            (diff.new_file_contents, What::Diff { tab: diff.tab_name, call: Some(call) })
        }
        ToolCall::GetDiagnostics(_, query) => (query.uri.unwrap_or_default(), What::Diagnostics),
        ToolCall::OpenFile(_, file) => (file.file_path, What::File),
        ToolCall::Other(_, other) => (other.raw().unwrap().get().to_owned(), What::Tool),
        other => (format!("{other:?}"), What::Tool),
    };
    (nonce_in(&text).map(str::to_owned), what)
}

/// Returns the end of a call whose answer was refused. No answer here has the form of another call.
fn gone(error: NotAnswered) -> NotAnswered {
    assert!(error.is_over(), "an answer was refused: {error}");
    error
}
