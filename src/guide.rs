//! The chapters of the guide that have code, and the protocol.
//!
//! # In the repository
//!
//! The other pages are in `docs/` of the repository alone; a link to one of them leads here.
//!
//! | page | file | in the program |
//! | --- | --- | --- |
//! | From your editor: the plugins | `plugins.md` | `ide-mcp plugin --help` |
//! | The program | `program.md` | `ide-mcp --help` |
//! | It does not work: by symptom | `troubleshooting.md` | `ide-mcp doctor` |
//! | What the doctor finds | `doctor.md` | `ide-mcp help findings` |
//! | Containers and WSL; Windows | `containers.md`, `windows.md` | |
//! | Editors in other languages: the sidecar | `sidecar.md` | `ide-mcp help protocol` |
//! | Records of sessions | `tap.md` | `ide-mcp help records` |
//! | Security, threat by threat | `SECURITY.md` | |
//! | Decisions, performance, bugs that this found | `decisions.md`, `performance.md`, `bugs.md` | |
//! | Contributing, and versions | `CONTRIBUTING.md` | |
//!
//! The programs that the chapters quote are in `examples/`.

// The modules have no items. They exist in every build, not just in this crate's documentation, because the
// documentation of other crates links to them.
//
// The chapters link to other pages by labels, which they define at their end for whoever reads the files or the book.
// Here the definitions of links.md come before those, and the first definition of a label counts.

/// Your first editor: a program to which an agent proposes changes, and in which a person decides.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/first-editor.md"))]
pub mod first_editor {}

/// Your first agent: a program that finds the editor of its folder and uses it.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/first-agent.md"))]
pub mod first_agent {}

/// The server in the loop that you have: threads, descriptors, frames, tokio, your own.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/embedding.md"))]
pub mod embedding {}

/// Proposals, from the call to the verdict, and edits that nobody is asked about.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/diffs.md"))]
pub mod diffs {}

/// What the person looks at, for the agent.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/selections.md"))]
pub mod selections {}

/// Problems for the agent, and how those of language servers become them.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/problems.md"))]
pub mod problems {}

/// What an editor can offer beside tools: prompts, resources, forms, and tools for the model.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/context.md"))]
pub mod context {}

/// Several agents, several windows, and an editor that restarts.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/several.md"))]
pub mod several {}

/// Security in plain words, and a question before an agent attaches.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/safety.md"))]
pub mod safety {}

/// Tests of your editor: in memory, from a record, and by a fuzzer.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/testing.md"))]
pub mod testing {}

/// Which errors are worth a `match`, and what your program does then.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/errors.md"))]
pub mod errors {}

/// The protocol as real clients speak it, with the evidence for each statement.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/protocol.md"))]
pub mod protocol {}

/// The protocol row by row, with the bytes or the test that shows each row.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/conformance.md"))]
pub mod conformance {}
