#!/usr/bin/env bash
# Checks that the core compiles for targets without an operating system: the browser (wasm32), and a 32-bit processor
# without std and without 64-bit atomics (thumbv7em). The feature `ide` includes the code of all smaller features.
# Run: tests/lab/platforms/bare.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.96)
# Debian's compiler has no std for these targets, but accepts -Z build-std as a nightly compiler does.
export RUSTC RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/platforms/build
cargo check --quiet -Z build-std=core,alloc --target wasm32-unknown-unknown --target thumbv7em-none-eabi \
    --package ide-mcp --no-default-features --features ide
