//! The one model of what a session, an agent and an editor must answer: each request once, in the form of JSON-RPC and
//! with what the request requires, and nothing else.
//!
//! - `message`: a message as it is written, and the form of what we send;
//! - `open`: the requests that wait; each answer takes one of them;
//! - `expected`: what an answer must be, and the answers that depend only on the method;
//! - `served`: the requests that a session serves itself, with the answer to each.
//!
//! The scripts of sessions and the fuzz targets, the simulation and the soak of the program all include this folder. The
//! generator of the fuzz targets (`fuzz/src/targets/speech.rs`) decides by itself which of its messages are requests.
#![allow(dead_code, unused_imports, reason = "each of those who include it uses a part")]

mod expected;
mod message;
mod open;
mod served;

pub use expected::*;
pub use message::*;
pub use open::*;
pub use served::*;
