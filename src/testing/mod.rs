//! Test your editor or agent without sockets: two machines joined in virtual time, repeatable random numbers, and
//! scripts that a fuzzer can write. Enable the feature `testing` only for tests.
//!
//! ```text
//!            ┌───────── to_server: Link ◀────────┐
//!            ▼                                   │
//!  server (Machine)             now             client (Machine)
//!            │                                   ▲
//!            └───────▶ to_client: Link ──────────┘
//!
//!  Step ── Act: an application does something
//!       ── Link: bytes come in pieces, late, not for a while, or never again
//!       ── Wait, Sleep, Due: the time moves on
//! ```
//!
//! A [`Pair`] owns both machines and the time. Nothing happens by itself: [`settle`](Pair::settle) moves bytes and
//! events until both are idle, and [`advance`](Pair::advance) lets time pass, deadline by deadline. So a virtual day
//! takes at most a second, and the same seed, or the same bytes of a script, always give the same run. For a single
//! machine, [`pass`] is your loop: it returns the events, the bytes and the wait of one pass.
//!
//! A [`Net`] owns a server, any number of agents, and programs that send arbitrary bytes. Use it for tests and fuzz
//! targets of an editor; its documentation has an example of a fuzz target. A [`Tracer`] shows what passes through a
//! machine.

#[cfg(feature = "ide")]
mod agent;
#[cfg(feature = "ide")]
mod answer;
mod link;
#[cfg(feature = "mcp")]
mod message;
#[cfg(feature = "mcp")]
mod messages;
#[cfg(feature = "ide")]
mod net;
mod pair;
mod pass;
mod random;
mod script;
#[cfg(feature = "ide")]
mod tracer;

#[cfg(feature = "ide")]
pub use agent::AgentAct;
#[cfg(feature = "ide")]
pub use answer::{read_answer, written_answer};
pub use arbitrary;
pub use link::Link;
#[cfg(feature = "mcp")]
pub use message::PeerText;
#[cfg(feature = "mcp")]
pub use messages::Messages;
#[cfg(feature = "ide")]
pub use net::{Net, NetAct};
pub use pair::Pair;
pub use pass::{Passed, pass, pass_with};
pub use random::Random;
pub use script::{Change, Span, Step, Way, script};
#[cfg(feature = "ide")]
pub use tracer::Tracer;
