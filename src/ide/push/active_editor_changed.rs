//! `workspace/didChangeActiveEditor`: another file has the focus. The parameters are a [`Selection`](super::Selection).
//! The real client ignores this notification.

/// The name of the notification, the same in every dialect: its prefix is `workspace/`.
pub(super) const NAMES: [&str; 2] = ["workspace/didChangeActiveEditor", "workspace/didChangeActiveEditor"];
