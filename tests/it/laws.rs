//! The ten laws of `Wire` and `Machine`, asserted for every machine of this crate.

use crate::support::agents::IdeClient;
use crate::support::bug::Bug;
use crate::support::editors::IdeServer;
use crate::support::hosts::IdeHost;
use crate::support::laws::{Broken, Law, Subject, laws};
use crate::support::mutant::MutantSubject;
use crate::support::sockets::{WsClient, WsServer};
use crate::support::toy::ToySubject;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

#[test]
fn ide_host() {
    laws(&IdeHost::default());
}

/// The machine that the laws are tried on where they are to fail holds them.
#[test]
fn toy() {
    laws(&ToySubject);
}

#[test]
fn laws_go_red_for_every_planted_bug() {
    laws_go_red(|| ToySubject, &[Bug::ANYWHERE, Bug::WITH_CALLS].concat());
}

#[test]
fn laws_go_red_for_every_bug_planted_in_a_server() {
    laws_go_red(|| WsServer, Bug::ANYWHERE);
}

#[test]
fn laws_go_red_for_every_bug_planted_in_an_editor() {
    laws_go_red(IdeServer::default, &[Bug::ANYWHERE, Bug::WITH_CALLS].concat());
}

#[test]
fn laws_go_red_for_every_bug_planted_in_a_host() {
    laws_go_red(IdeHost::default, &[Bug::ANYWHERE, Bug::WITH_CALLS].concat());
}

#[test]
fn laws_go_red_for_every_bug_planted_in_an_agent() {
    laws_go_red(|| IdeClient, Bug::WITH_REQUESTS);
}

/// Plants one bug at a time and expects that the law it breaks is named.
fn laws_go_red<S: Subject>(subject: impl Fn() -> S, bugs: &[(Bug, Law)]) {
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
    assert!(missed.is_empty(), "bugs that are not found, or taken for others: {missed:#?}");
}
