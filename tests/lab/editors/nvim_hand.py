"""What a person does only in Neovim: providers of terminals, maps, events, the log, the file trees of plugins.

The plugins that are named here are not in Debian, PyPI or npm, so stand-ins have the functions that their documentation
names.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

from hand import RUNS, Hand, paste, proposes
from hostile import RawAgent, is_scenario, of_row
from run import ROOT, Failure, await_


def lua(room, code):
    room.type("<Escape>", f":lua {' '.join(code.split())}", "<Enter>")


def lines_of(room, name, count):
    """Waits until a file of the folder has so many lines, and returns them."""
    path = room.folder / name
    return await_(f"{name} has {count} lines",
                  lambda: path.exists() and len(path.read_text().splitlines()) >= count and path.read_text().splitlines())


# --- Terminals


def terminals_have_numbers(room):
    hand = Hand(room)
    hand.run("open --first")
    hand.terminal(1)
    hand.run_in_terminal("open --again")
    room.shows("agent 1 runs already")
    hand.run_in_terminal("open 2 --second")
    second = hand.terminal(2)
    if second["arguments"] != ["--second"]:
        raise Failure(f"the arguments are {second['arguments']}")
    await_("both are there", lambda: len(re.findall(RUNS, room.screen())) == 2)
    room.type("x")
    hand.has_typed(second, b"x")
    hand.run_in_terminal("toggle 1")
    await_("one is there", lambda: len(re.findall(RUNS, room.screen())) == 1)
    hand.run("toggle 1")
    await_("both are there", lambda: len(re.findall(RUNS, room.screen())) == 2)
    if len(hand.terminals()) != 2:
        raise Failure("another agent was started")


def terminal_has_its_layout(room):
    hand = Hand(room)
    rows = [("left", 0), ("above", 0), ("below", 0), ("float", 0), ("float", 0.3), ("float", 30), ("right", 0), ("right", 30)]
    for count, (layout, size) in enumerate(rows, 1):
        lua(room, f"local t = require('ide-mcp').options.terminal; t.layout = '{layout}'; t.size = {size}")
        hand.run("open")
        hand.terminal(count)
        room.shows(RUNS)
        row = next(row for row, line in enumerate(room.screen().splitlines()) if "STAND-IN" in line)
        column = room.screen().splitlines()[row].index("STAND-IN")
        expected = {"left": row == 0 and column == 0, "above": row == 0 and column == 0, "below": row > 10 and column == 0,
                    "right": row == 0 and column == (90 if size else 72),
                    "float": row > 1 and column == {0: 13, 0.3: 42, 30: 45}[size]}
        if not expected[layout]:
            raise Failure(f"{layout} {size}: at {row}, {column}")
        room.type("<C-d>")
        room.hides(RUNS)
        await_("one window is left", lambda: room.screen().count("⧉") == 1)


def terminal_starts_at_the_root_of_git(room):
    (room.home / ".git").mkdir()
    hand = Hand(room)
    hand.run("open")
    if hand.terminal(1)["folder"] != str(room.folder):
        raise Failure("the folder is not that of Neovim")
    room.type(*room.keys.LEAVE_TERMINAL)
    lua(room, "require('ide-mcp').options.terminal.folder = 'git'")
    hand.run("open 2")
    if hand.terminal(2)["folder"] != str(room.home):
        raise Failure(f"the folder is {hand.terminal(2)['folder']}")


def failed_agent_leaves_its_output(room):
    hand = Hand(room)
    (room.home / "commands/claude").write_text("#!/bin/sh\necho no account\nexit 3\n")
    hand.run("open")
    room.shows("the agent has ended with status 3")
    room.shows("no account")
    time.sleep(1)
    room.shows("no account")


def list_names_the_terminal_of_each_agent(room):
    """Two agents of the same program have the same name."""
    hand = Hand(room)
    (room.home / "commands/claude").write_text("""#!/bin/sh
