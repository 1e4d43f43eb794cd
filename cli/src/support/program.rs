//! The common frame of the programs: command line, help, and exit status.

use crate::support::complaints::{complain, settle};
use crate::support::help::Help;
use crate::support::options::usage_error;
use crate::support::output::{print_json, write_line};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

/// The exit status of a program that began and failed.
pub(crate) const FAILED: u8 = 1;
/// The exit status of a program that could not begin, or that has a wrong command line.
pub(crate) const NOT_BEGUN: u8 = 2;

/// A program with a command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    name: &'static str,
    /// The words with which a user starts the program.
    command: &'static str,
    help: Help,
}

impl Program {
    /// Creates a program that complains under this name, and prints `usage` for `--help`. `command`
    /// is what a user types to start it.
    pub(crate) const fn new(name: &'static str, command: &'static str, usage: &'static str) -> Self {
        Self { name, command, help: Help(usage) }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    pub(crate) const fn help(self) -> Help {
        self.help
    }

    /// Parses the command line and runs the program; `parse` returns `None` for a request for help.
    /// Prints the help and ends with 0, or complains about a wrong command line in one line, with
    /// `--json` also in a line of JSON, and ends with [`NOT_BEGUN`]. At the end it waits up to a second
    /// until all complaints are written.
    pub(crate) fn main<O>(
        self,
        parser: lexopt::Parser,
        parse: impl FnOnce(lexopt::Parser) -> Result<Option<O>, lexopt::Error>,
        run: impl FnOnce(O) -> ExitCode,
    ) -> ExitCode {
        let json = self.prints_json(parser.clone());
        let status = match parse(parser) {
            Ok(Some(options)) => run(options),
            Ok(None) => self.print(self.help.0),
            Err(problem) => self.end_with(json, NOT_BEGUN, &usage_error(self.command, self.help, &problem)),
        };
        settle();
        status
    }

    /// Returns true if the program has the option `--json` and these arguments contain it. A wrong command
    /// line has no further meaning.
    fn prints_json(self, mut arguments: lexopt::Parser) -> bool {
        self.help.options().any(|option| option.names.contains(&"--json"))
            && arguments.raw_args().is_ok_and(|mut words| words.any(|word| word == "--json"))
    }

    /// Prints a text for a person, such as the help, and returns the exit status.
    pub(crate) fn print(self, text: &str) -> ExitCode {
        self.printed(write_line(text), 0, FAILED)
    }

    /// Returns the exit status after printing: `status`, or after a complaint about an error `failed`. A
    /// reader can close the pipe before the end of the text, which is no error.
    pub(crate) fn printed(self, printed: io::Result<()>, status: u8, failed: u8) -> ExitCode {
        match printed {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.end(failed, &format!("standard output cannot be written: {error}"))
            }
            _ => ExitCode::from(status),
        }
    }

    /// Returns the exit status for a result, and complains about an error.
    pub(crate) fn done<E: Display>(self, done: Result<(), E>) -> ExitCode {
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => self.end(FAILED, &problem.to_string()),
        }
    }

    /// Complains, and returns the exit status.
    pub(crate) fn end(self, status: u8, problem: &str) -> ExitCode {
        complain(self.name, problem);
        ExitCode::from(status)
    }

    /// Complains like [`end`](Self::end); with `json` it also prints the problem as a line of JSON.
    pub(crate) fn end_with(self, json: bool, status: u8, problem: &str) -> ExitCode {
        if json {
            // An error of standard output is ignored: the complaint has the same text.
            let _ = print_json(&Complaint { event: "error", message: problem, status });
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
