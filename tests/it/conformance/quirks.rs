//! Q1 to Q42: the surprises of the protocol, and the behavior of this crate.

use super::row::{
    Offers::{All, Nothing, These},
    Proof::{Editor, Elsewhere, Reads, Test},
    Row,
    Step::*,
    row,
};
use ide_mcp::{
    ide::{Dialect::VsCode, Tool},
    mcp::ToolResult,
};

const EDITOR: &str = "tests/it/ide_server.rs";
const HOST: &str = "tests/it/ide_host.rs";
const REFUSALS: &str = "tests/it/ide_refusals.rs";

pub const ROWS: &[Row] = &[
    row(
        "Q1",
        "the sub-protocol mcp is chosen if the client offers it",
        Test(REFUSALS, "h04_subprotocol_is_chosen_and_never_echoed"),
    ),
    row("Q2", "a verdict has two blocks", Test(EDITOR, "verdict_is_sent_once_and_ends_diff")),
    row(
        "Q3",
        "the editor never writes the file",
        Elsewhere("`DiffOutcome` has no step that writes, and documents the reason"),
    ),
    row(
        "Q4",
        "a diff that is not handled is no verdict",
        Editor(
            VsCode,
            Nothing,
            &[
                Calls(
                    "openDiff",
                    r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#,
                ),
                Refused(-32601, "openDiff"),
            ],
        ),
    ),
    row(
        "Q5",
        "the client hides its own diff once an editor is attached",
        Elsewhere(
            "the client decides: handle `Tool::OpenDiff`, or ask the person to set `diffTool: terminal`",
        ),
    ),
    row(
        "Q6",
        "some clients open no diff at all",
        Elsewhere("the client decides; `Server::open_diffs` returns the open diffs"),
    ),
    row(
        "Q7",
        "closeAllDiffTabs ends the diffs of its client and no others",
        Test(HOST, "close_all_diff_tabs_spares_other_clients"),
    ),
    row(
        "Q8",
        "every ending of a diff is reported, once",
        Test(EDITOR, "j08_connection_end_ends_every_call_once"),
    ),
    row(
        "Q9",
        "close_tab comes twice, with any name, byte for byte",
        Editor(
            VsCode,
            These(&[Tool::OpenDiff]),
            &[
                Calls("close_tab", r#"{"tab_name":"✻ [Claude Code] new.txt (c5bbaf) ⧉"}"#),
                Result(&["TAB_CLOSED"]),
                Calls("close_tab", r#"{"tab_name":"✻ [Claude Code] new.txt (c5bbaf) ⧉"}"#),
                Result(&["TAB_CLOSED"]),
            ],
        ),
    ),
    row("Q10", "answers come in any order", Test(HOST, "open_diffs_do_not_delay_diagnostics")),
    row(
        "Q11",
        "stale variables of an outer editor are removed",
        Test("src/ide/discovery/launch_env.rs", "l12_variables_of_outer_editor_are_replaced"),
    ),
    row(
        "Q12",
        "loopback is merged into no_proxy and NO_PROXY",
        Test("src/ide/discovery/launch_env.rs", "l12_loopback_is_merged_into_what_was_there"),
    ),
    row(
        "Q13",
        "a linked folder is listed in both forms",
        Test("adapters/lockfile/tests/it/folders.rs", "l08_linked_folder_is_listed_in_both_forms"),
    ),
    row("Q14", "drives in either case", Test("src/ide/paths/spelling.rs", "folder_contains_path_by_system")),
    row(
        "Q14 flag",
        "runningInWindows is written",
        Test("src/ide/discovery/lock_file/text.rs", "members_have_the_order_of_real_writer"),
    ),
    row(
        "Q15",
        "WSL: a process that cannot be seen is not dead",
        Test("adapters/lockfile/tests/it/scan.rs", "process_is_looked_up_only_where_visible"),
    ),
    row(
        "Q15 drives",
        "WSL: a drive of Windows is below /mnt",
        Test("src/ide/paths/spelling.rs", "folder_of_windows_is_translated_in_wsl"),
    ),
    row(
        "Q16",
        "directories follow variables that are handed in",
        Test("src/ide/discovery/locate.rs", "l07_the_directories_follow_the_variables"),
    ),
    row(
        "Q17",
        "stale lock files are reported and left to their owner",
        Test("adapters/lockfile/tests/it/scan.rs", "l06_scan_reports_all_and_deletes_none"),
    ),
    row(
        "Q17 sockets",
        "dead sockets end",
        Test("tests/it/host_sending.rs", "i34_silent_client_is_pinged_before_the_timeout"),
    ),
    row(
        "Q18",
        "a side that has slept pings again before giving up",
        Test("src/keepalive.rs", "a_late_check_pings_again_first"),
    ),
    row("Q19", "pings can be off, and any byte is life", Test("src/keepalive.rs", "any_byte_is_life")),
    row(
        "Q20",
        "a lock file that vanished comes back with the same port and token",
        Test("adapters/lockfile/tests/it/publish.rs", "l06_vanished_file_returns_unchanged"),
    ),
    row(
        "Q20 port",
        "an editor that starts again on its port with its token has its clients back",
        Test("adapters/mio/tests/it/resume.rs", "client_returns_to_editor_on_same_port"),
    ),
    row(
        "Q20 client",
        "and an agent looks for it there, for a minute",
        Test("tests/it/ide_pair.rs", "client_reconnects_to_restarted_editor"),
    ),
    row("Q21", "several clients; one too many gets 503", Test(HOST, "seventeenth_client_is_refused_as_full")),
    row("Q22", "selections to all", Test(HOST, "i30_resting_selection_reaches_all_clients")),
    row("Q22 mentions", "mentions to one", Test(HOST, "mentions_reach_addressee_or_latest_in_order")),
    row(
        "Q23",
        "a malformed frame ends the connection with its code",
        Test("tests/it/ws_frames.rs", "violations_have_their_rfc_close_codes"),
    ),
    row("Q24", "fragments, and pings between them", Test(EDITOR, "pings_between_fragments_are_answered")),
    row(
        "Q25",
        "16 MiB a message at an editor, 64 MiB elsewhere",
        Test("tests/it/ws_frames.rs", "message_above_the_limit_is_refused"),
    ),
    row(
        "Q25 diagnostics",
        "1,000 diagnostics, and a note",
        Test("src/ide/tool/get_diagnostics.rs", "diagnostics_above_a_thousand_are_only_counted"),
    ),
    row("Q26", "an editor takes no binary message", Test(EDITOR, "close_frame_names_the_broken_rule")),
    row(
        "Q27",
        "lines and columns from 0, columns in UTF-16",
        Test("src/ide/tool/position.rs", "places_and_bytes_agree"),
    ),
    row(
        "Q28",
        "lines of a mention from 0, the last one included",
        Test("src/ide/push/at_mentioned.rs", "mentions_have_both_lines_or_none"),
    ),
    row(
        "Q29",
        "a long selection is cut between characters",
        Test(EDITOR, "selection_is_truncated_at_256_kib"),
    ),
    row(
        "Q30",
        "any spelling of a file, which the application echoes",
        Editor(
            VsCode,
            All,
            &[
                Calls("getDiagnostics", r#"{"uri":"/w/a b"}"#),
                Hears(r#"GetDiagnostics(GetDiagnostics { uri: Some("/w/a b") })"#),
                Calls("getDiagnostics", r#"{"uri":"_claude_fs_right:/w/a"}"#),
                Hears(r#"GetDiagnostics(GetDiagnostics { uri: Some("_claude_fs_right:/w/a") })"#),
            ],
        ),
    ),
    row(
        "Q30 paths",
        "a URI, encoded or not, a path, or a side of a change: the same file",
        Test("src/ide/paths/tests.rs", "p05_uris_are_decoded_once"),
    ),
    row(
        "Q31",
        "getDiagnostics is answered empty after 400 ms for one file, after 1.9 s for all",
        Editor(
            VsCode,
            All,
            &[
                Calls("getDiagnostics", r#"{"uri":"file:///w/a"}"#),
                Hears(r#"GetDiagnostics(GetDiagnostics { uri: Some("file:///w/a") })"#),
                At(399),
                At(400),
                Result(&["[]"]),
                Hears("ended Expired"),
                Calls("getDiagnostics", "{}"),
                Hears("GetDiagnostics(GetDiagnostics { uri: None })"),
                At(2_299),
                At(2_300),
                Result(&["[]"]),
                Hears("ended Expired"),
            ],
        ),
    ),
    row(
        "Q31 longer",
        "unless the application gives it more time",
        Test(EDITOR, "call_timeout_can_be_changed"),
    ),
    row(
        "Q32",
        "only handled tools are listed",
        Editor(
            VsCode,
            Nothing,
            &[
                Says(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#),
                Wrote(r#"{"jsonrpc":"2.0","id":9,"result":{"tools":[]}}"#),
            ],
        ),
    ),
    row(
        "Q33",
        "tools may be handled and not listed",
        Test("src/ide/tool/toolset.rs", "tools_accept_names_of_every_dialect"),
    ),
    row(
        "Q34",
        "set_permission_mode is answered; other unknown tools are refused",
        Editor(
            VsCode,
            Nothing,
            &[
                Calls("set_permission_mode", r#"{"mode":"acceptEdits"}"#),
                Hears(r#"PermissionMode { mode: "acceptEdits" }"#),
                Result(&["OK"]),
                Calls("brand_new", "{}"),
                Refused(-32602, "tool brand_new not found"),
            ],
        ),
    ),
    row(
        "Q35",
        "hidden files are not sent as selections",
        Test("tests/it/host_sending.rs", "hidden_files_do_not_leave_the_editor"),
    ),
    row(
        "Q36",
        "preview and makeFrontmost arrive as they are sent",
        Editor(
            VsCode,
            All,
            &[
                Calls("openFile", r#"{"filePath":"/w/a","preview":true,"makeFrontmost":false}"#),
                Hears(
                    r#"OpenFile(OpenFile { file_path: "/w/a", preview: true, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: false, start_line: None, end_line: None })"#,
                ),
            ],
        ),
    ),
    row("Q37", "web pages are refused in the opening handshake", Test(REFUSALS, "n01_web_pages_are_refused")),
    row("Q37 rebinding", "so are foreign hosts", Test(REFUSALS, "n02_foreign_hosts_are_refused")),
    row(
        "Q38",
        "a client that is gone is an ending like others",
        Test("tests/it/turn.rs", "a_reset_ends_the_connection_at_once"),
    ),
    row(
        "Q39",
        "the system chooses the port",
        Test("adapters/tests/main.rs", "n06_two_that_start_at_once_never_collide"),
    ),
    row(
        "Q40",
        "ids are echoed as they are; null is none",
        Editor(
            VsCode,
            Nothing,
            &[
                Says(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#),
                Wrote(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
                Says(r#"{"jsonrpc":"2.0","id":"\u0041","method":"ping"}"#),
                Wrote(r#"{"jsonrpc":"2.0","id":"\u0041","result":{}}"#),
                Says(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"close_tab"}}"#),
                Wrote(
                    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the argument tab_name is missing at line 1 column 2"}}"#,
                ),
            ],
        ),
    ),
    row(
        "Q40 null",
        "a request with the id null is reported and not answered",
        Test("tests/it/mcp_vectors.rs", "j11_notifications_and_responses_are_unanswered"),
    ),
    row("Q41", "a false isError and null members are read", Reads(told, &["x"], "x")),
    row(
        "Q41 more",
        "and null for an absent value",
        Test("src/mcp/content.rs", "results_are_read_tolerantly"),
    ),
    row(
        "Q42",
        "another host is let in by configuration alone",
        Test(REFUSALS, "n02_foreign_hosts_are_refused"),
    ),
];

/// Returns the texts of the result after reading it from a form in which a peer omits no member.
fn told(result: &ToolResult<'_>) -> String {
    let text = result.texts().next().unwrap_or_default();
    let said = format!(
        r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":false,"structuredContent":null}}"#
    );
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str(&said).unwrap();
    let read = ToolResult::read(&raw).unwrap();
    assert!(!read.is_error);
    read.texts().collect()
}