echo "{\\"notify\\": \\"ide_connected\\", \\"params\\": {\\"pid\\": $$}}" >script-$$
echo '{"sleep": 20000}' >>script-$$
exec ide-mcp agent --script script-$$
""")
    hand.run("open")
    room.shows("⧉ ide-mcp-agent")
    hand.run_in_terminal("open 2")
    room.shows("⧉ ide-mcp-agent.*, ide-mcp-agent")
    room.play({"notify": "ide_connected", "params": {"pid": 4321}}, {"sleep": 20000})
    room.shows("(ide-mcp-agent.*){3}")
    time.sleep(0.3)
    room.type(*room.keys.LEAVE_TERMINAL, *room.keys.run("agents"))
    room.shows(r"1: ide-mcp-agent \S+, terminal 1\n.*2: ide-mcp-agent \S+, terminal 2\n.*3: ide-mcp-agent \S+, process 4321")
    room.type(*room.keys.NO_CHOICE)


# Stand-ins with the functions in the documentation of snacks.nvim (docs/terminal.md, docs/win.md) and of
# toggleterm.nvim (README, "Custom terminals"). They record their arguments.
TERMINAL_STAND_INS = {
    "snacks": """
        local function note(...) vim.fn.writefile({vim.fn.json_encode({...})}, 'calls', 'a') end
        package.preload.snacks = function() return { terminal = { open = function(cmd, opts)
          note(cmd, opts)
          local window = { buf = vim.api.nvim_create_buf(false, true) }
          function window:show() vim.cmd('botright vsplit'); vim.api.nvim_win_set_buf(0, self.buf) end
          function window:hide() vim.api.nvim_win_close(vim.fn.bufwinid(self.buf), true) end
          window:show()
          vim.api.nvim_buf_call(window.buf, function() vim.fn.termopen(cmd, { cwd = opts.cwd }) end)
          return window
        end } } end
    """,
    "toggleterm": """
        local function note(...) vim.fn.writefile({vim.fn.json_encode({...})}, 'calls', 'a') end
        local Terminal = {}
        function Terminal:new(term)
          note(term.cmd, { cwd = term.dir, win = { position = term.direction } })
          return setmetatable(term, { __index = Terminal })
        end
        function Terminal:open(size)
          vim.cmd('botright vsplit')
          if self.bufnr then return vim.api.nvim_win_set_buf(0, self.bufnr) end
          vim.cmd('enew')
          self.bufnr = vim.api.nvim_get_current_buf()
          self.job_id = vim.fn.termopen(self.cmd, { cwd = self.dir, on_exit = function(...) self:on_exit(...) end })
        end
        function Terminal:close() vim.api.nvim_win_close(vim.fn.bufwinid(self.bufnr), true) end
        package.preload['toggleterm.terminal'] = function() return { Terminal = Terminal } end
    """,
}


def terminals_of_plugins_are_called(room):
    hand = Hand(room)
    for count, (name, code) in enumerate(TERMINAL_STAND_INS.items(), 1):
        def act(name=name, code=code, count=count):
            room.write("stand_in.lua", code)
            lua(room, "dofile('stand_in.lua')")
            lua(room, f"require('ide-mcp').options.terminal.provider = '{name}'")
            hand.run(f"open {count} --model 'a b;c'")
            facts = hand.terminal(count)
            if facts["arguments"] != ["--model", "a b;c"] or facts["folder"] != str(room.folder):
                raise Failure(f"started as {facts['arguments']} in {facts['folder']}")
            _, opts = json.loads(lines_of(room, "calls", count)[-1])
            if opts["cwd"] != str(room.folder) or opts["win"]["position"] not in ("right", "vertical"):
                raise Failure(f"called with {opts}")
            room.shows(RUNS)
            hand.run_in_terminal("toggle")
            room.hides(RUNS)
            hand.run("toggle")
            room.shows(RUNS)
            hand.run_in_terminal("focus")
            hand.run("send hello")
            hand.has_typed(facts, *paste("hello"))
            hand.run("focus")
            room.type("<C-d>")
            room.hides(RUNS)
            room.shows("second")
        of_row(name, act)


def provider_of_the_person_is_called(room):
    hand = Hand(room)
    room.write("provider.lua", """
        require('ide-mcp').options.terminal.provider = function(start)
          vim.cmd('botright split')
          vim.cmd('enew')
          local job = vim.fn.termopen(start.command, { cwd = start.folder, on_exit = function(_, s) start.on_exit(s) end })
          return { buf = vim.api.nvim_get_current_buf() }
        end
    """)
    lua(room, "dofile('provider.lua')")
    hand.run("open")
    facts = hand.terminal()
    room.type("x")
    hand.has_typed(facts, b"x")
    hand.run_in_terminal("toggle")
    room.hides(RUNS)
    hand.run("toggle")
    room.shows(RUNS)


def agent_runs_in_a_pane_of_tmux(room):
    room.environment |= {"TMUX": f"{room.home}/tmux,1,0", "TMUX_PANE": "%0"}
    hand = Hand(room)
    room.tmux("set-environment", "-g", "HOME", str(room.home))  # where the stand-in records
    lua(room, "require('ide-mcp').options.terminal.provider = 'tmux'")
    hand.run("open --model 'a b;c;'")
    facts = hand.terminal()
    if facts["arguments"] != ["--model", "a b;c;"] or facts["folder"] != str(room.folder):
        raise Failure(f"started as {facts['arguments']} in {facts['folder']}")
    if facts["environment"].get("CLAUDE_CODE_SSE_PORT") != room.lock().stem:
        raise Failure("the environment lacks the port of the editor")

    def panes():
        return len(room.tmux("list-panes").splitlines())

    await_("two panes", lambda: panes() == 2)
    room.shows(RUNS)  # it has the focus
    room.tmux("select-pane", "-t", "%0")
    hand.run("send #{pane_id} $HOME;x")
    hand.has_typed(facts, *paste("#{pane_id} $HOME;x"))
    hand.run("interrupt")
    hand.has_typed(facts, *(text + b"\x1b" for text in paste("#{pane_id} $HOME;x")))
    hand.run("toggle")
    await_("one pane", lambda: panes() == 1)
    hand.run("toggle")
    await_("two panes", lambda: panes() == 2)
    room.shows(RUNS)
    room.tmux("select-pane", "-t", "%0")
    hand.run("focus")
    room.shows(RUNS)
    room.type("<C-d>")
    await_("one pane", lambda: panes() == 1)
    time.sleep(0.5)  # when the size of the screen changes, Neovim redraws it, without the message
    hand.run("send more")
    room.shows("there is no terminal of an agent")


def agent_runs_in_another_program(room):
    hand = Hand(room)
    lua(room, "local t = require('ide-mcp').options.terminal; t.provider = 'external';"
              " t.command = {'sh', '-c', 'env > started.new; pwd >> started.new; mv started.new started; sleep 5'};"
              " t.external = {'nice'}")
    hand.run("open")
    lines = lines_of(room, "started", 3)
    if f"CLAUDE_CODE_SSE_PORT={room.lock().stem}" not in lines or lines[-1] != str(room.folder):
        raise Failure(f"started with {lines}")
    hand.run("toggle")
    room.shows("show and hide the agent in its own window, of nice")
    hand.run("send hello")
    room.shows("this terminal takes no text")
    hand.run("interrupt")
    room.shows("this terminal takes no keys")
    lua(room, "local t = require('ide-mcp').options.terminal; t.command = {'claude'};"
              f" t.external = {{'tmux', '-S', '{room.home}/tmux', 'split-window', '-e', 'HOME={room.home}'}}")
    hand.run("open 2 --model 'a;b;' c")  # tmux could take the second semicolon as the end of its command
    if (facts := hand.terminal())["arguments"] != ["--model", "a;b;", "c"]:
        raise Failure(f"started with {facts['arguments']}")


# --- Keys and events


def floating_terminal_covers_no_proposal(room):
    """A proposal that it covers is not on the screen, and cannot be accepted."""
    hand = Hand(room)
    lua(room, "local o = require('ide-mcp').options; o.terminal.layout = 'float'; o.layout = 'inline'; o.focus = false;"
        " vim.keymap.set('t', '<F5>', '<Cmd>IdeMcp accept<CR>')"
        " vim.o.showmode = false")  # Neovim 0.10 and 0.12 show the mode instead of a message
    agent = RawAgent(room)
    hand.run("open")
    room.shows(RUNS)
    call = agent.propose(room.path("b.txt"), "other\nnew\n")
    room.shows("b.txt")
    room.type("<Reading>", "<F5>")
    room.shows("not accepted: `:IdeMcp next` shows the proposal first")
    if call in agent.answers:
        raise Failure("a proposal is accepted that nobody has seen")
    room.type(*room.keys.LEAVE_TERMINAL, *room.keys.run("next"))
    room.shows("^ *other *│ *other")
    room.type("<Reading>", *room.keys.run("accept"))
    if "FILE_SAVED" not in (answer := agent.answer(call)):
        raise Failure(answer)


def maps_do_what_they_say(room):
    hand = Hand(room)
    room.write("maps.lua", """
        for keys, name in pairs({ t = 'toggle', m = 'mention', s = 'send', a = 'accept', r = 'reject', f = 'focus', i = 'interrupt' }) do
          vim.keymap.set({ 'n', 'x' }, '\\\\' .. keys, '<Plug>(ide-mcp-' .. name .. ')')
        end
        vim.keymap.set({ 'n', 't' }, '<C-y>', '<Plug>(ide-mcp-toggle)')
    """)
    lua(room, "dofile('maps.lua')")
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type("gg", "Vj", "\\m")
    await_("the lines are mentioned", lambda: agent.lines == [[0, 1]])
    room.type("<Escape>", "2", "<C-y>")
    facts = hand.terminal()
    room.shows(RUNS)
    room.type("<C-y>")  # from the terminal
    room.hides(RUNS)
    room.type("gg", "V", "\\s")
    hand.has_typed(facts, *paste("𝒳bc def"), *paste("𝒳bc def\n"))
    room.type("\\i")
    hand.has_typed(facts, *(text + b"\x1b" for text in [*paste("𝒳bc def"), *paste("𝒳bc def\n")]))
    call = agent.propose(room.path("b.txt"), "new\n")
    room.shows(room.proposal("b.txt"))
    room.type("<Reading>", "\\a")
    agent.answer(call)
    room.hides(room.proposal("b.txt"))


def user_autocommands_fire(room):
    hand = Hand(room)
    room.write("events.lua", """
        vim.api.nvim_create_autocmd('User', { pattern = 'IdeMcp*', callback = function(event)
          local data = event.data or require('ide-mcp.events').data
          vim.fn.writefile({ vim.fn.json_encode({ event.match, data }) }, 'fired', 'a')
        end })
        vim.fn.writefile({}, 'listens')
    """)
    lua(room, "dofile('events.lua')")
    room.has("listens", "")  # before an agent attaches
    for command, result in [("accept", ["FILE_SAVED", "new\n"]), ("reject", ["DIFF_REJECTED", "b.txt"])]:
        agent = proposes(room, "b.txt", "new\n", *result)
        room.shows(room.proposal("b.txt"))
        room.type("<Reading>")
        hand.run(command)
        agent.done()
        room.hides(room.proposal("b.txt"))
    agent = room.play(room.propose("b.txt", "new\n"), {"sleep": 20000})
    room.shows(room.proposal("b.txt"))
    agent.process.kill()
    fired = [json.loads(line) for line in lines_of(room, "fired", 12)]
    names = [name.removeprefix("IdeMcp") for name, _ in fired]
    if sorted(names) != sorted(["Connected", "Proposal", "Decided", "Closed"] * 3):
        raise Failure(f"fired: {names}")
    verdicts = [data["verdict"] for name, data in fired if name == "IdeMcpDecided"]
    if verdicts != ["accept", "reject", "withdrawn"]:
        raise Failure(f"the verdicts are {verdicts}")
    proposal = next(data for name, data in fired if name == "IdeMcpProposal")
    if proposal["path"] != room.path("b.txt") or proposal["client"] != "ide-mcp-agent 0.2.0" or "contents" in proposal:
        raise Failure(f"fired: {proposal}")
    first = json.dumps(fired[0][1])
    if fired[0][0] != "IdeMcpConnected" or "ide-mcp-agent" not in first:
        raise Failure(f"fired first: {fired[0]}")
    room.restart()
    lines_of(room, "fired", 13)
    for count, name in enumerate(["pause", "resume"], 14):
        hand.run(name)
        lines_of(room, "fired", count)
    fired = [json.loads(line) for line in lines_of(room, "fired", 15)]
    last = [["IdeMcpListening", {"port": int(room.lock().stem)}], ["IdeMcpPaused", []], ["IdeMcpResumed", []]]
    if fired[12:] != last:
        raise Failure(f"fired last: {fired[12:]}")


def lualine_does_not_evaluate_the_name_of_an_agent(room):
    hand = Hand(room)
    room.write("line.lua", """
        package.preload['lualine.component'] = function() return { extend = function() return {} end } end
        _G.component = require('lualine.components.ide_mcp')
        vim.o.statusline = '%!v:lua.component.update_status()'
    """)
    agent = RawAgent(room, "%{writefile([],'pwned')}%{%1%}%")
    lua(room, "dofile('line.lua')")
    room.shows(re.escape("⧉ %{writefile([],'pwned')}%{%1%}% 1"))
    if (room.folder / "pwned").exists():
        raise Failure("the name was evaluated")
    agent.end()
    room.shows(room.keys.DETACHED)
    hand.run("status")
    room.shows("no agent")


# --- Mentions


# Stand-ins with the documented functions of each plugin: the file under the cursor is b.txt, and both files are marked.
TREE_STAND_INS = {
    "oil": ("package.loaded.oil = { get_cursor_entry = function() return { name = 'b.txt', type = 'file' } end,"
            " get_current_dir = function() return DIR .. '/' end }", 1),
    "NvimTree": ("package.loaded['nvim-tree.api'] = { marks = { list = function() return {} end }, tree = {"
                 " get_node_under_cursor = function() return { name = 'b.txt', absolute_path = DIR .. '/b.txt' } end } }", 1),
    "NvimTree with marks": ("package.loaded['nvim-tree.api'] = { marks = { list = function() return {"
                            " { absolute_path = DIR .. '/a.txt' }, { absolute_path = DIR .. '/b.txt' } } end } }", 2),
    "neo-tree": ("vim.b.neo_tree_source = 'filesystem'; package.loaded['neo-tree.sources.manager'] = { get_state = function(name)"
                 " assert(name == 'filesystem'); return { tree = { get_node = function() return {"
                 " path = DIR .. '/b.txt' } end } } end }", 1),
    "minifiles": ("package.loaded['mini.files'] = { get_fs_entry = function() return {"
                  " fs_type = 'file', name = 'b.txt', path = DIR .. '/b.txt' } end }", 1),
    "snacks_picker_list": ("package.loaded.snacks = { picker = { get = function(o) assert(o.source == 'explorer')"
                           " return { { selected = function() return {} end,"
                           " current = function() return { file = DIR .. '/b.txt' } end } } end } }", 1),
    "snacks_picker_list with marks": ("package.loaded.snacks = { picker = { get = function() return { { selected = function()"
                                      " return { { file = DIR .. '/a.txt' }, { file = DIR .. '/b.txt' } } end } } end } }", 2),
    "fern": ("vim.fn.mkdir('autoload/fern', 'p'); vim.opt.rtp:append(DIR); vim.fn.writefile({ 'function! fern#helper#new() abort',"
             " \"return {'sync': {'get_selected_nodes': {-> [{'_path': getcwd() . '/a.txt'}, {'_path': getcwd() . '/b.txt'}]}}}\","
             " 'endfunction' }, 'autoload/fern/helper.vim')", 2),
    "nerdtree": ("vim.cmd([[let g:NERDTreeFileNode = {'GetSelected': {-> {'path': {'str': {-> getcwd() . '/b.txt'}}}}}]])", 1),
    "dirvish": ("vim.api.nvim_set_current_line(DIR .. '/b.txt')", 1),
}


def files_of_the_trees_of_plugins_are_mentioned(room):
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    for row, (code, count) in TREE_STAND_INS.items():
        def act(row=row, code=code, count=count):
            room.write("stand_in.lua", f"local DIR = vim.fn.getcwd()\nvim.cmd('new | setlocal buftype=nofile')\n"
                       f"vim.bo.filetype = '{row.split()[0]}'\n{code}\n")
            lua(room, "dofile('stand_in.lua')")
            agent.mentions.clear()
            hand.run("mention")
            await_("mentioned", lambda: len(agent.mentions) == count)
            if agent.mentions != [room.path("a.txt"), room.path("b.txt")][-count:]:
                raise Failure(f"mentioned: {agent.mentions}")
            room.type(":bwipeout!", "<Enter>")
        of_row(row, act)


def lines_of_a_tree_are_files(room):
    hand = Hand(room)
    agent = RawAgent(room)
    room.shows("hostile 1")
    room.type(*room.keys.TREE, "ggVG", ":IdeMcp mention", "<Enter>")
    agent.takes(room.path("a.txt"), room.path("b.txt"))
    hand.run("status")
    room.shows("hostile 1, port")  # the words in the banner were not run as commands


# --- Proposals


def hunks_are_taken_one_by_one(room):
    old = "".join(f"{number}\n" for number in range(30))
    room.write("b.txt", old)
    room.start()
    new = old.replace("3\n4\n", "three\nfour\n", 1).replace("\n25\n", "\ntwenty\n")
    agent = proposes(room, "b.txt", new, "FILE_SAVED", new.replace("three\nfour\n", "3\n4\n"))
    room.shows(room.proposal("b.txt"))
    room.type("do", "<Reading>", ":w", "<Enter>")
    agent.done()


def inline_proposal_shows_removed_lines(room):
    room.write("b.txt", "one\ntwo\nthree\n")
    hand = Hand(room)
    room.type(*room.keys.set_option("layout", "inline"))
    for text, shown in {"one\n2\nthree\n": "one\n *two *\n *2", "three\n": "three", "one\ntwo\nthree\nfour\n": "three *\n *four"}.items():
        agent = proposes(room, "b.txt", text, "FILE_SAVED", text)
        room.shows(room.proposal("b.txt"))
        room.shows(shown)
        room.type("<Reading>")
        hand.run("accept")
        agent.done()
        room.hides(room.proposal(""))


def changes_of_an_inline_proposal_are_taken_back(room):
    """By the keys of a diff. Each row has the old text, the new text, the keys, and what is accepted."""
    Hand(room)
    room.type(*room.keys.set_option("layout", "inline"))
    old = "one\ntwo\nthree\nfour\nfive\n"
    both = "one\n2\nthree\nfour\n5\nsix\n"
    for row, (before, new, keys, accepted) in {
        "the first change, where the cursor is": (old, both, ["do"], both.replace("2", "two")),
        "the next change": (old, both, ["]c", "do"], both.replace("5\nsix", "five")),
        "the second next one": (old, both, ["gg", "2]c", "do"], both.replace("5\nsix", "five")),
        "the one of before a jump": (old, both, ["]c", "``", "do"], both.replace("2", "two")),
        "the change before": (old, both, ["G", "[c", "[c", "do"], both.replace("2", "two")),
        "each change": (old, both, ["do", "]c", "do"], old),
        "an undone one": (old, both, ["do", "u"], both),
        "no change": (old, both, ["]c", "k", "do"], both),
        "lines that went": (old, "one\nfive\n", ["do"], old),
        "lines that went, from above": (old, "one\nfive\n", ["gg", "do"], old),
        "the first line": (old, old.removeprefix("one\n"), ["do"], old),
        "the last line": (old, old.removesuffix("five\n"), ["do"], old),
        "lines that came": (old, old.replace("two", "two\nmore"), ["do"], old),
        "all lines": (old, "other\n", ["do"], old),
        "lines with NUL": ("\0\n\0\nend\n", "\0\n\0\n\0\nEND\n", ["G", "do"], "\0\n\0\nend\n"),
    }.items():
        def act(before=before, new=new, keys=keys, accepted=accepted):
            room.write("b.txt", before)
            agent = proposes(room, "b.txt", new, "FILE_SAVED", accepted)
            room.shows(room.proposal("b.txt"))
            room.type(*keys, "<Reading>", ":w", "<Enter>")
            agent.done()
            room.hides(room.proposal(""))
        of_row(row, act)


def waiting_inline_proposal_has_the_lines_of_its_file(room):
    """Its buffer exists while another proposal is shown."""
    hand = Hand(room)
    room.type(*room.keys.set_option("layout", "inline"))
    proposes(room, "a.txt", "new a.txt\n", "DIFF_REJECTED", "a.txt")
    room.shows("new a.txt")
    proposes(room, "b.txt", "new b.txt\n", "DIFF_REJECTED", "b.txt")
    time.sleep(1)  # the second proposal waits
    hand.run("next")
    room.shows("new b.txt")
    lua(room, "for _, buf in ipairs(vim.api.nvim_list_bufs()) do"
        " if vim.api.nvim_buf_get_name(buf):find('%[proposal%] a') then vim.cmd('sbuffer ' .. buf) end end")
    room.shows("new a.txt")
    room.type("do")
    room.hides("new a.txt")
    lua(room, "vim.fn.writefile(vim.fn.getline(1, '$'), 'lines')")
    room.has("lines", "𝒳bc def\nsecond\nthird\n")


def text_that_is_not_compared_has_no_changes_to_take(room):
    Hand(room)
    room.type(*room.keys.set_option("layout", "inline"))
    agent = proposes(room, "b.txt", "x" * 66_000 + "\n", "DIFF_REJECTED", "b.txt")
    room.shows("no highlighting, a line of 64 KiB")
    for keys in ["do", "]c"]:
        room.type(keys)
        room.shows("ide-mcp: the texts are not compared")
        room.type(":", "<Escape>", ":echo 'nothing'", "<Enter>")
        room.shows("^nothing")
    room.type(*room.keys.REJECT)
    agent.done()


def inline_proposal_is_marked_while_it_changes(room):
    room.write("b.txt", "one\ntwo\nthree\n")
    Hand(room)
    room.type(*room.keys.set_option("layout", "inline"))
    agent = proposes(room, "b.txt", "one\n2\nthree\n", "DIFF_REJECTED", "b.txt")
    room.shows("one *\n *two *\n *2")
    room.type("do")
    room.shows("one *\n *two *\n *three")
    stays = room.styles("three")
    room.type("Gdd")
    await_("the line is marked as removed", lambda: room.styles("three") not in ([], stays))
    room.type("u")
    await_("the line is not marked", lambda: room.styles("three") == stays)
    room.type("u")
    room.shows("one *\n *two *\n *2")
    room.type(*room.keys.REJECT)
    agent.done()


def tab_says_that_it_is_a_proposal(room):
    """It also says for which file, even if other files have the same name."""
    for name in ["src", "tests"]:
        (room.folder / name).mkdir()
        room.write(f"{name}/mod.rs", "fn main() {}\n")
    Hand(room, "src/mod.rs")
    agent = proposes(room, "tests/mod.rs", "fn new() {}\n", "DIFF_REJECTED", "tests/mod.rs")
    room.shows(room.proposal("mod.rs"))
    room.shows(r"^.* s/mod\.rs .*/t/\[proposal\] mod\.rs  .*X$")
    room.type("<C-w>", "h")
    room.shows(r"^.* s/mod\.rs .*/t/\[before the proposal\] mod\.rs  .*X$")
    room.type("<C-w>", "l", *room.keys.REJECT)
    agent.done()


def quitting_a_borrowed_window_keeps_it(room):
    Hand(room)
    for layout, keys in {"vertical": ["<C-w>", "h", ":q", "<Enter>"], "inline": [":q", "<Enter>"]}.items():
        room.type(*room.keys.set_option("layout", layout))
        agent = room.play(room.propose("a.txt", "new\n"), {"sleep": 20000})
        room.shows(room.proposal())
        room.type(*keys)
        if layout == "vertical":
            room.shows(room.proposal())  # the proposal is still there
            room.type("<C-w>", "l", ":q", "<Enter>")
        room.hides(room.proposal(""))
        room.shows("second")
        await_(f"{layout}: one window", lambda: room.screen().count("⧉") == 1)
        agent.process.kill()
        room.shows(room.keys.DETACHED)


def writing_all_in_another_window_accepts_nothing(room):
    hand = Hand(room)
    for layout in ["vertical", "inline"]:
        room.type(*room.keys.set_option("layout", layout))
        agent = proposes(room, "b.txt", "new\n", "FILE_SAVED", "edited\nnew\n")
        room.shows(room.proposal("b.txt"))
        room.type(*room.keys.INSERT_LINE, "<Reading>", ":new", "<Enter>", ":wa", "<Enter>")
        room.shows("in its own window")
        room.type("<Enter>", ":q", "<Enter>")
        room.shows(room.proposal("b.txt"))
        hand.run("accept")
        agent.done()
        room.hides(room.proposal(""))


def diff_of_the_person_is_not_mixed_with_a_proposal(room):
    """Neovim compares all diff windows of a tab with each other, so a proposal must not open there."""
    hand = Hand(room)
    room.type(*room.keys.set_option("layout", "vertical"))
    room.type("<Escape>", ":diffthis", "<Enter>", ":vert diffsplit b.txt", "<Enter>")
    agent = proposes(room, "b.txt", "new\n", "FILE_SAVED", "new\n")
    room.shows(room.proposal("b.txt"))
    room.type(":echo 'compared:' . len(filter(range(1, winnr('$')), {_, w -> getwinvar(w, '&diff')}))", "<Enter>")
    room.shows("^compared:2")
    room.type("<Reading>")
    hand.run("accept")
    agent.done()
    room.hides(room.proposal(""))
    room.type(":echo 'compared:' . len(filter(range(1, winnr('$')), {_, w -> getwinvar(w, '&diff')})) . 'again'", "<Enter>")
    room.shows("^compared:2again")


def refused_quit_leaves_the_windows(room):
    """Neovim refuses `:q` for a changed text."""
    hand = Hand(room)
    room.type(*room.keys.set_option("layout", "inline"))
    agent = proposes(room, "a.txt", "new\n", "FILE_SAVED", "edited\nnew\n")
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE, ":q", "<Enter>")
    room.shows("E37")
    time.sleep(0.3)
    room.type(":echo 'windows:' . winnr('$')", "<Enter>")
    room.shows("^windows:1")
    room.type("<Reading>")
    hand.run("accept")
    agent.done()
    room.shows("second")


def withdrawn_text_stays_when_another_proposal_is_shown(room):
    hand = Hand(room)
    agent = RawAgent(room)
    agent.propose(room.path("a.txt"), "one\n", "first")
    room.shows(room.proposal())
    room.type(*room.keys.INSERT_LINE)
    second = agent.propose(room.path("b.txt"), "two\n", "second")
    time.sleep(1)
    hand.run("next")
    room.shows(room.proposal("b.txt"))
    agent.call("close_tab", tab_name="first")
    room.shows(r"Your text: :b\d+")
    room.shows(room.proposal("b.txt"))
    room.type("<Reading>")
    hand.run("accept")
    agent.answer(second)


def plugin_that_saves_by_itself_accepts_nothing(room):
    """It saves some time after a change, whether the person types then or not."""
    hand = Hand(room)
    room.write("saves.lua", """
        local function save(buf)
          if not vim.api.nvim_buf_is_valid(buf) then return end
          vim.api.nvim_buf_call(buf, function() vim.cmd('silent! write') end)
          vim.fn.writefile({ '' }, 'saved', 'a')
        end
        vim.api.nvim_create_autocmd('TextChanged', { callback = function(event)
          vim.defer_fn(function() save(event.buf) end, 700)
        end })
    """)
    lua(room, "dofile('saves.lua')")
    for accept in [[":w", "<Enter>"], room.keys.run("accept")]:
        def act(accept=accept):
            agent = RawAgent(room)
            call = agent.propose(room.path("b.txt"), "other\nnew\n")
            room.shows(room.proposal("b.txt"))
            (room.folder / "saved").unlink(missing_ok=True)
            room.type(*room.keys.INSERT_LINE)
            room.shows("accepted by a key or a command of yours only")
            for _ in range(30):  # a change, and so a save, between every two keys
                room.type("x")
                room.type("p")
                time.sleep(0.05)
            lines_of(room, "saved", 20)
            time.sleep(0.5)
            if call in agent.answers:
                raise Failure("the plugin has accepted the proposal")
            room.type(*accept)
            if "FILE_SAVED" not in (answer := agent.answer(call)):
                raise Failure(answer)
            room.hides(room.proposal(""))
            agent.end()
            room.shows(room.keys.DETACHED)
        of_row(accept, act)


def maps_and_macros_write_a_proposal(room):
    """They count as the person's keys; a plugin that saves by itself does not."""
    Hand(room)
    room.write("maps.lua", """
        for keys, command in pairs({ c = ':w<CR>', d = '<Cmd>w<CR>', f = function() vim.cmd('write') end, m = 'Gk$:w<CR>' }) do
          vim.keymap.set('n', '\\\\' .. keys, command)
        end
        vim.fn.setreg('q', 'gg0:w\\r')
    """)
    lua(room, "dofile('maps.lua')")
    for keys in ["\\c", "\\d", "\\f", "\\m", "@q"]:
        def act(keys=keys):
            agent = proposes(room, "b.txt", "other\nnew\n", "FILE_SAVED", "other\nnew\n")
            room.shows(room.proposal("b.txt"))
            room.type("<Reading>", keys)
            agent.done()
            room.hides(room.proposal(""))
        of_row(keys, act)


