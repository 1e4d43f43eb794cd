//! The eleven laws of `Machine`, for every machine of this crate.

use crate::support::agents::IdeClient;
use crate::support::bug::Bug;
use crate::support::laws::{Broken, Law, Subject, laws};
use crate::support::mutant::MutantSubject;
use crate::support::run::Run;
use crate::support::servers::IdeServer;
use crate::support::sockets::{WsClient, WsServer};
use crate::support::toy::ToySubject;
use ide_mcp::testing::pass;
use ide_mcp::{Machine as _, Time};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

#[test]
fn ws_server() {
    laws(&WsServer);
}

#[test]
fn ws_client() {
    laws(&WsClient);
}

#[test]
fn ide_server() {
    laws(&IdeServer::default());
}

#[test]
fn ide_client() {
    laws(&IdeClient);
}

/// Checks that the toy obeys the laws: other tests plant bugs into it.
#[test]
fn toy() {
    laws(&ToySubject);
}

#[test]
fn second_sleep_ends_no_connection() {
    sleeps(&WsServer);
    sleeps(&WsClient);
    sleeps(&IdeServer::default());
    sleeps(&IdeClient);
}

#[test]
fn laws_detect_every_bug_in_toy() {
    assert_laws_find(|| ToySubject, &[Bug::ANYWHERE, Bug::WITH_CALLS].concat());
}

#[test]
fn laws_detect_every_bug_in_server() {
    assert_laws_find(|| WsServer, Bug::ANYWHERE);
}

#[test]
fn laws_detect_every_bug_in_editor() {
    assert_laws_find(IdeServer::default, &[Bug::ANYWHERE, Bug::WITH_CALLS].concat());
}

#[test]
fn laws_detect_every_bug_in_agent() {
    assert_laws_find(|| IdeClient, Bug::WITH_REQUESTS);
}

/// Users call `pass` in their own tests, so it must find a machine with a wrong deadline.
#[test]
fn pass_detects_wrong_deadlines() {
    let now = Time::from_millis(10);
    for (bug, expected) in [
        (Bug::Harmless, ""),
        (Bug::DeadlineStuckInThePast, "at Time(10000000) the machine waits until Some(Time(0))"),
        (Bug::DeadlineHidesAnEvent, "came Closed(\"bye\"), although the deadline was Some(Time(11000000))"),
    ] {
        let mut machine = MutantSubject { inner: ToySubject, bug }.make(now);
        machine.feed(now, (), b"bye\n");
        let result = catch_unwind(AssertUnwindSafe(|| pass(&mut machine, now, usize::MAX)));
        let found = result.err().and_then(|payload| payload.downcast::<String>().ok()).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{bug:?}: {found}");
    }
}

/// Suspends an open machine for eight hours, three times, each time while a ping waits for its answer. The peer
/// is still there each time, so the connection must stay open.
fn sleeps<S: Subject>(subject: &S) {
    let mut run = Run::new(subject, 0, 0);
    run.feed(run.now(), &subject.opening());
    run.settle();
    for sleep in 1..=3 {
        for silence in [30, 8 * 3600] {
            run.write(usize::MAX);
            run.tick(run.now().saturating_add(Duration::from_secs(silence)));
        }
        run.feed(run.now(), &subject.message(200));
        run.settle();
        assert!(!run.has_closed(), "{}: sleep {sleep}: {:?}", subject.name(), run.shown().last());
    }
    run.finish();
}

/// Plants one bug at a time, and checks that the failure names the law that the bug breaks.
fn assert_laws_find<S: Subject>(subject: impl Fn() -> S, bugs: &[(Bug, Law)]) {
    laws(&MutantSubject { inner: subject(), bug: Bug::Harmless });
    let mut missed = Vec::new();
    for (bug, law) in bugs {
        let mutant = MutantSubject { inner: subject(), bug: *bug };
        let result = catch_unwind(AssertUnwindSafe(|| laws(&mutant)));
        let found = result.map_err(|payload| payload.downcast_ref::<Broken>().map(|broken| broken.law));
        if found != Err(Some(*law)) {
            missed.push((bug, law, found));
        }
    }
    assert!(missed.is_empty(), "bugs that are not found, or not under their law: {missed:#?}");
}
