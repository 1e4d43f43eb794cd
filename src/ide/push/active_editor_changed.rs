//! `workspace/didChangeActiveEditor`: another file has the focus. The parameters are a
//! [`Selection`](super::Selection). The real client does not use this notification.

/// The name of the notification, which has a prefix of its own in every dialect.
pub(super) const NAMES: [&str; 2] = ["workspace/didChangeActiveEditor", "workspace/didChangeActiveEditor"];
