//! A script: the calls and notifications to send, and the events to expect.
//!
//! ```text
//!  file ──parse: every line, before the agent connects──▶ steps ──play──▶ as expected | line, expected, came
//!                                                                  │
//!                                         events wait in a queue until an `expect` takes them
//! ```

mod parse;
mod pattern;
mod play;

pub(crate) use parse::{Script, Step, Verb};
pub(crate) use pattern::matches;
