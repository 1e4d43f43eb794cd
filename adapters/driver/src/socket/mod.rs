//! Bytes between one socket and one sans-IO connection.

mod conn;
mod idleness;
mod link;
mod refuse_itself;
mod shutdown;

pub use conn::Conn;
pub use link::{BUDGET, Link};
pub use refuse_itself::refuse_itself;
pub use shutdown::Shutdown;
