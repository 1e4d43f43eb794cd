//! Wakes a waiting loop for its sockets and for other threads.

mod bell;
mod next;
mod wake_set;

pub use bell::Bell;
pub(crate) use next::FairPoll;
pub use next::Next;
pub use wake_set::{Readiness, WakeSet, Waker};
