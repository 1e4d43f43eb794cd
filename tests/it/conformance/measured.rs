//! What the real client does (docs/protocol.md), and what follows for editors and agents.

use super::row::{
    Offers::These,
    Proof::{Agent, Editor, Test},
    Row,
    Step::*,
    answers, bare, claim, row, with_diffs,
};
use super::tools::selected;
use ide_mcp::ide::tool::{DiffOutcome, Tool};
use ide_mcp::ide::{Dialect::VsCode, Mention, Selected};

const EDITOR: &str = "tests/it/ide_server.rs";
const PAIR: &str = "tests/it/ide_pair.rs";
const QUESTIONS: &str = "tests/it/ide_questions.rs";
const REFUSALS: &str = "tests/it/ide_refusals.rs";
const REPLAY: &str = "tests/it/replay.rs";
const MODELS: &str = "tests/it/ide_models.rs";
const MATCHING: &str = "src/ide/discovery/matching/tests.rs";

pub const ROWS: &[Row] = &[
    claim("connecting 1", "the recorded request line and headers are accepted")
        .test(REPLAY, "version_1_0_51"),
    claim("connecting 2", "if the 101 does not choose `mcp`, the client leaves: an agent does too")
        .test(PAIR, "client_leaves_editor_without_mcp_subprotocol"),
    claim("connecting 3", "permessage-deflate can be refused, and is")
        .test("tests/it/ws_handshake.rs", "an_offer_of_compression_is_not_answered"),
    claim("connecting 4", "a wrong token is answered with 401").test(REFUSALS, "h08_all_wrong_tokens_are_answered_alike"),
    claim("connecting 5", "a lock file below ~/.config/claude is never found")
        .test("src/ide/discovery/locate.rs", "l07_the_directories_follow_the_variables"),
    claim("connecting 6", "a lock file whose process is dead does not match").test(MATCHING, "rules_are_those_of_the_real_client"),
    claim("connecting 7", "the parent of the working directory matches")
        .test(MATCHING, "rules_are_those_of_the_real_client"),
    claim("connecting 8", "a lock file without folders never matches, nor does one without a port")
        .test(MATCHING, "rules_are_those_of_the_real_client"),
    claim("connecting 9", "the oldest lock files are a bare list of folders")
        .test("src/ide/discovery/lock_file/text.rs", "every_known_variant_is_read"),
    claim("connecting 10", "the client comes back on the same port and shakes hands again")
        .test(REPLAY, "version_2_1_330_with_two_connections"),
    claim("session 1", "the session opens in the recorded order")
        .test(REPLAY, "version_2_1_330_terminal_decision"),
    claim("session 2", "2024-11-05 is accepted by the client: an agent accepts it too")
        .test(PAIR, "binary_messages_batches_and_nonsense_are_tolerated"),
    claim("session 3", "the client ends a session with an unknown version: an agent does too")
        .test(PAIR, "client_leaves_editor_after_failed_initialize"),
    claim("session 4", "a selection before `initialize` is lost: it is sent from `initialized` on")
        .test(EDITOR, "i38_selections_are_sent_early_settled_and_late"),
    row(
        "session 5",
        "no message marks the moment from which pushes are accepted: it is up to 500 ms after the answer to `tools/list`, so the selection is sent again, and mentions wait, until 1.6 s after it",
        Test(EDITOR, "mention_waits_for_a_late_list"),
    ),
    row(
        "session 6",
        "prefixed names are ignored by the client: an editor writes bare ones",
        bare(&[
            Does(|editor| assert_eq!(editor.select(selected()), Selected::Whole)),
            Wrote(
                r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"ab","filePath":"/w/a.rs","fileUrl":"file:///w/a.rs","selection":{"start":{"line":1,"character":2},"end":{"line":1,"character":4},"isEmpty":false}}}"#,
            ),
            Does(|editor| editor.mention(Mention::new("/w/a.rs", None)).unwrap()),
            Wrote(r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/w/a.rs"}}"#),
        ]),
    ),
    claim("session 7", "list_changed makes the client forget the selection: it is sent again")
        .test(EDITOR, "i38_selection_is_resent_after_tools_change"),
    row(
        "session 8",
        "diagnostics_changed shows nothing in the client; an agent gets it as an event",
        Agent("diagnostics_changed", r#"{"uris":[]}"#, "Pushed(DiagnosticsChanged(Stale { uris: [] }))"),
    ),
    row(
        "session 9",
        "the client answers a ping",
        bare(&[
            ClientSends(r#"{"method":"ping","jsonrpc":"2.0","id":7}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
        ]),
    ),
    row(
        "session 10",
        "the client answers roots/list with its folder: an editor asks, and an agent answers",
        Test(QUESTIONS, "agent_answers_with_its_folders"),
    ),
    row(
        "session 11",
        "the client answers an unknown request with -32601",
        bare(&[
            ClientSends(r#"{"method":"x/y","jsonrpc":"2.0","id":7}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"method not found: x/y"}}"#),
        ]),
    ),
    row(
        "session 12",
        "a batch is ignored, except in 2025-03-26",
        bare(&[
            ClientSends(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#),
            AppGets("PeerFault(Batch)"),
        ]),
    ),
    row(
        "session 13",
        "text that is not JSON, and responses to no request, are tolerated",
        bare(&[
            ClientSends("{nonsense"),
            AppGets("PeerFault(Message(NotJson))"),
            ClientSends(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#),
            AppGets("PeerFault(UnknownResponse)"),
            ClientSends(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        ]),
    ),
    claim("session 12 and 13, an agent", "ignores batches, text that is not JSON, and responses to no request")
        .test(PAIR, "binary_messages_batches_and_nonsense_are_tolerated"),
    claim("session 9, an agent", "answers pings").test(PAIR, "requests_of_the_editor_are_answered"),
    claim("session 14", "a message may come in fragments, with pings between them")
        .test(EDITOR, "pings_between_fragments_are_answered"),
    claim("session 15", "the client reads binary frames: an agent does too")
        .test(PAIR, "binary_messages_batches_and_nonsense_are_tolerated"),
    row(
        "session 16",
        "the client calls closeAllDiffTabs even if the editor lists no tools",
        bare(&[
            ClientSends(r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#),
            Wrote(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#),
            ClientSends(
                r#"{"method":"tools/call","params":{"name":"closeAllDiffTabs","arguments":{},"_meta":{"progressToken":2}},"jsonrpc":"2.0","id":2}"#,
            ),
            Wrote(
                r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"CLOSED_0_DIFF_TABS"}]}}"#,
            ),
        ]),
    ),
    row(
        "calls 1",
        "a prompt begins with closeAllDiffTabs",
        with_diffs(&[Calls("closeAllDiffTabs", "{}"), Result(&["CLOSED_0_DIFF_TABS"])]),
    ),
    row(
        "calls 2",
        "a diff of a new file names the same path twice",
        with_diffs(&[
            Calls(
                "openDiff",
                r#"{"old_file_path":"/w/new.txt","new_file_path":"/w/new.txt","new_file_contents":"x","tab_name":"✻ [Claude Code] new.txt (c5bbaf) ⧉"}"#,
            ),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/new.txt", new_file_path: "/w/new.txt", new_file_contents: "x", tab_name: "✻ [Claude Code] new.txt (c5bbaf) ⧉" })"#,
            ),
        ]),
    ),
    row(
        "calls 3",
        "a diff is accepted with another text; then come close_tab, twice, and getDiagnostics: for the file before the client writes it, for all files after",
        Editor(
            VsCode,
            These(&[Tool::OpenDiff, Tool::GetDiagnostics]),
            &[
                Calls(
                    "openDiff",
                    r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"x","tab_name":"t"}"#,
                ),
                AppGets(
                    r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "x", tab_name: "t" })"#,
                ),
                answers!(OpenDiff, DiffOutcome::Accepted { contents: "y".into() }),
                Result(&["FILE_SAVED", "y"]),
                Calls("close_tab", r#"{"tab_name":"t"}"#),
                Result(&["TAB_CLOSED"]),
                Calls("close_tab", r#"{"tab_name":"t"}"#),
                Result(&["TAB_CLOSED"]),
                Calls("getDiagnostics", r#"{"uri":"file:///w/a"}"#),
                AppGets("edit of /w/a"),
                AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("file:///w/a") })"#),
                Calls("getDiagnostics", "{}"),
                AppGets("edit of /w/a TurnDone"),
                AppGets("GetDiagnostics(GetDiagnostics { uri: None })"),
            ],
        ),
    ),
    claim(
        "calls 4",
        "the client does not understand FILE_SAVED in one block: an editor cannot write it, and an agent does not read it as a verdict",
    )
    .test("src/ide/tool/open_diff.rs", "verdicts_are_read"),
    row(
        "calls 5",
        "a rejection has two blocks",
        with_diffs(&[
            Calls(
                "openDiff",
                r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"x","tab_name":"t"}"#,
            ),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "x", tab_name: "t" })"#,
            ),
            answers!(OpenDiff, DiffOutcome::Rejected { tab_name: "t".into() }),
            Result(&["DIFF_REJECTED", "t"]),
        ]),
    ),
    row(
        "calls 6",
        "after -32601 the person decides in the terminal",
        bare(&[
            Calls(
                "openDiff",
                r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"x","tab_name":"t"}"#,
            ),
            Refused(-32601, "openDiff"),
            Calls("close_tab", r#"{"tab_name":"t"}"#),
            Result(&["TAB_CLOSED"]),
        ]),
    ),
    claim("calls 7", "decided in the terminal: close_tab ends the request that is never cancelled")
        .test(REPLAY, "open_diff_ends_with_its_tab"),
    claim("calls 8", "Escape in the terminal has the same effect").test(PAIR, "diff_decided_in_terminal_ends_with_tab"),
    claim("calls 9", "the client closes with 1000, or just disappears")
        .test(PAIR, "leaving_agent_ends_its_diffs"),
    claim("what the model sees", "getDiagnostics and executeCode, if they are listed")
        .elsewhere("the client decides; see `Tool`"),
    claim("models 1", "a server in --mcp-config with `type: ws` gives the model all its tools: at /models these are the tools for models")
        .test(MODELS, "model_is_offered_only_marked_tools"),
    claim("models 2", "the client sends the sub-protocol `mcp` and the token there too, and no `Origin`: the rules are the same")
        .test(REFUSALS, "n01_h09_models_target_has_the_same_rules"),
    claim("models 3", "selection, mentions and diffs stay with the connection of --ide")
        .test(MODELS, "pushes_and_diffs_do_not_reach_the_model"),
    claim("models 4", "a target that only resembles `/models`, such as `/models/`, is refused: agents attach at `/` and `/mcp`")
        .test(MODELS, "targets_that_resemble_models_give_no_rights"),
];
