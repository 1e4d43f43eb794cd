//! The laws of a review, against a model that shares no code with the crate, and against `patch`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test states what it expects"
)]

mod laws;
mod patch;
mod states;
mod support;
