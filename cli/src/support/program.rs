//! What all commands do alike: complain, print their last output, and choose an exit status.

use crate::support::complaints::complain;
use crate::support::output::{kind_of_write, print_json, write_line};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

/// The exit status of a program that began and failed.
pub(crate) const FAILED: u8 = 1;
/// The exit status of a program that could not begin, or that has a wrong command line.
pub(crate) const NOT_BEGUN: u8 = 2;

/// A command of the program, which complains under this name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program(pub(crate) &'static str);

impl Program {
    /// Prints a text for a user, and returns the exit status.
    pub(crate) fn print(self, text: &str) -> ExitCode {
        self.printed(write_line(text), 0, FAILED)
    }

    /// Returns the exit status after printing: `status`, or `failed` after a complaint about an error. A reader may
    /// close the pipe before the end of the text; that is not an error.
    pub(crate) fn printed(self, printed: io::Result<()>, status: u8, failed: u8) -> ExitCode {
        match printed {
            Err(error) if kind_of_write(&error) != ErrorKind::BrokenPipe => {
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
        complain(self.0, problem);
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
