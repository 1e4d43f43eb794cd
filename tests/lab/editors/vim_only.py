"""Attacks that only Vim makes possible, by questions and programs that other editors do not have."""

import json
import os
import re
import time

from hostile import QUIET, Person, RawAgent, is_scenario, of_row
from run import Failure, await_
from vi_only import withdrawn

END_TERMINAL = ["<C-w>", ":bwipeout!", "<Enter>"]
NO_GATE = "update ide-mcp: this sidecar does not check what agents name"


def encrypted_file_asks_for_no_password(room):
    """Vim would ask for the password of a file that it has encrypted, when it opens the file and when it reads it again."""
    person = Person(room)
    agent = RawAgent(room)
    encrypted = b"VimCrypt~03!" + bytes(range(100, 140))
    (room.folder / "secret.txt").write_bytes(encrypted)
    person.begin()
    person.sees_file(agent, call := agent.call("openFile", filePath=room.path("secret.txt")), None)
    agent.fails(call)
    room.type("<Escape>", ":w", "<Enter>")
    call = agent.propose(room.path("a.txt"), "new\n")
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.answer(call)
    (room.folder / "a.txt").write_bytes(encrypted)
    for _ in range(10):
        time.sleep(0.3)  # the plugin looks at the file
        person.command()
    person.is_unharmed()


def file_shown_after_typing_has_its_type(room):
    """The file is shown in an autocommand for the end of typing, in which Vim triggers no others unless they may nest."""
    room.write("b.c", "int b;\n")
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    person.sees_file(agent, agent.call("openFile", filePath=room.path("b.c")), "int b")
    if '\\"c\\"' not in (found := agent.answer(agent.call("getOpenEditors"))):
        raise Failure(f"the types of the open files: {found}")


def archives_are_not_unpacked(room):
    person = Person(room)
    agent = RawAgent(room)
    for program in ["gzip", "bzip2", "xz", "tar", "unzip"]:
        (room.home / "bin" / program).write_text(f'#!/bin/sh\necho "$0 $*" >>{room.home}/executed\nexit 1\n')
        (room.home / "bin" / program).chmod(0o755)
    for name in ["a.gz", "a.txt.bz2", "a.xz", "a.tar", "a.tgz", "a.zip", "a.jar"]:
        def act(name=name):
            room.write(name, f"bytes of {name}\n")
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path(name)), f"bytes of {name}")
        of_row(name, act)


def saving_a_file_that_has_changed_asks_nothing(room):
    person = Person(room)
    agent = RawAgent(room)
    for round_ in range(2):
        person.begin()
        person.end()
        room.write("a.txt", f"newer {round_}\n")
        agent.fails(agent.call("saveDocument", filePath=room.path("a.txt")))
        agent.fails(agent.call("saveDocument", filePath=room.path("a.txt")))
        person.command()
        person.is_unharmed()
        person.returns()
        room.has("a.txt", f"newer {round_}\n")
        room.type("<Escape>", ":w!", "<Enter>")
        room.shows("Do you really want to write to it")  # a key that Vim has already read does not count as an answer
        room.type("y")
        await_("the text of the person is written", lambda: person.typed[0] in (room.folder / "a.txt").read_text())
    person.begin()
    person.end()
    agent.answer(agent.call("saveDocument", filePath=room.path("a.txt")))
    await_("the file is saved", lambda: person.typed[0] in (room.folder / "a.txt").read_text())


def view_that_fails_to_open_leaves_nothing(room):
    person = Person(room)
    agent = RawAgent(room)
    room.type(":augroup broken | augroup END", "<Enter>")
    proposal = "ide-mcp://*/proposal/*"
    for event in ["BufNew ide-mcp://*", f"BufNew {proposal}", "TabNew *", "WinNew *", f"BufWinEnter {proposal}"]:
        def act(event=event):
            room.type(f":autocmd! broken | autocmd broken {event} throw 'broken'", "<Enter>",
                      ":echo 'ready'", "<Enter>")
            room.shows("^ready")
            agent.fails(agent.propose(room.path("b.txt"), "new\n"))
            room.shows("ide-mcp: .*broken")
            room.type(":echo len(getbufinfo()) 'buffers,' tabpagenr('$') 'tabs,' winnr('$') 'windows'", "<Enter>")
            room.shows("^1 buffers, 1 tabs, 1 windows")
            person.is_unharmed()
        of_row(event, act)


