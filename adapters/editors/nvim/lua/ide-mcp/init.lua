--- Lets coding agents attach to Neovim: `:help ide-mcp`.
local editor, events, files = require('ide-mcp.editor'), require('ide-mcp.events'), require('ide-mcp.files')
local log, messages, options = require('ide-mcp.log'), require('ide-mcp.messages'), require('ide-mcp.options')
local program, proposals = require('ide-mcp.program'), require('ide-mcp.proposals')
local sidecar, turns = require('ide-mcp.sidecar'), require('ide-mcp.turns')

---@class IdeMcp
---@field agents table<integer, string> The names and versions of the attached agents, by connection.
---@field pids table<integer, integer> The process ids that agents reported, by connection.
---@field target integer|nil The connection of the agent that gets the mentions, if the person chose one.
---@field port integer|nil The port, once the sidecar listens.
---@field environment table<string, string|userdata> What an agent in a terminal needs to find this Neovim.
---@field faults string[] What was wrong with the options at the last setup.
local M = { agents = {}, pids = {}, environment = {}, faults = {}, is_paused = false, is_set_up = false }

--- `:help ide-mcp-options`
---@type IdeMcp.Options
M.options = options.merge(options.defaults, {})

local questions = {} -- the open questions about agents, by connection
local calls = {} -- the open calls that wait to show a file
local started -- the command of the sidecar, with the program that was found

local warn = messages.warn

local function config()
  local tools = vim.tbl_keys(editor.tools)
  vim.list_extend(tools, { 'getCurrentSelection', 'getLatestSelection', 'getWorkspaceFolders' })
  if M.options.diffs then table.insert(tools, 'openDiff') end
  local members = vim.tbl_extend('force', {
    protocol = 1, name = 'Neovim', version = vim.fn.execute('version'):match('v([%d.]+)'), pid = vim.fn.getpid(),
    folders = { vim.fn.getcwd(-1, -1) }, tools = tools,
  }, M.options.config)
  local own = require('ide-mcp.model_tools').offer(M.options.tools)
  if own[1] then members.own = vim.list_extend(own, members.own or {}) end
  return members
end

-- Returns whether the current tab shows no proposal.
local function has_room() return not vim.t.ide_mcp_proposal end

local function fail(call, problem)
  sidecar.send({ cmd = 'fail', call = call, message = tostring(problem) })
end

-- Answers the call of an event with the result of a function of the options, or with its failure. The function runs in
-- a coroutine, so it can wait, even until the process that asked is gone.
local function respond(event, name, ...)
  local agents, act = M.agents, M.options.answers[name] or require('ide-mcp.model_tools').answers[name]
  coroutine.wrap(function(...)
    local is_done, problem = pcall(function(...)
      local result = act(...)
      if M.agents == agents then sidecar.send({ cmd = 'respond', call = event.call, result = result }) end
    end, ...)
    if not is_done and M.agents == agents then fail(event.call, problem) end
  end)(...)
end

--- Sends the selection, if the current buffer has one.
function M.send_selection()
  local selection = sidecar.is_running() and editor.selection()
  if selection then sidecar.send(selection) end
end

local on = {} -- what to do for each event of docs/sidecar.md

function on.listening(event)
  M.port = event.port
  local advice = program.advice(event.version, started)
  if advice then warn(advice) end
  M.environment = event.environment
  for name, value in pairs(event.environment) do vim.fn.setenv(name, value) end
  if M.is_paused then sidecar.send({ cmd = 'pause' }) end
  M.send_selection()
  events.emit('Listening', { port = event.port })
end

function on.connected(event)
  M.agents[event.conn] = messages.safe(vim.trim((event.client or 'agent') .. ' ' .. (event.version or '')))
  events.emit('Connected', { conn = event.conn, client = M.agents[event.conn] })
end

function on.ide_connected(event) M.pids[event.conn] = event.pid end

function on.closed(event)
  local client = M.agents[event.conn]
  M.agents[event.conn], M.pids[event.conn], questions[event.conn] = nil, nil, nil
  if M.target == event.conn then
    M.target = nil
    warn('the agent that you chose for mentions has left: they go to the one that attached last')
  end
  if client then events.emit('Closed', { conn = event.conn, client = client }) end
