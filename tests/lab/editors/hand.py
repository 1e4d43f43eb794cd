"""What a person does with commands and keys: terminals, decisions from every window, the list of agents, mentions.

An editor plays these scenarios if its module has "hand" in OWN_SCENARIOS, and defines:

    run(words, lines=None, bang=False)  keys of a command of the shared vocabulary, such as "send hello", from a window
                                        with text; `lines` are the first and the last line of a range, from 1
    LEAVE_TERMINAL                      keys after which a command can be typed in the terminal of the agent
    ENTER_TERMINAL                      keys after which typed text goes to the agent, once its window has the focus
    set_option(name, value)             keys that set an option while the editor runs: layout, focus, diffs
    LAYOUTS                             the values of the option layout
    ELSEWHERE                           keys that go from a proposal to a window that does not belong to it
    FIRST_CHOICE, SECOND_CHOICE         keys that choose in a list; NO_CHOICE leaves it
    LIST                                the pattern of a list that waits for a choice
    SCRATCH                             keys that show a buffer with a text and without a file
    TREE                                keys that show the editor's own list of the folder, at b.txt
    MARK_IN_TREE                        keys that mark a.txt and b.txt there
"""

import json
import re
import sys
import time

from hostile import CANARY, NAMES, SPOOFS, RawAgent, is_scenario
from run import Failure, await_, outcome, texts

# Stands in for the agent: shows that it runs, and records how it was started and what was typed.
STAND_IN = f"""#!{sys.executable}
import json, os, pathlib, sys, tty
tty.setraw(0)
place = pathlib.Path(os.environ["HOME"]) / "terminals"
place.mkdir(exist_ok=True)
facts = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ), "pid": os.getpid()}}
typed = open(place / f"{{os.getpid()}}.typed", "wb", buffering=0)
(place / f"{{os.getpid()}}.new").write_text(json.dumps(facts))
(place / f"{{os.getpid()}}.new").rename(place / f"{{os.getpid()}}.json")
os.write(1, b"\\x1b[?2004h\\x1b[2J\\x1b[HSTAND-IN runs")
while (keys := os.read(0, 65536)) not in (b"", b"\\x04"):
    typed.write(keys)
"""
RUNS = r"STAND-IN runs"


class Hand:
    """The person, with a stand-in for the agent in PATH."""

    def __init__(self, room, file="a.txt"):
        self.room = room
        commands = room.home / "commands"
        commands.mkdir()
        (commands / "claude").write_text(STAND_IN)
        (commands / "claude").chmod(0o755)
        room.environment["PATH"] = f"{commands}:{room.environment['PATH']}"
        room.start(file)

    def run(self, words, **more):
        self.room.type(*self.room.keys.run(words, **more))

    def run_in_terminal(self, words):
        self.room.type(*self.room.keys.LEAVE_TERMINAL, *self.room.keys.run(words))

    def terminals(self):
        """Returns what the agents in terminals recorded at their start, the earliest first."""
        paths = sorted(self.room.home.glob("terminals/*.json"), key=lambda path: path.stat().st_mtime_ns)
        return [json.loads(path.read_text()) for path in paths]

    def terminal(self, count=1):
        """Waits until so many agents were started, and returns what the last one recorded."""
        return await_(f"{count} agents were started", lambda: len(self.terminals()) >= count and self.terminals())[-1]

    def typed(self, facts):
        return (self.room.home / f"terminals/{facts['pid']}.typed").read_bytes()

    def has_typed(self, facts, *texts):
        """Waits until an agent has received one of these texts whole."""
        try:
            await_(f"the agent has one of {texts}", lambda: self.typed(facts) in texts)
        except Failure as failure:
            raise Failure(f"{failure}, and has {self.typed(facts)}") from None


def paste(text):
    """Returns the forms that a text can have as a paste: terminals send line ends as CR or LF."""
    return [b"\x1b[200~" + text.replace("\n", end).encode() + b"\x1b[201~" for end in "\r\n"]


