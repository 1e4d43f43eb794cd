//! Notifications, in both directions.

use super::row::{
    Offers::Nothing,
    Proof::{Agent, Editor},
    Row,
    Step::*,
    bare, claim, row, vs_code,
};
use super::tools::selected;
use ide_mcp::ide::kit::Range;
use ide_mcp::ide::tool::{Diagnostic, FileDiagnostics, Severity};
use ide_mcp::ide::{
    DiagnosticsChanged,
    Dialect::{JetBrains, SnakeCase},
    Mention, Selected, Selection,
};

fn now() -> DiagnosticsChanged {
    let problem = Diagnostic::new(Severity::Information, Range::default(), "m");
    DiagnosticsChanged::Now(FileDiagnostics::new("file:///w/a", vec![problem]))
}

pub const ROWS: &[Row] = &[
    row(
        "selection_changed",
        "all members, the URL not encoded",
        bare(&[
            Does(|editor| assert_eq!(editor.select(selected()), Selected::Whole)),
            Wrote(
                r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"ab","filePath":"/w/a.rs","fileUrl":"file:///w/a.rs","selection":{"start":{"line":1,"character":2},"end":{"line":1,"character":4},"isEmpty":false}}}"#,
            ),
        ]),
    ),
    row(
        "selection_changed, cleared",
        "an empty text, an empty path and an empty range: the client removes the selection (measured)",
        bare(&[
            Does(|editor| assert_eq!(editor.select(Selection::cleared()), Selected::Whole)),
            Wrote(
                r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"","filePath":"","fileUrl":"","selection":{"start":{"line":0,"character":0},"end":{"line":0,"character":0},"isEmpty":true}}}"#,
            ),
        ]),
    ),
    row(
        "selection_changed, JetBrains",
        "three members",
        Editor(
            JetBrains,
            Nothing,
            &[
                Does(|editor| assert_eq!(editor.select(selected()), Selected::Whole)),
                Wrote(
                    r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"selection":{"start":{"line":1,"character":2},"end":{"line":1,"character":4}},"text":"ab","filePath":"/w/a.rs"}}"#,
                ),
            ],
        ),
    ),
    row(
        "selection_changed, JetBrains, cleared",
        "three members, none of them null: the client drops those with a null (measured)",
        Editor(
            JetBrains,
            Nothing,
            &[
                Does(|editor| assert_eq!(editor.select(Selection::cleared()), Selected::Whole)),
                Wrote(
                    r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"selection":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"","filePath":""}}"#,
                ),
            ],
        ),
    ),
    row(
        "selection_changed, snake case",
        "below notifications/, with a range",
        Editor(
            SnakeCase,
            Nothing,
            &[
                Does(|editor| assert_eq!(editor.select(selected()), Selected::Whole)),
                Wrote(
                    r#"{"jsonrpc":"2.0","method":"notifications/selection_changed","params":{"file_path":"/w/a.rs","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":4}},"text":"ab"}}"#,
                ),
            ],
        ),
    ),
    row(
        "selection_changed, read",
        "by either name, in any shape",
        Agent(
            "notifications/selection_changed",
            r#"{"file_path":"/foo/bar.txt","range":{"start":{"line":10,"character":5},"end":{"line":10,"character":20}}}"#,
            r#"Pushed(SelectionChanged(Selection { text: "", file_path: "/foo/bar.txt", file_url: None, range: Range { start: Position { line: 10, character: 5 }, end: Position { line: 10, character: 20 } } }))"#,
        ),
    ),
    row(
        "selection_changed, read, nulls",
        "as cleared",
        Agent(
            "selection_changed",
            r#"{"selection":null,"text":null,"filePath":null}"#,
            r#"Pushed(SelectionChanged(Selection { text: "", file_path: "", file_url: None, range: Range { start: Position { line: 0, character: 0 }, end: Position { line: 0, character: 0 } } }))"#,
        ),
    ),
    row(
        "at_mentioned",
        "lines from 0, the last one included; both or none",
        bare(&[
            Does(|editor| editor.mention(Mention::new("/w/a", Some((28, 29)))).unwrap()),
            Wrote(
                r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/w/a","lineStart":28,"lineEnd":29}}"#,
            ),
            At(100),
            Does(|editor| editor.mention(Mention::new("/w/a", None)).unwrap()),
            Wrote(r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/w/a"}}"#),
        ]),
    ),
    row(
        "at_mentioned, snake case",
        "below notifications/",
        Editor(
            SnakeCase,
            Nothing,
            &[
                Does(|editor| editor.mention(Mention::new("/w/a", Some((1, 2)))).unwrap()),
                Wrote(
                    r#"{"jsonrpc":"2.0","method":"notifications/at_mentioned","params":{"file_path":"/w/a","line_start":1,"line_end":2}}"#,
                ),
            ],
        ),
    ),
    row(
        "at_mentioned, read",
        "with null lines",
        Agent(
            "at_mentioned",
            r#"{"filePath":"/w/a","lineStart":null,"lineEnd":null}"#,
            r#"Pushed(AtMentioned(Mention { file_path: "/w/a", lines: None, line_count: None }))"#,
        ),
    ),
    row(
        "at_mentioned, read, startLine",
        "as lineStart",
        Agent(
            "at_mentioned",
            r#"{"filePath":"/w/a","startLine":1,"endLine":2}"#,
            r#"Pushed(AtMentioned(Mention { file_path: "/w/a", lines: Some((1, 2)), line_count: None }))"#,
        ),
    ),
    row(
        "diagnostics_changed",
        "the files to ask for again",
        bare(&[
            Does(|editor| {
                let stale = DiagnosticsChanged::Stale { uris: vec!["file:///w/a".into()] };
                assert_eq!(editor.server.diagnostics_changed(stale), []);
            }),
            Wrote(r#"{"jsonrpc":"2.0","method":"diagnostics_changed","params":{"uris":["file:///w/a"]}}"#),
        ]),
    ),
    row(
        "diagnostics_changed, JetBrains",
        "the problems of one file",
        Editor(
            JetBrains,
            Nothing,
            &[
                Does(|editor| assert_eq!(editor.server.diagnostics_changed(now()), [])),
                Wrote(
                    r#"{"jsonrpc":"2.0","method":"diagnostics_changed","params":{"uri":"file:///w/a","diagnostics":[{"message":"m","severity":"INFO","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}]}}"#,
                ),
            ],
        ),
    ),
    row(
        "diagnostics_changed, read",
        "in either shape",
        Agent(
            "diagnostics_changed",
            r#"{"uris":["file:///w/a"]}"#,
            r#"Pushed(DiagnosticsChanged(Stale { uris: ["file:///w/a"] }))"#,
        ),
    ),
    row(
        "diagnostics_changed, read, JetBrains",
        "in either shape",
        Agent(
            "diagnostics_changed",
            r#"{"uri":"file:///w/a","diagnostics":[]}"#,
            r#"Pushed(DiagnosticsChanged(Now(FileDiagnostics { uri: "file:///w/a", lines_in_file: None, diagnostics: [] })))"#,
        ),
    ),
    row(
        "workspace/didChangeActiveEditor",
        "the selection of the other editor",
        bare(&[
            Does(|editor| assert_eq!(editor.server.active_editor_changed(selected()), [])),
            Wrote(
                r#"{"jsonrpc":"2.0","method":"workspace/didChangeActiveEditor","params":{"text":"ab","filePath":"/w/a.rs","fileUrl":"file:///w/a.rs","selection":{"start":{"line":1,"character":2},"end":{"line":1,"character":4},"isEmpty":false}}}"#,
            ),
        ]),
    ),
    claim("notifications/tools/list_changed", "and the selection again, once the tools were listed")
        .test("tests/it/ide_server.rs", "i38_selection_is_resent_after_tools_change"),
    row(
        "notifications/tools/list_changed, read",
        "as the event `ToolsChanged`",
        Agent("notifications/tools/list_changed", "{}", "ToolsChanged"),
    ),
    row(
        "ide_connected",
        "with the process of the client",
        vs_code(&[
            ClientSends(
                r#"{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":54321,"isPluginVersionUnsupported":true}}"#,
            ),
            AppGets("IdeConnected { pid: Some(54321), is_version_unsupported: true }"),
            ClientSends(
                r#"{"jsonrpc":"2.0","method":"notifications/ide_connected","params":{"project_path":"/w","pid":"x"}}"#,
            ),
            AppGets("IdeConnected { pid: None, is_version_unsupported: false }"),
            ClientSends(r#"{"jsonrpc":"2.0","method":"ide_connected"}"#),
            AppGets("IdeConnected { pid: None, is_version_unsupported: false }"),
        ]),
    ),
    row(
        "ide_connected, as a request",
        "answered",
        vs_code(&[
            ClientSends(r#"{"jsonrpc":"2.0","id":"x","method":"ide_connected","params":{"pid":1}}"#),
            AppGets("IdeConnected { pid: Some(1), is_version_unsupported: false }"),
            Wrote(r#"{"jsonrpc":"2.0","id":"x","result":{}}"#),
        ]),
    ),
    claim("notifications/initialized", "opens the session; some clients send initialized")
        .test("tests/it/ide_server.rs", "initialized_without_prefix_is_accepted"),
    claim("notifications/cancelled", "ends the call, without an answer")
        .test("tests/it/ide_server.rs", "cancelled_diff_is_reported_and_never_answered"),
    row(
        "log_event",
        "reaches the application as it is",
        vs_code(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"log_event","params":{"a":1}}"#),
            AppGets(r#"Notification { method: "log_event", params: Some(RawValue({"a":1})) }"#),
        ]),
    ),
];
