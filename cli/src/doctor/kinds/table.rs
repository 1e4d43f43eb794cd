//! The table of the kinds of findings.

use super::{Kind, Remedy, Status};

kinds! {
    VARIABLES_UNUSABLE = "variables-unusable" Problem blinds:
        "The home directory is not known, so no agent finds the lock files.",
        "Set HOME, or USERPROFILE on Windows, to the absolute path of your home directory.";
    CONFIG_DIR_UNUSABLE = "config-dir-unusable" Problem blinds:
        "CLAUDE_CONFIG_DIR is not an absolute path, so no agent finds the lock files.",
        "Remove the variable, or set it to an absolute path.",
        Remedy::Unset("CLAUDE_CONFIG_DIR");
    CONFIG_DIR_SET = "config-dir-set" Note:
        "CLAUDE_CONFIG_DIR decides where lock files are, and no editor has published itself there. An editor that \
         was started without it writes them elsewhere.",
        "Start the editor from this terminal, or set the variable for the whole desktop, so that the editor has \
         the same value.";
    CONFIG_DIR_SOUND = "config-dir-sound" Ok:
        "CLAUDE_CONFIG_DIR decides where lock files are, and an editor has published itself there.",
        "";
    PORT_VARIABLE_INVALID = "port-variable-invalid" Warning:
        "CLAUDE_CODE_SSE_PORT is not a port number. Editors set it in their own terminals; with this value some agents find nothing.",
        "Remove the variable.",
        Remedy::Unset("CLAUDE_CODE_SSE_PORT");
    PORT_VARIABLE_STALE = "port-variable-stale" Warning:
        "CLAUDE_CODE_SSE_PORT was inherited from an editor that is gone, often through tmux. Some agents wait for \
         it and look no further.",
        "Remove the variable, or open a new terminal in the editor.",
        Remedy::Unset("CLAUDE_CODE_SSE_PORT");
    PORT_VARIABLE_ELSEWHERE = "port-variable-elsewhere" Warning:
        "CLAUDE_CODE_SSE_PORT names an editor that does not have the directory open, although another one does. An \
         agent attaches to the named one, and its diffs appear there.",
        "If you mean the other editor, remove the variable.",
        Remedy::Unset("CLAUDE_CODE_SSE_PORT");
    PORT_VARIABLE_ONLY_ELSEWHERE = "port-variable-only-elsewhere" Warning:
        "CLAUDE_CODE_SSE_PORT names an editor that does not have the directory open, and neither does another one. \
         An agent attaches to the named one, and its diffs appear there.",
        "Open {cwd} in that editor. If you mean another one, open it there, and remove the variable.",
        Remedy::Unset("CLAUDE_CODE_SSE_PORT");
    PORT_VARIABLE_SOUND = "port-variable-sound" Ok:
        "CLAUDE_CODE_SSE_PORT names an editor with a lock file; agents attach to that one, in every folder.",
        "";
    INTEGRATION_OFF = "integration-off" Note:
        "ENABLE_IDE_INTEGRATION has a value that older agents read as no.",
        "Remove the variable, or set it to true.",
        Remedy::Unset("ENABLE_IDE_INTEGRATION");
    INTEGRATION_WITHOUT_PORT = "integration-without-port" Note:
        "ENABLE_IDE_INTEGRATION marks the terminal of an editor, but no variable names its port, so this one \
         was inherited.",
        "Remove the variable, or open a new terminal in the editor.",
        Remedy::Unset("ENABLE_IDE_INTEGRATION");
    AUTO_CONNECT_OFF = "auto-connect-off" Problem:
        "CLAUDE_CODE_AUTO_CONNECT_IDE keeps the agent from attaching by itself, even with --ide. Claude Code 1.0.51 \
         attaches with --ide.",
        "Remove the variable, or type /ide in the agent.",
        Remedy::Unset("CLAUDE_CODE_AUTO_CONNECT_IDE");
    HOST_OVERRIDE = "host-override" Warning:
        "CLAUDE_CODE_IDE_HOST_OVERRIDE sends the agent to another host, with the token and without encryption; \
         the doctor connects there too. The editor must accept this host in the Host field.",
        "Remove the variable, unless the editor runs outside of this container or virtual machine.",
        Remedy::Unset("CLAUDE_CODE_IDE_HOST_OVERRIDE");
    HOST_OVERRIDE_LOOPBACK = "host-override-loopback" Note:
        "CLAUDE_CODE_IDE_HOST_OVERRIDE sends the agent to another address of this machine, which it writes into \
         the Host field; the doctor connects there too. An editor that listens only on 127.0.0.1 cannot be reached \
         there.",
        "Remove the variable, unless the editor listens on that address.",
        Remedy::Unset("CLAUDE_CODE_IDE_HOST_OVERRIDE");
    FOLDER_CHECK_SKIPPED = "folder-check-skipped" Note:
        "CLAUDE_CODE_IDE_SKIP_VALID_CHECK makes the agent attach without checking the folders of the editor. \
         Claude Code 1.0.51 does not attach to an editor with another folder. No version attaches to an editor whose \
         process is dead.",
        "Remove the variable, unless you want that.",
        Remedy::Unset("CLAUDE_CODE_IDE_SKIP_VALID_CHECK");
    OPENCODE_WITHOUT_TOKEN = "opencode-without-token" Note:
        "A variable names a port: opencode (1.18.33) and Kilo Code (7.7.9) connect there without a token, and an \
         editor with a token always refuses them with 401. Without the variable they read the lock files.",
        "Start opencode or kilo without the variables.",
        Remedy::StartWithout(&["CLAUDE_CODE_SSE_PORT", "OPENCODE_EDITOR_SSE_PORT", "KILO_EDITOR_SSE_PORT"], "opencode");
    PROXY_TAKES_LOOPBACK = "proxy-takes-loopback" Problem:
        "A proxy is set and 127.0.0.1 is not excluded, so the agent connects to the editor through the proxy, and hangs or fails.",
        "Exclude this machine from the proxy, in both spellings of the variable.",
        Remedy::ExcludeLoopback;
    NO_PROXY_DIFFERS = "no-proxy-differs" Warning:
        "Only one of no_proxy and NO_PROXY excludes 127.0.0.1 from the proxy. Some agents read one, some the other.",
        "Set both variables to the same value, with this machine in it.",
        Remedy::ExcludeLoopback;
    PROXY_SOUND = "proxy-sound" Ok:
        "A proxy is set, and connections to 127.0.0.1 do not go there.",
        "";
    WSL = "wsl" Note:
        "This is Linux on Windows. An editor on Windows has another home, other processes and, in WSL 2 without \
         mirrored networking, another 127.0.0.1. Claude Code also looks for lock files in .claude/ide below each \
         directory of /mnt/c/Users.",
        "It is best to start the editor's remote side here. For an editor that stays on Windows, write networkingMode=mirrored \
         below [wsl2] into .wslconfig in your Windows home directory.";

    DIRECTORY_MISSING = "directory-missing" Problem:
        "There is no directory of lock files, so no editor has published itself there.",
        "Start the editor, with its extension for the agent (`ide-mcp plugin nvim` installs ours; vim and emacs likewise) \
         and with the same HOME and CLAUDE_CONFIG_DIR as the agent; or run `ide-mcp editor`.";
    DIRECTORY_NOT_A_DIRECTORY = "directory-not-a-directory" Problem blinds:
        "A file, or a symbolic link that leads nowhere, is in the place of the directory of lock files, or of a \
         directory above it.",
        "Move it away, then start the editor again.",
        Remedy::MoveAway;
    DIRECTORY_UNREADABLE = "directory-unreadable" Problem blinds:
        "Neither the doctor nor an agent can read the directory of lock files.",
        "Give yourself access to the directory. If it belongs to root, because an editor was started with sudo, take it \
         over with everything in it.",
        Remedy::Admit("u+rwx");
    HOME_OF_ANOTHER = "home-of-another-user" Problem blinds:
        "HOME or CLAUDE_CONFIG_DIR leads into a directory of another user, who lets nobody else in, so neither the doctor \
         nor an agent reads the lock files. After su, HOME can still be that of the previous user.",
        "Set HOME to your own home directory, or CLAUDE_CONFIG_DIR to a directory of yours.";
    DIRECTORY_UNWRITABLE = "directory-unwritable" Problem:
        "No editor can publish itself: it cannot create its lock file, or the directory for it.",
        "Give yourself access to the directory. If it belongs to root, because an editor was started with sudo, take it \
         over with everything in it. Then start the editor again.",
        Remedy::Admit("u+rwx");
    DIRECTORY_NOT_OURS = "directory-not-ours" Problem:
        "Another user owns the directory of lock files and can send the agent to an editor of their own. Claude \
         Code attaches all the same (measured as root); the programs of this library do not read the directory.",
        "Move it away, then start the editor again; an editor started with sudo may have made the directory.",
        Remedy::MoveAway;
    DIRECTORY_WRITABLE = "directory-writable-by-others" Problem:
        "Other users can put lock files there and so send the agent to an editor of their own.",
        "Close the directory to other users.",
        Remedy::CloseDirectory;
    DIRECTORY_READABLE = "directory-readable-by-others" Warning:
        "Other users can see which lock files there are, and only the permissions of each file protect its token.",
        "Close the directory to other users.",
        Remedy::CloseDirectory;
    PARENT_NOT_OURS = "parent-not-ours" Problem:
        "Another user owns a directory above the lock files, or a symbolic link on the way to them, and can \
         replace what lies below. The programs of this library do not read or publish there; Claude Code does.",
        "Give the directory to yourself, or set CLAUDE_CONFIG_DIR to a directory elsewhere.",
        Remedy::Own;
    PARENT_WRITABLE = "parent-writable-by-all" Problem:
        "Every user can replace the directory of lock files through a directory above it. The programs of this \
         library do not read or publish there; Claude Code does.",
        "Let nobody else write to the directory.",
        Remedy::Mode("go-w");
    PARENT_WRITABLE_BY_GROUP = "parent-writable-by-group" Note:
        "The members of a group can replace the directory of lock files through a directory above it. On many systems you are alone in your group, and then this does no harm.",
        "Do not let its group write to the directory, unless you are alone in the group.",
        Remedy::Mode("g-w");
    DIRECTORY_SOUND = "directory-sound" Ok:
        "The directory exists, belongs to you, and is closed to other users.",
        "";
    DIRECTORY_NOT_USED = "directory-not-used" Ok:
        "Some editors write there, but the agent does not look there.",
        "";
    LOCKS_NOWHERE = "locks-where-nobody-looks" Warning:
        "An editor has published itself in a directory where the agent does not look.",
        "Start the editor again, with the same HOME and CLAUDE_CONFIG_DIR as the agent, or update its extension.";

    NO_LOCK_FILES = "no-lock-files" Problem:
        "No editor has published itself here.",
        "Start the editor, with its extension for the agent (`ide-mcp plugin nvim` installs ours; vim and emacs likewise). \
         After `:IdeMcp stop`, type `:IdeMcp start`. If the editor runs, it may have published itself elsewhere: `:IdeMcp \
         doctor` in it, or M-x ide-mcp-doctor, shows where; then start it again with the HOME and CLAUDE_CONFIG_DIR of \
         the agent. Or run `ide-mcp editor`.";
    LOCK_MISNAMED = "lock-misnamed" Note:
        "A lock file is named after its port. No agent reads a file with another name.",
        "Move it away.",
        Remedy::MoveAway;
    LOCK_IS_A_LINK = "lock-is-a-link" Problem:
        "Claude Code follows the symbolic link and attaches. The programs of this library do not: a user who \
         can write to its target can send the agent, with its edits, to an editor of their own.",
        "Move the link away, then start the editor again.",
        Remedy::MoveAway;
    LOCK_NOT_A_FILE = "lock-not-a-file" Problem:
        "A pipe, directory or socket has the name of a lock file. An agent may hang on it.",
        "Move it away.",
        Remedy::MoveAway;
    LOCK_NOT_OURS = "lock-not-ours" Problem:
        "Another user wrote this lock file and can send the agent to an editor of their own. Claude Code \
         attaches all the same if it can read the file (measured as root); the programs of this library do not \
         read it.",
        "Move the file away. Do not take it over, because nobody knows which program its port belongs to. Then start the \
         editor again; an editor started with sudo may have written the file.",
        Remedy::MoveAway;
    LOCK_UNREADABLE = "lock-unreadable" Problem:
        "Neither the doctor nor an agent can read the lock file.",
        "Give yourself access to the file, or start the editor again.",
        Remedy::Admit("600");
    LOCK_UNPARSABLE = "lock-unparsable" Problem:
        "The file is not a valid lock file, so no agent finds its editor. An agent may delete the file.",
        "If no editor listens on port {port} any more, move the file away; otherwise start the editor again, and if \
         it writes such a file again, update its extension.",
        Remedy::MoveAway;
    LOCK_UNPARSABLE_BESIDE = "lock-unparsable-beside-editor" Warning:
        "The file is not a valid lock file. If an editor wrote it, agents do not find that editor, but they find another \
         one here. An agent may delete the file.",
        "If no editor listens on port {port} any more, move the file away; otherwise start that editor again.",
        Remedy::MoveAway;
    LOCK_WITHOUT_TRANSPORT = "lock-without-transport" Problem:
        "The lock file has no member transport. Agents then assume the older transport and do not attach.",
        "Update the extension of the editor, so that it writes \"transport\":\"ws\".";
    LOCK_LEGACY = "lock-legacy" Problem:
        "The editor uses another transport than WebSocket, the only one that current agents speak.",
        "Update the extension of the editor.";
    LOCK_READABLE = "lock-readable-by-others" Warning:
        "Other users can reach the file, read the token and attach to the editor as if they were you.",
        "Close the file to other users, then start the editor again for a new token.",
        Remedy::CloseFile;
    LOCK_WITHOUT_TOKEN = "lock-without-token" Warning:
        "The editor does not ask for a token, so every program and every user of this machine can attach to it.",
        "Update the extension of the editor, or switch its token on.";
    LOCK_WITHOUT_PROCESS = "lock-without-process" Note:
        "The lock file does not name its process, so the doctor cannot decide whether the file is left over.",
        "Update the extension of the editor.";
    LOCK_LEFT_OVER = "lock-left-over" Warning:
        "The editor was killed or crashed: its process is gone, and its port refuses connections. Claude Code \
         deletes the file; opencode and Kilo Code do not look at the process.",
        "Start the editor again if an agent should attach to it, and remove all such files.",
        Remedy::RemoveLeftovers;
    LEFTOVER_HIDES_EDITOR = "leftover-hides-editor" Problem:
        "Of the editors that have the directory open, opencode and Kilo Code take the lock file with the longest \
         folder, then the newest, and do not look at its process: they try this one forever, and never a living editor. \
         An editor built with ide-mcp renews its lock file and so comes first again, unless the folder of the dead one is \
         longer.",
        "Remove all such files.",
        Remedy::RemoveLeftovers;
    LOCK_WITHOUT_EDITOR = "lock-without-editor" Warning:
        "The process of the lock file is gone, and no editor answers on its port: nobody listens there, or another \
         program does. Claude Code deletes the file; opencode and Kilo Code do not look at the process.",
        "Remove the file.",
        Remedy::Remove;
    LOCK_PROCESS_UNSEEN = "lock-process-unseen" Warning:
        "The process of the lock file is not visible here, but the file may still be in use: an editor may listen on its \
         port, for example in another container. Claude Code does not attach, and deletes the file.",
        "Run agent and editor in the same container. If the editor is gone, move the file away.",
        Remedy::MoveAway;
    LOCK_OF_WINDOWS = "lock-of-windows" Note:
        "The editor runs on Windows, so its process is not visible here, and its 127.0.0.1 may not be the one here.",
        "";
    LOCK_OF_WINDOWS_ELSEWHERE = "lock-of-windows-elsewhere" Warning:
        "The lock file says that its editor runs on Windows, and this is not Windows.",
        "Move the file away if it was copied or synchronized from another machine; otherwise update the extension.",
        Remedy::MoveAway;
    LOCK_SOUND = "lock-sound" Ok:
        "The lock file is complete, belongs to you and is closed to other users, and its process runs, as far as the \
         system shows it.",
        "";

    PORT_REFUSES = "port-refuses" Problem:
        "Nobody listens on the port of the lock file, although its process lives: the extension of the editor has \
         stopped, or another program has the process id by now, as after a restart of the machine.",
        "Reload the window of the editor. If the editor does not run, move the file away.",
        Remedy::MoveAway;
    PORT_REFUSES_PROCESS_UNKNOWN = "port-refuses-process-unknown" Problem:
        "Nobody listens on the port of the lock file, and this system does not show whether its process lives. Most \
         likely the editor was killed and has left its lock file behind.",
        "Start the editor again, or reload its window. If the editor does not run, move the file away.",
        Remedy::MoveAway;
    PORT_OF_WINDOWS_REFUSES = "port-of-windows-refuses" Problem:
        "The editor runs on Windows, and nobody listens on its port here. Without mirrored networking, the \
         127.0.0.1 of WSL 2 is not that of Windows, where editors listen. Claude Code (2.1.332) first \
         tries the default gateway, where an editor answers only if it listens on every address.",
        "Write networkingMode=mirrored below [wsl2] into .wslconfig in your Windows home directory, and end WSL by \
         wsl --shutdown there. Or start the editor's remote side here, or the agent on Windows. If the editor does \
         not run, move the file away.",
        Remedy::MoveAway;
    OWNER_UNKNOWN = "owner-unknown" Note:
        "The doctor sent the token, as an agent does. If the editor has ended and a program of another user has taken its \
         port, that program has the token now.",
        "Close editors rather than kill them, so that they remove their lock files.";
    PORT_OF_ANOTHER_USER = "port-of-another-user" Problem:
        "Another user listens on the port of the lock file, and would get the token and the trust of an agent. \
         The doctor sent nothing there, and neither do the programs of this library; Claude Code does.",
        "Move the file away, then start the editor again. If the editor runs in a container and its port is \
         forwarded, run the doctor with --trust-port.",
        Remedy::MoveAway;
    PORT_WITHOUT_OWNER = "port-without-owner" Problem:
        "A program answers on the port of the lock file, but the tables of sockets of this machine do not list it: the \
         editor is busy, or its port is forwarded. The doctor sent nothing there.",
        "Run the doctor again; if the editor runs in a container and its port is forwarded, with --trust-port.";
    PORT_SILENT = "port-silent" Problem:
        "A program listens on the port of the lock file and does not answer: the editor hangs, or is starting.",
        "Wait a moment and run the doctor again; if nothing changes, start the editor again.";
    NOT_AN_EDITOR = "not-an-editor" Problem:
        "The program on the port of the lock file does not answer as an editor does: another program has the port.",
        "Move the file away, then start the editor again, so that it takes another port.",
        Remedy::MoveAway;
    TOKEN_REFUSED = "token-refused" Problem:
        "The editor does not know the token of the lock file: another editor wrote the file, or it is an old one.",
        "Move the file away, then start the editor again.",
        Remedy::MoveAway;
    EDITOR_FULL = "editor-full" Warning:
        "The editor has as many connections as it accepts.",
        "End agents that you do not need.";
    EDITOR_DECLINES = "editor-declines" Problem:
        "The editor answers the handshake of an agent with a refusal. Some editors answer a wrong token like this.",
        "Start the editor again; if nothing changes, update its extension.";
    SUBPROTOCOL_MISSING = "subprotocol-missing" Problem:
        "The editor does not choose the sub-protocol mcp. The agent drops the connection without an error.",
        "Update the extension of the editor.";
    SESSION_FAILS = "session-fails" Problem:
        "The editor accepts the agent, but the session cannot be opened.",
        "Update the extension of the editor, or the agent.";
    EDITOR_ANSWERS = "editor-answers" Ok:
        "The editor accepts the token and opens a session.",
        "";
    ACCEPTS_WITHOUT_TOKEN = "accepts-without-token" Problem:
        "The editor has a token and does not ask for it: every program of this machine can attach to it.",
        "Update the extension of the editor; close the editor until then if you browse the web.";
    REFUSES_WITHOUT_TOKEN = "refuses-without-token" Ok:
        "The editor refuses clients without its token.",
        "";
    ACCEPTS_WITH_ORIGIN = "accepts-with-origin" Warning:
        "The editor does not refuse browsers as such. Only the token keeps a web page out.",
        "Update the extension of the editor.";
    REFUSES_ORIGIN = "refuses-origin" Ok:
        "The editor refuses browsers.",
        "";
    NOT_PROBED = "not-probed" Note:
        "The doctor did not connect to this editor: `--no-connect` forbids it, or there are too many editors.",
        "Run the doctor without --no-connect, after removing lock files that are not needed.";

    PORT_TWICE = "port-published-twice" Note:
        "One editor has published itself in several directories, which does no harm.",
        "";
    PORT_TWICE_DIFFERENTLY = "port-published-twice-differently" Warning:
        "Lock files with the same port have different tokens: at most one of them is right.",
        "Move the file away whose token the editor refuses, or the older one.",
        Remedy::MoveAway;
    PROCESS_TWICE = "process-published-twice" Note:
        "One process has several lock files: windows of one editor, or a file that is left over from before a \
         reload, whose port refuses.",
        "";

    EDITOR_FOUND = "editor-found" Ok:
        "An agent finds one editor here, and attaches to it.",
        "";
    SEVERAL_EDITORS = "several-editors" Warning:
        "Several editors have the directory open. An agent does not choose by itself, and --ide refuses.",
        "Type /ide in the agent and pick one, or start the agent in a terminal of the right editor, which sets \
         CLAUDE_CODE_SSE_PORT to its port.";
    SEVERAL_EDITORS_ONE_NAMED = "several-editors-one-named" Note:
        "Several editors have the directory open, and CLAUDE_CODE_SSE_PORT names one: an agent attaches to that \
         one. Claude Code 1.0.51 attaches to none.",
        "Update the agent if it is that old, or close the other editors.";
    NO_EDITOR_FOR_DIRECTORY = "no-editor-for-directory" Problem:
        "There are lock files, but no usable editor has the directory open.",
        "Open {cwd}, or a directory above it, in the editor; or start the agent in a folder that is open there; \
         or run `ide-mcp editor` here. If an editor has a folder inside of this one open, type /ide in the agent, which \
         lists that editor.";
    NO_USABLE_EDITOR = "no-usable-editor" Problem:
        "The lock file of the editor that has the directory open, or may have it open, cannot be used; the finding about \
         that file says why.",
        "Do what that finding advises, or start the editor again, which writes a new lock file; or run `ide-mcp editor` \
         here.";
    MATCHES_ONLY_LOGICALLY = "folder-matches-only-logically" Problem:
        "The editor has published only the path with the symbolic link. The agent compares the path without links.",
        "Open {cwd} in the editor by its path without links.";
    MATCHES_ONLY_PHYSICALLY = "folder-matches-only-physically" Note:
        "The editor has the directory open under its path without symbolic links. Claude Code compares that \
         one; others may not.",
        "If another agent does not find the editor, change into the path without links first.",
        Remedy::Enter;
    FOLDER_SPELLED_DIFFERENTLY = "folder-in-another-spelling" Problem:
        "The editor has the folder open in another spelling: in a different case, or as the other side of WSL spells \
         it. The agent compares paths as strings.",
        "Open {cwd} in the editor by this spelling, or update its extension, so that it publishes every spelling.";
    EDITOR_WITHOUT_FOLDERS = "editor-without-folders" Note:
        "The editor has no folder open. Only an agent in the editor's own terminal finds it.",
        "Open {cwd} in the editor, or name the editor by its port.",
        Remedy::NamePort;

    LEFTOVER_REMOVED = "leftover-removed" Note:
        "A lock file that was left over was removed, as you asked.",
        "";
    LEFTOVER_STAYS = "leftover-stays" Note:
        "`--remove-leftovers` removes only files that surely nobody needs: the file names an editor, the process of the \
         editor is dead, and its port refuses. The other finding about this file says what to do with it.",
        "";
}