def proposes(room, name, text, *results):
    """Starts an agent that proposes a text for a file, and expects this result."""
    return room.play(room.propose(name, text, name), outcome("openDiff", texts(*results), within=60000))


# --- The terminal


def terminal_opens_with_arguments(room):
    """They are split as by a shell, but no shell sees them. The agent finds this editor by its environment."""
    hand = Hand(room)
    hand.run("open --continue --model 'a b' $(touch${IFS}pwned) ;touch pwned c\\ d \"e\" \"\\$f \\`g\"")
    facts = hand.terminal()
    expected = ["--continue", "--model", "a b", "$(touch${IFS}pwned)", ";touch", "pwned", "c d", "e", "$f `g"]
    if facts["arguments"] != expected:
        raise Failure(f"the arguments are {facts['arguments']}")
    if facts["folder"] != str(room.folder):
        raise Failure(f"the folder is {facts['folder']}")
    if facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure("the environment lacks the port of the editor")
    room.shows(RUNS)
    room.shows("second")  # the file is still on the screen
    if (room.folder / "pwned").exists():
        raise Failure("a shell has seen the arguments")


def arguments_with_an_unclosed_quotation_are_refused(room):
    hand = Hand(room)
    hand.run("open --model 'a b")
    room.shows("ide-mcp: .*quot")
    hand.run("open")
    if hand.terminal()["arguments"]:
        raise Failure("the refused arguments were used")


def terminal_hides_and_shows(room):
    hand = Hand(room)
    hand.run("toggle")
    first = hand.terminal()
    room.shows(RUNS)
    for _ in range(2):
        hand.run_in_terminal("toggle")
        room.hides(RUNS)
        room.shows("second")
        hand.run("toggle")
        room.shows(RUNS)
    if [facts["pid"] for facts in hand.terminals()] != [first["pid"]]:
        raise Failure("another agent was started")


def focus_goes_to_the_terminal_and_back(room):
    hand = Hand(room)
    hand.run("focus")
    facts = hand.terminal()
    room.shows(RUNS)
    for count in range(1, 3):
        room.type(*room.keys.ENTER_TERMINAL, "x")
        hand.has_typed(facts, b"x" * count)
        hand.run_in_terminal("focus")
        room.type(*room.keys.INSERT_LINE)
        await_("the keys go to the file", lambda count=count: room.screen().count("edited") == count)
        room.shows(RUNS)
        hand.run("focus")
    hand.run_in_terminal("toggle")
    room.hides(RUNS)
    hand.run("focus")
    room.shows(RUNS)


def terminal_that_has_ended_starts_again(room):
    hand = Hand(room)
    for count in range(1, 3):
        hand.run("focus")
        hand.terminal(count)
        room.shows(RUNS)
        room.type(*room.keys.ENTER_TERMINAL, "<C-d>")
        room.hides(RUNS)
        room.shows("second")


def missing_agent_is_named(room):
    hand = Hand(room)
    (room.home / "commands/claude").unlink()
    hand.run("open")
    room.shows("ide-mcp: .*claude.*PATH")
    room.shows("second")


def text_is_sent_as_a_paste(room):
    hand = Hand(room)
    hand.run("send hello")
    room.shows("ide-mcp: .*no terminal")
    hand.run("open")
    facts = hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("focus")
    hand.run("send hello 'you'")
    hand.has_typed(facts, *paste("hello 'you'"))
    hand.run("send go", bang=True)
    hand.has_typed(facts, *(first + second + b"\r" for first in paste("hello 'you'") for second in paste("go")))
    room.shows("second")


def lines_are_sent_as_a_paste(room):
    hand = Hand(room)
    hand.run("open")
    facts = hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("focus")
    hand.run("send", lines=(1, 2))
    hand.has_typed(facts, *paste("𝒳bc def\nsecond"), *paste("𝒳bc def\nsecond\n"))


