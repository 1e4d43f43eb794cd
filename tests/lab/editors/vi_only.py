"""Scenarios for Neovim and Vim, where Emacs does things differently."""

import os
import re
import signal
import time

from hostile import QUIET, Person, RawAgent, is_scenario, of_row
from run import Failure, await_

MIB = 1 << 20


def withdrawn(room, agent, *edits):
    """Shows a proposal for b.txt, types keys in it, and makes the agent replace it by another one."""
    first = agent.propose(room.path("b.txt"), "harmless\n", "first")
    room.shows("harmless")
    room.type(*edits)
    agent.answer(agent.call("close_tab", tab_name="first"))
    second = agent.propose(room.path("b.txt"), "other text\n", "second")
    agent.answer(first)
    return second


def next_proposal_waits_for_a_key(room):
    """The person was about to accept the first one. Input that an agent causes does not count as a key of the person."""
    person = Person(room)
    agent = RawAgent(room)
    rows = {
        "nothing": ([], lambda: None),
        "a selection": ([], lambda: agent.answer(agent.call("openFile", filePath=room.path("a.txt"), startText="bc"))),
        "autocommands that type": ([], lambda: agent.answer(agent.call("saveDocument", filePath=room.path("a.txt")))),
        "another agent that comes and goes": ([], lambda: RawAgent(room).end()),
        "the end of 'updatetime'":
            ([":set updatetime=100 | autocmd CursorHold * let g:held = 1", "<Enter>"], lambda: None),
        "the end of popups": ([], lambda: None),
    }
    room.type(":autocmd BufWritePre * normal! l", "<Enter>")
    for row, (before, lure) in rows.items():
        def act(row=row, before=before, lure=lure):
            room.type(*before, *room.keys.INSERT_LINE)
            call = withdrawn(room, agent)
            room.shows(r"ide-mcp: the agent withdrew b\.txt\. The next proposal waits for a key")
            lure()
            end = time.monotonic() + 3 * QUIET  # longer than the pause before a view
            while time.monotonic() < end:
                if "other text" in room.screen():
                    raise Failure("the next proposal opens without a key")
                time.sleep(0.05)
            room.shows("1 proposal waits for a key")
            if row == "the end of popups":
                room.type(*room.keys.END_POPUPS)
            room.type(":w", "<Enter>")  # keys meant for the first proposal
            room.shows("other text")
            time.sleep(2 * QUIET)
            if call in agent.answers:
                raise Failure("the next proposal is decided by the keys for the first")
            room.type(*room.keys.REJECT)
            agent.answer(call)
            person.is_unharmed()
        of_row(row, act)


def new_view_does_not_accept_at_once(room):
    """A person who begins to save a file just when the view opens has not read the proposal."""
    person = Person(room)
    agent = RawAgent(room)
    for keys in [":w", ":wq"]:
        def act(keys=keys):
            call = agent.propose(room.path("b.txt"), "unread\n")
            room.shows(room.proposal("b.txt"))
            room.type(keys, "<Enter>")
            room.shows("ide-mcp: not accepted: the proposal has just opened")
            time.sleep(2 * QUIET)
            room.shows("unread")
            if call in agent.answers:
                raise Failure("the proposal is decided")
            room.type(":echo 'modified' &modified", "<Enter>")
            room.shows("^modified 0")
            room.type(":w", "<Enter>")
            if "FILE_SAVED" not in (answer := agent.answer(call)):
                raise Failure(answer)
            person.is_unharmed()
        of_row(keys, act)


def text_typed_into_a_withdrawn_proposal_is_kept(room):
    person = Person(room)
    agent = RawAgent(room)
    call = withdrawn(room, agent, *room.keys.INSERT_LINE)
    room.shows(rf"the agent withdrew b\.txt\. Your text: {room.keys.TYPED_TEXT}\. The next proposal waits for a key")
    room.type(*room.keys.ABANDON)
    room.shows("other text")
    room.type(*room.keys.REJECT)
    agent.answer(call)
    person.is_unharmed()
    room.type(":ls", "<Enter>")
    room.shows(r'\+ +"ide-mcp://.*withdrawn.*b\.txt"')
    room.type("<Enter>", ":b withdrawn", "<Enter>")
    room.shows("^harmless")
    room.shows("^edited")
    room.type("u", "<C-r>")
    for keys in [":w", ":w!", ":wq", ":wa", ":x"]:
        room.type(":echo 'ready'", "<Enter>")
        room.shows("^ready")
        room.type(keys, "<Enter>")
        room.shows("ide-mcp: this proposal was withdrawn. `:w FILE` writes your text to a file")
        room.shows("^edited")
    if found := [path for path in room.folder.rglob("*") if "withdrawn" in str(path)]:
        raise Failure(f"a file is written: {found}")
    room.has("b.txt", "other\n")
    room.type(":w copy.txt", "<Enter>")
    room.has("copy.txt", "edited\nharmless\n")
    room.type(":qa", "<Enter>")  # the editor does not quit
    person.command()
    room.type(":bdelete!", "<Enter>")
    room.hides("harmless")
    # A text that was not changed is not kept.
    call = withdrawn(room, agent)
    room.shows("1 proposal waits for a key")
    room.type(":ls", "<Enter>")
    room.shows('"a.txt"')
    room.hides("withdrawn")


