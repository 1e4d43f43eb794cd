//! Sessions of MCP in either role under a model of what each one has to send: the answers to the
//! requests of its peer, its own requests, and the events for the application.
//!
//! `books` is the model of a session, `ledger` its record of answers; what each request requires is in `tests/model`.
//! `server` and `client` are the scripts, and `acts` has their common steps. The tests of the root package include
//! this module as well.

mod acts;
mod books;
mod client;
mod ledger;
mod roles;
mod server;

pub use acts::{OPENED, Pace, random_script};
pub use books::{Hits, name_of};
pub use client::{client_script, random_client_script};
pub use ledger::{Ledger, answered, token};
pub use roles::told;
pub use server::{random_server_script, server_script};

/// Plays a script of a server session.
pub fn mcp_server_script(data: &[u8]) {
    server_script(data);
}

/// Plays a script of a client session.
pub fn mcp_client_script(data: &[u8]) {
    client_script(data);
}
