//! All kinds of findings: the id, the status, the meaning, and the advice. `docs/doctor.md` is this
//! table.
//!
//! In an advice, `{path}`, `{port}` and `{cwd}` stand for the values of the finding.

use serde::Serialize;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// It keeps an agent from attaching, or admits others than the user's agents.
    Problem,
    /// It does harm in some circumstances.
    Warning,
    /// Useful information.
    Note,
    /// The correct state.
    Ok,
}

impl Status {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Ok => "ok",
        }
    }
}

/// The common part of all findings with one id.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The id, which never changes its meaning.
    pub(crate) id: &'static str,
    pub(crate) status: Status,
    /// True if the finding means that the doctor could not inspect something.
    pub(crate) blinds: bool,
    pub(crate) means: &'static str,
    /// The advice; empty if nothing is to be done.
    pub(crate) advice: &'static str,
}

macro_rules! kinds {
    ($($name:ident = $id:literal $status:ident $($blinds:ident)?: $means:literal, $advice:literal;)*) => {
        $(pub(crate) static $name: Kind = Kind {
            id: $id,
            status: Status::$status,
            blinds: false $(|| kinds!($blinds))?,
            means: $means,
            advice: $advice,
        };)*

        /// All kinds, for the page that explains them.
        #[cfg(test)]
        pub(crate) static ALL: &[&Kind] = &[$(&$name),*];
    };
    (blinds) => { true };
}

