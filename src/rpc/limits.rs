//! How much of everything one session takes.

/// The limits of a session. The defaults are what the real peers stay far below.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// How deeply objects and arrays may nest, the outermost counted. Default 128: what serde_json takes for typed
    /// values, applied here to raw ones too, so that a later parser accepts them as well.
    pub depth: usize,
    /// The bytes of an id as it was written, the quotes of a string not counted. Default 1 KiB.
    pub id: usize,
    /// The bytes of a method name. Default 256.
    pub method: usize,
    /// How many requests of the peer may wait for their answer. Default 256.
    pub open_calls: usize,
    /// The maximum size of their messages, in bytes and in sum. Default 32 MiB: a few proposed files of the largest size
    /// that an editor accepts. One call alone may be larger.
    pub open_bytes: usize,
    /// How many requests of our own may wait for theirs. Default 256. The pings of a session's own do not count.
    pub requests: usize,
    /// How many texts that are no message are tolerated before the session should end. Default 8.
    pub faults: usize,
    /// The bytes of a reason that is handed on; the rest is cut off at a character. Default 4 KiB.
    pub reason: usize,
}

impl SessionLimits {
    /// Returns the name of the first limit that is 0 and under which no session can be opened.
    #[must_use]
    pub fn first_zero(&self) -> Option<&'static str> {
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
