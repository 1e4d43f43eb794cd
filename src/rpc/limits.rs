//! The limits of one session.

/// The limits of a session. The real peers stay far below the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// The maximum nesting depth of objects and arrays, the outermost counted. Default 128: the
    /// limit of serde_json for typed values. The limit applies to raw values too, so that a later
    /// parser accepts them as well.
    pub depth: usize,
    /// The maximum size of an id as it was written, in bytes. The quotes of a string do not count.
    /// Default 1 KiB.
    pub id: usize,
    /// The maximum size of a method name, in bytes. Default 256.
    pub method: usize,
    /// The maximum number of requests of the peer that wait for their answer. Default 256.
    pub open_calls: usize,
    /// The maximum total size of the messages of the open requests of the peer, in bytes. Default
    /// 32 MiB: a few proposed files of the largest size that an editor accepts. One request alone
    /// can be larger.
    pub open_bytes: usize,
    /// The maximum number of requests of our own that wait for their answer. Default 256. The
    /// keepalive pings of a session do not count. The question of an editor for the folders of its
    /// client counts.
    pub requests: usize,
    /// The maximum number of received texts that can be neither used nor answered. After one more,
    /// the session reports [`TooManyFaults`](crate::mcp::ServerEvent::TooManyFaults). Default 8.
    pub faults: usize,
    /// The maximum size of a reason that is passed on, in bytes. A longer reason is truncated at a
    /// character boundary. Default 4 KiB.
    pub reason: usize,
}

impl SessionLimits {
    /// Returns the name of the first limit that is 0 but has to be larger to open a session.
    #[cfg(feature = "ide")]
    pub(crate) fn first_zero(&self) -> Option<&'static str> {
        let needed = [
            ("depth", self.depth),
            ("id", self.id),
            ("method", self.method),
            ("open_calls", self.open_calls),
            ("requests", self.requests),
        ];
        needed.into_iter().find(|(_, limit)| *limit == 0).map(|(name, _)| name)
    }
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            depth: 128,
            id: 1024,
            method: 256,
            open_calls: 256,
            open_bytes: 32 * 1024 * 1024,
            requests: 256,
            faults: 8,
            reason: 4 * 1024,
        }
    }
}
