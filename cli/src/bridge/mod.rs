//! A bridge that gives the tools of a running editor to any MCP client: an MCP server over standard
//! input and output, and an agent attached to the editor, joined by raw forwarding in both
//! directions.
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
use lexopt::Parser;
use options::Options;
use run::Bridge;
use std::process::ExitCode;

pub(crate) const PROGRAM: Program = Program::new("bridge", "ide-mcp bridge", options::USAGE);

pub(crate) fn main(parser: Parser) -> ExitCode {
    PROGRAM.main(parser, Options::parse, run)
}

fn run(options: Options) -> ExitCode {
    // Checked before the client sends a message: the bridge reports a missing editor at once.
    let editor = match find::editor(&options.editor) {
        Ok(editor) => editor,
        Err(nothing) => return PROGRAM.end(NOT_BEGUN, &nothing),
    };
    PROGRAM.done(
        Bridge::new(options.editor, options.trust, editor)
            .map_err(|error| error.to_string())
            .and_then(Bridge::run),
    )
}
