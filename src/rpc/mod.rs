//! JSON-RPC 2.0 between two equals: the envelope, ids, and the two tables that match answers to questions.
//!
//! The rules are those of <https://www.jsonrpc.org/specification>, narrowed as MCP narrows them: an id is a string or
//! an integer and never null, `params` is an object, no member is ever sent that the specification does not name.
//!
//! ```text
//! text ──classify──▶ Message ──▶ Request       ──▶ Calls     (asked of us: one answer each)
//!                            ──▶ Response      ──▶ Requests  (asked by us: one outcome each)
//!                            ──▶ Notification, Batch, PeerError, Invalid
//! ```
//!
//! A request of the one method that matters can be decoded on the way, see [`single_pass`].
//!
//! Nothing here knows a method name, a session's state, or how messages are framed. That the peer cancels a call, and
//! by which notification, is the business of [`mcp`](crate::mcp).

pub mod calls;
pub mod code;
mod depth;
mod digest;
mod error;
mod handle;
mod id;
mod invalid_message;
mod limits;
pub mod message;
mod name;
mod object;
mod refusal;
pub mod requests;
pub mod single_pass;
mod sorted;
mod table;
pub mod write;

pub use calls::Calls;
pub(crate) use digest::digest;
pub use error::ErrorObject;
pub use handle::{CallId, RequestId, SessionId};
pub use id::Id;
pub use invalid_message::InvalidMessage;
pub use limits::SessionLimits;
pub use message::{Answer, Message, classify};
pub(crate) use name::Name;
pub(crate) use object::{each_member, is_object, read_object, text_of};
pub use refusal::{NotOpen, NotSent, RespondError};
pub use requests::Requests;
