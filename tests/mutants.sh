#!/usr/bin/env bash
# Makes one small change of the state machines after another, and fails if the tests do not notice a change.
# .cargo/mutants.toml lists the changes that need not be noticed, with the reasons. The sources may be edited
# meanwhile: the work is done on copies in target/mutants.
#
# tests/mutants.txt has a line for each file that has passed: the file, the git blob of its code, the commit,
# and the number of its changes. Without arguments, the other files run; with arguments, the files whose path
# contains one of these texts. A change of a test or of a comment repeats no file. An interrupted run continues.
# Run: tests/mutants.sh [PART_OF_A_PATH…]
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-mutants >/dev/null || cargo install --quiet --locked --root "$tools" cargo-mutants@27.1.0
cargo run --quiet --manifest-path tests/mutants/Cargo.toml --target-dir target/mutants/tool -- "$@"
