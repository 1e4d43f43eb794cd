#!/usr/bin/env bash
# Runs the tests of the core as a 32-bit program (i686). Debian's compiler builds std from source, and links the C
# library from its packages, which are unpacked and not installed. Arguments go to cargo test, instead of `--tests`.
# Run: tests/lab/platforms/thirty_two_bits.sh [ARGUMENTS…]
set -euo pipefail
cd "$(dirname "$0")/../../.."

RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.96)
root=$PWD/target/platforms/i386
if [ ! -d "$root/usr" ]; then
    mkdir -p "$root/debs"
    (cd "$root/debs" && apt-get download --quiet=2 libc6-dev-i386 libc6-dev libc6-i386 lib32gcc-s1 lib32gcc-12-dev)
    for deb in "$root"/debs/*.deb; do
        dpkg -x "$deb" "$root"
    done
fi

export RUSTC RUSTC_BOOTSTRAP=1
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=gcc
gcc=$root/usr/lib/gcc/x86_64-linux-gnu/12/32
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-feature=+crt-static -C link-arg=-m32 \
-C link-arg=-B$gcc -C link-arg=-L$gcc -C link-arg=-B$root/usr/lib32 -C link-arg=-L$root/usr/lib32"
cargo test -Z build-std=std,panic_unwind,test --target i686-unknown-linux-gnu --target-dir target/platforms/build \
    --package ide-mcp "${@:---tests}"
