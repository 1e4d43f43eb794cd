"""What a person does only in Vim: kinds of terminals, file trees of plugins, layouts, and the tools for a model."""

import json
import os
import re
import subprocess
import time

from hand import RUNS, Hand, paste, proposes
from hostile import RawAgent, is_scenario, of_row
from run import ROOT, Failure, await_

ALE = os.environ.get("IDE_MCP_ALE", "/usr/share/vim-ale")  # where Debian has it


def script(room, *lines):
    """Adds lines to the start of Vim."""
    (room.home / ".vim").mkdir(exist_ok=True)
    with open(room.home / ".vim/plugin.vim", "a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    room.environment["VIMINIT"] = f"source {room.home}/.vim/vimrc | source {room.home}/.vim/plugin.vim"


def evaluated(room, expression):
    """Returns the value of an expression of Vim."""
    room.type("<Escape>", f":call writefile([json_encode({expression})], '{room.home}/value')", "<Enter>")
    value = room.home / "value"
    await_(f"{expression} has a value", lambda: value.exists() and value.read_text().endswith("\n"))
    found = json.loads(value.read_text())
    value.unlink()
    return found


def answer_of(room, tool, **arguments):
    """Returns the answer of a tool: an object, or the message of a failure."""
    answer = room.run("call", tool, json.dumps(arguments))
    return json.loads(answer) if answer.startswith("{") else answer


# --- The plugin as a whole


def every_function_compiles(room):
    """Vim compiles a function when it is first called, so an error could stay hidden for years."""
    command = room.keys.command(ROOT, room.home, "a.txt")[0]
    found = sorted(room.home.rglob("autoload/**/*.vim"))
    if len(found) < 10:
        raise Failure(f"the files: {found}")
    for path in found:
        with open(path, "a", encoding="utf-8") as file:
            file.write("defcompile\n")
    lines = [f"try | source {path} | catch | call writefile(['{path.name}: ' .. v:exception], 'faults', 'a') | endtry"
             for path in found]
    room.write("check.vim", "\n".join([f"set runtimepath^={next(room.home.rglob('autoload')).parent}", *lines, "qa!"]) + "\n")
    subprocess.run([command, "-N", "-u", "NONE", "-es", "-S", "check.vim"], cwd=room.folder, env=room.environment,
                   stdin=subprocess.DEVNULL, timeout=60, check=False)
    if (faults := room.folder / "faults").exists():
        raise Failure(faults.read_text())


def nothing_is_mapped_by_itself(room):
    room.start()
    maps = evaluated(room, "split(execute('map') .. execute('map!') .. execute('tmap'), '\\n')")
    if found := [line for line in maps if "IdeMcp" in line and "<Plug>(ide-mcp-" not in line]:
        raise Failure(f"mapped: {found}")


def maps_do_what_commands_do(room):
    script(room, "nmap ,t <Plug>(ide-mcp-toggle)", "tmap <C-g> <Plug>(ide-mcp-toggle)", "xmap ,s <Plug>(ide-mcp-send)",
           "xmap ,m <Plug>(ide-mcp-mention)", "nmap ,s <Plug>(ide-mcp-send)", "nmap ,f <Plug>(ide-mcp-focus)",
           "tmap <C-f> <Plug>(ide-mcp-focus)", "nmap ,y <Plug>(ide-mcp-accept)")
    hand = Hand(room)
    room.type(",t")
    first = hand.terminal()
    room.shows(RUNS)
    room.type("<C-f>", "ggVj,s")
    lines = paste("𝒳bc def\nsecond")
    hand.has_typed(first, *lines)
    room.type(",s", "go on", "<Enter>")
    hand.has_typed(first, *(one + two + b"\r" for one in lines for two in paste("go on")))
    room.type(",f", "<C-g>")
    room.hides(RUNS)
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type("ggV,m")
    await_("the line is mentioned", lambda: agent.lines == [[0, 0]])
    room.type("2,t")
    second = hand.terminal(2)
    room.shows("claude @2")
    call = agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    room.type("<Reading>", ":tabprevious | wincmd t", "<Enter>", ",y")
    if "FILE_SAVED" not in (answer := agent.answer(call)):
        raise Failure(answer)
    if first["pid"] == second["pid"]:
        raise Failure("one terminal")


def user_autocommands_fire(room):
    names = ["Listening", "Connected", "Paused", "Resumed", "Proposal", "Decided", "Closed"]
    script(room, *(f"autocmd User IdeMcp{name} call writefile([json_encode(extend(#{{name: '{name}'}}, g:ide_mcp_event))],"
                   " 'fired', 'a')" for name in names), "autocmd User IdeMcpProposal throw 'wrong'")
    room.start()
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type(*room.keys.PAUSE)
    room.shows("paused")
    room.type(*room.keys.RESUME)
    room.hides("paused")
    call = agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.REJECT)
    agent.answer(call)
    agent.end()
    room.shows(room.keys.DETACHED)
    fired = [json.loads(line) for line in (room.folder / "fired").read_text().splitlines()]
    proposal = {"call": fired[4].get("call"), "conn": 1, "client": "hostile 1", "path": room.path("b.txt"), "label": "b.txt",
                "outside": False}
    expected = [{"port": int(room.lock().stem)}, {"conn": 1, "client": "hostile 1"}, {}, {}, proposal,
                {**proposal, "verdict": "reject"}, {"conn": 1, "client": "hostile 1"}]
    if fired != [{"name": name, **data} for name, data in zip(names, expected)]:
        raise Failure(f"fired: {fired}")
    room.type(":messages", "<Enter>")
    room.shows("User IdeMcpProposal: wrong")
    room.type("<Enter>")
    agent = room.play(room.propose("b.txt", "new\n"), {"sleep": 20000})
    room.shows(room.proposal("b.txt"))
    agent.process.kill()
    await_("the event of the ended proposal", lambda: '"withdrawn"' in (room.folder / "fired").read_text())
    room.shows(room.keys.DETACHED)
    room.play({"sleep": 20000})
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.STOP)
    await_("the event of each agent that ended", lambda: (room.folder / "fired").read_text().count('"Closed"') == 3)


def doctor_shows_its_findings(room):
    hand = Hand(room)
    hand.run("doctor")
    room.shows("^ok .* the sidecar listens on port " + room.lock().stem)
    room.shows("^problem .*no agent is attached")
    room.shows(r"^ok .*`:IdeMcp open` starts .*/claude")
    room.shows("^ide-mcp doctor:")
    room.shows("^ok .*CLAUDE_CODE_SSE_PORT names \"Vim\" on port " + room.lock().stem)
    if evaluated(room, "bufname()") != "a.txt":
        raise Failure("the doctor has taken the focus")
    hand.run("stop")
    hand.run("doctor")
    room.shows("^problem .*the sidecar does not listen: `:IdeMcp start`")
    (room.home / "commands/claude").unlink()
    for keys, problem in [([":let $PATH = '/usr/bin'", "<Enter>"], "ide-mcp is not in PATH: see `:help ide-mcp-program`"),
                          (room.keys.sidecar("none-such", "sidecar"), "none-such is not in PATH: see `:help ide-mcp-options`")]:
        room.type(*keys, *room.keys.run("doctor"))
        room.shows(f"^problem  {problem}")
        room.shows("^problem .*`:IdeMcp open` finds no claude: install it, or name the agent")


