//! The command line.

use crate::agent::request::{prompt, request};
use crate::support::{EditorArgs, trust};
use clap::{ArgAction, Subcommand, ValueHint};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use ide_mcp::ide::Dialect;
use ide_mcp::ide::discovery::locate::Extras;
use ide_mcp::ide::tool::{OtherTool, Tool};
use ide_mcp::mcp::GetPrompt;
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use std::path::{Path, PathBuf};

/// The end of each help text of the agent: the examples, and the exit status.
macro_rules! after_help {
    ($($example:literal)+) => {
        concat!(
            "Examples:\n", $("  ide-mcp agent ", $example, "\n",)+ "\n\
Exit status: 0; 1 if the change is rejected or not written, or the editor fails
or ends; 2 if there is no editor, or the command line or the script is wrong.

`ide-mcp help scripts` explains scripts, `ide-mcp help search` the search."
        )
    };
}

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "ide-mcp agent [OPTIONS] <COMMAND>\n       ide-mcp agent [OPTIONS] --script <FILE>",
    after_help = after_help!("tools" "call getDiagnostics '{}'" "diff README.md proposal.md")
)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Option<Words>,
    #[command(flatten)]
    editor: EditorArgs,
    /// The request target (default: /, and /mcp after a 404)
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) target: Option<String>,
    /// Also look in places that Claude Code ignores
    #[arg(long, global = true)]
    legacy: bool,
    /// Send the token even if another user owns the port
    #[arg(long = "trust-port", global = true, action = ArgAction::SetTrue, value_parser = trust())]
    pub(crate) trust: Trust,
    /// With watch, calls, --script: reconnect after a loss
    #[arg(long, global = true)]
    pub(crate) reconnect: bool,
    /// With diff: write PATH although it has changed since the proposal
    #[arg(long, global = true, hide = true)]
    force: bool,
    /// Play this script; - is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    script: Option<PathBuf>,
    /// Print everything as lines of JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The command in the words of the user.
#[derive(Debug, Subcommand)]
enum Words {
    /// List the tools of the editor
    #[command(after_help = after_help!("tools" "tools --json --port 41111"))]
    Tools,
    /// Call a tool, and print its result
    #[command(after_help = after_help!("call getDiagnostics" "call openFile '{\"filePath\":\"README.md\"}'"))]
    Call {
        /// The name of the tool
        #[arg(add = ArgValueCandidates::new(tools))]
        tool: String,
        /// Its arguments, a JSON object
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
    },
    /// Make the calls that standard input lists, one TOOL [JSON] a line
    #[command(after_help = after_help!("calls < calls.txt" "calls --reconnect"))]
    Calls,
    /// List the prompts
    #[command(after_help = after_help!("prompts" "prompts --json"))]
    Prompts,
    /// Get a prompt, and print its text
    #[command(after_help = after_help!("prompt review" "prompt review '{\"focus\":\"tests\"}'"))]
    Prompt {
        /// The name of the prompt
        name: String,
        /// Its arguments, a JSON object of strings
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
    },
    /// List the resources and their templates
    #[command(after_help = after_help!("resources" "resources --json"))]
    Resources,
    /// Read a resource, and print its text
    #[command(after_help = after_help!("read file:///home/me/project/README.md"))]
    Read {
        /// The address of the resource
        uri: String,
    },
    /// Print the notifications of the editor, in a pipe as lines of JSON
    #[command(after_help = concat!(
        "At a terminal each notification is a row, as ide-mcp tap shows it; elsewhere, and\n\
         with --json, it is a line of JSON. A selection that the editor repeats is\n\
         printed once.\n\n",
        after_help!("watch" "watch --json" "watch --reconnect > events.jsonl")
    ))]
    Watch,
    /// Propose the text of NEWFILE for PATH; if it is accepted, write PATH
    #[command(after_help = after_help!("diff README.md proposal.md" "diff --force README.md proposal.md"))]
    Diff {
        /// The file to change
        #[arg(value_hint = ValueHint::AnyPath)]
        path: PathBuf,
        /// The file that has the proposed text
        #[arg(value_name = "NEWFILE", value_hint = ValueHint::FilePath)]
        proposal: PathBuf,
        /// Write PATH although it has changed since the proposal
        #[arg(long)]
        force: bool,
    },
    /// Print the help of a command
    // The same as `ide-mcp help agent diff`, the form that the help mentions.
    #[command(hide = true, after_help = after_help!("help diff"))]
    Help {
        /// The command
        command: Option<String>,
    },
}

#[derive(Debug)]
pub(crate) enum Command {
    /// The names of the command whose help is wanted, such as `agent` and `diff`.
    Help(Vec<String>),
    Tools,
    Call(OtherTool),
    Prompts,
    Prompt(GetPrompt),
    Resources,
    /// The URI of the resource to read.
    Read(String),
    Calls,
    Watch,
    Diff {
        path: PathBuf,
        proposal: PathBuf,
        /// True if the file is written although it has changed since it was proposed.
        force: bool,
    },
    /// The path of a script; `-` is standard input.
    Script(PathBuf),
}

impl Options {
    /// Returns the search for the editor.
    pub(crate) fn search(&self) -> EditorSearch {
        let mut search = self.editor.search();
        if self.legacy {
            search.extras = Extras { default_too: true, xdg: true, claude_code: true };
        }
        search
    }

    /// Returns the directory of the agent, if it is not the working directory.
    pub(crate) fn cwd(&self) -> Option<&Path> {
        self.editor.cwd.as_deref()
    }

