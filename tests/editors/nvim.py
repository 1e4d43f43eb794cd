"""Neovim: its command, and the keys for what a person does."""

from install import install

PROGRAM = "nvim"


def command(root, home, file):
    """Installs the plugin as a user does, and returns the command of the editor."""
    install(root, home, "nvim")
    (home / "init.lua").write_text(
        "vim.o.statusline = \"%f %m %{v:lua.require'ide-mcp'.status()}\"\n"
        "vim.o.laststatus = 2\n"
    )
    return [PROGRAM, "-u", str(home / "init.lua"), file]


# The colors of the picture: those of Neovim 0.7 for differences are loud.
PICTURE = ["--cmd", "set termguicolors", "-c", " | ".join([
    "colorscheme slate",
    "hi Normal guibg=#1c1f26",
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
SELECT_ONE = ["<Escape>", "gg0v"]  # the first of them
SELECT_LINES = ["<Escape>", "ggVj"]
SELECT_ALL = ["<Escape>", "ggVG"]
MENTION_LINES = ["<Escape>", ":1,2IdeMcp mention", "<Enter>"]
MENTION_FILE = ["<Escape>", ":IdeMcp mention", "<Enter>"]
INSERT_LINE = ["<Escape>", "ggOedited", "<Escape>"]
BEGIN_TYPING = ["<Escape>", "ggOty"]
END_TYPING = ["ped", "<Escape>"]
BEGIN_INSERTING = ["<Escape>", "ggO"]
END_INSERTING = ["<Escape>"]
ACCEPT = [":w", "<Enter>"]
ACCEPT_AND_CLOSE = [":wq", "<Enter>"]
REJECT = [":q!", "<Enter>"]
BUSY = ["<Escape>", ":lua vim.loop.sleep(3000)", "<Enter>"]
QUESTION = ["<Escape>", ":call confirm('sure')", "<Enter>"]
TERMINAL = ["<Escape>", ":terminal", "<Enter>", "iCOMMAND", "<Enter>"]
NEXT_PROPOSAL = ["gt"]
UNDO = ["uuu"]
ENTER_FOLDER = ["<Escape>", ":cd inner", "<Enter>"]
RESOURCE = "nvim://quickfix"
FILL_RESOURCE = ["<Escape>", ":call setqflist([{'filename': 'a.txt', 'lnum': 2, 'text': 'found by a test'}])", "<Enter>"]
QUIT = ["<Escape>", ":qa!", "<Enter>"]
PROBLEM = [
    "<Escape>",
    ":lua vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0,"
    " {{lnum=0, col=4, end_col=6, message='wrong', severity=1, source='lint', code=7}})",
    "<Enter>",
]
BEGIN_COMMAND = [":"]
PAUSE = ["<Escape>", ":IdeMcp pause", "<Enter>"]
RESUME = ["<Escape>", ":IdeMcp resume", "<Enter>"]
STOP = ["<Escape>", ":IdeMcp stop", "<Enter>"]
START = ["<Escape>", ":IdeMcp start", "<Enter>"]
OPEN_TERMINAL = ["<Escape>", ":terminal", "<Enter>"]
INVALID_BYTES = ["<Escape>", ":call setline(1, \"\\xff bytes\")", "<Enter>"]
CONSENT = ["<Escape>", ":lua require('ide-mcp').options.config.consent = true", "<Enter>"]
YES = ["1", "<Enter>"]
UNDO = ["<Escape>", "u"]
OWN_TOOL = [
    "<Escape>",
    ":lua local o = require('ide-mcp').options; o.config.own = {{name='theme'}};"
    " o.answers.theme = function() return 'dark' end",
    "<Enter>",
]
