//! What the behaviour tests share: the ten laws as one test, machines to run it on, and two machines joined.

#[cfg(feature = "ide")]
pub mod agents;
pub mod bug;
#[cfg(feature = "ide")]
pub mod calls;
pub mod cost;
pub mod cuts;
#[cfg(feature = "ide")]
pub mod editors;
pub mod frames;
#[cfg(feature = "ide")]
pub mod hosts;
#[cfg(feature = "ide")]
pub mod ide;
pub mod joined;
pub mod law;
pub mod laws;
pub mod mutant;
pub mod plan;
pub mod run;
#[cfg(feature = "ide")]
pub mod said;
pub mod sockets;
pub mod source;
pub mod subject;
pub mod toy;