def proposal_comes_back_with_the_current_file(room):
    """In each layout, it is compared with the file as it is now, and not as it was when the proposal was put aside."""
    hand = Hand(room)
    agent = RawAgent(room)
    for layout in ["tab", "inline"]:
        def act(layout=layout):
            room.type(*room.keys.set_option("layout", layout))
            call = agent.propose(room.path("a.txt"), "first\nproposed\n", "first")
            room.shows(room.proposal())
            other = agent.propose(room.path("b.txt"), "other\nnew\n", "second")
            room.shows(r"\(1 more\)")
            hand.run("next")
            room.shows(room.proposal("b.txt"))
            room.write("a.txt", f"first\nmeanwhile {layout}\n")
            room.type(":checktime", "<Enter>")
            hand.run("next")
            room.shows(room.proposal())
            room.shows(f"meanwhile {layout}")
            for decided in [call, other]:
                room.type("<Reading>")
                hand.run("reject")
                agent.answer(decided)
            room.hides(room.proposal(""))
        of_row(layout, act)


# --- The model


LANGUAGE_SERVER = f"""#!{sys.executable}
import json, sys
PLACE = {{"start": {{"line": 1, "character": 0}}, "end": {{"line": 3, "character": 0}}}}
def answer(message):
    method, params = message["method"], message.get("params")
    if method == "initialize":
        return {{"capabilities": {{"documentSymbolProvider": True, "referencesProvider": True}}}}
    if method == "textDocument/documentSymbol":
        child = {{"name": "inner", "kind": 13, "range": PLACE, "selectionRange": PLACE}}
        return [{{"name": f"take{{n}}", "kind": 12, "range": PLACE, "selectionRange": PLACE, "children": [child]}} for n in range(200)]
    if method == "textDocument/references":
        uri = params["textDocument"]["uri"]
        if params["position"] != {{"line": 0, "character": 5}}:
            return []
        return [{{"uri": u, "range": PLACE}} for u in (uri, uri.replace("a.txt", "b.txt"), "file:///etc/hosts")]
while True:
    size = 0
    while (line := sys.stdin.buffer.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    if not size:
        break
    message = json.loads(sys.stdin.buffer.read(size))
    if "id" in message and "method" in message:
        body = json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
        sys.stdout.buffer.flush()
"""


