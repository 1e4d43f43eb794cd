//! A script: what to ask and say, and what is to come of it.
//!
//! ```text
//!  file ──parse: every line, before anybody is asked──▶ steps ──play──▶ as expected | the line, what was expected, what came
//!                                                                │
//!                                        events wait in a queue until an `expect` takes them
//! ```

mod parse;
mod pattern;
mod play;

pub(crate) use parse::{Script, Step, Verb};
pub(crate) use pattern::matches;
