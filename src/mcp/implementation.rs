//! Who is at one end of a session.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// The name and version of a program, as both sides say them in `initialize`. For display only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Implementation {
    /// What the program is called.
    pub name: String,
    /// Its version, in whatever form it has one.
    #[serde(default)]
    pub version: String,
}

impl Implementation {
    /// A program with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into() }
    }
}
