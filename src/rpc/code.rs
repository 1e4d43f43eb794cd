//! The error codes of JSON-RPC 2.0 (section 5.1). A peer can send any integer.

/// The code for a text that is not JSON. This crate never sends it: a text that cannot be read has
/// no id, and an answer without an id can start an endless exchange of errors between two peers.
/// The constant is for recognizing the code in the messages of a peer.
pub const PARSE_ERROR: i64 = -32700;

/// The code for a message with a wrong envelope, or at the wrong time.
pub const INVALID_REQUEST: i64 = -32600;

/// The code for a method that the receiver does not serve.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// The code for parameters that do not fit the method. MCP uses it for the name of an unknown tool
/// too.
pub const INVALID_PARAMS: i64 = -32602;

/// The code for a request that was understood but could not be served: the receiver is busy, or has
/// a fault.
pub const INTERNAL_ERROR: i64 = -32603;

/// The code of MCP for a resource that does not exist (2025-11-25, resources).
pub const RESOURCE_NOT_FOUND: i64 = -32002;
