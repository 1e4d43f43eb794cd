//! What a `tools/call` costs (bytes in, a typed call, an answer, bytes out), compared with other
//! implementations.
//!
//! The call is an `openDiff`, because its arguments can have any length. All contestants read its four
//! arguments into owned strings, and answer with the same two blocks.

pub mod calls;
#[cfg(feature = "check")]
pub mod counted;
pub mod hand_written;
pub mod ours;
#[cfg(feature = "peers")]
pub mod rmcp;
pub mod tables;