def model_asks_for_symbols_references_and_files(room):
    room.write("server", LANGUAGE_SERVER)
    (room.folder / "server").chmod(0o755)
    room.write("lsp.lua", """
        local start = vim.lsp.start_client
        if vim.fn.has('nvim-0.11') == 1 then
          vim.lsp.start({ name = 't', cmd = { vim.fn.getcwd() .. '/server' }, root_dir = vim.fn.getcwd() })
        else
          local id = start({ name = 't', cmd = { vim.fn.getcwd() .. '/server' }, root_dir = vim.fn.getcwd() })
          vim.lsp.buf_attach_client(0, id)
        end
    """)
    (room.folder / "many").mkdir()
    for number in range(400):
        room.write(f"many/{number:03}", "")
    room.start()
    if "symbols" in room.run("tools"):
        raise Failure("the tools are on before they were asked for")
    lua(room, "dofile('lsp.lua')")
    lua(room, "require('ide-mcp').options.tools = { 'symbols', 'references', 'files' }")
    room.restart()
    room.lock()

    def ask(tool, **arguments):
        return room.run("call", tool, json.dumps(arguments))

    for path in ["a.txt", room.path("a.txt")]:
        answer = await_("the server has attached", lambda path=path: ask("symbols", path=path))
        for part in ["300 of 400 symbols", "function take0, lines 2 to 4\n", "  variable inner, lines 2 to 4\n"]:
            if part not in answer:
                raise Failure(f"{part} is not in {answer[:300]}")
    answer = ask("references", path="a.txt", line=1, symbol="def")
    if "2 references\na.txt:2\nb.txt:2\n1 outside of the folder" not in answer:
        raise Failure(answer)
    room.type("<Escape>", ":call setline(1, 'defs def')", "<Enter>")
    if "2 references" not in (answer := ask("references", path="a.txt", line=1, symbol="def")):
        raise Failure(f"a word: {answer}")
    answer = ask("files", part="many/")
    if "300 of 400 files\nmany/000\nmany/001\n" not in answer:
        raise Failure(answer[:300])
    for tool, arguments in {
        "symbols": {"path": "/etc/hosts"}, "references": {"path": "../../etc/hosts", "line": 1, "symbol": "x"},
    }.items():
        if "no such file" not in (answer := ask(tool, **arguments)):
            raise Failure(f"{tool}: {answer}")
    for arguments in [{"path": 1}, {"path": "a.txt", "line": "x", "symbol": "d"}, {"path": "a.txt", "line": 99, "symbol": "d"}]:
        if "references\n" in (answer := ask("references", **arguments)):
            raise Failure(answer)
    elsewhere = room.home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret").touch()
    subprocess.run(["git", "init", "-q", str(room.folder)], check=True)
    subprocess.run(["git", "config", "core.worktree", str(elsewhere)], cwd=room.folder, check=True)
    if "secret" in (answer := ask("files")):  # the settings of the repository name another work tree
        raise Failure(answer)
    if "Neovim has no language server" not in (answer := ask("symbols", path="b.txt")):
        raise Failure(answer)
    check_deprecations(room)


