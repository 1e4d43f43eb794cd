//! What a session can find wrong with the messages of a peer.

use core::fmt;

use super::batch;
use crate::rpc;

/// The rule that a message of the peer broke. The session goes on; log the fault if you like.
///
/// [Causes and reactions](crate::guide::errors#errors-for-the-peer-and-faults-of-the-peer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerFault {
    /// The text is not a message of JSON-RPC, or breaks one of its rules.
    Message(rpc::InvalidMessage),
    /// An array of messages, which the negotiated version does not have. None was processed.
    Batch,
    /// An array of messages within another one, which no version has. None of the inner messages was processed.
    NestedBatch,
    /// An array of messages is empty or has more than 64. None was processed.
    BatchLength,
    /// A response came after its request had ended: a second answer, or an answer that crossed our cancellation or came
    /// after our timeout. In the last two cases the peer is not at fault.
    LateResponse,
    /// A response answers a request that was never sent.
    UnknownResponse,
    /// A message has the method of a request but no id. It is not executed.
    RequestWithoutId,
    /// A notification came before the session was opened, and was dropped.
    Premature,
    /// Progress has no number, or its token belongs to no open request of ours: the request has ended, was sent without
    /// a token, or never existed.
    UnknownProgress,
    /// Progress is not greater than what was reported before, and was dropped.
    StaleProgress,
    /// The items of a page of a list are not an array. The request for the list has ended.
    UnreadableList,
    /// A cursor of a list repeats an earlier one, or is not a string. The request for the list has ended with the items
    /// so far.
    BrokenCursor,
    /// A list has more pages or bytes than the limits allow. The request for it has ended.
    EndlessList,
}

impl fmt::Display for PeerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(fault) => fault.fmt(f),
            Self::Batch => {
                f.write_str("a batch, which only version 2025-03-26 has: send its messages one by one")
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
            Self::UnknownProgress => f.write_str("progress for a request that is not open"),
            Self::StaleProgress => f.write_str("progress that does not increase"),
            Self::UnreadableList => f.write_str("a page of a list has no array of items"),
            Self::BrokenCursor => f.write_str(
                "the cursor of a page repeats an earlier one, or is not a string: the list ends there",
            ),
            Self::EndlessList => f.write_str("a list with more pages or bytes than the limit"),
        }
    }
}
