//! How editor families differ, the direct methods, and forms that the crate reads although no dialect here uses them.

use super::row::{
    Offers::{Nothing, These},
    Proof::{Editor, Reads, Test},
    Row,
    Step::*,
    answers, jet_brains, obsidian, read, read_as, row, snake_case, vs_code,
};
use super::tools::selected;
use ide_mcp::ide::Dialect::{JetBrains, SnakeCase};
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    ClosedDiffTabs, CurrentSelection, Diagnostic, Diagnostics, DiffOutcome, DirectAnswer, FileDiagnostics,
    FilePaths, OpenEditors, OpenedFile, Severity, TabClosed, Tool, WorkspaceFolders, WorkspaceInfo,
};

fn problems() -> Diagnostics {
    let range = Range::new(Position::new(10, 5), Position::new(10, 8));
    Diagnostics {
        files: vec![FileDiagnostics::new("file:///w/a", vec![Diagnostic::new(Severity::Hint, range, "m")])],
    }
}

pub const ROWS: &[Row] = &[
    row(
        "JetBrains, rejected",
        "one block",
        jet_brains(&[
            Calls("openDiff", r#"{"old_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "", tab_name: "t" })"#,
            ),
            answers!(OpenDiff, DiffOutcome::Rejected { tab_name: "t".into() }),
            Result(&["DIFF_REJECTED"]),
        ]),
    ),
    row(
        "JetBrains, accepted",
        "two blocks",
        jet_brains(&[
            Calls("openDiff", r#"{"old_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "", tab_name: "t" })"#,
            ),
            answers!(OpenDiff, DiffOutcome::Accepted { contents: "x".into() }),
            Result(&["FILE_SAVED", "x"]),
        ]),
    ),
    row(
        "JetBrains, close_tab",
        "the answer says whether the tab was open",
        Editor(
            JetBrains,
            These(&[Tool::OpenDiff]),
            &[
                Calls("openDiff", r#"{"old_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#),
                AppGets(
                    r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "", tab_name: "t" })"#,
                ),
                Calls("close_tab", r#"{"tab_name":"t"}"#),
                AppGets("diff t TabClosed"),
                Wrote(
                    r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"DIFF_REJECTED"}]}}"#,
                ),
                Result(&["OK"]),
                Calls("close_tab", r#"{"tab_name":"t"}"#),
                Result(&["Tab not found"]),
            ],
        ),
    ),
    row(
        "JetBrains, openFile",
        "OK, or the message for a missing file",
        jet_brains(&[
            Calls("openFile", r#"{"filePath":"/w/a","makeFrontmost":true}"#),
            AppGets(
                r#"OpenFile(OpenFile { file_path: "/w/a", preview: false, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: true, start_line: None, end_line: None })"#,
            ),
            answers!(OpenFile, OpenedFile::focused("/w/a", None)),
            Result(&["OK"]),
            Calls("openFile", r#"{"filePath":"/w/b","makeFrontmost":true}"#),
            AppGets(
                r#"OpenFile(OpenFile { file_path: "/w/b", preview: false, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: true, start_line: None, end_line: None })"#,
            ),
            answers!(OpenFile, OpenedFile::NotFound { path: "/w/b".into() }),
            Result(&["Project is closed or directory not found"]),
        ]),
    ),
    row(
        "JetBrains, severities",
        "in capitals",
        jet_brains(&[
            Calls("getDiagnostics", "{}"),
            AppGets("GetDiagnostics(GetDiagnostics { uri: None })"),
            answers!(GetDiagnostics, problems()),
            Result(&[
                r#"[{"uri":"file:///w/a","diagnostics":[{"message":"m","severity":"WEAK_WARNING","range":{"start":{"line":10,"character":5},"end":{"line":10,"character":8}}}]}]"#,
            ]),
        ]),
    ),
    row(
        "JetBrains, unknown tool",
        "-32601",
        Editor(JetBrains, Nothing, &[Calls("getOpenEditors", "{}"), Refused(-32601, "getOpenEditors")]),
    ),
    row(
        "JetBrains, ping",
        "sent after 5 s of silence; the client has 3 s to answer",
        Editor(
            JetBrains,
            Nothing,
            &[
                At(5_000),
                Wrote(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
                ClientSends(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            ],
        ),
    ),
    row(
        "JetBrains, rules for clients",
        "the targets `/` and `/mcp`, as in every dialect; the sub-protocol required, 1008 for a wrong token, and pings, by `ServerConfig::for_dialect`",
        Test("tests/it/presets.rs", "dialect_brings_its_rules_for_clients"),
    ),
    row(
        "JetBrains, paths",
        "a Windows path in pushes and lists is `/c/w`, as described",
        Test("src/ide/dialect/mod.rs", "jetbrains_writes_posix_paths"),
    ),
    row(
        "snake case, openDiff",
        "the schema requires the old path and the text; that of every other dialect requires all four arguments, as JetBrains 0.1.14 does",
        Test("src/ide/tool/declaration.rs", "snake_open_diff_requires_two_arguments"),
    ),
    row(
        "snake case, names",
        "listed as open_file {file_path}",
        Editor(
            SnakeCase,
            These(&[Tool::CheckDocumentDirty]),
            &[
                ClientSends(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#),
                Wrote(
                    r##"{"jsonrpc":"2.0","id":9,"result":{"tools":[{"name":"check_document_dirty","description":"Check whether a file has changes that are not saved","inputSchema":{"type":"object","properties":{"file_path":{"type":"string","description":"Path of the file"}},"required":["file_path"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}}]}}"##,
                ),
            ],
        ),
    ),
    row(
        "snake case, list_opened_files",
        "one path per line",
        snake_case(&[
            Calls("list_opened_files", "{}"),
            AppGets("GetAllOpenedFilePaths(GetAllOpenedFilePaths)"),
            answers!(GetAllOpenedFilePaths, FilePaths { paths: vec!["/w/a".into()] }),
            Result(&["/w/a"]),
        ]),
    ),
    row(
        "snake case, get_selection",
        "a range",
        snake_case(&[
            Calls("get_selection", "{}"),
            AppGets("GetCurrentSelection(GetCurrentSelection)"),
            answers!(GetCurrentSelection, CurrentSelection(Some(selected()))),
            Result(&[
                r#"{"file_path":"/w/a.rs","text":"ab","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":4}}}"#,
            ]),
        ]),
    ),
    row(
        "snake case, get_diagnostics",
        "one flat list",
        snake_case(&[
            Calls("get_diagnostics", r#"{"file_path":"/w/a"}"#),
            AppGets("edit of /w/a"),
            AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("/w/a") })"#),
            answers!(GetDiagnostics, problems()),
            Result(&[
                r#"{"diagnostics":[{"file_path":"/w/a","line":10,"column":5,"severity":"WEAK_WARNING","message":"m"}]}"#,
            ]),
        ]),
    ),
    row(
        "any dialect is understood",
        "open_file, sent to an editor that lists openFile",
        vs_code(&[
            Calls("open_file", r#"{"file_path":"/w/a"}"#),
            AppGets(
                r#"OpenFile(OpenFile { file_path: "/w/a", preview: false, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: true, start_line: None, end_line: None })"#,
            ),
            Calls("get_workspace_folders", "{}"),
            AppGets("GetWorkspaceFolders(GetWorkspaceFolders)"),
        ]),
    ),
    row(
        "readFile",
        "the text is the result",
        obsidian(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"readFile","params":{"path":"/notes/a..b.md"},"id":1}"#),
            AppGets(r#"ReadFile(ReadFile { path: "notes/a..b.md" })"#),
            AnswersRequest(|call| call.respond_direct(&DirectAnswer::Contents("x".into())).unwrap()),
            Wrote(r#"{"jsonrpc":"2.0","id":1,"result":"x"}"#),
        ]),
    ),
    row(
        "readFile, outside the workspace",
        "-32603 with the reason, and the application is not asked",
        obsidian(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"readFile","params":{"path":"a/../../q"},"id":1}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the path is refused, it leaves the workspace with ..: \"a/../../q\""}}"#,
            ),
            ClientSends(r#"{"jsonrpc":"2.0","method":"readFile","params":{"path":"~/q"},"id":2}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the path is refused, a leading ~ is not expanded: \"~/q\""}}"#,
            ),
        ]),
    ),
    row(
        "readFile, failed",
        "-32603 with the reason of the failure",
        obsidian(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"readFile","params":{"path":"a"},"id":1}"#),
            AppGets(r#"ReadFile(ReadFile { path: "a" })"#),
            AnswersRequest(|call| call.fail("failed to read file: File not found").unwrap()),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"failed to read file: File not found"}}"#,
            ),
        ]),
    ),
    row(
        "writeFile",
        "the application gets the text",
        obsidian(&[
            ClientSends(
                r#"{"jsonrpc":"2.0","method":"writeFile","params":{"path":"a","content":""},"id":1}"#,
            ),
            AppGets(r#"WriteFile(WriteFile { path: "a", content: "" })"#),
            AnswersRequest(|call| call.respond_direct(&DirectAnswer::Written).unwrap()),
            Wrote(r#"{"jsonrpc":"2.0","id":1,"result":{"success":true}}"#),
            ClientSends(r#"{"jsonrpc":"2.0","method":"writeFile","params":{"path":"a"},"id":2}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"the argument content is missing at line 1 column 12"}}"#,
            ),
        ]),
    ),
    row(
        "listFiles",
        "all files, or those that match a pattern",
        obsidian(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"listFiles","params":{"pattern":"*.js"},"id":1}"#),
            AppGets(r#"ListFiles(ListFiles { pattern: Some("*.js") })"#),
            AnswersRequest(|call| call.respond_direct(&DirectAnswer::Files(vec!["a.js".into()])).unwrap()),
            Wrote(r#"{"jsonrpc":"2.0","id":1,"result":["a.js"]}"#),
        ]),
    ),
    row(
        "getWorkspaceInfo",
        "the description of the workspace",
        obsidian(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"getWorkspaceInfo","params":{},"id":4}"#),
            AppGets("GetWorkspaceInfo"),
            AnswersRequest(|call| {
                let info = WorkspaceInfo::new(
                    "workspace-name",
                    "/absolute/path/to/workspace",
                    150,
                    "obsidian-vault",
                );
                call.respond_direct(&DirectAnswer::Workspace(info)).unwrap();
            }),
            Wrote(
                r#"{"jsonrpc":"2.0","id":4,"result":{"name":"workspace-name","path":"/absolute/path/to/workspace","fileCount":150,"type":"obsidian-vault"}}"#,
            ),
        ]),
    ),
    row(
        "getOpenFiles",
        "paths",
        obsidian(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"getOpenFiles","params":{},"id":5}"#),
            AppGets("GetOpenFiles"),
            AnswersRequest(|call| call.respond_direct(&DirectAnswer::Files(vec![])).unwrap()),
            Wrote(r#"{"jsonrpc":"2.0","id":5,"result":[]}"#),
        ]),
    ),
    row(
        "getCurrentFile",
        "a path, or null",
        obsidian(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"getCurrentFile","params":{},"id":6}"#),
            AppGets("GetCurrentFile"),
            AnswersRequest(|call| call.respond_direct(&DirectAnswer::CurrentFile(None)).unwrap()),
            Wrote(r#"{"jsonrpc":"2.0","id":6,"result":null}"#),
        ]),
    ),
    row(
        "direct methods, without `initialize`",
        "served, unless the editor asks a person about each client",
        Test("tests/it/ide_server.rs", "direct_methods_need_a_session_only_for_the_consent"),
    ),
    row(
        "direct methods, by default",
        "-32601: they are off",
        vs_code(&[
            ClientSends(r#"{"jsonrpc":"2.0","method":"readFile","params":{"path":"a"},"id":1}"#),
            Wrote(
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: readFile"}}"#,
            ),
        ]),
    ),
    row(
        "read: flat diagnostics",
        "by file",
        Reads(
            read::<Diagnostics>,
            &[r#"{"diagnostics":[{"file_path":"a","line":10,"column":5,"severity":"ERROR","message":"m"}]}"#],
            r#"Some(Diagnostics { files: [FileDiagnostics { uri: "a", lines_in_file: None, diagnostics: [Diagnostic { message: "m", severity: Error, range: Range { start: Position { line: 10, character: 5 }, end: Position { line: 10, character: 5 } }, source: None, code: None }] }] })"#,
        ),
    ),
    row(
        "read: the diagnostics of LSP 3.17",
        "a number as code becomes a string; without a severity it is an error; tags, data and versions are ignored",
        Reads(
            read::<Diagnostics>,
            &[
                r#"{"uri":"file:///a","version":3,"diagnostics":[{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":2}},"code":2304,"tags":[1],"data":{},"message":"m"}]}"#,
            ],
            r#"Some(Diagnostics { files: [FileDiagnostics { uri: "file:///a", lines_in_file: None, diagnostics: [Diagnostic { message: "m", severity: Error, range: Range { start: Position { line: 1, character: 0 }, end: Position { line: 1, character: 2 } }, source: None, code: Some("2304") }] }] })"#,
        ),
    ),
    row(
        "read: the report of LSP 3.17",
        "has no URI: it is about the file of the call",
        Reads(
            read::<Diagnostics>,
            &[r#"{"kind":"full","items":[]}"#],
            r#"Some(Diagnostics { files: [FileDiagnostics { uri: "", lines_in_file: None, diagnostics: [] }] })"#,
        ),
    ),
    row(
        "read: folders as strings",
        "names and URIs are derived from the paths",
        Reads(
            read::<WorkspaceFolders>,
            &[r#"{"folders":["/w/p"]}"#],
            r#"Some(WorkspaceFolders { folders: [WorkspaceFolder { name: "p", uri: "file:///w/p", path: "/w/p" }] })"#,
        ),
    ),
    row(
        "read: editors instead of tabs",
        "as tabs",
        Reads(
            |result| format!("{:?}", read_as(result).map(|open: OpenEditors| open.tabs.len())),
            &[r#"{"editors":[{"uri":"file:///w/a","name":"a","path":"/w/a"}]}"#],
            "Some(1)",
        ),
    ),
    row(
        "read: a verdict in one block",
        "FILE_SAVED without a text is not a verdict",
        Reads(read::<DiffOutcome>, &["FILE_SAVED"], "None"),
    ),
    row(
        "read: Tab not found",
        "means that the tab was not open",
        Reads(read::<TabClosed>, &["Tab not found"], "Some(TabClosed { found: false })"),
    ),
    row(
        "others: startLine and endLine",
        "lines count from 1",
        vs_code(&[
            Calls("openFile", r#"{"filePath":"/w/a","startLine":3,"endLine":4}"#),
            AppGets(
                r#"OpenFile(OpenFile { file_path: "/w/a", preview: false, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: true, start_line: Some(3), end_line: Some(4) })"#,
            ),
        ]),
    ),
    row(
        "others: getDiagnostics with filePath",
        "as uri",
        vs_code(&[
            Calls("getDiagnostics", r#"{"filePath":"/w/a"}"#),
            AppGets("edit of /w/a"),
            AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("/w/a") })"#),
        ]),
    ),
    row(
        "others: unknown arguments",
        "are ignored",
        vs_code(&[
            Calls("saveDocument", r#"{"filePath":"/w/a","force":{"really":[1]}}"#),
            AppGets(r#"SaveDocument(SaveDocument { file_path: "/w/a" })"#),
        ]),
    ),
    row(
        "others, read: FILE_OPENED",
        "opened",
        Reads(read::<OpenedFile>, &["FILE_OPENED"], r#"Some(InFront { path: "", note: None })"#),
    ),
    row(
        "others, read: another wording for a closed tab",
        "closed",
        Reads(read::<TabClosed>, &["Tab closed successfully"], "Some(TabClosed { found: true })"),
    ),
    row(
        "others, read: closed as JSON",
        "the number is read",
        Reads(read::<ClosedDiffTabs>, &[r#"{"closed":3}"#], "Some(ClosedDiffTabs { count: 3 })"),
    ),
    row(
        "others, read: a bare number of closed tabs",
        "as it is",
        Reads(read::<ClosedDiffTabs>, &["0"], "Some(ClosedDiffTabs { count: 0 })"),
    ),
    row(
        "others, read: a selection that is null",
        "none",
        Reads(read::<CurrentSelection>, &[r#"{"selection":null}"#], "Some(CurrentSelection(None))"),
    ),
    row(
        "others, read: openEditors instead of tabs",
        "as tabs",
        Reads(
            |result| format!("{:?}", read_as(result).map(|open: OpenEditors| open.tabs[0].uri.clone())),
            &[
                r#"{"openEditors":[{"filePath":"/w/a","fileUrl":"file:///w/a","isActive":true,"isDirty":false}]}"#,
            ],
            r#"Some("file:///w/a")"#,
        ),
    ),
    row(
        "others, read: folders as a bare list",
        "names and URIs are derived from the paths",
        Reads(
            read::<WorkspaceFolders>,
            &[r#"["/w/p"]"#],
            r#"Some(WorkspaceFolders { folders: [WorkspaceFolder { name: "p", uri: "file:///w/p", path: "/w/p" }] })"#,
        ),
    ),
    row(
        "others, read: a diagnostic in each block",
        "not understood: its columns begin at 1, which the text does not show",
        Reads(
            read::<Diagnostics>,
            &[r#"{"filePath":"/w/a","line":1,"character":1,"severity":1,"message":"m","source":"s"}"#],
            "None",
        ),
    ),
    row(
        "verdicts, read: DIFF_ACCEPTED, keep",
        "no verdicts",
        Reads(read::<DiffOutcome>, &["DIFF_ACCEPTED", "keep"], "None"),
    ),
    row(
        "verdicts, read: a rejection in one block",
        "rejected",
        Reads(read::<DiffOutcome>, &["DIFF_REJECTED"], r#"Some(Rejected { tab_name: "" })"#),
    ),
    row(
        "verdicts, read: TAB_CLOSED as a verdict",
        "none",
        Reads(read::<DiffOutcome>, &["TAB_CLOSED"], "None"),
    ),
    row(
        "verdicts, read: an edited text",
        "as the person left it, byte for byte",
        Reads(read::<DiffOutcome>, &["FILE_SAVED", "a\r\nb"], r#"Some(Accepted { contents: "a\r\nb" })"#),
    ),
];
