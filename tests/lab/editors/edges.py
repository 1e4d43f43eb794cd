"""Edge cases of a plugin: odd texts, a sidecar that is slow, dies or stays paused, a folder that changes."""

import json
import os
import re
import signal
import time
import urllib.parse

from hostile import of_row
from run import PROGRAM, Failure, await_, outcome, pushed, texts


def wide_character_is_selected_whole(room):
    room.write("a.txt", "a𝒳\u0301z\n")
    room.start()
    start, end = {"line": 0, "character": 0}, {"line": 0, "character": 4}
    agent = room.play(pushed("selection_changed", {"text": "a𝒳\u0301", "selection": {"start": start, "end": end}}))
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.SELECT_FIRST)
    agent.done()


def selection_stays_while_a_command_is_typed(room):
    room.start()
    agent = room.play(pushed("selection_changed", {"text": "𝒳b"}))
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.SELECT_FIRST)
    agent.done()
    room.type(*room.keys.BEGIN_COMMAND)
    time.sleep(0.5)
    if "𝒳b" not in room.run("call", "getLatestSelection", "{}"):
        raise Failure("the selection ended while the command was typed")


def bytes_that_are_not_utf8_are_replaced(room):
    (room.folder / "a.txt").write_bytes(b"\xed\xa0\x80 first\n\xf4\x90\x80\x80 second\n")
    room.start()
    room.type(*room.keys.SELECT_LINES)
    await_("the agent has the selection", lambda: "second" in room.run("call", "getLatestSelection", "{}"))


def long_selection_is_cut_to_its_beginning(room):
    room.write("a.txt", "first\n" + 1000 * (1023 * "x" + "\n"))
    room.start()
    agent = room.play(pushed("selection_changed", {"selection": {"end": {"line": 1000, "character": 1023}}}))
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.SELECT_ALL)
    agent.done()
    await_("the agent has the text", lambda: "first" in room.run("call", "getLatestSelection", "{}"))


def proposal_keeps_nul(room):
    room.start()
    text = "a\0\0\\u0000\n"
    agent = room.play(room.propose("a.txt", text), outcome("openDiff", texts("FILE_SAVED", "edited\n" + text)))
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE, *room.keys.ACCEPT)
    agent.done()


def edited_proposal_keeps_line_ends(room):
    room.start()
    for text in ["dos\r\n", "no last\r\nline end", "mixed\r\nline\nends\n"]:
        first = "edited\n" if "mixed" in text else "edited\r\n"
        agent = room.play(room.propose("a.txt", text), outcome("openDiff", texts("FILE_SAVED", first + text)))
        room.shows(room.proposal())
        room.type(*room.keys.INSERT_LINE, *room.keys.ACCEPT)
        agent.done()
        room.hides(room.proposal())


