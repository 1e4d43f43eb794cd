//! The agent's side as a command line: finds the editor as the real client does, attaches, and asks.
//!
//! `agent --help` says how, and what its exit status means.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod commands;
mod options;
mod request;
mod session;

use commands::Verdict;
use commands::diff::Proposal;
use ide_mcp_examples::{complain, find, usage_error};
use options::{Command, Options};
use session::{NotAttached, Session};
use std::process::ExitCode;

/// A verdict that is not good, or something that did not work.
const FAILED: u8 = 1;
/// There is no editor, or the command line is wrong.
const NOT_BEGUN: u8 = 2;

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(Some(options)) => options,
        Ok(None) => return done(commands::print(options::USAGE).map(|_| Verdict::Good)),
        Err(problem) => return end(NOT_BEGUN, &usage_error("agent", &problem.to_string())),
    };
    // What cannot be proposed need not be sent, and what changes nothing need not be asked.
    let proposal = match &options.command {
        Command::Diff { path, proposal } => match Proposal::prepare(path, proposal) {
            Ok(Some(proposal)) => Some(proposal),
            Ok(None) => {
                let text = format!("nothing to propose: {} has these contents already", path.display());
                return done(commands::print(&text).map(|_| Verdict::Good));
            }
            Err(problem) => return end(FAILED, &problem),
        },
        _ => None,
    };
    let editor = match find::editor(&options.asked) {
        Ok(editor) => editor,
        Err(nothing) => return end(NOT_BEGUN, &nothing.to_string()),
    };
    let mut session = match Session::attach(&editor) {
        Ok(session) => session,
        Err(NotAttached::Nobody(why)) => return end(NOT_BEGUN, &why),
        Err(NotAttached::Failed(why)) => return end(FAILED, &why),
    };
    let verdict = match (options.command, proposal) {
        (Command::Tools, _) => commands::tools::tools(&mut session),
        (Command::Call(request), _) => commands::call::call(&mut session, &request),
        (Command::Calls, _) => commands::calls::calls(&mut session),
        (Command::Watch, _) => commands::watch::watch(&mut session),
        (Command::Diff { .. }, Some(proposal)) => commands::diff::diff(&mut session, &proposal),
        (Command::Diff { .. }, None) => Ok(Verdict::Good),
    };
    session.detach();
    done(verdict)
}

fn done(verdict: Result<Verdict, String>) -> ExitCode {
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(FAILED),
        Err(failure) => end(FAILED, &failure),
    }
}

fn end(status: u8, problem: &str) -> ExitCode {
    complain("agent", problem);
    ExitCode::from(status)
}
