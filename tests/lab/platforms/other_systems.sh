#!/usr/bin/env bash
# Checks that libraries and programs compile without a warning for macOS and Windows; with `--all-targets` the tests
# and examples too. This only runs `cargo check`, because this machine can neither link nor run such programs. For
# Windows it leaves out the examples, which use Unix signals and terminals.
# Run: tests/lab/platforms/other_systems.sh [--all-targets]
set -euo pipefail
cd "$(dirname "$0")/../../.."

RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.96)
export RUSTC RUSTC_BOOTSTRAP=1 RUSTFLAGS='-D warnings' CARGO_TARGET_DIR=target/platforms/build
[ "$#" -gt 0 ] || set -- --lib --bins
check() {
    cargo check --quiet -Z build-std=std,panic_abort,test --workspace "$@"
}
check "$@" --target aarch64-apple-darwin --target x86_64-pc-windows-msvc --exclude ide-mcp-examples
check "$@" --target aarch64-apple-darwin