    /// Returns the command, or what is wrong with it.
    pub(crate) fn command(&self) -> Result<Command, String> {
        // clap misses the conflict if one option stands before the command and the other after it.
        if self.editor.lock.is_some() && self.editor.port.is_some() {
            return Err("the argument '--lock <FILE>' cannot be used with '--port <PORT>'".into());
        }
        let named = self.command.as_ref();
        if self.force && !matches!(named, Some(Words::Diff { .. })) {
            return Err("--force goes with diff".into());
        }
        let reconnects = matches!(named, None | Some(Words::Watch | Words::Calls));
        if self.reconnect && !reconnects {
            return Err("--reconnect goes with watch, calls and --script".into());
        }
        let below = |path: &Path| self.cwd().map_or_else(|| path.to_owned(), |cwd| cwd.join(path));
        Ok(match (named, &self.script) {
            (Some(Words::Help { command }), _) => {
                Command::Help(["agent".into()].into_iter().chain(command.clone()).collect())
            }
            (Some(_), Some(_)) => return Err("a command cannot be used with '--script <FILE>'".into()),
            (None, Some(script)) => Command::Script(script.clone()),
            (None, None) => return Err(missing()),
            (Some(Words::Tools), _) => Command::Tools,
            (Some(Words::Call { tool, arguments }), _) => Command::Call(request(tool, arguments)?),
            (Some(Words::Calls), _) => Command::Calls,
            (Some(Words::Prompts), _) => Command::Prompts,
            (Some(Words::Prompt { name, arguments }), _) => Command::Prompt(prompt(name, arguments)?),
            (Some(Words::Resources), _) => Command::Resources,
            (Some(Words::Read { uri }), _) => Command::Read(uri.clone()),
            (Some(Words::Watch), _) => Command::Watch,
            (Some(Words::Diff { path, proposal, force }), _) => {
                Command::Diff { path: below(path), proposal: below(proposal), force: *force }
            }
        })
    }
}

/// Returns the message about a missing command, in the words of clap about one of the program.
fn missing() -> String {
    let known = Words::augment_subcommands(clap::Command::new("agent"));
    let shown = known.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
    format!(
        "'ide-mcp agent' requires a subcommand but one was not provided [subcommands: {}]",
        names.join(", ")
    )
}

/// Returns the names of the known tools in the dialect of the real client, for a completion.
fn tools() -> Vec<CompletionCandidate> {
    Tool::ALL.iter().map(|tool| CompletionCandidate::new(tool.name(Dialect::VsCode))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::parsed;

    #[test]
    fn wrong_command_names_its_error() {
        let cases: &[(&[&str], &str)] = &[
            (&[], "requires a subcommand but one was not provided"),
            (&[], "tools, call, calls, prompts, prompt, resources, read, watch, diff"),
            (&["dance"], "unrecognized subcommand 'dance'"),
            (
                &["tolls"],
                "unrecognized subcommand 'tolls' (some similar subcommands exist: 'tools', 'calls')",
            ),
            (&["tools", "x"], "unexpected argument 'x' found"),
            (&["watch", "x"], "unexpected argument 'x' found"),
            (&["calls", "x", "y"], "unexpected argument 'x' found"),
            (&["call"], "required arguments were not provided: <TOOL>"),
            (&["call", "t", "{}", "y"], "unexpected argument 'y' found"),
            (&["call", "t", "{"], "not JSON"),
            (&["prompts", "x"], "unexpected argument 'x' found"),
            (&["prompt"], "required arguments were not provided: <NAME>"),
            (&["prompt", "p", "{}", "y"], "unexpected argument 'y' found"),
            (&["prompt", "p", "[1]"], "a JSON object of strings"),
            (&["resources", "x"], "unexpected argument 'x' found"),
            (&["read"], "required arguments were not provided: <URI>"),
            (&["read", "u", "x"], "unexpected argument 'x' found"),
            (&["diff"], "required arguments were not provided: <PATH> <NEWFILE>"),
            (&["diff", "a"], "required arguments were not provided: <NEWFILE>"),
            (&["diff", "a", "b", "c"], "unexpected argument 'c' found"),
            (
                &["--lock", "1.lock", "tools", "--port", "1"],
                "'--lock <FILE>' cannot be used with '--port <PORT>'",
            ),
            (
                &["tools", "--lock", "1.lock", "--port", "1"],
                "'--lock <FILE>' cannot be used with '--port <PORT>'",
            ),
            (&["--script", "s", "tools"], "cannot be used with '--script <FILE>'"),
            (&["tools", "--force"], "--force goes with diff"),
        ];
        for (words, expected) in cases {
            let message = parsed::<Options>(words).and_then(|options| options.command()).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
    }

    #[test]
    fn options_may_stand_before_or_after_the_command() {
        let rows: &[&[&str]] = &[
            &["--cwd", "d", "--force", "--json", "--port", "7", "diff", "a", "b"],
            &["diff", "--cwd", "d", "--force", "a", "--json", "--port", "7", "b"],
            &["--json", "diff", "a", "b", "--port=7", "--force", "--cwd=d"],
        ];
        for words in rows {
            let options = parsed::<Options>(words).unwrap();
            assert!(options.json && options.search().port == Some(7), "{words:?}");
            match options.command() {
                Ok(Command::Diff { path, proposal, force: true }) => {
                    assert_eq!((path, proposal), ("d/a".into(), "d/b".into()), "{words:?}");
                }
                other => panic!("{words:?}: {other:?}"),
            }
        }
    }
}
