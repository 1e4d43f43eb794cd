//! `workspace/didChangeActiveEditor`: the person looks at another file. The parameters are a
//! [`Selection`](super::Selection). The real client has no use for it.

/// The name has a prefix of its own, in every dialect.
pub(super) const NAMES: [&str; 2] = ["workspace/didChangeActiveEditor", "workspace/didChangeActiveEditor"];
