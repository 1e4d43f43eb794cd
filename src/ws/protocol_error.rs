//! The rules that a peer can break on an open WebSocket, each with its close code.

use super::CloseCode;
use core::fmt;

/// What the peer did wrong: it broke a rule of RFC 6455, or a limit of this side. That always ends the connection.
///
/// [Causes and reactions](crate::guide::errors#a-connection-ended).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A reserved bit is set although no extension was negotiated (section 5.2).
    ReservedBit,
    /// The opcode is one of 3–7 or 11–15 (section 5.2).
    ReservedOpcode,
    /// A ping, pong or close frame claims more than 125 bytes (section 5.5).
    LongControlFrame,
    /// A ping, pong or close frame is fragmented (section 5.5).
    FragmentedControlFrame,
    /// A 64-bit length has its most significant bit set (section 5.2).
    LengthOutOfRange,
    /// A length is not written in the minimum number of bytes (section 5.2).
    LengthNotMinimal,
    /// A client's frame is not masked (section 5.1).
    Unmasked,
    /// A server's frame is masked (section 5.1).
    Masked,
    /// A continuation frame has no message to continue (section 5.4).
    StrayContinuation,
    /// A new message begins inside a fragmented one (section 5.4).
    InterleavedMessage,
    /// Text, or the reason in a close frame, is not UTF-8 (sections 8.1 and 5.5.1).
    InvalidUtf8,
    /// The body of a close frame is a single byte (section 5.5.1).
    TruncatedCloseCode,
    /// This close code may not be sent (section 7.4).
    InvalidCloseCode(u16),
    /// A message, with all its fragments, is larger than the limit.
    MessageTooBig,
    /// A message has more empty fragments than the limit.
    TooManyEmptyFragments,
    /// A binary message came on a connection that accepts only text; reported by a layer above.
    UnexpectedBinary,
    /// More messages were invalid than a layer above tolerates; reported by that layer.
    TooManyMalformedMessages,
}

impl ProtocolError {
    /// Returns the close code for this error (RFC 6455 section 7.4.1).
    #[must_use]
    pub const fn close_code(self) -> CloseCode {
        match self {
            Self::InvalidUtf8 => CloseCode::INVALID_PAYLOAD,
            Self::MessageTooBig => CloseCode::TOO_BIG,
            Self::TooManyEmptyFragments | Self::TooManyMalformedMessages => CloseCode::POLICY,
            Self::UnexpectedBinary => CloseCode::UNSUPPORTED,
            Self::ReservedBit
            | Self::ReservedOpcode
            | Self::LongControlFrame
            | Self::FragmentedControlFrame
            | Self::LengthOutOfRange
            | Self::LengthNotMinimal
            | Self::Unmasked
            | Self::Masked
            | Self::StrayContinuation
            | Self::InterleavedMessage
            | Self::TruncatedCloseCode
            | Self::InvalidCloseCode(_) => CloseCode::PROTOCOL,
        }
    }

    /// Returns the rule in words, with its section of RFC 6455. The text is also the reason in the close
    /// frame.
    pub(super) const fn rule(self) -> &'static str {
        match self {
            Self::ReservedBit => "reserved bit set without an extension (RFC 6455 5.2)",
            Self::ReservedOpcode => "reserved opcode (RFC 6455 5.2)",
            Self::LongControlFrame => "control frame longer than 125 bytes (RFC 6455 5.5)",
            Self::FragmentedControlFrame => "fragmented control frame (RFC 6455 5.5)",
            Self::LengthOutOfRange => "most significant bit of the length set (RFC 6455 5.2)",
            Self::LengthNotMinimal => "length not in its shortest form (RFC 6455 5.2)",
            Self::Unmasked => "frame from a client not masked (RFC 6455 5.1)",
            Self::Masked => "frame from a server masked (RFC 6455 5.1)",
            Self::StrayContinuation => "continuation without a message (RFC 6455 5.4)",
            Self::InterleavedMessage => "new message inside a fragmented one (RFC 6455 5.4)",
            Self::InvalidUtf8 => "text is not UTF-8 (RFC 6455 8.1)",
            Self::TruncatedCloseCode => "close frame with one byte (RFC 6455 5.5.1)",
            Self::InvalidCloseCode(_) => "close code that may not be sent (RFC 6455 7.4)",
            Self::MessageTooBig => "message larger than the limit",
            Self::TooManyEmptyFragments => "too many empty fragments in a message",
            Self::UnexpectedBinary => "binary message: all messages are text",
            Self::TooManyMalformedMessages => "too many messages that are not JSON-RPC",
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule())?;
        if let Self::InvalidCloseCode(code) = self {
            write!(f, ": {code}")?;
        }
        Ok(())
    }
}

impl core::error::Error for ProtocolError {}
