//! The side of an agent, without the waiting.

mod connecting;

pub use connecting::{ConnectError, Trust, address_of};
