#!/usr/bin/env bash
# Checks our dependencies against .cargo/deny.toml: licenses, banned and duplicate crates, and sources.
# Run: tests/lab/release/dependencies.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-deny >/dev/null || cargo install --quiet --locked --root "$tools" cargo-deny@0.20.2
# Without --workspace, cargo deny checks only the root package.
cargo deny --workspace --all-features check licenses bans sources