kinds! {
    VARIABLES_UNUSABLE = "variables-unusable" Problem blinds:
        "The variables do not say where lock files are, so no agent finds any.",
        "Set HOME, or CLAUDE_CONFIG_DIR, to an absolute path.";
    CONFIG_DIR_SET = "config-dir-set" Note:
        "CLAUDE_CONFIG_DIR decides where lock files are. An editor that was started without it writes them elsewhere.",
        "See that the editor has the same value: start it from this terminal, or set the variable for the whole desktop.";
    PORT_VARIABLE_INVALID = "port-variable-invalid" Warning:
        "CLAUDE_CODE_SSE_PORT, by which a terminal of an editor names its editor, is no port. Some agents then find nothing.",
        "unset CLAUDE_CODE_SSE_PORT";
    PORT_VARIABLE_STALE = "port-variable-stale" Warning:
        "CLAUDE_CODE_SSE_PORT was inherited from an editor that is gone, often through tmux. Some agents wait for it and \
         look no further.",
        "unset CLAUDE_CODE_SSE_PORT, or open a new terminal in the editor.";
    PORT_VARIABLE_SOUND = "port-variable-sound" Ok:
        "CLAUDE_CODE_SSE_PORT names an editor with a lock file; agents attach to that one, whatever its folders are.",
        "";
    INTEGRATION_OFF = "integration-off" Note:
        "ENABLE_IDE_INTEGRATION is set to something that older agents take for no.",
        "unset ENABLE_IDE_INTEGRATION, or set it to true.";
    INTEGRATION_WITHOUT_PORT = "integration-without-port" Note:
        "ENABLE_IDE_INTEGRATION says that this is the terminal of an editor, but no port is named: it was inherited.",
        "unset ENABLE_IDE_INTEGRATION, or open a new terminal in the editor.";
    AUTO_CONNECT_OFF = "auto-connect-off" Problem:
        "CLAUDE_CODE_AUTO_CONNECT_IDE keeps the agent from attaching by itself, even with --ide. Version 1.0.51 with --ide \
         attaches.",
        "unset CLAUDE_CODE_AUTO_CONNECT_IDE, or type /ide in the agent.";
    HOST_OVERRIDE = "host-override" Warning:
        "CLAUDE_CODE_IDE_HOST_OVERRIDE sends the agent to another host, with the token and without encryption; the doctor asks \
         there too. The editor must accept this host in the Host field.",
        "unset CLAUDE_CODE_IDE_HOST_OVERRIDE, unless the editor runs outside of this container or virtual machine.";
    HOST_OVERRIDE_LOOPBACK = "host-override-loopback" Note:
        "CLAUDE_CODE_IDE_HOST_OVERRIDE sends the agent to another address of this machine, which it writes into the Host \
         field; the doctor asks there too. An editor that listens only on 127.0.0.1 cannot be reached \
         there.",
        "unset CLAUDE_CODE_IDE_HOST_OVERRIDE, unless the editor listens on that address.";
    FOLDER_CHECK_SKIPPED = "folder-check-skipped" Note:
        "CLAUDE_CODE_IDE_SKIP_VALID_CHECK makes the agent attach without checking the folders of the editor. Version 1.0.51 \
         does not attach to an editor with another folder. No version attaches to a dead process.",
        "unset CLAUDE_CODE_IDE_SKIP_VALID_CHECK, unless you want that.";
    OPENCODE_WITHOUT_TOKEN = "opencode-without-token" Note:
        "A variable names a port: opencode (1.18.33) connects there without a token, and an editor with a token always refuses \
         it with 401. Without the variable it reads the lock files.",
        "Start opencode with env -u CLAUDE_CODE_SSE_PORT -u OPENCODE_EDITOR_SSE_PORT opencode.";
    PROXY_TAKES_LOOPBACK = "proxy-takes-loopback" Problem:
        "A proxy is set and 127.0.0.1 is not excluded, so the agent asks the proxy for the editor, and hangs or fails.",
        "export no_proxy=localhost,127.0.0.1,::1 NO_PROXY=localhost,127.0.0.1,::1 (with what was there before).";
    NO_PROXY_DIFFERS = "no-proxy-differs" Warning:
        "Only one of no_proxy and NO_PROXY excludes 127.0.0.1 from the proxy, and which one an agent reads differs.",
        "Set both to the same value, with localhost,127.0.0.1,::1 in it.";
    PROXY_SOUND = "proxy-sound" Ok:
        "A proxy is set, and connections to 127.0.0.1 do not go there.",
        "";
    WSL = "wsl" Note:
        "This is Linux on Windows: an editor on Windows has another home, other processes and, without mirrored \
         networking, another 127.0.0.1.",
        "For an editor on Windows set networkingMode=mirrored in .wslconfig; better start the editor's remote side here.";

    DIRECTORY_MISSING = "directory-missing" Problem:
        "There is no directory of lock files, so no editor has ever published one there.",
        "Start the editor, with its extension for the agent and with the same HOME and CLAUDE_CONFIG_DIR.";
    DIRECTORY_NOT_A_DIRECTORY = "directory-not-a-directory" Problem blinds:
        "Something else than a directory is where lock files belong.",
        "Move {path} away and start the editor again.";
    DIRECTORY_UNREADABLE = "directory-unreadable" Problem blinds:
        "The directory of lock files cannot be read, neither here nor by an agent.",
        "chmod u+rwx {path} (and the directories above it), or give it back to its owner.";
    DIRECTORY_NOT_OURS = "directory-not-ours" Problem:
        "Another user owns the directory of lock files and can send the agent to an editor of their own. The real agent \
         attaches all the same (measured as root); the programs of this library do not read the directory.",
        "Move {path} away and start the editor again; an editor started with sudo may have made it.";
    DIRECTORY_WRITABLE = "directory-writable-by-others" Problem:
        "Other users can put lock files there and so send the agent to an editor of their own.",
        "chmod 700 {path}";
    DIRECTORY_READABLE = "directory-readable-by-others" Warning:
        "Other users see the lock files. Each of them guards its token by its own mode alone.",
        "chmod 700 {path}";
    PARENT_NOT_OURS = "parent-not-ours" Problem:
        "Another user owns a directory above the lock files, or a symbolic link on the way to them, and can replace what lies \
         below. The programs of this library do not read or publish there; the real agent does.",
        "chown {path} to yourself or to root, or set CLAUDE_CONFIG_DIR to a directory elsewhere.";
    PARENT_WRITABLE = "parent-writable-by-all" Problem:
        "Every user can replace the directory of lock files by way of a directory above it. The programs of this library do not \
         read or publish there; the real agent does.",
        "chmod o-w {path}";
    PARENT_WRITABLE_BY_GROUP = "parent-writable-by-group" Note:
        "The members of a group can replace the directory of lock files by way of a directory above it. With many systems \
         each user is alone in their group, and then this does no harm.",
        "chmod g-w {path}, unless you are alone in its group.";
    DIRECTORY_SOUND = "directory-sound" Ok:
        "The directory is there, ours, and closed to others.",
        "";
    DIRECTORY_NOT_USED = "directory-not-used" Ok:
        "Some editors write there, but the agent does not look there.",
        "";
    LOCKS_NOWHERE = "locks-where-nobody-looks" Warning:
        "An editor has published itself in a directory where the agent does not look.",
        "Start the editor with the same HOME and CLAUDE_CONFIG_DIR as the agent, or update its extension.";

    NO_LOCK_FILES = "no-lock-files" Problem:
        "No editor has published itself.",
        "Start the editor, with its extension for the agent and with the same HOME and CLAUDE_CONFIG_DIR.";
    LOCK_MISNAMED = "lock-misnamed" Note:
        "A lock file is named after its port. Nobody reads this one.",
        "Remove {path}.";
    LOCK_IS_A_LINK = "lock-is-a-link" Problem:
        "The real agent follows the symbolic link and attaches. The programs of this library do not: a user who can write to \
         its target can send the agent, with its edits, to an editor of their own.",
        "Remove {path} and start the editor again.";
    LOCK_NOT_A_FILE = "lock-not-a-file" Problem:
        "A pipe, directory or socket has the name of a lock file. An agent may hang on it.",
        "Remove {path}.";
    LOCK_NOT_OURS = "lock-not-ours" Problem:
        "Another user wrote this lock file and can send the agent to an editor of their own. The real agent attaches all the \
         same if it can read the file (measured as root); the programs of this library do not read it.",
        "Remove {path}, and do not take it over: nobody knows where it leads. An editor started with sudo may have made it.";
    LOCK_UNREADABLE = "lock-unreadable" Problem:
        "The lock file cannot be read, neither here nor by an agent.",
        "chmod 600 {path}, or start the editor again.";
    LOCK_UNPARSABLE = "lock-unparsable" Problem:
        "What the file says is no lock file, so its editor is not found. The agent may delete it.",
        "Remove {path}, then start the editor again; it may take another port. If it writes such a file again, update its extension.";
    LOCK_WITHOUT_TRANSPORT = "lock-without-transport" Problem:
        "The lock file has no member transport. Agents then assume the older transport and do not attach.",
        "Update the extension of the editor, so that it writes \"transport\":\"ws\".";
    LOCK_LEGACY = "lock-legacy" Problem:
        "The editor speaks another transport than WebSocket, the only one that agents of today use.",
        "Update the extension of the editor.";
    LOCK_READABLE = "lock-readable-by-others" Warning:
        "Other users can read the token and attach to the editor as if they were you.",
        "chmod 600 {path}, then start the editor again for a new token.";
    LOCK_WITHOUT_TOKEN = "lock-without-token" Warning:
        "The editor asks for no token: every program and every user of this machine can attach to it.",
        "Update the extension of the editor, or switch its token on.";
    LOCK_WITHOUT_PROCESS = "lock-without-process" Note:
        "The lock file does not say which process it belongs to, so the doctor cannot decide whether the file is left over.",
        "Update the extension of the editor.";
    LOCK_LEFT_OVER = "lock-left-over" Warning:
        "The editor was killed or crashed: its process is gone. Agents ignore the file or delete it.",
        "Start the editor again. `ide-mcp doctor --remove-leftovers` removes such files.";
    LOCK_PROCESS_UNSEEN = "lock-process-unseen" Warning:
        "The process of the lock file is not seen here, yet its port answers: the editor runs in another container, or \
         another program has the port. The real agent does not attach, and deletes the file.",
        "Run agent and editor in the same container, or remove {path} if the editor is gone.";
    LOCK_OF_WINDOWS = "lock-of-windows" Note:
        "The editor runs on Windows, so its process cannot be seen from here, and its 127.0.0.1 may be another.",
        "If its port refuses, set networkingMode=mirrored in .wslconfig.";
    LOCK_OF_WINDOWS_ELSEWHERE = "lock-of-windows-elsewhere" Warning:
        "The lock file says that its editor runs on Windows, and this is not Windows.",
        "Remove {path} if it was copied or synchronized from another machine; otherwise update the extension.";
    LOCK_SOUND = "lock-sound" Ok:
        "The lock file is whole, ours, and closed to others, and a process with its number runs.",
        "";

    PORT_REFUSES = "port-refuses" Problem:
        "Nobody listens on the port of the lock file, although its process lives: the extension of the editor has stopped, or \
         the number of the process is another program's by now, as after a restart of the machine.",
        "Reload the window of the editor; if it does not run, remove {path}.";
    PORT_OF_ANOTHER_USER = "port-of-another-user" Problem:
        "Another user listens on the port of the lock file, and would get the token and the trust of an agent. The doctor sent \
         nothing there, and neither do the programs of this library; the real agent does.",
        "Remove {path} and start the editor again. If it runs in a container and its port is forwarded, say --trust-port.";
    PORT_WITHOUT_OWNER = "port-without-owner" Problem:
        "The port of the lock file answers, and no table of sockets of this machine has its other end: the editor is busy, or \
         its port is forwarded. The doctor sent nothing there.",
        "Ask again. If the editor runs in a container and its port is forwarded, say --trust-port.";
    PORT_SILENT = "port-silent" Problem:
        "Somebody listens on the port of the lock file and does not answer: the editor hangs, or is busy starting.",
        "Wait a moment and ask again; otherwise reload the editor's window.";
    NOT_AN_EDITOR = "not-an-editor" Problem:
        "What listens on the port of the lock file does not speak as an editor does: another program has the port.",
        "Start the editor again, so that it takes another port; remove {path} if it is not the editor's.";
    TOKEN_REFUSED = "token-refused" Problem:
        "The editor does not know the token of the lock file: another editor wrote the file, or it is an old one.",
        "Remove {path}, then start the editor again.";
    EDITOR_FULL = "editor-full" Warning:
        "The editor has as many connections as it takes.",
        "End agents that you do not need.";
    EDITOR_DECLINES = "editor-declines" Problem:
        "The editor answers the handshake of an agent with a refusal. Some answer a wrong token so.",
        "Start the editor again; if nothing changes, update its extension.";
    SUBPROTOCOL_MISSING = "subprotocol-missing" Problem:
        "The editor does not choose the sub-protocol mcp. The agent drops the connection without a word.",
        "Update the extension of the editor.";
    SESSION_FAILS = "session-fails" Problem:
        "The editor lets the agent in, but no session comes about.",
        "Update the extension of the editor, or the agent.";
    EDITOR_ANSWERS = "editor-answers" Ok:
        "The editor accepts the token and opens a session.",
        "";
    LETS_IN_WITHOUT_TOKEN = "lets-in-without-token" Problem:
        "The editor has a token and does not ask for it: every program of this machine can attach to it.",
        "Update the extension of the editor; close the editor until then if you browse the web.";
    REFUSES_WITHOUT_TOKEN = "refuses-without-token" Ok:
        "The editor refuses who does not know its token.",
        "";
    LETS_IN_WITH_ORIGIN = "lets-in-with-origin" Warning:
        "The editor does not refuse a browser as such. A web page does not know the token, which is all that keeps it out.",
        "Update the extension of the editor.";
    REFUSES_ORIGIN = "refuses-origin" Ok:
        "The editor refuses browsers.",
        "";
    NOT_ASKED = "not-asked" Note:
        "The doctor did not connect to this editor: `--no-connect` forbids it, or there are too many editors.",
        "Run the doctor without --no-connect, after removing lock files that are not needed.";

    PORT_TWICE = "port-published-twice" Note:
        "One editor has published itself in several directories, which does no harm.",
        "";
    PORT_TWICE_DIFFERENTLY = "port-published-twice-differently" Warning:
        "Lock files of one port disagree about the token: at most one of them is right.",
        "Remove the older one.";
    PROCESS_TWICE = "process-published-twice" Note:
        "One process has several lock files: windows of one editor, or a file that is left over from before a reload.",
        "Remove the one whose port refuses, if there is one.";

    EDITOR_FOUND = "editor-found" Ok:
        "One editor matches the directory: an agent attaches to it.",
        "";
    SEVERAL_EDITORS = "several-editors" Warning:
        "Several editors match the directory. An agent does not choose by itself, and --ide refuses.",
        "Type /ide in the agent and pick one, or start the agent in a terminal of the right editor.";
    SEVERAL_EDITORS_ONE_NAMED = "several-editors-one-named" Note:
        "Several editors have the directory open, and CLAUDE_CODE_SSE_PORT names one: an agent attaches to that one. Version \
         1.0.51 attaches to none.",
        "Update the agent if it is that old, or close the other editors.";
    NO_EDITOR_FOR_DIRECTORY = "no-editor-for-directory" Problem:
        "There are lock files, but none of a usable editor that has the directory open.",
        "Open {cwd}, or a directory above it, in the editor; or start the agent in a folder that is open there.";
    MATCHES_ONLY_LOGICALLY = "folder-matches-only-logically" Problem:
        "The editor has published the path with its symbolic link alone. The agent compares the path without links.",
        "Open {cwd} in the editor by its path without links.";
    MATCHES_ONLY_PHYSICALLY = "folder-matches-only-physically" Note:
        "The editor has the directory open under its path without symbolic links. The real agent compares that one; others may not.",
        "If another agent does not find it, change into the path without links first.";
    FOLDER_SPELLED_DIFFERENTLY = "folder-in-another-spelling" Problem:
        "The editor has the folder open in another spelling: in another case, or as a path of the other side of WSL. The agent \
         compares paths as text.",
        "Open {cwd} in the editor by this spelling, or update its extension, so that it publishes every spelling.";
    EDITOR_WITHOUT_FOLDERS = "editor-without-folders" Note:
        "The editor has no folder open. Only its own terminal finds it.",
        "Open {cwd} in the editor, or export CLAUDE_CODE_SSE_PORT={port}.";

    LEFTOVER_REMOVED = "leftover-removed" Note:
        "A lock file that was left over was removed, as you asked.",
        "";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn kinds_have_unique_ids_and_needed_advice() {
        let mut seen = BTreeSet::new();
        for kind in ALL {
            let words = kind
                .id
                .split('-')
                .all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()));
            assert!(words && seen.insert(kind.id), "{}", kind.id);
            assert!(kind.means.ends_with('.'), "{}", kind.id);
            let needs = matches!(kind.status, Status::Problem | Status::Warning);
            assert!(!needs || !kind.advice.is_empty(), "{}", kind.id);
            assert!(!kind.blinds || kind.status == Status::Problem, "{}", kind.id);
        }
    }
}
