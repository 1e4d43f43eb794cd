#!/usr/bin/env bash
# Each command of the program ide-mcp is a Cargo feature. Checks that each compiles on its own, without a warning.
# Run: tests/lab/platforms/commands.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

for command in agent bridge completions demo doctor editor man mcp-config plugin replay sidecar tap; do
    echo "command: $command" >&2
    cargo clippy --quiet --package ide-mcp-cli --bins --no-default-features --features "$command" -- -D warnings
done