def file_of_a_silent_agent_is_read_again(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.done()
    room.write("a.txt", "written\n")
    room.shows("written")


def search_results_are_not_problems(room):
    room.start()
    room.type(*room.keys.FILL_RESOURCE)
    await_("the list has the result", lambda: "found by" in room.run("read", room.keys.RESOURCE))
    if "found by" in room.run("call", "getDiagnostics", "{}"):
        raise Failure("a search result is a problem")


def slow_sidecar_does_not_delay_the_person(room):
    room.start()
    text = 2000 * (1023 * "x" + "\n")
    agent = room.play(room.propose("a.txt", text), outcome("openDiff", texts("FILE_SAVED", "edited\n" + text)))
    room.shows(room.proposal())
    sidecar = room.sidecar()
    os.kill(sidecar, signal.SIGSTOP)
    try:
        room.type(*room.keys.INSERT_LINE, *room.keys.ACCEPT)
        room.hides(room.proposal(), within=5)
    finally:
        os.kill(sidecar, signal.SIGCONT)
    agent.done()


def agents_leave_when_their_sidecar_ends(room):
    room.start()
    room.play({"sleep": 20000})
    room.shows(room.keys.ATTACHED)
    os.kill(room.sidecar(), signal.SIGKILL)
    room.shows(room.keys.DETACHED)


def waiting_proposal_ends_with_its_sidecar(room):
    room.start()
    room.type(*room.keys.BEGIN_TYPING)
    agent = room.play(room.propose("b.txt", "new\n"), {"sleep": 20000})
    room.shows(room.keys.NOTICE)
    os.kill(room.sidecar(), signal.SIGKILL)
    room.hides(room.keys.NOTICE)
    agent.process.kill()
    room.type(*room.keys.END_TYPING)
    room.shows(room.keys.DETACHED)
    room.hides(room.proposal("b.txt"))


def stopped_sidecar_stays_stopped(room):
    room.start()
    room.type(*room.keys.STOP)
    room.no_lock()
    time.sleep(1)
    if room.locks():
        raise Failure("the sidecar is started again")


def stopped_sidecar_leaves_no_descriptor(room):
    room.start()
    counts = []
    for _ in range(3):
        agent = room.play({"sleep": 20000})
        room.shows(room.keys.ATTACHED)
        agent.process.kill()
        room.type(*room.keys.STOP)
        room.no_lock()
        room.hides(room.keys.DETACHED)
        time.sleep(0.5)
        counts.append(len(os.listdir(f"/proc/{room.pid()}/fd")))
        room.type(*room.keys.START)
        room.lock()
    if len(set(counts)) > 1:
        raise Failure(f"open descriptors after each stop: {counts}")


def pause_survives_the_sidecar(room):
    room.start()
    room.type(*room.keys.PAUSE)
    room.shows("paused")
    sidecar = room.sidecar()
    os.kill(sidecar, signal.SIGKILL)
    await_("another sidecar runs", lambda: room.sidecar() not in (sidecar, None))
    room.type(*room.keys.SELECT_FIRST)
    time.sleep(0.5)
    room.shows("paused")
    if "𝒳b" in room.run("call", "getLatestSelection", "{}"):
        raise Failure("the agent has the selection")
    room.type(*room.keys.RESUME)
    room.hides("paused")


def folder_follows_the_editor(room):
    (room.folder / "inner/.git").mkdir(parents=True)
    room.start()
    room.type(*room.keys.ENTER_FOLDER)
    await_("the lock file has the folder", lambda: room.path("inner") in room.lock().read_text())


def terminal_has_the_environment(room):
    """Two variables of another editor must not reach the terminal."""
    stale = {"FORCE_CODE_TERMINAL": "1", "OPENCODE_EDITOR_SSE_PORT": "123"}
    room.environment.update(stale)
    room.start()
    for name in stale:
        del room.environment[name]
    room.type(*room.keys.SELECT_FIRST)
    await_("the agent has the selection", lambda: "𝒳b" in room.run("call", "getLatestSelection", "{}"))
    command = "echo port $CLAUDE_CODE_SSE_PORT, $FORCE_CODE_TERMINAL, $OPENCODE_EDITOR_SSE_PORT."
    room.type(*[key.replace("COMMAND", command) for key in room.keys.TERMINAL])
    room.shows(f"port {room.lock().stem}, , \\.")
    time.sleep(0.5)
    if "a.txt" not in room.run("call", "getLatestSelection", "{}"):
        raise Failure("the terminal is a selection")


def names_are_encoded_in_uris(room):
    name = "a b#1%zz?ü𝒳.txt"
    room.write(name, "𝒳bc def\n")
    room.start(name)
    uri = "file://" + room.path(name)

    def call(tool, **arguments):
        return json.loads(room.run("call", tool, json.dumps(arguments)))

    def check(found):
        """Checks a URI. Neovim may write hexadecimal digits in lower case."""
        if found.lower() != f"file://{urllib.parse.quote(room.path(name))}".lower():
            raise Failure(f"{found} is not the URI of {name}")
        return found

    check(call("getOpenEditors")["tabs"][0]["uri"])
    watch = room.spawn("watch")
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.CHANGE_PROBLEMS)
    check(await_("the file is announced", watch.changed)[0][0])
    uri = check(call("getDiagnostics")[0]["uri"])
    for spelling in [uri, uri.replace("%C3%BC", "ü").replace("%c3%bc", "ü")]:
        answer = call("getDiagnostics", uri=spelling)[0]
        if answer["uri"] != spelling or not answer["diagnostics"]:
            raise Failure(f"the answer for {spelling} is {answer}")


