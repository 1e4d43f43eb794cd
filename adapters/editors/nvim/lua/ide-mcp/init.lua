--- Lets coding agents attach to Neovim: `:help ide-mcp`.
local editor, program, sidecar = require('ide-mcp.editor'), require('ide-mcp.program'), require('ide-mcp.sidecar')
local M = { agents = {}, is_paused = false, is_set_up = false }

local function quickfix()
  local function line(item)
    return ('%s:%d:%d: %s'):format(vim.fn.bufname(item.bufnr), item.lnum, item.col, item.text)
  end
  return table.concat(vim.tbl_map(line, vim.fn.getqflist()), '\n')
end

local function review(arguments)
  return 'Review the file that is open in the editor, above all ' .. (arguments.focus or 'the selected lines') .. '.'
end

--- `:help ide-mcp-options`
M.options = {
  command = { 'ide-mcp', 'sidecar' },
  config = {
    prompts = { { name = 'review', description = 'Review the open file', arguments = { { name = 'focus' } } } },
    resources = { { uri = 'nvim://quickfix', description = 'The errors of the last build or search in Neovim' } },
  },
  answers = vim.tbl_extend('error', editor.tools, { review = review, ['nvim://quickfix'] = quickfix }),
  show = require('ide-mcp.diff').show,
  on_event = function() end,
}

local proposals = {} -- the open proposals by their calls; `close` closes the view, once there is one
local questions = {} -- the open questions about agents, by their connections
local calls = {} -- the open calls that wait to show something
local waiting = {} -- what waits for the end of typing: functions, and functions that return whether it is their turn
local timer = vim.loop.new_timer() -- runs them
local last_key = 0 -- the time of the last key, in milliseconds
local quiet = 500 -- so many milliseconds without a key end the typing of commands
-- Whether the next proposal waits for a key: the agent withdrew the one that the person saw, who could take the next for
-- it and accept a text that nobody has read.
local is_held = false
local started -- the command of the sidecar, with its program
local is_acting = false -- whether an agent is served: a `:normal` of autocommands is no key of the person

-- The modes in which no command is half typed: `:help mode()`.
local calm = { n = true, nt = true, v = true, V = true, ['\22'] = true, t = true }

local warn = editor.warn

local function config()
  local tools = vim.tbl_keys(editor.tools)
  vim.list_extend(tools, { 'openDiff', 'getCurrentSelection', 'getLatestSelection', 'getWorkspaceFolders' })
  return vim.tbl_extend('force', {
    protocol = 1, name = 'Neovim', version = vim.fn.execute('version'):match('v([%d.]+)'), pid = vim.fn.getpid(),
    folders = { vim.fn.getcwd(-1, -1) }, tools = tools,
  }, M.options.config)
end

local function now() return vim.loop.hrtime() / 1e6 end

-- Runs a function for an agent.
local function serve(act, ...)
  is_acting = true
  local is_done, bug = pcall(act, ...)
  is_acting = false
  if not is_done then warn(bug) end
end

-- Runs the functions that wait, unless the person types: another window would take the next keys.
local function go_on()
  if not waiting[1] or not calm[vim.fn.mode(1)] or vim.fn.getcmdwintype() ~= '' then return end
  local rest = last_key + quiet - now()
  if rest > 0 then return timer:start(math.ceil(rest), 0, vim.schedule_wrap(go_on)) end
  for at, waiter in ipairs(waiting) do
    if waiter.is_due() then
      table.remove(waiting, at)
      serve(waiter.act)
      vim.cmd('redrawstatus')
      return go_on()
    end
  end
end

