#!/usr/bin/env bash
# Builds the core where there is no operating system, without features, with `mcp` and with `ide`: for the browser
# (wasm32) and for a processor with 32 bits, no std and no 64-bit atomics (thumbv7em). Run: tests/platforms/bare.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

RUSTC=$(tests/platforms/debian_rustc.sh 1.96)
# Debian's compiler has no std for these, and takes -Z build-std no differently than a nightly one.
export RUSTC RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/platforms/build
for target in wasm32-unknown-unknown thumbv7em-none-eabi; do
    for features in '' mcp ide; do
        echo "$target: ide-mcp $features" >&2
        cargo build --quiet -Z build-std=core,alloc --target "$target" \
            --package ide-mcp --no-default-features --features "$features"
    done
done
