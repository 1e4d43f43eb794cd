#!/usr/bin/env bash
# Looks at what we depend on by .cargo/deny.toml: licences, what is banned or there twice, and where it comes from.
# Run: tests/release/dependencies.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-deny >/dev/null || cargo install --quiet --locked --root "$tools" cargo-deny@0.20.2
# Without --workspace it looks at the root package alone.
cargo deny --workspace --all-features check licenses bans sources
