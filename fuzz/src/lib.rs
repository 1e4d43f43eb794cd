//! The bodies of the fuzz targets, apart from libFuzzer. `tests/it/corpora.rs` of the root package
//! includes [`targets`] as well, and replays the corpora with every `cargo test`; the tests of `ide-mcp-embed`
//! do so with [`command_lines`], and those of `ide-mcp-capi` with [`capi_calls`].

pub mod capi_calls;
pub mod command_lines;
#[path = "../../tests/model/mod.rs"]
pub mod model;
pub mod sessions;
pub mod support;
pub mod targets;
