//! `ide-mcp doctor` finds out why an agent does not attach: it inspects everything between an agent
//! and its editor, and reports the faults.
//!
//! `gather` collects the `facts`, the pure `rules` turn them into findings, and `report` prints
//! these: once, or with `watch` whenever they change. `ide-mcp doctor --help` explains the use and the
//! exit status.

mod diagnosis;
mod facts;
mod gather;
mod kinds;
mod options;
mod report;
mod rules;
mod secrets;
mod watch;

use crate::support::{NOT_BEGUN, Program, Progress, find, write_line};
use diagnosis::Doctor;
use gather::remove;
use options::Format;
pub(crate) use options::Options;
use std::io;
use std::process::ExitCode;

const PROGRAM: Program = Program("doctor");

/// Runs the command. The error is a wrong command line.
pub(crate) fn main(options: &Options) -> Result<ExitCode, String> {
    options.check()?;
    Ok(run(options))
}

fn run(options: &Options) -> ExitCode {
    let format = options.format();
    let json = format == Format::Json;
    let here = match find::working_dir(options.cwd.as_deref()) {
        Ok(here) => here,
        Err(error) => return PROGRAM.end_with(json, NOT_BEGUN, &error.to_string()),
    };
    let removed = match options.remove_leftovers.then(remove).transpose() {
        Ok(removed) => removed.unwrap_or_default(),
        Err(error) => return PROGRAM.end_with(json, NOT_BEGUN, &error.to_string()),
    };
    let doctor = Doctor { here, connects: options.connects(), removed, has_ages: !options.watch };
    if options.watch {
        return match watch::watch(doctor, format) {
            Ok(status) => ExitCode::from(status),
            Err(error) => PROGRAM.end_with(json, NOT_BEGUN, &error.to_string()),
        };
    }
    let mut progress = Progress::new("doctor");
    let diagnosis = doctor.look(&[], &mut progress);
    let report = diagnosis.report();
    let lines = match format {
        Format::Json => report::json(&report),
        Format::Text { verbose } => Ok(vec![report::text(&report, verbose, report::Paint::of_stdout())]),
        Format::Markdown => {
            let surroundings = gather::surroundings(&mut progress);
            Ok(vec![report::markdown(&report, &diagnosis, &surroundings)])
        }
    };
    PROGRAM.printed(lines.and_then(|lines| write_lines(&lines)), report.exit_status(), NOT_BEGUN)
}

fn write_lines(lines: &[String]) -> io::Result<()> {
    lines.iter().try_for_each(|line| write_line(line))
}

#[cfg(test)]
mod tests;