end

function on.diff(event)
  if not event.label then return fail(event.call, 'update ide-mcp: this sidecar does not check what agents name') end
  event.client = M.agents[event.conn] or 'an agent'
  proposals.add(event)
end

on.diff_closed = proposals.close

function on.call(event)
  local function act() respond(event, event.tool, event.arguments, event.path) end
  if event.tool ~= 'openFile' or event.arguments.makeFrontmost == false then return act() end
  calls[event.call] = act
  turns.later(function()
    if calls[event.call] ~= act then return end
    calls[event.call] = nil
    act()
  end, function() return calls[event.call] ~= act or has_room() end)
end

function on.call_ended(event) calls[event.call] = nil end

function on.prompt(event) respond(event, event.name, event.arguments) end

function on.resource(event) respond(event, event.uri) end

function on.edit_expected(event)
  local buf = files.buffer(event.path)
  if buf and vim.bo[buf].modified then warn('an agent may write a file that you have not saved: ' .. event.path) end
end

function on.edit_ended(event) turns.later(function() files.reread(event.path) end) end

function on.mention_expired(event) warn('no agent took the mention of ' .. event.path) end

local yes = 'Let it attach' -- the answer to the question about an agent

function on.consent(event)
  local question = {}
  questions[event.conn] = question
  local function is_open() return questions[event.conn] == question end
  turns.later(function()
    if not is_open() then return end
    -- The agent chose its name, so only the words around it can be trusted. The name is cut so that the question fits
    -- on one line: if it wrapped, its end could look like one of the answers.
    local client = messages.safe(event.client or '', vim.o.columns - 66)
    local name = client ~= '' and ('that calls itself "%s"'):format(client) or 'without a name'
    local prompt = ('An agent %s asks to attach. Let it attach?'):format(name)
    messages.choose({ yes, 'Refuse' }, prompt, nil, function(choice)
      if not is_open() then return end
      questions[event.conn] = nil
      sidecar.send({ cmd = choice == yes and 'allow' or 'disconnect', conn = event.conn })
    end)
  end)
end

function on.error(event) warn(event.message) end

-- Remembers whether agents are paused, and tells the person. If the sidecar dies, `on.listening` pauses the next one
-- too.
local function set_paused(is_paused)
  if M.is_paused ~= is_paused then
    M.is_paused = is_paused
    events.emit(is_paused and 'Paused' or 'Resumed', {})
  end
  messages.say(is_paused and 'files and selections are hidden from agents' or 'agents see files and selections again')
end

function on.paused() set_paused(true) end

function on.resumed() set_paused(false) end

-- Catches up after a gap in the events: agents can have left, and proposals can have ended, without an event.
function on.status(event)
  if event.line then return end
  if M.is_paused ~= event.paused then set_paused(event.paused) end
  proposals.keep(event.calls)
  for call in pairs(calls) do
    if not vim.tbl_contains(event.calls, call) then calls[call] = nil end
  end
  local asked = questions
  questions = {}
  local is_there = {}
  for _, agent in ipairs(event.agents) do
    if agent.consent then
      questions[agent.conn] = asked[agent.conn]
    elseif not agent.model then
      is_there[agent.conn] = true
      if not M.agents[agent.conn] then on.connected(agent) end
      on.ide_connected(agent)
    end
  end
  for conn in pairs(M.agents) do
    if not is_there[conn] then on.closed({ conn = conn }) end
  end
end

local function on_event(event)
  log.event(event)
  turns.serve(M.options.on_event, event)
  if on[event.event] then turns.serve(on[event.event], event) end
  vim.cmd('redrawstatus')
end

-- Forgets the agents and calls of a sidecar that has ended, because the next one numbers its own from 1 again.
-- `M.agents` becomes a new table for each process, so that `respond` can tell whether the process that asked is gone.
local function on_end(problem)
  proposals.keep({})
  local agents = M.agents
  M.agents, M.pids, M.target, M.port, questions, calls = {}, {}, nil, nil, {}, {}
  for conn, client in pairs(agents) do events.emit('Closed', { conn = conn, client = client }) end
  vim.cmd('redrawstatus')
  if problem then warn(problem) end
