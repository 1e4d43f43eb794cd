//! The wake-ups of sockets and other threads for a loop that waits, and the outcome of its step.

mod bell;
mod next;
mod wake_set;

pub use bell::Bell;
pub(crate) use next::FairPoll;
pub use next::Next;
pub use wake_set::{Readiness, WakeSet, Waker};
