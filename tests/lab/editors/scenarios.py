"""Scenarios for every editor with a plugin. docs/testing.md recommends this list to authors of plugins."""

import json
import os
import re
import signal
import time

from run import Failure, await_, outcome, pushed, texts

DIAGNOSTICS = "getDiagnostics"


def attaches_and_leaves(room):
    room.start()
    if json.loads(room.lock().read_text())["pid"] != room.pid():
        raise Failure("the lock file names another process")
    agent = room.play({"sleep": 2000})
    room.shows(room.keys.ATTACHED)
    agent.done()
    room.shows(room.keys.DETACHED)


def selection_counts_utf16_units(room):
    room.start()
    start, end = {"line": 0, "character": 0}, {"line": 0, "character": 3}
    agent = room.play(
        pushed("selection_changed", {"text": "𝒳b", "filePath": room.path("a.txt"), "selection": {"start": start, "end": end}}),
        pushed("selection_changed", {"text": "𝒳"}),
        pushed("selection_changed", {"text": "𝒳bc def\nsecond"}),
        {"call": "getLatestSelection"},
        outcome("getLatestSelection", texts({"text": "𝒳bc def\nsecond"})),
    )
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.SELECT_FIRST)
    agent.steps(1)
    room.type(*room.keys.SELECT_ONE)
    agent.steps(2)
    room.type(*room.keys.SELECT_LINES)
    agent.done()


def mention_has_lines(room):
    room.start()
    agent = room.play(
        {"notify": "ide_connected", "params": {"pid": 1}},
        pushed("at_mentioned", {"filePath": room.path("a.txt"), "lineStart": 0, "lineEnd": 1}),
        pushed("at_mentioned", {"filePath": room.path("a.txt")}),
    )
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.MENTION_LINES)
    agent.steps(1)
    room.type(*room.keys.MENTION_FILE)
    agent.done()


def proposal_is_accepted_as_it_is(room):
    room.start()
    for text in ["new\n", "newer\n", "without a last line end", "dos\r\nline ends\r\n", ""]:
        agent = room.play(room.propose("a.txt", text), outcome("openDiff", texts("FILE_SAVED", text)))
        room.shows(room.proposal())
        if "\r" in text:
            room.shows("line ends")
        if re.search(r"\^M", room.screen()):
            raise Failure("the line ends are in the lines")
        room.type(*room.keys.ACCEPT)
        agent.done()
        room.hides(room.proposal())


def proposal_is_accepted_edited(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "edited\nnew\n")))
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE, *room.keys.ACCEPT_AND_CLOSE)
    agent.done()
    room.shows("second")  # the window with the file is still open


def undo_keeps_the_proposal(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    room.shows(room.proposal())
    room.type(*room.keys.UNDO, *room.keys.ACCEPT)
    agent.done()


def proposal_is_rejected_by_closing(room):
    room.start()
    for _ in range(2):
        agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("DIFF_REJECTED", "tab")))
        room.shows(room.proposal())
        room.type(*room.keys.REJECT)
        agent.done()
        room.hides(room.proposal())
        await_("one window is left", lambda: room.screen().count("⧉") == 1)
    room.shows("second")


def accepted_file_is_read_again(room):
    room.start()
    for text in ["from the agent\n", "once more\n"]:
        room.write("new.txt", text)
        diff = room.spawn("diff", "a.txt", "new.txt")
        room.shows(room.proposal())
        room.type(*room.keys.ACCEPT)
        diff.done()
        room.has("a.txt", text)
        room.hides(room.proposal())
        room.shows(text.strip())


def proposal_waits_for_the_end_of_typing(room):
    room.start()
    room.type(*room.keys.BEGIN_TYPING)
    agent = room.play(room.propose("b.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    room.shows(room.keys.NOTICE)
    time.sleep(1)  # a pause does not end the typing
    room.type(*room.keys.END_TYPING)
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.ACCEPT)
    agent.done()
    room.shows("typed")


def agent_in_a_terminal_of_the_editor(room):
    """The agent finds the editor by its environment, from another folder. The proposal takes the keys."""
    room.start()
    room.write("new.txt", "new\n")
    command = f"cd / && ide-mcp agent diff {room.path('a.txt')} {room.path('new.txt')}"
    room.type(*[key.replace("COMMAND", command) for key in room.keys.TERMINAL])
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE, *room.keys.ACCEPT)
    room.has("a.txt", "edited\nnew\n")
    room.hides(room.proposal())


def withdrawn_proposal_does_not_wait(room):
    room.start()
    room.type(*room.keys.BEGIN_TYPING)
    agent = room.play(room.propose("b.txt", "new\n"), {"sleep": 20000})
    room.shows(room.keys.NOTICE)
    agent.process.kill()
    room.hides(room.keys.NOTICE)
    room.type(*room.keys.END_TYPING)
    room.shows("typed")
    time.sleep(1)
    room.hides(room.proposal("b.txt"))


