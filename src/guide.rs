//! The chapters of the guide that have code, and the protocol.
//!
//! # In the repository
//!
//! The other pages are only in the repository, in `docs/`; a link to one of them leads here.
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
//! | Decisions, performance, bugs that we found in other projects | `decisions.md`, `performance.md`, `bugs.md` | |
//! | Contributing, and versions | `CONTRIBUTING.md` | |
//!
//! The programs that the chapters quote are in `examples/`.

// The modules have no items. They exist in every build, not just in this crate's documentation, because the
// documentation of other crates links to them.
//
// The chapters link to other pages by labels. Each chapter defines its labels at its end, for readers of the files and
// of the book. In this documentation the definitions of links.md come first, and the first definition of a label
// counts.

/// Your first editor: an agent proposes changes to it, and a person decides.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/first-editor.md"))]
pub mod first_editor {}

/// Your first agent: a program that finds the editor of its folder and uses it.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/first-agent.md"))]
pub mod first_agent {}

/// How to run the server in the loop that you have: threads, descriptors, frames, tokio, your own.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/embedding.md"))]
pub mod embedding {}

/// Proposals, from the call to the verdict, and edits that agents make without asking.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/diffs.md"))]
pub mod diffs {}

/// How the agent learns what the person looks at.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/selections.md"))]
pub mod selections {}

/// How the agent learns of problems (diagnostics), and how to convert those of language servers.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/problems.md"))]
pub mod problems {}

/// What an editor can offer besides its tools: prompts, resources, forms, and tools for the model.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/context.md"))]
pub mod context {}

/// Several agents, several windows, and an editor that restarts.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/several.md"))]
pub mod several {}

/// Security in plain words, and how to ask the person before an agent attaches.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/safety.md"))]
pub mod safety {}

/// How to test your editor: in memory, from a recorded session, and with a fuzzer.
#[cfg_attr(doc, doc = include_str!("guide/links.md"))]
#[cfg_attr(doc, doc = include_str!("../docs/testing.md"))]
pub mod testing {}

/// Which errors are worth a `match`, and what your program should do then.
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
