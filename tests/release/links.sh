#!/usr/bin/env bash
# Checks that every file exists to which a document links or which it names. Run:
# tests/release/links.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 - $(git ls-files '*.md') <<'PYTHON'
import pathlib, re, sys

missing = []
for name in map(pathlib.Path, sys.argv[1:]):
    text = re.sub(r"^```.*?^```", "", name.read_text(), flags=re.M | re.S)
    links = [name.parent / target for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)]
    named = re.findall(r"`((?:src|tests|adapters|examples|docs|fuzz|benches|\.ci)/[\w./-]+)[` ]", text)
    missing += [f"{name}: {path}" for path in links + named if not pathlib.Path(path).exists()]
sys.exit("\n".join(missing) or None)
PYTHON
