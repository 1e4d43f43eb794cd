#!/usr/bin/env bash
# Compares how many instructions a call takes through the C functions and on `ide::Server`, including those of the
# agent. An openDiff of 64 KiB may have 1.04 times as many. A getDiagnostics with one problem may have 1.46 times as
# many as in an editor in Rust that answers in JSON, and 2.1 times as many as in one that answers with a value: the
# difference is the strict parsing of JSON, and the gate that checks the path before C sees it. Needs valgrind.
# Run: tests/lab/capi/cost.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

cargo build --quiet --release --package ide-mcp-capi --example cost

# instructions SIDE KIND CALLS prints the instructions of one call, from two runs of different length.
instructions() {
    local counts=()
    for calls in "$3" $((2 * $3)); do
        counts+=("$(env -i valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/cost \
            "$1" "$2" "$calls" 2>&1 | sed -n 's/.*Collected : //p')")
    done
    echo $(((counts[1] - counts[0]) / $3))
}

status=0
while read -r kind calls side most; do
    rust=$(instructions "$side" "$kind" "$calls")
    c=$(instructions c "$kind" "$calls")
    percent=$(((100 * c + rust - 1) / rust))
    printf '%s: %s instructions in Rust (%s), %s in C: %s %%, at most %s\n' \
        "$kind" "$rust" "$side" "$c" "$percent" "$most" >&2
    [ "$percent" -le "$most" ] || status=1
done <<'T'
diagnostics 200 json 146
diagnostics 200 rust 210
diff 20 rust 104
T
exit "$status"
