#!/usr/bin/env python3
"""Makes docs/editor.svg: the editor with a proposed change and an attached agent, from a real run in tmux.

Run from anywhere, after `cargo build --package ide-mcp-cli`: docs/screenshot.py [OUTPUT]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unicodedata
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/debug/ide-mcp"
COLUMNS, ROWS = 120, 24
# Of a cell, in pixels; texts are stretched to it, whatever font there is.
WIDTH, HEIGHT, FONT = 8.4, 18, 14
PATIENCE = 30

OLD = """\
use std::collections::BTreeMap;

/// What is in stock.
pub struct Store {
    items: BTreeMap<String, u32>,
}

impl Store {
    /// Takes one out.
    pub fn take(&mut self, name: &str) -> bool {
        let left = &mut self.items[name];
        *left = *left - 1;
        true
    }

    /// How many there are.
    pub fn count(&self, name: &str) -> u32 {
        self.items[name]
    }
}
"""
NEW = (
    OLD.replace("Takes one out.", "Takes one out, if there is one.")
    .replace("let left = &mut self.items[name];\n", "let left = self.items.get_mut(name);\n"
             "        let Some(left) = left else { return false };\n")
    .replace("*left = *left - 1;", "*left = left.saturating_sub(1);")
    .replace("self.items[name]\n", "self.items.get(name).copied().unwrap_or(0)\n")
)


class Pane:
    """The editor in a terminal of its own."""

    def __init__(self, place, home):
        self.socket = str(place / "tmux")
        # What it says if it cannot begin stays to be seen.
        self.run("new-session", "-d", "-s", "t", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(place / "store"),
                 f"env -u CLAUDE_CONFIG_DIR HOME={home} COLORTERM=truecolor {PROGRAM} editor; cat")

    def run(self, *arguments):
        command = ["tmux", "-S", self.socket, "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def screen(self, *options):
        return self.run("capture-pane", "-p", "-t", "t", *options)

    def wait(self, text):
        until = time.monotonic() + PATIENCE
        while text not in self.screen():
            if time.monotonic() > until:
                sys.exit(f"{text!r} does not come; there is:\n{self.screen()}")
            time.sleep(0.05)

    def settled(self):
        """The whole screen with its colours, once nothing changes any more."""
        before, now = None, self.screen("-e", "-N")
        while before != now:
            time.sleep(0.2)
            before, now = now, self.screen("-e", "-N")
        return now

    def keys(self, *keys):
        self.run("send-keys", "-t", "t", *keys)


def picture_of_a_run():
    """The screen, with the sequences that colour it."""
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        home, project = place / "home", place / "store"
        (project / "src").mkdir(parents=True)
        home.mkdir()
        (project / "src/store.rs").write_text(OLD)
        (place / "new.rs").write_text(NEW)
        (place / "notes").write_text("`take` says what is missing.\n")
        pane = Pane(place, home)
        agents = []
        try:
            pane.wait("nobody attached")
            environment = {key: value for key, value in os.environ.items() if not key.startswith("CLAUDE")}
            for path, proposal in [("src/store.rs", "new.rs"), ("CHANGES.md", "notes")]:
                command = [PROGRAM, "agent", "diff", path, place / proposal]
                agents.append(subprocess.Popen(command, cwd=project, env=environment | {"HOME": str(home)},
                                               stdout=subprocess.DEVNULL))
                pane.wait(path)
            pane.wait("a accept")
            pane.keys("v")
            pane.wait("│")
            return pane.settled()
        finally:
            pane.run("kill-server")
            for agent in agents:
                agent.wait(PATIENCE)


def runs_of(line, look):
    """The pieces of a line that look alike: text, its columns, and the look, which goes on in the next line."""
    column, text, start = 0, "", 0
    at = 0
    while at < len(line):
        if line.startswith("\x1b[", at):
            end = line.index("m", at)
            if text:
                yield text, start, column - start, dict(look)
            text, start = "", column
            wear(look, line[at + 2:end])
            at = end + 1
            continue
        text += line[at]
        column += 2 if unicodedata.east_asian_width(line[at]) in "WF" else 1
        at += 1
    if text:
        yield text, start, column - start, dict(look)


def wear(look, parameters):
    numbers = [int(number or 0) for number in parameters.replace(":", ";").split(";")]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            look.clear()
        elif number == 1:
            look["bold"] = True
        elif number in (38, 48) and numbers[0] == 2:
            colour = "#" + "".join(f"{part:02x}" for part in numbers[1:4])
            look["text" if number == 38 else "ground"] = colour
            del numbers[:4]
        elif number == 39:
            look.pop("text", None)
        elif number == 49:
            look.pop("ground", None)


def svg(screen):
    width, height = COLUMNS * WIDTH, ROWS * HEIGHT
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
           f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" '
           f'font-size="{FONT}">')
    yield "<title>The editor shows a proposed change side by side; an agent waits for the verdict</title>"
    yield f'<clipPath id="screen"><rect width="{width:g}" height="{height:g}" rx="8"/></clipPath>'
    yield '<g clip-path="url(#screen)">'
    yield f'<rect width="{width:g}" height="{height:g}" fill="#1c1f26"/>'
    texts, running = [], {}
    for row, line in enumerate(screen.rstrip("\n").split("\n")):
        for text, column, columns, look in runs_of(line, running):
            x, y = column * WIDTH, row * HEIGHT
            if "ground" in look:
                # A little more, so that no seams are seen.
                yield (f'<rect x="{x:.1f}" y="{y}" width="{columns * WIDTH + 0.3:.1f}" height="{HEIGHT + 0.3:g}" '
                       f'fill="{look["ground"]}"/>')
            bare = text.strip()
            if not bare:
                continue
            indent = len(text) - len(text.lstrip())
            x += indent * WIDTH
            long = (columns - (len(text) - len(bare))) * WIDTH
            weight = ' font-weight="bold"' if look.get("bold") else ""
            texts.append(f'<text x="{x:.1f}" y="{y + HEIGHT - 5}" textLength="{long:.1f}" '
                         f'lengthAdjust="spacingAndGlyphs" xml:space="preserve" '
                         f'fill="{look.get("text", "#c8ccd4")}"{weight}>{escape(bare)}</text>')
    yield from texts
    yield "</g>"
    yield "</svg>"


def main():
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/editor.svg"
    output.write_text("\n".join(svg(picture_of_a_run())) + "\n")


if __name__ == "__main__":
    main()