end

--- Returns the attached agents for the status line, or an empty string if no sidecar runs. The name of an agent could
--- be read as a format: where the string is evaluated, as in lualine, use the component `ide_mcp`.
---@return string
function M.status()
  if not sidecar.is_running() then return '' end
  local conns = vim.tbl_keys(M.agents)
  table.sort(conns)
  local agents = table.concat(vim.tbl_map(function(conn)
    return (conn == M.target and '→' or '') .. M.agents[conn]
  end, conns), ', ')
  local count, is_held = proposals.waiting()
  local opening = #vim.tbl_keys(calls)
  local function wait(number, what, more)
    return (' (%d %s%s)'):format(number, what .. (number == 1 and ' waits' or 's wait'), more or '')
  end
  local note = count > 0 and wait(count, 'proposal', is_held and ' for a key') or opening > 0 and wait(opening, 'file')
    or M.is_paused and ' (paused)' or ''
  return '⧉ ' .. (agents == '' and 'no agent' or agents) .. note
end

--- Returns whether the sidecar runs.
---@return boolean
M.is_running = sidecar.is_running

--- Sends a command of docs/sidecar.md. Returns false if no sidecar runs.
---@type fun(command: table): boolean
M.send = sidecar.send

--- Starts the sidecar, unless it is running.
function M.start()
  if not M.is_set_up then return M.setup() end
  if sidecar.is_running() then return end
  local problem
  started, problem = program.find(M.options.command)
  if not started then return on_end(problem) end
  sidecar.start(started, config, on_event, on_end)
end

--- Stops the sidecar: agents are detached.
function M.stop()
  sidecar.stop()
  on_end()
end

--- Fetches the program.
function M.install()
  program.install(function(text)
    if not sidecar.is_running() then
      M.start()
    elseif started[1] == program.path then
      text = text .. '. To use it, stop and start'
    end
    messages.say(text)
  end)
end

--- Removes the program that M.install() has fetched.
function M.uninstall()
  if started and started[1] == program.path then M.stop() end
  program.uninstall()
end

--- Sets options, and starts.
---@param given? IdeMcp.Options
function M.setup(given)
  M.faults = {}
  M.options = options.merge(M.options, given or {}, function(fault) table.insert(M.faults, fault) end)
  if M.faults[2] then -- only one message: a second one would make Neovim wait for a key
    vim.tbl_map(function(fault) log.message('warn', fault) end, M.faults)
    warn(('%d options are wrong, see `:IdeMcp log`'):format(#M.faults))
  elseif M.faults[1] then
    warn(M.faults[1])
  end
  M.is_set_up = true
  local group = vim.api.nvim_create_augroup('ide-mcp', {})
  local function at(names, act) vim.api.nvim_create_autocmd(names, { group = group, callback = act }) end
  turns.watch(function()
    files.mark_seen()
    proposals.on_key()
  end)
  local is_due = false
  vim.tbl_map(files.remember_time, vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs()))
  at({ 'BufReadPost', 'BufWritePost' }, function(event) files.remember_time(event.buf) end)
  at('CmdwinLeave', function() vim.schedule(turns.go_on) end)
  at({ 'BufEnter', 'CursorMoved', 'CursorMovedI', 'ModeChanged', 'TextChanged', 'TextChangedI' }, function()
    if is_due then return end
    is_due = true
    vim.defer_fn(function()
      is_due = false
      M.send_selection()
      turns.go_on()
    end, 30)
  end)
  at('VimLeavePre', sidecar.stop)
  at('DirChanged', function() sidecar.send({ cmd = 'folders', folders = config().folders }) end)
  at('DiagnosticChanged', function(event)
    local name = vim.api.nvim_buf_get_name(event.buf)
    if name ~= '' then sidecar.send({ cmd = 'diagnostics_changed', uris = { files.uri(name) } }) end
  end)
  M.start()
end

return M
