#!/usr/bin/env bash
# Unpacks Debian's own Rust compiler of a minor version (1.85 or 1.96 in Debian 12) into target/platforms, without
# installing it, and prints the path of a `rustc` for cargo's variable RUSTC. 1.96 comes with the sources of std, for
# targets without a prebuilt std. Needs apt-get and its lists.
# Run: RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.85) cargo check
set -euo pipefail
cd "$(dirname "$0")/../../.."

minor=${1:?usage: tests/lab/platforms/debian_rustc.sh MINOR}
into=$PWD/target/platforms/rust-$minor
rustc=$into/rustc

if [ ! -x "$rustc" ]; then
    known() { apt-cache madison rustc-web | sed -n "s/.*| \+\($minor\.[^ ]*\) .*/\1/p" | head -n 1; }
    version=$(known)
    # The lists of a new machine may be older than the compiler.
    [ -n "$version" ] || { apt-get update --quiet=2 >&2 || true; version=$(known); }
    : "${version:?Debian has no rustc-web $minor here: run apt-get update as root, on Debian 12}"
    packages=("rustc-web=$version" "libstd-rust-web-$minor=$version" "libstd-rust-web-dev=$version")
    case $minor in
        1.85) packages+=(libllvm19) ;;
        *) packages+=(libllvm22 "rust-web-src=$version") ;;
    esac
    rm -rf "$into"
    mkdir -p "$into/debs"
    (cd "$into/debs" && apt-get download --quiet=2 "${packages[@]}")
    for deb in "$into"/debs/*.deb; do
        dpkg -x "$deb" "$into"
    done
    rm -r "$into/debs"
    libraries=$into/usr/lib/x86_64-linux-gnu
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s:%s/usr/lib/llvm-19/lib exec %s/usr/bin/rustc "$@"\n' \
        "$libraries" "$into" "$into" >"$rustc"
    chmod +x "$rustc"
fi
echo "$rustc"
