//! `set_permission_mode`: when the client asks for permission.

use super::ToolDef;
use super::arguments::arguments;
use alloc::string::String;

arguments! {
    /// `set_permission_mode`: the client reports when it asks for permission. [`Server`](crate::ide::Server) answers
    /// for you; do not list this tool. Answer: [`Done`](crate::ide::tool::Done).
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SetPermissionMode {
        /// The name of the mode: `default`, `acceptEdits`, `plan`, `bypassPermissions`, or any other.
        pub mode: String = required["mode"] "Name of the mode",
    }
}

impl ToolDef for SetPermissionMode {
    const NAME: &'static str = "set_permission_mode";
    const DESCRIPTION: &'static str = "Say in which mode the client asks for permission";
    const OTHER_NAMES: &'static [&'static str] = &["setPermissionMode"];
    const IS_BUILT_IN: bool = true;
}

impl SetPermissionMode {
    /// Creates the arguments for this mode.
    #[must_use]
    pub fn new(mode: impl Into<String>) -> Self {
        Self { mode: mode.into() }
    }
}
