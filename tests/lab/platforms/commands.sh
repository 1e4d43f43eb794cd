#!/usr/bin/env bash
# Checks that each command of the program ide-mcp, a feature of its package, compiles alone without a
# warning.
# Run: tests/lab/platforms/commands.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

for command in agent bridge completions demo doctor editor man mcp-config plugin replay sidecar tap; do
    echo "command: $command" >&2
    cargo clippy --quiet --package ide-mcp-cli --bins --no-default-features --features "$command" -- -D warnings
done
