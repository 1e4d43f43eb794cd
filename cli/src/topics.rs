//! The pages of `ide-mcp help TOPIC`. They are files in the folder of this package, because a published package has no
//! files from outside its folder.

/// A page about a whole topic, for which the help of a command has no room.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// The pages in the order of the help, each if the program has a command that the page is about.
pub(crate) const TOPICS: &[Topic] = &[
    #[cfg(feature = "editor")]
    Topic { name: "config", text: include_str!("../docs/config.md") },
    #[cfg(feature = "editor")]
    Topic { name: "headless", text: include_str!("../docs/headless.md") },
    #[cfg(feature = "agent")]
    Topic { name: "scripts", text: include_str!("../docs/scripts.md") },
    #[cfg(any(feature = "agent", feature = "bridge", feature = "mcp-config", feature = "tap"))]
    Topic { name: "search", text: include_str!("../docs/search.md") },
    #[cfg(any(feature = "bridge", feature = "editor", feature = "mcp-config"))]
    Topic { name: "models", text: include_str!("../docs/models.md") },
    // `findings`, `records` and `protocol` are symbolic links to pages of the repository, so that the package has them.
    #[cfg(feature = "doctor")]
    Topic { name: "findings", text: include_str!("../docs/findings.md") },
    #[cfg(any(feature = "replay", feature = "tap"))]
    Topic { name: "records", text: include_str!("../docs/records.md") },
    #[cfg(any(feature = "plugin", feature = "sidecar"))]
    Topic { name: "protocol", text: include_str!("../docs/protocol.md") },
];
