//! Who is at one end of a session.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// Name and version of a program, as both sides send them in `initialize`. Use them only for display: any program can
/// claim any name.
///
/// ```
/// let agent = ide_mcp::mcp::Implementation::new("my-agent", "1.0");
/// assert_eq!((agent.name.as_str(), agent.version.as_str()), ("my-agent", "1.0"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Implementation {
    /// The name of the program.
    pub name: String,
    /// The version of the program, in any form.
    #[serde(default)]
    pub version: String,
}

impl Implementation {
    /// Creates a value from a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into() }
    }
}
