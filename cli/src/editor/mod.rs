//! An editor that coding agents attach to. One thread runs the loop, and another reads and writes files.
//!
//! `ide-mcp editor --help` explains its use and its exit status.
mod config;
mod diagnostics;
mod diffs;
mod edits;
mod folders;
mod headless;
mod ignored;
mod last_run;
mod launch;
mod listen;
mod neighbors;
mod options;
mod paths;
mod read;
pub(crate) mod screen;
mod worker;
mod workspace;

use crate::support::{NOT_BEGUN, Program};
pub(crate) use options::{Face, Options};
#[cfg(feature = "demo")]
pub(crate) use screen::panel::{Panel, PanelWriter};
#[cfg(feature = "demo")]
pub(crate) use screen::view::palette::Ink;
use std::error::Error;
use std::process::ExitCode;

const PROGRAM: Program = Program("editor");

/// Runs the command. The error is a wrong command line.
pub(crate) fn main(options: &Options) -> Result<ExitCode, String> {
    options.check()?;
    Ok(match options.face() {
        Ok(Face::Screen) => {
            let started = options.settings().and_then(screen::Editor::start);
            finish(false, started, |(editor, poll)| editor.run(poll))
        }
        Ok(Face::Headless) => {
            let started = options.settings().and_then(|settings| headless::Editor::start(&settings));
            finish(true, started, |(editor, poll)| editor.run(poll))
        }
        Err(problem) => PROGRAM.end(NOT_BEGUN, &problem),
    })
}

/// Runs an editor that has started. With `json`, a failed start is also an event.
fn finish<T>(
    json: bool,
    started: Result<T, Box<dyn Error>>,
    run: impl FnOnce(T) -> Result<(), Box<dyn Error>>,
) -> ExitCode {
    match started {
        Ok(started) => PROGRAM.done(run(started)),
        Err(problem) => PROGRAM.end_with(json, NOT_BEGUN, &problem.to_string()),
    }
}
