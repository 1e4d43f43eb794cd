//! The versions of MCP that have a handshake, and how one of them is chosen.

use core::fmt;

/// A version of MCP that this crate supports. The variants are in the order of publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// Version 2024-11-05, the first.
    V2024_11_05,
    /// Version 2025-03-26.
    V2025_03_26,
    /// Version 2025-06-18.
    V2025_06_18,
    /// Version 2025-11-25, the last one with a handshake.
    V2025_11_25,
}

impl ProtocolVersion {
    /// The newest version. A client offers it by default, and a server answers with it if it does not know the offered
    /// version.
    pub const NEWEST: Self = Self::V2025_11_25;

    /// Returns the version with this name; `None` if it is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25]
            .into_iter()
            .find(|version| version.as_str() == name)
    }

    /// Returns the name of the version.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }

    /// Returns the version with which a server answers an offer: the offered one if it is known, else the newest.
    pub(super) fn negotiate(offer: Option<&str>) -> Self {
        offer.and_then(Self::from_name).unwrap_or(Self::NEWEST)
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
