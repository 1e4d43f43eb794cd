#!/usr/bin/env bash
# Makes small changes, one after another, in the code of the core, the driver and embed that has changed since a commit.
# Fails if the tests of the same package do not notice one. .cargo/mutants.toml lists the changes that they may miss,
# and why. The default commit is the last one on which this check has passed, or the one before HEAD. A change takes a
# minute or two.
# Run: tests/lab/mutants.sh [COMMIT]
set -euo pipefail
cd "$(dirname "$0")/../.."

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-mutants >/dev/null || cargo install --quiet --locked --root "$tools" cargo-mutants@27.1.0

passed=target/lab/mutants.passed
since=${1:-$(cat "$passed" 2>/dev/null || echo HEAD~1)}
head=$(git rev-parse HEAD)
mkdir -p target/lab
git diff "$since" -- '*.rs' >target/lab/mutants.diff
if [ -s target/lab/mutants.diff ]; then
    cargo mutants --in-diff target/lab/mutants.diff --package ide-mcp --package ide-mcp-driver --package ide-mcp-embed \
        --output target/lab --no-shuffle --colors never
fi
echo "$head" >"$passed"
