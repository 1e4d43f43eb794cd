//! The pages beside the reference, from `docs/` of the repository. The modules have no items, and exist
//! outside of the documentation for the links of other crates.

/// The instructions for driving the machines in each kind of loop.
#[cfg_attr(doc, doc = include_str!("../docs/embedding.md"))]
pub mod embedding {}

/// The features of an editor beside tools: prompts, resources, forms and more.
#[cfg_attr(doc, doc = include_str!("../docs/agent.md"))]
pub mod agent {}

/// The mapping from the diagnostics of language servers.
#[cfg_attr(doc, doc = include_str!("../docs/lsp.md"))]
pub mod lsp {}

/// Every text that this crate makes for a person or a peer.
#[cfg_attr(doc, doc = include_str!("../docs/errors.md"))]
pub mod errors {}

/// Frequent questions and their answers.
#[cfg_attr(doc, doc = include_str!("../docs/faq.md"))]
pub mod questions {}

/// The measured behavior of the real client.
#[cfg_attr(doc, doc = include_str!("../docs/evidence.md"))]
pub mod evidence {}

/// The protocol row by row, with the bytes or the test that shows each row.
#[cfg_attr(doc, doc = include_str!("../docs/conformance.md"))]
pub mod conformance {}
