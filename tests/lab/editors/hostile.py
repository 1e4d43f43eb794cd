"""What an agent with the right token can name, send or leave behind to harm the person.

Each scenario plays the rows of a table in one editor. After each row, this must hold: nothing was executed, each key of the
person has arrived, the editor shows a key within LIMIT, its memory stays within MEMORY of its start, nothing of a view
is left behind, and the agent has an answer to each call.
"""

import base64
import json
import os
import random
import re
import socket
import struct
import subprocess
import threading
import time

from run import Failure, await_

# The maximum time until a key is on the screen, in seconds. A busy machine must not make a row fail. So the time in
# which the editor waited for a processor does not count. And because tmux and the test wait for a processor too,
# SLOW_MACHINE times the time of a key before the row, when no agent acted, is added.
LIMIT, SLOW_MACHINE = 0.5, 8
MEMORY = 200 << 20  # how much the editor may grow, in bytes
QUIET = 0.5  # a view opens after so many seconds without a key

# If an editor executes a command in a name or a text, it leaves this file in the folder.
CANARY = "pwned"
TOUCH = f"writefile([],'{CANARY}')"
LUA = "lua(os.execute)(string.char(%s))" % ",".join(str(byte) for byte in f"touch {CANARY}".encode())

NAMES = {
    "line feed that ends Vim": "x\ncq",
    "line feed and a script": "x\nso evil.vim",
    "line feed and Lua": f"x\n{LUA}",
    "carriage return": "x\rcq",
    "bar": f"x|call {TOUCH}",
    "percent": "100%",
    "alternate file": "#1",
    "backtick": f"`touch {CANARY}`",
    "backtick with an expression": f"`={TOUCH}`",
    "quotes": "\"it's\"",
    "shell": f"$(touch {CANARY})",
    "expression": f"={TOUCH}",
    "status line": f"%{{{TOUCH}}}",
    "status line, evaluated twice": f"%{{%'%{{{TOUCH}}}'%}}",
    "mode line of Emacs": f'%[(:eval (write-region "" nil "{CANARY}"))',
    "command as an argument": f"+call {TOUCH}",
    "wildcards": "*[a-z]?{b,c}",
    "home": "~root",
    "escape": "x\x1b[31m\x1b:q!",
    "OSC": "x\x1b]52;c;cHduZWQ=\x07",
    "bidi": "a\u202etxt.b\u2066c",
    "spaces": " a  b ",
    "NUL": "a\0b",
    "4 KB": "n" * 4096,
    "empty": "",
}

# Forms of names that an editor could take for a file on another machine, of another user, or of a program.
REMOTE = [
    "/ssh:host:/x", "/sudo:root@localhost:/etc/shadow", "/scp:host:/x", "/ftp:host:/x", "/docker:box:/x",
    "/ssh:host|sudo:root@host:/x", "/su::/x", "scp://host/x", "sftp://host/x", "rsync://host/x", "ftp://host/x", "http://host/x",
    "file://host/x", f"term://touch {CANARY}", r"\\host\share\x", "man://touch", "zipfile:/x.zip::y",
]
PROGRAMS = ["ssh", "scp", "sftp", "rsync", "sudo", "su", "doas", "ftp", "curl", "wget", "gpg", "gpg2", "docker", "podman", "unzip"]

# Names of agents that look like an answer to the question about them.
SPOOFS = {
    "lines that look like answers": "claude-code attach?\n1: no\n2: yes\n\n",
    "answers within a line": 'x" attach? 1: Refuse, 2: Let it attach "',
    "keys": "claude-code attach? (y = no, n = yes)\n\n",
    "long": "claude-code " * 4000,
}