def control_characters_are_not_sent(room):
    """A selection is text and not keys: it must not end the paste, nor interrupt the agent."""
    room.write("keys.txt", "a\x03\x1b[201~\x04b\x7f\x9b201~\x85\u2028c\rd\n\x15e\n")
    hand = Hand(room, "keys.txt")
    hand.run("open")
    facts = hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("focus")
    hand.run("send", lines=(1, 2))
    await_("the agent has a paste", lambda: hand.typed(facts).endswith(b"\x1b[201~"))
    text = hand.typed(facts)[6:-6].decode()
    controls = [character for character in text if not character.isprintable() and character not in "\r\n"]
    if controls or not re.fullmatch(r"a *\[201~ *b *201~[ \n\r]*c *d[\r\n] *e[\r\n]?", text):
        raise Failure(f"sent: {text!r}")


def agent_is_interrupted_from_every_window(room):
    """By Escape in the terminal that gets texts, even while it is hidden."""
    hand = Hand(room)
    hand.run("interrupt")
    room.shows("ide-mcp: .*no terminal")
    hand.run("open")
    facts = hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("interrupt")
    hand.has_typed(facts, b"\x1b")
    hand.run_in_terminal("focus")
    hand.run("interrupt")
    hand.has_typed(facts, b"\x1b\x1b")
    hand.run("toggle")
    room.hides(RUNS)
    hand.run("interrupt")
    hand.has_typed(facts, b"\x1b\x1b\x1b")
    room.shows("second")


# --- Decisions


def proposal_is_decided_from_another_window(room):
    hand = Hand(room)
    for command, result in [("accept", ["FILE_SAVED", "new\n"]), ("reject", ["DIFF_REJECTED", "b.txt"])]:
        agent = proposes(room, "b.txt", "new\n", *result)
        room.shows(room.proposal("b.txt"))
        room.type("<Reading>", *room.keys.ELSEWHERE)
        hand.run(command)
        agent.done()
        room.hides(room.proposal("b.txt"))
        room.shows("second")


def proposal_is_decided_in_its_window(room):
    hand = Hand(room)
    for command, result in [("accept", ["FILE_SAVED", "edited\nnew\n"]), ("reject", ["DIFF_REJECTED", "b.txt"])]:
        agent = proposes(room, "b.txt", "new\n", *result)
        room.shows(room.proposal("b.txt"))
        room.type(*room.keys.INSERT_LINE, "<Reading>")
        hand.run(command)
        agent.done()
        room.hides(room.proposal("b.txt"))
        room.shows("second")


def rejected_text_leaves_no_buffer(room):
    hand = Hand(room)
    agent = proposes(room, "b.txt", "new\n", "DIFF_REJECTED", "b.txt")
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.INSERT_LINE, "<Reading>", *room.keys.ELSEWHERE)
    hand.run("reject")
    agent.done()
    room.hides(room.proposal("b.txt"))
    room.type(*room.keys.COUNT_BUFFERS)
    room.shows("^1 listed")


def edited_proposal_is_accepted_from_another_window(room):
    hand = Hand(room)
    agent = proposes(room, "b.txt", "new\n", "FILE_SAVED", "edited\nnew\n")
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.INSERT_LINE, "<Reading>", *room.keys.ELSEWHERE)
    hand.run("accept")
    agent.done()


def nothing_is_decided_without_a_proposal(room):
    hand = Hand(room)
    for command in ["accept", "reject", "next", "previous", "proposals"]:
        hand.run(command)
        room.shows("ide-mcp: .*no proposal")
        room.type(*room.keys.CLOSE_MESSAGE, *room.keys.ENDS_OF_TEXT, *room.keys.run("agents"))
        room.shows("ide-mcp: .*[nN]o agent")
        room.type(*room.keys.CLOSE_MESSAGE, *room.keys.ENDS_OF_TEXT)


def next_and_previous_keep_what_was_typed(room):
    hand = Hand(room)
    first = proposes(room, "a.txt", "one\n", "FILE_SAVED", "edited\none\n")
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE)
    second = proposes(room, "b.txt", "two\n", "FILE_SAVED", "two\n")
    time.sleep(1)  # it waits
    for _ in range(2):
        hand.run("next")
        room.shows(room.proposal("b.txt"))
        hand.run("previous")
        room.shows(room.proposal())
        room.shows("edited")
    hand.run("next")
    room.shows(room.proposal("b.txt"))
    room.type("<Reading>")
    hand.run("accept")
    second.done()
    room.shows(room.proposal())
    room.type("<Reading>")
    hand.run("accept")
    first.done()
    room.hides(room.proposal(""))


