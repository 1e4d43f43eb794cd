//! The dialects, as data: one file for each dialect, and one list.

mod jetbrains;
mod obsidian;
mod snake_case;
mod vs_code;

use super::AuthFailure;
use super::paths::posix_form;
use alloc::borrow::Cow;

/// Defines [`Dialect`] with a variant for each dialect in the list.
macro_rules! dialects {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $dialect:ident = $file:ident,)*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $dialect,)*
        }

        impl $name {
            /// All dialects.
            pub const ALL: [Self; [$(stringify!($dialect)),*].len()] = [$(Self::$dialect),*];

            pub(crate) const fn rules(self) -> &'static Rules {
                match self {
                    $(Self::$dialect => &$file::RULES,)*
                }
            }
        }
    };
}

dialects! {
    /// How an editor spells the protocol: the names of its tools and notifications, and the shapes of its messages.
    ///
    /// The real client was written for [`VsCode`](Self::VsCode). Use another dialect only for a client that needs it.
    /// Messages from a peer are always *read* in all dialects at once: `open_file` is `openFile`, and
    /// `notifications/ide_connected` is `ide_connected`.
    ///
    /// | | [`VsCode`](Self::VsCode) (default) | [`JetBrains`](Self::JetBrains) | [`SnakeCase`](Self::SnakeCase) | [`Obsidian`](Self::Obsidian) |
    /// | --- | --- | --- | --- | --- |
    /// | names of tools | `openFile` | `openFile` | `open_file`; `openDiff` stays | `openFile` |
    /// | names of arguments | `filePath` | `filePath` | `file_path` | `filePath` |
    /// | rejected diff | `DIFF_REJECTED`, tab | `DIFF_REJECTED` | `DIFF_REJECTED` | `DIFF_REJECTED`, tab |
    /// | `close_tab` | `TAB_CLOSED` always | `OK`, `Tab not found` | `OK`, `Tab not found` | `TAB_CLOSED` always |
    /// | opened file | `Opened file: …`, or JSON | `OK` | `OK` | `Opened file: …`, or JSON |
    /// | file not found | `isError` | a text | a text | `isError` |
    /// | severities | `Error` `Warning` `Information` `Hint` | `ERROR` `WARNING` `INFO` `WEAK_WARNING` | as JetBrains | as VS Code |
    /// | diagnostics | a list for each file | a list for each file | one list, a file in each | a list for each file |
    /// | `C:\w` in pushes, lists and selections | `C:\w` | `/c/w` | `C:\w` | `C:\w` |
    /// | `getDiagnostics` without a file | all files | the file with the focus, as described | all files | all files |
    /// | file of a diagnostic | as in the call, or a URI | as VS Code | a path | as VS Code |
    /// | required by `openDiff`'s schema | all four arguments | all four | `old_file_path`, `new_file_contents` | all four |
    /// | names of notifications | `selection_changed` | `selection_changed` | `notifications/selection_changed` | `selection_changed` |
    /// | selection | all members | `selection`, `text`, `filePath` | `file_path`, `range`, `text` | all members |
    /// | no selection | empty strings, empty range | empty strings, empty range | empty strings, empty range | empty strings, empty range |
    /// | unknown tool | -32602 | -32601 | -32601 | -32602 |
    /// | JSON-RPC ping | none | every 5 s, 3 s to answer | as JetBrains | none |
    /// | target of a client [^2] | `/` | `/` | `/mcp` | `/` |
    /// | sub-protocol `mcp` [^1] | optional | required | as JetBrains | optional |
    /// | wrong token [^1] | 401 | 101, then 1008 | as JetBrains | 401 |
    /// | direct methods | none | none | none | `readFile` and [five more](crate::ide::tool::DirectRequest) |
    ///
    /// [^1]: only with [`ServerConfig::for_dialect`](super::ServerConfig::for_dialect).
    ///
    /// [^2]: only with [`ClientConfig::for_dialect`](super::ClientConfig::for_dialect). An editor accepts `/` and
    /// `/mcp` in every dialect.
    ///
    /// `VsCode` was measured and recorded (docs/protocol.md). `JetBrains` follows a description of the plugin.
    /// `SnakeCase` follows a decompiled plugin; the real client ignores its prefixed notifications (measured).
    /// `Obsidian` follows the description of one plugin; we know of no client that calls its methods.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Dialect {
        /// The dialect of the VS Code extension.
        #[default]
        VsCode = vs_code,
        /// The dialect of the JetBrains plugin, from a description of the plugin.
        JetBrains = jetbrains,
        /// The dialect of a decompiled JetBrains plugin: snake case, and notifications below
        /// `notifications/`.
        SnakeCase = snake_case,
        /// The dialect of VS Code, and six more methods that a client calls directly and not as tools.
        Obsidian = obsidian,
    }
}

impl Dialect {
    /// Returns an absolute path as this dialect writes it.
    pub(crate) fn path(self, path: &str) -> Cow<'_, str> {
        if self.rules().posix_paths { posix_form(path) } else { Cow::Borrowed(path) }
    }
}

