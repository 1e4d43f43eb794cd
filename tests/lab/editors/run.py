#!/usr/bin/env python3
"""Real editors with the plugins of this project, driven by keys in tmux and by `ide-mcp agent --script`.

    run.py [--list] [--tree] EDITOR[=PROGRAM] [PATTERN]
    run.py nvim 'proposal_*'
    run.py nvim=target/newer/bin/nvim 'hostile_*'

EDITOR is nvim, vim, emacs, or nvim_ffi: Neovim with the C library (target/debug/libidemcp.so) in its process instead of
the sidecar. PROGRAM is another program of this editor, such as one that newer.sh has unpacked. With --tree, the
plugin is that of the checkout, so you can change it without a build; --list prints the names of the scenarios. Needs
tmux, the editor, and target/debug/ide-mcp (cargo build --package ide-mcp-cli). Each scenario has an empty home and a
folder of its own. Prints each scenario; the exit status is not 0 if one fails. Takes eight minutes for each editor.
"""

import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "target/debug/ide-mcp"
PATIENCE = 15
READING = 0.6  # a view accepts nothing in its first half second
EDITORS = ["nvim", "vim", "emacs", "nvim_ffi"]

sys.path.insert(0, str(pathlib.Path(__file__).parent))


class Failure(Exception):
    """A scenario did not go as expected."""


def await_(what, check, within=PATIENCE):
    """Repeats a check until it returns something true, and returns that."""
    end = time.monotonic() + within
    while not (found := check()):
        if time.monotonic() > end:
            raise Failure(f"not within {within} s: {what}")
        time.sleep(0.05)
    return found


