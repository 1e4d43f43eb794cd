#!/usr/bin/env bash
# Checks that the crates compile with the oldest dependencies that our manifests allow, and with the oldest compiler.
# Leaves out the tests, which applications do not build, and the program, which comes with a lock file. Cargo.lock does
# not change.
# Needs nightly cargo: only that can select these versions.
# Run: tests/lab/platforms/minimal_versions.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.85)
export RUSTC CARGO_TARGET_DIR=target/platforms/minimal
export CARGO_RESOLVER_LOCKFILE_PATH=$PWD/$CARGO_TARGET_DIR/Cargo.lock
mkdir -p "$CARGO_TARGET_DIR"
rm -f "$CARGO_RESOLVER_LOCKFILE_PATH"
cargo +nightly update --quiet -Z direct-minimal-versions
cargo +nightly check --locked --workspace --exclude ide-mcp-cli --lib --bins
