//! The other implementations. Each does the same task, in the way that its users would.
//!
//! Their transport is a pipe in memory that never waits, so a future is ready after one poll.

pub mod fastwebsockets;
pub mod pipe;
pub mod sockudo_ws;
pub mod soketto;
pub mod tokio_websockets;
pub mod tungstenite;
pub mod websocket_codec;

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Returns the output of a future that does not wait.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a pipe in memory never waits"),
    }
}