def doctor_asks_for_no_consent(room):
    """If it did, the question about a real agent would come 10 s later."""
    room.start()
    room.restart(*room.keys.CONSENT, *room.keys.set_option("log", "debug"))
    room.lock()
    room.shows(room.keys.DETACHED)
    room.type(*room.keys.run("doctor"))
    room.shows("^ide-mcp doctor:$")
    log = evaluated(room, "execute('IdeMcp log') .. join(getline(1, '$'))")
    if '"listening"' not in log or '"consent"' in log:
        raise Failure(log)


def log_is_bounded(room):
    """Agents can send long messages that it contains."""
    room.start()
    event = room.made_up_events()
    room.restart(*room.keys.set_option("log", "debug"))
    room.lock()
    for number in range(1200):
        event("problem", conn=1, message=f"number {number}\x1b[31m " + "x" * 5000)
    await_("the last event is there",
           lambda: "number 1199" in evaluated(room, "execute('IdeMcp log') .. getline('$')"))
    lines = evaluated(room, "getline(1, '$')")
    if len(lines) != 1000 or max(map(len, lines)) > 500 or not all(map(str.isprintable, lines)):
        raise Failure(f"{len(lines)} lines, of at most {max(map(len, lines))} characters")


# --- The terminal


def terminal_stands_at_its_side(room):
    """At the side that the modifiers of the command say, or else the option."""
    hand = Hand(room)
    rows = {
        "right": ("", "right", lambda row, column: row == 1 and column > 60),
        "left": ("", "left", lambda row, column: row == 1 and column == 1),
        "above": ("", "above", lambda row, column: row == 1 and column == 1),
        "below": ("", "below", lambda row, column: row > 10 and column == 1),
        "modifiers": ("vertical botright ", "below", lambda row, column: row == 1 and column > 50),
        "a modifier for nothing": ("silent ", "left", lambda row, column: (row, column) == (1, 1)),
    }
    for count, (name, (before, layout, is_right)) in enumerate(rows.items(), 1):
        def act(count=count, before=before, layout=layout, is_right=is_right):
            room.type(*room.keys.set_option("terminal", {"layout": layout, "size": 0.4}))
            room.type(f":{before}IdeMcp open", "<Enter>")
            hand.terminal(count)
            room.shows(RUNS)
            room.type(*room.keys.LEAVE_TERMINAL)
            place = evaluated(room, "win_screenpos(0) + [winwidth(0), winheight(0)]")
            if not is_right(*place[:2]):
                raise Failure(f"the place: {place}")
            if layout in ("right", "left") and abs(place[2] - 48) > 1:
                raise Failure(f"the width: {place}")
            room.type("i", "<C-d>")
            room.hides(RUNS)
        of_row(name, act)


def terminal_floats(room):
    """Vim cannot open a window from a popup, so the terminal makes room for a proposal, and comes back."""
    hand = Hand(room)
    room.type(*room.keys.set_option("terminal", {"layout": "float"}))
    hand.run("toggle")
    facts = hand.terminal()
    room.shows("[╔+].*claude")
    room.shows(RUNS)
    room.type("x")
    hand.has_typed(facts, b"x")
    for decide in [room.keys.REJECT, room.keys.run("reject")]:
        agent = proposes(room, "b.txt", "new\n", "DIFF_REJECTED", "b.txt")
        room.shows(room.proposal("b.txt"))
        room.hides(RUNS)
        room.type(*decide)
        agent.done()
        room.shows(RUNS)
    room.type("y")
    hand.has_typed(facts, b"xy")
    room.type("<C-w>", ":IdeMcp toggle", "<Enter>")
    room.hides(RUNS)
    room.shows("second")
    hand.run("send hello")
    hand.has_typed(facts, *(b"xy" + text for text in paste("hello")))
    hand.run("focus")
    room.shows(RUNS)
    room.type("<C-w>", ":IdeMcp focus", "<Enter>")
    room.hides(RUNS)
    hand.run("focus")
    room.shows(RUNS)
    room.type("<C-d>")
    room.hides(RUNS)
    hand.run("toggle")
    hand.terminal(2)


def terminal_hides_even_as_the_last_window(room):
    """The window from which the person came is gone."""
    hand = Hand(room)
    hand.run("open")
    hand.terminal()
    room.shows(RUNS)
    room.type(*room.keys.LEAVE_TERMINAL, ":only", "<Enter>")
    room.hides("second")
    hand.run_in_terminal("toggle")
    room.hides(RUNS)
    hand.run("toggle")
    room.shows(RUNS)
    room.type(*room.keys.LEAVE_TERMINAL, ":split a.txt | only | new", "<Enter>")
    hand.run("focus")
    room.shows(RUNS)
    room.type(*room.keys.LEAVE_TERMINAL, ":1close", "<Enter>")
    hand.run_in_terminal("focus")
    if (found := evaluated(room, "bufname()")) != "a.txt":
        raise Failure(f"the focus is in {found}")


def terminals_have_names(room):
    hand = Hand(room)
    hand.run("open")
    hand.terminal()
    hand.run_in_terminal("open @review --continue")
    second = hand.terminal(2)
    if second["arguments"] != ["--continue"]:
        raise Failure(f"the arguments: {second['arguments']}")
    room.shows("claude @review")
    hand.run_in_terminal("open @review --model x")
    room.shows("ide-mcp: .*runs already, without these arguments")
    hand.run_in_terminal("toggle @review")
    room.hides("claude @review")
    room.shows(RUNS)
    hand.run_in_terminal("focus")
    hand.run("send hello")  # goes to the one that was used last
    hand.has_typed(hand.terminals()[0], *paste("hello"))
    room.type(":IdeMcp open @r", "<Tab>")
    room.shows("IdeMcp open @review")


def agents_are_told_apart_after_a_gap(room):
    room.start()
    event = room.made_up_events()
    event("status", agents=[{"conn": 77, "client": "late", "version": "1", "pid": 4711, "model": False, "consent": False,
                             "roots": [{"uri": "file:///w/inner"}]}], calls=[], forms=[], paused=False)
    room.shows("late 1")
    room.type(*room.keys.run("agents"))
    room.shows("late 1, process 4711 in inner")


def mentioned_file_is_not_taken_for_a_terminal(room):
    hand = Hand(room)
    hand.run("open @src/a.txt")
    if (found := hand.terminal()["arguments"]) != ["@src/a.txt"]:
        raise Failure(f"the arguments: {found}")


def wiped_terminal_starts_again(room):
    hand = Hand(room)
    hand.run("open")
    hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("toggle")
    room.type(":execute 'bwipeout!' term_list()[0]", "<Enter>", *room.keys.run("toggle"))
    hand.terminal(2)
    room.shows(RUNS)


