#!/usr/bin/env bash
# Runs a command of cargo (check, clippy) on the core alone in every set of features that makes a
# difference: `ide` includes `mcp`, `testing` and `simd` include `std`. The unit tests always have
# `testing`, by the dependency of the core on itself. They are checked without `ide` here, and with
# `ide` as part of the workspace.
# Run: tests/lab/platforms/features.sh COMMAND [-- ARGUMENTS…]
set -euo pipefail
cd "$(dirname "$0")/../../.."

command=${1:?usage: tests/lab/platforms/features.sh COMMAND [-- ARGUMENTS…]}
shift
for session in '' mcp ide; do
    for system in '' std testing simd; do
        echo "features: $session $system" >&2
        cargo "$command" --quiet --package ide-mcp --lib --no-default-features --features "$session,$system" "$@"
    done
done
for session in '' mcp; do
    echo "features of the unit tests: $session testing" >&2
    cargo "$command" --quiet --package ide-mcp --lib --profile test --no-default-features --features "$session,testing" "$@"
done
