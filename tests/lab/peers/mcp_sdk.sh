#!/usr/bin/env bash
# Runs the official SDKs of MCP against our programs, in both roles, over pipes and over WebSocket. Their versions, from
# PyPI and npm, are the last ones with a WebSocket transport. Needs python3, node and npm.
# Run: tests/lab/peers/mcp_sdk.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

root=target/interop
venv=$root/venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'mcp[ws]==1.30.0' 'uvicorn==0.54.0'
npm install --silent --no-audit --no-fund --prefix "$root/npm" @modelcontextprotocol/sdk@1.32.2 ws@8.23.0

cargo build --workspace --bins --examples
export NODE_MODULES=$root/npm/node_modules
printf '\n== the Python SDK\n'
"$venv/bin/python" tests/lab/peers/mcp_sdk.py check target/debug
printf '\n== the TypeScript SDK\n'
node tests/lab/peers/mcp_sdk.mjs check target/debug