def check_message_at_80_columns(room, rows):
    """Ends proposals while the person types: the view stays open, and accepts nothing. Then a message says who ended it, and where the text is."""
    Person(room)
    room.narrow()
    path = "a/rather/long/path/to/the/file/that/changes.txt"
    for row, (words, end) in rows.items():
        def act(words=words, end=end):
            agent = RawAgent(room)
            agent.propose(room.path(path), "harmless\n")
            room.shows("harmless")
            room.type("ggOedited")
            room.shows("^.*edited")
            end(agent)
            room.shows(room.keys.ENDED)
            room.hides(":w accepts")
            room.shows("edited")
            room.type("<Escape>")
            room.shows(rf"{words} ….*changes\.txt.*Your text: :b\d+")
            room.type(":b" + re.search(r"text: :b(\d+)", room.screen())[1], "<Enter>")
            room.shows("^edited")
            room.type(":bdelete!", "<Enter>")
            room.hides("edited")
        of_row(row, act)


def message_says_how_a_proposal_ended(room):
    check_message_at_80_columns(room, {
        "withdrawn": ("the agent withdrew", lambda agent: agent.answer(agent.call("closeAllDiffTabs"))),
        "the agent has gone": ("the proposal for", lambda agent: agent.end()),
    })


def death_of_a_sidecar_is_not_called_a_withdrawal(room):
    check_message_at_80_columns(room, {
        "killed": ("the proposal for", lambda _: os.kill(room.sidecar(), signal.SIGKILL)),
    })


def late_accept_keeps_the_typed_text(room):
    """The agent leaves while the person types, and then the person accepts."""
    for keys in [":w", ":wq"]:
        def act(keys=keys):
            room.type_into_ended_proposal()
            room.type("<C-o>", keys, "<Enter>")
            room.shows("proposal has ended")
            room.type("<Escape>")
            room.shows(f"Your text: {room.keys.TYPED_TEXT}")
            room.type(":b withdrawn", "<Enter>")
            room.shows("^typingxxx")
            room.type(":bdelete!", "<Enter>")
            room.hides("typing")
        if keys == ":w":
            room.start()
        of_row(keys, act)


def eight_withdrawn_texts_stay(room):
    """After that, a proposal fails until the person has closed one of them."""
    person = Person(room)
    agent = RawAgent(room)

    def withdraws(number):
        agent.propose(room.path("b.txt"), f"text {number}\n")
        room.shows(f"text {number}")
        room.type(*room.keys.INSERT_LINE)
        agent.answer(agent.call("closeAllDiffTabs"))
        room.shows(f"Your text: {room.keys.TYPED_TEXT}")
        room.type(":echo 'go on'", "<Enter>")
        room.shows("^go on")

    for number in range(8):
        withdraws(number)
    agent.fails(call := agent.propose(room.path("b.txt"), "the ninth\n"))
    if "close one of the 8 withdrawn texts first" not in (answer := agent.answer(call)):
        raise Failure(answer)
    room.shows("ide-mcp: close one of the 8 withdrawn texts first: see `:ls`")
    room.type(":echo len(getcompletion('withdrawn', 'buffer')) 'texts'", "<Enter>")
    room.shows("^8 texts")
    room.type(":execute 'bdelete!' bufnr(getcompletion('withdrawn', 'buffer')[3])", "<Enter>")
    withdraws("after")
    room.type(":echo len(getcompletion('withdrawn', 'buffer')) 'texts'", "<Enter>")
    room.shows("^8 texts")
    person.is_unharmed()


