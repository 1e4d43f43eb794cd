#!/usr/bin/env bash
# Breaks the modules that read what a peer wrote, one small change at a time, and fails if the tests do not notice one.
# What need not be noticed stands in .cargo/mutants.toml with its reason. Works on a copy in target/mutants, so the sources
# may be edited meanwhile. The 950 changes take half an hour where nothing else runs.
# Run: tests/mutants.sh [MODULE…], where a module is the first word of a row below.
set -euo pipefail
cd "$(dirname "$0")/.."

# Module, its files below src, features, the tests that see it by targets, and by name where that saves time.
table='
frame       ws/frame.rs                    simd lib    ws::frame
utf8        ws/utf8.rs                     simd lib    ws::utf8
close       ws/close.rs                    std  lib    ws::close
head        ws/head.rs                     std  lib    ws::
request     ws/request.rs                  std  lib    ws::re
response    ws/response.rs                 std  lib    ws::re
receiver    ws/receiver.rs                 std  lib    ws::receiver
message     rpc/message.rs                 mcp  lib    rpc::message
id          rpc/id.rs                      mcp  lib    rpc::
depth       rpc/depth.rs                   mcp  lib    rpc::depth
single_pass rpc/single_pass.rs,rpc/name.rs mcp  lib    rpc::
table       mcp/table.rs,mcp/sorted.rs     mcp  lib    mcp::
incoming    mcp/incoming/*.rs              mcp  lib,it mcp::incoming mcp_invariants
outgoing    mcp/outgoing.rs                mcp  lib,it mcp::outgoing mcp_invariants
batch       mcp/batch.rs                   mcp  lib,it batch mcp_server
arguments   ide/tool/arguments.rs          ide  lib    ide::
open_calls  ide/server/open_calls.rs       ide  lib,it open_calls ide_server
lock_file   ide/discovery/lock_file/*.rs   ide  lib    ide::discovery
paths       ide/paths/*.rs                 ide  lib    ide::paths
'

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-mutants >/dev/null || cargo install --quiet --locked --root "$tools" cargo-mutants@27.1.0

work=$PWD/${MUTANTS_DIR:-target/mutants}
export CARGO_TARGET_DIR=$work/build
rm -rf "$work/tree"
mkdir -p "$work/tree"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from - | tar --extract --directory "$work/tree"
cd "$work/tree"
# It is there for its feature alone, which is asked for below; without it the library is built once a change and not twice.
sed -i '/^ide-mcp = { path = "\.", features/d' Cargo.toml

failed=()
mapfile -t rows < <(sed '/^$/d' <<<"$table")
for row in "${rows[@]}"; do
    read -r module files features targets filters <<<"$row"
    [ $# -eq 0 ] || [[ " $* " == *" $module "* ]] || continue
    printf '\n== %s\n' "$module"
    rm -rf "${work:?}/$module"
    run=(cargo mutants --in-place --package ide-mcp --no-default-features --features "testing,$features"
        --output "$work/$module")
    IFS=, read -ra files <<<"$files"
    for file in "${files[@]}"; do run+=(--file "src/$file"); done
    IFS=, read -ra targets <<<"$targets"
    for target in "${targets[@]}"; do
        if [ "$target" = lib ]; then run+=(--cargo-arg=--lib); else run+=("--cargo-arg=--test=$target"); fi
    done
    read -ra filters <<<"$filters"
    run+=(-- -- "${filters[@]}")
    status=0
    "${run[@]}" || status=$?
    case $status in
        0) ;;
        # 3: some did not come to an end, in five times what the tests need; they are noticed too.
        2 | 3) [ ! -s "$work/$module/mutants.out/missed.txt" ] || failed+=("$module") ;;
        *) exit "$status" ;;
    esac
done
[ ${#failed[@]} -eq 0 ] || { printf '\nmissed in: %s\n' "${failed[*]}" >&2; exit 1; }
