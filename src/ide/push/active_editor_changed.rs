//! `workspace/didChangeActiveEditor`: another file has the focus. The parameters are a
//! [`Selection`](super::Selection). The real client does not use this notification.

/// The name of the notification, equal in every dialect: it has the prefix `workspace/`.
pub(super) const NAMES: [&str; 2] = ["workspace/didChangeActiveEditor", "workspace/didChangeActiveEditor"];