def long_messages_take_no_key(room):
    """Messages of a sidecar can contain words of agents. The test makes them up."""
    person = Person(room)
    event = room.made_up_events()
    room.shows(room.keys.DETACHED)
    messages = ["long " * 300, "a\nb\nc\nd\n", "\x1b]52;c;cHduZWQ=\x07\x9b31m\u202e", "wide 漢字" * 50]
    for number, message in enumerate(messages):
        def act(number=number, message=message):
            for _ in range(3):
                event("error", message=f"{number} {message}")
            room.shows(f"ide-mcp: {number}")
            room.hides("Press ENTER|-- More --", within=1)
            person.begin()
            person.types()
            person.end()
            person.command()
            room.hides("^:")
        of_row(message[:10], act)


def messages_are_seen_in_each_mode(room):
    """Vim shows the mode, or the command, over what it echoes. All messages are also in `:messages`."""
    person = Person(room)
    event = room.made_up_events()
    room.shows(room.keys.DETACHED)
    modes = {  # none ends with CTRL-C, at which Vim discards the keys that it has already read
        "Normal": ([], []), "half a command": (["d"], ["<Escape>"]), "Insert": (["i"], ["<Escape>"]),
        "a command of Insert": (["i", "<C-o>"], ["<Escape>", "<Escape>"]), "Replace": (["R"], ["<Escape>"]),
        "Visual": (["v"], ["<Escape>"]), "a command line": ([":abc"], ["<Escape>"]), "Select": (["gh"], ["<Escape>"]),
        "its window": (["q:"], room.keys.END_COMMAND_WINDOW), "a terminal": ([":terminal cat", "<Enter>"], END_TERMINAL),
    }
    for number, (name, (begin, end)) in enumerate(modes.items()):
        def act(number=number, begin=begin, end=end):
            room.type(*begin)
            time.sleep(0.3)
            event("error", message=f"number {number}")
            room.shows(f"ide-mcp: number {number}")
            time.sleep(1)
            room.shows(f"ide-mcp: number {number}", within=0)
            room.type(*end)
            person.command()
        of_row(name, act)
    room.type(":call writefile(execute('messages')->split('\\n'), 'messages')", "<Enter>")
    messages = room.folder / "messages"
    await_(f"{len(modes)} messages", lambda: messages.exists()
           and messages.read_text().count("ide-mcp: number") == len(modes))


def long_error_of_a_dead_sidecar_fits_one_line(room):
    """The last error of a sidecar that is given up, and how to start it again, are one line."""
    person = Person(room)
    room.write("event", json.dumps({"event": "error", "message": "long " * 300}) + "\n")
    room.write("ends", "read -r line\ncat event\nexit 2\n")
    room.restart(*room.keys.sidecar("sh", "ends"))
    room.shows("ide-mcp: long .*Start it again with :IdeMcp start")
    room.hides("Press ENTER|-- More --", within=1)
    person.command()


def long_status_takes_no_key(room):
    """An agent chooses its own name, and the name of the folder may be long too."""
    long = "f" * 150
    (room.folder / long).mkdir()
    person = Person(room)
    agents = [RawAgent(room, f"agent{number}" * 9) for number in range(4)]
    room.shows("agent3")
    for keys in [[], [f":cd {long}", "<Enter>"]]:
        room.type(*keys, *room.keys.STATUS)
        room.shows(f"ide-mcp: ⧉ .*port {room.lock().stem}")
        room.hides("Press ENTER|-- More --", within=1)
        person.command()
    for agent in agents:
        agent.end()


def marks_for_the_direction_are_not_shown(room):
    """The real sidecar makes such names safe. Here the test makes up events that are not."""
    marks = [0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(1, 0x20), *range(0x7F, 0xA0)]
    text = "".join(f"a{chr(mark)}" for mark in marks)
    person = Person(room)
    event = room.made_up_events()
    for part in [text[at:at + 50] for at in range(0, len(text), 50)]:
        event("connected", conn=1, client=part, version=part)
        event("error", conn=1, message=part)
        event("diff", conn=1, call=1000, tab=part, label=part, path=room.path("b.txt"), old_path=room.path("b.txt"),
              outside=False, contents="new\n")
        room.shows(room.proposal(""))
        room.type(":call writefile([ide_mcp#Status(), execute('messages')->split('\\n')[-1]]"
                  " + getbufinfo()->map({_, info -> info.name}), 'shown')", "<Enter>")
        lines = await_("what is shown is written", lambda: (room.folder / "shown").exists()
                       and (room.folder / "shown").read_text().splitlines())
        os.remove(room.path("shown"))
        if (named := sum("a a a" in line for line in lines)) != 4 or not all(map(str.isprintable, lines)):
            raise Failure(f"{named} lines with the text: {lines}")
        event("closed", conn=1, reason="over")
        event("diff_closed", conn=1, call=1000, tab=part, reason="close_tab")
        room.hides(room.proposal(""))
        room.hides(room.keys.ENDED)
        person.command()