-- Runs a function when the person does not type, and once it is due: after those that wait already, or at a place.
local function later(act, is_due, place)
  table.insert(waiting, place or #waiting + 1, { act = act, is_due = is_due or function() return true end })
  vim.schedule(go_on)
end

-- Returns whether the person has decided about the proposals that are shown: there is one at a time.
local function is_decided()
  for _, proposal in pairs(proposals) do
    if proposal.is_shown then return false end
  end
  return true
end

-- Returns whether the current tab is that of no proposal.
local function has_room() return not vim.t.ide_mcp_proposal end

local function fail(call, problem)
  sidecar.send({ cmd = 'fail', call = call, message = tostring(problem) })
end

-- Answers the call of an event by a function of the options, or by its failure. The function can outlive the process
-- that asked.
local function respond(event, name, ...)
  local agents = M.agents
  local is_done, problem = pcall(function(...)
    local result = M.options.answers[name](...)
    if M.agents == agents then sidecar.send({ cmd = 'respond', call = event.call, result = result }) end
  end, ...)
  if not is_done and M.agents == agents then fail(event.call, problem) end
end

local function send_selection()
  local selection = sidecar.is_running() and editor.selection()
  if selection then sidecar.send(selection) end
end

local on = {} -- what to do for each event of docs/sidecar.md

function on.listening(event)
  M.port = event.port
  local advice = program.advice(event.version, started)
  if advice then warn(advice) end
  for name, value in pairs(event.environment) do vim.fn.setenv(name, value) end
  if M.is_paused then sidecar.send({ cmd = 'pause' }) end
  send_selection()
end

function on.connected(event)
  M.agents[event.conn] = editor.safe(vim.trim((event.client or 'agent') .. ' ' .. (event.version or '')))
end

function on.closed(event) M.agents[event.conn], questions[event.conn] = nil, nil end

function on.diff(event)
  if not event.label then return fail(event.call, 'update ide-mcp: this sidecar does not judge what agents name') end
  local proposal, compared = { label = event.label }, {}
  local function answer(verdict, contents)
    if proposals[event.call] ~= proposal then
      if verdict == 'accept' then warn('nothing is accepted: the proposal has ended') end
      return false
    end
    proposals[event.call] = nil
    vim.defer_fn(go_on, 30) -- once the view is closed
    local changed = contents ~= event.contents and contents or nil
    sidecar.send({ cmd = 'answer', call = event.call, verdict = verdict, contents = changed })
    if verdict == 'reject' then return true end
    compared.text = contents or event.contents
    -- The agent writes the file soon.
    for _, ms in ipairs({ 200, 1000, 5000 }) do
      vim.defer_fn(function()
        later(function()
          local is_other = editor.reread(event.path, compared)
          if is_other and ms == 5000 then
            warn(event.label .. ' on disk is not the accepted text, or you have typed since. Your changes stay')
          end
        end)
      end, ms)
    end
    return true
  end
  proposals[event.call] = proposal
  event.client = M.agents[event.conn] or 'an agent'
  function event.accept(text) return answer('accept', text) end
  function event.reject() return answer('reject') end
  later(function()
    if proposals[event.call] ~= proposal then return end
    proposal.is_shown = true
    compared.buf = editor.buffer(event.old_path)
    compared.tick = compared.buf and vim.api.nvim_buf_get_changedtick(compared.buf)
    local is_done, close, say_ended = pcall(M.options.show, event)
    if is_done then
      proposal.close, proposal.say_ended = close, say_ended
    else
      proposals[event.call] = nil
      fail(event.call, close)
      warn(tostring(close))
    end
  end, function() return proposals[event.call] ~= proposal or is_decided() and not is_held end)
end

-- The reasons of a proposal that the agent has ended.
local withdrawals = { close_tab = true, closeAllDiffTabs = true, cancelled = true }

function on.diff_closed(event)
  local proposal = proposals[event.call] or {}
  proposals[event.call] = nil
  if not proposal.close then return end
  if proposal.say_ended then pcall(proposal.say_ended) end
  later(function()
    is_held = true
    local kept = proposal.close()
    -- At 80 columns the last sentence is cut: the status line says the same.
    local name = editor.file_name(proposal.label, math.max(15, vim.v.echospace - 95))
    local text = withdrawals[event.reason] and 'the agent withdrew %s. %s' or 'the proposal for %s ended. %s'
    local place = type(kept) == 'number' and ('Your text: :b%d. '):format(kept) or ''
    warn(text:format(name, place) .. 'The next proposal waits for a key')
  end, nil, 1) -- the next view would open over it
end

function on.call(event)
  local function act() respond(event, event.tool, event.arguments, event.path) end
  if event.tool ~= 'openFile' or event.arguments.makeFrontmost == false then return act() end
  calls[event.call] = act
  later(function()
    if calls[event.call] ~= act then return end
    calls[event.call] = nil
    act()
  end, function() return calls[event.call] ~= act or has_room() end)
end

function on.call_ended(event) calls[event.call] = nil end

function on.prompt(event) respond(event, event.name, event.arguments) end

function on.resource(event) respond(event, event.uri) end

function on.edit_expected(event)
  local buf = editor.buffer(event.path)
  if buf and vim.bo[buf].modified then warn('an agent may write this file, which is not saved: ' .. event.path) end
end

function on.edit_ended(event) later(function() editor.reread(event.path) end) end

function on.mention_expired(event) warn('no agent took the mention of ' .. event.path) end

local yes = 'Let it attach' -- the answer to the question about an agent

function on.consent(event)
  local question = {}
  questions[event.conn] = question
  local function is_open() return questions[event.conn] == question end
  later(function()
    if not is_open() then return end
    -- The agent chose its name, so the words around it and the answers have to say all.
    -- The question fits in a line, so no part of the name begins one, as the answers do.
    local room = math.max(8, math.min(64, vim.o.columns - 66))
    local name = (event.client or '') ~= '' and ('that calls itself "%s"'):format(editor.safe(event.client, room))
      or 'without a name'
    local prompt = ('An agent %s asks to attach. Let it attach?'):format(name)
    vim.ui.select({ yes, 'Refuse' }, { prompt = prompt }, function(choice)
      if not is_open() then return end
      questions[event.conn] = nil
      sidecar.send({ cmd = choice == yes and 'allow' or 'disconnect', conn = event.conn })
    end)
  end)
end

function on.error(event) warn(event.message) end

function on.paused()
  M.is_paused = true
  warn('files and selections are hidden from agents')
end

function on.resumed()
  M.is_paused = false
  warn('agents see files and selections again')
end

-- Catches up after a gap: ends of agents and of proposals can be among the events that were left out.
function on.status(event)
  if event.line then return end
  M.is_paused = event.paused
  for call in pairs(proposals) do
    if not vim.tbl_contains(event.calls, call) then on.diff_closed({ call = call }) end
  end
  for call in pairs(calls) do
    if not vim.tbl_contains(event.calls, call) then calls[call] = nil end
  end
  local asked = questions
  questions = {}
  for conn in pairs(M.agents) do M.agents[conn] = nil end
  for _, agent in ipairs(event.agents) do
    if agent.consent then
      questions[agent.conn] = asked[agent.conn]
    elseif not agent.model then
      on.connected(agent)
    end
  end
end

local function on_event(event)
  serve(M.options.on_event, event)
  if on[event.event] then serve(on[event.event], event) end
  vim.cmd('redrawstatus')
end

-- Each process numbers its agents and calls from 1: those of the last one end. `M.agents` is a table for each process.
local function on_end(problem)
  for call in pairs(proposals) do on.diff_closed({ call = call }) end
  M.agents, M.port, questions, calls = {}, nil, {}, {}
  vim.cmd('redrawstatus')
  if problem then warn(problem) end
end

--- Returns a text for the status line: the attached agents, or an empty text without a sidecar.
function M.status()
  if not sidecar.is_running() then return '' end
  local agents = table.concat(vim.tbl_values(M.agents), ', ')
  local count = #vim.tbl_filter(function(proposal) return not proposal.is_shown end, vim.tbl_values(proposals))
  local files = #vim.tbl_keys(calls)
  local function wait(number, what, more)
    return (' (%d %s%s)'):format(number, what .. (number == 1 and ' waits' or 's wait'), more or '')
  end
  local note = count > 0 and wait(count, 'proposal', is_held and ' for a key') or files > 0 and wait(files, 'file')
    or M.is_paused and ' (paused)' or ''
  return '⧉ ' .. (agents == '' and 'no agent' or agents) .. note
end

--- Sends a command of docs/sidecar.md.
M.send = sidecar.send

local commands = {}

function commands.start()
  if not M.is_set_up then return M.setup() end
  if sidecar.is_running() then return end
  local problem
  started, problem = program.find(M.options.command)
  if not started then return on_end(problem) end
  sidecar.start(started, config, on_event, on_end)
end

function commands.stop()
  sidecar.stop()
  on_end()
end

function commands.install()
  program.install(warn, function(text)
    if not sidecar.is_running() then
      commands.start()
    elseif started[1] == program.path then
      text = text .. '. Stop and start to use it'
    end
    warn(text)
  end)
end

function commands.uninstall()
  if started and started[1] == program.path then commands.stop() end
  program.uninstall(warn)
end

local function send(command)
  if not sidecar.send(command) then return warn('the sidecar does not run: `:IdeMcp start` starts it') end
  return true
end

function commands.pause() send({ cmd = 'pause' }) end

function commands.resume() send({ cmd = 'resume' }) end

function commands.status()
  if not sidecar.is_running() then return send() end
  warn(('%s, port %s, %s'):format(M.status(), M.port or 'unknown', vim.fn.getcwd(-1, -1)))
end

function commands.mention(call)
  local path, lines = editor.path(), call.range > 0 and { call.line1 - 1, call.line2 - 1 } or nil
  if not path then return warn('no file is mentioned: the buffer has no file') end
  if not send({ cmd = 'mention', path = path, lines = lines }) then return end
  if not next(M.agents) then warn('no agent is attached: the mention waits up to 30 s for one') end
end

--- Executes `:IdeMcp`.
function M.command(call)
  if not commands[call.args] then return warn('no command ' .. call.args) end
  commands[call.args](call)
end

--- Returns the arguments of `:IdeMcp` that begin so.
function M.complete(typed)
  return vim.tbl_filter(function(name) return vim.startswith(name, typed) end, vim.tbl_keys(commands))
end

--- Sets options, and starts.
function M.setup(options)
  options = options or {}
  for _, key in ipairs({ 'config', 'answers' }) do
    options[key] = vim.tbl_extend('force', M.options[key], options[key] or {})
  end
  M.options = vim.tbl_extend('force', M.options, options)
  M.is_set_up = true
  local group = vim.api.nvim_create_augroup('ide-mcp', {})
  local function at(events, act) vim.api.nvim_create_autocmd(events, { group = group, callback = act }) end
  vim.on_key(function(_, typed)
    last_key = now()
    if typed == '' or is_acting then return end -- the rest of a mapping; before Neovim 0.10 there is no `typed`
    editor.look()
    if not is_held then return end
    is_held = false
    vim.schedule(go_on)
  end, vim.api.nvim_create_namespace('ide-mcp'))
  local is_due = false
  vim.tbl_map(editor.note_time, vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs()))
  at({ 'BufReadPost', 'BufWritePost' }, function(event) editor.note_time(event.buf) end)
  at('CmdwinLeave', function() vim.schedule(go_on) end)
  at({ 'BufEnter', 'CursorMoved', 'CursorMovedI', 'ModeChanged', 'TextChanged', 'TextChangedI' }, function()
    if is_due then return end
    is_due = true
    vim.defer_fn(function()
      is_due = false
      send_selection()
      go_on()
    end, 30)
  end)
  at('VimLeavePre', sidecar.stop)
  at('DirChanged', function() sidecar.send({ cmd = 'folders', folders = config().folders }) end)
  at('DiagnosticChanged', function(event)
    local name = vim.api.nvim_buf_get_name(event.buf)
    if name ~= '' then sidecar.send({ cmd = 'diagnostics_changed', uris = { editor.uri(name) } }) end
  end)
  commands.start()
end

return M
