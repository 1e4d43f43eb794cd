"""Vim: how to start it, and the keys for what a person does."""

import os

from install import install
from vi import *  # the keys that Vim and Neovim share

PROGRAM = "vim"


def command(root, home, file):
    """Installs the plugin as a user does, and returns the command that starts the editor."""
    install(root, home, "vim")
    # With a vimrc, Vim does not load defaults.vim. With it, Escape does not wait a second for the rest of a key, and
    # files have types and highlighting.
    (home / ".vim/vimrc").write_text(
        "set laststatus=2 statusline=%f\\ %m\\ %{ide_mcp#Status()} ttimeout ttimeoutlen=50\n"
        "syntax on\nfiletype plugin on\n")
    return [PROGRAM, file]


# The colors of the picture in the docs, as numbers that do not depend on the terminal.
TRUE_COLOR = r'let &t_8f = "\e[38;2;%lu;%lu;%lum" | let &t_8b = "\e[48;2;%lu;%lu;%lum" | set termguicolors'
OPTIONS = "let g:ide_mcp = #{layout: 'inline', focus: v:false}"
PICTURE_KEYS = [":IdeMcp open", "Enter"]
PICTURE = ["--cmd", TRUE_COLOR, "--cmd", OPTIONS, "-c", " | ".join([
    "syntax on",
    "colorscheme slate",
    "hi Normal guifg=#c8ccd4 guibg=#1c1f26",
    "hi FoldColumn guibg=#1c1f26",
    "hi DiffAdd guibg=#234034 guifg=NONE",
    "hi DiffChange guibg=#28324a guifg=NONE",
    "hi DiffText guibg=#44598c guifg=NONE gui=NONE",
    "hi DiffDelete guibg=#3b2429 guifg=#3b2429",
    "hi IdeMcpOld guibg=#3b2429 guifg=#c8ccd4",
    "hi Terminal guifg=#c8ccd4 guibg=#16191f",
])]


SELECT_ONE = ["<Escape>", "gg0v"]
BUSY = ["<Escape>", ":call system('sleep 3')", "<Enter>"]  # Vim reads events in `:sleep`
BUSY_SOON = BUSY
UNDO = ["u"]
TERMINAL = ["<Escape>", ":terminal", "<Enter>", "COMMAND", "<Enter>"]
RESOURCE = "vim://quickfix"
PROBLEM = [
    "<Escape>",
    ":call setloclist(0, [], ' ', #{title: 'lint', items:"
    " [#{bufnr: bufnr(), lnum: 1, col: 5, end_col: 7, text: 'wrong', type: 'E'}]})",
    "<Enter>",
]
MAKE = r":set makeprg=echo\ E:'%':1:5:wrong errorformat=%t:%f:%l:%c:%m | silent make | redraw!"
CHANGE_PROBLEMS = ["<Escape>", MAKE, "<Enter>"]
# What Vim makes of "make: *** [Makefile:2: all] Error 1".
FAILED_MAKE = [
    "<Escape>",
    ":call setqflist([], ' ', #{title: ':make ', items: [#{filename: 'a.txt', lnum: 1, text: ' bad thing'},"
    " #{filename: 'make: *** [Makefile', lnum: 2, text: ' all] Error 1'}]})",
    "<Enter>",
]
CHANGE_PROBLEMS_ELSEWHERE = [
    "<Escape>",
    ":new | call setloclist(0, [#{bufnr: bufnr(), lnum: 1, text: 'odd', type: 'E'}]) | cgetexpr []",
    "<Enter>",
]
PAUSE_IN_TERMINAL = ["<C-w>", "N", *PAUSE]
CONTAINER = ["<Escape>", ":let g:ide_mcp = #{config: #{pid: v:null, folders: ['/box']}}", "<Enter>"]
STATUS = ["<Escape>", ":IdeMcp status", "<Enter>"]
STATUS_SHOWS = [r"ide-mcp: ⧉ ide-mcp-agent.*, port PORT, .*/project"]
STATUS_WITHOUT_PROGRAM = r"ide-mcp: the sidecar is not running"
STATUS_WITHOUT_PORT = r"ide-mcp: ⧉ no agent, port 0"
OWN_VIEW = [
    "<Escape>",
    ":let g:ide_mcp = #{show: {p -> [p.contents == 'yes' ? p.accept('mine') : writefile([p.contents], 'shown'),"
    " {-> writefile([fnamemodify(p.path, ':t')], 'closed')}][1]}}",
    "<Enter>",
]


def sidecar(*words):
    """Returns the keys that replace the command of the sidecar."""
    return ["<Escape>", f":let g:ide_mcp = #{{command: {list(words)}}}", "<Enter>"]