def total_size_of_unseen_files_is_limited(room):
    person = Person(room)
    agent = RawAgent(room)
    limit = "agents can open only 32 MiB of files that the person has not seen: show one with makeFrontmost"

    def opens(name, size=None, **more):
        if size is not None:
            room.write(name, ("x" * 1023 + "\n") * (size // 1024) + "y" * (size % 1024))
        return agent.call("openFile", filePath=room.path(name), **more)

    def hidden(name, size=None):
        return agent.answer(opens(name, size, makeFrontmost=False))

    def is_open(name, size=None):
        if "success" not in (answer := hidden(name, size)):
            raise Failure(f"{name} is not opened: {answer}")

    def is_refused(name, size=None):
        if limit not in (answer := hidden(name, size)):
            raise Failure(f"{name} is opened: {answer}")

    is_open("one.txt", 16 * MIB)
    is_open("two.txt", 15 * MIB)
    is_refused("three.txt", MIB + 1)
    is_open("four.txt", MIB)
    is_refused("small.txt", 2)
    is_open("one.txt")  # already open
    is_open("a.txt")  # the person has opened it
    # A file on the screen counts until the person has pressed a key.
    if limit not in (answer := agent.answer(opens("three.txt"))):
        raise Failure(answer)
    agent.answer(opens("four.txt", startText="xx"))
    room.shows("^xxxx")
    time.sleep(3 * QUIET)
    is_refused("small.txt")
    person.command()
    is_open("small.txt")
    is_refused("three.txt")
    room.type(":bwipeout two.txt", "<Enter>")
    person.command()
    is_open("three.txt")
    if room.keys.OPENS_AGAIN:
        # A file that grows counts with its new size, and one that shrinks keeps nothing of its old text for undo.
        is_refused("three.txt", 16 * MIB)
        is_open("three.txt", 1024)
        is_open("three.txt", 15 * MIB)
    room.type(":b one.txt", "<Enter>")
    person.command()
    is_open("five.txt", 16 * MIB)
    # Refused files have no buffer.
    room.type(":echo 'buffers:' len(filter(getbufinfo(), {_, buffer -> buffer.name != ''}))", "<Enter>")
    room.shows("^buffers: 6")
    person.is_unharmed()


def small_files_count_with_a_minimum_size(room):
    Person(room)
    agent = RawAgent(room)
    for first, last in [(0, 200), (200, 400), (400, 513)]:  # at most 256 calls can be open at a time
        calls = {}
        for number in range(first, last):
            room.write(f"small{number}.txt", "x\n")
            calls[number] = agent.call("openFile", filePath=room.path(f"small{number}.txt"), makeFrontmost=False)
        await_("the answers", lambda calls=calls: all(call in agent.answers for call in calls.values()), 60)
        for number, call in calls.items():
            if ("success" in agent.answer(call)) != (number < 512):
                raise Failure(f"file {number}: {agent.answer(call)}")


def pause_fires_one_event(room):
    """A sidecar that replaces a dead one is paused again, and after a gap only the event `status` says that it is paused."""
    Person(room)
    event = room.made_up_events()
    room.type("<Escape>", ":autocmd User IdeMcpPaused,IdeMcpResumed call writefile([expand('<amatch>')], 'fired', 'a')", "<Enter>",
              ":call writefile([], 'listens')", "<Enter>")
    room.has("listens", "")  # a message that comes while the command is typed would be overwritten
    for name, members in [("paused", {}), ("paused", {}), ("status", {"paused": False}), ("status", {"paused": False}),
                          ("status", {"paused": True}), ("resumed", {}), ("resumed", {}), ("mention_expired", {"path": "last"})]:
        event(name, **({"agents": [], "calls": [], "forms": [], **members} if name == "status" else members))
    room.shows("no agent took the mention of last")
    room.has("fired", "IdeMcpPaused\nIdeMcpResumed\n" * 2)


def tree_without_a_file_under_the_cursor_mentions_nothing(room):
    """Above the files, netrw has lines that are not files."""
    room.start()
    room.type(*room.keys.TREE, "gg", *room.keys.run("mention"))
    room.shows("ide-mcp: nothing is mentioned: there is no file under the cursor")


def help_opens_at_its_beginning(room):
    """`:help` goes to the shortest tag that begins with the word."""
    room.start()
    pages = next(room.home.rglob("ide-mcp.txt")).parent
    room.type(f":helptags {pages}", "<Enter>")  # with --tree, the index of tags is the one in the program
    room.type(":help ide-mcp", "<Enter>")
    room.shows("^An agent sees your selection")


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "vi_only"]
