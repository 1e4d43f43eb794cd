#!/usr/bin/env python3
"""Makes the pictures of the program from real runs in tmux: the demo with its first proposal (demo.svg), the editor with
a proposed change and an attached agent (editor.svg), the doctor for a wrong lock file (doctor.svg), and the live view of
the tap (tap.svg); with names of editors, the pictures of their plugins with a proposal.

Run from anywhere, after `cargo build --package ide-mcp-cli`: docs/screenshot.py [DIRECTORY [EDITOR…]]
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unicodedata
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/debug/ide-mcp"
# The eight colors of a terminal, on a dark ground.
PALETTE = ["#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4"]
TEXT, GROUND = "#c8ccd4", "#1c1f26"
# The size of a cell and of the font, in pixels. Each text is stretched to its cells, so any font fits.
WIDTH, HEIGHT, FONT = 8.4, 18, 14
# The space around the cells, in pixels.
FRAME = 8
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

TALK = """\

> `take` panics without the item. Please
  fix that.

* I propose a change of src/store.rs, and
  wait for your decision.

"""


class Pane:
    """A program in a terminal of its own."""

    def __init__(self, place, columns, rows, command):
        self.socket = str(place / "tmux")
        environment = f"env -u CLAUDE_CONFIG_DIR -u TMUX HOME={place / 'home'} PATH={place / 'bin'}:{PROGRAM.parent}:$PATH COLORTERM=truecolor"
        # The message of a program that cannot begin stays on the screen.
        self.run("new-session", "-d", "-s", "t", "-x", str(columns), "-y", str(rows), "-c", str(place / "store"),
                 f"{environment} {command}; cat")

    def run(self, *arguments):
        command = ["tmux", "-S", self.socket, "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def screen(self, *options):
        return self.run("capture-pane", "-p", "-t", "t", *options)

    def wait(self, text):
        self.wait_for(re.escape(text))

    def wait_for(self, pattern):
        until = time.monotonic() + PATIENCE
        while not re.search(pattern, self.screen()):
            if time.monotonic() > until:
                sys.exit(f"{pattern!r} does not appear within {PATIENCE} s; the screen is:\n{self.screen()}")
            time.sleep(0.05)

    def settled(self):
        """Returns the whole screen with its colors, once nothing changes any more."""
        before, now = None, self.screen("-e", "-N")
        while before != now:
            time.sleep(0.2)
            before, now = now, self.screen("-e", "-N")
        return now

    def keys(self, *keys):
        self.run("send-keys", "-t", "t", *keys)

    def end(self):
        """Ends the terminal, and waits for its processes: the next picture needs the same port."""
        session = self.run("display-message", "-p", "-t", "t", "#{pane_pid}").strip()
        self.run("kill-server")
        until = time.monotonic() + PATIENCE
        while subprocess.run(["pgrep", "-s", session], stdout=subprocess.DEVNULL, check=False).returncode == 0:
            if time.monotonic() > until:
                sys.exit(f"the programs of the terminal did not end within {PATIENCE} s")
            time.sleep(0.05)


class Place:
    """A directory with a home and a project, and the programs that run there."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = pathlib.Path(self.directory.name)
        (self.path / "store/src").mkdir(parents=True)
        (self.path / "home").mkdir()
        (self.path / "store/src/store.rs").write_text(OLD)
        (self.path / "new.rs").write_text(NEW)
        (self.path / "notes").write_text("`take` says what is missing.\n")
        self.panes, self.programs = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pane in self.panes:
            pane.end()
        for program in self.programs:
            program.terminate()
            program.wait(PATIENCE)
        self.directory.cleanup()

    def pane(self, columns, rows, command):
        self.panes.append(Pane(self.path, columns, rows, command))
        return self.panes[-1]

    def start(self, *arguments):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("CLAUDE") and key != "TMUX"}
        program = subprocess.Popen([PROGRAM, *arguments], cwd=self.path / "store", stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   env=environment | {"HOME": str(self.path / "home")})
        self.programs.append(program)
        return program

    def agent(self):
        """Puts an agent into PATH that proposes a change, and says so."""
        (self.path / "bin").mkdir()
        agent = self.path / "bin/claude"
        agent.write_text(f"#!/bin/sh\ncat <<'END'\n{TALK}END\nexec ide-mcp agent diff src/store.rs ../new.rs\n")
        agent.chmod(0o755)

    def steady(self, screen):
        """Replaces the parts of a screen that differ between two runs: paths, and the port of a tap."""
        screen = screen.replace(str(self.path / "store"), "/home/me/store").replace(str(self.path / "home"), "/home/me")
        screen = re.sub(r"(process )\d+", r"\g<1>4321", screen)
        return re.sub(r"(listening on port |lock file is \S*/|SSE_PORT=|agent --port )\d+", r"\g<1>52222", screen)