def agents_of_the_same_program_are_told_apart(room):
    room.start()
    room.type(*room.keys.set_option("terminal", {"command": ["ide-mcp", "agent", "watch"]}))
    room.type(*room.keys.run("open"))
    room.shows(room.keys.ATTACHED)
    room.type(*room.keys.LEAVE_TERMINAL, *room.keys.run("open @second"))
    room.shows("ide-mcp-agent.*, ide-mcp-agent")
    room.type(*room.keys.LEAVE_TERMINAL, *room.keys.run("toggle"))
    outside = room.play({"notify": "ide_connected", "params": {"pid": 4711}}, {"sleep": 20000})
    room.shows("ide-mcp-agent.*, ide-mcp-agent.*, ide-mcp-agent")
    room.type(*room.keys.run("agents"))
    for place in ["terminal @1", "terminal @second", "process 4711"]:
        room.shows(f"ide-mcp-agent .*, {place}")
    outside.process.kill()


def failed_agent_leaves_its_output(room):
    hand = Hand(room)
    (room.home / "commands/claude").write_text("#!/bin/sh\necho no key was found\nexit 3\n")
    hand.run("open")
    room.shows("ide-mcp: the agent ended with status 3")
    room.shows("no key was found")


def vim_ends_with_a_terminal(room):
    hand = Hand(room)
    hand.run("open")
    facts = hand.terminal()
    hand.run_in_terminal("toggle")
    room.type(":qa", "<Enter>")
    room.no_lock()
    await_("the agent has ended", lambda: not os.path.exists(f"/proc/{facts['pid']}"))


def terminal_waits_for_the_sidecar(room):
    """An agent that started before that would not find Vim. The terminal gets the first key, although no key has opened it."""
    hand = Hand(room)
    hand.run("stop")
    room.no_lock()
    hand.run("open")
    facts = hand.terminal()
    if facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure("the environment lacks the port of the editor")
    room.shows(RUNS)
    room.type("j", "x")
    hand.has_typed(facts, b"jx")


def folder_of_the_agent_is_chosen(room):
    (room.folder / "inner/deep").mkdir(parents=True)
    (room.folder / ".git").write_text("gitdir: elsewhere\n")  # as git has it in a worktree
    script(room, "func Deep()", "  return getcwd() .. '/deep'", "endfunc")
    hand = Hand(room)
    room.type(":cd inner", "<Enter>")
    rows = {"'cwd'": "inner", "'git'": "", "function('Deep')": "inner/deep"}
    for count, (choice, folder) in enumerate(rows.items(), 1):
        def act(count=count, choice=choice, folder=folder):
            room.type("<Escape>", f":let g:ide_mcp = #{{terminal: #{{folder: {choice}}}}}", "<Enter>")
            hand.run("open")
            if (found := hand.terminal(count)["folder"]) != str(room.folder / folder):
                raise Failure(f"the folder: {found}")
            room.shows(RUNS)
            room.type("<C-d>")
            room.hides(RUNS)
        of_row(choice, act)
    refused = [("{-> '/none'}", "the folder of the agent is not there: /none"), ("{-> none}", "E121: .*none")]
    for choice, message in refused:
        room.type("<Escape>", f":let g:ide_mcp = #{{terminal: #{{folder: {choice}}}}}", "<Enter>")
        hand.run("open")
        room.shows(f"ide-mcp: .*{message}")


def terminal_of_a_command_is_outside_of_vim(room):
    """Such as a window of kitty. Its agent gets the environment, and no shell sees the arguments."""
    hand = Hand(room)
    (room.home / "commands/window").write_text(
        "#!/bin/bash\nshift 2\nexec script -qc \"$(printf '%q ' \"$@\")\" /dev/null\n")
    (room.home / "commands/window").chmod(0o755)
    room.type("<Escape>", ":let g:ide_mcp = #{terminal: #{provider: ['window', '--cwd', '{folder}', '{command}']}}", "<Enter>")
    hand.run("open --model 'a b' ;touch")
    facts = hand.terminal()
    if facts["arguments"] != ["--model", "a b", ";touch"] or facts["folder"] != str(room.folder):
        raise Failure(f"{facts['arguments']} in {facts['folder']}")
    if facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure("the environment lacks the port of the editor")
    hand.run("send hello")
    room.shows("ide-mcp: .*no terminal")


def terminal_of_a_function(room):
    """The function, as a terminal plugin would have it, returns the number of a buffer, or functions."""
    script(room, "func Floating(terminal)", "  botright new",
           "  return term_start(a:terminal.command, #{curwin: 1, cwd: a:terminal.folder})", "endfunc",
           "func Note(line)", "  call writefile([a:line], 'called', 'a')", "endfunc",
           "func Foreign(terminal)", "  call Note(join(a:terminal.command) .. ' ' .. a:terminal.name)",
           "  return #{Show: {-> Note('show')}, Hide: {-> Note('hide')}, IsShown: {-> v:true},"
           " Type: {text, is_sent -> Note(text .. is_sent)}, Interrupt: {-> Note('interrupt')}}", "endfunc")
    hand = Hand(room)
    room.type("<Escape>", ":let g:ide_mcp = #{terminal: #{provider: function('Floating')}}", "<Enter>")
    hand.run("open --continue")
    facts = hand.terminal()
    if facts["arguments"] != ["--continue"] or facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure(f"{facts['arguments']}")
    room.shows(RUNS)
    hand.run_in_terminal("toggle")
    room.hides(RUNS)
    hand.run("send hello")
    hand.has_typed(facts, *paste("hello"))
    room.type("<Escape>", ":let g:ide_mcp = #{terminal: #{provider: function('Foreign')}}", "<Enter>")
    hand.run("open @other -c")
    hand.run("toggle @other")
    hand.run("send two words", bang=True)
    hand.run("interrupt")
    expected = ["claude -c @other", "show", "hide", "two wordsv:true", "interrupt"]
    called = room.folder / "called"
    await_("the functions are called", lambda: called.exists() and len(called.read_text().splitlines()) == len(expected))
    if (found := called.read_text().splitlines()) != expected:
        raise Failure(f"called: {found}")
    room.type(":let g:ide_mcp = #{terminal: #{provider: {_ -> {}}}}", "<Enter>", *room.keys.run("open @window"))
    for command, what in [("send hello", "text"), ("interrupt", "keys")]:
        hand.run(command)
        room.shows(f"ide-mcp: this terminal takes no {what}")


