//! [`Lines`]: the framing of MCP's stdio transport.

use alloc::vec::Vec;

use crate::rpc::NotSent;
use crate::{Outbox, To, buf::Tx};

/// The outbox for MCP over pipes: each line is one message, as MCP's stdio transport requires (2025-11-25, transports).
///
/// After each pass of polls, write [`outgoing`](Self::outgoing) to the pipe, and report with [`written`](Self::written)
/// what it took. The [module](super) shows the loop.
///
/// ```
/// use ide_mcp::{Outbox as _, To, mcp::Lines};
///
/// let mut out = Lines::new();
/// out.message(To::Unsolicited, |text| text.extend_from_slice(b"{\"jsonrpc\":\"2.0\"}"))?;
/// assert_eq!(out.outgoing(), b"{\"jsonrpc\":\"2.0\"}\n");
/// out.written(18);
/// assert_eq!(out.outgoing(), b"");
/// # Ok::<(), ide_mcp::rpc::NotSent>(())
/// ```
#[derive(Debug)]
pub struct Lines(Tx);

impl Lines {
    /// The high-water mark: from 1 MiB on, [`is_full`](Outbox::is_full) returns true. That is room for some large
    /// answers, or thousands of small ones.
    pub const HIGH_WATER_MARK: usize = 1 << 20;

    /// Creates an empty send buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self(Tx::new(Self::HIGH_WATER_MARK))
    }

    /// Returns the bytes to write to the pipe.
    #[must_use]
    pub fn outgoing(&self) -> &[u8] {
        self.0.pending()
    }

    /// Removes the first `n` bytes of [`outgoing`](Self::outgoing), which the pipe took. A larger `n` counts as all of
    /// them.
    pub fn written(&mut self, n: usize) {
        self.0.sent(n);
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Outbox for Lines {
    fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        let buf = self.0.buffer();
        let start = buf.len();
        write(buf);
        let Some(message @ [_, ..]) = buf.get_mut(start..) else { return Ok(()) };
        // Raw JSON of the application may have line breaks, but only between its tokens, where a space means the same.
        message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        buf.push(b'\n');
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.0.is_full()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_one_line() {
        let mut out = Lines::new();
        out.message(To::Unsolicited, |_| {}).unwrap();
        assert_eq!(out.outgoing(), b"");
        out.message(To::Unsolicited, |buf| buf.extend(b"{\r\n\"a\":1\n}")).unwrap();
        out.message(To::Unsolicited, |buf| buf.extend(b"2")).unwrap();
        assert_eq!(out.outgoing(), b"{  \"a\":1 }\n2\n");
        out.written(11);
        assert_eq!(out.outgoing(), b"2\n");
        out.message(To::Unsolicited, |buf| buf.extend(b"3")).unwrap();
        assert_eq!(out.outgoing(), b"2\n3\n");
        out.written(usize::MAX);
        assert_eq!(out.outgoing(), b"");
    }

    #[test]
    fn outbox_is_full_from_the_mark_on() {
        let mut out = Lines::new();
        out.message(To::Unsolicited, |buf| buf.resize(Lines::HIGH_WATER_MARK - 2, b'x')).unwrap();
        assert!(!out.is_full());
        out.message(To::Unsolicited, |buf| buf.push(b'x')).unwrap();
        assert!(out.is_full());
        out.written(2);
        assert!(!out.is_full());
    }
}
