//! The pages of `ide-mcp help TOPIC`. They are files of this package, since a package contains nothing from
//! outside of its folder.

/// A page about more than one option of a command.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// The pages in the order of the help.
pub(crate) const TOPICS: &[Topic] = &[
    Topic { name: "headless", text: include_str!("../docs/headless.md") },
    Topic { name: "scripts", text: include_str!("../docs/scripts.md") },
    Topic { name: "search", text: include_str!("../docs/search.md") },
    Topic { name: "models", text: include_str!("../docs/models.md") },
];
