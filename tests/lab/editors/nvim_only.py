"""Attacks that only Neovim makes possible, by questions and options that other editors do not have."""

import re
import subprocess
import time

from hostile import QUIET, Person, RawAgent, is_scenario, of_row
from run import Failure, await_


def saving_asks_nothing(room):
    """Neovim would ask about a file that has changed and, with 'confirm', about a read-only buffer."""
    rows = {
        "read-only": ":edit FILE | setlocal readonly",
        "read without autocommands": ":noautocmd edit FILE",
        "read without autocommands, and changed on disk": ":noautocmd edit FILE",
    }
    person = Person(room)
    agent = RawAgent(room)
    room.type(":set confirm", "<Enter>")
    for number, (row, command) in enumerate(rows.items()):
        def act(name=f"saved{number}.txt", row=row, command=command):
            room.write(name, "before\n")
            room.type("<Escape>", command.replace("FILE", name), "<Enter>")
            room.shows("before")
            person.begin()
            person.end()
            text = "of another program\n" if "on disk" in row else "before\n"
            if "on disk" in row:
                room.write(name, text)
            agent.fails(agent.call("saveDocument", filePath=room.path(name)))
            person.command()
            person.is_unharmed()
            room.has(name, text)
        of_row(row, act)


def file_of_another_editor_is_read_only(room):
    command = room.keys.leave_swap_file(room.path("b.txt"))
    with subprocess.Popen(command, cwd=room.folder, env=room.environment, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as editor:
        try:
            await_("there is a swap file", lambda: [*room.home.rglob("*.swp"), *room.home.rglob(".*.swp")])
            person = Person(room)
            agent = RawAgent(room)
            agent.answer(agent.call("openFile", filePath=room.path("b.txt")))
            room.shows("other")
            room.shows("ide-mcp: b.txt has a swap file of another editor, and is read-only here")
            room.type(":echo 'read-only' &readonly", "<Enter>")
            room.shows("^read-only 1")
            person.is_unharmed()
            person.returns()
        finally:
            editor.kill()


def withdrawn_proposal_ends_before_the_next_opens(room):
    """Both proposals are so large that items of 'diffopt' are removed while they are shown. Neovim has these items since 0.9."""
    person = Person(room)
    agent = RawAgent(room)
    room.type(":set diffopt+=internal,filler", "<Enter>", ":silent! set diffopt+=linematch:40", "<Enter>")
    room.type(":let g:before = &diffopt", "<Enter>")
    text = "".join(f"{number:090}\n" for number in range(900))
    room.write("b.txt", text)
    first = agent.propose(room.path("b.txt"), text.replace("0", "a"), "first")
    room.shows(room.proposal("b.txt"))
    second = agent.propose(room.path("new.txt"), text, "second")  # the proposal waits for a decision
    agent.answer(agent.call("close_tab", tab_name="first"))
    agent.answer(first)
    room.shows("1 proposal waits for a key")
    room.type(*room.keys.ABANDON)
    room.shows(room.proposal("new.txt"))
    room.type(*room.keys.COUNT_PROPOSALS)
    room.shows(room.keys.ONE_PROPOSAL)
    room.type(*room.keys.REJECT)
    agent.answer(second)
    room.hides(room.proposal(""))
    room.type(":echo &diffopt ==# g:before ? 'as before' : 'other:' &diffopt", "<Enter>")
    room.shows("^(as before|other:)")
    room.shows("^as before")
    person.is_unharmed()


def messages_are_one_plain_line(room):
    """Messages of a sidecar can contain words of agents. The test makes them up."""
    person = Person(room)
    event = room.made_up_events()
    room.shows(room.keys.DETACHED)

    hidden = "\n\x1b\x7f\x85\x9b\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"
    for number, character in enumerate(hidden):
        def act(number=number, character=character):
            event("error", message=f"{number} a{character}b")
            room.shows(f"ide-mcp: {number} a b")
            event("connected", conn=number + 1, client=f"c{character}d", version=str(number))
            room.shows(f"⧉ c d {number}$")
            event("closed", conn=number + 1, reason="over")
            room.shows(room.keys.DETACHED)
        of_row(f"U+{ord(character):04X}", act)
    person.command()
    person.is_unharmed()


def proposals_and_files_that_wait_are_counted(room):
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    for number in range(2):
        agent.call("openFile", filePath=room.path("b.txt"))
        room.shows(["1 file waits", "2 files wait"][number])
    for number in range(2):
        agent.propose(room.path("b.txt"), "new\n", f"tab {number}")
        room.shows(["1 proposal waits", "2 proposals wait"][number])
    person.types()
    person.end()
    room.shows(room.proposal("b.txt"))


# Texts that take long to highlight, by file name. The first one aborts tree-sitter of Neovim 0.12.
BUSY_TEXTS = {
    "quotes.md": ">" * 300 + "\n",
    "brackets.md": "[" * 8000 + "\n",
    "brackets.txt": "[" * 8000 + "\n",
    "brackets.lua": ("(" * 255 + "\n") * 62,
    "blocks.c": ("({[" * 80 + "\n") * 260,
    "small.c": ("({[" * 80 + "\n") * 60,
    "long.c": ("({[" * 660 + "\n") * 32,
    "tags.html": ("<a b=" * 400 + "\n") * 240,
    "small.html": ("<a b=" * 50 + "\n") * 60,
    "shell.sh": ("$(" * 120 + "\n") * 270,
}


def texts_of_proposals_start_no_parser(room):
    """Nor do they take long to highlight with regular expressions."""
    person = Person(room)
    agent = RawAgent(room)
    for name, text in BUSY_TEXTS.items():
        def act(name=name, text=text):
            person.begin()

            def look():
                room.type(":echo 'type:' . &filetype . '.'", "<Enter>")
                room.shows(r"^type:\.")

            if not person.reviews(agent, agent.propose(room.path(name), text), look=look):
                raise Failure("the proposal is not shown")
        of_row(name, act)


def small_proposals_have_their_syntax(room):
    Person(room)
    agent = RawAgent(room)
    for name, syntax in {"a.c": "c", "a.md": "markdown", "a.py": "python", "a.rs": "rust"}.items():
        call = agent.propose(room.path(name), "# text\n")
        room.shows(room.proposal(name))
        room.type(":echo 'syntax:' . &syntax . '.'", "<Enter>")
        room.shows(rf"^syntax:{syntax}\.")
        room.type(*room.keys.REJECT)
        agent.answer(call)


def folder_with_the_name_of_a_view_does_not_replace_it(room):
    person = Person(room)
    for call in range(1, 9):
        for side in ["file", "proposal"]:
            folder = room.folder / f"ide-mcp:/{call}/{side}/b.txt"
            folder.mkdir(parents=True)
            (folder / "spoof").write_text("x")
    agent = RawAgent(room)
    call = agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    room.type("<C-w>", "w", "<C-w>", "w")
    person.command()
    if "spoof" in room.screen():
        raise Failure("the view is that of a folder")
    room.type(*room.keys.ACCEPT)
    if "FILE_SAVED" not in (answer := agent.answer(call)):
        raise Failure(answer)
    room.hides(room.proposal(""))
    person.is_unharmed()


def searched_text_is_not_a_pattern(room):
    """A search for a regular expression could take seconds."""
    person = Person(room)
    room.write("found.txt", "".join("a" * 200 + "\n" for _ in range(2500)) + "one .*\\n two\nthree é four\n")
    agent = RawAgent(room)

    def opens(**texts):
        return agent.call("openFile", filePath=room.path("found.txt"), **texts)

    def fails(**texts):
        call = opens(**texts)
        agent.fails(call)
        if "1000 bytes" not in agent.answer(call):
            raise Failure(agent.answer(call))

    for text in ["a" * 1001, "a\n" * 5000]:
        fails(startText=text)
        fails(startText="one", endText=text)
    person.command()
    begin = person.clock()
    agent.answer(opens(startText="\n".join(["a" * 200] * 4) + "b", endText="c"))
    person.within(begin, 0.5)
    for texts, selected in [({"startText": ".*\\n", "endText": "three é"}, r".*\n two\nthree é"),
                            ({"startText": " two\nthree"}, r" two\nthree"),
                            ({"startText": "é", "selectToEndOfLine": True}, r"é four")]:
        agent.answer(opens(**texts))
        room.type('"zy', ":echo 'has:' . escape(substitute(@z, '\\n', '\\\\n', 'g'), '') . '.'", "<Enter>")
        room.shows("^has:" + re.escape(selected) + r"\.")
    person.command()


def question_fits_the_screen(room):
    person = Person(room)
    room.restart(*room.keys.CONSENT)
    room.lock()
    room.tmux("resize-window", "-x", "80", "-y", "24")
    person.command()
    agent = RawAgent(room, "claude-code" + " ." * 20 + " 1: Refuse 2:", waits=False)
    room.shows("^An agent that calls itself \"claude-code.*…\" asks to attach. Let it attach\\?$")
    room.type(*room.keys.NO)
    await_("the agent is refused", lambda: agent.is_over)


def list_over_lines(depth, indent="  ", mark="- "):
    return "".join(f"{indent * level}{mark}x\n" for level in range(depth))


# Texts that the plugin opens without a file type. Most would abort Neovim 0.12, whose Markdown parser has room for 254
# nested blocks.
NESTED = {
    "quotes.md": ">" * 300 + "\n",
    "items.md": "- " * 300 + "x\n",
    "numbers.md": "1. " * 300 + "x\n",
    "mixed.md": "> 1) * " * 100 + "x\n",
    "lines.md": list_over_lines(260),
    "quoted.md": "".join(">" * level + " x\n" for level in range(300)),
    "tabs.md": list_over_lines(260, "\t", "-\t"),
    "returns.md": list_over_lines(260).replace("\n", "\r\n"),
    "fenced.md": "> ```markdown\n> " + ">" * 300 + "\n> ```\n",
    "wide.md": ("\ufeff" + ">" * 300 + "\n").encode("utf-16-le"),
    "wide-big.md": ("\ufeff" + ">" * 300 + "\n").encode("utf-16-be"),
    # One level above our own limit, which the parser would survive.
    "limit-quotes.md": ">" * 129 + "\n",
    "limit-lines.md": list_over_lines(129),
}

# Texts that are opened with their file types.
NOT_NESTED = {
    "quotes.md": ">" * 128 + "\n",
    "lines.md": list_over_lines(128),
    "lines-of.c": ("/" + "*" * 300 + "\n" + "-" * 300 + "\n" + "+" * 300 + " */\n"),
    "numbers.c": " ".join(f"{number}.5" for number in range(999)) + "\n",
    "deep.c": "\t" * 60 + "x;\n",
}


def nested_texts_do_not_abort_the_editor(room):
    person = Person(room)
    agent = RawAgent(room)
    room.type(*room.keys.INSERT_LINE)  # unsaved
    person.command()
    time.sleep(QUIET)  # the end of a command clears the command line
    for name, text in NESTED.items():
        def act(name=name, text=text):
            (room.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
            agent.answer(agent.call("openFile", filePath=room.path(name), makeFrontmost=False))
            room.shows(f"ide-mcp: {name} is nested too deep for a parser, and has no file type")
            agent.answer(agent.call("openFile", filePath=room.path(name)))
            room.shows(name)
            person.command()
            room.type(":echo 'type:' . &filetype . '.'", "<Enter>")
            room.shows(r"^type:\.")
            person.is_unharmed()
        of_row(name, act)
    room.type(*room.keys.FIRST_FILE)
    room.shows("edited")


def texts_of_common_depth_have_their_types(room):
    Person(room)
    agent = RawAgent(room)
    for name, text in NOT_NESTED.items():
        def act(name=name, text=text):
            room.write(name, text)
            agent.answer(agent.call("openFile", filePath=room.path(name)))
            room.type(":echo 'type:' . &filetype . '.'", "<Enter>")
            room.shows(r"^type:(markdown|c)\.")
        of_row(name, act)


def nested_text_is_not_read_again(room):
    """The agent writes it into files that are open with a file type. A Neovim without a Markdown parser does read it again."""
    person = Person(room)
    agent = RawAgent(room)
    for name in ["shown.md", "hidden.md"]:
        room.write(name, "before\n")
        agent.answer(agent.call("openFile", filePath=room.path(name)))
    room.type(":b shown.md", "<Enter>")
    call = agent.propose(room.path("shown.md"), ">" * 300 + "\n")
    room.shows(room.proposal("shown.md"))
    room.type(*room.keys.ACCEPT)
    agent.answer(call)
    room.hides(room.proposal("shown.md"))
    room.write("shown.md", ">" * 300 + "\n")
    room.shows("ide-mcp: shown.md on disk is nested too deep for a parser, and is not read again|^>>>>")
    person.command()
    room.write("hidden.md", ">" * 300 + "\n")
    agent.answer(agent.call("openFile", filePath=room.path("hidden.md")))
    person.command()
    room.shows("^(before|>>>>)")
    person.is_unharmed()


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "nvim_only"]
