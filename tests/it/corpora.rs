//! The corpora of the fuzz targets, replayed by `cargo test`: regression tests that need no fuzzer.

#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Runs a target on every input of its corpus, and names the inputs that fail.
fn replay(name: &str, target: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
    let (mut replayed, mut failed) = (0, Vec::new());
    for entry in fs::read_dir(&corpus).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        replayed += 1;
        if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
            failed.push(path);
        }
    }
    assert!(replayed > 10, "{name} has a corpus of {replayed}");
    assert!(failed.is_empty(), "{name} fails on {failed:#?}");
}

macro_rules! corpora {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            replay(stringify!($name), targets::$name);
        }
    )*};
}

corpora!(
    frames,
    handshake_server,
    handshake_client,
    ws_server_script,
    ws_client_script,
    against_tungstenite,
    rpc_text,
    rpc_script,
    mcp_server_script,
    mcp_client_script,
    pair,
    ide_server_script,
    lockfile,
    paths,
);
