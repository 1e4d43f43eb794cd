"""The keys that Vim and Neovim share, and what both show."""

ATTACHED = r"⧉ ide-mcp-agent"
DETACHED = r"⧉ no agent"
DECIDING = r":w accepts, :q rejects"
PROPOSAL = rf"{DECIDING}.*NAME"
ENDED = r"ended, nothing is accepted"  # in a view that stays open while the person types
TYPED_TEXT = r":b\d+"  # how a message names a withdrawn text that is kept
NOTICE = r"1 proposal waits"  # while the person types
SELECT_FIRST = ["<Escape>", "gg0vl"]  # two characters
SELECT_LINES = ["<Escape>", "ggVj"]
SELECT_ALL = ["<Escape>", "ggVG"]
MENTION_LINES = ["<Escape>", ":1,2IdeMcp mention", "<Enter>"]
MENTION_FILE = ["<Escape>", ":IdeMcp mention", "<Enter>"]
INSERT_LINE = ["<Escape>", "ggOedited", "<Escape>"]
BEGIN_TYPING = ["<Escape>", "ggOty"]
END_TYPING = ["ped", "<Escape>"]
BEGIN_INSERTING = ["<Escape>", "ggO"]
END_INSERTING = ["<Escape>"]
ACCEPT = ["<Reading>", ":w", "<Enter>"]
ACCEPT_AND_CLOSE = ["<Reading>", ":wq", "<Enter>"]
REJECT = [":q!", "<Enter>"]
QUESTION = ["<Escape>", ":call confirm('sure')", "<Enter>"]
NEXT_PROPOSAL = []  # it opens once the earlier one is decided
OTHER_TAB = ["gt"]
ENTER_FOLDER = ["<Escape>", ":cd inner", "<Enter>"]
FILL_RESOURCE = ["<Escape>", ":call setqflist([{'filename': 'a.txt', 'lnum': 2, 'text': 'found by a test'}])", "<Enter>"]
QUIT = ["<Escape>", ":qa!", "<Enter>"]
BEGIN_COMMAND = [":"]
PAUSE = ["<Escape>", ":IdeMcp pause", "<Enter>"]
RESUME = ["<Escape>", ":IdeMcp resume", "<Enter>"]
STOP = ["<Escape>", ":IdeMcp stop", "<Enter>"]
START = ["<Escape>", ":IdeMcp start", "<Enter>"]
OPEN_TERMINAL = ["<Escape>", ":terminal", "<Enter>"]
INVALID_BYTES = ["<Escape>", ":call setline(1, \"\\xff bytes\")", "<Enter>"]
WRITE_COPY = [":w copy.txt", "<Enter>"]
WRITE_ALL = [":wa", "<Enter>"]
CLOSE_MESSAGE = ["<Escape>"]
COUNT_BUFFERS = ["<Escape>", ":echo len(getbufinfo({'buflisted': 1})) 'listed'", "<Enter>"]
NO_FILE = ["<Escape>", ":enew", "<Enter>"]
REMOTE_FILE = ["<Escape>", ":enew | noautocmd file scp://host/file", "<Enter>"]
ACCEPT_WHILE_TYPING = ["<C-o>", ":w", "<Enter>"]
BEGIN_COMMAND_WINDOW = ["q:"]
END_COMMAND_WINDOW = [":q", "<Enter>"]
COMMAND_WINDOW = r"\[Command Line\]"
TABS = r"^ .* X$"  # the tab line, if there are several tabs
TYPED_YES = ["yy"]  # copies a line
OTHER_WINDOW = [":new", "<Enter>", "<C-w>", "p"]
HALF_COMMANDS = [
    (["<Escape>", "d"], ["<Escape>"]),
    (["<Escape>", "i", "<C-o>"], ["<Escape>", "<Escape>"]),
    (["<Escape>", *BEGIN_COMMAND_WINDOW], END_COMMAND_WINDOW),
]
ABANDON = ["<Escape>"]
FIRST_FILE = ["<Escape>", ":silent! only! | hide buffer 1", "<Enter>", "gg"]
ENDS_OF_TEXT = ["G", "gg"]
TRUSTING = [":set modeline modelines=5", "<Enter>"]  # off by default for root
COUNT_PROPOSALS, ONE_PROPOSAL = [":echo tabpagenr('$') 'tabs'", "<Enter>"], r"^2 tabs"
FAILING_VIEW = [":autocmd OptionSet diff throw 'no view'", "<Enter>"]
WORKING_VIEW = [":autocmd! OptionSet", "<Enter>"]
TOO_LARGE = r"no highlighting"
KEPT = r"is not the accepted text"


def open_nth(folder, number):
    """Returns the keys that open a file of a folder, whatever its name is."""
    return ["<Escape>", f":exe 'hide buffer' bufadd('{folder}/' .. readdir('{folder}')[{number}])", "<Enter>"]