def sidecar_that_checks_no_names_is_refused(room):
    """The test makes up the events of an older sidecar."""
    person = Person(room)
    room.write("events", "")
    room.write("older", "tail -f --pid=$$ events &\nexec tee commands | ide-mcp sidecar\n")
    room.restart(*room.keys.sidecar("sh", "older"))
    room.lock()
    path = room.path("b.txt")
    rows = [
        {"event": "diff", "tab": "b", "path": path, "old_path": path, "outside": False, "contents": "new\n"},
        {"event": "call", "tool": "openFile", "arguments": {"filePath": path}},
    ]
    for number, row in enumerate(rows, 1000):
        with open(room.path("events"), "a", encoding="utf-8") as events:
            events.write(json.dumps({"conn": 1, "call": number, **row}) + "\n")

        def failures(number=number):
            commands = map(json.loads, (room.folder / "commands").read_text().splitlines())
            return [sent["message"] for sent in commands if sent.get("cmd") == "fail" and sent["call"] == number]

        if (found := await_("the call fails", failures)) != [NO_GATE]:
            raise Failure(f"the call fails with {found}")
        person.command()
        person.is_unharmed()


# What the person does without a pause: during it, a view would take the next keys. Each row has the keys before, two
# that are repeated, the last ones, and those that end the row.
BUSY_KEYS = {
    "motions": ([], ["j", "k"], [":w", "<Enter>"], []),
    "an unfinished count": (["j"], ["1", "2"], ["<Escape>", ":w", "<Enter>"], []),
    "a terminal": ([":terminal cat", "<Enter>"], ["x", "<BSpace>"], ["<Enter>", ":w", "<Enter>"], END_TERMINAL),
    "a terminal with interrupts": ([":terminal sh traps", "<Enter>"], ["x", "<C-c>"], ["<Enter>"], END_TERMINAL),
}


def pause_comes_before_each_view(room):
    """Otherwise the next keys would decide on a proposal."""
    room.write("traps", "trap 'echo interrupted' INT\nwhile :; do read line; done\n")
    person = Person(room)
    agent = RawAgent(room)
    for name, (before, repeated, after, last) in BUSY_KEYS.items():
        def act(before=before, repeated=repeated, after=after, last=last):
            room.type(*before)
            if last:
                room.shows(r"\[running\]")
            calls = []
            for number in range(20):
                room.type(repeated[number % 2])
                if number == 4:
                    calls.append(agent.propose(room.path("b.txt"), "new\n"))
                time.sleep(0.1)
                if re.search(room.proposal(""), room.screen()):
                    raise Failure(f"the proposal is shown after key {number}")
            room.type(*after)
            room.shows(room.proposal("b.txt"))
            if calls[0] in agent.answers:
                raise Failure(f"an answer without a decision: {agent.answers[calls[0]]}")
            room.type(*room.keys.REJECT)
            if "DIFF_REJECTED" not in (answer := agent.answer(calls[0])):
                raise Failure(f"the answer: {answer}")
            if "<C-c>" in repeated:
                room.shows("interrupted")
            room.hides(room.proposal(""))
            room.type(*last)
            person.is_unharmed()
            person.command()
        of_row(name, act)


def text_with_too_many_nuls_is_refused(room):
    """It would keep Vim busy for a long time."""
    person = Person(room)
    agent = RawAgent(room)
    call = agent.propose(room.path("b.txt"), 500_001 * "\0")
    if "the text has more than 500000 NUL characters" not in (answer := agent.answer(call)):
        raise Failure(answer[:300])
    person.command()
    person.is_unharmed()


def many_proposals_are_counted(room):
    person = Person(room)
    agent = RawAgent(room)
    person.begin()
    agent.propose(room.path("a.txt"), "new\n")
    room.shows("1 proposal waits")
    agent.propose(room.path("b.txt"), "new\n", "other")
    room.shows("2 proposals wait")
    agent.end()
    room.hides("waits?")