def terminal_in_tmux(room):
    room.environment |= {"TMUX": f"{room.home}/tmux,1,0", "TMUX_PANE": "%0"}
    hand = Hand(room)

    def panes():
        """Returns the panes beside Vim."""
        return [pane for pane in room.tmux("list-panes", "-t", "%0", "-F", "#{pane_id}").split() if pane != "%0"]

    def vim(*keys):
        room.tmux("select-pane", "-t", "%0")
        room.type(*keys)

    room.tmux("set-environment", "-g", "HOME", str(room.home))
    room.type(*room.keys.set_option("terminal", {"provider": "tmux"}))
    hand.run("open --continue 'a b;'")  # tmux takes a semicolon at the end of a word as the end of its command
    facts = hand.terminal()
    if facts["arguments"] != ["--continue", "a b;"] or facts["folder"] != str(room.folder):
        raise Failure(f"{facts['arguments']} in {facts['folder']}")
    if facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure("the environment lacks the port of the editor")
    await_("the pane is there", lambda: len(panes()) == 1)
    vim(*room.keys.run("send hello | you; $x\\;"))
    hand.has_typed(facts, *paste("hello | you; $x;"))
    vim(*room.keys.run("send go", bang=True))
    typed = [one + two + b"\r" for one in paste("hello | you; $x;") for two in paste("go")]
    hand.has_typed(facts, *typed)
    vim(*room.keys.run("interrupt"))
    hand.has_typed(facts, *(text + b"\x1b" for text in typed))
    for count in (0, 1, 0):
        vim(*room.keys.run("toggle"))
        await_(f"{count} panes beside Vim", lambda count=count: len(panes()) == count)
    vim(*room.keys.run("focus"))
    await_("the pane has the focus", lambda: len(panes()) == 1 and
           room.tmux("display-message", "-p", "#{pane_id}").strip() == panes()[0])
    room.type("<C-d>")
    await_("the agent has ended", lambda: not panes())
    vim(*room.keys.run("toggle"))
    hand.terminal(2)
    await_("another pane is there", lambda: len(panes()) == 1)


def semicolons_of_the_agent_do_not_end_the_tmux_command(room):
    """A semicolon at the end of a word ends a command of tmux. One of the person's should do so, one of the agent's must not."""
    hand = Hand(room)
    words = ["tmux", "-S", f"{room.home}/tmux", "split-window", "-e", f"HOME={room.home}", "-c", "{folder}", "{command}",
             ";", "set-environment", "-g", "BY_PERSON", "yes"]
    room.type(*room.keys.set_option("terminal", {"provider": words}))
    hand.run("open --model 'a;b;' c")
    if (facts := hand.terminal())["arguments"] != ["--model", "a;b;", "c"] or facts["folder"] != str(room.folder):
        raise Failure(f"{facts['arguments']} in {facts['folder']}")
    await_("the command of the person has run", lambda: "BY_PERSON=yes" in room.tmux("show-environment", "-g"))


def sent_text_is_not_in_the_arguments_of_tmux(room):
    """All users can read the arguments of a running command, and their size is limited."""
    room.environment |= {"TMUX": f"{room.home}/tmux,1,0", "TMUX_PANE": "%0"}
    text = "secret " * 20_000
    room.write("a.txt", text + "\n")
    hand = Hand(room)
    room.write("tmux", f'#!/bin/sh\necho "$@" >>{room.path("words")}\nexec /usr/bin/tmux "$@"\n')
    (room.folder / "tmux").chmod(0o755)
    (room.folder / "tmux").rename(room.home / "commands/tmux")
    room.tmux("set-environment", "-g", "HOME", str(room.home))
    room.type(*room.keys.set_option("terminal", {"provider": "tmux"}))
    hand.run("open")
    facts = hand.terminal()
    room.tmux("select-pane", "-t", "%0")
    hand.run("send", lines=[1, 1])
    hand.has_typed(facts, *paste(text + "\n"), *paste(text))
    if "secret" in (room.folder / "words").read_text():
        raise Failure("the text is in the arguments")


def terminal_calls_no_function_of_vim(room):
    """A file that the agent prints can ask Vim to call a function whose name begins with `Tapi_`."""
    script(room, "func Tapi_Write(buffer, words)", "call writefile(a:words, 'called')", "endfunc")
    hand = Hand(room)
    (room.home / "commands/claude").write_text(
        "#!/bin/sh\nprintf '\\033]51;[\"call\",\"Tapi_Write\",[\"x\"]]\\007printed\\n'; exec sleep 60\n")
    hand.run("open")
    room.shows(r"\bprinted")
    time.sleep(0.3)
    if (room.folder / "called").exists():
        raise Failure("the function was called")


def terminal_does_not_keep_the_tab_of_a_proposal(room):
    """The person has shown it there, and the tab closes with the proposal."""
    hand = Hand(room)
    hand.run("open")
    hand.terminal()
    hand.run_in_terminal("focus")
    for decide in [*map(room.keys.run, ["accept", "reject"]), [":q!", "<Enter>"]]:
        agent = RawAgent(room)
        call = agent.propose(room.path("b.txt"), "new\n")
        room.shows(room.proposal("b.txt"))
        room.type("<Reading>", *room.keys.run("focus"))
        room.shows(RUNS)
        hand.run_in_terminal("focus")
        room.type(*decide)
        agent.answer(call)
        room.hides(room.proposal())
        room.shows("second")
        room.shows(RUNS)
        if (found := evaluated(room, "[tabpagenr('$'), winnr('$'), bufname()]")) != [1, 2, "a.txt"]:
            raise Failure(f"tabs, windows and buffer: {found}")
        agent.end()


def wrong_command_is_refused(room):
    """No part of it is executed, not even a second command after a bar."""
    hand = Hand(room)
    for words, message in [("stop | IdeMcp start", r"stop takes no arguments: \| IdeMcp start"),
                           ("opne", "there is no command opne: `:help :IdeMcp`"),
                           ("send", "nothing is sent"), ("open 'a", "a quotation mark is not closed")]:
        hand.run(words)
        room.shows(f"ide-mcp: {message}")
    if hand.terminals() or not room.sidecars():
        raise Failure("a part of a command is executed")
    hand.run("toggle", lines=(3,))
    hand.terminal()
    room.shows("claude @3")


def status_stands_in_airline(room):
    """In the airline that Debian has."""
    page = (ROOT / "adapters/editors/vim/doc/ide-mcp.txt").read_text()
    script(room, f"set runtimepath^={room.keys.AIRLINE}", *re.search(r"func Airline.*\n.*\n.*\n.*\n.*call Airline\(\)", page)[0].split("\n"))
    room.start()
    room.play({"sleep": 20000})
    room.shows(r"NORMAL .*a\.txt .*⧉ ide-mcp-agent")


def wrong_option_is_named(room):
    hand = Hand(room)
    for name, value, message in [
        ("layout", "unified", "the option layout does not know 'unified', only tab, vertical, horizontal, inline"),
        ("terminal", {"layout": "up"}, "the option terminal.layout does not know 'up'"),
        ("terminal", {"provider": "kitty"}, "the option terminal.provider does not know 'kitty'"),
        ("terminal", "claude", "the option terminal must be a dictionary"),
        ("terminal", {"sise": 0.3}, "the option terminal.sise does not exist"),
        ("focus", "no", "the option focus must be true or false"),
        ("start", 2, "the option start must be true or false"),
        ("layot", "inline", "the option layot does not exist"),
        ("tools", ["files", "symbol"], "the option tools does not know 'symbol', only symbols, references, files"),
    ]:
        def act(name=name, value=value, message=message):
            room.type(*room.keys.set_option(name, value))
            hand.run("doctor")
            room.shows(f"ide-mcp: {re.escape(message)}")
            room.shows(f"^problem  {re.escape(message)}")
            room.type(":let g:ide_mcp = {} | only", "<Enter>")
        of_row(f"{name} {value}", act)
    room.type(":let g:ide_mcp = []", "<Enter>")
    hand.run("doctor")
    room.shows("ide-mcp: g:ide_mcp must be a dictionary")
    room.type(":let g:ide_mcp = {} | only", "<Enter>")
    # It has no effect, and the other options still do.
    room.type(*room.keys.set_option("terminal", {"layout": "up", "size": "big", "command": "cat"}))
    hand.run("open")
    room.shows(r"bc def +\|")  # the terminal is at the right


