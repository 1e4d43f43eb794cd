#!/usr/bin/env bash
# Checks that every file exists to which a document links or which it names, that no merge has left a text
# twice in a document, and that no path stands twice, or below another folder, in the map of ARCHITECTURE.md.
# Run: tests/lab/release/links.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

documents=$(git ls-files '*.md')
python3 - $documents <<'PYTHON'
import pathlib, re, sys

faults = []
for name in map(pathlib.Path, sys.argv[1:]):
    # A page of the program can be a link to a page that is checked in its own place.
    if name.is_symlink():
        continue
    text = re.sub(r"^```.*?^```", "", name.read_text(), flags=re.M | re.S)
    links = [name.parent / target for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)]
    named = re.findall(r"`((?:src|tests|adapters|examples|docs|fuzz|benches|\.ci)/[\w./-]+)[` ]", text)
    faults += [f"{name}: {path}" for path in links + named if not pathlib.Path(path).exists()]
    begins = set()
    for line in map(str.strip, text.split("\n")):
        # Two decisions have different titles; other lines can begin with the same words.
        begin = line[: 40 if line.startswith("- **") else 50]
        if begin in begins and len(line) >= 50 and not line.startswith(("|", "**")):
            faults.append(f"{name}: two lines begin with: {begin}")
        begins.add(begin)

# A nested item names parts of the item above it.
above, seen = [], set()
for line in re.search(r"## Map\n(.*?)\n## ", pathlib.Path("ARCHITECTURE.md").read_text(), re.S)[1].split("\n"):
    if not (item := re.match(r"( *)- ((?:`[^`]*/[^`]*`(?:, | and )?)+)", line)):
        continue
    level, paths = len(item[1]) // 2, re.findall(r"`([^`]*)`", item[2])
    parents = above[level - 1] if level else [""]
    faults += [f"the map has {path} twice" for path in paths if path in seen]
    faults += [f"the map has {path} below {parents}" for path in paths if not path.startswith(tuple(parents))]
    seen.update(paths)
    above[level:] = [paths]
assert len(seen) > 100, f"the map was read: {len(seen)} paths"
sys.exit("\n".join(faults) or None)
PYTHON