# --- Faults


def log_has_the_messages_and_is_bounded(room):
    hand = Hand(room)
    lua(room, "require('ide-mcp').options.log = { level = 'debug', size = 2000 }")
    hand.run("mention none.txt")
    room.shows("there is no file none.txt")
    logs = await_("there is a log", lambda: list(room.home.rglob("ide-mcp.log")))
    if "warn  nothing is mentioned: there is no file none.txt" not in logs[0].read_text():
        raise Failure(logs[0].read_text())
    hand.run("mention " + "x" * 2000)
    lines = await_("both are in the log", lambda: len(found := logs[0].read_bytes().splitlines()) >= 2 and found)
    if (longest := max(map(len, lines))) > 430:
        raise Failure(f"a line has {longest} bytes")
    room.type("<Enter>")  # the output of the command has filled the screen
    for number in range(12):
        agent = proposes(room, "b.txt", f"secret {number}\n", "DIFF_REJECTED", "b.txt")
        room.shows(room.proposal("b.txt"))
        hand.run("reject")
        agent.done()
        room.hides(room.proposal(""))
    files = sorted(room.home.rglob("ide-mcp.log*"))
    if len(files) != 2 or any(file.stat().st_size > 2300 for file in files):
        raise Failure(f"{[(file.name, file.stat().st_size) for file in files]}")
    text = "".join(file.read_text() for file in files)
    if "secret" in text or "info  diff conn=" not in text:
        raise Failure(text)
    hand.run("log")
    room.shows("debug|info")


