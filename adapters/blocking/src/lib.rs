//! One connection of [`ide_mcp`] on a blocking socket of the standard library, either role, one thread.
//!
//! For command lines and tests, where a thread may wait for the next event. There is no poll in the standard library,
//! so [`Conn`] waits in a read whose timeout is the machine's deadline; it never waits in a write for more than a
//! moment. A thread cannot be woken out of that read: where another thread has something to send, wait in slices with
//! [`Conn::poll`], or use `ide-mcp-mio`.

mod conn;

pub use conn::Conn;
