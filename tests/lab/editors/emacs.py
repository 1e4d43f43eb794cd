"""Emacs: how to start it, and the keys for what a person does."""

import json
import pathlib
import re

from install import install

PROGRAM = "emacs"
OWN_SCENARIOS = ["hand", "emacs_hand", "emacs_only"]  # modules of scenarios that no other editor plays


def command(root, home, file):
    install(root, home, "emacs")
    (home / "init.el").write_text(
        f'(add-to-list \'load-path "{home}/.emacs.d/ide-mcp")\n'
        "(require 'ide-mcp)\n"
        "(ide-mcp-mode)\n"
        "(setq enable-dir-local-variables nil)\n"  # see TRUSTING
        "(setq suggest-key-bindings nil extended-command-suggest-shorter nil)\n"
        "(defun lint (report &rest _)\n"
        '  (funcall report (list (flymake-make-diagnostic (current-buffer) 2 4 :error "wrong"))))\n'
    )
    return [PROGRAM, "-nw", "-Q", "-l", str(home / "init.el"), file]


def run(*typed, lines=None, bang=False):
    """Returns the keys that run commands, such as `shell` or `send hello`, or evaluate expressions."""
    keys = region(*lines) if lines else []
    for text in typed:
        text = expression(text, bang)
        keys += [*(["<C-u>"] if bang and lines else []), "<M-:>" if text.startswith("(") else "<M-x>", text, "<Enter>"]
    return keys


def region(first, last):
    """Returns the keys that select the lines from the first to the last, which count from 1."""
    return [*run(f"(progn (goto-char 1) (forward-line {first - 1}))"), "<C-Space>", *["<C-n>"] * (last - first), "<C-e>"]


def expression(text, bang):
    """Returns the Emacs command or expression for a command of the shared vocabulary (see hand.py)."""
    name, _, rest = text.partition(" ")
    if name not in ["open", "toggle", "focus", "send", "interrupt", "accept", "reject", "next", "previous", "proposals", "agents", "mention"]:
        return text
    if not rest:
        return f"ide-mcp-{name}"
    words = [rest]
    if name == "mention":  # a path, and possibly lines
        path, lines = re.fullmatch(r"(.*?)((?: \d+){0,2})", rest).groups()
        words = [path, *map(int, lines.split())]
    return f"(ide-mcp-{name} {' '.join(json.dumps(word) for word in words)}{' t' if bang else ''})"


# For the picture in the docs: the terminal of an agent beside its proposal, not wider than a page.
PICTURE = ["--eval", "(progn (load-theme 'modus-vivendi t) (menu-bar-mode -1) (setq ide-mcp-layout 'inline)"
           " (set-face-background 'default \"#1c1f26\")"
           " (with-eval-after-load 'term (set-face-background 'term \"#1c1f26\")))"]

PICTURE_KEYS = ["M-x", "ide-mcp-open", "Enter"]  # as tmux calls them

ATTACHED = r"⧉ ide-mcp-agent"
DETACHED = r"⧉ no agent"
DECIDING = r"C-c C-c accepts, C-c C-k rejects"
PROPOSAL = rf"{DECIDING}\.  .*NAME"
ENDED = r"Ended: nothing is accepted"  # of a view that stays open while the person types
NOTICE = r"\d waiting"  # while the person types

