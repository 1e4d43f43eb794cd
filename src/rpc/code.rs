//! The error codes of JSON-RPC 2.0 (section 5.1). A peer may send any integer.

/// The message is not JSON. This crate never sends this code, because such a message has no id, and an answer without
/// an id can start an endless exchange of errors between two peers. The constant is for recognizing the code when a
/// peer sends it.
pub const PARSE_ERROR: i64 = -32700;

/// The envelope is wrong, or the message came at the wrong time.
pub const INVALID_REQUEST: i64 = -32600;

/// The receiver does not serve this method.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// The parameters do not fit the method. MCP also uses this for the name of an unknown tool.
pub const INVALID_PARAMS: i64 = -32602;

/// The request was understood but could not be served: the receiver is busy, or has a fault.
pub const INTERNAL_ERROR: i64 = -32603;

/// The resource does not exist (MCP 2025-11-25, resources).
pub const RESOURCE_NOT_FOUND: i64 = -32002;
