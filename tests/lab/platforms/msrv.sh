#!/usr/bin/env bash
# Checks that the core without std, the adapters, the examples and all tests compile with Rust 1.85, the `rust-version`,
# from Debian. The feature `simd` and the program need later versions. Of the other features, only `std` replaces code,
# so the largest sets of features without it and with it are enough.
# Run: tests/lab/platforms/msrv.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.85)
export RUSTC CARGO_TARGET_DIR=target/platforms/msrv
cargo check --package ide-mcp --lib --no-default-features --features ide
cargo check --workspace --exclude ide-mcp-cli --all-targets
