"""Attacks that only Emacs makes possible, by what it does with names, texts and files."""

import gzip
import json
import os
import re
import socket
import threading
import time

from hostile import Person, RawAgent, is_scenario, of_row
from run import Failure, await_

# Names that Emacs would hand to a program or look up on another machine, in the forms of each `tramp-syntax`.
ELSEWHERE = [
    "/ssh:host:/x", "/sudo:root@localhost:/etc/shadow", "/user@host:/x", "/-:host:/x", "/scp:host:", "/ftp:host:/x",
    "/ssh:a|sudo:b:/x", "/docker:box:/x", "/[ssh/host]/x", "//ssh:host:/x", "/tmp/../ssh:host:/x", "/:/ssh:host:/x",
    "~/x", "~root/x", "relative", "http://127.0.0.1/x", "/ssh:host:/a\nb",
]


class Wire:
    """The lines between the plugin and the sidecar. A test adds events to them, as if the sidecar had let them through."""

    def __init__(self, room):
        self.room = room
        room.write("events", "")
        room.write("wire", "tail -f --pid=$$ events &\ntee sent | ide-mcp sidecar\n")
        room.restart(*room.keys.sidecar("sh", "wire"))
        room.lock()
        self.calls = 1000

    def event(self, name, **members):
        self.calls += 1
        line = json.dumps({"event": name, "conn": 77, "call": self.calls, **members})
        with open(self.room.path("events"), "a", encoding="utf-8") as events:
            events.write(line + "\n")
        return self.calls

    def sent(self):
        lines = (self.room.folder / "sent").read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def answer(self, call):
        """Waits for the answer to a call, and returns it."""
        return await_(f"an answer to {call}",
                      lambda: next((line for line in self.sent() if line.get("call") == call), None))


def evaluated(room, expression):
    """Evaluates an expression in the current buffer, and returns what Emacs prints for it."""
    path = room.folder / "evaluated"
    path.unlink(missing_ok=True)
    room.type(*room.keys.run(f'(write-region (format "%s\\n" {expression}) nil "{path}")'))
    await_(f"Emacs evaluates {expression}", lambda: path.exists() and path.read_text().endswith("\n"))
    return path.read_text().strip()


def names_of_other_machines_start_no_program(room):
    """The plugin refuses them itself, whatever the sidecar lets through."""
    person = Person(room)
    wire = Wire(room)
    for name in ELSEWHERE:
        def act(name=name):
            person.begin()
            calls = [wire.event("call", tool=tool, path=name, arguments={"filePath": name, **more}) for tool, more in [
                ("checkDocumentDirty", {}), ("saveDocument", {}), ("openFile", {}), ("openFile", {"makeFrontmost": False}),
                ("getDiagnostics", {"uri": "file://" + name})]]
            plain = room.path("b.txt")
            calls += [wire.event("diff", tab="t", path=new, old_path=old, label="x", contents="new\n", outside=True)
                      for new, old in [(name, name), (plain, name), (name, plain)]]
            wire.event("edit_expected", edit=1, path=name)
            for _ in range(5):
                person.types()
            person.end()
            for call in calls:
                if wire.answer(call)["cmd"] != "fail":
                    raise Failure(f"not refused: {wire.answer(call)}")
            person.is_unharmed()
            person.returns()
        of_row(name, act)


def encrypted_file_is_shown_as_bytes(room):
    """So are a link to it and a compressed file: no program runs to decode what an agent sees."""
    room.write("secret.gpg", "-----BEGIN PGP MESSAGE-----\nbytes\n")
    (room.folder / "link.gpg").symlink_to("secret.gpg")
    (room.folder / "packed.gz").write_bytes(gzip.compress(b"unpacked text\n"))
    person = Person(room)
    agent = RawAgent(room)
    for name, text in [("secret.gpg", "BEGIN PGP"), ("link.gpg", "BEGIN PGP"), ("packed.gz", "\\^_\\\\213")]:
        def act(name=name, text=text):
            person.begin()
            person.reviews(agent, agent.propose(room.path(name), "new\n"),
                           look=lambda: name.endswith("gpg") and room.shows(text))
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path(name)), text)
            agent.answer(agent.call("saveDocument", filePath=room.path(name)))
            person.is_unharmed()
        of_row(name, act)