def demo():
    """Returns the screen of the demo, after the person has selected a line: the agent proposes a change."""
    with Place() as place:
        pane = place.pane(108, 16, "ide-mcp demo")
        pane.wait("Select a line")
        pane.keys("S-Down")
        pane.wait("Press a to accept it.")
        pane.wait("a accept")
        screen = pane.settled()
        # The demo removes its folder.
        pane.keys("C-q")
        pane.wait("again ends")
        pane.keys("C-q")
        pane.wait("ended by")
        return screen


def editor():
    """Returns the screen of the editor with a proposal, side by side, while another proposal waits."""
    with Place() as place:
        pane = place.pane(120, 24, "ide-mcp editor --port 41111")
        pane.wait("nobody attached")
        for path, proposal in [("src/store.rs", "new.rs"), ("CHANGES.md", "notes")]:
            place.start("agent", "diff", path, str(place.path / proposal))
            pane.wait(path)
        pane.wait("a accept")
        pane.keys("v")
        pane.wait("│")
        return pane.settled()


def doctor():
    """Returns the screen of the doctor for a lock file whose token the editor refuses."""
    with Place() as place:
        running = place.start("editor", "--headless", "--port", "41111", "--name", "My Editor")
        running.stdout.readline()
        lock = place.path / "home/.claude/ide/41111.lock"
        lock.write_text(re.sub('"authToken":"[^"]*"', '"authToken":"an-old-token"', lock.read_text()))
        pane = place.pane(112, 40, "ide-mcp doctor")
        pane.wait("ok:")
        return "$ ide-mcp doctor\n" + place.steady(pane.settled()).rstrip()


def tap():
    """Returns the live view of a tap, after an agent has proposed a change."""
    with Place() as place:
        running = place.start("editor", "--headless", "--port", "41111", "--on-diff", "accept")
        running.stdout.readline()
        shown = ["getOpenEditors", "openDiff", "closeAllDiffTabs"]
        command = "ide-mcp tap " + " ".join(f"--only {word}" for word in shown)
        pane = place.pane(120, 40, command)
        pane.wait("listening on port ")
        port = re.search(r"listening on port (\d+)", pane.screen())[1]
        agent = place.start("agent", "--port", port, "calls")
        calls = ["getOpenEditors {}", 'openDiff {"old_file_path":"notes","new_file_path":"notes",'
                 '"new_file_contents":"Hello.","tab_name":"notes"}', "closeAllDiffTabs {}"]
        for call in calls:
            agent.stdin.write(call + "\n")
            agent.stdin.flush()
            agent.stdout.readline()
        agent.stdin.close()
        agent.wait(PATIENCE)
        pane.wait("over, ")
        lines = place.steady(pane.settled()).rstrip().split("\n")
        return "\n".join([f"$ {command}", *(steady_row(line, row) for row, line in enumerate(lines))])


def steady_row(line, row):
    """Replaces the times and numbers of bytes in a row of the tap."""
    line = re.sub(r"^(\x1b\[[0-9;]*m)?( +\d+\.\d{3})(?=  )", lambda found: (found[1] or "") + f"{row * 0.012:9.3f}", line)
    line = re.sub(r"in \d+(\.\d)? m?s", "in 12 ms", line)
    return re.sub(r"\d+ bytes to the editor and \d+ to", "1439 bytes to the editor and 907 to", line)


def plugin(name):
    """Returns the screen of an editor with a plugin, and with a proposal. The tests of the plugin know its command, and the
    keys that start an agent in a terminal of the editor, if there are any."""
    sys.path.insert(0, str(ROOT / "tests/lab/editors"))
    tested = __import__(name)
    with Place() as place:
        command = tested.command(ROOT, place.path / "home", "src/store.rs") + tested.PICTURE
        pane = place.pane(120, 24, shlex.join(command))
        pane.wait_for(tested.DETACHED)
        if keys := getattr(tested, "PICTURE_KEYS", None):
            place.agent()
            pane.keys(*keys)
        else:
            place.start("agent", "diff", "src/store.rs", str(place.path / "new.rs"))
        pane.wait_for(tested.PROPOSAL.replace("NAME", "store.rs"))
        return pane.settled()


