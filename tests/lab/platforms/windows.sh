#!/usr/bin/env bash
# Builds the libraries, the program and their tests for Windows (x86_64, GNU), and runs them under wine: first the
# tests of each crate, then the program end to end. Needs wine and mingw-w64 (see wine.sh). Std is built from Debian's
# sources, because Debian has no std for Windows.
#
# Run: tests/lab/platforms/windows.sh            everything
#      tests/lab/platforms/windows.sh PACKAGE…   only the tests of these crates
set -euo pipefail
cd "$(dirname "$0")/../../.."

target=x86_64-pc-windows-gnu
RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.96)
export RUSTC RUSTC_BOOTSTRAP=1 CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$PWD/target/windows
# Wine makes a DACL of the mode of a file. With the usual umask, other users could read every token, so no lock file
# would be published.
umask 077
WINEPREFIX=$(tests/lab/platforms/wine.sh)
export WINEPREFIX WINEDEBUG=-all

everything=(ide-mcp ide-mcp-lockfile ide-mcp-driver ide-mcp-blocking ide-mcp-mio ide-mcp-smol ide-mcp-embed ide-mcp-capi
    ide-mcp-adapter-tests ide-mcp-cli)
packages=("${@:-${everything[@]}}")

# What wine does differently: it closes a connection before it resets it, so the reader never sees the reset.
of_wine=(--skip one_connection_ends_by_a_reset)
# No test may hang.
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="timeout 300 wine"
cargo=(-Z "build-std=std,panic_unwind,test" --target "$target")
cargo test "${cargo[@]}" --tests "${packages[@]/#/--package=}" --no-fail-fast -- --test-threads 4 "${of_wine[@]}"
[ "$#" -eq 0 ] || exit 0
cargo build "${cargo[@]}" --package ide-mcp-cli --package ide-mcp-capi
PROGRAM=$CARGO_TARGET_DIR/$target/debug/ide-mcp.exe tests/lab/platforms/windows_program.sh

# An editor in C waits only for the library's descriptor.
cd "$CARGO_TARGET_DIR/$target/debug"
capi=$OLDPWD/adapters/editors/capi
x86_64-w64-mingw32-gcc -Wall -Wextra -Werror "$OLDPWD/tests/lab/capi/wsapoll.c" -I"$capi/include" idemcp.dll -lws2_32 -o wsapoll.exe
timeout 120 wine wsapoll.exe C:/ide
