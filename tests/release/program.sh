#!/usr/bin/env bash
# Installs the program ide-mcp from the checkout as a user does, below target, and compares the start
# of the program with that of an empty one: `ide-mcp --version` has at most twice the instructions. Needs
# valgrind.
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