def changed_problems_are_announced(room):
    """Each change names its file, even if the current window has none."""
    room.start()
    watch = room.spawn("watch")
    room.shows(room.keys.ATTACHED)
    for count, keys in [(1, room.keys.CHANGE_PROBLEMS), (2, room.keys.CHANGE_PROBLEMS_ELSEWHERE)]:
        room.type(*keys)
        await_(f"{count} changes", lambda count=count: len(watch.changed()) >= count)
    if any(uris != ["file://" + room.path("a.txt")] for uris in watch.changed()):
        raise Failure(f"other files are announced: {watch.changed()}")
    problems = json.loads(room.run("call", "getDiagnostics", "{}"))
    if any(found["uri"] != "file://" + room.path("a.txt") for found in problems):
        raise Failure(f"other files have problems: {problems}")


def container_has_its_folders_and_process(room):
    (room.folder / "inner/.git").mkdir(parents=True)
    room.start()
    room.restart(*room.keys.CONTAINER)

    def check():
        lock = json.loads(room.lock().read_text())
        if (lock["workspaceFolders"], lock["pid"]) != (["/box"], room.sidecar()):
            raise Failure(f"the lock file has the folders and the process of the editor: {lock}")

    check()
    room.type(*room.keys.ENTER_FOLDER, *room.keys.INSERT_LINE, *room.keys.SELECT_FIRST)
    lock = str(room.lock())
    await_("the agent has the selection",
           lambda: '"ed' in room.run("--lock", lock, "call", "getLatestSelection", "{}").replace("\\", ""))
    check()


def status_has_the_port(room):
    """The command may have words before the program, such as those that enter a container."""
    room.start()
    room.restart(*room.keys.sidecar("env", "ide-mcp", "sidecar"))
    port = room.lock().stem
    room.play({"sleep": 20000})
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.STATUS)
    for pattern in room.keys.STATUS_SHOWS:
        room.shows(pattern.replace("PORT", port))


def missing_program_is_reported(room):
    room.start()
    room.restart(*room.keys.sidecar("none-such", "ide-mcp", "sidecar"))
    room.shows("none-such is not in PATH: see ")
    room.type(*room.keys.STATUS)
    room.shows(room.keys.STATUS_WITHOUT_PROGRAM)


# What a plugin says about a program of another version, if anything. Each row has what replaces the version in the
# sidecar's events, and the message.
VERSIONS = {
    "older": (r'"version":"0.1.9"', r"program 0\.1\.9, \w+ 0\.\d+\.\d+: update the program, .*ide-mcp"),
    "older, with a higher patch number": (r'"version":"0.1.999"', r"program 0\.1\.999, .*: update the program"),
    "from before the first release": (r'"no":1', r"program unknown, .*: update the program"),
    "newer patch version": (r'"version":"0.2.999"', None),
    "newer minor version": (r'"version":"0.10.0"', r"program 0\.10\.0, .*: update the (plugin|package): ide-mcp plugin"),
    "newer major version": (r'"version":"10.0.0"', r"program 10\.0\.0, .*: update the (plugin|package)"),
}


def other_version_is_named(room):
    room.start()
    program = room.home / "other/ide-mcp"
    program.parent.mkdir()
    for name, (member, message) in VERSIONS.items():
        def act(member=member, message=message):
            program.write_text(f"#!/bin/sh\n{PROGRAM} sidecar | sed -u 's/\"version\":\"[^\"]*\"/{member}/'\n")
            program.chmod(0o755)
            room.restart(*room.keys.sidecar(str(program), "sidecar"))
            room.lock()
            if message:
                return room.shows(message)
            time.sleep(1)
            room.hides("update the", 0)
        of_row(name, act)
    program.write_text(f"#!/bin/sh\nsed -u 's/\"protocol\":1/\"protocol\":2/' | {PROGRAM} sidecar\n")
    room.restart()
    room.shows(r"update\s+ide-mcp \d")


def own_view_decides_and_closes(room):
    """The view of the test accepts the text `yes`, and writes a file when it is closed."""
    room.start()
    room.restart(*room.keys.OWN_VIEW)
    room.lock()
    agent = room.play(room.propose("a.txt", "yes"), outcome("openDiff", texts("FILE_SAVED", "mine")))
    agent.done()
    agent = room.play(room.propose("b.txt", "perhaps"), {"sleep": 20000})
    room.has("shown", "perhaps\n")
    agent.process.kill()
    room.has("closed", "b.txt\n")


