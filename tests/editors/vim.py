"""Vim: its command, and the keys for what a person does."""

PROGRAM = "vim"


def command(root, home, file):
    (home / "vimrc").write_text(
        f"set nocompatible laststatus=2 shortmess+=I\nset runtimepath^={root}/adapters/vim\n"
        "set statusline=%f\\ %m\\ %{ide_mcp#Status()}\n"
    )
    return [PROGRAM, "-u", str(home / "vimrc"), file]


ATTACHED = r"⧉ ide-mcp-agent"
DETACHED = r"⧉ no agent"
PROPOSAL = r"NAME, proposed by"
NOTICE = r"1 proposal waits"  # while the person types

SELECT_FIRST = ["<Escape>", "gg0vl"]  # two characters
SELECT_LINES = ["<Escape>", "ggVj"]
SELECT_ALL = ["<Escape>", "ggVG"]
MENTION_LINES = ["<Escape>", ":1,2IdeMcp mention", "<Enter>"]
MENTION_FILE = ["<Escape>", ":IdeMcp mention", "<Enter>"]
INSERT_LINE = ["<Escape>", "ggOedited", "<Escape>"]
BEGIN_TYPING = ["<Escape>", "ggOty"]
END_TYPING = ["ped", "<Escape>"]
ACCEPT = [":w", "<Enter>"]
ACCEPT_AND_CLOSE = [":wq", "<Enter>"]
REJECT = [":q!", "<Enter>"]
BUSY = ["<Escape>", ":call system('sleep 3')", "<Enter>"]  # Vim reads events in `:sleep`
QUESTION = ["<Escape>", ":call confirm('sure')", "<Enter>"]
NEXT_PROPOSAL = ["gt"]
UNDO = ["uuu"]
ENTER_FOLDER = ["<Escape>", ":cd inner", "<Enter>"]
TERMINAL = ["<Escape>", ":terminal", "<Enter>"]
RESOURCE = "vim://quickfix"
FILL_RESOURCE = ["<Escape>", ":call setqflist([{'filename': 'a.txt', 'lnum': 2, 'text': 'found by a test'}])", "<Enter>"]
QUIT = ["<Escape>", ":qa!", "<Enter>"]
PROBLEM = [
    "<Escape>",
    ":call setloclist(0, [], ' ', #{title: 'lint', items:"
    " [#{bufnr: bufnr(), lnum: 1, col: 5, end_col: 7, text: 'wrong', type: 'E'}]})",
    "<Enter>",
]
PAUSE = ["<Escape>", ":IdeMcp pause", "<Enter>"]
RESUME = ["<Escape>", ":IdeMcp resume", "<Enter>"]
STOP = ["<Escape>", ":IdeMcp stop", "<Enter>"]
START = ["<Escape>", ":IdeMcp start", "<Enter>"]
