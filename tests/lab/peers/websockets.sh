#!/usr/bin/env bash
# Attaches an independent implementation of WebSocket, the Python package websockets, to `editor --headless`.
# Needs target/debug/ide-mcp (cargo build --package ide-mcp-cli).
# Run: tests/lab/peers/websockets.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

work=$PWD/target/websockets
python=$work/venv/bin/python
mkdir -p "$work"
[ -x "$python" ] || python3 -m venv "$work/venv"
"$python" -m pip install --quiet --disable-pip-version-check websockets==15.0.1

token=an-independent-peer
printf '{"authToken":"%s"}' "$token" >"$work/token.lock"
# The editor's standard input stays open as long as this script holds the other end.
coproc EDITOR { CLAUDE_CONFIG_DIR=$work/claude exec target/debug/ide-mcp editor --headless \
    --token-of "$work/token.lock"; }
read -r listening <&"${EDITOR[0]}"
port=$("$python" -c 'import json, sys; print(json.loads(sys.argv[1])["port"])' "$listening")
"$python" tests/lab/peers/websockets_client.py "$port" "$token"
editor=$EDITOR_PID
exec {EDITOR[1]}>&-
wait "$editor"