def wrong_option_is_named_once(room):
    """At the start, a second message would make Vim wait for a key. Each proposal reads the options again."""
    script(room, "let g:ide_mcp = #{layot: 'tab'}")
    room.start()
    agent = proposes(room, "b.txt", "new\n", "DIFF_REJECTED", "b.txt")
    room.shows(room.proposal("b.txt"))
    room.type(*room.keys.REJECT)
    agent.done()
    room.hides(room.proposal(""))
    if (count := evaluated(room, "execute('messages')->count('layot')")) != 1:
        raise Failure(f"it is named {count} times")


def help_has_the_defaults(room):
    page = (ROOT / "adapters/editors/vim/doc/ide-mcp.txt").read_text()
    blocks = re.findall(r"let g:ide_mcp = (#\{.*(?:\n +\\.*)+)", page)
    room.start()
    shown = [evaluated(room, re.sub(r"\n *\\", "", block)) for block in blocks if "start:" in block or "command: 'claude'" in block]
    defaults = evaluated(room, "copy(g:ide_mcp#options#chosen)->filter({_, value -> type(value) != v:t_func})")
    if len(shown) != 2 or {**shown[1], **shown[0]} != defaults:
        raise Failure(f"{shown} are not {defaults}")


# --- Mentions

FERN = """func Node(line)
  return #{_path: getcwd() .. '/' .. a:line}
endfunc
func fern#helper#new()
  return #{sync: #{get_cursor_node: {-> Node(getline('.'))},
    \\ get_selected_nodes: {-> map(copy(get(b:, 'marked', [])), {_, line -> Node(line)})}}}
endfunc
"""
NERDTREE = """let NERDTreeFileNode = {}
func NERDTreeFileNode.GetSelected()
  let line = getline('.')
  return #{path: #{str: {-> getcwd() .. '/' .. line}}}
endfunc
"""


def trees_of_plugins_are_understood(room):
    """By stand-ins with the functions that the help files of fern and NERDTree document. The lines of dirvish are paths."""
    script(room, NERDTREE)
    (room.home / ".vim/autoload/fern").mkdir(parents=True)
    (room.home / ".vim/autoload/fern/helper.vim").write_text(FERN)
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    for name in ["fern", "nerdtree", "dirvish"]:
        def act(name=name):
            folder = f"{room.folder}/" if name == "dirvish" else ""
            room.type("<Escape>", f":enew | setlocal buftype=nofile | call setline(1, ['{folder}a.txt', '{folder}b.txt'])"
                      f" | setfiletype {name}", "<Enter>", "gg")
            rows = [(["j", *hand.room.keys.run("mention")], ["b.txt"]),
                    (hand.room.keys.run("mention", lines=(1, 2)), ["a.txt", "b.txt"])]
            if name == "fern":
                marks = [":let b:marked = ['b.txt', 'a.txt']", "<Enter>"]
                rows.append(([*marks, *hand.room.keys.run("mention")], ["b.txt", "a.txt"]))
            for keys, names in rows:
                agent.mentions.clear()
                room.type(*keys)
                await_(f"{names} are mentioned", lambda names=names: agent.mentions == [room.path(name) for name in names])
        of_row(name, act)


def mention_takes_a_name_literally(room):
    """A path is not a pattern, and `~name` is a home folder only if there is no such file."""
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    (room.home / "own.txt").write_text("x\n")
    for name in ["~root", "#", "%", "a*.txt", "$HOME", "a|b", '"quoted"', "-x", "1", "a 2", "`touch pwned`", "=1+1"]:
        def act(name=name):
            room.write(name, "x\n")
            hand.run(f"mention {name}")
            agent.takes(room.path(name))
        of_row(name, act)
    hand.run("mention ~/own.txt")
    agent.takes(str(room.home / "own.txt"))
    if (room.folder / "pwned").exists():
        raise Failure("a command was executed")


def tree_of_netrw_is_understood(room):
    """In its tree style, with a folder below."""
    (room.folder / "inner").mkdir()
    room.write("inner/deep.txt", "deep\n")
    script(room, "let g:netrw_liststyle = 3")
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type(":Explore", "<Enter>", "/inner", "<Enter>", "<Enter>")
    room.shows("deep.txt")
    room.type("/deep", "<Enter>")
    hand.run("mention")
    await_("the file is mentioned", lambda: agent.mentions == [room.path("inner/deep.txt")])


# --- Proposals


def tab_of_a_proposal_has_a_readable_name(room):
    """Vim would show `i//1/p/a.txt`. A name is not part of the format of the tab line."""
    name = "100%{x}%#Error#.txt"
    room.start()
    for file in ["a.txt", name]:
        agent = proposes(room, file, "new\n", "DIFF_REJECTED", file)
        room.shows(r"^.* " + re.escape(file) + ": proposal")
        if re.search(r"i//", room.screen()):
            raise Failure("the tab has the name of a buffer")
        room.type("gt")
        room.shows("^ ?a.txt .*" + re.escape(file) + ": proposal")
        room.type("gt", *room.keys.REJECT)
        agent.done()
        room.hides("proposal")
        if evaluated(room, "&tabline") != "":
            raise Failure("the tab line stays")
    room.type(":set tabline=mine", "<Enter>")
    agent = proposes(room, "a.txt", "new\n", "DIFF_REJECTED", "a.txt")
    room.shows("^mine")
    room.type(*room.keys.REJECT)
    agent.done()


def hunks_are_taken_one_by_one(room):
    old = "".join(f"line {number}\n" for number in range(30))
    room.write("a.txt", old)
    new = old.replace("line 2\n", "line two\n").replace("line 25\n", "line twenty-five\n")
    room.start()
    for layout in room.keys.LAYOUTS:
        def act(layout=layout):
            room.type(*room.keys.set_option("layout", layout))
            agent = proposes(room, "a.txt", new, "FILE_SAVED", old.replace("line 25\n", "line twenty-five\n"))
            room.shows(room.proposal())
            room.type("gg]cdo", "<Reading>", ":w", "<Enter>")  # the first change is not wanted
            agent.done()
            room.hides(room.proposal())
        of_row(layout, act)


