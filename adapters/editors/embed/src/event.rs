//! The events for an editor, as JSON objects.

use crate::old_text::OldText;
use crate::output::Value;
use crate::table::events;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;
use std::sync::Arc;

events! {
    /// The editor listens. The first event.
    1 "listening" => Listening {
        /// The version of this protocol.
        protocol: u64,
        /// The version of ide-mcp, such as `0.2.0`, which a plugin compares with its own.
        version: String,
        /// The port.
        port: u64,
        /// The path of the lock file, for `resume`.
        lock: Option<String>,
        /// The variables for a terminal that the editor starts: the value of each, and null for one to remove.
        environment: Box<RawValue>,
    }
    /// An agent waits for the command `allow` or `disconnect`, because the configuration has `consent`. The event comes for one agent at a time. After a `disconnect` in answer to it, or if the agent leaves, the next one comes 10 s later or more: each further refusal doubles this time, up to 5 min, until an `allow`.
    2 "consent" => Consent {
        /// The number of the agent.
        conn: u64,
        /// The name of the client.
        client: Option<String>,
        /// The version of the client.
        version: Option<String>,
        /// True for a connection of a model, which is no agent.
        model: bool,
    }
    /// An agent is attached.
    3 "connected" => Connected {
        /// The number of the agent, which no other agent gets.
        conn: u64,
        /// The name of the client.
        client: Option<String>,
        /// The version of the client.
        version: Option<String>,
    }
    /// A client gives the tools of the editor to its model from now on. This is no agent.
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
    /// The folders in which an agent works.
    6 "roots" => Roots {
        /// The agent.
        conn: u64,
        /// The folders, as a list of objects with `uri` and possibly `name`.
        roots: Box<RawValue>,
    }
    /// An agent asks for permission in another mode from now on.
    7 "permission_mode" => PermissionMode {
        /// The agent.
        conn: u64,
        /// The mode, such as `default` or `plan`.
        mode: String,
    }
    /// An agent proposes a text for a file, and waits for `answer` without a time limit.
    8 "diff" => Diff {
        /// The agent.
        conn: u64,
        /// The number of the call, which no other call gets.
        call: u64,
        /// The name of the tab, for a person: one line of at most 64 characters.
        tab: String,
        /// The file, for a title: its path below its folder, or the whole path if it lies in none. One line of at most 64
        /// characters; of a longer path the end.
        label: String,
        /// The path of the file after the change. Either a plain file is there, or nothing yet.
        path: String,
        /// The path of the file before the change; for a new file, the same as `path`.
        old_path: String,
        /// True if `path` lies in none of the folders.
        outside: bool,
        /// The text of the file at `old_path`, for an editor that does not have the file open: without a byte order mark,
        /// with U+FFFD for what is not text. Absent for a new file.
        old: Option<OldText>,
        /// The whole proposed text, without a byte order mark: the answer has the mark again.
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
    /// An agent calls a tool and waits for `respond`: for `getDiagnostics` 0.4 s, or 1.9 s without `uri`, for the
    /// others 30 s, for `executeCode` without a limit.
    10 "call" => Call {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// The name of the tool, as VS Code spells it.
        tool: String,
        /// The arguments, as the agent wrote them. `getDiagnostics` without `uri`, or with null, asks for the problems of
        /// all files; in the description of the dialect `jetbrains`, for those of the file that has the focus.
        arguments: Box<RawValue>,
        /// The absolute path of the file in the arguments, also of a `file:` URI. Either a plain file is there, or nothing.
        /// Use this path, and not that of the arguments.
        path: Option<String>,
    }
    /// The person at an agent chose a prompt: answer with `respond`.
    11 "prompt" => Prompt {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// The name of the prompt.
        name: String,
        /// The arguments, an object of texts.
        arguments: Box<RawValue>,
    }
    /// An agent reads a resource: answer with `respond`.
    12 "resource" => Resource {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// The URI.
        uri: String,
    }
    /// A client of the dialect `obsidian` asks by one of six methods, and waits 30 s for `respond`. The methods need no
    /// session, so this can be the first event of a client; `closed` follows also then.
    31 "request" => Request {
        /// The client.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// `readFile`, `writeFile`, `listFiles`, `getWorkspaceInfo`, `getOpenFiles` or `getCurrentFile`.
        method: String,
        /// The parameters: `path` below the first folder for the first two, `content` for `writeFile`, `pattern` for
        /// `listFiles`, if there is one.
        params: Box<RawValue>,
        /// The absolute path of the file for the first two, which lies in one of the folders. Either a plain file is there,
        /// or nothing. Use this path, and not that of the parameters.
        path: Option<String>,
    }
    /// A call, a prompt, a resource or a request ended without your answer.
    13 "call_ended" => CallEnded {
        /// The agent.
        conn: u64,
        /// The number of the call.
        call: u64,
        /// `cancelled`, `expired`, `shutdown` or `disconnected`.
        reason: String,
    }
    /// An agent is probably about to write this file. Save a changed buffer of the file before you answer the
    /// `getDiagnostics` that follows.
    14 "edit_expected" => EditExpected {
        /// The agent.
        conn: u64,
        /// The number of the edit, which is also that of the call.
        edit: u64,
        /// The path of the file.
        path: String,
    }
    /// An expected edit is over: read the file again, if it has changed.
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
    /// The end of a form.
    16 "form_answer" => FormAnswered {
        /// The number of the line with the command `form`.
        line: u64,
        /// The agent.
        conn: u64,
        /// `accept`, `decline` or `cancel`; absent after an error.
        action: Option<String>,
        /// The values, if the person accepted.
        content: Option<Box<RawValue>>,
        /// The reason for which there is no answer.
        error: Option<String>,
    }
    /// A notification of an agent that has no event of its own.
    17 "notification" => Notification {
        /// The agent.
        conn: u64,
        /// The method, as the agent wrote it.
        method: String,
        /// The parameters, an object, as the agent wrote them.
        params: Option<Box<RawValue>>,
    }
    /// An agent broke a rule of the protocol, and the session goes on. For a log.
    18 "problem" => Problem {
        /// The agent.
        conn: u64,
        /// The problem.
        message: String,
    }
    /// No agent took the mention in time, or its agent is gone.
    19 "mention_expired" => MentionExpired {
        /// The path of the file.
        path: String,
    }
    /// The selection is in a file that agents do not receive.
    20 "hidden" => Hidden {
        /// The path of the file.
        path: String,
    }
    /// The text of the selection is longer than 256 KiB, and agents receive the beginning.
    21 "truncated" => Truncated {
        /// The path of the file.
        path: String,
    }
    /// The pause has begun: see the command `pause`.
    22 "paused" => Paused {}
    /// The pause is over.
    23 "resumed" => Resumed {}
    /// The answer to the command `status`, and the event after a `gap`.
    24 "status" => Status {
        /// The number of the line with the command; absent after a `gap`.
        line: Option<u64>,
        /// Each agent and model, as an object with `conn`, `client`, `version`, `pid`, `roots`, `model` and `consent`.
        agents: Box<RawValue>,
        /// The numbers of the open calls, as a list. The view of every other diff can be closed.
        calls: Box<RawValue>,
        /// The lines of the open forms, as a list. Every other form has ended.
        forms: Box<RawValue>,
        /// True between `pause` and `resume`.
        paused: bool,
        /// The number of connections that were refused.
        refused: u64,
        /// The number of connections with a wrong token.
        wrong_tokens: u64,
        /// The number of connections that ended before they were let in.
        ended: u64,
    }
    /// Events were left out, because the editor did not read them. A `status` follows.
    25 "gap" => Gap {
        /// The number of events that were left out.
        events: u64,
        /// The number of calls, diffs, prompts and resources among them. Each was answered with a failure.
        calls: u64,
    }
    /// A change of the lock file.
    26 "lock_file" => LockFile {
        /// `lost`, `restored`, `taken` (by another program) or `failed`.
        state: String,
        /// The error, for `failed`.
        problem: Option<String>,
    }
    /// The connection of an agent ended, also of one that waited for `allow`. No event of this agent follows.
    27 "closed" => Closed {
        /// The agent.
        conn: u64,
        /// The reason.
        reason: String,
    }
    /// A command that was not executed, or a failure of the editor itself.
    28 "error" => Error {
        /// The number of the line with the command.
        line: Option<u64>,
        /// The reason, with the member that is wrong.
        message: String,
    }
    /// The editor ends: no command is executed any more.
    29 "stopping" => Stopping {
        /// The reason.
        reason: String,
    }
    /// The end. The last event.
    30 "over" => Over {}
}

impl Event {
    /// Returns the value of this member; `None` if the event does not have the member.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Value<'_>> {
        self.value(name)
    }

    /// Returns the event as one line of JSON, without a line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Every value is a text, a number, or JSON already, so that no error is possible.
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
