#!/usr/bin/env bash
# Fuzzes each target for some minutes, one after the other, starting from its corpus. Writes inputs that
# fail to fuzz/artifacts, and new ones to fuzz/corpus/found, which is not kept in git. Needs the nightly
# toolchain.
# Run: fuzz/run.sh MINUTES [TARGET…]
#
# fuzz/run.sh 0 TARGET… only merges the new inputs into the committed seeds, fuzz/seeds/TARGET.txt: the
# smallest set with the same coverage, and every input whose name is not a hash.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:?usage: fuzz/run.sh MINUTES [TARGET…]}
shift
all=(frames handshake_server handshake_client ws_server_script ws_client_script against_tungstenite
    rpc_text rpc_script mcp_server_script mcp_client_script pair ide_server_script ide_client_script lockfile paths command_lines
    capi_calls)
targets=("${@:-${all[@]}}")

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-fuzz >/dev/null || cargo install --quiet --locked --root "$tools" cargo-fuzz@0.13.2

for target in "${targets[@]}"; do
    gathered=fuzz/corpus/found/$target
    # The committed seeds, as files for libFuzzer.
    kept=fuzz/corpus/seeds/$target
    case $target in
        handshake_*) dictionary=$target ;;
        # In these scripts no byte becomes part of a string: numbers select from fixed strings.
        rpc_script | pair | capi_calls) dictionary= ;;
        rpc_text | mcp_* | ide_*) dictionary=messages ;;
        lockfile | paths | command_lines) dictionary=$target ;;
        *) dictionary=frames ;;
    esac
    words=()
    [ -z "$dictionary" ] || words=(-dict="fuzz/dictionaries/$dictionary.dict")
    mkdir -p "$gathered"
    rm -rf "$kept"
    fuzz/seeds.py unpack "$target" "$kept"
    # A script or a text can repeat itself. If libFuzzer counted how often each branch runs, thousands of such inputs
    # would count as different.
    few=()
    case $target in
        rpc_* | mcp_* | ide_* | pair | lockfile | paths | command_lines | capi_calls) few=(-use_counters=0) ;;
    esac
    # Long inputs are slow, and find nothing that short ones do not find.
    options=(-max_len=2048 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1)
    if [ "$minutes" -eq 0 ]; then
        small=$(mktemp -d)
        nice cargo +nightly fuzz run "$target" "$small" "$kept" "$gathered" -- \
            -set_cover_merge=1 -max_len=1024 "${few[@]}"
        # Inputs that were written by hand, or that once failed, stay: their names are not hashes as
        # libFuzzer writes them.
        find "$kept" -type f -regextype posix-extended ! -regex '.*/[0-9a-f]{40}' -exec cp -t "$small" {} +
        fuzz/seeds.py pack "$target" "$small"
        rm -rf "$small"
    else
        printf '\n== %s, %s min\n' "$target" "$minutes"
        nice cargo +nightly fuzz run "$target" "$gathered" "$kept" -- \
            "${words[@]}" -max_total_time=$((minutes * 60)) "${options[@]}"
    fi
done
