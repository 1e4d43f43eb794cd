#!/usr/bin/env bash
# Installs the program ide-mcp from the checkout as a user does, below target, and compares the start
# of the program with that of an empty one: `ide-mcp --version` has at most twice the instructions. Needs
# valgrind. Then builds `ide-mcp sidecar` alone, as a plugin of an editor downloads it, and checks its size.
# Run: tests/release/program.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

root=target/install
cargo install --quiet --locked --force --root "$root" --path examples/cli
rustc -O -o "$root/empty" - <<<'fn main() {}'

# The length of the environment would count as well.
instructions() {
    env -i valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}
empty=$(instructions "$root/empty")
start=$(instructions "$root/bin/ide-mcp" --version)
printf 'instructions: %s of ide-mcp --version, %s of an empty program\n' "$start" "$empty" >&2
[ "$start" -le $((2 * empty)) ]

# An empty program has 290,000 bytes, and the backtrace of a panic 190,000 of them.
largest=1600000
cargo build --quiet --locked --profile small --package ide-mcp-cli --no-default-features --features sidecar
size=$(stat -c %s target/small/ide-mcp)
printf 'bytes: %s of ide-mcp sidecar alone, at most %s\n' "$size" "$largest" >&2
[ "$size" -le "$largest" ]