def pause_survives_stop_and_start(room):
    room.start()
    room.type(*room.keys.PAUSE)
    room.shows("paused")
    room.restart()
    room.lock()
    room.shows("paused")
    room.type(*room.keys.SELECT_FIRST)
    time.sleep(0.5)
    if "𝒳b" in room.run("call", "getLatestSelection", "{}"):
        raise Failure("the agent has the selection")
    room.type(*room.keys.RESUME)
    room.hides("paused")
    room.type(*room.keys.SELECT_FIRST)
    await_("the agent has the selection", lambda: "𝒳b" in room.run("call", "getLatestSelection", "{}"))


def command_without_a_sidecar_is_not_typed_into_a_terminal(room):
    """Without a sidecar, a command for it is dropped."""
    room.start()
    room.type(*room.keys.STOP)
    room.no_lock()
    room.type(*[key.replace("COMMAND", "cat") for key in room.keys.TERMINAL])
    room.type(*room.keys.PAUSE_IN_TERMINAL)
    time.sleep(0.5)
    if "cmd" in room.screen():
        raise Failure("the command is in the terminal")


def odd_line_of_the_sidecar_is_ignored(room):
    """A line that is not JSON, such as a login message, arrives together with the first event."""
    room.start()
    room.write("login", 'ide-mcp sidecar | { read -r line; printf "Welcome\\n%s\\n" "$line"; cat; }\n')
    room.restart(*room.keys.sidecar("sh", "login"))
    room.lock()
    room.shows(room.keys.DETACHED)
    room.hides("Error detected")
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.done()


def half_a_surrogate_pair_loses_no_event(room):
    room.start()
    agent = room.play(
        {"notify": "odd", "params": {"x": "\\ \ud83d \ud83d\ude00 \ude00"}},
        room.propose("a.txt", "new\n"),
        outcome("openDiff", texts("FILE_SAVED", "new\n")),
    )
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.done()


def two_agents_wait_for_consent(room):
    room.start()
    room.restart(*room.keys.CONSENT)
    room.lock()
    for _ in range(2):
        room.play({"sleep": 20000})
        time.sleep(1)
    for _ in range(2):
        room.shows(room.question())
        time.sleep(1)
        room.type(*room.keys.YES)
        time.sleep(1.5)
    room.shows("⧉ ide-mcp-agent [^,]+, ide-mcp-agent")


def consent_is_for_the_agent_of_the_question(room):
    """The next sidecar numbers its agents from 1 again."""
    room.start()
    room.restart(*room.keys.LATE_CONSENT)
    room.lock()
    agent = room.play({"sleep": 20000})
    room.shows(room.question())
    room.lose_sidecar()
    agent.process.kill()
    room.play({"sleep": 20000})
    time.sleep(1.5)
    room.type(*room.keys.FIRST_YES)
    time.sleep(1.5)
    room.shows(room.keys.DETACHED)
    room.type(*room.keys.SECOND_YES)
    room.shows(room.keys.ATTACHED)


def question_ends_with_its_sidecar(room):
    room.start()
    room.restart(*room.keys.CONSENT)
    room.lock()
    agent = room.play({"sleep": 20000})
    room.shows(room.question())
    os.kill(room.sidecar(), signal.SIGKILL)
    agent.process.kill()
    room.hides(room.question())


def waiting_question_ends_with_its_sidecar(room):
    room.start()
    room.restart(*room.keys.CONSENT)
    room.lock()
    room.type(*room.keys.BEGIN_TYPING)
    agent = room.play({"sleep": 20000})
    time.sleep(2)
    room.lose_sidecar()
    agent.process.kill()
    room.type(*room.keys.END_TYPING)
    room.shows("typed")
    time.sleep(3)
    if re.search(room.question(), room.screen()):
        raise Failure("the person is asked about an agent that is gone")


