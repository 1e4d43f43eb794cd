//! The laws of a session, for any order of what the peer, the application and the clock do: every request ends once
//! (I1), no handle answers anything but its own call (I4), and after a cancellation there is silence (I5).
#![cfg(feature = "mcp")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test states what it expects"
)]

mod mcp_support;

use std::collections::BTreeMap;

use arbitrary::Unstructured;
use ide_mcp::{
    Time,
    mcp::{CallEnd, Outcome, ServerEvent, Timeout},
    rpc::{CallId, Gone, RequestId},
};
use mcp_support::Bench;

/// What the model knows of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    /// With the id it came with, and when it is due.
    Open(&'static str, Option<Time>),
    Ended(Gone),
}

/// `7` and `"7"` are different ids, `7.0` is `7`.
const IDS: &[&str] = &["0", "7", "7.0", "\"7\"", "\"\""];
const TOOLS: &[(&str, Option<u64>)] = &[("plain", Some(30_000)), ("soon", Some(400)), ("never", None)];

fn same_id(a: &str, b: &str) -> bool {
    a.trim_end_matches(".0") == b.trim_end_matches(".0")
}

#[derive(Default)]
struct Model {
    calls: BTreeMap<CallId, Call>,
    requests: BTreeMap<RequestId, usize>,
    closed: bool,
}

impl Model {
    fn open(&self, id: &str) -> Option<CallId> {
        self.calls.iter().find_map(|(call, state)| match state {
            Call::Open(open, _) if same_id(open, id) => Some(*call),
            Call::Open(..) | Call::Ended(_) => None,
        })
    }

    /// Takes in what happened; `expected` are the calls that must have ended, and how.
    fn poll(&mut self, bench: &mut Bench, mut expected: BTreeMap<CallId, Gone>) {
        let mut answers = 0;
        while let Some(event) = bench.poll() {
            match event {
                ServerEvent::CallEnded { call, how } => {
                    let how = match how {
                        CallEnd::Cancelled { .. } => Gone::Cancelled,
                        CallEnd::Expired => Gone::Expired,
                        CallEnd::Closed => Gone::Closed,
                        other => unreachable!("{other:?}"),
                    };
                    answers += usize::from(how == Gone::Expired);
                    assert_eq!(expected.remove(&call), Some(how), "{call:?} ended");
                    let before = self.calls.insert(call, Call::Ended(how));
                    assert!(matches!(before, Some(Call::Open(..))), "{call:?} ended twice: {before:?}");
                }
                ServerEvent::Outcome { request, outcome } => {
                    answers += usize::from(matches!(outcome, Outcome::TimedOut));
                    *self.requests.get_mut(&request).unwrap() += 1;
                }
                ServerEvent::Violation(_) => {}
                other => unreachable!("{other:?}"),
            }
        }
        assert!(expected.is_empty(), "should have ended: {expected:?}");
        assert_eq!(bench.out.take().len(), answers, "one answer for what expired, nothing for the rest");
        assert!(bench.server.deadline().is_none_or(|at| at > bench.now), "the clock moves on");
        let open = self.calls.values().filter(|call| matches!(call, Call::Open(..))).count();
        assert_eq!(bench.server.open_calls(), open);
    }

    fn step(&mut self, bench: &mut Bench, u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
        let mut expected = BTreeMap::new();
        match u.int_in_range(0..=9)? {
            0..=2 => {
                let (id, (tool, span)) = (*u.choose(IDS)?, *u.choose(TOOLS)?);
                let busy = self.open(id).is_some();
                let sent = bench.hear(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#
                ));
                if self.closed {
                    assert_eq!(sent, [""; 0], "closed");
                } else if busy {
                    assert_eq!(sent.len(), 1, "a second {id} is refused at once");
                    assert!(
                        sent[0].starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error""#)),
                        "{sent:?}"
                    );
                } else {
                    assert_eq!(sent, [""; 0]);
                    let Some(ServerEvent::Call { call, .. }) = bench.poll() else { unreachable!("no call") };
                    let due = span.map(|span| bench.now.after(std::time::Duration::from_millis(span)));
                    assert_eq!(
                        self.calls.insert(call, Call::Open(id, due)),
                        None,
                        "handles are never reused"
                    );
                }
            }
            3..=5 if !self.calls.is_empty() => {
                let pick = u.choose_index(self.calls.len())?;
                let (call, state) = self.calls.iter().nth(pick).map(|(c, s)| (*c, s.clone())).unwrap();
                let result = bench.server.respond(call, "x", &mut bench.out);
                let sent = bench.out.take();
                match state {
                    Call::Open(id, _) => {
                        assert_eq!(result, Ok(()));
                        assert_eq!(sent, [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"x"}}"#)]);
                        self.calls.insert(call, Call::Ended(Gone::Answered));
                    }
                    Call::Ended(how) => {
                        assert_eq!(result, Err(how), "{call:?}");
                        assert_eq!(sent, [""; 0]);
                    }
                }
            }
            6 => {
                let id = *u.choose(IDS)?;
                if let Some(call) = self.open(id) {
                    expected.insert(call, Gone::Cancelled);
                }
                assert_eq!(bench.cancel(id), [""; 0], "a cancellation is never answered");
            }
            7 => {
                let step = *u.choose(&[0, 1, 399, 400, 30_000])?;
                bench.now = bench.now.after(std::time::Duration::from_millis(step));
                bench.server.tick(bench.now);
                for (call, state) in &self.calls {
                    if matches!(state, Call::Open(_, Some(due)) if *due <= bench.now) {
                        expected.insert(*call, Gone::Expired);
                    }
                }
            }
            8 => match bench.server.request("r", None::<&()>, Timeout::Default, &mut bench.out) {
                Ok(request) => {
                    assert_eq!(bench.out.take().len(), 1);
                    assert_eq!(self.requests.insert(request, 0), None, "ids are never reused");
                    if u.arbitrary()? {
                        let serial = self.requests.len();
                        bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":{serial},"result":{{}}}}"#));
                        bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":{serial},"result":{{}}}}"#));
                    } else if u.arbitrary()? {
                        assert!(bench.server.cancel(request, None, &mut bench.out));
                        assert_eq!(bench.out.take().len(), 1);
                    }
                }
                Err(_) => assert!(self.closed),
            },
            9 if u.ratio(1, 8)? => {
                bench.server.close();
                self.closed = true;
                for (call, state) in &self.calls {
                    if matches!(state, Call::Open(..)) {
                        expected.insert(*call, Gone::Closed);
                    }
                }
            }
            _ => {}
        }
        self.poll(bench, expected);
        Ok(())
    }
}

#[test]
fn everything_that_is_asked_ends_exactly_once() {
    arbtest::arbtest(|u| {
        let mut bench = Bench::ready();
        let mut model = Model::default();
        for _ in 0..u.int_in_range(1..=40)? {
            model.step(&mut bench, u)?;
        }
        bench.server.close();
        model.closed = true;
        let open = model.calls.iter().filter(|(_, state)| matches!(state, Call::Open(..)));
        let expected = open.map(|(call, _)| (*call, Gone::Closed)).collect();
        model.poll(&mut bench, expected);
        for (request, outcomes) in &model.requests {
            assert_eq!(*outcomes, 1, "{request:?}");
        }
        Ok(())
    })
    .budget_ms(2_000);
}
