"""What a person does only in Emacs: its terminals, file trees, Ediff, the menu, and the tools for a model."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from emacs_only import evaluated
from hand import RUNS, Hand, paste, proposes
from hostile import RawAgent, is_scenario
from run import PROGRAM, ROOT, Failure, await_, outcome

ELPA = ROOT / "target/elpa"  # what elpa.sh has unpacked
COST = 0.2  # the maximum median time of a selection, in milliseconds


def load_packages(editor, *packages):
    """Loads packages of target/elpa."""
    paths = " ".join(f'"{path}"' for path in ELPA.iterdir() if path.is_dir())
    editor.type(*editor.keys.run(f"(setq load-path (append (list {paths}) load-path))",
                                 *[f"(require (quote {package}))" for package in packages]))


# --- Terminals


def terminals_have_names(room):
    hand = Hand(room)
    room.type(*room.keys.run('(ide-mcp-open)'))
    hand.terminal(1)
    room.type(*room.keys.run('(ide-mcp-open "--resume" "other")'))
    facts = hand.terminal(2)
    if facts["arguments"] != ["--resume"]:
        raise Failure(f"the arguments are {facts['arguments']}")
    room.shows(r"\*agent: project \(other\)\*")
    room.type(*room.keys.run('(ide-mcp-open)'))
    room.shows(r"\*agent: project\* ")
    room.type(*room.keys.run('(ide-mcp-open "--resume")'))
    room.shows("runs already, without these arguments")
    room.type(*room.keys.run('(ide-mcp-open nil "other")', '(ide-mcp-send "x")'))
    hand.has_typed(facts, *paste("x"))
    if len(hand.terminals()) != 2:
        raise Failure("another agent was started")


def terminal_starts_in_the_project(room):
    inner = room.folder / "a b/inner"
    inner.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(inner.parent)], check=True)
    (inner / "c.txt").write_text("c\n")
    hand = Hand(room)
    room.type(*room.keys.run('(find-file "a b/inner/c.txt")'))
    for count, (option, folder) in enumerate([("project", inner.parent), ("working", room.folder), ('(lambda () "/")', "/")], 1):
        room.type(*room.keys.run(f'(progn (pop-to-buffer "c.txt") (setq ide-mcp-terminal-folder (quote {option})))', "ide-mcp-toggle"))
        if (found := hand.terminal(count)["folder"]) != str(folder):
            raise Failure(f"{option}: the folder is {found}")


def terminal_is_where_the_person_wants_it(room):
    hand = Hand(room)
    page = (ROOT / "adapters/editors/emacs/README.md").read_text()
    example = re.search(r"```elisp\n(\(add-to-list 'display-buffer-alist.*?)```", page, re.S)[1]

    def opens(where, expected):
        hand.run("open")
        room.shows(RUNS)
        found = json.loads(evaluated(room, '(format "[%d, %d]" (window-total-width) (window-total-height))'))
        if any(abs(one - other) > 2 for one, other in zip(found, expected)):
            raise Failure(f"{where}: {found} columns and lines")
        hand.run("toggle")
        room.hides(RUNS)
        room.shows("second")

    for window, size, expected in [("right", "30", (30, 28)), ("left", "50", (50, 28)), ("bottom", "0.3", (120, 9))]:
        room.type(*room.keys.run(f"(setq ide-mcp-terminal-window '{window} ide-mcp-terminal-size {size})"))
        opens(window, expected)
    room.type(*room.keys.run("(split-window-right)", "(setq ide-mcp-terminal-window 'right)", " ".join(example.split())))
    opens("below the window", (60, 9))


def failed_agent_leaves_its_output(room):
    hand = Hand(room)
    (room.home / "commands/claude").write_text("#!/bin/sh\necho no such session; exit 3\n")
    hand.run("open")
    room.shows("no such session")
    room.shows(r"\(ended\)")
    (room.home / "commands/claude").write_text("#!/bin/sh\necho again; exec sleep 60\n")
    hand.run("open")
    room.shows("again")


def program_without_pastes_gets_one_line(room):
    """Such a program would take a line end as Enter."""
    hand = Hand(room)
    script = (room.home / "commands/claude").read_text().replace("\\x1b[?2004h", "")
    (room.home / "commands/claude").write_text(script)
    hand.run("open")
    facts = hand.terminal()
    room.shows(RUNS)
    room.type(*room.keys.run('(ide-mcp-send "one\\n\\ttwo\\n")'))
    hand.has_typed(facts, b"one two")


def terminal_has_each_text_in_its_column(room):
    """The real client moves between words by CHA, for which `term` goes one column too far."""
    hand = Hand(room)
    (room.home / "commands/claude").write_text(
        "#!/bin/sh\nprintf 'ab\\033[6Gcd\\033[1GX\\033[GY\\033'; sleep 0.3; printf '[10'; sleep 0.3; printf 'Gend\\n'; exec sleep 60\n")
    hand.run("open")
    room.shows(r"Yb   cd  end")


def output_of_an_agent_does_not_move_its_terminal(room):
    """A program, or a file that it prints, could send `term` to another folder, even on another machine."""
    hand = Hand(room)
    for number, output in enumerate(["\\033AnSiTh host\\n\\033AnSiTu me\\n\\033AnSiTc /x\\n", "\\033AnSiTc /tmp\\n",
                                     "\\032/tmp\\n", "\\033An' '%s' 'SiTc /tmp\\n", "\\033\\032AnSiTc /tmp\\n",
                                     "\\033An\\033AnSiTSiTc /tmp\\n"]):
        pieces = "; sleep 0.3; ".join(f"printf '{piece}'" for piece in output.split("' '%s' '"))
        (room.home / "commands/claude").write_text(f"#!/bin/sh\n{pieces}\nprintf 'printed {number}\\n'; exec sleep 60\n")
        room.type(*room.keys.run(f'(ide-mcp-open nil "{number}")'))
        room.shows(f"printed {number}")
        if (found := evaluated(room, "(expand-file-name default-directory)")) != f"{room.folder}/":
            raise Failure(f"{output}: the folder is {found}")


def agent_runs_in_vterm(room):
    """The real vterm, from Debian."""
    room.environment["LD_LIBRARY_PATH"] = str(ELPA / "lib")
    hand = Hand(room)
    load_packages(room)  # `auto` finds it
    hand.run("open --model 'a b'")
    facts = hand.terminal()
    room.shows(RUNS)
    if facts["arguments"] != ["--model", "a b"] or facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure(f"started with {facts}")
    hand.run("focus")  # back to the file
    if (mode := evaluated(room, '(buffer-local-value (quote major-mode) (get-buffer "*agent: project*"))')) != "vterm-mode":
        raise Failure(f"the mode is {mode}")
    room.type(*room.keys.run('(ide-mcp-send "one\\ntwo" t)'))
    hand.run("interrupt")
    hand.has_typed(facts, *(first + b"\r\x1b" for first in paste("one\ntwo")))
    hand.run("toggle")
    room.hides(RUNS)
    hand.run("focus")
    room.shows(RUNS)


def output_of_an_agent_does_not_move_vterm(room):
    """What the agent prints could make vterm open a file, or go to another folder, even on another machine."""
    room.environment["LD_LIBRARY_PATH"] = str(ELPA / "lib")
    hand = Hand(room)
    load_packages(room)
    (room.home / "commands/claude").write_text(
        "#!/bin/sh\nprintf '\\033]51;Efind-file \"/etc/passwd\"\\033\\\\\\033]51;Ame@host:/x\\033\\\\printed\\n'; exec sleep 60\n")
    hand.run("open")
    room.shows("printed")
    time.sleep(0.5)  # vterm handles output with a delay
    hand.run("focus")  # back to the file
    if (file := evaluated(room, '(get-file-buffer "/etc/passwd")')) != "nil":
        raise Failure(f"opened: {file}")
    folder = '(buffer-local-value (quote default-directory) (get-buffer "*agent: project*"))'
    if (found := evaluated(room, f"(expand-file-name {folder})")) != f"{room.folder}/":
        raise Failure(f"the folder is {found}")


# Stand-ins for these packages: a terminal of Emacs that records the documented calls.
STAND_INS = {
    "eat": """(define-derived-mode eat-mode term-mode "Eat") (defvar eat-terminal nil)
      (defun eat-make (name program &optional startfile &rest switches)
        (note (list 'eat-make name program startfile switches))
        (let ((buffer (apply #'make-term name program startfile switches)))
          (with-current-buffer buffer (setq major-mode 'eat-mode eat-terminal 'terminal))
          buffer))
      (defun eat-term-send-string (terminal text) (note (list 'string terminal text)))
      (defun eat-term-send-string-as-yank (terminal text) (note (list 'yank terminal text)))""",
    "ghostel": """(define-derived-mode ghostel-mode term-mode "Ghostel")
      (defun ghostel-exec (buffer program &optional arguments)
        (note (list 'exec (buffer-name buffer) program arguments))
        (apply #'make-term (substring (buffer-name buffer) 1 -1) program nil arguments)
        (with-current-buffer buffer (setq major-mode 'ghostel-mode))
        (get-buffer-process buffer))
      (defun ghostel-send-string (text) (note (list 'string text)))
      (defun ghostel-paste-string (text) (note (list 'paste text)))""",
}
NOTED = {
    "eat": ['(eat-make "agent: project" "claude" nil ("-c"))', '(yank terminal "one\\ntwo")',
            '(string terminal "\r")', '(string terminal "\x1b")'],
    "ghostel": ['(exec "*agent: project*" "claude" ("-c"))', '(paste "one\\ntwo")', '(string "\r")', '(string "\x1b")'],
}


def terminal_is_called_as_documented(name):
    """Debian has neither eat nor ghostel, so stand-ins have their functions."""
    def scenario(room):
        hand = Hand(room)
        (room.home / "lisp").mkdir()
        (room.home / f"lisp/{name}.el").write_text(
            "(require 'term)\n(defun note (call) (write-region (format \"%S\\n\" call) nil \"~/noted\" t))\n"
            + STAND_INS[name] + f"\n(provide '{name})\n")
        room.type(*room.keys.run('(progn (setq print-escape-newlines t print-escape-control-characters nil)'
                                 ' (add-to-list (quote load-path) "~/lisp"))'))
        hand.run("open -c")
        hand.terminal()
        room.shows(RUNS)
        room.type(*room.keys.run('(ide-mcp-send "one\\ntwo" t)'))
        hand.run("interrupt")
        noted = room.home / "noted"
        await_("the calls", lambda: noted.exists() and noted.read_bytes().count(b"\n") == len(NOTED[name]))
        if (found := noted.read_bytes().decode().split("\n")[:-1]) != NOTED[name]:
            raise Failure(f"noted: {found}")
    scenario.__name__ = f"terminal_of_{name}_is_called_as_documented"
    return scenario


terminal_of_eat = terminal_is_called_as_documented("eat")
terminal_of_ghostel = terminal_is_called_as_documented("ghostel")


def agent_runs_in_tmux(room):
    hand = Hand(room)
    room.type(*room.keys.run(f'(setq ide-mcp-terminal (list "tmux" "-S" "{room.home}/tmux" "split-window" "-h" "-e" "HOME={room.home}" "-c" "{{folder}}"))'))
    hand.run("open --model 'a;b $HOME;' c")  # tmux could take a semicolon as the end of its command
    facts = hand.terminal()
    room.shows(RUNS)
    if facts["arguments"] != ["--model", "a;b $HOME;", "c"] or facts["folder"] != str(room.folder):
        raise Failure(f"started with {facts}")
    if facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure("the environment lacks the port of the editor")
    room.tmux("select-pane", "-t", "0")
    room.type(*room.keys.run('(setq ide-mcp-terminal (list "tmux" "-S" "/nowhere/tmux" "split-window"))'))
    hand.run("open")
    room.shows("tmux failed: ")


def agent_runs_in_the_terminal_of_a_function(room):
    hand = Hand(room)
    room.type(*room.keys.run(
        '(setq ide-mcp-terminal (lambda (name command folder) (write-region (format "%S %s" command folder) nil "called")'
        ' (let ((buffer (apply (function make-term) (substring name 1 -1) (car command) nil (cdr command))))'
        ' (with-current-buffer buffer (term-char-mode)) buffer)))'))
    hand.run("open -c")
    facts = hand.terminal()
    room.shows(RUNS)
    room.has("called", f'("claude" "-c") {room.folder}')
    room.type("<C-c>", "<M-x>", "ide-mcp-focus", "<Enter>")  # in `term`, which has keys of its own
    room.type(*room.keys.run('(ide-mcp-send "x")'))
    hand.has_typed(facts, b"x")


def proposal_leaves_the_terminal_on_the_screen(room):
    hand = Hand(room)
    hand.run("open")
    room.shows(RUNS)
    for layout in room.keys.LAYOUTS:
        room.type(*room.keys.set_option("layout", layout))
        agent = proposes(room, "b.txt", "new\n", "FILE_SAVED", "new\n")
        room.shows(room.keys.DECIDING)  # the name is cut in a narrow window
        if layout != "tab":
            room.shows(RUNS)
        room.type("<Reading>")
        hand.run("accept")
        agent.done()
        room.hides(room.proposal(""))
        room.shows(RUNS)
        room.shows("second")
        if "agent: project" not in (name := evaluated(room, "(buffer-name (window-buffer))")):
            raise Failure(f"{layout}: the focus is in {name}")


def menu_opens_with_arguments(room):
    hand = Hand(room)
    room.type(*room.keys.run('(global-set-key (kbd "C-c a") (quote ide-mcp-command-map))'), "<C-c>", "a", "?")
    room.shows("Terminal .*Proposal")
    room.type("-", "c", "o")
    if (facts := hand.terminal())["arguments"] != ["--continue"]:
        raise Failure(f"the arguments are {facts['arguments']}")
    room.shows(RUNS)
    hand.run("toggle")
    room.hides(RUNS)
    room.type("<C-c>", "a", "t")
    room.shows(RUNS)


# --- Proposals

OLD, NEW = "".join(f"line {n}\n" for n in range(20)), "".join(f"line {n}\n" if n not in (2, 12) else f"changed {n}\n" for n in range(20))
FIRST = OLD.replace("line 2\n", "changed 2\n")


def changes_are_taken_one_by_one(room):
    room.write("a.txt", OLD)
    hand = Hand(room)
    for keys in [["<C-c>", "<C-n>", "<C-c>", "<C-o>"], ["<C-c>", "<C-n>", "<C-c>", "<C-p>", "<C-c>", "<C-n>", "<C-c>", "<C-o>"]]:
        agent = proposes(room, "a.txt", NEW, "FILE_SAVED", FIRST)
        room.shows(room.proposal())
        room.type(*keys, "<Reading>")
        hand.run("accept")
        agent.done()
        room.hides(room.proposal(""))


def removed_lines_stand_in_the_proposal(room):
    room.write("a.txt", OLD)
    hand = Hand(room)
    room.type(*room.keys.set_option("layout", "inline"))
    agent = proposes(room, "a.txt", NEW, "FILE_SAVED", FIRST)
    room.shows(room.proposal())
    room.shows("line 2\nchanged 2\nline 3")
    room.type("<C-c>", "<C-n>", "<C-c>", "<C-o>")
    room.shows("line 11\nline 12\nline 13")
    room.type("<Reading>", *room.keys.ACCEPT)
    agent.done()


def changes_are_taken_in_ediff(room):
    room.write("a.txt", OLD)
    hand = Hand(room)
    for layout in ["auto", "ediff"]:
        room.type(*room.keys.set_option("layout", layout))
        agent = proposes(room, "a.txt", NEW, "FILE_SAVED", FIRST)
        if layout == "auto":
            room.shows(room.proposal())
            room.type("<C-c>", "<C-e>")
        room.shows(r"Type \? for help|2 diffs|diff .* of 2")
        room.type("n", "n", "a", "<Reading>")
        hand.run("accept")
        agent.done()
        room.hides(room.proposal(""))
        room.hides("Ediff")
        room.shows("line 3")


def ediff_is_left_and_ends_with_its_proposal(room):
    room.write("a.txt", OLD)
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    agent.propose(room.path("a.txt"), NEW, "tab")
    room.shows(room.proposal())
    room.type("<C-c>", "<C-e>")
    room.shows("Ediff")
    room.type("q", "y")
    room.shows(room.proposal())
    room.hides("Ediff")
    room.type("<C-c>", "<C-e>")
    room.shows("Ediff")
    agent.answer(agent.call("close_tab", tab_name="tab"))
    room.hides("Ediff")
    room.hides(room.proposal(""))
    room.shows("line 3")
    hand.run("mention b.txt")
    await_("keys arrive", lambda: agent.mentions)


def note_hooks(room, **hooks):
    """Makes each hook write a line with members of its event into a file, before functions of the person's that fail."""
    for hook, members in hooks.items():
        values = " ".join(f"(alist-get '{member} event)" for member in members.split())
        line = f'"{hook}{" %s" * len(members.split())}\\n" {values}'
        room.type(*room.keys.run(
            f"(add-hook 'ide-mcp-{hook}-functions (lambda (event) (write-region (format {line}) nil \"noted\" t)))",
            f"(add-hook 'ide-mcp-{hook}-functions (lambda (_) (error \"of the person\")) t)"))


def hooks_are_called(room):
    hand = Hand(room)
    note_hooks(room, listening="port", connected="conn client", closed="conn client", paused="", resumed="",
               proposal="call conn client label outside", decided="call conn client label verdict")
    room.restart()
    port = room.lock().stem
    agent = RawAgent(room)
    room.shows("hostile 1")
    call = agent.propose(room.path("b.txt"), "new\n", "tab")
    room.shows(room.proposal("b.txt"))
    room.type("<Reading>")
    hand.run("accept")
    agent.answer(call)
    agent.propose(room.path("b.txt"), "newer\n", "tab")
    room.shows(room.proposal("b.txt"))
    agent.answer(agent.call("close_tab", tab_name="tab"))
    room.hides(room.proposal("b.txt"))
    room.type(*room.keys.PAUSE)
    room.shows("paused")
    room.type(*room.keys.RESUME)
    room.hides("paused")
    room.lose_sidecar()
    room.has("noted", f"listening {port}\nconnected 1 hostile 1\n"
                      "proposal 1 1 hostile 1 b.txt nil\ndecided 1 1 hostile 1 b.txt accept\n"
                      "proposal 2 1 hostile 1 b.txt nil\ndecided 2 1 hostile 1 b.txt withdrawn\n"
                      f"paused\nresumed\nclosed 1 hostile 1\nlistening {port}\n")


def windows_that_the_person_has_closed_come_back(room):
    hand = Hand(room)
    for layout in room.keys.LAYOUTS:
        room.type(*room.keys.set_option("layout", layout))
        agent = proposes(room, "b.txt", "new\n", "FILE_SAVED", "edited\nnew\n")
        room.shows(room.proposal("b.txt"))
        room.type(*room.keys.INSERT_LINE)
        for keys in ['(progn (switch-to-buffer "a.txt") (delete-other-windows))', '(progn (other-window 1) (ignore-errors (delete-window)))']:
            room.type(*room.keys.run(keys))
            hand.run("next")
            room.shows(room.proposal("b.txt"))
            room.shows("edited")
        room.type("<Reading>")
        hand.run("accept")
        agent.done()
        room.hides(room.proposal(""))
        if (found := evaluated(room, "(list (length (funcall tab-bar-tabs-function)) (length (window-list)))")) != "(1 1)":
            raise Failure(f"{layout}: tabs and windows: {found}")


def names_in_lists_are_one_line(room):
    """The names of these agents and proposals look like a choice, a key or a format."""
    hand = Hand(room)
    first = RawAgent(room, 'x\n1: Disconnect it\n\x1b[31m%s \u202e\\[kill-emacs] "')
    second = RawAgent(room, "second")
    room.shows("second 1")
    hand.run("agents")
    room.shows(r"^1: x.1: Disconnect it")
    room.type(*room.keys.SECOND_CHOICE, *room.keys.FIRST_CHOICE)
    hand.run("mention")
    await_("the chosen agent has the mention", lambda: second.mentions)
    if first.mentions or first.is_over:
        raise Failure("the wrong agent was chosen")
    calls = [first.propose(room.path(name), "new\n", name) for name in ["a.txt", "1: b%s\\[undo].txt"]]
    room.shows(room.proposal("a.txt"))
    room.shows(room.keys.NOTICE)
    hand.run("proposals")
    room.shows(r"^1: a\.txt.*\n^2: 1: b%s")
    room.type(*room.keys.SECOND_CHOICE)
    room.shows(room.proposal("1: b%s"))
    hand.run("reject")
    if "REJECTED" not in first.answer(calls[1]):
        raise Failure("the wrong proposal was rejected")


def agents_of_the_same_program_are_told_apart(room):
    """By their terminals, and otherwise by their processes."""
    room.start()
    room.type(*room.keys.run("(setq ide-mcp-agent-command '(\"ide-mcp\" \"agent\" \"watch\"))"))
    room.type(*room.keys.run("ide-mcp-open"))
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.run('(ide-mcp-open nil "second")'))
    room.play({"notify": "ide_connected", "params": {"pid": 4711}}, {"sleep": 20000})

    def are_known():
        room.type(*room.keys.run('(message "%d processes known" (length ide-mcp--pids))'))
        time.sleep(0.3)
        return "3 processes known" in room.screen()

    await_("the process of each agent is known", are_known)
    room.type(*room.keys.run("ide-mcp-agents"))
    for place in [r"\*agent: project\*", r"\*agent: project \(second\)\*", "process 4711"]:
        room.shows(f"ide-mcp-agent .*, {place}")
    room.type(*room.keys.NO_CHOICE)


def hooks_are_called_after_a_gap(room):
    """Only for what has changed in the gap, and not for the connection of a model."""
    room.start()
    event = room.made_up_events()
    note_hooks(room, connected="conn", closed="conn client", paused="")
    RawAgent(room)
    room.shows("hostile 1")
    agents = [{"conn": 77, "client": "late", "version": "1"}, {"conn": 78, "client": "model", "model": True}]
    for _ in range(2):
        event("status", agents=agents, calls=[], forms=[], paused=True)
    room.shows("late 1 .paused")
    event("closed", conn=78, reason="left")
    event("closed", conn=77, reason="left")
    room.has("noted", "connected 1\nclosed 1 hostile 1\nconnected 77\npaused\nclosed 77 late 1\n")


# --- Lists of files


def files_of_trees_are_mentioned(room):
    subprocess.run(["git", "init", "-q", str(room.folder)], check=True)
    room.start()
    agent = RawAgent(room)
    room.shows("hostile 1")
    load_packages(room, "treemacs", "neotree", "ibuffer")
    for name, keys in [
        ("treemacs", ['(progn (setq treemacs-no-png-images t) (treemacs-do-add-project-to-workspace default-directory "p") (treemacs))',
                      '(progn (treemacs-select-window) (goto-char 1) (search-forward "b.txt") (backward-char))']),
        ("neotree", ['(neotree-dir default-directory)',
                     '(progn (select-window (neo-global--get-window)) (goto-char 1) (search-forward "b.txt"))']),
        ("ibuffer", ['(progn (find-file-noselect "b.txt") (ibuffer) (goto-char 1) (search-forward "b.txt") (beginning-of-line))']),
    ]:
        room.type(*room.keys.run(*keys, "ide-mcp-mention"))
        agent.takes(room.path("b.txt"))
        room.type(*room.keys.run('(progn (ignore-errors (delete-window)) (switch-to-buffer "a.txt"))'))


def lines_of_a_file_are_asked_for(room):
    room.start()
    room.type(*room.keys.run('(make-directory "folder")'))
    agent = RawAgent(room)
    room.shows("hostile 1")
    for file, typed, lines in [("b.txt", "", None), ("b.txt", "1", [0, 0]), ("b.txt", "1-2", [0, 1]), ("b.txt", "1 - 2", [0, 1]),
                               ("", " 2 3 ", [1, 2]), ("folder", None, None)]:
        answers = [file, "<Enter>"] + ([typed, "<Enter>"] if typed is not None else [])
        room.type("<C-u>", *room.keys.run("ide-mcp-mention"), *answers)
        await_(f"{file} {typed}: mentioned", lambda: agent.mentions)
        if agent.lines != [lines]:
            raise Failure(f"{file} {typed}: {agent.lines}")
        agent.takes(room.path(file or "a.txt"))
    for typed, words in [("2-1", "no lines 2 to 1"), ("0", "no lines 0 to 0"), ("1-2-3", "not line numbers: 1-2-3"), ("x", "not line numbers: x")]:
        room.type("<C-u>", *room.keys.run("ide-mcp-mention"), "b.txt", "<Enter>", typed, "<Enter>")
        room.shows(f"ide-mcp: .*{words}")
    if agent.mentions:
        raise Failure(f"mentioned: {agent.mentions}")


def problems_of_flycheck_are_given(room):
    room.start()
    load_packages(room, "flycheck")
    room.type(*room.keys.run(
        "(progn (flycheck-define-generic-checker 'lint \"A checker.\" :modes '(text-mode) :start (lambda (checker callback)"
        " (funcall callback 'finished (list (flycheck-error-new-at 2 1 'warning \"odd\" :end-line 2 :end-column 4 :checker checker)))))"
        " (setq flycheck-check-syntax-automatically nil) (flycheck-mode) (flycheck-select-checker 'lint))"))
    agent = room.spawn("watch")
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.run("(flycheck-buffer)"))
    await_("the change is announced", lambda: "a.txt" in agent.text())
    problem = {"message": "odd", "severity": "Warning", "source": "lint",
               "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}}
    for arguments in [{}, {"uri": "file://" + room.path("a.txt")}]:
        found = json.loads(room.run("call", "getDiagnostics", json.dumps(arguments)))
        if found[0]["diagnostics"] != [problem]:
            raise Failure(f"the problems: {found}")


# --- Tools for a model

XREF = ('(progn (cl-defmethod xref-backend-identifier-at-point ((_ (eql stand-in))) (thing-at-point \'symbol))'
        ' (cl-defmethod xref-backend-references ((_ (eql stand-in)) name) (list'
        ' (xref-make (concat "uses " name) (xref-make-file-location (expand-file-name "b.txt") 3 0))'
        ' (xref-make "elsewhere" (xref-make-file-location "/etc/passwd" 1 0))))'
        ' (with-current-buffer "a.txt" (add-hook \'xref-backend-functions (lambda () \'stand-in) nil t)))')


def tools_are_for_the_model_that_the_person_allows(room):
    room.write("code.py", "class Box:\n    def take(self):\n        pass\n\ndef give():\n    pass\n")
    for number in range(300):
        room.write(f"file-{number:03}.txt", "")
    room.write(".gitignore", "secret.txt\n")
    room.write("secret.txt", "")
    subprocess.run(["git", "init", "-q", str(room.folder)], check=True)
    room.start()
    if "symbols" in room.run("tools"):
        raise Failure("the tools are offered before the person asks for them")
    room.type(*room.keys.run(XREF))
    room.restart(*room.keys.run("(setq ide-mcp-model-tools (quote (symbols references files)))"))
    room.lock()

    def call(tool, **arguments):
        return room.run("call", tool, json.dumps(arguments))

    symbols = call("symbols", path=room.path("code.py"))
    if "1: Box" not in symbols or not re.search(r"2: .*take", symbols) or not re.search(r"5: .*give", symbols):
        raise Failure(f"the symbols: {symbols}")
    places = call("references", path="a.txt", line=2, symbol="second")
    if "1 place\n" not in places or "b.txt:3: uses second" not in places or "passwd" in places:
        raise Failure(f"the references: {places}")
    files = call("files")
    if not re.search(r"30[0-9] files, of which these are the first 200", files) or "secret.txt" in files:
        raise Failure(f"the files: {files}")
    if "file-299.txt" not in call("files", part="-299"):
        raise Failure("the file is not found")
    (room.folder / "out.txt").symlink_to("/etc/passwd")
    for words, row in [
        ("no open folder", ("symbols", {"path": "/etc/passwd"})), ("no open folder", ("symbols", {"path": room.path("out.txt")})),
        ("There is no file", ("symbols", {"path": room.path("none.txt")})), ("missing", ("symbols", {})),
        ("Not the name", ("symbols", {"path": "/ssh:host:/x"})), ("no open folder", ("symbols", {"path": "../x"})),
        ("does not have", ("references", {"path": "a.txt", "line": 1, "symbol": "second"})), ("missing", ("references", {"path": room.path("a.txt"), "line": -1})),
        ("No language server", ("references", {"path": room.path("b.txt"), "line": 1, "symbol": "other"})),
    ]:
        answer = call(row[0], **row[1])
        if words not in answer:
            raise Failure(f"{row}: {answer}")


def settings_of_the_folder_run_nothing(room):
    """To find a project, Emacs 28 would evaluate .dir-locals.el, and git would run the monitor that its settings name."""
    room.start()
    room.restart(*room.keys.TRUSTING, *room.keys.run("(setq ide-mcp-model-tools (quote (files)))"))
    room.lock()
    subprocess.run(["git", "init", "-q", str(room.folder)], check=True)
    subprocess.run(["git", "config", "core.fsmonitor", f"touch {room.path('by-git')}; false"], cwd=room.folder, check=True)
    room.write(".dir-locals.el", f"""((nil . ((eval . (write-region "" nil "{room.path('by-folder')}")))))""")
    room.restart()
    room.lock()
    if "b.txt" not in (answer := room.run("call", "files", "{}")):
        raise Failure(answer)
    if found := [name for name in ["by-git", "by-folder"] if (room.folder / name).exists()]:
        raise Failure(f"commands ran: {found}")


def files_of_a_project_above_the_folder_are_not_listed(room):
    (room.home / "secret").touch()
    room.start()
    room.restart(*room.keys.run("(setq ide-mcp-model-tools (quote (files)))"))
    room.lock()
    subprocess.run(["git", "init", "-q", str(room.home)], check=True)
    room.type(*room.keys.run('(kill-buffer "a.txt")'))
    if "secret" in (answer := room.run("call", "files", "{}")) or "b.txt" not in answer:
        raise Failure(answer)


def names_of_another_folder_are_not_listed(room):
    """The settings of git can name another work tree, whose files git then lists instead of those in this folder."""
    elsewhere = room.home / "elsewhere"
    elsewhere.mkdir()
    for name in ["secret", "b.txt"]:
        (elsewhere / name).touch()
    subprocess.run(["git", "init", "-q", str(room.folder)], check=True)
    subprocess.run(["git", "config", "core.worktree", str(elsewhere)], cwd=room.folder, check=True)
    room.start()
    room.restart(*room.keys.run("(setq ide-mcp-model-tools (quote (files)))"))
    room.lock()
    if "secret" in (answer := room.run("call", "files", "{}")) or "1 file\nb.txt" not in answer:
        raise Failure(answer)


def bytes_that_are_not_text_are_not_sent(room):
    """A file that is not UTF-8 can have 8-bit control characters, such as the byte 9B, which begins a terminal key."""
    hand = Hand(room)
    hand.run("open")
    facts = hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("focus")
    room.type(*room.keys.run('(ide-mcp-send "a\\23320b")'))
    hand.has_typed(facts, *paste("a20b"))


# --- The state


def doctor_shows_what_is_wrong(room):
    hand = Hand(room)
    room.type(*room.keys.run("ide-mcp-doctor"))
    room.shows("ok +The sidecar 0.* listens on the port")
    room.shows("ok +M-x ide-mcp-open starts /.*/claude")
    room.shows(r"An agent in .* attaches to Emacs")
    room.type("q", *room.keys.STOP)
    room.no_lock()
    (room.home / "commands/claude").unlink()
    room.type(*room.keys.run("ide-mcp-doctor"))
    room.shows("problem +The mode is off")
    room.shows("warning +claude is not in PATH")
    room.shows("An agent in .* finds no editor")
    room.hides("doctor is looking")


def doctor_asks_for_no_consent(room):
    """If it did, the question about a real agent would come 10 s later."""
    room.start()
    room.restart(*room.keys.CONSENT, *room.keys.run("(setq ide-mcp-log-level 'debug)"))
    room.lock()
    room.type(*room.keys.run("ide-mcp-doctor"))
    room.shows("An agent in .* the editor|attaches")
    room.type(*room.keys.run("ide-mcp-log"))
    room.shows("gets listening")
    if "consent" in (log := room.screen()):
        raise Failure(log)


def log_has_levels_and_a_limit(room):
    room.write("a.txt", "private words\n")
    room.start()
    room.type(*room.keys.run("ide-mcp-log"))
    room.shows("The log is empty")
    room.type(*room.keys.run("(setq ide-mcp-log-level 'debug)"), *room.keys.SELECT_ALL)
    agent = room.play({"sleep": 500})
    agent.done()
    log = '(with-current-buffer "*ide-mcp log*" (buffer-string))'
    text = evaluated(room, log)
    if "sends select" not in text or "gets connected of 1" not in text or "private" in text:
        raise Failure(f"the log: {text}")
    size = evaluated(room, "(progn (dotimes (n 5000) (ide-mcp--log 'warn \"line %d\" n)) (buffer-size (get-buffer \"*ide-mcp log*\")))")
    if not 10_000 < int(size) <= 65_536 or not evaluated(room, log).endswith("line 4999"):
        raise Failure(f"the log has {size} characters")


def selection_costs_little(room):
    """The median over 1,000 moves of the cursor in 50,000 lines, without the time of the sidecar."""
    room.write("a.txt", "".join(f"line {number} of the file, with 𝒳 in it\n" for number in range(50_000)))
    room.start()
    for move, begin, step in [("by a line", "(goto-char (/ (point-max) 2))", "(forward-line 1)"),
                              ("anywhere", "(ignore)", "(goto-char (1+ (random (buffer-size))))"),
                              ("with 20,000 lines", "(progn (goto-char 1) (push-mark nil t t) (forward-line 20000))", "(forward-line 1)")]:
        median = float(evaluated(room, f"(progn {begin} (garbage-collect)"
                                 " (let (times) (dotimes (_ 1000)"
                                 f" {step} (let ((begin (float-time))) (ide-mcp--send-selection)"
                                 " (push (- (float-time) begin) times)))"
                                 " (* 1000 (nth 500 (sort times #'<)))))"))
        print(f"     a selection {move}: {median:.3f} ms at the median")
        if not 0 < median <= COST:
            raise Failure(f"{move}: {median} ms")


def large_selection_arrives_after_a_pause(room):
    room.write("a.txt", "".join(f"line {number}\n" for number in range(20_000)))
    room.start()
    room.type("<M-<>", "<C-Space>", "<C-u>", "10000", "<C-n>")
    await_("the agent has the selection", lambda: "line 9999" in room.run("call", "getLatestSelection", "{}"))


def setup_of_the_readme_works(room):
    """By `use-package`, a part of Emacs since 29."""
    page = (ROOT / "adapters/editors/emacs/README.md").read_text()
    setup = re.search(r"```elisp\n(\(use-package.*?)```", page, re.S)[1]
    if setup.count("\n") > 10:
        raise Failure("the set-up has more than ten lines")
    setup = re.sub(r":vc \(.*", f':load-path "{ROOT}/adapters/editors/emacs"', setup)
    (room.home / "setup.el").write_text(setup)
    hand = Hand(room)
    if evaluated(room, "(>= emacs-major-version 29)") == "nil":
        return
    room.type(*room.keys.STOP)
    room.no_lock()
    room.type(*room.keys.run("(load \"~/setup.el\")"))
    room.lock()
    room.type("<C-c>", "'")
    hand.terminal()
    room.shows(RUNS)
    room.type(*room.keys.run("ide-mcp-focus"), "<C-c>", "a", "t")
    room.hides(RUNS)


# --- The package


def package_compiles_without_a_warning(room):
    with tempfile.TemporaryDirectory() as folder:
        source = ROOT / "adapters/editors/emacs"
        for file in source.glob("*.el"):
            shutil.copy(file, folder)
        batch = [room.keys.PROGRAM, "-Q", "--batch", "-L", folder]
        # Compiles each file alone: it must load itself what it needs, and not rely on a file that was compiled before.
        for file in sorted(source.glob("*.el")):
            found = subprocess.run([*batch, "--eval", "(setq byte-compile-error-on-warn t)", "-f", "batch-byte-compile", f"{folder}/{file.name}"],
                                   capture_output=True, text=True, check=False)
            if found.returncode:
                raise Failure(found.stderr)
        for file in sorted(source.glob("*.el")):
            found = subprocess.run([*batch, "--eval", f'(progn (require \'checkdoc) (checkdoc-file "{file}"))'],
                                   capture_output=True, text=True, check=False).stderr
            if re.search(rf"{file.name}:\d", found):
                raise Failure(found)
        commands = subprocess.run(
            [*batch, "--eval", f"(progn (require 'autoload) (let ((generated-autoload-file \"{folder}/auto.el\")) "
             f"(if (fboundp 'loaddefs-generate) (loaddefs-generate \"{folder}\" generated-autoload-file) "
             f"(make-directory-autoloads \"{folder}\" generated-autoload-file))) (load \"{folder}/auto.el\") "
             "(dolist (c '(ide-mcp-mode ide-mcp-open ide-mcp-toggle ide-mcp-focus ide-mcp-send ide-mcp-mention ide-mcp-agents "
             "ide-mcp-accept ide-mcp-reject ide-mcp-next ide-mcp-previous ide-mcp-proposals ide-mcp-pause ide-mcp-status "
             "ide-mcp-doctor ide-mcp-log ide-mcp-install ide-mcp-uninstall ide-mcp-menu)) "
             "(unless (and (autoloadp (symbol-function c)) (commandp c)) (error \"No autoload: %s\" c)))) "],
            capture_output=True, text=True, check=False)
        if commands.returncode:
            raise Failure(commands.stderr)
        if ELPA.is_dir():
            lint = ["emacs", "-Q", "--batch", "-L", str(ELPA / "package-lint"), "-L", str(ELPA / "let-alist"), "--eval",
                    f'(setq package-lint-main-file "{source}/ide-mcp.el")', "-l", "package-lint", "-f", "package-lint-batch-and-exit"]
            found = subprocess.run([*lint, *sorted(map(str, source.glob("*.el")))], capture_output=True, text=True, check=False)
            # The release adds the URL. The package-lint of 2022 does not know Emacs 28.
            expected = ["Package should have a Homepage or URL header", "uninstallable in all released"]
            found = [line for line in found.stdout.splitlines() if re.match(r"[\w.-]+\.el:", line) and not any(word in line for word in expected)]
            if found:
                raise Failure("\n".join(found))


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "emacs_hand"]
