//! The agent's side, apart from the waiting.

mod connecting;
mod error;
mod options;
mod session;
#[cfg(test)]
mod tests;

pub use connecting::{ConnectError, Trust, address_of};
pub use error::{AgentError, CallError, NotAdmitted};
pub use options::AgentOptions;
pub use session::{AgentSession, AgentStep};
