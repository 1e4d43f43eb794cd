#!/usr/bin/env bash
# Runs the server scenarios of the official conformance suite of MCP against server.rs, and compares the verdict of
# each check with expected.txt. The suite speaks Streamable HTTP, so carrier.mjs carries each session over WebSocket.
# Run: tests/lab/conformance/run.sh [SCENARIO]
# All 32 scenarios run. Some of them say less about our session than their names suggest:
#
# | scenario | reason |
# | --- | --- |
# | server-sse-polling, server-sse-multiple-streams | they examine HTTP streams, which only the carrier has: we have no such transport. The two warnings ask for streams that can be resumed |
# | resources-subscribe, resources-unsubscribe, completion-complete | the session forwards the request, and the application answers it: clients of the IDE dialect send no such request |
# | tools-call-sampling | the session only carries the request and its answer; their contents are up to the application |
# | tools-call-with-logging | the server sends the log as a plain notification, which clients of the IDE dialect do not show |
# | elicitation-sep1330-enums | one of its five fields is raw JSON, because `Form` does not write the names that MCP has deprecated |
# Needs node and npm, by which it installs a newer node for the suite.
set -euo pipefail
cd "$(dirname "$0")/../../.."

work=$PWD/target/conformance
expected=tests/lab/conformance/expected.txt
scenarios=(--suite all)
[ $# -eq 0 ] || scenarios=(--scenario "$1")

mkdir -p "$work"
npm install --silent --no-audit --no-fund --prefix "$work/npm" @modelcontextprotocol/conformance@0.1.16 node@22.23.3 ws@8.23.0
cargo build --quiet --package ide-mcp-adapter-tests --example conformance

modules=$work/npm/node_modules
node=$modules/.bin/node
rm -rf "$work/results"
# The exit status of the suite says no more than its verdicts.
NODE_MODULES=$modules timeout 300 "$node" tests/lab/conformance/carrier.mjs target/debug/examples/conformance \
    "$node" "$modules/.bin/conformance" server "${scenarios[@]}" --output-dir "$work/results" >"$work/suite.log" 2>&1 || true
[ -d "$work/results" ] || {
    tail -n 15 "$work/suite.log" >&2
    exit 1
}

# Prints the scenario, the check and its verdict, and why it failed.
"$node" - "$work/results" >"$work/verdicts.txt" <<'JAVASCRIPT'
const { readdirSync, readFileSync } = require("fs");
const [folder] = process.argv.slice(2);
for (const run of readdirSync(folder).sort()) {
  const scenario = run.replace(/^server-(.*?)-\d{4}-\d\d-\d\dT.*$/, "$1");
  for (const check of JSON.parse(readFileSync(`${folder}/${run}/checks.json`))) {
    const why = check.status === "FAILURE" ? ` ${check.errorMessage?.replaceAll(/\s+/g, " ")}` : "";
    if (check.status !== "INFO") console.log(`${scenario} ${check.id} ${check.status}${why}`);
  }
}
JAVASCRIPT

if [ $# -gt 0 ]; then
    cat "$work/verdicts.txt"
    grep --quiet . "$work/verdicts.txt" && ! grep --invert-match --quiet ' \(SUCCESS\|WARNING\)$' "$work/verdicts.txt"
    exit
fi
diff --unified=0 "$expected" "$work/verdicts.txt" || {
    echo "not as expected; $work has the log and the results" >&2
    exit 1
}
echo "$(wc -l <"$expected") checks as expected"
