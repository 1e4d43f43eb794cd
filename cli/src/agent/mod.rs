//! The agent's side on a command line: finds the editor as the real client does, attaches, and makes requests.
//!
//! `ide-mcp agent --help` explains the use and the exit status.

mod block;
mod commands;
mod events;
mod forms;
mod options;
mod request;
mod script;
mod session;

use crate::command_line::print_help;
use crate::support::find;
use crate::support::{FAILED, NOT_BEGUN, Program};
use commands::Verdict;
use commands::diff::{Proposal, print_verdict};
use forms::Forms;
use ide_mcp::ide::paths::{LocalPath, Platform};
use ide_mcp::mcp::Root;
use options::Command;
pub(crate) use options::Options;
use script::{Folder, Script};
use session::{Identity, NotAttached, Session};
use std::path::Path;
use std::process::ExitCode;

const PROGRAM: Program = Program("agent");

/// Runs the command. The error is a wrong command line.
pub(crate) fn main(options: &Options) -> Result<ExitCode, String> {
    match options.command()? {
        Command::Help(names) => print_help(&names),
        command => Ok(run(command, options)),
    }
}

fn run(command: Command, options: &Options) -> ExitCode {
    let json = options.json;
    let prepared = match Prepared::prepare(command, options.cwd(), json) {
        Ok(Some(prepared)) => prepared,
        Ok(None) => return ExitCode::SUCCESS,
        Err((status, problem)) => return PROGRAM.end_with(json, status, &problem),
    };
    let forms = match &prepared {
        Prepared::Script(_) => Forms::Events,
        Prepared::Proposal(_) | Prepared::Command(Command::Call(_) | Command::Watch) => Forms::at_terminal(),
        Prepared::Command(_) => Forms::Refused,
    };
    let identity = Identity { root: folder(options.cwd()).map(|folder| Root::new(folder.uri)), forms };
    // With `--json` a program reads the output, so it gets the error.
    let search = if json { Ok(options.search()) } else { find::chosen("agent", options.search()) };
    let search = match search {
        Ok(search) => search,
        Err(reason) => return PROGRAM.end_with(json, NOT_BEGUN, &reason),
    };
    let editor = (search, options.target.clone());
    let mut session = match Session::attach(editor, options.trust, identity, options.reconnect) {
        Ok(session) => session,
        Err(NotAttached::Nobody(reason)) => return PROGRAM.end_with(json, NOT_BEGUN, &reason),
        Err(NotAttached::Failed(reason)) => return PROGRAM.end_with(json, FAILED, &reason),
    };
    let verdict = match &prepared {
        Prepared::Proposal(proposal) => commands::diff::diff(&mut session, proposal, json),
        Prepared::Script(script) => script.play(&mut session, json),
        Prepared::Command(Command::Tools) => commands::tools::tools(&mut session, json),
        Prepared::Command(Command::Call(request)) => commands::call::call(&mut session, request, json),
        Prepared::Command(Command::Prompts) => commands::context::prompts(&mut session, json),
        Prepared::Command(Command::Prompt(request)) => commands::context::prompt(&mut session, request, json),
        Prepared::Command(Command::Resources) => commands::context::resources(&mut session, json),
        Prepared::Command(Command::Read(uri)) => commands::context::read_uri(&mut session, uri, json),
        Prepared::Command(Command::Calls) => commands::calls::calls(&mut session),
        Prepared::Command(_) => commands::watch::watch(&mut session, json),
    };
    session.detach();
    done(verdict, json)
}

/// Returns the directory of the agent as the real client names it: without symbolic links.
fn folder(cwd: Option<&Path>) -> Option<Folder> {
    let path = find::working_dir(cwd).ok()?.canonical;
    let uri = LocalPath::parse(&path, Platform::native()).ok()?.to_uri();
    Some(Folder { path, uri })
}

/// A command with its input files read and checked before the agent connects.
enum Prepared {
    Proposal(Proposal),
    Script(Script),
    Command(Command),
}

impl Prepared {
    /// Checks the command; `None` if there is nothing to do. The agent does not connect for a proposal that is
    /// invalid or changes nothing.
    fn prepare(command: Command, cwd: Option<&Path>, json: bool) -> Result<Option<Self>, (u8, String)> {
        Ok(Some(match command {
            Command::Diff { path, proposal, force } => {
                // Report a wrong `--cwd` itself, rather than a file missing in it.
                find::working_dir(cwd).map_err(|error| (NOT_BEGUN, error.to_string()))?;
                match Proposal::prepare(&path, &proposal, force).map_err(|problem| (FAILED, problem))? {
                    Some(proposal) => Self::Proposal(proposal),
                    None => {
                        let words =
                            format!("nothing to propose: {} has these contents already", path.display());
                        print_verdict("unchanged", &words, &path, json)
                            .map_err(|problem| (FAILED, problem))?;
                        return Ok(None);
                    }
                }
            }
            Command::Script(path) => {
                let folder = folder(cwd);
                Self::Script(Script::read(&path, folder.as_ref()).map_err(|problem| (NOT_BEGUN, problem))?)
            }
            command => Self::Command(command),
        }))
    }
}

fn done(verdict: Result<Verdict, String>, json: bool) -> ExitCode {
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(FAILED),
        Err(failure) => PROGRAM.end_with(json, FAILED, &failure),
    }
}