def proposal_takes_no_typed_keys(room):
    room.start()
    room.type(*room.keys.BEGIN_INSERTING, "typing")
    room.shows("typing")
    agent = room.play(room.propose("b.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    for _ in range(20):
        room.type("x")
        time.sleep(0.1)
    room.type(*room.keys.END_INSERTING)
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.ACCEPT)
    agent.done()


def view_closes_with_its_agent(room):
    room.start()
    for _ in range(2):
        agent = room.play(room.propose("a.txt", "new\n"), {"sleep": 20000})
        room.shows(room.proposal())
        agent.process.kill()
        room.hides(room.proposal())
        room.hides(room.keys.ENDED)
        room.shows("second")
        room.type(*room.keys.ENDS_OF_TEXT)  # the next proposal waits for a key


def two_agents_have_a_proposal_each(room):
    room.start()
    first = room.play(room.propose("a.txt", "one\n"), outcome("openDiff", texts("FILE_SAVED", "one\n")))
    room.shows("one")
    second = room.play(room.propose("b.txt", "two\n"), outcome("openDiff", texts("DIFF_REJECTED", "tab")))
    time.sleep(1)
    room.shows(room.proposal())  # the earlier one stays on the screen
    room.type(*room.keys.ACCEPT)
    first.done()
    room.type(*room.keys.NEXT_PROPOSAL)
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.REJECT)
    second.done()


def diagnostics_have_the_right_place(room):
    room.start()
    room.type(*room.keys.PROBLEM)
    start, end = {"line": 0, "character": 2}, {"line": 0, "character": 4}
    problem = {"message": "wrong", "severity": "Error", "range": {"start": start, "end": end}, "source": "lint"}
    for arguments in [{}, {"uri": "file://" + room.path("a.txt")}]:
        agent = room.play(
            {"call": DIAGNOSTICS, "arguments": arguments},
            outcome(DIAGNOSTICS, texts([{"uri": "file://" + room.path("a.txt"), "diagnostics": [problem]}])),
        )
        agent.done()
    agent = room.play(
        {"call": DIAGNOSTICS, "arguments": {"uri": "file://" + room.path("b.txt")}},
        outcome(DIAGNOSTICS, texts([{"uri": "file://" + room.path("b.txt"), "diagnostics": []}])),
    )
    agent.done()


def files_are_open_dirty_and_saved(room):
    room.start()
    path = room.path("a.txt")
    about = {"filePath": path}
    room.type(*room.keys.INSERT_LINE)
    room.shows("edited")
    agent = room.play(
        {"call": "getOpenEditors"},
        outcome("getOpenEditors", texts({"tabs": [{"uri": "file://" + path, "isDirty": True, "isActive": True}]})),
        {"call": "checkDocumentDirty", "arguments": about},
        outcome("checkDocumentDirty", texts({"success": True, "isDirty": True})),
        {"call": "saveDocument", "arguments": about},
        outcome("saveDocument", texts({"success": True, "saved": True})),
        {"call": "checkDocumentDirty", "arguments": about},
        outcome("checkDocumentDirty", texts({"success": True, "isDirty": False})),
        {"call": "saveDocument", "arguments": {"filePath": room.path("b.txt")}},
        outcome("saveDocument", texts({"success": False})),
        {"call": "openFile", "arguments": {"filePath": room.path("b.txt"), "startText": "the"}},
        outcome("openFile", texts("Opened file: " + room.path("b.txt"))),
        {"call": "openFile", "arguments": {"filePath": room.path("none.txt")}},
        outcome("openFile", {"isError": True}),
    )
    agent.done()
    room.has("a.txt", "edited\n𝒳bc def\nsecond\nthird\n")
    room.shows("other")


def busy_editor_does_not_delay_an_agent(room):
    """At the deadline, the agent is told that the problems are unknown."""
    room.start()
    for _ in range(2):
        agent = room.play(
            {"sleep": 1000},
            {"call": DIAGNOSTICS, "arguments": {"uri": "file://" + room.path("a.txt")}},
            outcome(DIAGNOSTICS, {"isError": True}, within=500),
        )
        room.shows(room.keys.ATTACHED)
        room.type(*room.keys.BUSY)
        agent.done()
        time.sleep(3)
    agent = room.play({"sleep": 500}, {"call": DIAGNOSTICS}, outcome(DIAGNOSTICS, {"isError": True}, within=2000))
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.BUSY)
    agent.done()


def open_question_does_not_delay_an_agent(room):
    room.start()
    agent = room.play(
        {"sleep": 1000},
        {"call": DIAGNOSTICS, "arguments": {"uri": "file://" + room.path("a.txt")}},
        outcome(DIAGNOSTICS, texts([]), within=500),
        {"call": DIAGNOSTICS},
        outcome(DIAGNOSTICS, texts([]), within=2000),
        room.propose("a.txt", "new\n"),
        outcome("openDiff", texts("FILE_SAVED", "new\n")),
    )
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.QUESTION)
    agent.steps(2)
    room.type("<Enter>")
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.done()


def prompt_and_resource_are_given(room):
    room.start()
    if "Review the file" not in room.run("prompt", "review"):
        raise Failure("the prompt is not given")
    listed = room.run("resources")
    if room.keys.RESOURCE not in listed:
        raise Failure(f"no own resource: {listed}")
    room.type(*room.keys.FILL_RESOURCE)
    await_("the resource has its text", lambda: "found by a test" in room.run("read", room.keys.RESOURCE))