def runs_of(line, look):
    """Yields the runs of a line with one look: text, first column, number of columns, and look.

    Changes `look`, which the next line continues.
    """
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


def width_of(line):
    """Returns the columns of a line."""
    runs = list(runs_of(line, {}))
    return runs[-1][1] + runs[-1][2] if runs else 0


def wear(look, parameters):
    numbers = [int(number or 0) for number in parameters.replace(":", ";").split(";")]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            look.clear()
        elif number == 1:
            look["bold"] = True
        elif number == 7:
            look["text"], look["ground"] = look.get("ground", GROUND), look.get("text", TEXT)
        elif 30 <= number <= 37 or 40 <= number <= 47:
            look["text" if number < 40 else "ground"] = PALETTE[number % 10]
        elif 90 <= number <= 97 or 100 <= number <= 107:
            look["text" if number < 100 else "ground"] = PALETTE[number % 10]
        elif number in (38, 48) and numbers[0] == 5:
            look["text" if number == 38 else "ground"] = color_of(numbers[1])
            del numbers[:2]
        elif number in (38, 48) and numbers[0] == 2:
            color = "#" + "".join(f"{part:02x}" for part in numbers[1:4])
            look["text" if number == 38 else "ground"] = color
            del numbers[:4]
        elif number == 39:
            look.pop("text", None)
        elif number == 49:
            look.pop("ground", None)


def color_of(number):
    """Returns one of the 256 colors: the palette twice, a cube of six by six by six, and grays."""
    if number < 16:
        return PALETTE[number % 8]
    if number < 232:
        levels = [0, 95, 135, 175, 215, 255]
        return "#" + "".join(f"{levels[(number - 16) // step % 6]:02x}" for step in (36, 6, 1))
    return "#" + f"{8 + 10 * (number - 232):02x}" * 3


def svg(title, screen):
    lines = screen.rstrip("\n").split("\n")
    columns, rows = max(width_of(line) for line in lines), len(lines)
    width, height = columns * WIDTH + 2 * FRAME, rows * HEIGHT + 2 * FRAME
    frame = f'x="{-FRAME}" y="{-FRAME}" width="{width:g}" height="{height:g}"'
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-FRAME} {-FRAME} {width:g} {height:g}" '
           f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" '
           f'font-size="{FONT}">')
    yield f"<title>{escape(title)}</title>"
    yield f'<clipPath id="screen"><rect {frame} rx="8"/></clipPath>'
    yield '<g clip-path="url(#screen)">'
    yield f'<rect {frame} fill="{GROUND}"/>'
    texts, running = [], {}
    for row, line in enumerate(lines):
        for text, column, length, look in runs_of(line, running):
            x, y = column * WIDTH, row * HEIGHT
            if "ground" in look:
                # The rectangle is slightly larger than its cells, so that no seams show.
                yield (f'<rect x="{x:.1f}" y="{y}" width="{length * WIDTH + 0.3:.1f}" height="{HEIGHT + 0.3:g}" '
                       f'fill="{look["ground"]}"/>')
            bare = text.strip()
            if not bare:
                continue
            indent = len(text) - len(text.lstrip())
            x += indent * WIDTH
            long = (length - (len(text) - len(bare))) * WIDTH
            weight = ' font-weight="bold"' if look.get("bold") else ""
            texts.append(f'<text x="{x:.1f}" y="{y + HEIGHT - 5}" textLength="{long:.1f}" '
                         f'lengthAdjust="spacingAndGlyphs" xml:space="preserve" '
                         f'fill="{look.get("text", TEXT)}"{weight}>{escape(bare)}</text>')
    yield from texts
    yield "</g>"
    yield "</svg>"


PICTURES = [
    (demo, "On the left the editor shows a change; on the right the agent that proposes it says what it does"),
    (editor, "The editor shows a proposed change side by side; an agent waits for the verdict"),
    (doctor, "The doctor explains why an agent does not attach, and how to fix that"),
    (tap, "The tap shows the messages between an agent and an editor as they pass"),
]


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    directory.mkdir(parents=True, exist_ok=True)
    pictures = [(make.__name__, title, make) for make, title in PICTURES]
    if len(sys.argv) > 2:
        title = "An agent proposes a change in {}"
        pictures = [(name, title.format(name), lambda name=name: plugin(name)) for name in sys.argv[2:]]
    for name, title, make in pictures:
        (directory / f"{name}.svg").write_text("\n".join(svg(title, make())) + "\n")


if __name__ == "__main__":
    main()
