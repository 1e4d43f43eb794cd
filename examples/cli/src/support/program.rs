//! What every program does alike: it reads its command line, says how it is used, and ends with a status.

use crate::support::complaints::{complain, settle};
use crate::support::options::usage_error;
use crate::support::output::{say_json, write_line};
use serde::Serialize;
use std::fmt::Display;
use std::io::ErrorKind;
use std::process::ExitCode;

/// It began, and not all went well.
pub(crate) const FAILED: u8 = 1;
/// It could not begin, or the command line is wrong.
pub(crate) const NOT_BEGUN: u8 = 2;

/// A program with a command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    name: &'static str,
    usage: &'static str,
}

impl Program {
    /// It complains under this name, and `--help` prints this text.
    pub(crate) const fn new(name: &'static str, usage: &'static str) -> Self {
        Self { name, usage }
    }

    /// Reads the command line and runs; `parse` says `None` where help was asked for. Help is printed and ends with 0, a
    /// wrong command line is said in one line and ends with [`NOT_BEGUN`]. What was complained of has been written at the
    /// end, if somebody takes it within a second.
    pub(crate) fn main<O>(
        self,
        parser: lexopt::Parser,
        parse: impl FnOnce(lexopt::Parser) -> Result<Option<O>, lexopt::Error>,
        run: impl FnOnce(O) -> ExitCode,
    ) -> ExitCode {
        let status = match parse(parser) {
            Ok(Some(options)) => run(options),
            Ok(None) => match write_line(self.usage) {
                // Nobody has to read it to the end.
                Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                    self.end(FAILED, &format!("standard output cannot be written: {error}"))
                }
                _ => ExitCode::SUCCESS,
            },
            Err(problem) => self.end(NOT_BEGUN, &usage_error(self.name, &problem.to_string())),
        };
        settle();
        status
    }

    /// The status of what was done; a failure is complained of.
    pub(crate) fn done<E: Display>(self, done: Result<(), E>) -> ExitCode {
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => self.end(FAILED, &problem.to_string()),
        }
    }

    /// Complains, for the end with this status.
    pub(crate) fn end(self, status: u8, problem: &str) -> ExitCode {
        complain(self.name, problem);
        ExitCode::from(status)
    }

    /// The same, and where lines of `json` are printed this is one as well.
    pub(crate) fn end_with(self, json: bool, status: u8, problem: &str) -> ExitCode {
        if json {
            // The complaint says it as well.
            let _ = say_json(&Complaint { event: "error", message: problem, status });
        }
        self.end(status, problem)
    }
}

#[derive(Serialize)]
struct Complaint<'a> {
    event: &'static str,
    message: &'a str,
    status: u8,
}