def inline_layout_shows_both(room):
    rows = {
        "a change": ("one\ntwo\nthree\n", "one\n2\nthree\n", "one\ntwo\n2\nthree"),
        "an addition": ("one\nthree\n", "one\ntwo\nthree\n", "one\ntwo\nthree"),
        "a removal": ("one\ntwo\nthree\n", "one\nthree\n", "one\ntwo\nthree"),
        "a removal at the end": ("one\ntwo\nthree\n", "one\n", "one\ntwo\nthree"),
        "two changes": ("a\nb\nc\nd\ne\n", "a\nB\nc\nD\ne\n", "a\nb\nB\nc\nd\nD\ne"),
        "several lines": ("a\nb\nc\nd\n", "a\nx\nd\n", "a\nb\nc\nx\nd"),
        "control characters": ("a\x1b[31mb\n", "x\n", "a [31mb\nx"),
    }
    room.start()
    room.type(*room.keys.set_option("layout", "inline"))
    for name, (old, new, shown) in rows.items():
        def act(old=old, new=new, shown=shown):
            room.write("b.txt", old)
            agent = proposes(room, "b.txt", new, "FILE_SAVED", new)
            room.shows(room.proposal("b.txt"))
            room.shows("^" + " *\n".join(map(re.escape, shown.split("\n"))) + " *$")
            room.type("<Reading>", ":w", "<Enter>")
            agent.done()
            room.hides(room.proposal())
        of_row(name, act)


def inline_layout_follows_the_edits(room):
    """Each key does what it does in a diff, and exactly the differences are marked."""
    old, new = "a\nb\nc\nd\ne\nf\n", "a\nB1\nB2\nc\ne\nf\nG\n"  # a change, a removal, and an addition
    rows = {
        "nothing": ("", "a\nb\nB1\nB2\nc\nd\ne\nf\nG", new),
        "a change": ("do", "a\nb\nc\nd\ne\nf\nG", "a\nb\nc\ne\nf\nG\n"),
        "its last line": ("jdo", "a\nb\nc\nd\ne\nf\nG", "a\nb\nc\ne\nf\nG\n"),
        "no change": ("kdo", "a\nb\nB1\nB2\nc\nd\ne\nf\nG", new),
        "undo": ("dou", "a\nb\nB1\nB2\nc\nd\ne\nf\nG", new),
        "redo": ("dou\x12", "a\nb\nc\nd\ne\nf\nG", "a\nb\nc\ne\nf\nG\n"),
        "a removal": ("]cdo", "a\nb\nB1\nB2\nc\nd\ne\nf\nG", "a\nB1\nB2\nc\nd\ne\nf\nG\n"),
        "a removal, from above": ("]ckdo", "a\nb\nB1\nB2\nc\nd\ne\nf\nG", "a\nB1\nB2\nc\nd\ne\nf\nG\n"),
        "an addition": ("2]cdo", "a\nb\nB1\nB2\nc\nd\ne\nf", "a\nB1\nB2\nc\ne\nf\n"),
        "the change before": ("G[cdo", "a\nb\nB1\nB2\nc\nd\ne\nf\nG", "a\nB1\nB2\nc\nd\ne\nf\nG\n"),
        "all": ("do]cdo]cdo", "a\nb\nc\nd\ne\nf", old),
        "the end of the file": ("5GdG", "a\nb\nB1\nB2\nc\nd\ne\nf", "a\nB1\nB2\nc\n"),
        "a removal at the end": ("5GdGdo", "a\nb\nB1\nB2\nc\nd\ne\nf", "a\nB1\nB2\nc\nd\ne\nf\n"),
        "a line that is typed": ("ggOtyped\x1b", "typed\na\nb\nB1\nB2\nc\nd\ne\nf\nG", "typed\n" + new),
        "two at once": (":normal ggddG[cdo\r", "a\nb\nB1\nB2\nc\nd\ne\nf\nG", "B1\nB2\nc\nd\ne\nf\nG\n"),
    }
    room.start()
    room.type(*room.keys.set_option("layout", "inline"))
    for name, (keys, shown, result) in rows.items():
        def act(keys=keys, shown=shown, result=result):
            room.write("b.txt", old)
            agent = proposes(room, "b.txt", new, "FILE_SAVED", result)
            room.shows(room.proposal("b.txt"))
            room.type(*({"\x12": "<C-r>", "\x1b": "<Escape>", "\r": "<Enter>"}.get(part, part)
                        for part in re.split(r"([\x12\x1b\r])", keys) if part))
            room.shows("^" + " *\n".join(map(re.escape, shown.split("\n"))) + " *$")
            marked = sorted(set(result.splitlines()) - set(old.splitlines()))
            signs = "sign_getplaced(bufnr(), #{group: '*'})[0].signs->map({_, sign -> getline(sign.lnum)})->sort()"
            if (found := evaluated(room, signs)) != marked:
                raise Failure(f"marked: {found}")
            room.type("<Reading>", ":w", "<Enter>")
            agent.done()
            room.hides(room.proposal())
        of_row(name, act)


def inline_layout_does_not_mark_a_large_edit(room):
    """Otherwise Vim would spend 4 s on the marks after each edit."""
    old = "".join(f"line {number}\n" for number in range(70_000))
    room.write("a.txt", old)
    room.start()
    room.type(*room.keys.set_option("layout", "inline"))
    agent = proposes(room, "a.txt", old.replace("line 9\n", "line nine\n"), "DIFF_REJECTED", "a.txt")
    room.shows("line nine")
    for keys, count in [("", 1), (":%s/line/other/", 0), ("u", 1)]:
        room.type(keys, *(["<Enter>"] if ":" in keys else []))
        signs = "sign_getplaced(bufnr(), #{group: '*'})[0].signs->len()"
        if (found := evaluated(room, signs)) != count:
            raise Failure(f"{keys}: {found} lines are marked")
    room.type(*room.keys.REJECT)
    agent.done()


def inline_layout_says_that_a_text_is_large(room):
    room.start()
    room.type(*room.keys.set_option("layout", "inline"))
    agent = proposes(room, "b.txt", "x" * 70_000 + "\n", "DIFF_REJECTED", "b.txt")
    room.shows(":w accepts, :q rejects. no highlighting, a line over 64 KiB: .* proposes b.txt")
    room.type(*room.keys.REJECT)
    agent.done()


def own_view_is_decided_by_a_command(room):
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type("<Escape>", ":let g:ide_mcp = #{show: {p -> [writefile([p.contents], 'shown'), {-> writefile([p.path], 'closed', 'a')}][1]}}",
              "<Enter>")
    for command, result in [("accept", "FILE_SAVED"), ("reject", "DIFF_REJECTED")]:
        call = agent.propose(room.path("b.txt"), command)
        room.has("shown", f"{command}\n")
        room.hides("proposal waits")
        if command == "accept":
            hand.run(command)
            room.shows("ide-mcp: not accepted: the proposal has just opened")
        room.type("<Reading>", *room.keys.run(command))
        if result not in (answer := agent.answer(call)):
            raise Failure(answer)
    room.has("closed", 2 * f"{room.path('b.txt')}\n")


