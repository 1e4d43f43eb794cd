#!/usr/bin/env bash
# Runs the cases of the Autobahn test suite, with kosoku, against the server (on two adapters) and the client of
# peer.rs, and compares each verdict with expected.txt.
# Run: tests/lab/autobahn/run.sh
# In expected.txt, 7.1.6, 7.13.1 and 7.13.2 are INFORMATIONAL: in these cases an endpoint may do anything. Groups 12 and
# 13 are UNIMPLEMENTED: they are about permessage-deflate, which we never negotiate.
set -euo pipefail
cd "$(dirname "$0")/../../.."

work=$PWD/target/autobahn
venv=$work/venv
expected=tests/lab/autobahn/expected.txt
program=target/release/examples/autobahn
patience=600

mkdir -p "$work"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check kosoku==0.1.0
cargo build --quiet --release --package ide-mcp-adapter-tests --example autobahn

pids=()
stop() {
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
}
trap stop EXIT

# number_in FILE PATTERN waits for a number after PATTERN in FILE, and prints it.
number_in() {
    for _ in $(seq 300); do
        sed -n "s/.*$2\([0-9]\+\).*/\1/p" "$1" | grep . && return
        read -rt 0.1 <> <(:) || true
    done
    echo "no port within 30 s; see $1" >&2
    return 1
}

# verdicts FOLDER prints the verdicts of the report in FOLDER: case, behavior, behavior when the connection closes.
verdicts() {
    "$venv/bin/python" - "$1/index.json" <<'PYTHON'
import json, sys

(cases,) = json.load(open(sys.argv[1])).values()
for name in sorted(cases, key=lambda name: [int(part) for part in name.split(".")]):
    print(name, cases[name]["behavior"], cases[name]["behaviorClose"])
PYTHON
}

judge() {
    verdicts "$work/$1" >"$work/$1.txt"
    diff --unified=0 "$expected" "$work/$1.txt" || {
        echo "$1: not as expected; the reports are in $work/$1" >&2
        return 1
    }
    echo "$1: $(wc -l <"$expected") cases as expected"
}

# kosoku always ends with 1, because of the unimplemented groups, so compare the verdicts instead.
server() {
    local name=server-$1 out=$work/echo.out echo port
    rm -rf "${work:?}/$name"
    : >"$out"
    "$program" "$1" >"$out" &
    echo=$!
    pids+=("$echo")
    port=$(number_in "$out" '"port":')
    timeout "$patience" "$venv/bin/kosoku" --mode fuzzingclient --outdir "$work/$name" "127.0.0.1:$port" \
        >"$work/$name.log" 2>&1 || true
    kill "$echo"
    judge "$name"
}

client() {
    local name=client log=$work/client.log suite port
    rm -rf "${work:?}/$name"
    : >"$log"
    timeout "$patience" "$venv/bin/kosoku" --mode fuzzingserver --outdir "$work/$name" 127.0.0.1:0 >"$log" 2>&1 &
    suite=$!
    pids+=("$suite")
    port=$(number_in "$log" 'listening on ws:\/\/127.0.0.1:')
    timeout "$patience" "$program" "127.0.0.1:$port" ide-mcp
    wait "$suite" || true
    judge "$name"
}

server mio
server blocking
client