class RawAgent:
    """An agent that sends what our own programs never send: arbitrary names, and many calls at once."""

    def __init__(self, room, name="hostile", waits=True):
        lock = room.lock()
        token = json.loads(lock.read_text())["authToken"]
        self.socket = socket.create_connection(("127.0.0.1", int(lock.stem)), 20)
        self.socket.sendall((
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{lock.stem}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
            f"Sec-WebSocket-Protocol: mcp\r\nX-Claude-Code-Ide-Authorization: {token}\r\n\r\n").encode())
        self.input = self.socket.makefile("rb")
        if b" 101 " not in (first := self.input.readline()):
            raise Failure(f"the handshake: {first}")
        while self.input.readline().strip():
            pass
        self.socket.settimeout(None)
        self.answers, self.count, self.is_over = {}, 0, False
        self.mentions, self.lines = [], []  # the mentioned paths, and their first and last lines, or None
        threading.Thread(target=self.read, daemon=True).start()
        hello = self.request("initialize", {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}})
        if waits:
            self.answer(hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.send({"jsonrpc": "2.0", "method": "ide_connected", "params": {"pid": os.getpid()}})

    def frame(self, opcode, payload):
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        self.socket.sendall(head + bytes(4) + payload)  # a mask of zeros leaves each byte as it is

    def read(self):
        try:
            while len(head := self.input.read(2)) == 2:
                size = head[1] & 0x7F
                if size > 125:
                    size = int.from_bytes(self.input.read(2 if size == 126 else 8), "big")
                payload = self.input.read(size)
                if head[0] & 0xF == 9:
                    self.frame(10, payload)
                if head[0] & 0xF == 8:
                    self.frame(8, payload)
                    break
                if head[0] & 0xF == 1:
                    message = json.loads(payload)
                    if "method" not in message:
                        self.answers[message["id"]] = message
                    elif message["method"] == "at_mentioned":
                        mention = message["params"]
                        self.lines.append([mention[line] for line in ("lineStart", "lineEnd") if line in mention] or None)
                        self.mentions.append(mention["filePath"])
        except (OSError, ValueError):
            pass
        self.is_over = True

    def takes(self, *paths):
        """Waits until exactly these files were mentioned, and then forgets them."""
        await_(f"mentioned: {', '.join(paths)}", lambda: len(self.mentions) >= len(paths))
        if sorted(self.mentions) != sorted(paths):
            raise Failure(f"mentioned: {self.mentions}")
        self.mentions.clear()
        self.lines.clear()

    def send(self, message):
        self.frame(1, json.dumps(message).encode())

    def request(self, method, params):
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        return self.count

    def call(self, tool, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def propose(self, path, text, tab="tab", old=None):
        return self.call("openDiff", old_file_path=old or path, new_file_path=path, new_file_contents=text, tab_name=tab)

    def answer(self, call, within=20):
        """Waits for the answer to a request, and returns it as a string."""
        await_("the agent has an answer", lambda: call in self.answers, within)
        return json.dumps(self.answers[call])

    def fails(self, call):
        """Waits for the failure of a call."""
        answer = self.answers[call] if self.answer(call) else None
        if "error" not in answer and not answer["result"].get("isError"):
            raise Failure(f"the call did not fail: {json.dumps(answer)[:300]}")

    def end(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class Person:
    """A person whose editor is attacked: types, and measures how soon each key is on the screen."""

    def __init__(self, room, file="a.txt"):
        self.room = room
        self.count = 0
        self.typed = []
        self.rest = 0.0
        commands = room.home / "bin"
        commands.mkdir()
        for program in PROGRAMS:
            (commands / program).write_text(f'#!/bin/sh\necho "$0 $*" >>{room.home}/executed\nexit 1\n')
            (commands / program).chmod(0o755)
        room.environment["PATH"] = f"{commands}:{room.environment['PATH']}"
        room.write("evil.vim", f"call {TOUCH}\n")
        room.start(file)
        room.type(*room.keys.TRUSTING)
        self.pid = room.pid()
        self.memory = self.of_status("VmRSS")
        self.allowed = None
        for _ in range(5):
            self.command()

    def of_status(self, member):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith(member))

    def clock(self):
        """Returns the time in seconds, without the time in which the editor waited for a processor."""
        with open(f"/proc/{self.pid}/schedstat", encoding="utf-8") as times:
            return time.monotonic() - int(times.read().split()[1]) / 1e9

    def within(self, begin, more=0.0):
        """Fails if more time than allowed has passed since `begin`."""
        took, self.allowed = self.clock() - begin, LIMIT + more + SLOW_MACHINE * self.rest
        if took > self.allowed:
            raise Failure(f"no key for {took:.2f} s, more than {self.allowed:.2f} s")
        return took

    def key(self):
        """Types a text that is not on the screen yet, and waits until it is."""
        self.count += 1
        text = f"k{self.count}k"
        begin = self.clock()
        self.room.type(text)
        await_(f"the key {text} is on the screen", lambda: text in self.screen())
        return text, begin

    def screen(self):
        """Returns the screen without spaces and line breaks, so that wrapped text can be found."""
        return re.sub(r"[\s\\]", "", self.room.screen())

    def command(self):
        """Types an unfinished command, to check that the editor reads keys and that no dialog takes them."""
        self.room.type(*self.room.keys.BEGIN_COMMAND)
        _, begin = self.key()
        if self.allowed is None:
            self.rest = max(self.rest, self.clock() - begin)
        else:
            self.within(begin)
        self.room.type(*self.room.keys.ABANDON)

    def begin(self):
        self.room.type(*self.room.keys.BEGIN_INSERTING)
        text, begin = self.key()
        self.rest = max(self.clock() - begin, 0.02)
        self.typed = [text]

    def types(self):
        text, begin = self.key()
        self.within(begin)
        self.typed.append(text)

    def end(self):
        self.room.type("<Enter>", *self.room.keys.END_INSERTING)

    def is_unharmed(self):
        """Checks what must hold after each row."""
        executed = self.room.home / "executed"
        if executed.exists():
            raise Failure(f"programs were started: {executed.read_text()}")
        if found := [*self.room.folder.rglob(CANARY), *self.room.home.glob(CANARY)]:
            raise Failure(f"a command was executed: {found}")
        if (grown := self.of_status("VmHWM") - self.memory) > MEMORY:
            raise Failure(f"the editor has grown by {grown >> 20} MB")
        self.room.hides(self.room.proposal(""))
        await_("one window is left", lambda: self.room.screen().count("⧉") == 1)
        self.room.hides(self.room.keys.TABS)

    def returns(self):
        """Goes back to the first file, and checks that it has each key that was typed."""
        self.room.type(*self.room.keys.FIRST_FILE)
        await_("each key has arrived", lambda: "".join(self.typed) in self.screen())
        self.command()

    def reviews(self, agent, call, decide=None, look=None):
        """Types while an agent proposes, and decides on the proposal when it is shown. Returns whether it was shown."""
        end = time.monotonic() + 20

        def waits():
            self.types()
            return call in agent.answers or re.search(self.room.keys.NOTICE, self.room.screen())

        while not waits():
            if time.monotonic() > end:
                raise Failure("the proposal neither fails nor waits")
            time.sleep(0.1)
        if re.search(self.room.proposal(""), self.room.screen()):
            raise Failure("the proposal is shown while the person types")
        self.end()
        begin = self.clock()

        def is_shown():
            return re.search(self.room.proposal(""), self.room.screen())

        await_("an answer or a view", lambda: call in agent.answers or is_shown())
        if shown := is_shown() is not None:
            self.within(begin, QUIET)
            self.command()
            if look:
                look()
            self.room.type(*self.room.keys.ENDS_OF_TEXT)
            self.command()
            (decide or (lambda: self.room.type(*self.room.keys.REJECT)))()
        agent.answer(call)
        self.is_unharmed()
        self.returns()
        return shown

    def sees_file(self, agent, call, text):
        """Types while an agent opens a file, and checks that it is shown only after that."""
        for _ in range(4):
            self.types()
        self.end()
        begin = self.clock()
        if "Opened file" in (answer := agent.answer(call)):
            self.within(begin, QUIET)
            if text:
                self.room.shows(text)
        elif text:
            raise Failure(f"the file is not opened: {answer[:300]}")
        self.command()
        self.is_unharmed()
        self.returns()


def of_row(name, act):
    """Plays a row; a failure names it."""
    try:
        act()
    except (Failure, OSError, KeyError) as error:
        raise Failure(f"{name}: {error}") from error


def is_plain(name):
    """Returns true if a file with this name may be shown."""
    return name and name.isprintable() and len(name) < 256


def files_with_names(folder):
    """Makes a file for each name that a file can have, and returns their paths."""
    (folder / "names").mkdir()
    paths = {row: f"{folder}/names/{name}" for row, name in NAMES.items()}
    for row, name in NAMES.items():
        if 0 < len(name) < 256 and "\0" not in name:
            with open(paths[row], "w", encoding="utf-8") as file:
                file.write(f"text of {row}\n")
    return paths


# --- Names


def hostile_names_are_proposed(room):
    paths = files_with_names(room.folder)
    person = Person(room)
    agent = RawAgent(room)
    for row, path in paths.items():
        def act(row=row, path=path):
            person.begin()
            shown = person.reviews(agent, agent.propose(path, f"proposed text of {row}\n", NAMES[row]))
            if shown is not bool(is_plain(NAMES[row])) and NAMES[row].isascii():
                raise Failure("the proposal is shown" if shown else "the proposal is not shown")
        of_row(row, act)


def hostile_names_are_opened(room):
    paths = files_with_names(room.folder)
    person = Person(room)
    agent = RawAgent(room)
    for row, path in paths.items():
        def act(row=row, path=path):
            person.begin()
            text = f"text of {row}" if is_plain(NAMES[row]) and NAMES[row].isascii() else None
            person.sees_file(agent, agent.call("openFile", filePath=path), text)
        of_row(row, act)


def hostile_names_of_agents_and_tabs_are_shown(room):
    """The agent and not the person closes each tab."""
    person = Person(room)
    for row, name in {**NAMES, **SPOOFS}.items():
        def act(name=name):
            agent = RawAgent(room, name)
            person.begin()
            call = agent.propose(room.path("b.txt"), "new\n", name)
            close = ("close_tab", {"tab_name": name}) if name else ("closeAllDiffTabs", {})
            person.reviews(agent, call, lambda: agent.answer(agent.call(close[0], **close[1])))
            agent.end()
            room.shows(room.keys.DETACHED)
        of_row(row, act)


def hostile_names_of_agents_get_no_consent(room):
    person = Person(room)
    room.type(*room.keys.CONSENT)
    for row, name in {**NAMES, **SPOOFS}.items():
        def act(name=name):
            room.restart()  # a new sidecar does not know the refusal, and so asks at once
            room.lock()
            agent = RawAgent(room, name, waits=False)
            room.shows(room.question(None))
            lines = [line.strip() for line in room.screen().splitlines()]
            for part in re.split(r"[\r\n]+", name)[1:]:
                if part and any(line.startswith(part) for line in lines):
                    raise Failure(f"the name has a line of its own: {part}")
            time.sleep(QUIET)  # the person reads
            room.type(*room.keys.NO)
            await_("the agent is refused", lambda: agent.is_over)
            room.hides(room.question(None))
            room.hides(room.keys.ATTACHED.replace("ide-mcp-agent", ".*1"))
            person.command()
            person.is_unharmed()
        of_row(row, act)


def agent_without_a_name_is_asked_about(room):
    Person(room)
    room.type(*room.keys.CONSENT)
    room.restart()
    room.lock()
    RawAgent(room, "", waits=False)
    room.shows("An agent without a name asks to attach")


def hostile_names_are_asked_about(room):
    """By calls that show nothing, all at once."""
    paths = files_with_names(room.folder)
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    calls = {}
    for path in [*paths.values(), *NAMES.values(), *REMOTE]:
        for tool in ["checkDocumentDirty", "saveDocument"]:
            calls[tool, path] = agent.call(tool, filePath=path)
        calls["close_tab", path] = agent.call("close_tab", tab_name=path)
        calls["getDiagnostics", path] = agent.call("getDiagnostics", uri=path)
    end = time.monotonic() + 60
    while any(call not in agent.answers for call in calls.values()):
        person.types()
        if time.monotonic() > end:
            raise Failure(f"no answer: {[row for row, call in calls.items() if call not in agent.answers]}")
    person.end()
    person.is_unharmed()
    person.returns()


def names_of_other_machines_are_refused(room):
    person = Person(room)
    agent = RawAgent(room)
    for name in REMOTE:
        def act(name=name):
            person.begin()
            calls = [agent.call("openFile", filePath=name), agent.propose(name, "new\n"),
                     agent.propose(room.path("b.txt"), "new\n", old=name)]
            for _ in range(3):
                person.types()
            for call in calls:
                agent.fails(call)
            person.end()
            person.is_unharmed()
            person.returns()
        of_row(name, act)


def hostile_names_are_mentioned(room):
    paths = files_with_names(room.folder)
    person = Person(room)
    agent = RawAgent(room)
    for number in range(len(os.listdir(room.path("names")))):
        def act(number=number):
            room.type(*room.keys.open_nth("names", number))
            room.shows("text of")
            room.type(*room.keys.MENTION_FILE)
            person.command()
            person.is_unharmed()
            room.type(*room.keys.FIRST_FILE)
        of_row(f"name {number}", act)
    for row, path in paths.items():
        if is_plain(NAMES[row]):
            await_(f"the mention of the name with {row}", lambda path=path: path in agent.mentions)


# --- Special files


def kinds_of_files(folder):
    """Creates files on which an editor could block, or that never end. Returns their paths, and whether a proposal is shown."""
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    for name, target in {"to-fifo": "fifo", "to-zero": "/dev/zero", "to-itself": "to-itself", "dangling": "none",
                         "to-file": "b.txt", "to-folder": "/"}.items():
        (folder / name).symlink_to(target)
    refused = ["fifo", "folder", "socket", "to-fifo", "to-zero", "to-itself", "to-folder"]
    return {**{path: False for path in [*[f"{folder}/{name}" for name in refused], "/dev/zero", "/dev/tty", "/proc/kmsg", "/dev/fd/0"]},
            f"{folder}/dangling": True, f"{folder}/to-file": True}


def files_of_other_kinds_are_refused(room):
    paths = kinds_of_files(room.folder)
    person = Person(room)
    agent = RawAgent(room)
    for path, is_shown in paths.items():
        def act(path=path, is_shown=is_shown):
            for old, new in [(path, path), (path, room.path("b.txt")), (room.path("b.txt"), path)]:
                person.begin()
                if person.reviews(agent, agent.propose(new, "new\n", old=old)) is not is_shown:
                    raise Failure("the proposal is not shown" if is_shown else "the proposal is shown")
            person.begin()
            call = agent.call("openFile", filePath=path)
            person.sees_file(agent, call, "other" if path.endswith("to-file") else None)
            if not path.endswith("to-file"):
                agent.fails(call)
            person.begin()
            for call in [agent.call("checkDocumentDirty", filePath=path), agent.call("saveDocument", filePath=path),
                         agent.call("getDiagnostics", uri="file://" + path)]:
                person.types()
                agent.answer(call)
            person.end()
            person.is_unharmed()
            person.returns()
        of_row(path, act)


OLDER = "update ide-mcp: this sidecar does not check what agents name"


def events_of_an_older_sidecar_do_no_harm(room):
    """A sidecar from before these checks passes on everything. The test makes up its events, and reads the commands."""
    kinds_of_files(room.folder)
    room.write("events", "")
    room.write("older", "tail -f --pid=$$ events &\ntee commands | ide-mcp sidecar\n")
    person = Person(room)
    room.restart(*room.keys.sidecar("sh", "older"))
    room.lock()

    def event(**members):
        with open(room.path("events"), "a", encoding="utf-8") as events:
            events.write(json.dumps({"conn": 1, **members}) + "\n")

    def refused(call):
        with open(room.path("commands"), encoding="utf-8") as commands:
            sent = [json.loads(line) for line in commands if line.endswith("\n")]
        return {"cmd": "fail", "call": call, "message": OLDER} in sent

    paths = [room.path("b.txt"), room.path("x\ncq"), room.path("x\nso evil.vim"), room.path(f"x\n{LUA}"), room.path("fifo")]
    for number, path in enumerate([*paths, room.path("to-zero"), "/dev/zero", "/ssh:host:/x", "/sudo:root@localhost:/x", "scp://host/x"]):
        def act(number=number, path=path):
            event(event="connected", client="x\ncq", version=f"%{{{TOUCH}}}")
            room.hides(room.keys.DETACHED)
            call = 1000 + 3 * number
            event(event="call", call=call + 1, tool="openFile", arguments={"filePath": path}, path=path)
            event(event="call", call=call + 2, tool="checkDocumentDirty", arguments={"filePath": path}, path=path)
            event(event="diff", call=call, tab="x\ncq", path=path, old_path=path, outside=False, contents="new\n")
            await_("the proposal fails", lambda: refused(call))
            person.command()
            event(event="closed", conn=1, reason="over")
            room.shows(room.keys.DETACHED)
            person.is_unharmed()
            room.type(*room.keys.FIRST_FILE)
        of_row(path, act)


# --- Contents

SAME = "".join(f"line {number}\n" for number in range(1, 7))
CHANGED = SAME.replace("line 6", "line six")


def dos(text):
    return text.replace("\n", "\r\n")


# The old file, and the proposed text, which differs only in its last line.
ENCODINGS = {
    "BOM in both": (("\ufeff" + SAME).encode(), "\ufeff" + CHANGED),
    "BOM in the file": (("\ufeff" + SAME).encode(), CHANGED),
    "UTF-16, little-endian": (b"\xff\xfe" + SAME.encode("utf-16-le"), CHANGED),
    "UTF-16, big-endian": (b"\xfe\xff" + SAME.encode("utf-16-be"), CHANGED),
    "mixed line ends": (dos(SAME).replace("line 4\r", "line 4").encode(), dos(CHANGED).replace("line 4\r", "line 4")),
    "CRLF in the file": (dos(SAME).encode(), CHANGED),
    "CRLF in both": (dos(SAME).encode(), dos(CHANGED)),
    "NUL": (SAME.replace("line 3", "line\0 3").encode(), CHANGED.replace("line 3", "line\0 3")),
    "not UTF-8": (SAME.replace("line 3", "line \udcff").encode(errors="surrogateescape"),
                 CHANGED.replace("line 3", "line \ufffd")),
    "no last line end": (SAME.rstrip("\n").encode(), CHANGED.rstrip("\n")),
}


def encoding_of_a_file_is_not_a_change(room):
    """Lines that are the same on both sides are not marked, and the accepted text is the proposal, byte for byte."""
    person = Person(room)
    agent = RawAgent(room)
    for row, (before, text) in ENCODINGS.items():
        def act(before=before, text=text):
            (room.folder / "b.txt").write_bytes(before)
            person.begin()

            def look():
                room.shows("line six")
                first, middle, last = [room.styles(line) for line in ["line 1", "line 2", "line six"]]
                if first != middle:
                    raise Failure("the first line is marked as a change")
                if last == middle:
                    raise Failure("the last line is not marked as a change")

            call = agent.propose(room.path("b.txt"), text)
            person.reviews(agent, call, lambda: room.type(*room.keys.ACCEPT), look)
            accepted = agent.answers[call]["result"]["content"][1]["text"]
            if accepted != text:
                raise Failure(f"accepted: {accepted!r}")
        of_row(row, act)


def lines(count, seed, length=9):
    """Returns lines of digits, different ones for each seed."""
    return "".join(f"{seed}{number * 7919 % 10**length:0{length}}\n" for number in range(count))


LARGE = {
    "300,000 changed lines": (lambda: lines(300_000, "a"), lambda: lines(300_000, "b")),
    "every second of 200,000 lines": (
        lambda: lines(200_000, "a"),
        lambda: "".join("b" + line if at % 2 else line for at, line in enumerate(lines(200_000, "a").splitlines(True)))),
    "a new file of 300,000 lines": (lambda: None, lambda: lines(300_000, "b")),
    "one line of 15 MB": (lambda: "var x = 1;\n", lambda: "var x = {a: [1, 'b']};" * 680_000 + "\n"),
    "two lines of 7 MB": (lambda: "ab" * 3_500_000 + "\n", lambda: "ba" * 3_500_000 + "\n"),
    "one line of 1 MB of escapes": (lambda: "x\n", lambda: "\x01\x1b\0" * 350_000 + "\n"),
}


def large_proposals_are_shown_without_highlighting(room):
    person = Person(room)
    agent = RawAgent(room)
    for row, (before, text) in LARGE.items():
        def act(before=before, text=text):
            path = room.folder / "large.js"
            path.unlink(missing_ok=True)
            if (old := before()) is not None:
                path.write_text(old)
            person.begin()
            call = agent.propose(str(path), text())
            if not person.reviews(agent, call, look=lambda: room.shows(room.keys.TOO_LARGE)):
                raise Failure("the proposal is not shown")
        of_row(row, act)


def words(count, seed):
    """Returns lines of 90 digits. Two seeds have no line in common."""
    generator = random.Random(seed)
    return "".join(f"{generator.getrandbits(299):090}\n" for _ in range(count))


def many_changes_are_highlighted_quickly(room):
    rows = {
        "2,500 lines with other words": (words(2500, 1), words(2500, 2)),
        "900 places of 9,000 lines": (
            lines(9000, "a"),
            "".join(line if at % 10 else "b" + line for at, line in enumerate(lines(9000, "a").splitlines(True)))),
    }
    person = Person(room)
    agent = RawAgent(room)
    for row, (before, text) in rows.items():
        def act(before=before, text=text):
            room.write("b.txt", before)
            person.begin()

            def look():
                if re.search(room.keys.TOO_LARGE, room.screen()):
                    raise Failure("the changes are not highlighted")

            if not person.reviews(agent, agent.propose(room.path("b.txt"), text), look=look):
                raise Failure("the proposal is not shown")
        of_row(row, act)


def file_of_50_mb_is_refused(room):
    with open(room.path("huge.txt"), "w", encoding="utf-8") as file:
        file.write("0123456789\n" * (50_000_000 // 11))
    person = Person(room)
    agent = RawAgent(room)
    for act in [lambda: agent.propose(room.path("huge.txt"), "small\n"),
                lambda: agent.propose(room.path("b.txt"), "small\n", old=room.path("huge.txt")),
                lambda: agent.call("openFile", filePath=room.path("huge.txt"))]:
        person.begin()
        call = act()
        person.types()
        agent.fails(call)
        person.types()
        person.end()
        person.is_unharmed()
        person.returns()


def large_files_open_without_a_delay(room):
    """The person can type right after it."""
    rows = {"300,000 lines": lines(300_000, "a"), "one line of 15 MB": "var x = {a: [1, 'b']};" * 680_000 + "\n"}
    person = Person(room)
    agent = RawAgent(room)
    for row, text in rows.items():
        def act(text=text):
            room.write("large.js", text)
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path("large.js")), text[:10])
            os.remove(room.path("large.js"))
        of_row(row, act)


MODELINES = {
    "modeline": f"/* vim: set rightleft foldmethod=expr foldexpr={TOUCH} : */\nunfolded\n",
    "modeline that sets the status line": f"/* vim: set rightleft statusline=%{{{TOUCH}}} : */\nunfolded\n",
    "eval in the first line": f'/* -*- mode: text; eval: (write-region "" nil "{CANARY}") -*- */\nunfolded\n',
    "mode in the first line": "/* -*- mode: dired; buffer-read-only: t -*- */\nunfolded\n",
    "local variables": f'unfolded\n/* Local Variables:\n * eval: (write-region "" nil "{CANARY}")\n * mode: hexl\n * End:\n */\n',
    "project": f"unfolded\n# -*- compile-command: \"touch {CANARY}\"; buffer-file-coding-system: utf-16 -*-\n",
}


def modelines_are_not_obeyed(room):
    room.write(".dir-locals.el", f'((nil . ((eval . (write-region "" nil "{CANARY}")))))\n')
    for name in [".exrc", ".nvim.lua", ".nvimrc", ".vimrc"]:
        room.write(name, f"call {TOUCH}\n")
    person = Person(room)
    agent = RawAgent(room)
    for number, (row, text) in enumerate(MODELINES.items()):
        def act(number=number, text=text):
            name = f"modeline{number}.c"
            room.write(name, text)
            person.begin()
            person.reviews(agent, agent.propose(room.path(name), text + "more\n"), look=lambda: room.shows("unfolded"))
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path(name)), "unfolded")
        of_row(row, act)


