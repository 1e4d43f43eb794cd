//! What a loop that waits for sockets and other threads needs: their wake-ups, and the outcome of a step.

mod next;
mod wake_set;

pub(crate) use next::FairPoll;
pub use next::Next;
pub use wake_set::{Readiness, WakeSet, Waker};
