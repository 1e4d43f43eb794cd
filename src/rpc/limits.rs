//! The limits of one session.

/// The limits of a session. Real peers stay far below the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// How deep objects and arrays may nest, the outermost counted. Default 128, the limit of serde_json for typed
    /// values. It applies to raw values too, so that a later parser accepts them.
    pub depth: usize,
    /// The maximum length of an id in bytes, as it was written, without the quotes of a string. Default 1 KiB.
    pub id: usize,
    /// The maximum length of a method name, in bytes. Default 256.
    pub method: usize,
    /// How many requests of the peer may wait for their answer. Default 256.
    pub open_calls: usize,
    /// The maximum total size, in bytes, of the messages of all open requests of the peer. Default 32 MiB: a few
    /// proposed files of the largest size that an editor accepts. A single request may be larger.
    pub open_bytes: usize,
    /// How many requests of ours may wait for their answer. Default 256. Keepalive pings do not count; an editor's
    /// `roots/list` request does.
    pub requests: usize,
    /// How many received messages may be neither usable nor answerable. After one more, the session reports
    /// [`TooManyFaults`](crate::mcp::ServerEvent::TooManyFaults). Default 8.
    pub faults: usize,
    /// The maximum length, in bytes, of a short text that is passed on: the reason of a cancellation, an error message,
    /// a progress message. A longer one is truncated at a character boundary. Default 4 KiB.
    pub reason: usize,
}

impl SessionLimits {
    /// Returns the name of the first limit that must not be 0 and is.
    #[cfg(feature = "ide")]
    pub(crate) fn first_zero(&self) -> Option<&'static str> {
        let required = [
            ("depth", self.depth),
            ("id", self.id),
            ("method", self.method),
            ("open_calls", self.open_calls),
            ("requests", self.requests),
        ];
        required.into_iter().find(|(_, limit)| *limit == 0).map(|(name, _)| name)
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