def messages_fit_their_place(room):
    """In the command line, a long message ends with an ellipsis. If another plugin shows it, it is whole."""
    hand = Hand(room)
    name = "x" * 200
    hand.run(f"mention {name}")
    room.shows(r"ide-mcp: nothing is mentioned: there is no file x+…$")
    lua(room, "vim.notify = function(text, level) vim.fn.writefile({ text, level }, 'notified', 'a') end")
    hand.run(f"mention {name}")
    hand.run("")
    notified = lines_of(room, "notified", 4)
    if notified[0] != f"ide-mcp: nothing is mentioned: there is no file {name}" or notified[1::2] != ["3", "2"]:
        raise Failure(f"notified: {notified}")
    if not re.match(r"ide-mcp: .*, port \d+, /", notified[2]):
        raise Failure(f"the command alone: {notified[2]}")


def wrong_command_names_the_help(room):
    """And `:help ide-mcp` and `:help :IdeMcp` open at the right places."""
    hand = Hand(room)
    hand.run("opne")
    room.shows("ide-mcp: there is no command opne: `:help :IdeMcp` has them all")
    shutil.copytree(ROOT / "adapters/editors/nvim/doc", room.folder / "plugin/doc")
    room.type(":set runtimepath^=plugin | helptags plugin/doc", "<Enter>")
    for topic, line in [("ide-mcp", r"^\s+ide-mcp$"), (":IdeMcp", "^COMMANDS")]:
        room.type(f":help {topic}", "<Enter>", f":call writefile([getline('.')], '{topic.strip(':')}')", "<Enter>")
        found = lines_of(room, topic.strip(":"), 1)
        if not re.search(line.replace("ide-mcp", r"\*ide-mcp\*"), found[0]):
            raise Failure(f":help {topic} opens {found}")


