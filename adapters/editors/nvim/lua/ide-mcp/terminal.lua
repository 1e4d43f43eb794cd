--- The terminals of agents: opens, hides and shows them, and types texts into them. `:help ide-mcp-terminal`
local messages, providers, split = require('ide-mcp.messages'), require('ide-mcp.providers'), require('ide-mcp.split')
local turns, utf8 = require('ide-mcp.turns'), require('ide-mcp.text').utf8
local api, fn = vim.api, vim.fn
local M = {}

local terminals = {} -- by number
local last = 1 -- the number of the terminal that the person used last
local back -- the window that was current before the terminal

local warn = messages.warn

-- Returns the folder of an agent, by default that of Neovim.
local function folder_of(choice)
  local cwd = fn.getcwd()
  if type(choice) == 'function' then return choice() or cwd end
  if choice ~= 'git' then return cwd end
  local folder = cwd
  while true do
    if vim.loop.fs_stat(folder .. '/.git') then return folder end -- in a worktree it is a file
    local above = fn.fnamemodify(folder, ':h')
    if above == folder then return cwd end
    folder = above
  end
end

-- Returns the terminal with a number, if its agent runs.
local function running(number)
  local terminal = terminals[number]
  if not terminal or terminal.has_ended then return nil end
  if terminal.is_alive and not terminal:is_alive() then return nil end
  return (not terminal.buf or api.nvim_buf_is_valid(terminal.buf)) and terminal or nil
end

-- Closes the terminal of an agent that has ended, when the person does not type. If the agent failed, its window stays,
-- with the last output.
local function on_exit(number, terminal, status)
  terminal.has_ended = true
  if terminal.buf == api.nvim_get_current_buf() then vim.cmd('stopinsert') end -- keys still typed are meant for the agent
  turns.later(function()
    local is_there = terminal.buf and api.nvim_buf_is_valid(terminal.buf) -- otherwise the person has closed it
    if status ~= 0 and is_there then return warn(('the agent has ended with status %d'):format(status)) end
    if terminals[number] ~= terminal then return end
    terminals[number] = nil
    terminal:close()
  end)
end

-- Starts an agent in a terminal. Returns the terminal, or nil after a message.
local function start(number, words)
  local plugin = require('ide-mcp')
  local options = plugin.options.terminal
  local command = vim.list_extend(vim.list_slice(options.command), words)
  if fn.executable(command[1]) == 0 then
    return warn(command[1] .. ' is not in PATH: install it, or name the agent in terminal.command')
  end
  -- The agent finds this Neovim by the variables of its sidecar.
  if plugin.is_running() then vim.wait(2000, function() return plugin.port ~= nil end, 20) end
  if terminals[number] then terminals[number]:close() end
  local size = options.size > 0 and options.size or options.layout == 'float' and 0.8 or 0.4
  local terminal, early -- the agent can end before the terminal is known
  local is_done, problem = pcall(providers.open, options.provider, {
    command = command, folder = folder_of(options.folder), layout = options.layout, size = size, number = number,
    external = options.external, environment = plugin.environment,
    on_exit = vim.schedule_wrap(function(status)
      if terminal then on_exit(number, terminal, status) else early = status end
    end),
  })
  if not is_done then return warn(problem) end
  terminal = problem
  terminals[number] = terminal
  if terminal.buf then vim.b[terminal.buf].ide_mcp_terminal = number end
  if early then on_exit(number, terminal, early) end
  return terminal
end

-- Goes to a terminal.
local function enter(terminal)
  if terminal:is_focused() then return end
  back = api.nvim_get_current_win()
  if not terminal:is_shown() then terminal:show() end
  terminal:focus()
end

-- Returns the number and the words of arguments such as `2 --resume`, or nil after a message.
local function parse(line)
  local words, problem = split(line)
  if not words then return warn(problem) end
  if not (words[1] or ''):find('^%d%d?$') then return nil, words end
  return tonumber(table.remove(words, 1)), words
end

-- Calls a function with the running terminal that arguments name and with the words for the agent, or starts an agent.
local function with(line, act)
  local number, words = parse(line)
  if not words then return end
  number = number or vim.b.ide_mcp_terminal or last
  last = number
  local terminal = running(number)
  if terminal then return act(terminal, words) end
  local window = api.nvim_get_current_win()
  terminal = start(number, words)
  if not terminal then return end
  back = window
  if not terminal.has_ended then terminal:start() end
end

--- Returns the number of the terminal in which a process runs, or nil.
function M.number_of(process)
  for number, terminal in pairs(terminals) do
    local job = terminal.buf and running(number) and vim.b[terminal.buf].terminal_job_id
    if job and fn.jobpid(job) == process then return number end
  end
end

--- Opens a terminal, or goes to the one that is there.
function M.open(line)
  with(line, function(terminal, words)
    if words[1] then
      warn(('agent %d runs already: `:IdeMcp open %d …` starts another one'):format(last, last + 1))
    end
    enter(terminal)
  end)
end

--- Hides a terminal if it is shown, and shows it otherwise.
function M.toggle(line)
  with(line, function(terminal)
    if not terminal:is_shown() then return enter(terminal) end
    local was_focused = terminal:is_focused()
    terminal:hide()
    if was_focused and back and api.nvim_win_is_valid(back) then api.nvim_set_current_win(back) end
  end)
end

--- Goes to a terminal, or back from it.
function M.focus(line)
  with(line, function(terminal)
    if not terminal:is_focused() then return enter(terminal) end
    if back and api.nvim_win_is_valid(back) and back ~= api.nvim_get_current_win() then
      api.nvim_set_current_win(back)
    else
      vim.cmd('wincmd p')
    end
  end)
end

-- Returns a line without control characters and line separators, so that nothing in it acts as a key or ends the paste.
local function plain(line)
  for _, pattern in ipairs({ '%c', '\194[\128-\159]', '\226\128[\168\169]' }) do line = line:gsub(pattern, ' ') end
  return line
end

-- Returns the terminal that was used last, if it is running, or nil after a message.
local function used_last()
  return running(last) or warn('there is no terminal of an agent: `:IdeMcp open` opens one')
end

--- Interrupts the agent in the terminal that was used last: presses Escape there.
function M.interrupt()
  local terminal = used_last()
  if terminal and not terminal:interrupt() then warn('this terminal takes no keys') end
end

--- Pastes a text into the terminal that was used last, and presses Enter if `has_enter`. Nothing in the text acts as a
--- key.
function M.send(text, has_enter)
  local terminal = used_last()
  if not terminal then return end
  text = utf8(text):gsub('\r\n', '\n'):gsub('\t', '    ')
  local lines = vim.tbl_map(plain, vim.split(text, '\n'))
  -- The marks of a bracketed paste are always sent: an agent that is just starting has not asked for them yet, but will
  -- understand them.
  if not terminal:send('\27[200~' .. table.concat(lines, '\n') .. '\27[201~') then
    return warn('this terminal takes no text')
  end
  -- Enter comes later: at once, an agent could take it for a part of the paste.
  if has_enter then vim.defer_fn(function() terminal:send('\r') end, 100) end
end

return M