def question_keeps_the_order_of_events(room):
    """The editor reads a question and a proposal together, and the end of the proposal while it asks the question."""
    room.start()
    room.restart(*room.keys.CONSENT)
    room.lock()
    first = room.play(pushed("selection_changed", {"text": "𝒳b"}), {"sleep": 2500}, room.propose("a.txt", "new\n"),
                      {"sleep": 20000})
    room.shows(room.question())
    time.sleep(1)  # the person reads
    room.type(*room.keys.YES)
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.SELECT_FIRST)
    first.steps(1)
    room.type(*room.keys.BUSY_SOON)
    time.sleep(1.2)
    room.play({"sleep": 20000})
    room.shows(room.question())
    first.process.kill()
    time.sleep(1)
    room.type(*room.keys.YES)
    room.shows(room.keys.ATTACHED)
    time.sleep(1)
    room.hides(room.proposal(), within=1)


def ended_proposal_takes_no_typed_keys(room):
    """If the view closed at once, the next keys would go into a file."""
    room.start()
    room.type_into_ended_proposal()
    room.shows(room.keys.ENDED)
    room.hides(room.proposal("b.txt"))
    room.type(*room.keys.END_INSERTING)
    room.hides(room.keys.ENDED)
    agent = room.play(
        {"call": "checkDocumentDirty", "arguments": {"filePath": room.path("a.txt")}},
        outcome("checkDocumentDirty", texts({"isDirty": False})),
    )
    agent.done()


def ended_proposal_is_not_accepted(room):
    room.start()
    room.type_into_ended_proposal()
    room.type(*room.keys.ACCEPT_WHILE_TYPING)
    room.shows("proposal has ended")
    time.sleep(0.5)  # longer than the editor takes to show its mode over the message
    room.shows("proposal has ended", within=0)


def status_after_a_gap_ends_views_and_agents(room):
    """The test makes up a gap, and the status that follows it."""
    room.start()
    room.write("events", "")
    room.write("gaps", "tail -f --pid=$$ events &\nexec ide-mcp sidecar\n")
    room.restart(*room.keys.sidecar("sh", "gaps"))
    room.lock()

    def status(*agents, **members):
        event = {"event": "status", "agents": agents, "calls": [], "paused": False, **members}
        with open(room.path("events"), "a", encoding="utf-8") as events:
            events.write('{"event":"gap","events":1,"calls":0}\n' + json.dumps(event) + "\n")

    room.play(room.propose("a.txt", "new\n"), {"sleep": 60000})
    room.shows(room.proposal())
    agent = {"conn": 1, "client": "first", "version": "1", "model": False, "consent": False}
    status(agent, calls=[1])
    time.sleep(1)
    room.shows(room.proposal())
    status({**agent, "conn": 2, "client": "second"}, {**agent, "conn": 3, "client": "model", "model": True},
           {**agent, "conn": 4, "client": "asked", "consent": True}, paused=True)
    room.hides(room.proposal())
    room.shows("⧉ second 1 .paused")
    status()
    room.shows(room.keys.DETACHED)
    room.hides("paused")


def file_opens_in_the_background(room):
    room.write("lines.txt", "hidden\nlines\n")
    room.start()
    path = room.path("lines.txt")
    agent = room.play(
        {"call": "openFile", "arguments": {"filePath": path, "makeFrontmost": False}},
        outcome("openFile", texts({"success": True, "filePath": path, "lineCount": 2})),
    )
    agent.done()
    if "lines.txt" not in room.run("call", "getOpenEditors", "{}"):
        raise Failure("the file is not open")
    room.shows("second")
    room.hides("hidden")


def late_answer_is_for_the_sidecar_that_asked(room):
    """The next sidecar numbers its calls from 1 again."""
    room.start()
    room.restart(*room.keys.SLOW_TOOL)
    room.lock()
    agent = room.spawn("call", "slow")
    room.has("asked", "yes")
    room.lose_sidecar()
    agent.process.kill()
    if "answer 2" not in (answer := room.run("call", "slow")):
        raise Failure(f"the answer to another call: {answer}")