def compressed_file_of_the_person_is_not_written(room):
    """If Emacs merely skipped the compressor, it would write the plain text into the file."""
    packed = gzip.compress(b"unpacked text\n")
    (room.folder / "packed.txt.gz").write_bytes(packed)
    room.start()
    room.type(*room.keys.run('(find-file "packed.txt.gz")'), *room.keys.INSERT_LINE)
    room.shows("unpacked text")
    agent = RawAgent(room)
    agent.fails(agent.call("saveDocument", filePath=room.path("packed.txt.gz")))
    if (room.folder / "packed.txt.gz").read_bytes() != packed:
        raise Failure("the file is written")


# What a text can ask of Emacs while a mode is chosen for it.
WITNESS = '(write-region \\"\\" nil \\"pwned\\")'
REQUESTS = {
    "mode in the first line": ("x.c", "/* -*- mode: witness -*- */\n"),
    "only a mode in the first line": ("x.c", "/* -*- witness -*- */\n"),
    "two modes in the first line": ("x.c", "/* -*- mode: c; mode: witness -*- */\n"),
    "eval in the first line": ("x.c", '/* -*- eval: (write-region "" nil "pwned") -*- */\n'),
    "mode at the end": ("x.c", "/* Local Variables:\nmode: witness\nEnd: */\n"),
    "variables at the end": ("x.c", '/* Local Variables:\neval: (write-region "" nil "pwned")\nide-mcp-command: ("sh")\nEnd: */\n'),
    "macro that Flymake expands": ("x.el", ';; -*- mode: emacs-lisp; mode: flymake; lexical-binding: t -*-\n'
                                   '(eval-when-compile (write-region "" nil "pwned"))\n'),
    "coding that Emacs does not have": ("x.c", "/* -*- coding: none-such -*- */\n"),
    "obsolete mark for unibyte": ("x.c", "/* -*- unibyte: t -*- */\n"),
}


def texts_do_not_choose_a_mode(room):
    """If a request is obeyed, or `witness-mode` is chosen, a file is written."""
    person = Person(room)
    room.type(*room.keys.run(f'(defun witness-mode () (interactive) (write-region "" nil "{room.path("pwned")}"))'))
    agent = RawAgent(room)
    for row, (name, text) in REQUESTS.items():
        def act(name=name, text=text):
            (room.folder / name).unlink(missing_ok=True)
            for file in [f"new-{name}", name]:
                person.begin()
                person.reviews(agent, agent.propose(room.path(file), text + "proposed\n"),
                               look=lambda: room.shows("proposed"))
                room.write(name, text + "opened\n")
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path(name)), "opened")
            time.sleep(1)  # Flymake waits for half a second without a key
            person.is_unharmed()
            room.hides("Warnings")
            room.type(*room.keys.run(f'(kill-buffer "{name}")'))
        of_row(row, act)


def safe_local_variables_hold_in_an_opened_file(room):
    """Unsafe ones are ignored without a question."""
    room.write("x.txt", 'text\nLocal Variables:\nfill-column: 33\nide-mcp-command: ("sh")\nEnd:\n')
    room.start()
    agent = RawAgent(room)
    if "Opened" not in (answer := agent.answer(agent.call("openFile", filePath=room.path("x.txt")))):
        raise Failure(f"the file is not opened: {answer}")
    room.shows("Local Variables:")
    if (found := evaluated(room, "(list fill-column (local-variable-p 'ide-mcp-command))")) != "(33 nil)":
        raise Failure(f"the variables: {found}")


