"""Vim: its command, and the keys for what a person does."""

from install import install

PROGRAM = "vim"


def command(root, home, file):
    """Installs the plugin as a user does, and returns the command of the editor."""
    install(root, home, "vim")
    (home / ".vim/vimrc").write_text("set laststatus=2 statusline=%f\\ %m\\ %{ide_mcp#Status()}\n")
    return [PROGRAM, file]


# The colors of the picture, as numbers that do not depend on the terminal.
TRUE_COLOR = r'let &t_8f = "\e[38;2;%lu;%lu;%lum" | let &t_8b = "\e[48;2;%lu;%lu;%lum" | set termguicolors'
PICTURE = ["--cmd", TRUE_COLOR, "-c", " | ".join([
    "syntax on",
    "colorscheme slate",
    "hi Normal guifg=#c8ccd4 guibg=#1c1f26",
    "hi FoldColumn guibg=#1c1f26",
    "hi DiffAdd guibg=#234034 guifg=NONE",
    "hi DiffChange guibg=#28324a guifg=NONE",
    "hi DiffText guibg=#44598c guifg=NONE gui=NONE",
    "hi DiffDelete guibg=#3b2429 guifg=#3b2429",
])]

ATTACHED = r"⧉ ide-mcp-agent"
DETACHED = r"⧉ no agent"
PROPOSAL = r"NAME, proposed by"
NOTICE = r"1 proposal waits"  # while the person types

SELECT_FIRST = ["<Escape>", "gg0vl"]  # two characters
SELECT_ONE = ["<Escape>", "gg0v"]
BEGIN_INSERTING = ["<Escape>", "ggO"]
END_INSERTING = ["<Escape>"]
OPEN_TERMINAL = ["<Escape>", ":terminal", "<Enter>"]
INVALID_BYTES = ["<Escape>", ":call setline(1, \"\\xff bytes\")", "<Enter>"]
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
TERMINAL = ["<Escape>", ":terminal", "<Enter>", "COMMAND", "<Enter>"]
RESOURCE = "vim://quickfix"
FILL_RESOURCE = ["<Escape>", ":call setqflist([{'filename': 'a.txt', 'lnum': 2, 'text': 'found by a test'}])", "<Enter>"]
QUIT = ["<Escape>", ":qa!", "<Enter>"]
PROBLEM = [
    "<Escape>",
    ":call setloclist(0, [], ' ', #{title: 'lint', items:"
    " [#{bufnr: bufnr(), lnum: 1, col: 5, end_col: 7, text: 'wrong', type: 'E'}]})",
    "<Enter>",
]
BEGIN_COMMAND = [":"]
PAUSE = ["<Escape>", ":IdeMcp pause", "<Enter>"]
RESUME = ["<Escape>", ":IdeMcp resume", "<Enter>"]
STOP = ["<Escape>", ":IdeMcp stop", "<Enter>"]
START = ["<Escape>", ":IdeMcp start", "<Enter>"]
CONSENT = ["<Escape>", ":let g:ide_mcp = #{config: #{consent: v:true}}", "<Enter>"]
YES = ["y"]
OWN_TOOL = [
    "<Escape>",
    ":let g:ide_mcp = #{config: #{own: [#{name: 'theme'}]}, answers: #{theme: {-> 'dark'}}}",
    "<Enter>",
]
