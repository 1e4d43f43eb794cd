#!/usr/bin/env python3
"""Draws the bar charts of performance.md from what the benches print.

Run: cargo run --release --manifest-path benches/Cargo.toml -- echo memory call-sockets | docs/performance/draw.py
"""

import pathlib
import re
import sys

# The file, the beginning of the table's name, the column, and what the numbers are.
CHARTS = [
    ("call-sockets-100", "tools/call over loopback, 100 B, 16 in flight", 1, "A tools/call of 100 B over loopback, 16 in flight: ns of CPU"),
    ("memory", "1000 connections, each of which", 1, "An idle connection: KiB of memory"),
    ("echo-64", "echo, 125 B, 64 in flight", 0, "Echo of 125 B, 64 in flight: messages per second"),
]
STYLE = """text { font: 13px system-ui, sans-serif; fill: #1f2328; } .title { font-weight: 600; font-size: 14px; }
.number { fill: #59636e; } .other { fill: #8c959f; } .ours { fill: #0969da; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .number { fill: #9198a1; } .other { fill: #656c76; } .ours { fill: #4493f8; }
}"""
NAMES = {"bare loop": "ide-mcp on a thread"}
LONGEST = 410


def rows(output, table, column):
    """The name and the number of each row of a table."""
    lines = output.split("\n" + table, 1)[1].split("\n\n")[1].splitlines()[1:]
    for line in lines:
        name, *cells = re.split(r"\s{2,}", line.strip())
        if cells[column] != "-":
            yield NAMES.get(name, name), cells[column]


def chart(title, bars):
    most = max(float(number.replace(",", "")) for _, number in bars)
    height = 46 + 24 * len(bars)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" role="img" aria-label="{title}">'
    yield f'<style>\n{STYLE}\n</style>\n<text class="title" x="8" y="22">{title}</text>'
    for at, (name, number) in enumerate(bars):
        y, width = 38 + 24 * at, LONGEST * float(number.replace(",", "")) / most
        whose = "ours" if name.startswith("ide-mcp") else "other"
        yield (f'<text x="212" y="{y + 14}" text-anchor="end">{name}</text>'
               f'<rect class="{whose}" x="220" y="{y}" width="{width:.1f}" height="18" rx="2"/>'
               f'<text class="number" x="{226 + width:.1f}" y="{y + 14}">{number}</text>')
    yield "</svg>\n"


output = sys.stdin.read()
for file, table, column, title in CHARTS:
    drawn = "\n".join(chart(title, list(rows(output, table, column))))
    pathlib.Path(__file__).with_name(f"{file}.svg").write_text(drawn)