def searched_texts_are_found_quickly(room):
    """As regular expressions, such texts would take minutes, whatever time limit `search()` has."""
    room.write("b.txt", "".join(f"{number} one.*two\nthree\n" for number in range(1000)))
    room.write("long.txt", "".join("a" * 60_000 + "\n" for _ in range(8)))
    room.write("many.txt", "other\n" * 300_000)
    person = Person(room)
    agent = RawAgent(room)
    rows = [
        ({"startText": "7 one.*", "endText": "two"}, "7 one.*two"),
        ({"startText": "7 ONE"}, "one"),  # not found, so the cursor stays on the second word of the line
        ({"startText": "two\nthree\n8", "endText": " one.*"}, "two|three|8 one.*"),
        ({"startText": "8 one", "endText": "three\n9 one.*two\nth"}, "8 one.*two|three|9 one.*two|th"),
        ({"startText": "8 one", "endText": "none"}, "8 one"),
        ({"startText": "0 one", "startLine": 3}, "10 one"[1:]),
        ({"startText": "0 one", "startLine": 3, "selectToEndOfLine": True}, "0 one.*two"),
    ]
    for arguments, text in rows:
        def act(arguments=arguments, text=text):
            agent.answer(agent.call("openFile", filePath=room.path("b.txt"), **arguments))
            found = "one" if "ONE" in str(arguments) else None
            room.type(*(["<Escape>", "wviw"] if found else []), "y",
                      ":echo 'found' getreg()->substitute('\\n', '|', 'g') .. '.'", "<Enter>")
            room.shows("^found " + re.escape(text) + "[.]$")
            person.command()
        of_row(str(arguments), act)
    for name, text in [("b.txt", "a" * 1001), ("b.txt", "a" * 7_000_000), ("long.txt", "a" * 30_000 + "b")]:
        for texts in [{"startText": text}, {"startText": "a", "endText": text}]:
            room.type(*room.keys.FIRST_FILE)
            person.begin()
            call = agent.call("openFile", filePath=room.path(name), **texts)
            person.types()
            person.end()
            agent.fails(call)
            person.command()
            person.is_unharmed()
    for name, text in [("long.txt", "a" * 999 + "b"), ("long.txt", "a\n" * 500), ("b.txt", "three\n" * 160 + "x"),
                       ("many.txt", "other\n" * 160 + "x")]:
        def act(name=name, text=text):
            room.type(*room.keys.FIRST_FILE)
            person.begin()
            person.sees_file(agent, agent.call("openFile", filePath=room.path(name), startText=text, endText=text),
                             {"b": "one", "l": "aaa", "m": "other"}[name[0]])
        of_row(f"{name} {text[:8]}", act)


def folder_with_the_name_of_a_view_is_not_shown(room):
    """Vim's plugin for folders, netrw, would list it instead of showing the proposal."""
    for number in range(1, 9):
        for side in ["file", "proposal"]:
            (room.folder / f"ide-mcp:/{number}/{side}/b.txt").mkdir(parents=True)
            room.write(f"ide-mcp:/{number}/{side}/b.txt/listed", "x")
    person = Person(room)
    agent = RawAgent(room)
    for _ in range(2):
        call = agent.propose(room.path("b.txt"), "new\n")
        room.shows(room.proposal("b.txt"))
        room.hides("listed", within=1)
        room.type(*room.keys.ACCEPT)
        if "FILE_SAVED" not in (answer := agent.answer(call)):
            raise Failure(f"the answer: {answer}")
        person.is_unharmed()


def view_that_another_plugin_takes_fails(room):
    person = Person(room)
    agent = RawAgent(room)
    room.type(":augroup taker | augroup END", "<Enter>")
    for side in ["file", "proposal"]:
        for taken in ["file taken", "hide enew", "let b:ide_mcp = {}"]:
            def act(side=side, taken=taken):
                room.type(f":autocmd! taker | autocmd taker BufWinEnter ide-mcp://*/{side}/* {taken}", "<Enter>",
                          ":echo 'ready'", "<Enter>")
                room.shows("^ready")
                agent.fails(agent.propose(room.path("b.txt"), "new\n"))
                room.shows("ide-mcp: .*another plugin")
                person.is_unharmed()
                room.type(":silent! %bwipeout! taken | echo tabpagenr('$') 'tabs'", "<Enter>")
                room.shows("^1 tabs")
            of_row(f"{side}: {taken}", act)


