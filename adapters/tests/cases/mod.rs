//! The cases, by topic.

pub(crate) mod agents;
pub(crate) mod attaching;
pub(crate) mod bytes;
pub(crate) mod endings;
pub(crate) mod idling;
pub(crate) mod peers;
pub(crate) mod shutdown;
pub(crate) mod starting;
pub(crate) mod waking;
