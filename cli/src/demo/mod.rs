//! `demo`: the editor and a scripted agent side by side in one terminal, for somebody who has no agent yet.
//!
//! ```text
//!  tour ◀── events ──▶ agent ◀── the protocol, over loopback ──▶ editor
//!    └────────── the agent's text ──────────▶ the panel next to it
//! ```
//! This is the editor of `ide-mcp editor`. The agent attaches to it as any agent does, with the token of its lock
//! file. All files are in a temporary folder, so nothing of yours is read or written, and your own agents do not
//! attach.

mod agent;
mod project;
mod tour;

use crate::editor::screen::Editor;
use crate::editor::{Face, Options as EditorOptions};
use crate::support::{NOT_BEGUN, Program, on_path};
use project::Project;
use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

const AFTER_HELP: &str = "\
The agent proposes three changes: you accept one, edit one and reject one. The
files are in a temporary folder, which is removed at the end, and your own
agents do not attach. F6 or Alt+N skips a step, and Ctrl+Q ends the demo.

Examples:
  ide-mcp demo
  NO_COLOR=1 ide-mcp demo

Exit status: 0; 1 if the agent could not attach, or the folder could not be
removed; 2 if there is no terminal, or the command line is wrong.

`ide-mcp help editor` has the editor for your own files.";

/// The text that stays in the terminal at the end, after the last line of the editor.
const FAREWELL: &str = "

a accepts a proposed change, e edits it first, r rejects it, Esc is for later.
In your editor: `ide-mcp plugin nvim` (or vim, emacs). Here: `ide-mcp editor`.
Then `claude --ide`; without an account, `ide-mcp agent diff FILE NEWFILE`.
If the agent does not attach: `ide-mcp doctor`";

/// Follows that text if the shell would not find the program: the demo is often started by cargo.
const INSTALL: &str = "\nTo install ide-mcp: `cargo install --locked --path cli` in its checkout";

/// How long the demo waits at its end for the agent, which may be writing a file.
const PATIENCE: Duration = Duration::from_secs(2);

const PROGRAM: Program = Program("demo");

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {}

pub(crate) fn main(_: &Options) -> ExitCode {
    match Demo::start() {
        Ok(demo) => PROGRAM.done(demo.run()),
        Err(problem) => PROGRAM.end(NOT_BEGUN, &problem.to_string()),
    }
}

/// Returns the text for the end, for a shell with this PATH.
fn farewell(path: &OsStr) -> String {
    let names: &[&str] = if cfg!(windows) { &["ide-mcp.exe"] } else { &["ide-mcp"] };
    let is_installed = on_path(path, names).is_some();
    [FAREWELL, if is_installed { "" } else { INSTALL }].concat()
}

/// An editor and an agent. The fields are dropped in this order, so that a panic removes the folder last.
struct Demo {
    editor: Editor,
    poll: mio::Poll,
    /// Receives how the agent ended.
    agent: Receiver<Result<(), String>>,
    project: Project,
}

impl Demo {
    fn start() -> Result<Self, Box<dyn Error>> {
        let project = Project::create()?;
        let options = EditorOptions::apart("ide-mcp demo", project.paths(), project.lock_dir()?);
        if options.face() != Ok(Face::Screen) {
            return Err(
                "the demo needs a terminal: run `ide-mcp demo` in one, without a pipe or a redirection"
                    .into(),
            );
        }
        let (mut editor, poll) = Editor::start(options.settings()?)?;
        let (writer, lock) = editor.add_panel(farewell(&env::var_os("PATH").unwrap_or_default()))?;
        let (ended, agent) = channel();
        let folder = project.folder();
        thread::Builder::new()
            .name("demo agent".into())
            .spawn(move || ended.send(agent::play(&lock, &folder, &writer)))?;
        Ok(Self { editor, poll, agent, project })
    }

    /// Runs the demo until the user ends it, and removes its folder.
    fn run(self) -> Result<(), Box<dyn Error>> {
        let Self { editor, poll, agent, project } = self;
        let ran = editor.run(poll);
        // The agent ends with the editor. Wait for it: it may still be writing a file in the folder.
        let played = agent.recv_timeout(PATIENCE).unwrap_or_else(|_| Err("the agent did not end".into()));
        let removed = project.remove();
        ran?;
        Ok(played.and(removed)?)
    }
}