def question_ends_with_its_agent(room):
    room.start()
    room.restart(*room.keys.LATE_CONSENT)
    room.lock()
    for _ in range(2):
        agent = room.play({"sleep": 20000})
        room.shows(room.question())  # the second question comes 10 s after the end of the first
        time.sleep(1)  # the person reads
        agent.process.kill()
        time.sleep(1)
        room.type(*room.keys.FIRST_YES)
        time.sleep(1)
        room.hides("ide-mcp: ")
    room.play({"sleep": 20000})
    room.shows(room.question())  # again 10 s after the end of the last question
    time.sleep(1)  # the person reads
    room.type(*room.keys.SECOND_YES)
    room.shows(room.keys.ATTACHED)


def waiting_question_ends_with_its_agent(room):
    room.start()
    room.restart(*room.keys.CONSENT)
    room.lock()
    room.type(*room.keys.BEGIN_TYPING)
    agent = room.play({"sleep": 20000})
    time.sleep(2)
    agent.process.kill()
    time.sleep(1)
    room.type(*room.keys.END_TYPING)
    room.shows("typed")
    time.sleep(2)
    if re.search(room.question(), room.screen()):
        raise Failure("the person is asked about an agent that is gone")


def problem_of_a_file_that_is_not_loaded_has_its_column(room):
    room.write("b.txt", "𝒳x\n")
    room.start()
    room.type(*room.keys.PROBLEM_OF_A_FILE_THAT_IS_NOT_LOADED)
    await_("the problem has its column",
           lambda: '"character":2' in room.run("call", "getDiagnostics", "{}").replace(" ", ""))


def mention_without_a_file_is_a_warning(room):
    room.start()
    for keys in [room.keys.NO_FILE, room.keys.REMOTE_FILE]:
        room.type(*keys, *room.keys.MENTION_FILE)
        room.shows("[nN]o file")


def mention_without_an_agent_says_that_it_waits(room):
    room.start()
    room.type(*room.keys.MENTION_FILE)
    room.shows("[nN]o agent is attached: the mention waits up to 30 s for one")
    agent = room.play(pushed("at_mentioned", {"filePath": room.path("a.txt")}))
    agent.done()


def buffer_without_a_file_is_not_a_selection(room):
    room.start()
    for keys in [room.keys.NO_FILE, room.keys.REMOTE_FILE]:
        room.type(*keys)
        time.sleep(0.5)
        found = room.run("call", "getCurrentSelection", "{}")
        if "host" in found or "a.txt" in found:
            raise Failure(f"a selection without a file: {found}")


