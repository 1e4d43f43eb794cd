//! The error codes of JSON-RPC 2.0 (section 5.1) that this crate writes. A peer may send any integer.

/// The text is not JSON. Never written: what cannot be read has no id, and an answer without one starts wars of
/// errors between two peers. Here to recognise it.
pub const PARSE_ERROR: i64 = -32700;

/// The envelope is wrong, or the message comes at the wrong time.
pub const INVALID_REQUEST: i64 = -32600;

/// Nobody serves this method.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// The parameters do not fit the method. MCP uses it for the name of an unknown tool too.
pub const INVALID_PARAMS: i64 = -32602;

/// The request was understood and could not be served: busy, or a fault on this side.
pub const INTERNAL_ERROR: i64 = -32603;
