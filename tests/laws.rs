//! The nine laws of `Wire` and `Machine`, asserted for every machine of this crate.

mod support;

use support::laws::laws;
use support::sockets::{WsClient, WsServer};
use support::toy::ToySubject;

#[test]
fn ws_server() {
    laws(&WsServer);
}

#[test]
fn ws_client() {
    laws(&WsClient);
}

/// The machine that the laws are tried on where they are to fail holds them.
#[test]
fn toy() {
    laws(&ToySubject);
}
