//! The dialects, as data: one file a dialect, and one list.

mod jetbrains;
mod obsidian;
mod snake_case;
mod vs_code;

/// Defines [`Dialect`] with a variant for each listed dialect.
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
    /// How an editor speaks: the names of its tools, and the shapes of what it says.
    ///
    /// The real client was written for the first one; use another only for a client that needs it. What is *received* is
    /// understood in all of them at once: `open_file` is `openFile`, and `notifications/ide_connected` is `ide_connected`.
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
    /// | names of notifications | `selection_changed` | `selection_changed` | `notifications/selection_changed` | `selection_changed` |
    /// | selection | all members | `selection`, `text`, `filePath` | `file_path`, `range`, `text` | all members |
    /// | no selection | empty texts, empty range | empty texts, empty range | empty texts, empty range | empty texts, empty range |
    /// | unknown tool | -32602 | -32601 | -32601 | -32602 |
    /// | JSON-RPC ping | none | every 5 s, 3 s to answer | as JetBrains | none |
    /// | direct methods | none | none | none | `readFile` and [five more](super::DirectRequest) |
    ///
    /// `VsCode` is what was measured and recorded (docs/evidence.md). `JetBrains` is a description of the plugin,
    /// `SnakeCase` what was read from a decompiled one: the real client ignores its prefixed notifications (measured).
    /// `Obsidian` is described for one plugin; nothing is known to send its methods.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Dialect {
        /// As the VS Code extension.
        #[default]
        VsCode = vs_code,
        /// As the JetBrains plugin is described.
        JetBrains = jetbrains,
        /// As a decompiled JetBrains plugin: snake case, and notifications below `notifications/`.
        SnakeCase = snake_case,
        /// As VS Code, with six methods that are requests of their own.
        Obsidian = obsidian,
    }
}

/// One dialect.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Tools, their arguments, and the members of a mention are spelled `open_file` and not `openFile`.
    pub(crate) snake_case: bool,
    /// Names of notifications begin with `notifications/`.
    pub(crate) notification_prefix: bool,
    /// `DIFF_REJECTED` is followed by the tab.
    pub(crate) reject_includes_tab: bool,
    /// The answers of `close_tab`, `openFile` and `reformat_file`.
    pub(crate) wording: Wording,
    /// The answer of `getDiagnostics`.
    pub(crate) diagnostics: DiagnosticsForm,
    /// The answers of `getCurrentSelection` and `getLatestSelection`.
    pub(crate) selection_answer: SelectionAnswerForm,
    /// `ERROR` and not `Error`.
    pub(crate) uppercase_severity: bool,
    /// The members of `selection_changed`.
    pub(crate) selection: SelectionForm,
    /// The error for a tool that nobody handles.
    pub(crate) unknown_tool: i64,
    /// The client is pinged over JSON-RPC.
    pub(crate) rpc_ping: bool,
    /// `readFile` and its like are served.
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

/// The words of an answer that reports what was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// A text for each tool; what was not found is an error.
    VsCode,
    /// `OK`; what was not found is a text.
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
