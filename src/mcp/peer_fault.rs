//! What a peer sent that it should not have, as a session sees it.

use core::fmt;

use super::batch;
use crate::rpc;

/// A rule that a message of the peer broke. The session goes on; the owner may log it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerFault {
    /// The text is no message, or one that breaks a rule of JSON-RPC.
    Message(rpc::InvalidMessage),
    /// An array of messages, which the negotiated version does not have. None of them was looked at.
    Batch,
    /// An array of messages within another, which no version has. None of those within it was looked at.
    NestedBatch,
    /// An array of messages that is empty or has more than 64. None of them was looked at.
    BatchLength,
    /// A response to a request that has already ended: a second answer, or one that crossed our cancellation or came
    /// after our timeout. The last two are nobody's fault.
    LateResponse,
    /// A response to a request that was never sent.
    UnknownResponse,
    /// A method that is a request came without an id. It is not executed.
    RequestWithoutId,
    /// A notification before the session was opened. It is dropped.
    Premature,
    /// Progress that names no open request of ours that asked for it: it crossed our cancellation, or is made up.
    UnknownProgress,
    /// Progress that is not beyond what was reported before. It is dropped.
    StaleProgress,
    /// A list whose page has no readable items or cursor. It is over.
    UnreadableList,
    /// A list whose pages go round in a circle, or are more than the limit. It is over.
    EndlessList,
}

impl From<rpc::InvalidMessage> for PeerFault {
    fn from(fault: rpc::InvalidMessage) -> Self {
        Self::Message(fault)
    }
}

impl fmt::Display for PeerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(fault) => fault.fmt(f),
            Self::Batch => {
                f.write_str("a batch, which version 2025-03-26 alone has: send its messages one by one")
            }
            Self::NestedBatch => f.write_str(
                "a batch within a batch: put its messages into the outer one, or send them one by one",
            ),
            Self::BatchLength => {
                write!(f, "a batch of no messages, or of more than {}: split it, or send none", batch::MOST)
            }
            Self::LateResponse => f.write_str("a response to a request that has ended"),
            Self::UnknownResponse => f.write_str("a response to a request that was never sent"),
            Self::RequestWithoutId => f.write_str("a request without an id"),
            Self::Premature => f.write_str("a notification before the session was opened"),
            Self::UnknownProgress => f.write_str("progress of no open request"),
            Self::StaleProgress => f.write_str("progress that does not go on"),
            Self::UnreadableList => f.write_str("a page of a list that cannot be read"),
            Self::EndlessList => f.write_str("a list without end"),
        }
    }
}
