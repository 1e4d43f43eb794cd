--- The command `:IdeMcp`: `:help :IdeMcp`
local files, messages, sidecar = require('ide-mcp.files'), require('ide-mcp.messages'), require('ide-mcp.sidecar')
local plugin, proposals, terminal = require('ide-mcp'), require('ide-mcp.proposals'), require('ide-mcp.terminal')
local api, fn = vim.api, vim.fn
local M = {}

local warn = messages.warn

local function send(command)
  if not sidecar.send(command) then return warn('the sidecar is not running: `:IdeMcp start` starts it') end
  return true
end

local without_arguments = {
  start = plugin.start, stop = plugin.stop, install = plugin.install, uninstall = plugin.uninstall,
  interrupt = terminal.interrupt,
  accept = function() proposals.decide('accept') end,
  reject = function() proposals.decide('reject') end,
  next = function() proposals.go(1) end,
  previous = function() proposals.go(-1) end,
  proposals = proposals.choose,
  pause = function() send({ cmd = 'pause' }) end,
  resume = function() send({ cmd = 'resume' }) end,
  log = function() require('ide-mcp.log').open() end,
  doctor = function() vim.cmd('checkhealth ide-mcp') end,
}

-- They take the arguments as one string, and the table that `nvim_create_user_command` passes.
local with_arguments = { open = terminal.open, toggle = terminal.toggle, focus = terminal.focus }

function without_arguments.status()
  if not sidecar.is_running() then return send() end
  messages.say(('%s, port %s, %s'):format(plugin.status(), plugin.port or 'unknown', fn.getcwd(-1, -1)))
end

--- Lets the person choose an agent, to send mentions to it or no longer, or to disconnect it.
function without_arguments.agents()
  local conns, agents = vim.tbl_keys(plugin.agents), plugin.agents
  if not conns[1] then return warn('no agent is attached') end
  table.sort(conns)
  -- Two agents of the same program have the same name.
  local function name(conn)
    local process = plugin.pids[conn]
    local number = process and terminal.number_of(process)
    local place = number and ', terminal ' .. number or process and (', process %d'):format(process) or ''
    -- The name is cut so that it fits on one line: if it wrapped, its end could look like another choice.
    return messages.safe(agents[conn], vim.o.columns - 48) .. place
  end
  local function line(conn) return name(conn) .. (conn == plugin.target and ' (gets your mentions)' or '') end
  messages.choose(conns, 'Agents', line, function(conn)
    if not conn then return end
    local is_target = conn == plugin.target
    local choices = { 'Send mentions to ' .. (is_target and 'the agent that attached last' or 'this agent'), 'Disconnect it' }
    messages.choose(choices, name(conn), nil, function(_, at)
      if not at then return end
      if plugin.agents ~= agents or not agents[conn] then return warn('the agent has left') end
      if at == 2 then return send({ cmd = 'disconnect', conn = conn }) end
      plugin.target = not is_target and conn or nil
      vim.cmd('redrawstatus')
    end)
  end)
end

-- Mentions files, or the lines of one from the first to the last, which count from 0.
local function mention(paths, lines)
  for _, path in ipairs(paths) do
    if not send({ cmd = 'mention', path = path, lines = lines, conn = plugin.target }) then return end
  end
  if not next(plugin.agents) then warn('no agent is attached: the mention waits up to 30 s for one') end
end

-- Returns the path and the lines of arguments such as `a file.txt 2 3`, or nil after a message.
local function parse(arguments)
  local function found(name)
    local path = fn.fnamemodify(name, ':p')
    return name ~= '' and vim.loop.fs_stat(path) and path:gsub('(.)[/\\]$', '%1') or nil
  end
  if found(arguments) then return found(arguments) end
  local name, from, to = arguments:match('^(.-)%s+(%d+)%s+(%d+)$')
  if not name then name, from = arguments:match('^(.-)%s+(%d+)$') end
  name, from = name or arguments, tonumber(from)
  to = tonumber(to) or from
  local path = found(name) or found(name:match('^"(.*)"$') or name:match("^'(.*)'$") or '')
  if not path then return warn('nothing is mentioned: there is no file ' .. name) end
  if from and (from < 1 or to < from) then
    return warn(('nothing is mentioned: there are no lines %d to %d (the first is 1)'):format(from, to))
  end
  return path, from and { from - 1, to - 1 } or nil
end

function with_arguments.mention(arguments, call)
  local first, last = nil, nil
  if call.range > 0 then first, last = call.line1, call.line2 end
  if arguments ~= '' then
    local path, lines = parse(arguments)
    return path and mention({ path }, lines)
  end
  local paths = require('ide-mcp.trees').paths(first, last)
  if paths then return paths[1] and mention(paths) or warn('nothing is mentioned: there is no file under the cursor') end
  local path = vim.bo.buftype == '' and files.path()
  if not path then return warn('nothing is mentioned: the buffer has no file') end
  mention({ path }, first and { first - 1, last - 1 })
end

function with_arguments.send(arguments, call)
  local text = arguments
  if text == '' then
    local last = math.max(call.line1, call.line2)
    text = table.concat(api.nvim_buf_get_lines(0, call.line1 - 1, last, false), '\n')
  end
  terminal.send(text, call.bang)
end

--- Runs `:IdeMcp`. Without arguments, it shows the status.
function M.run(call)
  local words = call.args ~= '' and call.args or 'status'
  local name, bang, arguments = (words .. ' '):match('^(%S-)(!?)%s+(.-)%s*$')
  call.bang = call.bang or bang == '!'
  if not without_arguments[name] and not with_arguments[name] then
    return warn(('there is no command %s: `:help :IdeMcp` has them all'):format(name))
  end
  if without_arguments[name] and arguments ~= '' then return warn(name .. ' takes no arguments') end
  if call.bang and name ~= 'send' then return warn(name .. ' takes no !') end
  if without_arguments[name] then return without_arguments[name]() end
  with_arguments[name](arguments, call)
end

--- Returns the completions of what is typed.
function M.complete(typed, line)
  local name = line:match('IdeMcp!?%s+(%S+)%s')
  if name == 'mention' then return fn.getcompletion(typed, 'file') end
  if name == 'open' or name == 'toggle' or name == 'focus' then
    return vim.tbl_filter(function(word) return vim.startswith(word, typed) end, { '--continue', '--resume', '--model' })
  end
  if name then return {} end
  local names = vim.tbl_filter(function(word) return vim.startswith(word, typed) end,
    vim.list_extend(vim.tbl_keys(without_arguments), vim.tbl_keys(with_arguments)))
  table.sort(names)
  return names
end

return M
