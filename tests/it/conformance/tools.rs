//! One row for each tool.

use super::row::{
    Offers::These,
    Proof::{Editor, Reads},
    Row,
    Step::*,
    answers, bare, claim, read, row, vs_code, with_diffs,
};
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    ClosedDiffTabs, CodeOutput, CurrentSelection, CursorPosition, Diagnostic, Diagnostics, DiffOutcome,
    DocumentSaved, DocumentState, Done, EditorTab, FileDiagnostics, FilePaths, LatestSelection, OpenEditors,
    OpenedFile, OpenedFiles, OutputBlock, Reformatted, Severity, TabClosed, Tool, ToolCall, WorkspaceFolder,
    WorkspaceFolders,
};
use ide_mcp::ide::{Dialect::VsCode, Selection, Server};

pub fn selected() -> Selection {
    Selection::new("/w/a.rs", Range::new(Position::new(1, 2), Position::new(1, 4)), "ab")
}

pub const ROWS: &[Row] = &[
    row(
        "openDiff",
        "waits for a person; accepted: two blocks, and the client writes the file",
        vs_code(&[
            Calls(
                "openDiff",
                r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"new","tab_name":"✻ t ⧉"}"#,
            ),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "new", tab_name: "✻ t ⧉" })"#,
            ),
            At(600_000),
            answers!(OpenDiff, DiffOutcome::Accepted { contents: "newer".into() }),
            Result(&["FILE_SAVED", "newer"]),
        ]),
    ),
    row(
        "openDiff, rejected",
        "two blocks, the second of which is the tab",
        vs_code(&[
            Calls(
                "openDiff",
                r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#,
            ),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "", tab_name: "t" })"#,
            ),
            answers!(OpenDiff, DiffOutcome::Rejected { tab_name: "t".into() }),
            Result(&["DIFF_REJECTED", "t"]),
        ]),
    ),
    row(
        "openDiff, other names",
        "one path is enough; without a name, the tab is named after its file",
        vs_code(&[
            Calls("openDiff", r#"{"oldFilePath":"/w/a","newFileContents":"x"}"#),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "x", tab_name: "/w/a" })"#,
            ),
        ]),
    ),
    row(
        "openDiff, not handled",
        "-32601, never a verdict",
        bare(&[
            Calls(
                "openDiff",
                r#"{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#,
            ),
            Refused(-32601, "openDiff"),
        ]),
    ),
    row(
        "close_tab",
        "answered although the tool is unlisted and the tab unknown",
        bare(&[Calls("close_tab", r#"{"tab_name":"t"}"#), Result(&["TAB_CLOSED"])]),
    ),
    row(
        "close_tab, of another tab",
        "goes to an application that handles it",
        Editor(
            VsCode,
            These(&[Tool::CloseTab]),
            &[
                Calls("close_tab", r#"{"path":"/w/a"}"#),
                AppGets(r#"CloseTab(CloseTab { tab_name: "/w/a" })"#),
                answers!(CloseTab, TabClosed { found: true }),
                Result(&["TAB_CLOSED"]),
            ],
        ),
    ),
    row(
        "close_tab, of an open diff",
        "ends the diff, which is answered first",
        vs_code(&[
            Calls("openDiff", r#"{"new_file_path":"/w/a","new_file_contents":"","tab_name":"t"}"#),
            AppGets(
                r#"OpenDiff(OpenDiff { old_file_path: "/w/a", new_file_path: "/w/a", new_file_contents: "", tab_name: "t" })"#,
            ),
            Calls("close_tab", r#"{"tab_name":"t"}"#),
            AppGets("diff t TabClosed"),
            Wrote(
                r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"DIFF_REJECTED"},{"type":"text","text":"t"}]}}"#,
            ),
            Result(&["TAB_CLOSED"]),
        ]),
    ),
    row(
        "closeAllDiffTabs",
        "answered although unlisted, with the number of diffs of this client",
        bare(&[Calls("closeAllDiffTabs", "{}"), Result(&["CLOSED_0_DIFF_TABS"])]),
    ),
    row(
        "closeAllDiffTabs, read",
        "any answer of an editor is read",
        Reads(read::<ClosedDiffTabs>, &["CLOSED_2_DIFF_TABS"], "Some(ClosedDiffTabs { count: 2 })"),
    ),
    row(
        "getDiagnostics",
        "the URI is echoed as it was spelled",
        vs_code(&[
            Calls("getDiagnostics", r#"{"uri":"file:///w/é x.rs"}"#),
            AppGets("edit of /w/é x.rs"),
            AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("file:///w/é x.rs") })"#),
            answers!(GetDiagnostics, {
                let range = Range::new(Position::new(10, 5), Position::new(10, 8));
                let mut problem = Diagnostic::new(Severity::Error, range, "m");
                problem.source = Some("rustc".into());
                problem.code = Some("E0308".into());
                let file = FileDiagnostics::new("file:///w/é x.rs", vec![problem]);
                Diagnostics { files: vec![file] }
            }),
            Result(&[
                r#"[{"uri":"file:///w/é x.rs","diagnostics":[{"message":"m","severity":"Error","range":{"start":{"line":10,"character":5},"end":{"line":10,"character":8}},"source":"rustc","code":"E0308"}]}]"#,
            ]),
        ]),
    ),
    row(
        "getDiagnostics, of all files",
        "without an argument, with an empty one, or with null",
        vs_code(&[
            Calls("getDiagnostics", "{}"),
            AppGets("GetDiagnostics(GetDiagnostics { uri: None })"),
            Calls("getDiagnostics", r#"{"uri":""}"#),
            AppGets("GetDiagnostics(GetDiagnostics { uri: None })"),
            Calls("getDiagnostics", r#"{"uri":null}"#),
            AppGets("GetDiagnostics(GetDiagnostics { uri: None })"),
        ]),
    ),
    row(
        "getDiagnostics, two spellings",
        "accepted if they agree; the answer repeats the first of the names",
        vs_code(&[
            Calls("getDiagnostics", r#"{"filePath":"/w/a b","uri":"file:///w/a%20b"}"#),
            AppGets("edit of /w/a%20b"),
            AppGets(r#"GetDiagnostics(GetDiagnostics { uri: Some("file:///w/a%20b") })"#),
            Calls("getDiagnostics", r#"{"filePath":"/w/a","uri":"file:///w/b"}"#),
            Failed(&["Invalid arguments: uri contradicts the earlier value of uri"]),
        ]),
    ),
    row(
        "openFile",
        "in front or in the background; empty strings count as absent",
        vs_code(&[
            Calls(
                "openFile",
                r#"{"filePath":"/w/a.rs","preview":false,"startText":"","endText":"","selectToEndOfLine":false,"makeFrontmost":true}"#,
            ),
            AppGets(
                r#"OpenFile(OpenFile { file_path: "/w/a.rs", preview: false, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: true, start_line: None, end_line: None })"#,
            ),
            answers!(OpenFile, OpenedFile::focused("/w/a.rs", None)),
            Result(&["Opened file: /w/a.rs"]),
            Calls("openFile", r#"{"uri":"file:///w/a.rs","makeFrontmost":false}"#),
            AppGets(
                r#"OpenFile(OpenFile { file_path: "file:///w/a.rs", preview: false, start_text: None, end_text: None, select_to_end_of_line: false, make_frontmost: false, start_line: None, end_line: None })"#,
            ),
            answers!(OpenFile, OpenedFile::unfocused("/w/a.rs", "rust", 7)),
            Result(&[r#"{"success":true,"filePath":"/w/a.rs","languageId":"rust","lineCount":7}"#]),
        ]),
    ),
    row(
        "getCurrentSelection",
        "the selection, or the answer that no editor is active",
        vs_code(&[
            Calls("getCurrentSelection", "{}"),
            AppGets("GetCurrentSelection(GetCurrentSelection)"),
            answers!(GetCurrentSelection, CurrentSelection(Some(selected()))),
            Result(&[
                r#"{"success":true,"text":"ab","filePath":"/w/a.rs","selection":{"start":{"line":1,"character":2},"end":{"line":1,"character":4},"isEmpty":false}}"#,
            ]),
            Calls("getCurrentSelection", "{}"),
            AppGets("GetCurrentSelection(GetCurrentSelection)"),
            answers!(GetCurrentSelection, CurrentSelection(None)),
            Result(&[r#"{"success":false,"message":"No active editor found"}"#]),
        ]),
    ),
    row(
        "getLatestSelection",
        "as getCurrentSelection, with another answer if there is none",
        vs_code(&[
            Calls("getLatestSelection", "{}"),
            AppGets("GetLatestSelection(GetLatestSelection)"),
            answers!(GetLatestSelection, LatestSelection(Some(selected()))),
            Result(&[
                r#"{"success":true,"text":"ab","filePath":"/w/a.rs","selection":{"start":{"line":1,"character":2},"end":{"line":1,"character":4},"isEmpty":false}}"#,
            ]),
            Calls("getLatestSelection", "{}"),
            AppGets("GetLatestSelection(GetLatestSelection)"),
            answers!(GetLatestSelection, LatestSelection(None)),
            Result(&[r#"{"success":false,"message":"No selection available"}"#]),
        ]),
    ),
    row(
        "getOpenEditors",
        "the tabs, with their known properties",
        vs_code(&[
            Calls("getOpenEditors", "{}"),
            AppGets("GetOpenEditors(GetOpenEditors)"),
            answers!(GetOpenEditors, {
                let mut tab = EditorTab::new("file:///w/a.rs", "a.rs", "rust");
                tab.is_active = true;
                tab.line_count = Some(7);
                OpenEditors { tabs: vec![tab] }
            }),
            Result(&[
                r#"{"tabs":[{"uri":"file:///w/a.rs","isActive":true,"label":"a.rs","languageId":"rust","isDirty":false,"lineCount":7}]}"#,
            ]),
            Calls("getOpenEditors", "{}"),
            AppGets("GetOpenEditors(GetOpenEditors)"),
            answers!(GetOpenEditors, OpenEditors::default()),
            Result(&[r#"{"tabs":[]}"#]),
        ]),
    ),
    row(
        "getWorkspaceFolders",
        "folders, the first of which is the root",
        vs_code(&[
            Calls("getWorkspaceFolders", "{}"),
            AppGets("GetWorkspaceFolders(GetWorkspaceFolders)"),
            answers!(GetWorkspaceFolders, WorkspaceFolders { folders: vec![WorkspaceFolder::new("/w/p")] }),
            Result(&[
                r#"{"success":true,"folders":[{"name":"p","uri":"file:///w/p","path":"/w/p"}],"rootPath":"/w/p"}"#,
            ]),
        ]),
    ),
    row(
        "checkDocumentDirty",
        "for a document that is open, and for one that is not",
        vs_code(&[
            Calls("checkDocumentDirty", r#"{"filePath":"/w/a"}"#),
            AppGets(r#"CheckDocumentDirty(CheckDocumentDirty { file_path: "/w/a" })"#),
            answers!(
                CheckDocumentDirty,
                DocumentState::Open { file_path: "/w/a".into(), is_dirty: true, is_untitled: false }
            ),
            Result(&[r#"{"success":true,"filePath":"/w/a","isDirty":true,"isUntitled":false}"#]),
            Calls("checkDocumentDirty", r#"{"documentUri":"file:///w/b"}"#),
            AppGets(r#"CheckDocumentDirty(CheckDocumentDirty { file_path: "file:///w/b" })"#),
            answers!(CheckDocumentDirty, DocumentState::NotOpen { file_path: "/w/b".into() }),
            Result(&[r#"{"success":false,"message":"Document not open: /w/b"}"#]),
        ]),
    ),
    row(
        "saveDocument",
        "the document is saved, or it was not open",
        vs_code(&[
            Calls("saveDocument", r#"{"uri":"/w/a"}"#),
            AppGets(r#"SaveDocument(SaveDocument { file_path: "/w/a" })"#),
            answers!(
                SaveDocument,
                DocumentSaved::Open { file_path: "/w/a".into(), saved: true, message: "Saved".into() }
            ),
            Result(&[r#"{"success":true,"filePath":"/w/a","saved":true,"message":"Saved"}"#]),
            Calls("saveDocument", r#"{"filePath":"/w/b"}"#),
            AppGets(r#"SaveDocument(SaveDocument { file_path: "/w/b" })"#),
            answers!(SaveDocument, DocumentSaved::NotOpen { file_path: "/w/b".into() }),
            Result(&[r#"{"success":false,"message":"Document not open: /w/b"}"#]),
        ]),
    ),
    row(
        "executeCode",
        "texts and images; it waits for a person",
        vs_code(&[
            Calls("executeCode", r#"{"code":"1"}"#),
            AppGets(r#"ExecuteCode(ExecuteCode { code: "1" })"#),
            At(600_000),
            answers!(ExecuteCode, {
                let image = OutputBlock::Image { data: "AA==".into(), mime_type: "image/png".into() };
                CodeOutput { blocks: vec![OutputBlock::Text("1".into()), image] }
            }),
            Wrote(
                r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"1"},{"type":"image","data":"AA==","mimeType":"image/png"}]}}"#,
            ),
            Calls("executeCode", r#"{"code":"2"}"#),
            AppGets(r#"ExecuteCode(ExecuteCode { code: "2" })"#),
            answers!(ExecuteCode, CodeOutput { blocks: vec![OutputBlock::Text("2".into())] }),
            Result(&["2"]),
        ]),
    ),
    row(
        "executeCode, by default",
        "neither listed nor served",
        with_diffs(&[
            ClientSends(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#),
            Wrote(concat!(
                r#"{"jsonrpc":"2.0","id":9,"result":{"tools":["#,
                r##"{"name":"openDiff","description":"Show a proposed change of a file and wait until it is accepted or rejected","inputSchema":{"type":"object","properties":{"old_file_path":{"type":"string","description":"Path of the file before the change"},"new_file_path":{"type":"string","description":"Path of the file after the change"},"new_file_contents":{"type":"string","description":"The whole proposed text"},"tab_name":{"type":"string","description":"Name of the tab"}},"required":["old_file_path","new_file_path","new_file_contents","tab_name"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}},"##,
                r##"{"name":"close_tab","description":"Close the tab with this name","inputSchema":{"type":"object","properties":{"tab_name":{"type":"string","description":"Name of the tab"}},"required":["tab_name"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}},"##,
                r##"{"name":"closeAllDiffTabs","description":"Close all diffs that this client has opened","inputSchema":{"type":"object","properties":{},"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}}]}}"##
            )),
            Calls("executeCode", r#"{"code":"1"}"#),
            Refused(-32602, "executeCode"),
        ]),
    ),
    row(
        "set_permission_mode",
        "answered although unlisted, and reported to the application",
        bare(&[
            Calls("set_permission_mode", r#"{"mode":"plan"}"#),
            AppGets(r#"PermissionMode { mode: "plan" }"#),
            Result(&["OK"]),
        ]),
    ),
    row(
        "open_files",
        "the paths that were opened",
        vs_code(&[
            Calls("open_files", r#"{"file_paths":["/w/a","/w/b"]}"#),
            AppGets(r#"OpenFiles(OpenFiles { file_paths: ["/w/a", "/w/b"] })"#),
            answers!(OpenFiles, OpenedFiles { opened_files: vec!["/w/a".into()] }),
            Result(&[r#"{"opened_files":["/w/a"]}"#]),
        ]),
    ),
    row(
        "get_all_opened_file_paths",
        "one path per line",
        vs_code(&[
            Calls("get_all_opened_file_paths", "{}"),
            AppGets("GetAllOpenedFilePaths(GetAllOpenedFilePaths)"),
            answers!(GetAllOpenedFilePaths, FilePaths { paths: vec!["/w/a".into(), "/w/b".into()] }),
            Result(&["/w/a\n/w/b"]),
        ]),
    ),
    row(
        "reformat_file",
        "the file is reformatted, or not found",
        vs_code(&[
            Calls("reformat_file", r#"{"file_path":"/w/a"}"#),
            AppGets(r#"ReformatFile(ReformatFile { file_path: "/w/a" })"#),
            answers!(ReformatFile, Reformatted { found: true }),
            Result(&["OK"]),
            Calls("reformat_file", r#"{"filePath":"/w/b"}"#),
            AppGets(r#"ReformatFile(ReformatFile { file_path: "/w/b" })"#),
            answers!(ReformatFile, Reformatted { found: false }),
            Failed(&["File not found"]),
        ]),
    ),
    row(
        "get_cursor_position",
        "line and column count from 0",
        vs_code(&[
            Calls("get_cursor_position", "{}"),
            AppGets("GetCursorPosition(GetCursorPosition)"),
            answers!(GetCursorPosition, CursorPosition::new("/w/a", Position::new(3, 4))),
            Result(&[r#"{"file_path":"/w/a","line":3,"column":4}"#]),
        ]),
    ),
    row(
        "set_cursor_position",
        "in a file, or in the one that has the focus",
        vs_code(&[
            Calls("set_cursor_position", r#"{"line":3,"character":4}"#),
            AppGets("SetCursorPosition(SetCursorPosition { file_path: None, line: 3, column: 4 })"),
            answers!(SetCursorPosition, Done),
            Result(&["OK"]),
        ]),
    ),
    row(
        "set_selection",
        "in a file, or in the one that has the focus",
        vs_code(&[
            Calls(
                "set_selection",
                r#"{"file_path":"/w/a","range":{"start":{"line":0,"character":1},"end":{"line":2,"character":3}}}"#,
            ),
            AppGets(
                r#"SetSelection(SetSelection { file_path: Some("/w/a"), range: Range { start: Position { line: 0, character: 1 }, end: Position { line: 2, character: 3 } } })"#,
            ),
            answers!(SetSelection, Done),
            Result(&["OK"]),
        ]),
    ),
    claim("a tool of the application's own", "comes with its arguments as they are")
        .test("tests/it/ide_server.rs", "calls_arrive_typed"),
];

/// A call and its answer from the rows above, for tests that need examples of each tool.
pub struct Answered {
    pub tool: Tool,
    /// The name and the arguments of the call.
    pub call: (&'static str, &'static str),
    /// Answers the call by the type of its tool.
    pub answer: fn(&mut Server, ToolCall),
    /// The blocks of the answer in VS Code.
    pub texts: &'static [&'static str],
}

/// Returns the calls of the rows that the application answers in an editor with all tools or this one.
pub fn answered() -> Vec<Answered> {
    let mut all = Vec::new();
    for row in ROWS {
        let Editor(VsCode, _, steps) = row.proof else { continue };
        let mut last = None;
        for (step, next) in steps.iter().zip(steps.iter().skip(1)) {
            match (step, next, last) {
                (Calls(name, arguments), ..) => last = Some((*name, *arguments)),
                (Answers(answer), Result(texts), Some(call)) => {
                    let tool = Tool::from_name(call.0).unwrap();
                    all.push(Answered { tool, call, answer: *answer, texts });
                }
                _ => {}
            }
        }
    }
    all
}
