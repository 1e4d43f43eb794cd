#!/usr/bin/env bash
# Checks the core for targets without an operating system, without features, with `mcp` and with
# `ide`: for the browser (wasm32) and for a 32-bit processor without std and 64-bit atomics
# (thumbv7em).
# Run: tests/platforms/bare.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

RUSTC=$(tests/platforms/debian_rustc.sh 1.96)
# Debian's compiler has no std for these targets, and accepts -Z build-std as a nightly compiler
# does.
export RUSTC RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/platforms/build
for target in wasm32-unknown-unknown thumbv7em-none-eabi; do
    for features in '' mcp ide; do
        echo "$target: ide-mcp $features" >&2
        cargo check --quiet -Z build-std=core,alloc --target "$target" \
            --package ide-mcp --no-default-features --features "$features"
    done
done
