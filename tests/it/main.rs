//! The tests of the public API of the core, in one program, so that a change in `src` links once.
//!
//! Each module is a topic. `cargo test --package ide-mcp --test it ws_frames` runs one topic;
//! `support`, `mcp_support` and `sim_support` have the shared code.
#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    clippy::exhaustive_enums,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test states what it expects"
)]
#![cfg_attr(
    not(feature = "ide"),
    allow(dead_code, unused_imports, reason = "the tests of the features that are off use the rest")
)]

#[cfg(feature = "ide")]
mod conformance;
#[cfg(feature = "ide")]
mod corpora;
#[cfg(feature = "ide")]
mod defaults;
#[cfg(feature = "ide")]
mod error_texts;
#[cfg(feature = "ide")]
mod flow;
#[cfg(feature = "ide")]
mod handshake_order;
#[cfg(feature = "ide")]
mod ide_calls;
#[cfg(feature = "ide")]
mod ide_consent;
#[cfg(feature = "ide")]
mod ide_context;
#[cfg(feature = "ide")]
mod ide_edits;
#[cfg(feature = "ide")]
mod ide_models;
#[cfg(feature = "ide")]
mod ide_pair;
#[cfg(feature = "ide")]
mod ide_questions;
#[cfg(feature = "ide")]
mod ide_refusals;
#[cfg(feature = "ide")]
mod ide_server;
#[cfg(feature = "ide")]
mod ide_trim;
#[cfg(feature = "ide")]
mod javascript;
#[cfg(feature = "ide")]
mod laws;
mod layers;
#[cfg(feature = "mcp")]
mod mcp_client;
#[cfg(feature = "mcp")]
mod mcp_context;
#[cfg(feature = "mcp")]
mod mcp_forwarding;
#[cfg(feature = "mcp")]
mod mcp_invariants;
#[cfg(feature = "mcp")]
mod mcp_outbox;
#[cfg(feature = "mcp")]
mod mcp_scripts;
#[cfg(feature = "mcp")]
mod mcp_server;
#[cfg(feature = "mcp")]
mod mcp_support;
#[cfg(feature = "ide")]
mod mcp_unread;
#[cfg(feature = "mcp")]
mod mcp_vectors;
#[cfg(feature = "mcp")]
#[path = "../model/mod.rs"]
mod model;
#[cfg(feature = "ide")]
mod passes;
mod presets;
#[cfg(feature = "ide")]
mod replay;
#[cfg(feature = "ide")]
mod server_agents;
#[cfg(feature = "ide")]
mod server_consent;
#[cfg(feature = "ide")]
mod server_pending;
#[cfg(feature = "ide")]
mod server_pressure;
#[cfg(feature = "ide")]
mod server_privacy;
#[cfg(feature = "ide")]
mod server_sending;
#[cfg(feature = "mcp")]
#[path = "../../fuzz/src/sessions/mod.rs"]
mod sessions;
#[cfg(feature = "ide")]
mod sim;
#[cfg(feature = "ide")]
mod sim_support;
#[cfg(feature = "mcp")]
mod small_editor;
mod small_scope;
mod support;
mod testing;
#[cfg(feature = "ide")]
mod texts;
#[cfg(feature = "ide")]
mod threats;
#[cfg(feature = "ide")]
mod ws_close;
mod ws_frames;
mod ws_handshake;
mod ws_tungstenite;