CONSENT = ["<Escape>", ":let g:ide_mcp = #{config: #{consent: v:true}}", "<Enter>"]
LATE_CONSENT = CONSENT
YES = SECOND_YES = ["y"]
NO = ["n"]
FIRST_YES = []  # the dialog about the first agent has closed with its sidecar
OWN_TOOL = [
    "<Escape>",
    ":let g:ide_mcp = #{config: #{own: [#{name: 'theme'}]}, answers: #{theme: {-> 'dark'}}}",
    "<Enter>",
]
SLOW_TOOL = [
    "<Escape>",
    ":let g:ide_mcp = #{config: #{own: [#{name: 'slow'}]}, answers: #{slow: {->"
    " [extend(g:, #{n: get(g:, 'n') + 1}), writefile(['yes'], 'asked', 'b'), $'answer {g:n}', execute('sleep 3')][2]}}}",
    "<Enter>",
]
NO_JSON_TOOL = [key.replace("'dark'", "function('tr')") for key in OWN_TOOL]
PROBLEM_OF_A_FILE_THAT_IS_NOT_LOADED = [
    "<Escape>",
    ":call setloclist(0, [], ' ', #{title: 'lint', items:"
    " [#{filename: 'b.txt', lnum: 1, col: 5, text: 'far', type: 'E'}]})",
    "<Enter>",
]
VIEW_THAT_FAILS_TO_CLOSE = [
    "<Escape>",
    ":let g:ide_mcp = #{show: {p -> [writefile([p.contents], 'shown'), {-> execute('throw \"no end\"')}][1]}}",
    "<Enter>",
]


def open_nth(folder, number):
    """Returns the keys that open a file of a folder, whatever its name is, but not the swap file of another one."""
    return ["<Escape>", f":exe 'hide buffer' bufadd('{folder}/' .. readdir('{folder}',"
            f" {{name -> name !~ '[.]swp$'}})[{number}])", "<Enter>"]


def leave_swap_file(path):
    """Returns the command of an editor that opens a file, and leaves its swap file behind when it is killed."""
    return [PROGRAM, "-u", "NONE", "-es", path]


FAILING_VIEW = [":autocmd WinNew * throw 'no view'", "<Enter>"]  # `:diffthis` does not trigger OptionSet
WORKING_VIEW = [":autocmd! WinNew", "<Enter>"]


def run(words, lines=None, bang=False):
    """Returns the keys of a command."""
    span, (name, *rest) = ",".join(map(str, lines or [])), words.split(" ", 1)
    return ["<Escape>", f":{span}IdeMcp {' '.join([name + '!' if bang else name, *rest])}", "<Enter>"]


# The command is typed in Terminal-Normal mode, where Escape does nothing.
LEAVE_TERMINAL = ["<C-w>", "N"]
ENTER_TERMINAL = []
LAYOUTS = ["tab", "vertical", "horizontal", "inline"]
ELSEWHERE = ["<Escape>", ":tabprevious", "<Enter>"]
FIRST_CHOICE, SECOND_CHOICE, NO_CHOICE = ["<Enter>"], ["j", "<Enter>"], ["<Escape>"]
LIST = r"╔ (Agents|Proposals) ═"
SCRATCH = ["<Escape>", ":new | setlocal buftype=nofile | file tree_1 | call setline(1, 'scratch')", "<Enter>"]
TREE = ["<Escape>", ":Explore", "<Enter>", "/b.txt", "<Enter>"]
MARK_IN_TREE = ["mf", "/a.txt", "<Enter>", "mf"]


def set_option(name, value):
    """Returns the keys that set an option, from the next proposal on."""
    word = {"True": "v:true", "False": "v:false"}.get(str(value), repr(value))
    return ["<Escape>", f":let g:ide_mcp = get(g:, 'ide_mcp', {{}})->extend({{'{name}': {word}}})", "<Enter>"]


END_POPUPS = [":call popup_clear(1)", "<Enter>"]
OPENS_AGAIN = True  # whether `openFile` rereads a file that has changed on disk
OWN_SCENARIOS = ["hand", "vi_only", "vim_only", "vim_hand"]

# Scenarios that this plugin cannot play, with the reasons.
ABSENT = {
    "late_answer_is_for_the_process_that_asked": "Vim starts the sidecar again while a tool waits",
}
AIRLINE = os.environ.get("IDE_MCP_AIRLINE", "/usr/share/vim-airline")  # where Debian has it
if not os.path.isdir(AIRLINE):
    ABSENT["status_stands_in_airline"] = f"there is no {AIRLINE}"
