//! How errors of the core read.

use ide_mcp::rpc::{InvalidMessage, NotAnswered, NotSent, code};
use ide_mcp::ws::{CloseCode, Closed, ProtocolError, SendError};
use std::fmt::Display;

#[test]
fn errors_show_their_texts() {
    let by_peer = |reason: &str| Closed::Remote { code: Some(CloseCode::NORMAL), reason: reason.into() };
    let rows: &[(&dyn Display, &str)] = &[
        (&NotSent::Closed, "the session has ended"),
        (&NotAnswered::Closed, "the session ended before the call was answered"),
        (
            &NotAnswered::Unserializable,
            "the result cannot be written as a JSON object, and the call is still open: answer with one",
        ),
        (
            &NotAnswered::NotAnAnswer,
            "the result does not answer this kind of call: answer as its tool does, or fail it",
        ),
        (&SendError::NotOpen, "the connection is not open yet: wait for `Open`"),
        (&SendError::Full, "the send buffer is full: the peer does not read"),
        (&SendError::NoPendingRequest, "no handshake is pending: wait for `Upgrade`"),
        (
            &SendError::NotOffered,
            "the client did not offer this sub-protocol: accept one that it offers, or none",
        ),
        (&InvalidMessage::NotJson, "not JSON"),
        (&ProtocolError::Unmasked, "frame from a client not masked (RFC 6455 5.1)"),
        (&ProtocolError::InvalidCloseCode(1005), "close code that may not be sent (RFC 6455 7.4): 1005"),
        (&by_peer(""), "the peer closed with 1000"),
        (&by_peer("bye"), "the peer closed with 1000: bye"),
    ];
    for (error, text) in rows {
        assert_eq!(error.to_string(), *text);
    }
    let codes = [code::PARSE_ERROR, code::INVALID_REQUEST, code::METHOD_NOT_FOUND, code::INVALID_PARAMS];
    assert_eq!(codes, [-32700, -32600, -32601, -32602], "as JSON-RPC has them");
}
