#!/usr/bin/env bash
# Changes the modules that read the bytes of a peer, one small change at a time, and fails if the
# tests do not notice a change. .cargo/mutants.toml lists the changes that need not be noticed, with
# the reasons. Works on a copy in target/mutants, so the sources may be edited meanwhile. The 950
# changes take half an hour on an otherwise idle machine.
# Run: tests/mutants.sh [MODULE…], with the first words of rows below.
set -euo pipefail
cd "$(dirname "$0")/.."

# Module, files below src, features, targets of the tests for the module, and names of tests if a
# selection saves time.
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
incoming    mcp/incoming/*.rs              mcp  lib,it mcp::incoming mcp_invariants mcp_scripts
outgoing    mcp/outgoing.rs                mcp  lib,it mcp::outgoing mcp_invariants mcp_scripts mcp_client
batch       mcp/batch.rs                   mcp  lib,it batch mcp_server
arguments   ide/tool/arguments.rs          ide  lib    ide::
open_calls  ide/server/open_calls.rs       ide  lib,it open_calls ide_server host_privacy::direct
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
# The dependency exists only for its feature, which is requested below; without the dependency, each
# change builds the library once and not twice.
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
        # 3: some tests took more than five times their usual time; these changes count as noticed
        # too.
        2 | 3) [ ! -s "$work/$module/mutants.out/missed.txt" ] || failed+=("$module") ;;
        *) exit "$status" ;;
    esac
done
[ ${#failed[@]} -eq 0 ] || { printf '\nmissed in: %s\n' "${failed[*]}" >&2; exit 1; }
