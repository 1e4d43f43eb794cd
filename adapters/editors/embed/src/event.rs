//! The events for an editor, as JSON objects.

use crate::old_text::OldText;
use crate::output::Value;
use crate::table::events;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;
use std::sync::Arc;

events! {
    /// The editor listens. This is the first event.
    1 "listening" => Listening {
        /// The version of this protocol.
        protocol: u64,
        /// The version of ide-mcp, such as `0.2.0`. A plugin compares it with its own.
        version: String,
        /// The port.
        port: u64,
        /// The path of the lock file, for `resume`.
        lock: Option<String>,
        /// The variables for a terminal that you start: a value to set, or null to remove the variable.
        environment: Box<RawValue>,
    }
    /// An agent waits for the command `allow` or `disconnect`, because the configuration has `consent`. You
    /// are asked about one agent at a time. If you answer with `disconnect`, or the agent leaves, the next
    /// question comes at least 10 s later. Each further refusal doubles this time, up to 5 min, until an
    /// `allow`.
    2 "consent" => Consent {
        /// The number of the agent.
        conn: u64,
        /// The name of the client.
        client: Option<String>,
        /// The version of the client.
        version: Option<String>,
        /// True if this is the connection of a model, not of an agent.
        model: bool,
    }
    /// An agent is attached.
    3 "connected" => Connected {
        /// The number of the agent. No other agent ever gets it.
        conn: u64,
        /// The name of the client.
        client: Option<String>,
        /// The version of the client.
        version: Option<String>,
    }
    /// A client has connected to give the editor's tools to its model. This is not an agent.
    4 "model_connected" => ModelConnected {
        /// The number of the connection.
        conn: u64,
        /// The name of the client.
        client: Option<String>,
        /// The version of the client.
        version: Option<String>,
    }
    /// An agent has sent its process id.
    5 "ide_connected" => IdeConnected {
        /// The agent.
        conn: u64,
        /// The process id.
        pid: Option<u64>,
    }
    /// Tells which folders an agent works in.
    6 "roots" => Roots {
        /// The agent.
        conn: u64,
        /// The folders, as a list of objects with `uri` and perhaps `name`.
        roots: Box<RawValue>,
    }
    /// An agent has changed how it asks for permission.
    7 "permission_mode" => PermissionMode {
        /// The agent.
        conn: u64,
        /// The mode, such as `default` or `plan`.
        mode: String,
    }
    /// An agent proposes a new text for a file, and waits for `answer`, however long the person takes.
    8 "diff" => Diff {
        /// The agent.
        conn: u64,
        /// The number of the call. No other call ever gets it.
        call: u64,
        /// The name of the tab, for a person: one line of at most 64 characters.
        tab: String,
        /// The file, for a title: its path below the open folder, or the whole path if it is in none. One
        /// line of at most 64 characters; a longer path loses its beginning.
        label: String,
        /// The path of the file after the change. It is a plain file, or does not exist yet.
        path: String,
        /// The path of the file before the change; for a new file, the same as `path`.
        old_path: String,
        /// True if `path` is in none of the folders.
        outside: bool,
        /// The text of the file at `old_path`, in case you do not have it open: without a byte order mark,
        /// and with U+FFFD for what is not text. Absent for a new file.
        old: Option<OldText>,
        /// The whole proposed text, without a byte order mark. If the agent sent one, your answer gets it
        /// back.
        contents: Arc<String>,
    }
    /// A diff ended without `answer`: close its view.
    9 "diff_closed" => DiffClosed {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// The name of the tab, as in the `diff`.
        tab: String,
        /// `close_tab`, `closeAllDiffTabs`, `cancelled`, `expired`, `shutdown` or `disconnected`.
        reason: String,
    }
    /// An agent calls a tool and waits for `respond`: 0.4 s for `getDiagnostics` (1.9 s without `uri`),
    /// without a limit for `executeCode`, and 30 s for every other tool.
    10 "call" => Call {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// The name of the tool, as VS Code spells it.
        tool: String,
        /// The arguments, as the agent wrote them. `getDiagnostics` without `uri`, or with null, asks for the
        /// diagnostics of all files; according to the description of the dialect `jetbrains`, for those of
        /// the file that has the focus.
        arguments: Box<RawValue>,
        /// The absolute path of the file in the arguments, even if they have a `file:` URI. It is a plain
        /// file, or does not exist. Use this path, not that of the arguments.
        path: Option<String>,
    }
    /// The person chose a prompt in an agent. Answer with `respond`.
    11 "prompt" => Prompt {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// The name of the prompt.
        name: String,
        /// The arguments, an object of strings.
        arguments: Box<RawValue>,
    }
    /// An agent reads a resource. Answer with `respond`.
    12 "resource" => Resource {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// The URI.
        uri: String,
    }
    /// A client of the dialect `obsidian` calls one of six methods, and waits 30 s for `respond`. The methods
    /// need no session, so this may be the first event of a client. When the client leaves, you get a
    /// `closed`.
    31 "request" => Request {
        /// The client.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// `readFile`, `writeFile`, `listFiles`, `getWorkspaceInfo`, `getOpenFiles` or `getCurrentFile`.
        method: String,
        /// The parameters: for `readFile` and `writeFile` a `path` below the first folder, for `writeFile`
        /// also `content`, and for `listFiles` perhaps a `pattern`.
        params: Box<RawValue>,
        /// For `readFile` and `writeFile`, the absolute path of the file, in one of the folders. It is a
        /// plain file, or does not exist. Use this path, not that of the parameters.
        path: Option<String>,
    }
    /// A call, prompt, resource or request ended without your answer.
    13 "call_ended" => CallEnded {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// `cancelled`, `expired`, `shutdown` or `disconnected`.
        reason: String,
    }
    /// An agent is probably about to write this file. If you have unsaved changes of the file, save them
    /// before you answer the `getDiagnostics` that follows.
    14 "edit_expected" => EditExpected {
        /// The agent.
        conn: u64,
        /// The number of the edit. The call that announced the edit has the same number.
        edit: u64,
        /// The path of the file.
        path: String,
    }
    /// An expected edit is over. If the file has changed, read it again.
    15 "edit_ended" => EditEnded {
        /// The agent.
        conn: u64,
        /// The number of the edit.
        edit: u64,
        /// The path of the file.
        path: String,
        /// `turn_done`, `next_edit`, `expired`, `too_many` or `disconnected`.
        reason: String,
    }
    /// How a form ended.
    16 "form_answer" => FormAnswered {
        /// The number of the line with the command `form`.
        line: u64,
        /// The agent.
        conn: u64,
        /// `accept`, `decline` or `cancel`; absent after an error.
        action: Option<String>,
        /// The values, if the person accepted.
        content: Option<Box<RawValue>>,
        /// Why there is no answer.
        error: Option<String>,
    }
    /// An agent sent a notification that has no event of its own.
    17 "notification" => Notification {
        /// The agent.
        conn: u64,
        /// The method, as the agent wrote it.
        method: String,
        /// The parameters, an object, as the agent wrote them.
        params: Option<Box<RawValue>>,
    }
    /// An agent broke a rule of the protocol, and the session goes on. Write this to a log.
    18 "problem" => Problem {
        /// The agent.
        conn: u64,
        /// What it did.
        message: String,
    }
    /// No agent took the mention in time, or its agent has gone.
    19 "mention_expired" => MentionExpired {
        /// The path of the file.
        path: String,
    }
    /// The selection is in a file that is hidden from agents.
    20 "hidden" => Hidden {
        /// The path of the file.
        path: String,
    }
    /// The selected text is longer than 256 KiB, so agents receive only its beginning.
    21 "truncated" => Truncated {
        /// The path of the file.
        path: String,
    }
    /// The pause has begun, see the command `pause`.
    22 "paused" => Paused {}
    /// The pause is over.
    23 "resumed" => Resumed {}
    /// Answers the command `status`, and follows a `gap`.
    24 "status" => Status {
        /// The number of the line with the command; absent after a `gap`.
        line: Option<u64>,
        /// Each agent and model, as an object with `conn`, `client`, `version`, `pid`, `roots`, `model` and `consent`.
        agents: Box<RawValue>,
        /// The numbers of the open calls, as a list. You can close the views of all other diffs.
        calls: Box<RawValue>,
        /// The lines of the open forms, as a list. All other forms have ended.
        forms: Box<RawValue>,
        /// True between `pause` and `resume`.
        paused: bool,
        /// How many connections were refused.
        refused: u64,
        /// How many connections had a wrong token.
        wrong_tokens: u64,
        /// How many connections ended before they were admitted.
        ended: u64,
    }
    /// Events were left out, because the editor did not read them. A `status` follows.
    25 "gap" => Gap {
        /// How many events were left out.
        events: u64,
        /// How many of them were calls, diffs, prompts and resources. Each was answered with a failure.
        calls: u64,
    }
    /// Something happened to the lock file.
    26 "lock_file" => LockFile {
        /// `lost`, `restored`, `taken` (by another program) or `failed`.
        state: String,
        /// The error, for `failed`.
        problem: Option<String>,
    }
    /// The connection of an agent ended, perhaps while it still waited for `allow`. No event of this agent
    /// follows.
    27 "closed" => Closed {
        /// The agent.
        conn: u64,
        /// The reason.
        reason: String,
    }
    /// A command was not run, or the editor itself failed.
    28 "error" => Error {
        /// The number of the line with the command.
        line: Option<u64>,
        /// The reason, with the member that is wrong.
        message: String,
    }
    /// The editor is ending, and runs no more commands.
    29 "stopping" => Stopping {
        /// The reason.
        reason: String,
    }
    /// The editor has ended. This is the last event.
    30 "over" => Over {}
}

impl Event {
    /// Returns the value of this member; `None` if the event does not have it.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Value<'_>> {
        self.value(name)
    }

    /// Returns the event as one line of JSON, without a line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Every value is a string, a number, true, false, or JSON already, so no error is possible.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", self.name())?;
        let mut done = Ok(());
        self.each_member(|name, value| {
            if done.is_ok() {
                done = map.serialize_entry(name, &value);
            }
        });
        done.and_then(|()| map.end())
    }
}