def pause_hides_the_selection(room):
    room.start()
    room.type(*room.keys.SELECT_FIRST)
    agent = room.play(
        pushed("selection_changed", {"text": "𝒳b"}),
        pushed("selection_changed", {"text": ""}),
        pushed("selection_changed", {"text": "𝒳b"}),
    )
    agent.steps(1)
    room.type(*room.keys.PAUSE)
    agent.steps(2)
    room.shows("paused")
    room.type(*room.keys.RESUME)
    room.type(*room.keys.SELECT_FIRST)
    agent.done()


def quit_leaves_no_lock_file(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("DIFF_REJECTED", "tab")))
    room.shows(room.proposal())
    room.type(*room.keys.QUIT)
    room.no_lock()
    agent.done()


def killed_editor_leaves_no_lock_file(room):
    room.start()
    os.kill(room.pid(), signal.SIGKILL)
    room.no_lock(within=1)


def hung_up_editor_leaves_no_lock_file(room):
    room.start()
    room.tmux("kill-server")
    room.no_lock(within=5)


def agent_returns_after_death_of_sidecar(room):
    room.start()
    before = room.lock()
    watch = room.spawn("watch", "--reconnect")
    room.shows(room.keys.ATTACHED)
    for _ in range(2):
        proposal = room.play(room.propose("a.txt", "new\n"), {"sleep": 20000})
        room.shows(room.proposal())
        os.kill(room.sidecar(), signal.SIGKILL)
        room.hides(room.proposal())
        proposal.process.kill()
        room.shows(room.keys.ATTACHED, within=30)
        room.type(*room.keys.ENDS_OF_TEXT)  # the next proposal waits for a key
    if room.lock() != before:
        raise Failure("the sidecar has another port")
    room.type(*room.keys.SELECT_FIRST)
    await_("the agent receives the selection", lambda: "𝒳b" in watch.text())
    before = watch.text().count("𝒳b")
    os.kill(room.sidecar(), signal.SIGKILL)
    await_("the agent receives the selection again, without a key", lambda: watch.text().count("𝒳b") > before)


def sidecar_is_stopped_and_started(room):
    room.start()
    for _ in range(2):
        room.type(*room.keys.STOP)
        room.no_lock()
        time.sleep(0.5)
        room.type(*room.keys.START)
        room.lock()
        agent = room.play({"sleep": 2000})
        room.shows(room.keys.ATTACHED)
        agent.done()


def sidecar_that_dies_often_is_not_started_again(room):
    room.start()
    for _ in range(6):
        before = room.sidecar()
        os.kill(before, signal.SIGKILL)
        await_("another sidecar", lambda: before not in room.sidecars())
        time.sleep(0.5)
    room.shows("died too often")
    if room.sidecars():
        raise Failure("another sidecar runs")
    room.type(*room.keys.START)
    room.shows(room.keys.DETACHED)
    if len(room.locks()) != 1:
        raise Failure("the lock file of the dead sidecar is left")


def large_proposal_is_accepted(room):
    room.start()
    text = "𝒳 has two units\n" * 20000
    agent = room.play(room.propose("a.txt", text), outcome("openDiff", texts("FILE_SAVED", text)))
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.done()


def terminal_keeps_its_selection_and_its_window(room):
    room.start()
    agent = room.play(
        pushed("selection_changed", {"text": "𝒳b"}),
        {"sleep": 1500},
        {"call": "getCurrentSelection"},
        outcome("getCurrentSelection", texts({"success": True, "filePath": room.path("a.txt")})),
        {"call": "openFile", "arguments": {"filePath": room.path("b.txt")}},
        outcome("openFile", texts("Opened file: " + room.path("b.txt"))),
    )
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.SELECT_FIRST)
    agent.steps(1)
    room.type(*room.keys.OPEN_TERMINAL)
    agent.done()
    await_("the terminal and the file have a window each", lambda: room.screen().count("⧉") == 2)


def invalid_bytes_do_not_block_the_selection(room):
    room.start()
    agent = room.play(pushed("selection_changed", {"selection": {"end": {"line": 1, "character": 6}}}))
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.INVALID_BYTES, *room.keys.SELECT_LINES)
    agent.done()


def own_tool_is_answered(room):
    room.start()
    room.type(*room.keys.OWN_TOOL, *room.keys.STOP)
    room.no_lock()
    room.type(*room.keys.START)
    room.lock()
    await_("the tool is answered", lambda: "dark" in room.run("call", "theme"))


def agent_waits_for_consent(room):
    room.start()
    room.type(*room.keys.CONSENT, *room.keys.STOP)
    room.no_lock()
    room.type(*room.keys.START)
    room.lock()
    agent = room.play({"sleep": 3000})
    room.shows(room.question())
    time.sleep(1)  # the person reads
    room.type(*room.keys.YES)
    room.shows(room.keys.ATTACHED)
    agent.done()


ALL = [value for name, value in list(globals().items()) if callable(value) and value.__module__ == "scenarios"]