class Room:
    """An editor in a terminal, and its agents."""

    def __init__(self, editor, home):
        self.keys = editor
        self.home = home
        self.folder = home / "project"
        self.folder.mkdir()
        # The text begins with a character outside the basic plane, which takes two UTF-16 units.
        self.write("a.txt", "𝒳bc def\nsecond\nthird\n")
        self.write("b.txt", "other\n")
        self.environment = {
            "HOME": str(home),
            "PATH": f"{PROGRAM.parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        self.agents = []

    # --- The editor

    def tmux(self, *arguments):
        command = ["tmux", "-S", str(self.home / "tmux"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def start(self, file="a.txt"):
        command = self.keys.command(ROOT, self.home, file)
        words = [f"{name}={value}" for name, value in self.environment.items()]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", "-c", str(self.folder),
                  "env", "-i", *words, *command)
        self.lock()
        self.shows(self.keys.DETACHED)

    def narrow(self):
        """Makes the screen 80 columns wide, as terminals usually are."""
        self.tmux("resize-window", "-x", "80")

    def restart(self, *keys):
        """Types keys that change an option, and starts the sidecar again."""
        self.type(*keys, *self.keys.STOP)
        self.no_lock()
        self.type(*self.keys.START)

    def type(self, *keys):
        """Types texts, and keys in angle brackets such as <Enter>. At <Reading> it pauses, as a person who reads a new view."""
        for key in keys:
            if key == "<Reading>":
                time.sleep(READING)
                continue
            name = re.fullmatch(r"<(.+)>", key)
            self.tmux("send-keys", *([name[1]] if name else ["-l", key]))

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def shows(self, pattern, within=PATIENCE):
        await_(f"the screen shows {pattern}", lambda: re.search(pattern, self.screen(), re.M), within)

    def hides(self, pattern, within=PATIENCE):
        await_(f"the screen hides {pattern}", lambda: not re.search(pattern, self.screen(), re.M), within)

    def proposal(self, name="a.txt"):
        """Returns the pattern of the view of a proposal for a file."""
        return self.keys.PROPOSAL.replace("NAME", re.escape(name))

    def question(self, name="ide-mcp-agent"):
        """Returns the pattern of the question about the agent with this name, or about any agent. A box wraps it at any place."""
        words = (f'calls itself "{name}" ' if name else "") + "asks to attach. Let it attach?"
        return r"[\s│|\\]*".join(re.escape(character) for character in words if character != " ")

    def styles(self, text):
        """Returns the colors and attributes of a text on the screen, for each place where it occurs."""
        found = []
        for line in self.tmux("capture-pane", "-p", "-e").splitlines():
            plain, looks, look = "", [], {}
            for codes, character in re.findall(r"\x1b\[([0-9;:]*)m|(.)", line):
                if character:
                    plain += character
                    looks.append(" ".join(look[kind] for kind in sorted(look)))
                elif codes in ("", "0"):
                    look = {}
                else:  # such as 31 or 38;5;9 for a text color, and 39 for the default
                    first = int(re.match(r"\d+", codes)[0])
                    kind = "text" if first in (*range(30, 40), *range(90, 98)) else "ground" if first >= 40 else codes
                    look.pop(kind, None)
                    if first not in (39, 49):
                        look[kind] = codes
            for place in re.finditer(re.escape(text) + r"(?!\w)", plain):
                found.append(sorted(set(looks[place.start():place.end()])))
        return sorted(found)

    def type_into_ended_proposal(self):
        """Types into a proposal for b.txt without a pause, also for two seconds after its agent has gone."""
        agent = self.play(self.propose("b.txt", "new\n"), {"sleep": 20000})
        self.shows(self.proposal("b.txt"))
        self.type(*self.keys.BEGIN_INSERTING, "typing")
        self.shows("typing")
        agent.process.kill()
        for _ in range(20):
            self.type("x")
            time.sleep(0.1)

    def made_up_events(self):
        """Starts the sidecar through a script. Returns a function by which the test adds events to those of the sidecar."""
        self.write("events", "")
        self.write("talks", "tail -f --pid=$$ events &\nexec ide-mcp sidecar\n")
        self.restart(*self.keys.sidecar("sh", "talks"))
        self.lock()

        def event(name, **members):
            with open(self.path("events"), "a", encoding="utf-8") as events:
                events.write(json.dumps({"event": name, **members}, ensure_ascii=False) + "\n")

        return event

    def pid(self):
        """Returns the process of the editor: the one that the terminal has started, or a child of it if that is a wrapper.

        Since 0.9, Neovim is a child of the process that draws its screen. Returns None if the terminal is gone.
        """
        pane = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        if not pane:
            return None
        process = int(pane)
        name = self.keys.PROGRAM.rpartition("/")[2]
        while True:
            child = next((child for child, words in children(process) if is_editor(name, words)), None)
            if child is None or is_editor(name, words_of(process)[:1]) and "--embed" not in words_of(child):
                return process
            process = child

    def locks(self):
        return list((self.home / ".claude/ide").glob("*.lock"))

    def lock(self):
        """Waits until the editor listens, and returns its lock file."""
        return await_("there is a lock file", self.locks)[0]

    def no_lock(self, within=PATIENCE):
        await_("the lock file is removed", lambda: not self.locks(), within)

    def sidecars(self):
        """Returns the processes of the sidecar: the children of the editor with this name."""
        found = subprocess.run(["pgrep", "-f", "ide-mcp sidecar", "-P", str(self.pid())], capture_output=True, text=True,
                               check=False)
        return [int(process) for process in found.stdout.split()]

    def sidecar(self):
        """Waits until a sidecar runs, and returns its process."""
        return await_("there is a sidecar", self.sidecars)[0]

    def lose_sidecar(self):
        """Kills the sidecar, and waits until the next one listens."""
        lost, before = self.sidecar(), self.lock().stat().st_mtime_ns
        os.kill(lost, signal.SIGKILL)
        await_("another sidecar runs", lambda: lost not in self.sidecars())
        await_("it listens", lambda: self.lock().stat().st_mtime_ns != before)

    # --- Files

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def has(self, name, text):
        path = self.folder / name
        await_(f"{name} has the text {text!r}", lambda: path.exists() and path.read_text() == text)

    # --- Agents

    def run(self, *arguments):
        """Runs a command of the agent, and returns its output."""
        command = [str(PROGRAM), "agent", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=60)
        return done.stdout + done.stderr

    def spawn(self, *arguments):
        """Starts a command of the agent."""
        agent = Agent(self, arguments)
        self.agents.append(agent)
        return agent

    def play(self, *lines):
        """Starts an agent with a script: each line is one of `ide-mcp help scripts`."""
        script = self.home / f"script-{len(self.agents)}"
        script.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return self.spawn("--json", "--script", str(script))

    def propose(self, name, text, tab="tab"):
        arguments = {"new_file_path": self.path(name), "old_file_path": self.path(name), "new_file_contents": text,
                     "tab_name": tab}
        return {"call": "openDiff", "arguments": arguments}

    def end(self):
        for agent in self.agents:
            agent.process.kill()
            agent.process.wait()
        editor = self.pid()
        self.tmux("kill-server")
        # When the terminal is gone, the editor writes its history into its home. One that blocks on a file must be
        # killed.
        patience = time.monotonic() + PATIENCE
        while editor and words_of(editor):
            if time.monotonic() > patience:
                os.kill(editor, signal.SIGKILL)
            time.sleep(0.02)


def words_of(process):
    try:
        return [os.fsdecode(word) for word in pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[:-1]]
    except OSError:
        return []


def children(process):
    """Returns the children of a process, each with the words of its command."""
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout.split()
    return [(int(child), words_of(child)) for child in found]


def is_editor(name, words):
    """Returns true if a command runs the editor itself. A wrapper has the editor's program in one of its other words."""
    return any(word.rpartition("/")[2] == name for word in words)


class Agent:
    """A running command of the agent."""

    def __init__(self, room, arguments):
        self.output = room.home / f"output-{len(room.agents)}"
        with open(self.output, "w", encoding="utf-8") as output:
            self.process = subprocess.Popen([str(PROGRAM), "agent", *arguments], cwd=room.folder, env=room.environment,
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def text(self):
        return self.output.read_text()

    def changed(self):
        """Returns the lists of files whose problems changed, as URIs that the agent received."""
        lines = [json.loads(line) for line in self.text().splitlines()]
        return [line["params"]["uris"] for line in lines if line["event"] == "diagnostics_changed"]

    def steps(self, count):
        """Waits until so many expectations were met."""
        await_(f"{count} steps", lambda: self.text().count('"event":"step"') >= count)

    def done(self):
        """Waits for the end of the command, and fails if it failed: if an expectation of a script was not met."""
        if self.process.wait(60) != 0:
            raise Failure(f"the agent: {self.text()}")


def outcome(tool, result=None, within=PATIENCE * 1000):
    """Returns an expectation for a script: the outcome of a call, whose result has these members."""
    expected = {"event": "outcome", "tool": tool}
    if result is not None:
        expected["outcome"] = {"result": result}
    return {"expect": expected, "within": within}


def texts(*blocks):
    return {"content": [{"type": "text", "text": block} for block in blocks]}


def pushed(name, params):
    return {"expect": {"event": name, "params": params}, "within": PATIENCE * 1000}


def main():
    arguments = sys.argv[1:]
    only_list = "--list" in arguments
    if "--tree" in arguments:
        os.environ["IDE_MCP_PLUGIN_TREE"] = "1"
    arguments = [argument for argument in arguments if argument not in ("--list", "--tree")]
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    name, _, program = arguments[0].partition("=")
    if name not in EDITORS:
        sys.exit(f"there is no editor {name} here, only {', '.join(EDITORS)}")
    editor = __import__(name)
    if program:
        editor.PROGRAM = str(pathlib.Path(program).resolve())
    modules = ["scenarios", "edges", "hostile", *getattr(editor, "OWN_SCENARIOS", [])]
    scenarios = [scenario for module in modules for scenario in __import__(module).ALL]
    pattern = arguments[1] if len(arguments) > 1 else "*"
    chosen = [scenario for scenario in scenarios if fnmatch.fnmatch(scenario.__name__, pattern)]
    if not chosen:
        sys.exit(f"no scenario is called {pattern}; --list prints the names")
    if only_list:
        return print("\n".join(scenario.__name__ for scenario in chosen))
    for tool in ["tmux", editor.PROGRAM]:
        if not shutil.which(tool):
            sys.exit(f"install {tool} first: it is not here")
    if not PROGRAM.exists():
        sys.exit(f"there is no {PROGRAM.relative_to(ROOT)}: cargo build --package ide-mcp-cli")
    # The plugin comes from the program, which contains it.
    built = PROGRAM.read_bytes()
    for file in (ROOT / "adapters/editors" / name.partition("_")[0]).rglob("*.*"):
        is_code = file.suffix in (".el", ".lua", ".vim") and "IDE_MCP_PLUGIN_TREE" not in os.environ
        if is_code and file.read_bytes() not in built:
            sys.exit(f"{PROGRAM.relative_to(ROOT)} has another {file.name} in it: cargo build --package ide-mcp-cli, or pass --tree")
    failed = 0
    absent = getattr(editor, "ABSENT", {})
    for scenario in [scenario for scenario in chosen if scenario.__name__ in absent]:
        print(f"skip  {scenario.__name__}: {absent[scenario.__name__]}")
    chosen = [scenario for scenario in chosen if scenario.__name__ not in absent]
    for scenario in chosen:
        begin = time.monotonic()
        problem = play(editor, scenario)
        print(f"{'FAIL' if problem else 'ok  '} {time.monotonic() - begin:5.1f} s  {scenario.__name__}", flush=True)
        if problem:
            failed += 1
            print("     " + problem.replace("\n", "\n     "), flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


def play(editor, scenario):
    """Plays a scenario, and returns what went wrong."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="ide-mcp-editor-"))
    room = Room(editor, home)
    try:
        scenario(room)
        return None
    except (Failure, subprocess.TimeoutExpired, IndexError, OSError) as error:
        return f"{error}\n{room.screen()}"
    finally:
        room.end()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ.pop("TMUX", None)
    # The scenarios import this module by its name.
    sys.modules["run"] = sys.modules["__main__"]
    main()
