//! The corpus of the fuzz target `capi_calls`, and random sequences for it.
#![allow(unsafe_code, reason = "the functions of C are called")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::undocumented_unsafe_blocks,
    reason = "a test"
)]

#[allow(unreachable_pub, reason = "the target is a part of another crate")]
#[path = "../../../../fuzz/src/capi_calls.rs"]
mod target;

#[allow(unreachable_pub, reason = "the seeds are a part of another crate")]
#[path = "../../../../fuzz/src/seeds.rs"]
mod seeds;

use std::path::Path;

#[test]
fn corpus_holds() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz");
    seeds::replay(&fuzz, "capi_calls", target::capi_calls);
}

#[test]
fn random_sequences_hold() {
    arbtest::arbtest(|u| {
        target::capi_calls(u.bytes(u.len())?);
        Ok(())
    })
    .budget_ms(3_000);
}