/// The data of one dialect.
#[derive(Debug)]
pub(crate) struct Rules {
    /// True if tools, their arguments, and the members of a mention are spelled like `open_file` instead of `openFile`.
    pub(crate) snake_case: bool,
    /// True if the names of notifications begin with `notifications/`.
    pub(crate) notification_prefix: bool,
    /// True if the tab follows `DIFF_REJECTED`.
    pub(crate) reject_includes_tab: bool,
    /// What `close_tab`, `openFile` and `reformat_file` answer.
    pub(crate) wording: Wording,
    /// What `getDiagnostics` answers.
    pub(crate) diagnostics: DiagnosticsForm,
    /// What `getCurrentSelection` and `getLatestSelection` answer.
    pub(crate) selection_answer: SelectionAnswerForm,
    /// True if severities are spelled like `ERROR` instead of `Error`.
    pub(crate) uppercase_severity: bool,
    /// The members of `selection_changed`.
    pub(crate) selection: SelectionForm,
    /// The code of the error for a tool that the editor does not handle.
    pub(crate) unknown_tool: i64,
    /// True if the editor pings the client over JSON-RPC.
    pub(crate) rpc_ping: bool,
    /// The request target of a client. An editor accepts the targets of every dialect.
    pub(crate) target: &'static str,
    /// True if a client must offer the sub-protocol `mcp`.
    pub(crate) subprotocol_required: bool,
    /// How a client without the token is refused.
    pub(crate) auth_failure: AuthFailure,
    /// True if a Windows path is written as `/c/w` instead of `C:\w`.
    pub(crate) posix_paths: bool,
    /// True if the schema of `openDiff` requires only the old path and the text.
    pub(crate) short_diff: bool,
    /// True if the editor serves `readFile` and the other direct methods.
    pub(crate) direct_methods: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectionForm {
    /// `text`, `filePath`, `fileUrl`, `selection` with `isEmpty`.
    Full,
    /// `selection`, `text`, `filePath`.
    Short,
    /// `file_path`, `range`, `text`.
    Ranged,
}

/// How an answer says what was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// A different text for each tool; an error if a file was not found.
    VsCode,
    /// `OK`; a text if a file or a tab was not found.
    JetBrains,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiagnosticsForm {
    /// A list of files, each with its problems.
    PerFile,
    /// One list of problems, each with its file.
    Flat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectionAnswerForm {
    /// `success`, `text`, `filePath`, `selection`.
    WithSuccess,
    /// `file_path`, `text`, `range`.
    Ranged,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::kit::{Position, Range};
    use crate::ide::push::InDialect;
    use crate::ide::tool::{
        CurrentSelection, CursorPosition, FilePaths, LatestSelection, OpenedFiles, Shape as _,
    };
    use crate::ide::{Mention, Selection};
    use alloc::{string::String, vec};

    #[test]
    fn jetbrains_writes_posix_paths() {
        for (path, posix) in [
            ("C:\\w\\a b.rs", "/c/w/a b.rs"),
            ("d:/w/", "/d/w"),
            ("C:\\", "/c"),
            ("\\\\server\\share\\x", "//server/share/x"),
            ("\\\\server\\a:b", "//server/a:b"),
            ("\\\\?\\C:\\w\\a", "/c/w/a"),
            ("\\\\?\\UNC\\server\\share\\x", "//server/share/x"),
            ("\\\\?\\Volume{1}\\x", "//?/Volume{1}/x"),
            ("/home/u/x", "/home/u/x"),
            ("src\\x", "src\\x"),
            ("", ""),
        ] {
            for dialect in Dialect::ALL {
                let expected = if dialect == Dialect::JetBrains { posix } else { path };
                assert_eq!(dialect.path(path), expected, "{dialect:?}");
                let expected = serde_json::to_string(expected).unwrap();
                let selection = || Selection::new(path, Range::default(), "");
                let pushes = [
                    serde_json::to_string(&InDialect(&selection(), dialect)),
                    serde_json::to_string(&InDialect(&Mention::new(path, None), dialect)),
                ];
                let own = path.into();
                let answers = [
                    OpenedFiles { opened_files: vec![path.into()] }.result(dialect).into_owned(),
                    CursorPosition::new(path, Position::default()).result(dialect).into_owned(),
                    CurrentSelection(Some(selection())).result(dialect).into_owned(),
                    LatestSelection(Some(selection())).result(dialect).into_owned(),
                ];
                let paths = FilePaths { paths: vec![own] }.result(dialect).into_owned();
                assert_eq!(paths.texts().next(), Some(&*dialect.path(path)), "{dialect:?}");
                let texts = answers.iter().flat_map(|answer| answer.texts().map(String::from));
                for written in pushes.into_iter().map(Result::unwrap).chain(texts) {
                    assert!(written.contains(&expected), "{dialect:?}: {expected} is not in {written}");
                }
            }
        }
    }
}