def texts_do_not_reach_another_machine(room):
    """Org fetches a SETUPFILE at once, and Diff looks for the files of its headers when it shows them."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections = []
    threading.Thread(target=lambda: connections.append(listener.accept()), daemon=True).start()
    person = Person(room)
    agent = RawAgent(room)
    texts = {
        "x.org": f"#+SETUPFILE: http://127.0.0.1:{listener.getsockname()[1]}/x\nshown\n",
        "x.patch": "--- /ssh:host:/a\n+++ /ssh:host:/b\n@@ -1 +1 @@\n-shown\n+b\n",
        "x.tar": "shown\n", "x.zip": "shown\n", "x.rar": "shown\n", "x.pdf": "shown\n", "x.png": "shown\n",
    }
    for name, text in texts.items():
        def act(name=name, text=text):
            person.begin()
            person.reviews(agent, agent.propose(room.path(name), text), look=lambda: room.shows("shown"))
            room.write(name, text)
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path(name)), "shown")
            if connections:
                raise Failure("Emacs has connected to the machine that the text names")
        of_row(name, act)


def agents_cannot_cause_a_question(room):
    """A call that would ask the person, or wait for a key, fails for the agent, and the person can type on."""
    person = Person(room)
    agent = RawAgent(room)
    room.type(*room.keys.run('(progn (setq auto-save-default nil vc-follow-symlinks (quote ask) large-file-warning-threshold 10 query-about-changed-file t)'
                             ' (vc-mode-line "x") (switch-to-buffer "a.txt"))'))
    os.system(f"cd {room.folder} && git init -q && git add -f b.txt && ln -s b.txt link.txt")

    def types_during(*calls):
        for call in calls:
            while call not in agent.answers:
                person.types()
            person.types()
        return [agent.answer(call) for call in calls]

    def buffers(name, expression):
        evaluated(room, f'(with-current-buffer (find-file-noselect "{name}" t) {expression})')

    def questions():
        # Changed on disk, and here.
        buffers("changed.txt", '(insert "mine")')
        room.write("changed.txt", "theirs\n")
        # A character that the coding of the file cannot encode.
        buffers("latin.txt", '(progn (setq buffer-file-coding-system (quote latin-1)) (insert "\u2192"))')
        # A folder that is gone, and a read-only file.
        buffers("gone/x.txt", '(insert "mine")')
        person.begin()
        for name in ["changed.txt", "latin.txt", "gone/x.txt"]:
            types_during(agent.call("saveDocument", filePath=room.path(name)))
            types_during(agent.call("openFile", filePath=room.path(name), makeFrontmost=False))
        person.end()
        if (room.folder / "changed.txt").read_text() != "theirs\n" or (room.folder / "latin.txt").exists():
            raise Failure("a file is written")
        person.is_unharmed()

    def locked():
        room.write("locked.txt", "locked\n")
        buffers("locked.txt", "(ignore)")
        (room.folder / ".#locked.txt").symlink_to("other@elsewhere.1:1")
        person.begin()
        types_during(agent.call("openFile", filePath=room.path("locked.txt"), makeFrontmost=False),
                     agent.call("openFile", filePath=room.path("link.txt"), makeFrontmost=False),
                     agent.call("saveDocument", filePath=room.path("locked.txt")))
        person.end()

    def final_line():
        buffers("final.txt", '(progn (setq require-final-newline (quote ask)) (insert "no end"))')
        person.begin()
        types_during(agent.call("saveDocument", filePath=room.path("final.txt")))
        person.end()

    room.write("changed.txt", "before\n")
    for row in [questions, locked, final_line]:
        def act(row=row):
            row()
            person.is_unharmed()
            room.hides("Warning")
            person.returns()
        of_row(row.__name__, act)


def opened_file_adds_no_folder(room):
    (room.home / "elsewhere/.git").mkdir(parents=True)
    (room.home / "elsewhere/x.txt").write_text("elsewhere\n")
    room.start()
    agent = RawAgent(room)
    for frontmost in [False, True]:
        agent.answer(agent.call("openFile", filePath=str(room.home / "elsewhere/x.txt"), makeFrontmost=frontmost))
    room.shows("elsewhere")
    room.type(*room.keys.run(f'(find-file "{room.path("b.txt")}")'))
    room.shows("other")
    if "elsewhere" in room.lock().read_text():
        raise Failure("the folder of the file is an open folder")


def folder_of_an_opened_file_runs_nothing(room):
    """`git` would run the monitor that the settings of the folder name."""
    folder = room.home / "elsewhere"
    folder.mkdir()
    os.system(f"cd {folder} && git init -q && echo text >x.txt && git add x.txt"
              f" && git config core.fsmonitor 'touch {room.path('pwned')}; false'")
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.sees_file(agent, agent.call("openFile", filePath=str(folder / "x.txt")), "text")


def differences_of_texts_with_nul_are_marked(room):
    room.write("a.txt", "same\na\0b\n")
    room.start()
    agent = RawAgent(room)
    agent.propose(room.path("a.txt"), "same\na\0c\n")
    room.shows(room.proposal())
    if (found := evaluated(room, "(seq-count (lambda (it) (eq (overlay-get it 'face) 'diff-added)) (overlays-in 1 99))")) != "1":
        raise Failure(f"marked changes: {found}")


def long_lines_are_broken_only_for_display(room):
    """The breaks are not in the accepted text, even if the person has changed it."""
    text = "start " + "x" * 300_000 + "\nshort\n" + "y" * 300_000
    room.write("b.txt", text.replace("short", "before"))
    person = Person(room)
    agent = RawAgent(room)
    for keys, accepted in [([], text), (room.keys.run('(progn (goto-char 4003) (insert "added "))'), text[:4000] + "added " + text[4000:])]:
        person.begin()
        call = agent.propose(room.path("b.txt"), text)

        def decide(keys=keys):
            room.shows("start xxx")
            room.shows(room.keys.TOO_LARGE)
            room.type(*keys, *room.keys.ACCEPT)

        person.reviews(agent, call, decide)
        if agent.answers[call]["result"]["content"][1]["text"] != accepted:
            raise Failure("another text is accepted")


# Texts for which a major mode or the display is slow.
SLOW = {
    "parentheses in C": ("x.c", "(" * 79 + "\n", 30_000),
    "many parentheses in C": ("x.c", "(" * 79 + "\n", 1_000_000),
    "parentheses after a quote": ("x.c", '"' + "(" * 78 + "\n", 30_000),
    "comments in C": ("x.c", "/*" * 39 + "\n", 1_000_000),
    "calls in C++": ("x.cpp", "$(" * 39 + "\n", 30_000),
    "braces in JavaScript": ("x.js", "{" * 79 + "\n", 125_000),
    "tags": ("x.html", "<a " * 26 + "\n", 125_000),
    "one line of JavaScript": ("x.js", "function a(b,c){return {x:[1,2,'str'],y:b+c/2}};", 14_000_000),
    "combining characters": ("x.txt", "e\u0301\u0302\u0303" * 19 + "\n", 125_000),
    "right to left": ("x.txt", "\u05d0\u0628 [ " * 15 + "\n", 125_000),
    "only line ends": ("x.txt", "\n", 7_000_000),
    "control characters": ("x.txt", "\x01\x02\x1b", 60_000),
}


def slow_texts_do_not_delay_keys(room):
    person = Person(room)
    agent = RawAgent(room)
    for row, (name, unit, size) in SLOW.items():
        def act(name=name, unit=unit, size=size):
            text = unit * (size // len(unit.encode()))
            (room.folder / name).unlink(missing_ok=True)
            person.begin()

            def decide():
                for key in ["<M->>", "x", "<C-p>", "<C-e>", "<M-<>", "<C-v>", "<C-e>"]:
                    room.type(key)
                    person.command()
                room.type(*room.keys.REJECT)

            if not person.reviews(agent, agent.propose(room.path(name), text), decide):
                raise Failure("the proposal is not shown")
            room.write(name, text)
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path(name)), None if name == "x.txt" else re.escape(text[:3].strip()))
        of_row(row, act)


def large_text_with_nul_is_shown(room):
    """The text also has the characters that could stand in for NUL, and a backslash before a NUL."""
    text = "\0\\u0000\ufdd0\\\0" + "x" * 12_000_000 + "\0"
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    call = agent.propose(room.path("b.txt"), text)
    person.reviews(agent, call, lambda: room.type(*room.keys.ACCEPT))
    if agent.answers[call]["result"]["content"][1]["text"] != text:
        raise Failure("another text is accepted")


def view_that_fails_leaves_nothing(room):
    """A function of the person's fails when the view is shown."""
    room.start()
    agent = RawAgent(room)
    room.type(*room.keys.run('(progn (defun planted (_ buffer &rest _) (if (string-match-p ".proposal" (buffer-name (get-buffer buffer)))'
                             ' (error "planted"))) (advice-add (quote set-window-buffer) :before (quote planted)))'))
    agent.fails(agent.propose(room.path("b.txt"), "new\n"))
    if (found := evaluated(room, '(seq-filter (lambda (name) (string-match-p "[*]\\\\(file\\\\|proposal\\\\):" name))'
                           ' (mapcar (function buffer-name) (buffer-list)))')) != "nil":
        raise Failure(f"left: {found}")
    room.shows("second")
    room.hides("new|other")