def swap_file_raises_no_question(room):
    """The swap file belongs to an editor that died."""
    command = room.keys.leave_swap_file(room.path("b.txt"))
    editor = subprocess.Popen(command, cwd=room.folder, env=room.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await_("there is a swap file", lambda: [*room.home.rglob("*.swp"), *room.home.rglob(".*.swp")])
    editor.kill()
    editor.wait()
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.reviews(agent, agent.propose(room.path("b.txt"), "new\n"))
    for frontmost in [False, True]:
        person.begin()
        call = agent.call("openFile", filePath=room.path("b.txt"), makeFrontmost=frontmost)
        person.sees_file(agent, call, "other" if frontmost else None)


# --- The order of what is shown


def files_open_after_the_typing(room):
    """Files and proposals of several agents wait together, and none hides another."""
    person = Person(room)
    agents = [RawAgent(room) for _ in range(2)]
    person.begin()
    proposal = agents[0].propose(room.path("b.txt"), "new\n")
    files = [agent.call("openFile", filePath=room.path("b.txt")) for agent in agents]
    for _ in range(10):
        person.types()
        time.sleep(0.1)
    if any(call in agent.answers for agent, call in zip(agents, files)):
        raise Failure("a file is opened while the person types")
    person.end()
    room.shows(room.proposal("b.txt"))
    person.command()
    room.type(*room.keys.REJECT)
    for agent, call in [(agents[0], proposal), *zip(agents, files)]:
        agent.answer(call)
    person.is_unharmed()
    person.returns()


def view_that_fails_leaves_nothing_behind(room):
    person = Person(room)
    agent = RawAgent(room)
    room.type(*room.keys.FAILING_VIEW)
    person.begin()
    call = agent.propose(room.path("b.txt"), "new\n")
    person.types()
    person.end()
    agent.fails(call)
    person.command()
    person.is_unharmed()
    person.returns()
    room.type(*room.keys.WORKING_VIEW)
    person.begin()
    if not person.reviews(agent, agent.propose(room.path("b.txt"), "new\n")):
        raise Failure("the next proposal is not shown")


def hundred_proposals_open_one_by_one(room):
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    calls = [agent.propose(room.path(f"new{number}.txt"), f"text {number}\n", f"tab {number}") for number in range(100)]
    for _ in range(10):
        person.types()
    person.end()
    for number in range(2):
        room.shows(room.proposal(f"new{number}.txt"))
        room.shows(f"text {number}")
        time.sleep(2 * QUIET)  # the person reads, and the others would have time to open
        room.type(*room.keys.COUNT_PROPOSALS)
        room.shows(room.keys.ONE_PROPOSAL)
        person.command()
        room.type(*room.keys.REJECT)
        agent.answer(calls[number])
    agent.answer(agent.call("closeAllDiffTabs"))
    for call in calls:
        agent.answer(call)
    person.is_unharmed()
    person.returns()


def narrow_screen_shows_the_keys_that_decide(room):
    """At 80 columns: also whether the file is in an open folder, and which of two files with the same name it is."""
    person = Person(room)
    room.narrow()
    agent = RawAgent(room)
    long = "/".join(["far"] * 40)
    rows = {
        "two of one name, the first": (room.path("src/one/mod.rs"), "one/mod.rs", False),
        "two of one name, the second": (room.path("src/two/mod.rs"), "two/mod.rs", False),
        "a long path": (room.path(f"{long}/mod.rs"), "far/mod.rs", False),
        "outside": (str(room.home / "c.txt"), "c.txt", True),
        "outside, and a long name": (str(room.home / ("n" * 200 + ".txt")), "n.txt", True),
        "outside, and a name that says otherwise": (str(room.home / "is not OUT SIDE ok.txt"), "ok.txt", True),
    }
    for row, (path, end, is_outside) in rows.items():
        def act(path=path, end=end, is_outside=is_outside):
            call = agent.propose(path, "the proposed text\n")
            room.shows(r"the proposed text")
            room.shows(room.keys.DECIDING)
            room.shows(end.replace(".", r"\."))
            (room.shows if is_outside else room.hides)("OUTSIDE")
            room.type(*room.keys.REJECT)
            agent.answer(call)
            room.hides("the proposed text")
            person.is_unharmed()
        of_row(row, act)


def total_size_of_waiting_proposals_is_limited(room):
    """Each short message is about a file of the largest size, which the editor would keep until the person decides."""
    person = Person(room)
    room.write("large.txt", lines(700_000, "a"))
    agent = RawAgent(room)
    person.begin()
    calls = [agent.propose(room.path("large.txt"), "small\n", f"tab {number}") for number in range(100)]
    await_("those beyond the limit fail", lambda: len([call for call in calls if call in agent.answers]) >= 99, 60)
    if len([call for call in calls if call in agent.answers]) == 100:
        raise Failure("no proposal waits")
    person.types()
    person.end()
    room.shows(room.proposal("large.txt"))
    person.command()
    agent.answer(agent.call("closeAllDiffTabs"))
    for call in calls:
        agent.answer(call)
    person.is_unharmed()
    person.returns()


# --- The text of the person


def accepted_text_replaces_unsaved_changes(room):
    """The unsaved buffer was the old side of the proposal, so the person has decided about it too. Undo brings it back."""
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.end()
    call = agent.propose(room.path("a.txt"), "accepted\n")
    room.shows(room.proposal())
    room.shows(person.typed[0])
    room.type(*room.keys.ACCEPT)
    agent.answer(call)
    room.hides(room.proposal())
    room.write("a.txt", "accepted\n")
    room.hides(person.typed[0])
    room.shows("accepted")
    dirty = agent.answer(agent.call("checkDocumentDirty", filePath=room.path("a.txt")))
    if "true" in dirty.split("isDirty")[1]:
        raise Failure(f"the buffer has unsaved changes: {dirty}")
    room.type(*room.keys.UNDO)
    room.shows(person.typed[0])


def other_text_on_disk_keeps_unsaved_changes(room):
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.end()
    call = agent.propose(room.path("a.txt"), "agreed\n")
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.answer(call)
    room.write("a.txt", "something else\n")
    room.shows(room.keys.KEPT, within=20)
    person.is_unharmed()
    room.shows(person.typed[0])
    room.hides("agreed")


def file_that_changed_on_disk_is_not_overwritten(room):
    """Otherwise the editor would ask, and take the next keys for the answer."""
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.end()
    room.write("a.txt", "of another program\n")
    call = agent.call("saveDocument", filePath=room.path("a.txt"))
    person.begin()
    person.types()
    person.end()
    if '"saved": true' in agent.answer(call).replace("\\", ""):
        raise Failure("saved over the change on disk")
    room.has("a.txt", "of another program\n")
    person.is_unharmed()
    person.returns()


def changed_file_is_shown_without_a_question(room):
    """Otherwise the editor would ask about unsaved changes when it shows the buffer, and take the next keys for the answer."""
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.end()
    agent.answer(agent.call("openFile", filePath=room.path("b.txt")))
    room.shows("other")
    room.write("a.txt", "of another program\n")
    agent.answer(agent.call("openFile", filePath=room.path("a.txt")))
    room.shows(person.typed[0])
    person.command()
    person.is_unharmed()
    person.returns()
    room.has("a.txt", "of another program\n")


def modelines_are_not_obeyed_after_a_change(room):
    """The agent has written a file that the person had opened, with and without unsaved changes."""
    person = Person(room)
    agent = RawAgent(room)
    for number in range(2):
        if number:
            person.begin()
            person.end()
        text = f"read again {number}\nvim: set rightleft :\n"
        call = agent.propose(room.path("a.txt"), text)
        room.shows(room.proposal())
        room.type(*room.keys.ACCEPT)
        agent.answer(call)
        room.hides(room.proposal())
        room.write("a.txt", text)
        room.shows(f"^read again {number}")
        person.command()
        room.shows(f"^read again {number}")
        person.is_unharmed()


def is_scenario(value):
    return hasattr(value, "__code__") and value.__code__.co_varnames[:value.__code__.co_argcount] == ("room",)


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "hostile"]
