//! Gives the tools of a running editor to any MCP client: an MCP server over standard input and output, and an agent
//! attached to the editor, joined by raw forwarding both ways.
//!
//! `ide-mcp bridge --help` says how it is used, and what its exit status means.

mod attachment;
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

const PROGRAM: Program = Program::new("bridge", options::USAGE);

pub(crate) fn main(parser: Parser) -> ExitCode {
    PROGRAM.main(parser, Options::parse, run)
}

fn run(options: Options) -> ExitCode {
    // Before anybody is greeted: whoever starts it is to hear at once that there is no editor.
    let editor = match find::editor(&options.editor) {
        Ok(editor) => editor,
        Err(nothing) => return PROGRAM.end(NOT_BEGUN, &nothing.to_string()),
    };
    PROGRAM.done(
        Bridge::new(options.editor, options.trust, editor)
            .map_err(|error| error.to_string())
            .and_then(Bridge::run),
    )
}
