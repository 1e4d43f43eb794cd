//! The pages beside the reference, from `docs/` of the repository. The modules have no items; they are here so that
//! docs.rs shows the pages and other crates can link to them.

/// How to drive the machines in each kind of loop.
#[cfg_attr(doc, doc = include_str!("../docs/embedding.md"))]
pub mod embedding {}

/// What an editor can offer beside tools: prompts, resources, forms and more.
#[cfg_attr(doc, doc = include_str!("../docs/agent.md"))]
pub mod agent {}

/// How to map diagnostics of language servers.
#[cfg_attr(doc, doc = include_str!("../docs/lsp.md"))]
pub mod lsp {}

/// Every message that this crate makes for you, your users or a peer, and what to do about it.
#[cfg_attr(doc, doc = include_str!("../docs/errors.md"))]
pub mod errors {}

/// Frequent questions.
#[cfg_attr(doc, doc = include_str!("../docs/faq.md"))]
pub mod questions {}

/// What the real client does, measured.
#[cfg_attr(doc, doc = include_str!("../docs/evidence.md"))]
pub mod evidence {}

/// The protocol row by row, each with the bytes or the test that shows it.
#[cfg_attr(doc, doc = include_str!("../docs/conformance.md"))]
pub mod conformance {}
