#!/usr/bin/env bash
# Checks that everything, tests too, compiles without a warning for macOS and Windows. Only types
# and names are checked, because this machine can neither link nor run the programs. The check for
# Windows leaves out the examples and the program, which use signals and terminals of Unix, and the
# common tests of the adapters, which count descriptors and measure threads in the way of Unix.
# Run: tests/platforms/other_systems.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

RUSTC=$(tests/platforms/debian_rustc.sh 1.96)
export RUSTC RUSTC_BOOTSTRAP=1 RUSTFLAGS='-D warnings' CARGO_TARGET_DIR=target/platforms/build
check() {
    echo "$1" >&2
    cargo check --quiet -Z build-std=std,panic_abort,test --target "$1" --workspace --all-targets "${@:2}"
}
check aarch64-apple-darwin
check x86_64-pc-windows-msvc --exclude ide-mcp-examples --exclude ide-mcp-cli --exclude ide-mcp-adapter-tests
