//! Why does no editor come up? Looks at everything between an agent and its editor, and says what is wrong with it.
//!
//! `facts` are gathered, pure `rules` turn them into findings, and the findings are reported. `doctor --help` says how it is
//! used, and what its exit status means.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the cases that concern it")]

mod facts;
mod gather;
mod kinds;
mod options;
mod report;
mod rules;

use gather::{gather, remove};
use ide_mcp_examples::find::Here;
use ide_mcp_examples::{NOT_BEGUN, Program, Progress, write_line};
use options::Options;
use report::Report;
use std::env;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::process::ExitCode;

const PROGRAM: Program = Program::new("doctor", options::USAGE);

fn main() -> ExitCode {
    PROGRAM.main(Options::parse, run)
}

fn run(options: Options) -> ExitCode {
    let here = match Here::of(options.cwd.as_deref()) {
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
    told(lines.and_then(|lines| lines.iter().try_for_each(|line| write_line(line))), report.exit_status())
}

/// Nobody has to read it to the end.
fn told(said: io::Result<()>, status: u8) -> ExitCode {
    match said {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            PROGRAM.end(NOT_BEGUN, &format!("standard output cannot be written: {error}"))
        }
        _ => ExitCode::from(status),
    }
}
