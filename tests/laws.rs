//! The nine laws of `Wire` and `Machine`, asserted for every machine of this crate.

mod support;

use support::laws::laws;
use support::sockets::{WsClient, WsServer};

#[test]
fn ws_server() {
    laws(&WsServer);
}

#[test]
fn ws_client() {
    laws(&WsClient);
}
