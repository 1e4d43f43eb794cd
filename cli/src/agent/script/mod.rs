//! A script: the calls, requests and notifications to send, and the events to expect.
//!
//! ```text
//!  file ──parse: every line, before the agent connects──▶ steps ──play──▶ as expected | line, expected, received
//!                                                                  │
//!                                         events wait in a queue until an `expect` takes them
//! ```

mod parse;
mod play;

pub(crate) use parse::{Folder, Script, Step, Verb};