def proposal_is_chosen_from_a_list(room):
    hand = Hand(room)
    first = proposes(room, "a.txt", "one\n", "DIFF_REJECTED", "a.txt")
    room.shows(room.proposal())
    second = proposes(room, "b.txt", "two\n", "DIFF_REJECTED", "b.txt")
    time.sleep(1)  # it waits
    hand.run("proposals")
    room.type(*room.keys.SECOND_CHOICE)
    room.shows(room.proposal("b.txt"))
    hand.run("reject")
    second.done()
    room.shows(room.proposal())
    hand.run("reject")
    first.done()


def list_marks_files_outside_the_folders(room):
    hand = Hand(room)
    agent = RawAgent(room)
    agent.propose(str(room.home / "outside.txt"), "new\n")
    room.shows(room.proposal("outside.txt"))
    hand.run("proposals")
    room.shows(r"OUTSIDE: \S*outside\.txt(, | of )")
    room.type(*room.keys.NO_CHOICE)


def withdrawn_proposal_does_not_take_the_decision(room):
    """The person decides about a text that is gone, while another one waits for the same file."""
    hand = Hand(room)
    agent = RawAgent(room)
    first = agent.propose(room.path("b.txt"), "good\n", "first")
    room.shows(room.proposal("b.txt"))
    second = agent.propose(room.path("b.txt"), "bad\n", "second")
    time.sleep(1)  # it waits
    room.type("<Reading>")
    agent.answer(agent.call("close_tab", tab_name="first"))
    agent.answer(first)
    hand.run("accept")
    time.sleep(2)
    if second in agent.answers:
        raise Failure("a proposal is accepted that nobody has seen")
    room.shows(room.proposal("b.txt"))
    room.type("<Reading>")
    hand.run("accept")
    agent.answer(second)


# --- Agents


def mention_goes_to_the_chosen_agent(room):
    hand = Hand(room)
    first, second = RawAgent(room, "first"), RawAgent(room, "second")
    room.shows("second 1")

    def mentions(agent, count):
        hand.run("mention")
        await_("the agent has the mention", lambda: len(agent.mentions) == count)

    mentions(second, 1)
    hand.run("agents")
    room.shows("first 1.*\n(.*\n)*.*second 1")
    room.type(*room.keys.FIRST_CHOICE)  # the first agent
    room.type(*room.keys.FIRST_CHOICE)  # mentions go to it
    mentions(first, 1)
    room.shows("→first 1")
    hand.run("agents")
    room.type(*room.keys.FIRST_CHOICE, *room.keys.FIRST_CHOICE)  # mentions no longer go to it
    mentions(second, 2)
    room.hides("→first 1")
    hand.run("agents")
    room.type(*room.keys.FIRST_CHOICE, *room.keys.SECOND_CHOICE)  # it is disconnected
    await_("the agent is disconnected", lambda: first.is_over)
    if second.is_over:
        raise Failure("the other agent is disconnected too")
    room.hides("first 1")


def chosen_agent_that_has_left_takes_no_mention(room):
    """A message says so, because the next mention goes to another agent."""
    hand = Hand(room)
    first, second = RawAgent(room, "first"), RawAgent(room, "second")
    room.shows("second 1")
    hand.run("agents")
    room.type(*room.keys.FIRST_CHOICE, *room.keys.FIRST_CHOICE)
    hand.run("mention")
    await_("the chosen agent has the mention", lambda: first.mentions)
    first.end()
    room.shows("(?i:the agent that you chose) for mentions has left")
    room.hides("first 1")
    hand.run("mention")
    await_("the other agent has the mention", lambda: second.mentions)


