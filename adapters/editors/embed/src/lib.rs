//! [`ide_mcp`] for editors that are not written in Rust. You write the configuration and commands as JSON
//! objects, and get events as JSON objects; calls and agents have numbers.
//!
//! - `ListeningEditor` (the feature `listen`, on by default) listens, publishes the lock file, and gives you
//!   one descriptor to wait for.
//! - [`Editor`] has no sockets, threads or disk: bytes in, events and bytes out.
//!
//! [`CONFIG`], [`COMMANDS`] and [`EVENTS`] are the table of all objects and members. The code that reads and
//! writes the objects is generated from it, and so are the tables of `docs/sidecar.md`. The program
//! `ide-mcp sidecar` passes the lines of its standard input to this crate, and writes the events to its
//! standard output. If your language has no JSON parser, read the members of an event with
//! [`Event::member`], and pass the commands that every editor needs as [`TypedCommand`].

mod act;
mod command;
mod config;
mod core;
mod editor;
mod error;
mod event;
mod gate;
mod input;
#[cfg(feature = "listen")]
mod listening;
mod numbers;
mod old_text;
mod output;
mod report;
mod table;
mod typed;

pub use command::{COMMANDS, MAX_COMMAND};
pub use config::{CONFIG, PARTS, PROTOCOL};
pub use editor::Editor;
pub use error::{CommandError, CommandErrorKind, ConfigError};
pub use event::{EVENTS, Event};
#[cfg(feature = "listen")]
pub use listening::{ListeningEditor, OpenError};
pub use old_text::OldText;
pub use output::Value;
pub use table::{Member, Row};
pub use typed::TypedCommand;

/// The code of the README, which is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
