#!/usr/bin/env bash
# Checks the links of all documents: every linked file and heading must exist, and so must every file that a document
# names. In the chapters that are part of the crate's documentation, links must lead somewhere there too. Also checks
# that no merge has left a text twice in a document.
# Run: tests/lab/release/links.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

documents=$(git ls-files '*.md')
python3 - $documents <<'PYTHON'
import pathlib, re, sys


def headings(page):
    """Returns the anchors that mdBook and code hosts make from the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    found = re.findall(r"^#+ +(.*?)\s*$", text, flags=re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


DEFINITION = re.compile(r"^\[([^\]]+)\]: (\S+)$", re.M)
GUIDE, LINKS = pathlib.Path("src/guide.rs"), pathlib.Path("src/guide/links.md")
# The chapters in the documentation of the crate, in which links to files lead nowhere.
chapters = re.findall(r'"\.\./docs/([\w-]+)\.md"', GUIDE.read_text())
leads, used = dict(DEFINITION.findall(LINKS.read_text())), set()


def guide_faults(name, text):
    """Returns what is wrong with the links of a chapter to other pages."""
    defined = dict(DEFINITION.findall(text))
    for label in re.findall(r"\]\[([^\]]+)\]", text):
        if label not in defined:
            yield f"the label [{label}] has no definition"
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        yield f"{target}: link by a label, since this chapter is part of the documentation of the crate ({LINKS})"
    for label, target in defined.items():
        used.add(label)
        page, _, heading = target.partition("#")
        stem = page.removesuffix(".md")
        there = f"crate::guide::{stem.replace('-', '_')}" + (f"#{heading}" if heading else "")
        if label not in leads or (stem in chapters and leads[label] != there):
            yield f"{LINKS} needs the line [{label}]: {there if stem in chapters else 'crate::guide#in-the-repository'}"


faults = []
for name in map(pathlib.Path, sys.argv[1:]):
    # A page of the program may be a symbolic link to a page that is checked elsewhere.
    if name.is_symlink() or name == LINKS:
        continue
    text = re.sub(r"^```.*?^```", "", name.read_text(), flags=re.M | re.S)
    if name.parent == pathlib.Path("docs") and name.stem in chapters:
        faults += [f"{name}: {fault}" for fault in guide_faults(name, text)]
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + [target for _, target in DEFINITION.findall(text)]
    targets = [target.partition("#")[::2] for target in targets if ":" not in target]
    links = [name.parent / target for target, _ in targets if target]
    for target, heading in targets:
        page = name.parent / target if target else name
        if heading and page.suffix == ".md" and page.exists() and heading not in headings(page):
            faults.append(f"{name}: {page} has no heading #{heading}")
    named = re.findall(r"`((?:src|tests|cli|adapters|examples|docs|fuzz|benches|\.ci)/[\w./-]+)[` ]", text)
    faults += [f"{name}: there is no {path}" for path in links + named if not pathlib.Path(path).exists()]
    begins = set()
    for line in map(str.strip, text.split("\n")):
        # Decisions differ in their first 40 characters; other lines may begin with the same words.
        begin = line[: 40 if line.startswith("- **") else 50]
        if begin in begins and len(line) >= 50 and not line.startswith(("|", "**")):
            faults.append(f"{name}: two lines begin with: {begin}")
        begins.add(begin)

faults += [f"{LINKS}: no chapter has the label [{label}]" for label in leads.keys() - used]
sys.exit("\n".join(faults) or None)
PYTHON
