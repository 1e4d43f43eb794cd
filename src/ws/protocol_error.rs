//! The rules that a peer can break on an open WebSocket, one variant for each, and the close code for
//! each.

use super::CloseCode;
use core::fmt;

/// A rule of RFC 6455, or a limit of this side, that the peer broke. Every violation ends the
/// connection.
///
/// [Causes and reactions](crate::guide::errors#a-connection-ended).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A reserved bit that is set although no extension was negotiated (section 5.2).
    ReservedBit,
    /// An opcode of 3–7 or 11–15 (section 5.2).
    ReservedOpcode,
    /// A ping, pong or close frame that claims more than 125 bytes (section 5.5).
    LongControlFrame,
    /// A ping, pong or close frame that is fragmented (section 5.5).
    FragmentedControlFrame,
    /// A 64-bit length whose most significant bit is set (section 5.2).
    LengthOutOfRange,
    /// A length that is not written in the fewest possible bytes (section 5.2).
    LengthNotMinimal,
    /// A frame from a client that is not masked (section 5.1).
    Unmasked,
    /// A frame from a server that is masked (section 5.1).
    Masked,
    /// A continuation frame without a message to continue (section 5.4).
    StrayContinuation,
    /// A new message inside a fragmented one (section 5.4).
    InterleavedMessage,
    /// Text, or a reason in a close frame, that is not UTF-8 (sections 8.1 and 5.5.1).
    InvalidUtf8,
    /// A body of a close frame that is a single byte (section 5.5.1).
    TruncatedCloseCode,
    /// A close code that may not be sent (section 7.4).
    InvalidCloseCode(u16),
    /// A message, or a sum of fragments, that is larger than the limit.
    MessageTooBig,
    /// A message with more empty fragments than the limit.
    TooManyEmptyFragments,
    /// A binary message on a connection that accepts only text; a layer above reports it.
    UnexpectedBinary,
    /// More texts that are no messages than a layer above tolerates; that layer reports it.
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
