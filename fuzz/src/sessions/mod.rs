//! Checks sessions of MCP in either role against a model of what each must send: the answers to the peer's requests,
//! its own requests, and the events for the application.
//!
//! `oracle` checks a session, and `ledger` records what it must answer; `tests/model` says which answer each request
//! requires. `server` and `client` are the scripts, and `acts` has the steps that both share. The tests of the root
//! package include this module too.

mod acts;
mod client;
mod ledger;
mod oracle;
mod roles;
mod server;

pub use acts::{OPENED, Pace, random_script};
pub use client::{client_script, random_client_script};
pub use ledger::{Ledger, answered, token};
pub use oracle::{Hits, name_of};
pub use roles::check_error_text;
pub use server::{random_server_script, server_script};

/// Plays a script of a server session.
pub fn mcp_server_script(data: &[u8]) {
    server_script(data);
}

/// Plays a script of a client session.
pub fn mcp_client_script(data: &[u8]) {
    client_script(data);
}
