//! Gives the tools of a running editor to any MCP client: an MCP server over standard input and output, and an agent
//! attached to the editor, joined by raw forwarding in both directions.
//!
//! `ide-mcp bridge --help` explains the use and the exit status.

mod attachment;
mod attempt;
mod greeting;
mod options;
mod pipes;
mod routes;
mod run;

use crate::support::{NOT_BEGUN, Program, find};
pub(crate) use options::Options;
use run::Bridge;
use std::process::ExitCode;

const PROGRAM: Program = Program("bridge");

pub(crate) fn main(options: &Options) -> ExitCode {
    let search = options.editor.search();
    // Check now, before the client sends a message, so that a missing editor is reported at once.
    let editor = match find::editor(&search) {
        Ok(editor) => editor,
        Err(nothing) => return PROGRAM.end(NOT_BEGUN, &nothing),
    };
    PROGRAM.done(
        Bridge::new(search, options.trust, editor).map_err(|error| error.to_string()).and_then(Bridge::run),
    )
}
