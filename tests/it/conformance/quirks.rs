//! Q1 to Q42: where the protocol surprises, and what this crate does.

use super::row::{Proof::Reads, Row, Step::*, bare, claim, row, vs_code, with_diffs};
use ide_mcp::mcp::ToolResult;

const EDITOR: &str = "tests/it/ide_server.rs";
const HOST: &str = "tests/it/server_agents.rs";
const REFUSALS: &str = "tests/it/ide_refusals.rs";

pub const ROWS: &[Row] = &[
    claim("Q1", "the sub-protocol mcp is chosen if the client offers it")
        .test(REFUSALS, "h04_subprotocol_is_chosen_and_never_echoed"),
    claim("Q2", "a verdict has two blocks").test(EDITOR, "verdict_is_sent_once_and_ends_diff"),
    claim("Q3", "the editor never writes the file")
        .elsewhere("`DiffOutcome` has no step that writes, and documents the reason"),
    row(
        "Q4",
        "an editor that does not handle diffs gives no verdict",
        bare(&[
            Calls(
                "openDiff",
                r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#,
            ),
            Refused(-32601, "openDiff"),
        ]),
    ),
    claim("Q5", "the client hides its own diff once an editor is attached").elsewhere(
        "the client decides: handle `Tool::OpenDiff`, or ask the person to set `diffTool: terminal`",
    ),
    claim("Q6", "some clients open no diff at all")
        .elsewhere("the client decides; `Server::open_diffs` returns the open diffs"),
    claim("Q7", "closeAllDiffTabs ends the diffs of its client and no others")
        .test(HOST, "close_all_diff_tabs_spares_other_clients"),
    claim("Q8", "every ending of a diff is reported, once")
        .test(EDITOR, "j08_connection_end_ends_every_call_once"),
    row(
        "Q9",
        "close_tab comes twice, with any name; each is answered",
        with_diffs(&[
            Calls("close_tab", r#"{"tab_name":"✻ [Claude Code] new.txt (c5bbaf) ⧉"}"#),
            Result(&["TAB_CLOSED"]),
            Calls("close_tab", r#"{"tab_name":"✻ [Claude Code] new.txt (c5bbaf) ⧉"}"#),
            Result(&["TAB_CLOSED"]),
        ]),
    ),
    claim("Q10", "answers come in any order").test(HOST, "open_diffs_do_not_delay_diagnostics"),
    claim("Q11", "stale variables of an outer editor are removed")
        .test("src/ide/discovery/launch_env.rs", "l12_variables_of_outer_editor_are_replaced"),
    claim("Q12", "loopback is merged into no_proxy and NO_PROXY")
        .test("src/ide/discovery/launch_env.rs", "l12_loopback_is_merged_into_what_was_there"),
    claim("Q13", "a folder that is a symbolic link is listed in both spellings")
        .test("adapters/lockfile/tests/it/folders.rs", "l08_linked_folder_is_listed_in_both_forms"),
    claim("Q14", "a drive letter matches in either case")
        .test("src/ide/paths/spelling.rs", "folder_contains_path_by_system"),
    claim("Q14 flag", "the lock file says `runningInWindows`")
        .test("src/ide/discovery/lock_file/text.rs", "members_have_the_order_of_vs_code"),
    claim("Q15", "WSL: a process that cannot be seen is not dead")
        .test("adapters/lockfile/tests/it/scan.rs", "process_is_looked_up_only_where_visible"),
    claim("Q15 drives", "WSL: a Windows drive is below /mnt")
        .test("src/ide/paths/spelling.rs", "windows_folder_is_translated_in_wsl"),
    claim("Q16", "the directories follow the variables that the caller passes")
        .test("src/ide/discovery/locate.rs", "l07_the_directories_follow_the_variables"),
    claim("Q17", "stale lock files are reported and left to their owner")
        .test("adapters/lockfile/tests/it/scan.rs", "l06_scan_reports_all_and_deletes_none"),
    claim("Q17 sockets", "a connection whose socket is dead is ended")
        .test("tests/it/server_sending.rs", "i34_silent_client_is_pinged_before_the_timeout"),
    claim("Q18", "after a sleep of the machine, a side pings again before it ends the connection")
        .test("src/keepalive.rs", "a_late_check_pings_again_before_it_gives_up"),
    claim("Q19", "pings can be off, and any byte counts as activity")
        .test("src/keepalive.rs", "any_byte_counts_as_activity"),
    claim("Q20", "a lock file that vanished comes back with the same port and token")
        .test("adapters/lockfile/tests/it/publish.rs", "l06_vanished_file_returns_unchanged"),
    claim("Q20 port", "an editor that starts again on its port with its token has its clients back")
        .test("adapters/mio/tests/it/resume.rs", "client_returns_to_editor_on_same_port"),
    claim("Q20 client", "an agent looks for its editor on the same port, for a minute")
        .test("tests/it/ide_pair.rs", "client_reconnects_to_restarted_editor"),
    claim("Q21", "several clients may attach; one too many gets 503")
        .test(HOST, "seventeenth_client_is_refused_as_full"),
    claim("Q22", "a selection goes to all clients").test(HOST, "i30_resting_selection_reaches_all_clients"),
    claim("Q22 mentions", "a mention goes to one client")
        .test(HOST, "mentions_reach_addressee_or_latest_in_order"),
    claim("Q23", "a malformed frame ends the connection with its code")
        .test("tests/it/ws_frames.rs", "violations_have_their_rfc_close_codes"),
    claim("Q24", "a message may come in fragments, with pings between them")
        .test(EDITOR, "pings_between_fragments_are_answered"),
    claim("Q25", "a message has at most 16 MiB at an editor, 64 MiB elsewhere")
        .test("tests/it/ws_frames.rs", "message_above_the_limit_is_refused"),
    claim("Q25 diagnostics", "at most 1,000 diagnostics are sent; a note counts the rest")
        .test("src/ide/tool/get_diagnostics.rs", "diagnostics_above_a_thousand_are_only_counted"),
    claim("Q26", "an editor refuses binary messages").test(EDITOR, "close_frame_names_the_broken_rule"),
    claim("Q27", "lines and columns count from 0, columns in UTF-16 units")
        .test("src/ide/kit/position.rs", "positions_and_bytes_agree"),
    claim("Q28", "lines of a mention count from 0, the last one included")
        .test("src/ide/push/at_mentioned.rs", "mentions_have_both_lines_or_none"),
    claim("Q29", "a long selection is cut between characters")
        .test(EDITOR, "selection_is_truncated_at_256_kib"),
    row(
        "Q30",
        "a file comes in any spelling, which the application gets unchanged",
        vs_code(&[
            Calls("getDiagnostics", r#"{"uri":"/w/a b"}"#),
            AppGets("edit of /w/a b"),
            AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("/w/a b") })"#),
            Calls("getDiagnostics", r#"{"uri":"_claude_fs_right:/w/a"}"#),
            AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("_claude_fs_right:/w/a") })"#),
        ]),
    ),
    claim("Q30 paths", "a URI, encoded or not, a path and a side of a diff name the same file")
        .test("src/ide/paths/tests.rs", "p05_uris_are_decoded_once"),
    row(
        "Q31",
        "if the application is late, getDiagnostics before an edit is answered after 400 ms with an empty list, and for all files after 1.9 s as unknown",
        vs_code(&[
            Calls("getDiagnostics", r#"{"uri":"file:///w/a"}"#),
            AppGets("edit of /w/a"),
            AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("file:///w/a") })"#),
            At(399),
            At(400),
            Result(&["[]"]),
            AppGets("ended Expired"),
            Calls("getDiagnostics", "{}"),
            AppGets("edit of /w/a TurnDone"),
            AppGets("GetDiagnostics(GetDiagnostics { uri: None })"),
            At(2_299),
            At(2_300),
            Wrote(
                r#"{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"unknown: the editor has not reported the problems in time"}],"isError":true}}"#,
            ),
            AppGets("ended Expired"),
        ]),
    ),
    claim("Q31 longer", "unless the application gives it more time")
        .test(EDITOR, "call_timeout_can_be_changed"),
    claim(
        "Q31 models",
        "for a model, and for a client that announces no edits, it is always answered as unknown",
    )
    .test("tests/it/ide_edits.rs", "late_problems_are_unknown_except_before_an_edit"),
    row(
        "Q32",
        "only handled tools are listed",
        bare(&[
            ClientSends(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":9,"result":{"tools":[]}}"#),
        ]),
    ),
    claim("Q33", "tools can be handled and not listed")
        .test("src/ide/tool/toolset.rs", "tools_accept_names_of_every_dialect"),
    row(
        "Q34",
        "set_permission_mode is answered; other unknown tools are refused",
        bare(&[
            Calls("set_permission_mode", r#"{"mode":"acceptEdits"}"#),
            AppGets(r#"PermissionMode { mode: "acceptEdits" }"#),
            Result(&["OK"]),
            Calls("brand_new", "{}"),
            Refused(-32602, "tool brand_new not found"),
        ]),
    ),
    claim("Q35", "hidden files are not sent as selections")
        .test("tests/it/server_sending.rs", "hidden_files_do_not_leave_the_editor"),
    row(
        "Q36",
        "preview and makeFrontmost arrive as they are sent",
        vs_code(&[
            Calls("openFile", r#"{"filePath":"/w/a","preview":true,"makeFrontmost":false}"#),
            AppGets(
                r#"OpenFile(OpenFile { file_path: "/w/a", preview: true, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: false, start_line: None, end_line: None })"#,
            ),
        ]),
    ),
    claim("Q37", "web pages are refused in the opening handshake")
        .test(REFUSALS, "n01_web_pages_are_refused"),
    claim("Q37 rebinding", "so are foreign hosts").test(REFUSALS, "n02_foreign_hosts_are_refused"),
    claim("Q38", "a client that vanishes is reported like any other end")
        .test("examples/tests/std_loop.rs", "a_lost_socket_is_reported_once_and_dropped"),
    claim("Q39", "the system chooses the port")
        .test("adapters/tests/main.rs", "n06_parallel_starts_get_different_ports"),
    row(
        "Q40",
        "ids are echoed unchanged; null is not an id",
        bare(&[
            ClientSends(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
            ClientSends(r#"{"jsonrpc":"2.0","id":"\u0041","method":"ping"}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":"\u0041","result":{}}"#),
            ClientSends(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"close_tab"}}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Invalid arguments: the argument tab_name is missing"}],"isError":true}}"#,
            ),
        ]),
    ),
    claim("Q40 null", "a request with the id null is reported and not answered")
        .test("tests/it/mcp_vectors.rs", "j11_notifications_and_responses_are_unanswered"),
    row("Q41", "a false isError and null members are read", Reads(texts_of, &["x"], "x")),
    claim("Q41 more", "null stands for an absent value")
        .test("src/mcp/content.rs", "results_are_read_tolerantly"),
    claim("Q42", "another host is accepted only if the configuration names it")
        .test(REFUSALS, "n02_foreign_hosts_are_refused"),
];

/// Returns the text blocks of the result, read from JSON in which the peer also wrote what is false
/// or null.
fn texts_of(result: &ToolResult<'_>) -> String {
    let text = result.texts().next().unwrap_or_default();
    let input = format!(
        r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":false,"structuredContent":null}}"#
    );
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str(&input).unwrap();
    let read = ToolResult::read(&raw).unwrap();
    assert!(!read.is_error);
    read.texts().collect()
}
