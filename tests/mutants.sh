#!/usr/bin/env bash
# Breaks the modules that read what a peer wrote, one small change at a time, and fails if the tests do not notice one.
# What need not be noticed stands in .cargo/mutants.toml with its reason. Works on a copy: sources are left alone, and may
# be edited meanwhile. Some 800 changes take half an hour on two idle cores.
# Run: tests/mutants.sh [MODULE…], where a module is the first word of a row below.
set -euo pipefail
cd "$(dirname "$0")/.."

# Module, its files below src, features, its tests beside the source by name, and behaviour tests for what those miss.
table='
frame     ws/frame.rs                  simd     ws::     ws_frames
utf8      ws/utf8.rs                   simd     ws::     ws_frames
close     ws/close.rs                  -        ws::     ws_close
head      ws/head.rs                   -        ws::     ws_handshake
request   ws/request.rs                -        ws::     ws_handshake
response  ws/response.rs               -        ws::     ws_handshake
receiver  ws/receiver.rs               -        ws::     ws_frames,ws_close,ws_handshake
message   rpc/message.rs               mcp      rpc::    -
table     rpc/table.rs,rpc/sorted.rs   mcp      rpc::    -
calls     rpc/calls.rs                 mcp      rpc::    -
requests  rpc/requests.rs              mcp      rpc::    -
diffs     ide/diffs.rs                 ide      ide::    ide_server
lock_file ide/lock_file/*.rs           ide      ide::    -
paths     ide/paths/*.rs               ide      ide::    -
'

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-mutants >/dev/null || cargo install --quiet --locked --root "$tools" cargo-mutants@27.1.0

export CARGO_TARGET_DIR=$PWD/target/mutants/build
failed=()
mapfile -t rows < <(sed '/^$/d' <<<"$table")
for row in "${rows[@]}"; do
    read -r module files features units behaviour <<<"$row"
    [ $# -eq 0 ] || [[ " $* " == *" $module "* ]] || continue
    printf '\n== %s\n' "$module"
    run=(nice cargo mutants --package ide-mcp --no-default-features --output "target/mutants/$module")
    [ "$features" = - ] || run+=(--features "$features")
    IFS=, read -ra files <<<"$files"
    for file in "${files[@]}"; do run+=(--file "src/$file"); done
    rm -rf "target/mutants/$module"
    # 2: the tests missed one, 3: they ran out of time.
    status=0
    "${run[@]}" --timeout 30 --cargo-arg=--lib -- "$units" || status=$?
    if [ "$status" = 2 ] && [ "$behaviour" != - ]; then
        status=0
        IFS=, read -ra tests <<<"$behaviour"
        "${run[@]}" --iterate --timeout 300 "${tests[@]/#/--cargo-arg=--test=}" || status=$?
    fi
    case $status in
        0 | 3) ;;
        2) failed+=("$module") ;;
        *) exit "$status" ;;
    esac
done
[ ${#failed[@]} -eq 0 ] || { printf '\nmissed in: %s\n' "${failed[*]}" >&2; exit 1; }
