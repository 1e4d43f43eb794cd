//! The request target of each attempt.

use std::fmt;

/// The request target of an attempt: the one in the options, or one of the two that editors use.
#[derive(Debug)]
pub(super) enum Target {
    Set(String),
    Default {
        is_mcp: bool,
        /// True if the other target was answered with 404 in this attempt.
        is_second: bool,
    },
}

impl Target {
    pub(super) fn new(set: Option<String>) -> Self {
        set.map_or(Self::Default { is_mcp: false, is_second: false }, Self::Set)
    }

    /// Switches to the other target after a 404. Returns false if this attempt has tried both.
    pub(super) const fn switch(&mut self) -> bool {
        let Self::Default { is_mcp, is_second: is_second @ false } = self else { return false };
        (*is_mcp, *is_second) = (!*is_mcp, true);
        true
    }

    /// Returns true if this attempt has moved on to the other target.
    pub(super) const fn is_second(&self) -> bool {
        matches!(self, Self::Default { is_second: true, .. })
    }

    /// Call this at the end of an attempt. The next one may try both targets again, this one first.
    pub(super) const fn end_attempt(&mut self) {
        if let Self::Default { is_second, .. } = self {
            *is_second = false;
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set(target) => target,
            Self::Default { is_mcp: true, .. } => "/mcp",
            Self::Default { is_mcp: false, .. } => "/",
        })
    }
}
