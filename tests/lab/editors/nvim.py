"""Neovim: how to start it, and the keys for what a person does."""

from install import install
from vi import *  # the keys that Vim and Neovim share

PROGRAM = "nvim"


def command(root, home, file):
    """Installs the plugin as a user does, and returns the command that starts the editor."""
    install(root, home, "nvim")
    (home / "init.lua").write_text(
        "vim.o.statusline = \"%f %m %{v:lua.require'ide-mcp'.status()}\"\n"
        "vim.o.laststatus = 2\n"
    )
    return [PROGRAM, "-u", str(home / "init.lua"), file]


# The colors of the picture in the docs: the diff colors of Neovim 0.7 are garish.
PICTURE = ["--cmd", "set termguicolors", "-c", " | ".join([
    "colorscheme slate",
    "hi Normal guibg=#1c1f26",
    "hi FoldColumn guibg=#1c1f26",
    "hi DiffAdd guibg=#234034 guifg=NONE",
    "hi DiffChange guibg=#28324a guifg=NONE",
    "hi DiffText guibg=#44598c guifg=NONE gui=NONE",
    "hi DiffDelete guibg=#3b2429 guifg=#a8737c",
    "lua require('ide-mcp').options.layout = 'inline'",
])]
PICTURE_KEYS = [":IdeMcp open", "Enter"]


SELECT_ONE = ["<Escape>", "gg0v"]  # the first of them
BUSY = ["<Escape>", ":lua vim.loop.sleep(3000)", "<Enter>"]
BUSY_SOON = BUSY
TERMINAL = ["<Escape>", ":terminal", "<Enter>", "iCOMMAND", "<Enter>"]
RESOURCE = "nvim://quickfix"
PROBLEM = [
    "<Escape>",
    ":lua vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0,"
    " {{lnum=0, col=4, end_col=6, message='wrong', severity=1, source='lint', code=7}})",
    "<Enter>",
]
CHANGE_PROBLEMS = PROBLEM
CHANGE_PROBLEMS_ELSEWHERE = [
    "<Escape>",
    ":lua vim.cmd('new'); for _, buf in ipairs({0, vim.fn.bufnr('a.txt')}) do"
    " vim.diagnostic.set(vim.api.nvim_create_namespace('t'), buf, {{lnum=0, col=0, message='odd'}}) end",
    "<Enter>",
]
PAUSE_IN_TERMINAL = ["<C-\\>", "<C-n>", *PAUSE]
CONTAINER = [
    "<Escape>",
    ":lua require('ide-mcp').setup({config = {pid = vim.NIL, folders = {'/box'}}})",
    "<Enter>",
]
STATUS = ["<Escape>", ":checkhealth ide-mcp", "<Enter>"]
STATUS_SHOWS = [r"OK:? ide-mcp \d+\.", r"agents attach at port PORT in .*/project", r"OK:? ⧉ ide-mcp-agent"]
STATUS_WITHOUT_PROGRAM = r"none-such is not in PATH"
STATUS_WITHOUT_PORT = r"the sidecar does not listen yet"
OWN_VIEW = [
    "<Escape>",
    ":lua require('ide-mcp').setup({show = function(p)"
    " if p.contents == 'yes' then p.accept('mine') else vim.fn.writefile({p.contents}, 'shown') end;"
    " return function() vim.fn.writefile({vim.fn.fnamemodify(p.path, ':t')}, 'closed') end end})",
    "<Enter>",
]
VIEW_THAT_FAILS_TO_CLOSE = [
    "<Escape>",
    ":lua require('ide-mcp').setup({show = function(p)"
    " vim.fn.writefile({p.contents}, 'shown'); return function() error('no end', 0) end end})",
    "<Enter>",
]


def sidecar(*words):
    """Returns the keys that replace the command of the sidecar."""
    return ["<Escape>", f":lua require('ide-mcp').setup({{command = {{{str(list(words))[1:-1]}}}}})", "<Enter>"]


