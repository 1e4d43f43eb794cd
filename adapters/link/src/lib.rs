//! What the adapters share: bytes between one socket and one sans-IO connection.
//!
//! [`Link`] moves them for a [`Wire`](ide_mcp::Wire) that it borrows step by step; [`Conn`] is a link with a machine of
//! its own; [`WakeSet`] is how sockets and other threads tell a waiting loop where to look. The socket is anything that
//! reads, writes and can shut its write side down; it is non-blocking, or blocking with timeouts. There is no protocol
//! here, no clock and no poll: the caller says what time it is and when the socket may have become ready.

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