def interrupt_leaves_a_list(room):
    """Neovim's own list then ends with an error, which is not a failure of the plugin."""
    hand = Hand(room)
    agent = RawAgent(room)
    agent.propose(room.path("b.txt"), "good\n", "first")
    room.shows(room.proposal("b.txt"))
    for name in ["proposals", "agents"]:
        hand.run(name)
        room.shows("Type number")
        room.type("<C-c>")
        room.hides("Type number")
        room.hides("interrupt|stack", within=1)


def wrong_options_are_named(room):
    """Wrong options have no effect, and the other options still do."""
    hand = Hand(room)
    for wish, message in {
        "layout = 'tabs'": "the option layout does not know tabs, only tab, vertical, horizontal, inline",
        "lay = 'tab'": "the option lay does not exist",
        "focus = 'no'": "the option focus must be a boolean",
        "terminal = { provider = 'kitty' }": "the option terminal.provider does not know kitty, only native",
        "terminal = { agent = {} }": "the option terminal.agent does not exist",
        "tools = { 'symbol' }": "the option tools does not know symbol, only symbols, references, files",
    }.items():
        lua(room, f"require('ide-mcp').setup({{ {wish} }})")
        room.shows(f"ide-mcp: {message}")
        room.type(*room.keys.ENDS_OF_TEXT)
    room.type(*room.keys.CONTAINER)  # a value that Neovim 0.7 cannot copy
    lua(room, "require('ide-mcp').setup({ layout = 1, terminal = { layout = 'x', command = { 'cat' } } })")
    room.shows("ide-mcp: 2 options are wrong, see `:IdeMcp log`")
    lua(room, "local o = require('ide-mcp').options; print('is:' .. o.layout .. o.terminal.layout .. o.terminal.command[1])")
    room.shows("^is:tabrightcat")
    hand.run("log")
    room.shows("the option layout must be a string")
    room.shows("the option terminal.layout does not know x")
    room.type(":quit", "<Enter>")
    room.type(":checkhealth ide-mcp", "<Enter>")
    room.shows("ERROR.* the option layout must be a string")
    hand.run("status")


