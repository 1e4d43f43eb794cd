//! The commands of an editor, as JSON objects.

use crate::config::{OwnTool, Prompt, Resource, ToolNames};
use crate::error::CommandError;
use crate::input::{Lines, List, Members, Place, words};
use crate::table::commands;
use serde_json::value::RawValue;

/// The maximum length of a command, in bytes: a string of 16 MiB, as long as an agent can send, with each
/// byte written as an escape of 6 bytes, and 64 KiB for the other members.
pub const MAX_COMMAND: usize = 6 * (16 << 20) + (64 << 10);

commands! {
    /// The person selected some text or moved the cursor. Send this for every change: agents receive the
    /// selection once the person pauses.
    "select" => Select {
        /// The absolute path of the file.
        path: String,
        /// Where the selection begins.
        start: Place,
        /// Where the selection ends, or the cursor. `start` and `end` may be in either order.
        end: Place,
        /// The selected text; empty or absent for a cursor.
        text: Option<String>,
    }
    /// No file has the focus any more: clears the selection.
    "clear" => Clear {}
    /// Mentions a file in the prompt of an agent, as soon as the agent accepts mentions.
    "mention" => Mention {
        /// The absolute path of the file.
        path: String,
        /// The lines; absent for the whole file.
        lines: Option<Lines>,
        /// How many lines the file has. opencode needs this for a whole file.
        line_count: Option<u32>,
        /// The agent. Default: the one that attached last.
        conn: Option<u64>,
    }
    /// Answers a `diff` with what the person decided. The agent writes the file, so do not write it yourself.
    "answer" => Answer {
        /// The number of the call.
        call: u64,
        /// What the person decided.
        verdict: Verdict,
        /// The accepted text, if the person changed it. Default: the text of the `diff`.
        contents: Option<String>,
    }
    /// Answers a `call`, a `prompt`, a `resource` or a `request`. If `result` cannot be used, you get an
    /// `error`, and the call fails.
    "respond" => Respond {
        /// The number of the call.
        call: u64,
        /// For a `call`, the answer as VS Code gives it, as JSON or as a string; default `OK`. For
        /// `getDiagnostics` you may also pass what a language server wrote: diagnostics and reports of LSP
        /// 3.17. For a `prompt` and a `resource`, which need a result: the text for the model, or the whole
        /// result of MCP as an object. For a `request`: the text of the file (`readFile`), a list of paths
        /// below the folder (`listFiles`, `getOpenFiles`), such a path or null (`getCurrentFile`), an object
        /// with `name`, `path`, `fileCount` and `type` (`getWorkspaceInfo`), or nothing (`writeFile`).
        result: Option<Box<RawValue>>,
    }
    /// Answers a call with a failure. After a failed `diff`, the person decides in the terminal of the agent.
    /// After a failed `request`, the client gets the error -32603 with this message.
    "fail" => Fail {
        /// The number of the call.
        call: u64,
        /// The reason, for the model.
        message: String,
    }
    /// Changes how long a call waits for its answer, from now on.
    "timeout" => SetTimeout {
        /// The number of the call.
        call: u64,
        /// The time in milliseconds.
        within: u64,
    }
    /// Reports the progress of a call, which gives it more time.
    "progress" => ReportProgress {
        /// The number of the call.
        call: u64,
        /// A number that must grow each time.
        progress: f64,
        /// What `progress` will be at the end.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    }
    /// Tells agents that the diagnostics of some files have changed.
    "diagnostics_changed" => ChangeDiagnostics {
        /// The files, as `file:` URIs.
        uris: Vec<String>,
    }
    /// Replaces the open folders.
    "folders" => SetFolders {
        /// The folders, as in the configuration.
        folders: Vec<String>,
    }
    /// Offers these tools from now on, and no others.
    "tools" => SetTools {
        /// The tools, as in `tools` of the configuration.
        offer: ToolNames,
        /// Tools of your own, as in `own` of the configuration.
        own: List<OwnTool>,
    }
    /// Offers these prompts and resources from now on, and no others.
    "context" => SetContext {
        /// The prompts.
        prompts: List<Prompt>,
        /// The resources.
        resources: List<Resource>,
    }
    /// Asks an agent to show a form to the person. The answer is the event `form_answer`.
    "form" => ShowForm {
        /// The form: `message` and `requestedSchema`, as in `elicitation/create` of MCP.
        form: Box<RawValue>,
        /// The agent. Default: the only one.
        conn: Option<u64>,
        /// How long to wait for the answer, in milliseconds. Default: forever.
        within: Option<u64>,
    }
    /// Withdraws a form. You get a `form_answer` with an `error`.
    "cancel" => CancelForm {
        /// The number of the line with the command `form`.
        line: u64,
    }
    /// Allows an agent that waits for `consent`.
    "allow" => Allow {
        /// The agent.
        conn: u64,
    }
    /// Ends the connection of an agent.
    "disconnect" => Disconnect {
        /// The agent.
        conn: u64,
    }
    /// Sends a notification.
    "notify" => Notify {
        /// The method.
        method: String,
        /// The parameters, an object.
        params: Option<Box<RawValue>>,
        /// The agent. Default: all agents.
        conn: Option<u64>,
    }
    /// Hides files, selections and answers about them from agents, and fails their calls of your own tools,
    /// `executeCode`, prompts and resources. Diffs go on, and so do calls that were open before.
    "pause" => Pause {}
    /// Ends the pause.
    "resume" => Resume {}
    /// Asks for a `status`.
    "status" => GetStatus {}
    /// Ends the editor cleanly: open diffs are rejected. The end of the input does the same.
    "quit" => Quit {}
}

words! {
    /// What the person decided about a proposed text.
    Verdict: "`accept` or `reject`" {
        "accept" => Accept,
        "reject" => Reject,
    }
}

impl Command {
    /// Reads a command from a JSON object.
    pub(crate) fn read(text: &str) -> Result<Self, CommandError> {
        if text.len() > MAX_COMMAND {
            let len = text.len();
            return Err(CommandError::invalid(format!(
                "the command has {len} bytes, more than {MAX_COMMAND}"
            )));
        }
        let mut members = Members::read(text).map_err(|error| {
            // `serde_json` counts lines within the command, which is itself one line of many.
            let problem = error.to_string().replace(" at line 1 column ", " at column ");
            CommandError::invalid(format!("{ADVICE} ({problem})"))
        })?;
        let name: String = members.take("cmd").map_err(|fault| CommandError::invalid(fault.to_string()))?;
        match Self::take(&name, &mut members) {
            Some(command) => command.map_err(|fault| CommandError::invalid(format!("{name}: {fault}"))),
            None => {
                let (name, names): (String, _) = (name.chars().take(64).collect(), Self::NAMES.join(", "));
                Err(CommandError::invalid(format!(
                    "`cmd` {name:?} is not a command; the commands are {names}"
                )))
            }
        }
    }
}

const ADVICE: &str = r#"a command is a JSON object such as {"cmd":"quit"}"#;