def agent_that_leaves_during_the_question_is_not_chosen(room):
    """If it were chosen, all later mentions would go to nobody."""
    hand = Hand(room)
    first, second = RawAgent(room, "first"), RawAgent(room, "second")
    room.shows("second 1")
    hand.run("agents")
    room.shows("first 1.*\n(.*\n)*.*second 1")
    room.type(*room.keys.FIRST_CHOICE)
    room.shows("(?i)disconnect it")
    first.end()
    time.sleep(0.5)
    room.type(*room.keys.FIRST_CHOICE)
    time.sleep(0.5)
    room.type(*room.keys.CLOSE_MESSAGE)
    hand.run("mention")
    await_("the other agent has the mention", lambda: second.mentions)


def names_in_lists_do_not_wrap(room):
    """If a name with line ends, or a long one, wrapped, its next line could look like another choice."""
    answers = "2: 3: 4: 5: 6: 7: 8: " * 5  # wherever the line wraps, the next one would begin with one of these
    room.write(answers, "old\n")
    hand = Hand(room)
    room.narrow()
    for name in [*SPOOFS.values(), answers, "𝒳" * 64, NAMES["status line, evaluated twice"]]:
        agent = RawAgent(room, name)
        call = agent.propose(room.path(answers), "new\n")
        room.shows(room.proposal(""))
        for command in ["agents", "proposals"]:
            hand.run(command)
            room.shows(room.keys.LIST)
            lines = [line.strip() for line in room.screen().splitlines()]
            if any(re.match(r"[2-8]:|: |answers", line) for line in lines):
                raise Failure(f"the name has a line of its own: {lines}")
            room.type(*room.keys.NO_CHOICE)
        hand.run("reject")
        agent.answer(call)
        agent.end()
        room.shows(room.keys.DETACHED)
    if (room.folder / CANARY).exists():
        raise Failure("a name was evaluated")


# --- Mentions


def mention_has_the_path_of_the_command(room):
    room.write("with blank.txt", "one\ntwo\n")
    room.write("100%.txt", "one\n")
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    for words, name, lines in [
        ("mention b.txt", "b.txt", None), ("mention a.txt 2", "a.txt", [1, 1]), ("mention a.txt 2 3", "a.txt", [1, 2]),
        ("mention with blank.txt", "with blank.txt", None), ("mention with blank.txt 1 2", "with blank.txt", [0, 1]),
        (f"mention {room.path('b.txt')}", "b.txt", None), ("mention 100%.txt", "100%.txt", None),
    ]:
        agent.mentions.clear()
        agent.lines.clear()
        hand.run(words)
        await_(f"{words}: mentioned", lambda: agent.mentions)
        if agent.mentions != [room.path(name)] or agent.lines != [lines]:
            raise Failure(f"{words}: {agent.mentions}, {agent.lines}")


def mention_that_is_wrong_is_refused(room):
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    for words, message in [("mention none.txt", "none.txt"), ("mention a.txt 3 2", "3"), ("mention a.txt 0", "0")]:
        hand.run(words)
        room.shows(f"ide-mcp: .*{message}")
        room.type(*room.keys.CLOSE_MESSAGE, *room.keys.ENDS_OF_TEXT)
    hand.run("mention b.txt")
    agent.takes(room.path("b.txt"))


def buffer_without_a_file_is_not_mentioned(room):
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type(*room.keys.SCRATCH)
    hand.run("mention")
    room.shows("ide-mcp: .*no file")
    hand.run("mention b.txt")
    agent.takes(room.path("b.txt"))


def files_of_the_tree_are_mentioned(room):
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type(*room.keys.TREE)
    hand.run("mention")
    agent.takes(room.path("b.txt"))
    room.type(*room.keys.MARK_IN_TREE)
    hand.run("mention")
    agent.takes(room.path("a.txt"), room.path("b.txt"))


def file_tree_is_not_a_selection(room):
    Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    agent.answer(agent.call("getCurrentSelection"))
    room.type(*room.keys.TREE)
    time.sleep(1)
    if room.path("a.txt") not in (answer := agent.answer(agent.call("getLatestSelection"))):
        raise Failure(answer)


# --- Proposals