def types_and_help_have_each_option(room):
    """And the words that an option allows."""
    room.start()
    lua(room, "local o = require('ide-mcp.options'); local names = {}; for name, value in pairs(o.defaults) do"
        " names[name] = (name == 'terminal' or name == 'log') and vim.tbl_keys(value) or {} end;"
        " vim.fn.writefile({ vim.fn.json_encode({ names, o.choices }) }, 'options')")
    names, choices = json.loads(lines_of(room, "options", 1)[0])
    plugin = ROOT / "adapters/editors/nvim"
    types = (plugin / "lua/ide-mcp/types.lua").read_text()
    guide = (plugin / "doc/ide-mcp.txt").read_text()
    for group, title in {"": "Options", "terminal": "TerminalOptions", "log": "LogOptions"}.items():
        block = types.split(f"---@class IdeMcp.{title}\n")[1].split("\n\n")[0]
        fields = dict(re.findall(r"---@field (\w+)\? (.*)", block))
        expected = names[group] if group else list(names)
        if sorted(fields) != sorted(expected):
            raise Failure(f"{title}: types.lua has {sorted(fields)}, and the options are {sorted(expected)}")
        for name in expected:
            words = choices.get(f"{group}.{name}".lstrip("."), [])
            if re.findall("'(\\w+)'", fields[name]) != words:
                raise Failure(f"{name}: {words}, and types.lua has {fields[name]}")
            if not re.search(rf"\b{name} = ", guide):
                raise Failure(f"the help has no {name}")


def health_has_the_findings_of_the_doctor(room):
    """Also those about a port, unless agents need consent. The doctor has 5 s."""
    room.write("slow", 'test "$1" = doctor && sleep 60\nexec ide-mcp "$@"\n')
    room.start()
    lock = json.loads(room.lock().read_text()) | {"pid": os.getpid(), "ideName": "Silent"}
    with socket.create_server(("127.0.0.1", 0)) as server:
        path = room.lock().with_name(f"{server.getsockname()[1]}.lock")
        path.write_text(json.dumps(lock))
        path.chmod(0o600)
        for keys, message in [
            ([], '"Silent" on port .* does not answer'),
            (room.keys.CONSENT, 'the doctor did not connect to "Silent"'),
            (room.keys.sidecar("sh", "slow", "sidecar"), "the doctor takes more than 5 s"),
        ]:
            def act(keys=keys, message=message):
                room.type(*keys, "<Escape>", ":IdeMcp doctor", "<Enter>")
                room.shows("ide-mcp doctor")
                room.type("G")
                room.shows(message)
                room.type(":bwipeout", "<Enter>")
                room.shows("second")
            of_row(message, act)


def check_deprecations(editor):
    """Checks that no function that was called so far is deprecated. Before 0.11, Neovim does not report that."""
    editor.type("<Escape>", ":echo 'has:' . has('nvim-0.11')", "<Enter>")
    editor.shows(r"^has:\d")
    if "has:1" in editor.screen():
        editor.type("<Escape>", ":checkhealth ide-mcp vim.deprecated", "<Enter>", "G")
        editor.shows("No deprecated functions detected")


def nothing_is_deprecated(room):
    """Checks this after a tour of the plugin. The scenario for the tools of the model checks its own calls."""
    hand = Hand(room)
    hand.run("open")
    hand.terminal()
    room.shows(RUNS)
    hand.run_in_terminal("toggle")
    room.type(*room.keys.SELECT_LINES, *room.keys.PROBLEM)
    for layout in room.keys.LAYOUTS:
        room.type(*room.keys.set_option("layout", layout))
        agent = proposes(room, "b.txt", "newer\n", "DIFF_REJECTED", "b.txt")
        room.shows(room.proposal("b.txt"))
        room.type(*room.keys.REJECT)
        agent.done()
        room.hides(room.proposal(""))
    for command in ["agents", "status", "mention", "mention b.txt 1"]:
        hand.run(command)
    check_deprecations(room)


# The maximum CPU time that a selection may take in the editor, in milliseconds.
COST = 0.2


def selection_costs_little(room):
    """The median over 1,000 moves of the cursor in a file of 50,000 lines, in Visual mode too."""
    room.write("long.txt", "".join(f"line {number} of the file, with some words\n" for number in range(50000)))
    room.write("cost.lua", """
        local plugin, times = require('ide-mcp'), {}
        local function cpu() local r = vim.loop.getrusage(); return (r.utime.sec + r.stime.sec) * 1e3 + (r.utime.usec + r.stime.usec) / 1e3 end
        local function measure(name, lines)
          local all = {}
          for number = 1, 1000 do
            vim.fn.cursor(number % lines + 1, 1 + number % 7)
            local begin = cpu()
            vim.api.nvim_exec_autocmds('CursorMoved', {})
            plugin.send_selection()
            table.insert(all, cpu() - begin)
          end
          table.sort(all)
          times[name] = all[500]
        end
        vim.cmd('normal! G')
        measure('cursor', 49999)
        vim.cmd('normal! ggV')
        measure('lines', 40)
        vim.fn.writefile({ vim.fn.json_encode(times) }, 'times')
    """)
    room.start("long.txt")
    agent = room.play({"sleep": 30000})
    room.shows(room.keys.ATTACHED)
    lua(room, "dofile('cost.lua')")
    times = json.loads(lines_of(room, "times", 1)[0])
    print("      " + ", ".join(f"{name} {ms:.3f} ms" for name, ms in sorted(times.items())))
    agent.process.kill()
    if max(times.values()) > COST:
        raise Failure(f"a selection costs {times} ms, more than {COST}")


ALL = [value for value in list(globals().values()) if is_scenario(value) and value.__module__ == "nvim_hand"]