SELECT_FIRST = ["<M-<>", "<C-Space>", "<C-f>", "<C-f>"]  # two characters
SELECT_ONE = ["<M-<>", "<C-Space>", "<C-f>"]
SELECT_ALL = ["<M-<>", "<C-Space>", "<M->>", "<C-b>"]
SELECT_LINES = ["<M-<>", "<C-Space>", "<C-n>", "<C-e>"]
MENTION_LINES = ["<M-<>", "<C-Space>", "<C-n>", "<C-n>", *run("ide-mcp-mention")]  # up to the beginning of a line
MENTION_FILE = ["<C-Space>", *run("ide-mcp-mention")]  # with an empty region
INSERT_LINE = ["<M-<>", "edited", "<Enter>"]
BEGIN_TYPING = ["<M-:>", '(insert "ty']
END_TYPING = ['ped")', "<Enter>"]
BEGIN_INSERTING = ["<M-<>"]
END_INSERTING = []
ACCEPT_WHILE_TYPING = ["<C-c>", "<C-c>"]
ACCEPT = ["<Reading>", *ACCEPT_WHILE_TYPING]
ACCEPT_AND_CLOSE = ACCEPT
REJECT = ["<C-c>", "<C-k>"]
WRITE_COPY = run('(write-region nil nil "copy.txt")')
ABANDON = ['"', "<Enter>"]  # C-g would discard the keys after it
FIRST_FILE = [*run('(progn (delete-other-windows) (switch-to-buffer "a.txt"))'), "<M-<>"]
ENDS_OF_TEXT = ["<M->>", "<M-<>"]
TRUSTING = run("(setq enable-dir-local-variables t)")
COUNT_PROPOSALS, ONE_PROPOSAL = [], r""  # the next one opens once the earlier one is decided
TOO_LARGE = r"no highlighting"
KEPT = r"keeps your changes"
TABS = r"(?!)"  # Emacs does not show proposals in tabs
HALF_COMMANDS = [(["<M-x>"], ["<C-g>"])]
TYPED_YES = ["allow", "<Enter>"]
NO_FILE = REMOTE_FILE = run('(switch-to-buffer "new")')
BUSY = run("(let ((end (+ (float-time) 3))) (while (< (float-time) end)))")  # `sleep-for` would still read events
BUSY_SOON = run(  # while the person is idle
    "(run-with-timer 1 nil (lambda () (let ((end (+ (float-time) 3))) (while (< (float-time) end)))))"
)
QUESTION = ["<M-:>", '(read-string "sure? ")', "<Enter>"]
NEXT_PROPOSAL = []  # it opens once the earlier one is decided
RESOURCE = "emacs://next-error"
FILL_RESOURCE = run('(compile "echo a.txt:2: found by a test")')
QUIT = ["<C-x>", "<C-c>"]
PROBLEM = run("(setq flymake-diagnostic-functions '(lint))", "(flymake-mode)")
CHANGE_PROBLEMS = PROBLEM
CHANGE_PROBLEMS_ELSEWHERE = run('(progn (switch-to-buffer "*scratch*") (with-current-buffer "a.txt" (flymake-start)))')
BEGIN_COMMAND = ["<M-:>", '"']
PAUSE = ["<M-x>", "ide-mcp-pause", "<Enter>"]
RESUME = PAUSE
STOP = run("ide-mcp-mode")
START = STOP
OPEN_TERMINAL = run("shell")
TERMINAL = [*OPEN_TERMINAL, "COMMAND", "<Enter>"]
INVALID_BYTES = ["<M-<>", *run("(insert (string #x3fffff #xd800))")]
ENTER_FOLDER = run('(find-file "inner/c.txt")')
PAUSE_IN_TERMINAL = PAUSE
CONTAINER = run("(setq ide-mcp-config '(:pid nil :folders [\"/box\"]))")
STATUS = run("ide-mcp-status")
STATUS_SHOWS = [r"Port PORT: ⧉ ide-mcp-agent"]
STATUS_WITHOUT_PROGRAM = r"Port nil: ⧉ stopped"
STATUS_WITHOUT_PORT = r"Port nil: ⧉ starting"
OWN_VIEW = run(
    "(defun own (p) (let-alist p (if (equal .contents \"yes\") (funcall .accept \"mine\")"
    " (write-region (concat .contents \"\\n\") nil \"shown\"))"
    " (lambda () (write-region (concat (file-name-nondirectory .path) \"\\n\") nil \"closed\"))))",
    "(setq ide-mcp-show-function #'own)",
)


def sidecar(*words):
    """Returns the keys that replace the command of the sidecar."""
    return run(f"(setq ide-mcp-command '({' '.join(map(json.dumps, words))}))")


