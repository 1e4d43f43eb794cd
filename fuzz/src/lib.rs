//! The bodies of the fuzz targets, apart from libFuzzer. `tests/it/corpora.rs` of the root package
//! includes [`targets`] as well, and replays the corpora with every `cargo test`; the tests of `ide-mcp-embed`
//! do so with [`command_lines`].

pub mod command_lines;
pub mod sessions;
pub mod support;
pub mod targets;
