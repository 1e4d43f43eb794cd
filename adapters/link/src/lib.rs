//! The code that the adapters share: bytes between one socket and one sans-IO connection.
//!
//! [`Link`] moves the bytes for a [`Wire`](ide_mcp::Wire) that it borrows in each step. [`Conn`] is a
//! link with a machine of its own. [`WakeSet`] collects the wake-ups of sockets and other threads for
//! a loop that waits. A socket is any type that reads, writes and can shut its write side down; it is
//! non-blocking, or blocking with timeouts. This crate has no protocol, no clock and no poll: the
//! caller passes the time, and reports when the socket can be ready.

mod conn;
mod hand_over;
mod idleness;
mod itself;
mod link;
mod next;
mod shutdown;
mod wake_set;

pub use conn::Conn;
pub use itself::refuse_itself;
pub use link::{BUDGET, Link};
pub use next::{FairPoll, Next};
pub use shutdown::Shutdown;
pub use wake_set::{Readiness, WakeSet, Waker};
