#!/usr/bin/env bash
# Runs a command of cargo (check, clippy) on the core alone, in each set of features that makes a difference. `ide`
# includes `mcp`; `testing` and `simd` include `std`. `simd` only affects frames, so it is checked without sessions. The
# unit tests always have `testing`, because the core depends on itself in them; with `ide`, they are checked with the
# workspace.
# Run: tests/lab/platforms/features.sh COMMAND [-- ARGUMENTS…]
set -euo pipefail
cd "$(dirname "$0")/../../.."

command=${1:?usage: tests/lab/platforms/features.sh COMMAND [-- ARGUMENTS…]}
shift
check() {
    echo "features${2:+ of the unit tests}: $1" >&2
    cargo "$command" --quiet --package ide-mcp --lib --no-default-features --features "$1" ${2:-} "${@:3}"
}
for features in '' std simd mcp mcp,std ide ide,std; do
    check "$features" '' "$@"
done
for features in testing mcp,testing; do
    check "$features" --profile=test "$@"
done
