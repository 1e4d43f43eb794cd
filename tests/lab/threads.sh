#!/usr/bin/env bash
# Runs the code by which threads hand each other wake-ups and work in thousands of interleavings, with shuttle. A lost
# wake-up is a deadlock, and shuttle reports it with a schedule that repeats it.
# Run: tests/lab/threads.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
RUSTFLAGS='--cfg shuttle' exec cargo test --release --target-dir target/shuttle \
    --package ide-mcp-driver --lib -- orders
