//! What the answers of `checkDocumentDirty` and `saveDocument` have in common.

use alloc::{format, string::String};
use serde::{Deserialize, Serialize};

/// The members of all answers about a file. Those that an answer does not have are left out.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DocumentReply {
    pub(super) success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_dirty: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_untitled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) saved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
}

const NOT_OPEN: &str = "Document not open: ";

impl DocumentReply {
    pub(super) fn not_open(path: &str) -> Self {
        Self { message: Some(format!("{NOT_OPEN}{path}")), ..Self::default() }
    }

    /// Returns the path, if the answer says that the file is not open.
    pub(super) fn is_not_open(&self) -> Option<String> {
        self.message.as_deref().filter(|_| !self.success)?.strip_prefix(NOT_OPEN).map(String::from)
    }
}
