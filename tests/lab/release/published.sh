#!/usr/bin/env bash
# Prints the names of the workspace's published packages, one per line; with `lib`, only of those that have a library.
# Run: tests/lab/release/published.sh [lib]
set -euo pipefail
cd "$(dirname "$0")/../../.."

cargo metadata --no-deps --format-version 1 --offline | python3 -c '
import json, sys
kind = sys.argv[1:]
for package in json.load(sys.stdin)["packages"]:
    kinds = [name for target in package["targets"] for name in target["kind"]]
    if package["publish"] is None and set(kind) <= set(kinds):
        print(package["name"])' "$@"
