#!/usr/bin/env bash
# Checks that every file and heading exists that a document links, and every file that it names, and that no merge has
# left a text twice in a document.
# Run: tests/lab/release/links.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

documents=$(git ls-files '*.md')
python3 - $documents <<'PYTHON'
import pathlib, re, sys


def headings(page):
    """Returns the names to which others can link, as mdBook and code hosts make them from the headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    found = re.findall(r"^#+ +(.*?)\s*$", text, flags=re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


faults = []
for name in map(pathlib.Path, sys.argv[1:]):
    # A page of the program may be a link to a page that is checked in its own place.
    if name.is_symlink():
        continue
    text = re.sub(r"^```.*?^```", "", name.read_text(), flags=re.M | re.S)
    links = [name.parent / target for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)]
    for target, heading in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", text):
        page = name.parent / target if target else name
        if page.suffix == ".md" and page.exists() and heading not in headings(page):
            faults.append(f"{name}: {page} has no heading #{heading}")
    named = re.findall(r"`((?:src|tests|cli|adapters|examples|docs|fuzz|benches|\.ci)/[\w./-]+)[` ]", text)
    faults += [f"{name}: {path}" for path in links + named if not pathlib.Path(path).exists()]
    begins = set()
    for line in map(str.strip, text.split("\n")):
        # Two decisions have different titles; other lines may begin with the same words.
        begin = line[: 40 if line.startswith("- **") else 50]
        if begin in begins and len(line) >= 50 and not line.startswith(("|", "**")):
            faults.append(f"{name}: two lines begin with: {begin}")
        begins.add(begin)

sys.exit("\n".join(faults) or None)
PYTHON
