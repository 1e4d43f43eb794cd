#!/usr/bin/env bash
# Prints the names of the crates of the workspace that are published, one a line. Run: tests/release/published.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo metadata --no-deps --format-version 1 --offline | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])'
