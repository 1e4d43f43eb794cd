//! The faults in the messages of a peer, as a session finds them.

use core::fmt;

use super::batch;
use crate::rpc;

/// A rule that a message of the peer broke. The session goes on; the application can log the fault.
///
/// [Causes and reactions](crate::guide::errors#errors-for-the-peer-and-faults-of-the-peer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerFault {
    /// A text that is no message, or a message that breaks a rule of JSON-RPC.
    Message(rpc::InvalidMessage),
    /// An array of messages, which the negotiated version does not have. None of the messages was
    /// processed.
    Batch,
    /// An array of messages within another array, which no version has. None of the inner messages
    /// was processed.
    NestedBatch,
    /// An array of messages that is empty or has more than 64 elements. None of the messages was
    /// processed.
    BatchLength,
    /// A response to a request that has already ended: a second answer, an answer that crossed our
    /// cancellation, or an answer after our timeout. In the last two cases no side is at fault.
    LateResponse,
    /// A response to a request that was never sent.
    UnknownResponse,
    /// A method of a request, in a message without an id. The request is not executed.
    RequestWithoutId,
    /// A notification before the session was opened. The session drops it.
    Premature,
    /// Progress without a number, or with a token that belongs to no open request of ours. The
    /// request has ended, was sent without a token, or never existed.
    UnknownProgress,
    /// Progress that is not greater than the progress reported before. The session drops it.
    StaleProgress,
    /// A list with a page whose items are no array. The request for the list has ended.
    UnreadableList,
    /// A list with a cursor that comes twice, or that is not a string. The request for the list has ended
    /// with the items up to there.
    BrokenCursor,
    /// A list with more pages or bytes than the limits allow. The request for the list has ended.
    EndlessList,
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
            Self::BatchLength => write!(
                f,
                "a batch that is empty or has more than {} messages: split a long batch, and do not send an empty one",
                batch::MOST
            ),
            Self::LateResponse => f.write_str("a response to a request that has ended"),
            Self::UnknownResponse => f.write_str("a response to a request that was never sent"),
            Self::RequestWithoutId => f.write_str("a request without an id"),
            Self::Premature => f.write_str("a notification before the session was opened"),
            Self::UnknownProgress => f.write_str("progress of no open request"),
            Self::StaleProgress => f.write_str("progress that does not go on"),
            Self::UnreadableList => f.write_str("a page of a list has no array of items"),
            Self::BrokenCursor => {
                f.write_str("the cursor of a page came before, or is no string: the list ends there")
            }
            Self::EndlessList => f.write_str("a list without end"),
        }
    }
}