def proposal_has_its_layout(room):
    hand = Hand(room)
    windows = room.screen().count("⧉")
    for layout in room.keys.LAYOUTS:
        room.type(*room.keys.set_option("layout", layout))
        for end, result in [("accept", ["FILE_SAVED", "edited\nnew\nsecond\n"]), ("reject", ["DIFF_REJECTED", "a.txt"])]:
            agent = proposes(room, "a.txt", "new\nsecond\n", *result)
            room.shows(room.proposal())
            room.type(*room.keys.INSERT_LINE, "<Reading>")
            hand.run(end)
            agent.done()
            room.hides(room.proposal(""))
            room.shows("second")
            await_(f"{layout}: the windows are those of before", lambda: room.screen().count("⧉") == windows)
        agent = proposes(room, "a.txt", "new\nsecond\n", "DIFF_REJECTED", "a.txt")
        room.shows(room.proposal())
        room.type(*room.keys.REJECT)
        agent.done()
        room.hides(room.proposal(""))
        room.shows("third")
        await_(f"{layout}: the windows are those of before", lambda: room.screen().count("⧉") == windows)


def focus_stays_where_it_is(room):
    hand = Hand(room)
    room.type(*room.keys.set_option("focus", False))
    for layout in room.keys.LAYOUTS:
        room.type(*room.keys.set_option("layout", layout))
        for count in range(2):
            agent = proposes(room, "b.txt", "new\n", "DIFF_REJECTED", "b.txt")
            time.sleep(1.5)  # the proposal opens after half a second without a key
            room.type(*room.keys.INSERT_LINE)
            time.sleep(0.5)
            hand.run("next")  # shows it if it is not on the screen
            room.shows(room.proposal("b.txt"))
            hand.run("reject")
            agent.done()
            room.hides(room.proposal(""))
        room.shows("edited")
    room.type(*room.keys.ENDS_OF_TEXT)
    await_("the keys went to the file", lambda: room.screen().count("edited") == 2 * len(room.keys.LAYOUTS))


def terminal_keeps_the_focus(room):
    """While a proposal opens, keys that are typed to the agent still go there."""
    hand = Hand(room)
    room.type(*room.keys.set_option("focus", False))
    hand.run("focus")
    facts = hand.terminal()
    room.shows(RUNS)
    room.type(*room.keys.ENTER_TERMINAL)
    agent = proposes(room, "b.txt", "new\n", "FILE_SAVED", "new\n")
    time.sleep(1.5)
    room.type("abc")
    hand.has_typed(facts, b"abc")
    hand.run_in_terminal("next")
    room.shows(room.proposal("b.txt"))
    room.type("<Reading>")
    hand.run("accept")
    agent.done()
    room.shows(RUNS)


def unseen_proposal_is_not_accepted(room):
    """It has opened without the focus. It can be accepted once it was on the screen for half a second.

    On a busy machine it can open, and be accepted, between two looks at the screen, so the test goes by the time.
    """
    hand = Hand(room)
    room.type(*room.keys.set_option("focus", False))
    agent = RawAgent(room)
    room.shows("hostile 1")
    call = agent.propose(room.path("b.txt"), "new\n")
    begin = look = time.monotonic()
    while call not in agent.answers and not re.search(room.proposal("b.txt"), room.screen()):
        if time.monotonic() > begin + 3:
            hand.run("next")
        hand.run("accept")
        time.sleep(0.2)
        if call in agent.answers and time.monotonic() - look < 0.5:
            raise Failure("a proposal is accepted that nobody has seen")
        look = time.monotonic()
    if call not in agent.answers:
        room.type("<Reading>")
        hand.run("accept")
    if "FILE_SAVED" not in (answer := agent.answer(call)):
        raise Failure(answer)


def diffs_can_be_turned_off(room):
    room.start()
    if "openDiff" not in room.run("tools"):
        raise Failure("diffs are not offered by default")
    room.restart(*room.keys.set_option("diffs", False))
    room.lock()
    tools = room.run("tools")
    if "openDiff" in tools or "getDiagnostics" not in tools:
        raise Failure(f"the tools are: {tools}")


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "hand"]