def written_copy_decides_nothing(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    room.shows(room.proposal())
    room.type(*room.keys.WRITE_COPY)
    room.has("copy.txt", "new\n")
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.done()


def proposal_leaves_no_buffer(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff"))
    room.shows(room.proposal())
    room.type(*room.keys.REJECT)
    agent.done()
    room.type(*room.keys.COUNT_BUFFERS)
    room.shows("1 listed")


def failed_make_names_no_other_file(room):
    room.start()
    room.type(*room.keys.FAILED_MAKE)
    await_("the problem", lambda: "bad thing" in room.run("call", "getDiagnostics", "{}"))
    files = json.loads(room.run("call", "getDiagnostics", "{}"))
    problems = [(file["uri"].split("/")[-1], [item["message"] for item in file["diagnostics"]]) for file in files]
    if problems != [("a.txt", ["bad thing"])]:
        raise Failure(f"the problems: {problems}")


def status_before_the_sidecar_listens(room):
    room.start()
    room.restart(*room.keys.sidecar("sleep", "60"))
    time.sleep(1)
    room.type(*room.keys.STATUS)
    room.shows(room.keys.STATUS_WITHOUT_PORT)


def answer_that_is_no_json_is_a_failure(room):
    room.start()
    room.restart(*room.keys.NO_JSON_TOOL)
    room.lock()
    agent = room.play({"call": "theme"}, outcome("theme", {"isError": True}))
    agent.done()


def late_answer_is_for_the_process_that_asked(room):
    """The next sidecar numbers its calls from 1 again."""
    room.start()
    room.restart(*room.keys.LATE_TOOL)
    room.lock()
    room.play({"call": "theme"}, {"sleep": 20000})
    room.has("ended", "")
    time.sleep(1)
    if (room.folder / "sent").exists():
        raise Failure("the answer is for a call of the next process")


def proposal_waits_for_the_rest_of_a_command(room):
    room.start()
    for begin, end in room.keys.HALF_COMMANDS:
        room.type(*begin)
        agent = room.play(room.propose("b.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
        time.sleep(1)
        room.shows(room.keys.NOTICE)
        room.type(*end)
        room.shows(room.proposal("b.txt"))
        room.type(*room.keys.ACCEPT)
        agent.done()
        room.hides(room.proposal("b.txt"))


def own_view_that_fails_to_close_does_not_block_the_end(room):
    room.start()
    room.restart(*room.keys.VIEW_THAT_FAILS_TO_CLOSE)
    room.lock()
    agent = room.play(room.propose("b.txt", "perhaps"), {"sleep": 20000})
    room.has("shown", "perhaps\n")
    room.lose_sidecar()
    agent.process.kill()
    room.shows("ide-mcp: .*no end")


def command_window_delays_views(room):
    """Views open and close only after the command-line window has closed. A dead sidecar is started again before that."""
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), {"sleep": 20000})
    room.shows(room.proposal())
    room.type(*room.keys.BEGIN_COMMAND_WINDOW)
    room.shows(room.keys.COMMAND_WINDOW)
    agent.process.kill()
    time.sleep(1)
    room.lose_sidecar()
    room.hides("E11")
    agent = room.play(room.propose("b.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    room.shows(room.keys.NOTICE)
    room.type(*room.keys.END_COMMAND_WINDOW)
    room.hides(room.proposal("a.txt"))
    room.hides(room.keys.ENDED)
    room.type(*room.keys.ABANDON)  # the next proposal waits for a key
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.ACCEPT)
    agent.done()
    room.hides(room.proposal("b.txt"))
    room.shows("second")
    room.hides(room.keys.TABS)


def typed_keys_do_not_answer_a_question(room):
    room.start()
    room.restart(*room.keys.CONSENT)
    room.lock()
    agent = room.play({"sleep": 20000})
    for _ in range(30):
        room.type(*room.keys.TYPED_YES)
        time.sleep(0.1)
    room.shows(room.question())
    room.hides(room.keys.ATTACHED)
    time.sleep(1)
    room.type(*room.keys.YES)
    room.shows(room.keys.ATTACHED)
    agent.process.kill()


def tab_of_an_ended_proposal_hides_no_other(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "new\n")))
    room.shows(room.proposal())
    room.type(*room.keys.OTHER_WINDOW, *room.keys.ACCEPT)
    agent.done()
    room.hides(room.proposal())
    room.type(*room.keys.OTHER_TAB)
    agent = room.play(room.propose("b.txt", "new\n"), {"sleep": 20000})
    room.shows(room.proposal("b.txt"))


def file_is_found_by_the_target_of_its_link(room):
    (room.folder / "link.txt").symlink_to("a.txt")
    room.start("link.txt")
    room.type(*room.keys.INSERT_LINE)
    room.shows("edited")
    agent = room.play(
        {"call": "checkDocumentDirty", "arguments": {"filePath": room.path("a.txt")}},
        outcome("checkDocumentDirty", texts({"success": True, "isDirty": True})),
        {"call": "saveDocument", "arguments": {"filePath": room.path("a.txt")}},
        outcome("saveDocument", texts({"success": True, "saved": True})),
    )
    agent.done()
    room.has("a.txt", "edited\n𝒳bc def\nsecond\nthird\n")
    room.type(*room.keys.CHANGE_PROBLEMS)
    uri = "file://" + room.path("a.txt")
    await_("the target has the problem",
           lambda: json.loads(room.run("call", "getDiagnostics", json.dumps({"uri": uri})))[0]["diagnostics"])


def writing_all_elsewhere_accepts_nothing(room):
    room.start()
    agent = room.play(room.propose("a.txt", "new\n"), outcome("openDiff", texts("FILE_SAVED", "edited\nnew\n")))
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE, *room.keys.OTHER_TAB)
    room.shows("second")
    room.type(*room.keys.WRITE_ALL)
    room.shows("in its own tab")
    room.type(*room.keys.CLOSE_MESSAGE, *room.keys.OTHER_TAB)
    room.shows(room.proposal())
    room.type(*room.keys.ACCEPT)
    agent.done()


ALL = [value for name, value in list(globals().items()) if callable(value) and value.__module__ == "edges"]