def write_all_in_another_window_decides_nothing(room):
    """The person saves the files, and that must not decide on the proposal beside them."""
    room.start()
    agent = RawAgent(room)
    room.shows("hostile 1")
    for layout in ["vertical", "horizontal", "inline"]:
        def act(layout=layout):
            room.type(*room.keys.set_option("layout", layout))
            call = agent.propose(room.path("a.txt"), "new\n")
            room.shows(room.proposal())
            room.type(*room.keys.INSERT_LINE, "<Reading>", "<C-w>", "t", ":wa", "<Enter>")
            room.shows("in its own window")
            time.sleep(0.5)
            if call in agent.answers:
                raise Failure(f"decided: {agent.answers[call]}")
            room.type(*room.keys.run("accept"))
            if "FILE_SAVED" not in (answer := agent.answer(call)):
                raise Failure(answer)
            room.hides(room.proposal())
        of_row(layout, act)


def text_typed_into_a_shelved_proposal_is_kept(room):
    """The agent withdraws it while another one is shown."""
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    agent.propose(room.path("a.txt"), "one\n", "first")
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE)
    second = agent.propose(room.path("b.txt"), "two\n", "second")
    room.shows(room.keys.NOTICE)
    hand.run("next")
    room.shows(room.proposal("b.txt"))
    agent.answer(agent.call("close_tab", tab_name="first"))
    room.shows(r"ide-mcp: the agent withdrew a\.txt\. Your text: :b\d+")
    room.shows(room.proposal("b.txt"))
    hand.run("reject")
    agent.answer(second)
    room.type(":b withdrawn", "<Enter>")
    room.shows("^edited")
    room.shows("^one")


def proposal_splits_the_window_of_a_file(room):
    """And not the window of a tree or of a terminal. If there is no room, it opens in a tab."""
    hand = Hand(room)
    hand.run("open")
    hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("focus")
    room.type(":Lexplore", "<Enter>", ":vertical resize 20", "<Enter>")
    room.shows("Netrw")
    for lines, tabs in [(30, 1), (9, 2)]:
        for layout in ["vertical", "horizontal", "inline"]:
            def act(lines=lines, tabs=tabs, layout=layout):
                room.type(*room.keys.set_option("layout", layout))
                room.tmux("resize-window", "-y", str(lines))
                agent = proposes(room, "b.txt", "new\n", "DIFF_REJECTED", "b.txt")
                room.shows(":w accepts")
                found = evaluated(room, "[tabpagenr('$'), winlayout(1)]")
                if found[0] != tabs or json.dumps(found[1]).count("leaf") != 3 + (tabs == 1) * (2 - (layout == "inline")):
                    raise Failure(f"tabs and windows: {found}")
                if [found[1][1][0][0], found[1][1][2][0]] != ["leaf", "leaf"]:
                    raise Failure(f"the tree or the terminal is split: {found}")
                room.type(*room.keys.run("reject"))
                agent.done()
                room.hides(":w accepts")
            of_row(f"{layout}, {lines} lines", act)


def windows_have_their_sizes_again(room):
    room.start()
    room.type(":new | 5wincmd _ | vnew | vertical resize 33 | wincmd b", "<Enter>")
    before = evaluated(room, "winrestcmd()")
    for layout in ["vertical", "horizontal", "inline"]:
        def act(layout=layout):
            room.type(*room.keys.set_option("layout", layout))
            agent = proposes(room, "b.txt", "new\n", "DIFF_REJECTED", "b.txt")
            room.shows(room.proposal("b.txt"))
            room.type(*room.keys.run("reject"))
            agent.done()
            room.hides(room.proposal())
            if (after := evaluated(room, "winrestcmd()")) != before:
                raise Failure(f"{before} becomes {after}")
        of_row(layout, act)


# --- Problems, and what a model can ask