CONSENT = run("(setq ide-mcp-config '(:consent t))")
LATE_CONSENT = CONSENT
YES = FIRST_YES = SECOND_YES = ["allow", "<Enter>"]
NO = ["refuse", "<Enter>"]
UNDO = run("(ignore-errors (undo))")  # an error would discard the keys after it
OWN_TOOL = run(
    "(setq ide-mcp-config '(:own [(:name \"theme\")]) ide-mcp-answers '((\"theme\" . (lambda (_) \"dark\"))))"
)
SLOW_TOOL = run(
    "(setq ide-mcp-config '(:own [(:name \"slow\")]) count 0 ide-mcp-answers"
    " '((\"slow\" . (lambda (_) (let ((number (cl-incf count)))"
    " (write-region \"yes\" nil \"asked\") (sleep-for 3) (format \"answer %d\" number))))))"
)

NO_JSON_TOOL = [key.replace('"dark"', "(current-buffer)") for key in OWN_TOOL]
VIEW_THAT_FAILS_TO_CLOSE = [key.replace('(write-region (concat (file-name-nondirectory .path) "\\n") nil "closed")', '(error "no end")')
                            for key in OWN_VIEW]


def open_nth(folder, number):
    """Returns the keys that open a file of a folder, whatever its name is."""
    return run(f'(find-file (nth {number} (directory-files "{folder}" t directory-files-no-dot-files-regexp)))')


LEAVE_TERMINAL, ENTER_TERMINAL = [], []
LAYOUTS = ["auto", "side-by-side", "stacked", "tab", "inline"]
ELSEWHERE = run('(select-window (split-window))', '(switch-to-buffer "a.txt")')
FIRST_CHOICE, SECOND_CHOICE = ["1", "<Enter>"], ["2", "<Enter>"]
NO_CHOICE = ["<Enter>", "<Reading>"]  # the error discards the keys after it
LIST = r"^(Agent|Proposal):"
CLOSE_MESSAGE = []
COUNT_BUFFERS = run('(run-with-timer 0.3 nil (function message) "%d listed" (seq-count (lambda (buffer) (or (buffer-file-name buffer)'
                    ' (string-match-p "^.\\\\(file\\\\|proposal\\\\):" (buffer-name buffer)))) (buffer-list)))')
SCRATCH = run('(progn (switch-to-buffer "tree_1") (insert "scratch"))')
TREE = run('(dired ".")', '(dired-goto-file (expand-file-name "b.txt"))')
MARK_IN_TREE = ["m", *run('(dired-goto-file (expand-file-name "a.txt"))'), "m"]


def set_option(name, value):
    """Returns the keys that set an option."""
    option = {"layout": "layout", "focus": "select-proposal", "diffs": "diffs"}[name]
    return run(f'(setq ide-mcp-{option} {"nil" if value is False else f"(quote {value})"})')


# Scenarios that this plugin cannot play, with the reasons.
ABSENT = {
    "failed_make_names_no_other_file": "the problems are those of Flymake",
    "slow_sidecar_does_not_delay_the_person": "Emacs waits in `process-send-string` for a process that does not read",
    "question_ends_with_its_sidecar": "only an answer ends the question",
    "late_answer_is_for_the_process_that_asked": "Emacs starts the sidecar again while a tool waits",
    "buffer_without_a_file_is_not_a_selection": "the terminal of an agent is such a buffer, in which the selection stays",
    "tab_of_an_ended_proposal_hides_no_other": "Emacs does not show proposals in tabs",
    "writing_all_elsewhere_accepts_nothing": "no command of Emacs writes the buffer of a proposal",
    "proposal_leaves_no_buffer": "Emacs lists every buffer",
    "view_that_fails_leaves_nothing_behind": "no function of the person's runs before the view is complete",
    "swap_file_raises_no_question": "Emacs has no swap files",
    "command_window_delays_views": "Emacs has no command-line window",
    "problem_of_a_file_that_is_not_loaded_has_its_column": "Flymake has only problems of open files",
}
if not (pathlib.Path(__file__).parents[3] / "target/elpa").is_dir():
    ABSENT |= {name: "needs tests/lab/editors/elpa.sh" for name in [
        "agent_runs_in_vterm", "output_of_an_agent_does_not_move_vterm", "files_of_trees_are_mentioned", "problems_of_flycheck_are_given"]}
