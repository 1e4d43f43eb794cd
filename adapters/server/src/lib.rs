//! The server of an editor without the waiting: the code that `ide-mcp-mio`, `ide-mcp-smol` and
//! `ide-mcp-blocking` share.
//!
//! Use one of these three. Each has a [`Transport`] and its own way to wait. All the rest is written
//! here once: the address of the listener ([`Bind`]), the number of connections that are accepted at
//! a time, the number of bytes that a turn reads and writes, the lingering of closed connections, the
//! lock file and its guard, and the order of the shutdown ([`Server`]). The
//! [`ide::Host`](ide_mcp::ide::Host) decides about messages and about admission; this crate has no
//! protocol.
//!
//! | | `ide-mcp-mio` | `ide-mcp-smol` | `ide-mcp-blocking` |
//! | --- | --- | --- | --- |
//! | who waits | the application, in its `Poll` | a task, on the reactor of `async-io` | the calling thread, parked |
//! | threads | none | that of the reactor | an acceptor, and two a connection |
//! | a turn | `handle` each event, then `turn(now, \|host, event\| …)` | `next_event().await` | `next_event()`, or `poll(at_most)` |
//! | the time | the application's: `deadline(now)` | its own clock: `now()` | its own clock: `now()` |
//! | another thread | `Waker::new(registry, token)` | `waker()`; `next_event` is then `None` | `waker()`; `next_event` is then `None` |
//! | one connection | `Conn`: `handle`, `turn` | `Conn`: `next_event().await` | `Conn`: `next_event()`, `poll(at_most)`; no waker |
//! | connections | 1,022 | as many as there are file descriptors | as many as there may be threads, halved |
//! | the same in all | `Bind`, `bind`, `publish`, `publish_guarded`, `lock_path`, `update_lock_file`, `token`, `host`, `host_mut`, `shutdown`, `is_over`, `local_addr`, `port`; `Conn::connect`, `machine`, `machine_mut`, `error`, `is_over` | | |
//!
//! The events are those of the host, and the options are its
//! [`HostConfig`](ide_mcp::ide::HostConfig), in all three.
//!
//! A server over another loop implements [`Transport`] and calls [`Server::turn`]. If it cannot
//! report which socket is ready, it wakes an [`ide_mcp_link::WakeSet`] and calls [`Server::next`].

mod bind;
mod door;
mod hand_over;
mod links;
mod lock;
mod proof;
mod server;
mod transport;

pub use bind::Bind;
pub use ide_mcp_lockfile::GuardMode;
pub use lock::{Guarding, Wake};
pub use server::Server;
pub use transport::{RETRY, Transport};

// For `hand_over`.
#[doc(hidden)]
pub use ide_mcp::ide::{AuthToken, Host, LockFile};
#[doc(hidden)]
pub use ide_mcp_lockfile::{Error as LockError, LockDir};