def problems_of_ale_are_reported_once(room):
    """Even if ALE also writes them into a list. With Debian's ALE if it is installed, and otherwise with its variable."""
    linter = ("call ale#linter#Define('text', #{name: 'words', executable: 'cat', command: 'cat', callback: {buffer, lines ->"
              " [#{lnum: 1, col: 5, end_col: 6, text: 'is wrong', type: 'W'}]}})")
    has_ale = os.path.isdir(ALE)
    if has_ale:
        script(room, f"set runtimepath^={ALE}", "let g:ale_loclist_msg_format = '%linter%: %s'")
    else:
        script(room, "func Lint()", "  let g:ale_buffer_info = {bufnr(): #{loclist: [#{lnum: 1, col: 5, end_lnum: 1, end_col: 6,"
               " text: 'is wrong', type: 'W', linter_name: 'words', bufnr: bufnr()}]}}",
               "  call setloclist(0, [], ' ', #{title: 'a.txt', items: [#{bufnr: bufnr(), lnum: 1, col: 5, type: 'W',"
               " text: 'words: is wrong'}]})", "  doautocmd User ALELintPost", "endfunc")
    room.start()
    if has_ale:
        room.type(":" + linter, "<Enter>", ":let b:ale_linters = ['words'] | set filetype=text | ALELint", "<Enter>")
    else:
        room.type(":call Lint()", "<Enter>")
    await_("the problem is known", lambda: "is wrong" in room.run("call", "getDiagnostics", "{}"))
    expected = {"message": "is wrong", "severity": "Warning", "source": "words",
                "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 4}}}
    if (found := json.loads(room.run("call", "getDiagnostics", "{}"))[0]["diagnostics"]) != [expected]:
        raise Failure(f"the problems: {found}")


def model_has_no_tools_by_default(room):
    room.start()
    if found := [name for name in ["symbols", "references", "files"] if re.search(rf"^{name}\b", room.run("tools"), re.M)]:
        raise Failure(f"offered: {found}")


def model_asks_for_files_and_symbols(room):
    subprocess.run(["git", "init", "-q", room.folder], check=True)
    room.write("tags", "!_TAG_FILE_SORTED\t1\t/x/\nfoo\ta.txt\t/^second$/;\"\tf\nother\tb.txt\t1;\"\tf\n")
    room.write(".gitignore", "ignored\n")
    room.write("ignored", "x")
    for number in range(1200):
        (room.folder / f"many{number}.c").touch()
    (room.home / "secret.txt").write_text("x\n")
    (room.folder / "link.txt").symlink_to(room.home / "secret.txt")
    room.start()
    room.restart(*room.keys.set_option("tools", ["symbols", "files", "references"]))
    room.lock()

    found = answer_of(room, "files")
    if found["shown"] != 1000 or found["total"] < 1204 or len(found["files"]) != 1000 or found["folder"] != str(room.folder):
        raise Failure(f"{found['shown']} of {found['total']}")
    for number in range(600):
        (room.folder / ("long" * 50 + f"{number}.h")).touch()
    found = answer_of(room, "files", part=".h")
    if found["total"] != 600 or not 250 < found["shown"] < 340 or len(found["files"]) != found["shown"]:
        raise Failure(f"{found['shown']} of {found['total']} long names")
    found = answer_of(room, "files", part="txt")
    if sorted(name for name in found["files"] if ".swp" not in name) != ["a.txt", "b.txt", "link.txt"]:
        raise Failure(f"{found}")
    if (found := answer_of(room, "symbols", path="a.txt")) != {"symbols": [{"name": "foo", "kind": "f", "line": 2}], "shown": 1, "total": 1}:
        raise Failure(f"{found}")
    for path in ["../secret.txt", str(room.home / "secret.txt"), "/etc/passwd", "link.txt", "none.txt", "a\nb", ""]:
        for tool, more in [("symbols", {}), ("references", {"line": 1, "symbol": "x"})]:
            if "no such file" not in (answer := answer_of(room, tool, path=path, **more)) and "name of a file" not in answer:
                raise Failure(f"{tool} of {path!r}: {answer}")
    for arguments in [{"path": 1}, {"path": "a.txt", "line": 0, "symbol": "x"}, {"path": "a.txt", "line": 1, "symbol": ""},
                      {"path": "a.txt", "line": 1, "symbol": "absent"}, {"path": "a.txt", "line": "x", "symbol": "x"}]:
        if not isinstance(answer := answer_of(room, "references", **arguments), str):
            raise Failure(f"references of {arguments}: {answer}")


def model_cannot_run_commands_of_the_folder(room):
    """Vim 9.0 can run what a file name in a tags file has in backticks, and git the monitor that its settings name.

    The settings of git can also name another work tree: none of its files is listed.
    """
    subprocess.run(["git", "init", "-q", room.folder], check=True)
    room.write("tags", "!_TAG_FILE_SORTED\t1\t/x/\nevil\t`touch by-tags`\t1;\"\tf\nfoo\ta.txt\t/^second$/;\"\tf\n")
    room.start()
    room.restart(*room.keys.set_option("tools", ["symbols", "files"]))
    room.lock()
    subprocess.run(["git", "config", "core.fsmonitor", f"touch {room.path('by-git')}; false"], cwd=room.folder, check=True)
    if (found := answer_of(room, "symbols", path="a.txt")) != {"symbols": [{"name": "foo", "kind": "f", "line": 2}], "shown": 1, "total": 1}:
        raise Failure(f"{found}")
    if "b.txt" not in (found := answer_of(room, "files"))["files"]:
        raise Failure(f"{found}")
    for name in ["by-tags", "by-git"]:
        if (room.folder / name).exists():
            raise Failure(f"a command ran: {name}")
    (room.home / "elsewhere").mkdir()
    (room.home / "elsewhere/secret").touch()
    subprocess.run(["git", "config", "core.worktree", str(room.home / "elsewhere")], cwd=room.folder, check=True)
    if "secret" in str(found := answer_of(room, "files")):
        raise Failure(f"{found}")


def tags_that_are_a_fifo_do_not_block_vim(room):
    """Vim would wait until another program writes to the FIFO."""
    room.start()
    room.restart(*room.keys.set_option("tools", ["symbols"]))
    room.lock()
    os.mkfifo(room.path("tags"))
    if "no tags file" not in (answer := answer_of(room, "symbols", path="a.txt")):
        raise Failure(f"{answer}")


LSP = """func lsp#get_allowed_servers(buffer)
  return ['words']
endfunc
func lsp#send_request(server, request)
  call writefile([json_encode([a:request.method, a:request.params])], 'requests', 'a')
  let range = #{start: #{line: 1, character: 0}, end: #{line: 1, character: 3}}
  let uri = a:request.params.textDocument.uri
  let result = a:request.method =~ 'Symbol' ? [#{name: 'outer', kind: 5, range: range, selectionRange: range, children:
    \\ [#{name: 'inner', kind: 6, range: range, selectionRange: range}]}]
    \\ : [#{uri: uri, range: range}, #{uri: 'file:///etc/passwd', range: range}]
  if has_key(a:request.params, 'position') && a:request.params.position.line == 2
    let result = [{}]
  endif
  call timer_start(100, {-> a:request.on_notification(#{response: #{result: result}})})
endfunc
"""


def model_asks_a_language_server(room):
    """A stand-in for vim-lsp, with the functions that its help file documents."""
    (room.home / ".vim/autoload").mkdir(parents=True)
    (room.home / ".vim/autoload/lsp.vim").write_text(LSP)
    room.write("ü 𝒳.txt", "𝒳bc undef def\n\n[x\n")
    room.start()
    room.type(":call lsp#get_allowed_servers(1)", "<Enter>")
    room.restart(*room.keys.set_option("tools", ["symbols", "references"]))
    room.lock()
    both = [{"name": "outer", "kind": 5, "line": 2}, {"name": "inner", "kind": 6, "line": 2}]
    if (found := answer_of(room, "symbols", path="a.txt")) != {"symbols": both, "shown": 2, "total": 2}:
        raise Failure(f"{found}")
    for name in ["a.txt", "ü 𝒳.txt"]:
        room.type(f":edit {name}", "<Enter>")
        room.shows(f"^{name} ")
        expected = {"references": [{"path": room.path(name), "line": 2}], "shown": 1, "total": 1}
        if (found := answer_of(room, "references", path=name, line=1, symbol="def")) != expected:
            raise Failure(f"{name}: {found}")
    if "E716" not in (answer := answer_of(room, "references", path="ü 𝒳.txt", line=3, symbol="[x")):
        raise Failure(f"a wrong answer is: {answer}")
    requests = [json.loads(line)[1] for line in (room.folder / "requests").read_text().splitlines()[1:]]
    # After a character of two UTF-16 units: finds the word, and not the end of the word before. At last, what is not a
    # word.
    expected = [{"line": 0, "character": 5}, {"line": 0, "character": 11}, {"line": 2, "character": 0}]
    if [request["position"] for request in requests] != expected:
        raise Failure(f"the requests: {requests}")


# --- Cost

MOVES, LINES, BAR = 1000, 50_000, 0.2  # milliseconds at the median


def selection_costs_little(room):
    """The CPU time of the editor for a move of the cursor in a long file, with all that follows."""
    room.write("long.txt", "".join(f"line {number} of a file with 𝒳\n" for number in range(LINES)))
    script(room, "func Measure()", "  let times = []", f"  for number in range({MOVES})", f"    let line = 1 + number * 7919 % {LINES}",
           "    let begin = reltime()", "    call cursor(line, 3)", "    doautocmd CursorMoved",
           "    call ide_mcp#context#SendSelection(0)", "    call add(times, reltimefloat(reltime(begin)) * 1000)", "  endfor",
           "  call writefile([json_encode(sort(times, 'f'))], 'times')", "endfunc")
    room.start("long.txt")
    agent = room.play({"sleep": 60000})
    room.shows(room.keys.ATTACHED)
    room.type(":call Measure()", "<Enter>")
    times = room.folder / "times"
    await_("the times are there", lambda: times.exists() and times.read_text().endswith("\n"), 60)
    agent.process.kill()
    found = json.loads(times.read_text())
    median = found[len(found) // 2]
    print(f"      a selection takes {median:.3f} ms at the median of {len(found)} moves in {LINES} lines,"
          f" {found[len(found) * 99 // 100]:.3f} ms at the 99th percentile")
    if len(found) != MOVES or median > BAR:
        raise Failure(f"{median:.3f} ms, more than {BAR} ms")


ALL = [value for value in list(globals().values())
       if is_scenario(value) and value.__module__ == "vim_hand" and value is not script]
