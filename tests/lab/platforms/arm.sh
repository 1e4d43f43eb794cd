#!/usr/bin/env bash
# Runs the tests of the core on 64-bit ARM (aarch64), under qemu. Debian's compiler uses Debian's std for that system,
# which is unpacked beside its own and not installed. To save another ten minutes, this leaves out the simulation, the
# tests of the laws, and the longest random scripts. Arguments go to cargo test, and replace this choice. Needs
# qemu-user, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross.
# Run: tests/lab/platforms/arm.sh [ARGUMENTS…]
set -euo pipefail
cd "$(dirname "$0")/../../.."

RUSTC=$(tests/lab/platforms/debian_rustc.sh 1.96)
root=${RUSTC%/rustc}
if [ ! -d "$root/usr/lib/rustlib/aarch64-unknown-linux-gnu" ]; then
    # Exactly the version of the compiler, which can use no other std.
    version=$(zcat "$root/usr/share/doc/rustc-web/changelog.Debian.gz" | sed -n '1s/.*(\(.*\)).*/\1/p')
    # The package lists of the other system, apart from those of this machine.
    lists=$PWD/target/platforms/arm64
    mkdir -p "$lists"/{state/lists/partial,cache/archives/partial,debs}
    apt=(apt-get --quiet=2 -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$lists/state"
        -o Dir::State::status=/dev/null -o Dir::Cache="$lists/cache")
    "${apt[@]}" update
    (cd "$lists/debs" && "${apt[@]}" download "libstd-rust-web-dev=$version")
    dpkg -x "$lists"/debs/*.deb "$root"
    rm -r "$lists"
fi

[ "$#" -gt 0 ] || set -- --tests -- --skip sim:: --skip laws_detect_ --skip small_scope:: --skip foreign_editors_
export RUSTC
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu'
cargo test --target aarch64-unknown-linux-gnu --target-dir target/platforms/build --package ide-mcp "$@"
