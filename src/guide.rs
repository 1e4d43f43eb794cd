//! The pages beside the reference. They stand in `docs/` of the repository, and are part of the documentation alone.

/// How each kind of loop drives the machines.
#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}

/// Every text that is made for a person or a peer.
#[doc = include_str!("../docs/errors.md")]
pub mod errors {}

/// What people ask.
#[doc = include_str!("../docs/faq.md")]
pub mod questions {}

/// What the real client was seen to do.
#[doc = include_str!("../docs/evidence.md")]
pub mod evidence {}

/// The protocol row by row, with the bytes or the test that shows each.
#[doc = include_str!("../docs/conformance.md")]
pub mod conformance {}