def renamed_view_is_rejected_at_its_end(room):
    """A plugin that turns the buffer into another one renames it like this."""
    person = Person(room)
    agent = RawAgent(room)
    call = agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    room.type(":file other", "<Enter>", *room.keys.REJECT)
    if "DIFF_REJECTED" not in (answer := agent.answer(call)):
        raise Failure(f"the answer: {answer}")
    person.is_unharmed()


def filled(text, size, line):
    """Returns lines of a repeated text."""
    return (text * max(1, line // len(text)) + "\n") * (size // line)


# The texts that take longest to highlight, for these file types.
SLOW = {"c": "({[", "html": "<a b=", "md": ">", "lua": "(", "json": "[", "sh": "$(", "vim": "\\{", "pl": "m{",
        "tex": "\\begin{a}$", "yaml": "- ", "rb": "#{", "rst": "`a_ ", "php": "<?php $a[", "cpp": "({["}


def slow_syntax_does_not_delay_keys(room):
    person = Person(room)
    agent = RawAgent(room)
    for size, line in [(8000, 250), (64_000, 200), (480_000, 2000)]:
        for kind, text in SLOW.items():
            def act(kind=kind, text=text):
                person.begin()
                if not person.reviews(agent, agent.propose(room.path(f"x.{kind}"), filled(text, size, line))):
                    raise Failure("the proposal is not shown")
            of_row(f"{kind}, {size} bytes, lines of {line}", act)


def proposal_has_syntax_and_no_plugins_of_its_type(room):
    """It does, whether the file is open or not."""
    person = Person(room)
    room.write("b.c", "int b;\n")
    agent = RawAgent(room)
    texts = {"int b = 1;\n": "c", filled("a;", 9000, 200): "", filled("b;", 1000, 300): ""}
    for is_open in [False, True]:
        if is_open:
            agent.answer(agent.call("openFile", filePath=room.path("b.c")))
            room.shows("int b")
        for text, syntax in texts.items():
            def act(text=text, syntax=syntax):
                call = agent.propose(room.path("b.c"), text)
                room.shows(room.proposal("b.c"))
                for _ in range(2):
                    room.type("<C-w>", "w", ":echo ' ' | redraw", "<Enter>",
                              ":echo $'[{&syntax}]' &diff exists('b:did_ftplugin') $'({&filetype})'", "<Enter>")
                    room.shows(re.escape(f"[{syntax}] 1 0 ()"))
                room.type(*room.keys.REJECT)
                agent.answer(call)
                person.is_unharmed()
            of_row(f"{text[:9]}, open: {is_open}", act)


def key_in_a_terminal_ends_the_waiting(room):
    """There, keys do not trigger events. An interrupt counts as a key, and reaches the terminal."""
    room.write("traps", "trap 'echo interrupted' INT\nwhile :; do read line; done\n")
    person = Person(room)
    agent = RawAgent(room)
    for key in ["x", "<C-c>"]:
        def act(key=key):
            room.type(":terminal sh traps", "<Enter>")
            room.shows(r"\[running\]")
            call = withdrawn(room, agent)
            room.shows("1 proposal waits for a key")
            time.sleep(3 * QUIET)
            room.hides("other text", within=0)
            room.type(key)
            room.shows("other text")
            room.type(*room.keys.REJECT)
            agent.answer(call)
            room.hides("other text")
            room.shows("interrupted" if key == "<C-c>" else "^x")
            room.type(*END_TERMINAL)
            person.is_unharmed()
        of_row(key, act)


def interrupt_ends_the_waiting(room):
    """At CTRL-C, Vim closes the popup that sees the keys. The interrupt still ends what it should."""
    person = Person(room)
    agent = RawAgent(room)
    room.type("V")
    room.shows("-- VISUAL LINE --")
    call = withdrawn(room, agent)
    room.shows("1 proposal waits for a key")
    room.type("V")
    room.shows("other text")
    room.type(*room.keys.REJECT)
    agent.answer(call)
    call = withdrawn(room, agent)
    room.shows("1 proposal waits for a key")
    room.type("<C-c>")
    room.shows("other text")
    room.type(*room.keys.REJECT)
    agent.answer(call)
    person.is_unharmed()
    person.command()


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "vim_only"]
