//! How the handshake of a client ends.

use alloc::{boxed::Box, string::String};
use core::fmt;

use crate::{
    mcp::{Implementation, ProtocolVersion},
    rpc::{ErrorObject, Json},
};

/// The answer of a server to `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Name and version of the server; `None` if they are missing in its answer or unreadable.
    pub info: Option<Implementation>,
    /// The negotiated version.
    pub protocol_version: ProtocolVersion,
    /// What the server says about itself, for the model of the client.
    pub instructions: Option<String>,
    /// The capabilities that the server declares, as they are written.
    pub capabilities: Option<Json>,
}

#[cfg(feature = "ide")]
impl ServerInfo {
    /// Returns the number of bytes of the strings and the JSON.
    pub(crate) fn content_len(&self) -> usize {
        let info = self.info.as_ref().map_or(0, |info| info.name.len().saturating_add(info.version.len()));
        let instructions = self.instructions.as_deref().map_or(0, str::len);
        let capabilities = self.capabilities.as_deref().map_or(0, |raw| raw.get().len());
        info.saturating_add(instructions).saturating_add(capabilities)
    }
}

/// Why a handshake failed.
///
/// [Causes and reactions](crate::guide::errors#the-agent-cannot-attach).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The server did not answer in time.
    TimedOut,
    /// The server answered with an error.
    Refused(ErrorObject),
    /// The server wants a version that this crate does not support.
    UnknownVersion(Box<str>),
    /// The answer cannot be read.
    Malformed,
    /// The session ended, or was drained, before the answer came.
    Closed,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("the server did not answer in time"),
            Self::Refused(error) => write!(f, "the server refused: {error}"),
            Self::UnknownVersion(version) => {
                write!(f, "the server chose the unknown version {version:?}: update the older of the two")
            }
            Self::Malformed => f.write_str("the answer of the server could not be read"),
            Self::Closed => f.write_str("the session ended before the server answered"),
        }
    }
}

impl core::error::Error for Failure {}