CONSENT = ["<Escape>", ":lua require('ide-mcp').options.config.consent = true", "<Enter>"]
YES, NO = ["1", "<Enter>"], ["2", "<Enter>"]
# A list that does not block Neovim, as plugins for `vim.ui.select` show it.
LATE_CONSENT = [
    *CONSENT,
    ":lua waiting = {}; vim.ui.select = function(_, o, done) print(o.prompt); table.insert(waiting, done) end",
    "<Enter>",
]
FIRST_YES = SECOND_YES = [":lua table.remove(waiting, 1)('Let it attach')", "<Enter>"]
UNDO = ["<Escape>", "u"]
OWN_TOOL = [
    "<Escape>",
    ":lua local o = require('ide-mcp').options; o.config.own = {{name='theme'}};"
    " o.answers.theme = function() return 'dark' end",
    "<Enter>",
]
NO_JSON_TOOL = [key.replace("'dark'", "print") for key in OWN_TOOL]
# The tool starts the sidecar again. A file shows that its answer was sent.
LATE_TOOL = [
    *[key.replace("return 'dark'", "vim.cmd('IdeMcp stop'); vim.cmd('IdeMcp start');"
                  " vim.fn.writefile({}, 'ended'); return 'late'") for key in OWN_TOOL],
    ":lua local s = require('ide-mcp.sidecar'); local send = s.send; s.send = function(c)"
    " if c.result == 'late' then vim.fn.writefile({}, 'sent') end; return send(c) end",
    "<Enter>",
]
PROBLEM_OF_A_FILE_THAT_IS_NOT_LOADED = [
    "<Escape>",
    ":lua vim.diagnostic.set(vim.api.nvim_create_namespace('t'), vim.fn.bufadd('b.txt'),"
    " {{lnum=0, col=4, message='far', severity=1}})",
    "<Enter>",
]


def leave_swap_file(path):
    """Returns the command of an editor that opens a file, and leaves its swap file behind when it is killed."""
    return [PROGRAM, "--headless", "-u", "NONE", path]


def run(words, lines=None, bang=False):
    """Returns the keys of a command: `<Escape>` first, unless a terminal was left."""
    name, _, rest = words.partition(" ")
    span = ",".join(map(str, lines or []))
    return ["<Escape>", f":{span}IdeMcp {name}{'!' if bang else ''} {rest}".rstrip(), "<Enter>"]


LEAVE_TERMINAL = ["<C-\\>", "<C-n>"]
ENTER_TERMINAL = []
LAYOUTS = ["tab", "vertical", "horizontal", "inline"]
ELSEWHERE = ["<Escape>", ":tabprevious", "<Enter>"]
FIRST_CHOICE, SECOND_CHOICE = ["1", "<Enter>"], ["2", "<Enter>"]
NO_CHOICE = ["<Enter>"]
LIST = r"^Type number and <Enter>"
SCRATCH = ["<Escape>", ":new | setlocal buftype=nofile | file tree_1 | call setline(1, 'scratch')", "<Enter>"]
TREE = ["<Escape>", ":Explore", "<Enter>", "/b.txt", "<Enter>"]
MARK_IN_TREE = ["mf", "/a.txt", "<Enter>", "mf"]


def set_option(name, value):
    lua = str(value).lower() if isinstance(value, bool) else repr(value)
    return ["<Escape>", f":lua require('ide-mcp').options.{name} = {lua}", "<Enter>"]


END_POPUPS = []
OPENS_AGAIN = False  # whether `openFile` rereads a file that has changed on disk
OWN_SCENARIOS = ["hand", "vi_only", "nvim_only", "nvim_hand"]

# Scenarios that this plugin cannot play, with the reasons.
ABSENT = {
    "failed_make_names_no_other_file": "the problems are those of `vim.diagnostic`",
    "question_ends_with_its_sidecar": "no function ends a list of `vim.ui.select`",
    "late_answer_is_for_the_sidecar_that_asked": "Neovim starts no sidecar while a tool waits",
}
