//! The agent's side as a command line: finds the editor as the real client does, attaches, and asks.
//!
//! `agent --help` says how. Exit status: 0; 1 for a rejected change, an error result or a lost connection; 2 where no
//! editor was found or the command line is wrong.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod commands;
mod find;
mod options;
mod session;

use commands::Verdict;
use options::{Command, Options};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(Some(options)) => options,
        Ok(None) => {
            return if ide_mcp_examples::say(options::USAGE) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Err(error) => return refuse(&format!("{error}\n\n{}", options::USAGE)),
    };
    let editor = match find::editor(&options.place) {
        Ok(editor) => editor,
        Err(nothing) => return refuse(&nothing.to_string()),
    };
    let done = session::Session::attach(&editor).and_then(|session| match options.command {
        Command::Tools => commands::tools(session),
        Command::Call { name, arguments } => commands::call(session, name, arguments),
        Command::Calls => commands::calls(session),
        Command::Watch => commands::watch(session),
        Command::Diff { path, proposal } => commands::diff(session, &path, &proposal),
    });
    match done {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(failure) => {
            ide_mcp_examples::complain("agent", &failure);
            ExitCode::FAILURE
        }
    }
}

fn refuse(text: &str) -> ExitCode {
    ide_mcp_examples::complain("agent", text);
    ExitCode::from(2)
}
