#!/usr/bin/env bash
# Runs tests/lab/capi/misuse.c with AddressSanitizer, which also checks the Rust code: it links the static library and
# the runtime of the nightly toolchain. Needs gcc and that toolchain.
# Run: tests/lab/capi/asan.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

target=x86_64-unknown-linux-gnu
work=$PWD/target/capi-asan
RUSTFLAGS=-Zsanitizer=address cargo +nightly build --quiet --package ide-mcp-capi --target "$target" --target-dir "$work"
runtime=$(rustc +nightly --print sysroot)/lib/rustlib/$target/lib/librustc-nightly_rt.asan.a
gcc -g -std=c99 -Iadapters/editors/capi/include tests/lab/capi/misuse.c "$work/$target/debug/libidemcp.a" \
    -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive -Wl,--export-dynamic -lgcc_s -lpthread -lrt -ldl -lm \
    -o "$work/misuse"

export CLAUDE_CONFIG_DIR=$work/claude ASAN_OPTIONS=detect_leaks=1:exitcode=99
"$work/misuse"
# With an argument, the program passes a length beyond the end of a buffer, which must be found.
"$work/misuse" fault 2>"$work/fault" || true
grep 'heap-buffer-overflow' "$work/fault" >&2
