#!/usr/bin/env python3
"""Builds target/book from the pages in docs, and fails if a link in it leads nowhere.

    tests/lab/release/book.py MDBOOK [URL]

MDBOOK is the path of that program. A link that leaves the book, such as one to the README of a plugin, becomes URL/FILE,
or without a URL the file in this checkout.
"""

import html.parser
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS, BOOK = ROOT / "docs", ROOT / "target/book"


class Page(html.parser.HTMLParser):
    """The links of a page, and the anchors to which others can link."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and tag in ("a", "img"):
                self.links.add(value)
            elif name == "id":
                self.names.add(value)


def main():
    program, url = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    subprocess.run([program, "build", DOCS], check=True)
    pages = {path: Page(path) for path in BOOK.glob("*.html") if path.name not in ("404.html", "toc.html")}
    faults = [f"{page.name}: docs/SUMMARY.md does not list it" for page in DOCS.glob("*.md")
              if page.name not in ("README.md", "SUMMARY.md") and BOOK / page.with_suffix(".html").name not in pages]
    for path, page in pages.items():
        for link in sorted(page.links):
            target, _, name = link.partition("#")
            if "://" in target:
                continue
            file = pathlib.Path(os.path.normpath(path.parent / target)) if target else path
            if file in pages:
                if name and name not in pages[file].names:
                    faults.append(f"{path.name}: {link}: the page has no such heading")
            elif not file.is_relative_to(BOOK):
                # The link leads out of docs, and mdbook has replaced `.md` by `.html` in it.
                outside = pathlib.Path(os.path.normpath(DOCS / target))
                markdown = outside.with_suffix(".md")
                outside = markdown if outside.suffix == ".html" and markdown.exists() else outside
                if not outside.exists():
                    faults.append(f"{path.name}: {link}: there is no {outside}")
                there = f"{url}/{outside.relative_to(ROOT)}" if url else os.path.relpath(outside, BOOK)
                path.write_text(path.read_text().replace(f'href="{link}"', f'href="{there}{"#" if name else ""}{name}"'))
            elif not file.exists():
                faults.append(f"{path.name}: {link}: there is no such file")
    print(f"{len(pages)} pages in {BOOK.relative_to(ROOT)}")
    sys.exit("\n".join(faults) or None)


if __name__ == "__main__":
    main()
