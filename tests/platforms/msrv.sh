#!/usr/bin/env bash
# Checks with the compiler of `rust-version`, Debian's 1.85: the core in all sets of features that
# guarantee this version (all but `simd`), the adapters, the examples and all tests.
# Run: tests/platforms/msrv.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

RUSTC=$(tests/platforms/debian_rustc.sh 1.85)
export RUSTC CARGO_TARGET_DIR=target/platforms/msrv
tests/platforms/features.sh no-simd check
cargo check --workspace --all-targets
