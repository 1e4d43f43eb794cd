//! JSON-RPC 2.0 between two equal peers: envelopes, ids, and handles for calls and requests.
//!
//! The rules are those of <https://www.jsonrpc.org/specification>, as MCP restricts them: an id is a string or an
//! integer and never null, and `params` is an object. We never send a member that the specification does not name.
//!
//! ```text
//! text ──classify──▶ Message ──▶ Request       a call of the peer: one answer each, named by its CallId
//!                            ──▶ Response      to a request of ours: one outcome each, named by its RequestId
//!                            ──▶ Notification, Batch, PeerError, Invalid
//! ```
//!
//! Method names, session state and framing are elsewhere. So is the cancellation of calls, which belongs to
//! [`mcp`](crate::mcp).

pub mod code;
mod depth;
mod digest;
mod error;
mod handle;
mod id;
mod invalid_message;
mod json;
mod lenient;
mod limits;
mod message;
mod object;
mod refusal;
#[cfg(feature = "ide")]
mod serialized;
pub(crate) mod single_pass;
pub(crate) mod write;

pub(crate) use digest::digest;
pub use error::ErrorObject;
pub use handle::{CallId, RequestId, SessionId};
pub use id::Id;
pub use invalid_message::InvalidMessage;
pub use json::Json;
pub(crate) use lenient::leniently;
pub use lenient::{from_json, normalized};
pub use limits::SessionLimits;
pub use message::{Answer, Message, classify};
pub(crate) use object::{each_member, is_object, members, name_of, read_object, read_owned, text_of};
pub use refusal::{NotAnswered, NotSent};
#[cfg(feature = "ide")]
pub(crate) use serialized::SerializedNotification;
