#!/usr/bin/env bash
# Checks that the oldest versions of what we depend on that our manifests allow are enough, with the oldest compiler:
# Cargo.lock stays as it is. Needs the nightly cargo, which alone can choose them. Run: tests/platforms/minimal_versions.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

RUSTC=$(tests/platforms/debian_rustc.sh 1.85)
export RUSTC CARGO_TARGET_DIR=target/platforms/minimal
export CARGO_RESOLVER_LOCKFILE_PATH=$PWD/$CARGO_TARGET_DIR/Cargo.lock
mkdir -p "$CARGO_TARGET_DIR"
rm -f "$CARGO_RESOLVER_LOCKFILE_PATH"
cargo +nightly update --quiet -Z direct-minimal-versions
cargo +nightly check --locked --workspace --all-targets
