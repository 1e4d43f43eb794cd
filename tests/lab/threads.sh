#!/usr/bin/env bash
# With shuttle, runs the code by which threads hand each other wake-ups and work, in thousands of interleavings. A lost
# wake-up becomes a deadlock, which shuttle reports with a schedule that repeats it.
# Run: tests/lab/threads.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
RUSTFLAGS='--cfg shuttle' exec cargo test --release --target-dir target/shuttle \
    --package ide-mcp-driver --lib -- orders
