//! `set_selection`: selects a part of a file.

use super::ToolDef;
use super::arguments::arguments;
use crate::ide::kit::Range;
use alloc::string::String;

arguments! {
    /// `set_selection`, which is known only from a decompiled plugin: selects a part of a file. Answer: [`Done`](crate::ide::tool::Done).
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SetSelection {
        /// The path of the file; `None` for the file that has the focus.
        pub file_path: Option<String> = optional["filePath", "file_path", "path", "uri"]
            "Path of the file; without it, the one that has the focus",
        /// The range to select.
        pub range: Range = range["range", "selection"] "What to select, from 0; the end is exclusive",
    }
}

impl ToolDef for SetSelection {
    const NAME: &'static str = "set_selection";
    const DESCRIPTION: &'static str = "Select a part of a file";
    const OTHER_NAMES: &'static [&'static str] = &["setSelection"];

    fn file(&self) -> Option<&str> {
        self.file_path.as_deref()
    }
}

impl SetSelection {
    /// Selects this range, in the file that has the focus.
    #[must_use]
    pub const fn new(range: Range) -> Self {
        Self { file_path: None, range }
    }
}
