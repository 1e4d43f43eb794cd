#!/usr/bin/env bash
# Fuzzes each target for some minutes, one after the other, beginning with its corpus. What is found fails and lies in
# fuzz/artifacts; what is new goes to fuzz/corpus, which is not kept. Needs the nightly toolchain.
# Run: fuzz/run.sh MINUTES [TARGET…]
#
# fuzz/run.sh 0 TARGET… only merges what fuzz/corpus has gathered into the committed corpora, as few inputs as reach the
# same, and all that are not named by a hash.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:?usage: fuzz/run.sh MINUTES [TARGET…]}
shift
all=(frames handshake_server handshake_client ws_server_script ws_client_script against_tungstenite
    rpc_text rpc_script mcp_server_script mcp_client_script pair ide_server_script lockfile paths)
targets=("${@:-${all[@]}}")

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-fuzz >/dev/null || cargo install --quiet --locked --root "$tools" cargo-fuzz@0.13.2

for target in "${targets[@]}"; do
    gathered=fuzz/corpus/$target
    kept=fuzz/seeds/$target
    case $target in
        handshake_*) dictionary=$target ;;
        # Of these scripts no byte comes to be in a text: what is said is chosen by numbers.
        rpc_script | pair) dictionary= ;;
        rpc_text | mcp_* | ide_*) dictionary=messages ;;
        lockfile | paths) dictionary=$target ;;
        *) dictionary=frames ;;
    esac
    words=()
    [ -z "$dictionary" ] || words=(-dict="fuzz/dictionaries/$dictionary.dict")
    mkdir -p "$gathered" "$kept"
    # How often a branch is taken makes thousands of inputs differ where a script repeats itself, or a text.
    few=()
    case $target in
        rpc_* | mcp_* | ide_* | pair | lockfile | paths) few=(-use_counters=0) ;;
    esac
    # Long inputs find nothing that short ones do not, and are slow.
    options=(-max_len=2048 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1)
    if [ "$minutes" -eq 0 ]; then
        small=$(mktemp -d)
        nice cargo +nightly fuzz run "$target" "$small" "$kept" "$gathered" -- \
            -set_cover_merge=1 -max_len=1024 "${few[@]}"
        # What was written by hand or was once found stays; it has another name than libFuzzer gives.
        find "$kept" -type f -regextype posix-extended ! -regex '.*/[0-9a-f]{40}' -exec cp -t "$small" {} +
        rm -rf "$kept"
        mv "$small" "$kept"
        chmod 755 "$kept"
    else
        printf '\n== %s, %s min\n' "$target" "$minutes"
        nice cargo +nightly fuzz run "$target" "$gathered" "$kept" -- \
            "${words[@]}" -max_total_time=$((minutes * 60)) "${options[@]}"
    fi
done