def later_changes_are_kept_after_an_accepted_text(room):
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.end()
    call = agent.propose(room.path("a.txt"), "accepted\n")
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.answer(call)
    room.hides(room.proposal())
    room.type("later")
    room.shows("later")
    room.write("a.txt", "accepted\n")
    room.shows("keeps your changes")
    room.shows("later")


def raw_names_are_one_line(room):
    """The plugin itself makes them one line, whatever the sidecar lets through."""
    person = Person(room)
    wire = Wire(room)
    wire.event("consent", client='x" asks.\n1: no (y = no)\u202e \x1b[31m' + "z" * 5000, version="1", model=False)
    room.shows(r"An agent that calls itself \"x' asks\.\?1: no \(y = no\)\? \?\[31mz+…\" asks to attach\.")
    room.shows(r"Type allow or refuse, and Enter:")
    room.type(*room.keys.NO)
    room.hides(r"Type allow")
    person.command()
    odd = [*range(1, 32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
    text = "".join(map(chr, odd))
    wire.event("error", message=f"start {text[:99]} end")
    room.shows(r"ide-mcp: start \?{%d} end" % len(text[:99]))
    room.write("fails", "printf '%s\\n' '" + json.dumps({"event": "error", "message": f"start {text} end"}) + "'\nexit 2\n")
    room.type(*room.keys.STOP)
    room.no_lock()
    room.type(*room.keys.sidecar("sh", "fails"), *room.keys.START)
    room.shows(r"Warning \(ide-mcp\): start \?{%d} end" % len(text))


def typing_on_attaches_nobody(room):
    """After a pause in the middle of a word, the next keys go into the question."""
    room.start()
    room.restart(*room.keys.CONSENT)
    room.lock()
    agent = RawAgent(room, waits=False)
    room.shows(room.question("hostile"))
    for text in ["y", "es", "<Enter>", "you allow", "<Enter>", "a", "<Enter>", "n", "<Enter>", "<Enter>"]:
        room.type(text)
        time.sleep(0.3)
        room.shows(room.question("hostile"))
        room.shows(r"Type allow or refuse, and Enter:")
        room.hides("⧉ hostile")
    if agent.is_over:
        raise Failure("the agent is refused")
    room.type(*room.keys.YES)
    room.shows("⧉ hostile")
    agent.end()
    room.shows(room.keys.DETACHED)
    for refusal in [room.keys.NO, ["<C-g>"]]:
        agent = RawAgent(room, waits=False)
        room.shows(room.question("hostile"))
        room.type(*refusal)
        await_("the agent is refused", lambda agent=agent: agent.is_over)
        room.hides(room.question("hostile"))


def file_of_an_older_sidecar_is_not_shown_as_new(room):
    room.start()
    wire = Wire(room)
    path = room.path("b.txt")
    call = wire.event("diff", tab="t", path=path, old_path=path, contents="new\n", outside=False)
    answer = wire.answer(call)
    if answer["cmd"] != "fail" or answer["message"] != "update ide-mcp: this sidecar does not check what agents name":
        raise Failure(f"the answer: {answer}")


QUESTION_AT_KILL = """(ignore (add-hook 'kill-buffer-query-functions (lambda () (y-or-n-p "kill? "))))"""


def opened_file_that_changed_on_disk_keeps_its_buffer(room):
    """It keeps its windows, its point and its undo history, and a kill hook of the person's asks nothing."""
    lines = "".join(f"line {number}\n" for number in range(1, 41))
    room.write("x.txt", lines)
    room.start()
    agent = RawAgent(room)
    agent.answer(agent.call("openFile", filePath=room.path("x.txt")))
    room.shows("line 1$")
    room.type(*room.keys.run(QUESTION_AT_KILL,
                             '(progn (goto-line 30) (end-of-line) (insert " mine") (save-buffer))'))
    room.shows("line 30 mine")
    state = "(list (buffer-name) (length (window-list)) (buffer-modified-p) (thing-at-point 'line t))"
    for begin in ["line two\n", "x" * 100_000 + "\n"]:  # the second file has no major mode
        room.write("x.txt", begin + (room.folder / "x.txt").read_text())
        answer = agent.answer(agent.call("openFile", filePath=room.path("x.txt"), makeFrontmost=False))
        if "lineCount" not in answer:
            raise Failure(f"the file is not opened: {answer}")
        room.hides(r"kill\? \(y or n\)")
        if (found := evaluated(room, state)).replace("\n", "") != "(x.txt 1 nil line 30 mine)":
            raise Failure(f"the buffer, the windows, the changes and the line: {found}")
        if not (found := evaluated(room, "(buffer-string)")).startswith(begin):
            raise Failure(f"the text of before: {found[:99]}")
    room.type(*room.keys.run("(undo 2)"))
    if "line two" in (found := evaluated(room, "(buffer-string)")) or "line 30 mine" not in found:
        raise Failure(f"undo brings back {found[:999]}")


def opened_file_with_a_long_line_stays_beside_its_copy(room):
    room.write("x.txt", "short\n")
    room.start()
    agent = RawAgent(room)
    for text in ["short\n", "x" * 2_000_000]:
        room.write("x.txt", text)
        agent.answer(agent.call("openFile", filePath=room.path("x.txt"), makeFrontmost=False))
    sizes = '(mapcar (lambda (name) (and (get-buffer name) (buffer-size (get-buffer name)))) (list "x.txt" "*copy: x.txt*"))'
    if not re.fullmatch(r"\(6 200\d+\)", found := evaluated(room, sizes)):
        raise Failure(f"the sizes of the buffers: {found}")


def ended_view_asks_nothing(room):
    """The view of a proposal and the copy of a file close without the questions that killing a buffer can ask."""
    room.write("long.txt", "x" * 2_000_000)
    room.start()
    room.type(*room.keys.run(QUESTION_AT_KILL))
    agent = RawAgent(room)
    for _ in range(2):
        agent.answer(agent.call("openFile", filePath=room.path("long.txt"), makeFrontmost=False))
    call = agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    agent.answer(agent.call("closeAllDiffTabs"))
    agent.answer(call)
    room.hides(room.proposal("b.txt"))
    room.hides(r"kill\? \(y or n\)")


def next_proposal_waits_for_a_key_after_a_withdrawal(room):
    """Otherwise the person could accept a text that has replaced the one they read."""
    room.start()
    agent = RawAgent(room)
    ends = {"closeAllDiffTabs": "The agent withdrew b.txt", "the connection": "The proposal for b.txt has ended"}
    for end, words in ends.items():
        agent.propose(room.path("b.txt"), "that was read\n")
        room.shows("that was read")
        if end == "the connection":
            agent.end()
            agent = RawAgent(room)
        else:
            agent.answer(agent.call(end))
        call = agent.propose(room.path("b.txt"), "nobody has read\n")
        room.shows(re.escape(words) + r"\.  The next proposal waits for a key")
        room.shows(room.keys.NOTICE)
        time.sleep(2)
        if re.search("nobody has read", room.screen()):
            raise Failure("another text is shown before a key")
        room.type("<C-n>")
        room.shows("nobody has read")
        room.type(*room.keys.ACCEPT)
        if "FILE_SAVED" not in (answer := agent.answer(call)):
            raise Failure(f"the answer: {answer}")
        room.hides(room.proposal("b.txt"))


def key_pressed_too_early_accepts_nothing(room):
    """The keys are pressed at the moment at which the proposal appears."""
    room.start()
    room.type(*room.keys.run("(advice-add 'ide-mcp-show :after (lambda (&rest _) (setq unread-command-events (list 3 3))))"))
    agent = RawAgent(room)
    call = agent.propose(room.path("b.txt"), "new\n")
    room.shows("Not accepted: the proposal has just opened")
    room.shows(room.proposal("b.txt"))
    if call in agent.answers:
        raise Failure("the proposal is decided")
    room.type(*room.keys.ACCEPT)
    if "FILE_SAVED" not in (answer := agent.answer(call)):
        raise Failure(f"the answer: {answer}")


KEPT_TEXT = """(with-current-buffer "*withdrawn: b.txt*" (list buffer-file-name buffer-offer-save (buffer-string)))"""


def typed_text_outlives_a_withdrawal(room):
    """With the keys typed after it, but without the line breaks that are only for display."""
    long = "x" * 100_000 + "\n"
    for text, unit in [("new\n", "typed new"), (long, "typed x")]:
        room.write("b.txt", "other\n")
        if text is not long:
            room.start()
        agent = RawAgent(room)
        agent.propose(room.path("b.txt"), text)
        room.shows(room.proposal("b.txt"))
        room.type("<M-<>", "typed ")
        room.shows(unit)
        agent.answer(agent.call("closeAllDiffTabs"))
        room.shows(r"The agent withdrew b\.txt\.  Your text is in \*withdrawn: b\.txt\*\.  The")
        room.hides(room.proposal("b.txt"))
        room.shows("The proposal has ended: what you typed is in no file")
        room.shows("second")  # the person's window is back
        room.type("more ")
        room.shows("typed more ")
        if (found := evaluated(room, KEPT_TEXT)) != f"(nil t typed more {text.strip()}\n)":
            raise Failure(f"the text that stays: {found[:99]} … {found[-9:]}")
        room.type(*room.keys.run('(kill-buffer "*withdrawn: b.txt*")', "(delete-other-windows)"))
        room.shows("second")
        agent.end()


def typed_text_outlives_a_withdrawal_elsewhere(room):
    """The person has gone to another buffer, which still gets the keys."""
    room.start()
    agent = RawAgent(room)
    agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    room.type("<M-<>", "typed ", *room.keys.run('(progn (switch-to-buffer "a.txt") (delete-other-windows))'))
    room.hides("typed new")
    agent.answer(agent.call("closeAllDiffTabs"))
    room.shows(r"Your text is in \*withdrawn: b\.txt\*\.")
    room.hides("typed new")
    if (found := evaluated(room, KEPT_TEXT)) != "(nil t typed new\n)":
        raise Failure(f"the text that stays: {found}")


def accepted_text_outlives_an_earlier_withdrawal(room):
    """While Emacs is busy, the agent withdraws the proposal and the person accepts it."""
    room.start()
    agent = RawAgent(room)
    agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    room.type("<M-<>", "typed ")
    room.shows("typed new")
    room.type(*room.keys.BUSY)
    agent.answer(agent.call("closeAllDiffTabs"))
    room.type(*room.keys.ACCEPT)
    room.shows(r"Your text is in \*withdrawn: b\.txt\*\.")
    if (found := evaluated(room, KEPT_TEXT)) != "(nil t typed new\n)":
        raise Failure(f"the text that stays: {found}")


def eight_withdrawn_texts_stay(room):
    """After that, a proposal fails until the person has killed one of them."""
    room.start()
    agent = RawAgent(room)

    def withdrawn(number):
        agent.propose(room.path("b.txt"), f"text {number}\n")
        room.shows(f"text {number}")
        room.type("<M-<>", "typed ")
        room.shows("typed text")
        agent.answer(agent.call("closeAllDiffTabs"))
        room.shows("Your text is in")
        room.type(*room.keys.run('(progn (switch-to-buffer "a.txt") (delete-other-windows))'))

    for number in range(8):
        withdrawn(number)
    call = agent.propose(room.path("b.txt"), "the ninth\n")
    agent.fails(call)
    room.shows("Save or kill one of the 8 buffers")
    names = "(seq-filter (lambda (buffer) (string-match-p \"withdrawn\" (buffer-name buffer))) (buffer-list))"
    if evaluated(room, f"(length {names})") != "8":
        raise Failure("a text is lost")
    room.type(*room.keys.run(f"(kill-buffer (car {names}))"))
    withdrawn("after")


def total_size_of_unseen_files_is_limited(room):
    """32 MiB can be loaded. Files that the person has killed, has opened, or has seen and pressed a key in do not count."""
    lines = ("0123456789abcde\n" * 65536) * 16
    for name in ["one", "two", "three", "four", "own"]:
        room.write(f"{name}.txt", lines)
    room.write("small.txt", "small\n")
    person = Person(room)
    agent = RawAgent(room)

    def opens(name, frontmost=False):
        answer = agent.answer(agent.call("openFile", filePath=room.path(f"{name}.txt"), makeFrontmost=frontmost))
        if '"isError": true' in answer and "open only 32 MiB of files that the person has not seen: show one with makeFrontmost" not in answer:
            raise Failure(f"the answer: {answer[:300]}")
        return '"isError": true' not in answer

    def check(*expected):
        for name, is_open in expected:
            if opens(name) is not is_open:
                raise Failure(f"{name} is opened" if not is_open else f"{name} is not opened")

    room.type(*room.keys.run('(let (large-file-warning-threshold) (find-file "own.txt"))'))
    room.shows("0123456789")
    check(("own", True), ("one", True), ("two", True), ("small", False), ("one", True))
    if not opens("one", True) or opens("three", True):
        raise Failure("a file that is loaded is not shown, or another one is loaded")
    check(("small", False))
    room.type("<C-n>")
    check(("small", True), ("three", False))
    room.type(*room.keys.run('(progn (kill-buffer "small.txt") (kill-buffer "two.txt"))'))
    evaluated(room, "t")
    check(("three", True), ("four", True), ("small", False))
    # A file that shrinks keeps nothing of its old text, and one that grows counts with its new size.
    room.write("three.txt", "small\n")
    check(("three", True), ("small", True))
    if (found := evaluated(room, '(with-current-buffer "three.txt" buffer-undo-list)')) != "nil":
        raise Failure(f"undo has the text of before: {found[:99]}")
    room.write("three.txt", lines)
    check(("three", False))
    # Copies of files with a long line count too.
    room.type(*room.keys.run('(progn (kill-buffer "three.txt") (kill-buffer "four.txt"))'))
    evaluated(room, "t")
    for name in ["one", "two", "three"]:
        room.write(f"long-{name}.txt", "x" * 12_000_000)
    check(("long-one", True), ("long-two", True), ("long-three", False))
    person.command()
    person.is_unharmed()


def number_of_unseen_small_files_is_limited(room):
    for number in range(513):
        room.write(f"small{number}.txt", "small\n")
    room.start()
    agent = RawAgent(room)
    calls = []
    for number in range(513):
        calls.append(agent.call("openFile", filePath=room.path(f"small{number}.txt"), makeFrontmost=False))
        agent.answer(calls[number // 100 * 100])  # at most 256 calls can be open at a time
    for call in calls:
        agent.answer(call)
    failed = [number for number, call in enumerate(calls) if agent.answers[call]["result"].get("isError")]
    if failed != [512]:
        raise Failure(f"not opened: {failed}")


# Texts for which CC Mode and the mode of Perl are slow, with the largest sizes that get colors.
LARGEST = {
    "quotes in C++": ("x.cpp", "\"'\"'\"\"''" * 9 + "\n", 65536),
    "double quotes in C++": ("x.cpp", '"' * 79 + "\n", 65536),
    "templates in C++": ("x.cpp", "a::b<c>" * 11 + "\n", 65536),
    "comments in C": ("x.c", "/*" * 39 + "\n", 65536),
    "quotes in Java": ("x.java", "\"'\"'\"\"''" * 9 + "\n", 65536),
    "quotes in Perl": ("x.pl", "q\"'s{" * 13 + "\n", 8192),
}


def largest_colored_proposal_does_not_delay_keys(room):
    """With one more character it has no colors, and the header line says so."""
    person = Person(room)
    agent = RawAgent(room)
    for row, (name, unit, size) in LARGEST.items():
        text = (unit * size)[:size]
        for proposed in [text, text + " "]:
            def act(name=name, size=size, proposed=proposed):
                person.begin()

                def decide():
                    is_plain = f"no colors: more than {size // 1024} KiB" in " ".join(room.screen().split())
                    if is_plain is not (len(proposed) > size):
                        raise Failure(f"{len(proposed)} characters: {'no colors' if is_plain else 'colors'}")
                    for key in ["<M->>", "x", '"', "<C-p>", "<C-e>", "<M-<>", "x", "<C-v>", "<C-e>"]:
                        room.type(key)
                        person.command()
                    room.type(*room.keys.REJECT)

                if not person.reviews(agent, agent.propose(room.path(name), proposed), decide):
                    raise Failure("the proposal is not shown")
            of_row(f"{row}, {len(proposed)} characters", act)


def proposed_code_has_colors(room):
    """An apostrophe in a comment must not begin a string."""
    room.start()
    agent = RawAgent(room)
    agent.propose(room.path("x.cpp"), "// it's wordy\nint plain = 1'000; /* remark */ return \"quoted\"; char c = '\"'; later;\n")
    room.shows("later")
    looks = {word: room.styles(word)[0] for word in ["wordy", "plain", "remark", "return", "quoted", "later"]}
    if looks["wordy"] != looks["remark"] or looks["plain"] != looks["later"]:
        raise Failure(f"the colors: {looks}")
    if len({str(looks[word]) for word in ["wordy", "plain", "return", "quoted"]}) != 4:
        raise Failure(f"the colors: {looks}")


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "emacs_only"]
