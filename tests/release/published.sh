#!/usr/bin/env bash
# Prints the names of the published crates of the workspace, one on each line. Run:
# tests/release/published.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo metadata --no-deps --format-version 1 --offline | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])'
