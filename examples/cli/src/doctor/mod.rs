//! A command that finds the reason why an agent does not attach: it inspects everything between an
//! agent and its editor, and reports the faults.
//!
//! `gather` collects the `facts`, the pure `rules` turn them into findings, and `report` prints
//! these. `ide-mcp doctor --help` explains the use and the exit status.

mod facts;
mod gather;
mod kinds;
mod options;
mod report;
mod rules;

use crate::support::{NOT_BEGUN, Program, Progress, find, write_line};
use gather::{gather, remove};
use lexopt::Parser;
use options::Options;
use report::Report;
use std::env;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::process::ExitCode;

pub(crate) const PROGRAM: Program = Program::new("doctor", "ide-mcp doctor", options::USAGE);

pub(crate) fn main(parser: Parser) -> ExitCode {
    PROGRAM.main(parser, Options::parse, run)
}

fn run(options: Options) -> ExitCode {
    let here = match find::working_dir(options.cwd.as_deref()) {
        Ok(here) => here,
        Err(error) => return PROGRAM.end_with(options.json, NOT_BEGUN, &error.to_string()),
    };
    let removed = match options.remove_leftovers.then(remove).transpose() {
        Ok(removed) => removed.unwrap_or_default(),
        Err(error) => return PROGRAM.end_with(options.json, NOT_BEGUN, &error.to_string()),
    };
    let facts = gather(here, options.connects(), removed, &mut Progress::new("doctor"));
    let findings = rules::judge(&facts);
    let verdict = rules::verdict(&facts, &findings);
    let report = Report { findings: &findings, verdict: &verdict, cwd: &facts.here.logical };
    let lines = if options.json {
        report::json(&report)
    } else {
        let coloured =
            io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Ok(vec![report::text(&report, options.verbose, coloured)])
    };
    exit_code(
        lines.and_then(|lines| lines.iter().try_for_each(|line| write_line(line))),
        report.exit_status(),
    )
}

/// Returns the exit status after printing. A reader can close the pipe before the end, which is no
/// error.
fn exit_code(printed: io::Result<()>, status: u8) -> ExitCode {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            PROGRAM.end(NOT_BEGUN, &format!("standard output cannot be written: {error}"))
        }
        _ => ExitCode::from(status),
    }
}

#[cfg(test)]
mod tests;
