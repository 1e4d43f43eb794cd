--- The kinds of terminals for agents: `:help ide-mcp-provider`. A provider is a function that gets how to start the
--- agent (`IdeMcp.Start`), and returns the terminal: a table with `buf`, its buffer, or with functions that replace
--- those of `methods`.
local api, fn = vim.api, vim.fn
local M = {}

-- The methods of a terminal in a buffer.
local methods = {}
methods.__index = methods

-- Returns the window of the terminal in the current tab, or nil.
local function window_of(terminal)
  local window = terminal.buf and api.nvim_buf_is_valid(terminal.buf) and fn.bufwinid(terminal.buf) or -1
  return window ~= -1 and window or nil
end

function methods:is_shown() return window_of(self) ~= nil end

function methods:is_focused() return self.buf == api.nvim_get_current_buf() end

function methods:hide()
  for _, window in ipairs(fn.win_findbuf(self.buf)) do
    local is_last = #api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(window)) == 1
    if is_last then api.nvim_win_call(window, function() vim.cmd('enew') end) else api.nvim_win_close(window, true) end
  end
end

function methods:focus()
  local window = window_of(self)
  if not window then return end
  api.nvim_set_current_win(window)
  vim.cmd('startinsert')
end

function methods:send(text)
  return pcall(fn.chansend, vim.b[self.buf].terminal_job_id, text)
end

--- Presses Escape.
function methods:interrupt() return self:send('\27') end

--- Takes the focus after the start.
function methods:start() self:focus() end

--- Removes what is left of the terminal after its agent has ended.
function methods:close()
  if self.buf and api.nvim_buf_is_valid(self.buf) then
    self:hide()
    api.nvim_buf_delete(self.buf, { force = true })
  end
end

local function cells(size, all) return math.max(1, math.floor(size <= 1 and size * all or size)) end

-- Opens a window for a buffer.
local function open_window(buf, start)
  local columns, lines = vim.o.columns, vim.o.lines - vim.o.cmdheight - 1
  if start.layout == 'float' then -- with a border around it
    local width, height = cells(start.size, columns - 2), cells(start.size <= 1 and start.size or 0.8, lines - 2)
    api.nvim_open_win(buf, true, {
      relative = 'editor', style = 'minimal', border = 'rounded', width = width, height = height,
      col = math.floor((columns - width) / 2) - 1, row = math.floor((lines - height) / 2) - 1,
    })
    return
  end
  local commands = { left = 'topleft vsplit', right = 'botright vsplit', above = 'topleft split', below = 'botright split' }
  local command = commands[start.layout] or error('no layout ' .. tostring(start.layout), 0)
  vim.cmd(command)
  local is_vertical = command:find('vsplit') ~= nil
  vim.cmd((is_vertical and 'vertical ' or '') .. 'resize ' .. cells(start.size, is_vertical and columns or lines))
  api.nvim_win_set_buf(0, buf)
  vim.cmd('setlocal nonumber norelativenumber nospell nolist nocursorline signcolumn=no')
  vim.cmd('setlocal ' .. (is_vertical and 'winfixwidth' or 'winfixheight'))
end

function methods:show() open_window(self.buf, self.wanted) end

--- The terminal of Neovim.
function M.native(start)
  local terminal = setmetatable({ buf = api.nvim_create_buf(false, true), wanted = start }, methods)
  terminal:show()
  local options = { cwd = start.folder, on_exit = function(_, status) start.on_exit(status) end }
  local is_done, job
  if fn.has('nvim-0.11') == 1 then
    options.term = true
    is_done, job = pcall(fn.jobstart, start.command, options)
  else
    is_done, job = pcall(fn.termopen, start.command, options)
  end
  if is_done and job > 0 then
    pcall(api.nvim_buf_set_name, terminal.buf, ('ide-mcp://agent/%d'):format(start.number)) -- a short name
    return terminal
  end
  terminal:close()
  error(is_done and start.command[1] .. ' cannot be started' or job, 0)
end

--- The terminal of snacks.nvim.
function M.snacks(start)
  local positions = { above = 'top', below = 'bottom' }
  local size = start.size
  local window = require('snacks').terminal.open(start.command, {
    cwd = start.folder, auto_close = false,
    win = { position = positions[start.layout] or start.layout, width = size, height = size },
  })
  local terminal = setmetatable({ buf = window.buf }, methods)
  function terminal:show() window:show() end
  function terminal:hide() window:hide() end
  api.nvim_create_autocmd('TermClose', { buffer = window.buf, once = true, callback = function()
    start.on_exit(vim.v.event.status)
  end })
  return terminal
end

--- The terminal of toggleterm.nvim, which takes a shell command.
function M.toggleterm(start)
  local directions = { left = 'vertical', right = 'vertical', above = 'horizontal', below = 'horizontal' }
  local direction = directions[start.layout] or start.layout
  local size = cells(start.size, direction == 'vertical' and vim.o.columns or vim.o.lines)
  local other = require('toggleterm.terminal').Terminal:new({
    cmd = table.concat(vim.tbl_map(fn.shellescape, start.command), ' '), dir = start.folder, direction = direction,
    hidden = true, close_on_exit = false, on_exit = function(_, _, status) start.on_exit(status) end,
  })
  other:open(size)
  local terminal = setmetatable({ buf = other.bufnr }, methods)
  function terminal:show() other:open(size) end
  function terminal:hide() other:close() end
  return terminal
end

-- Returns the command of an agent with `env` and its variables, for a terminal that does not inherit them from Neovim.
local function with_environment(start)
  local command = { 'env' }
  for name, value in pairs(start.environment) do
    if value == vim.NIL then vim.list_extend(command, { '-u', name }) end
  end
  for name, value in pairs(start.environment) do
    if value ~= vim.NIL then table.insert(command, name .. '=' .. value) end
  end
  return vim.list_extend(command, start.command)
end

-- Escapes words for tmux, which takes a semicolon at the end of a word as the end of a command.
local function for_tmux(words)
  return vim.tbl_map(function(word) return (word:gsub(';$', '\\;')) end, words)
end

--- A pane of the tmux in which Neovim runs.
function M.tmux(start)
  if not vim.env.TMUX then error('Neovim does not run in tmux', 0) end
  local function tmux(words, input)
    local command = vim.list_extend({ 'tmux' }, for_tmux(words))
    -- With nil as input, Neovim would write an empty string, and fail if tmux has already ended.
    local output = input and fn.system(command, input) or fn.system(command)
    return vim.v.shell_error == 0 and vim.trim(output) or nil
  end
  local sides = { left = { '-h', '-b' }, right = { '-h' }, above = { '-v', '-b' }, below = { '-v' } }
  local side = sides[start.layout] or sides.right
  local size = start.size <= 1 and ('%d%%'):format(start.size * 100) or tostring(start.size)
  local words = vim.list_extend({ 'split-window', '-P', '-F', '#{pane_id}', '-c', start.folder, '-l', size }, side)
  local pane = tmux(vim.list_extend(words, with_environment(start)))
  if not pane then error('tmux opens no pane', 0) end
  local own = vim.env.TMUX_PANE
  local function window_of_pane(id) return tmux({ 'display-message', '-p', '-t', id, '#{window_id}' }) end
  local terminal = {}
  function terminal:is_alive()
    local panes = tmux({ 'list-panes', '-a', '-F', '#{pane_id}' })
    return panes ~= nil and vim.tbl_contains(vim.split(panes, '\n'), pane)
  end
  function terminal:is_shown() return window_of_pane(pane) == window_of_pane(own) end
  function terminal:is_focused() return false end -- Neovim gets no keys while the pane has the focus
  function terminal:show()
    tmux(vim.list_extend({ 'join-pane', '-d', '-l', size, '-s', pane, '-t', own }, side))
  end
  function terminal:hide() tmux({ 'break-pane', '-d', '-s', pane }) end
  function terminal:focus() tmux({ 'select-pane', '-t', pane }) end
  function terminal:send(text) -- by a buffer of tmux, which takes any bytes; an argument of a command does not
    return tmux({ 'load-buffer', '-b', 'ide-mcp', '-' }, text) ~= nil
      and tmux({ 'paste-buffer', '-r', '-d', '-b', 'ide-mcp', '-t', pane }) ~= nil
  end
  function terminal:interrupt() return tmux({ 'send-keys', '-t', pane, 'Escape' }) ~= nil end
  function terminal:close() end
  return terminal
end

--- A window of another program. The option `external` is its command, and the command of the agent is added to it.
function M.external(start)
  local words, is_tmux = with_environment(start), fn.fnamemodify(start.external[1] or '', ':t') == 'tmux'
  local command = vim.list_extend(vim.list_slice(start.external), is_tmux and for_tmux(words) or words)
  if not start.external[1] or fn.executable(command[1]) == 0 then
    error('the option terminal.external names no program in PATH', 0)
  end
  local job = fn.jobstart(command, { cwd = start.folder, detach = true })
  if job <= 0 then error(command[1] .. ' cannot be started', 0) end
  local terminal = {}
  local function refuse() require('ide-mcp.messages').warn('show and hide the agent in its own window, of ' .. command[1]) end
  function terminal:is_alive() return fn.jobwait({ job }, 0)[1] == -1 end
  function terminal:is_shown() return true end
  function terminal:is_focused() return false end
  function terminal:send() return false end
  function terminal:close() end
  function terminal:start() end -- the program shows the terminal itself
  terminal.show, terminal.hide, terminal.focus = refuse, refuse, refuse
  return terminal
end

--- The first of snacks and toggleterm that is installed, or the terminal of Neovim.
function M.auto(start)
  if pcall(require, 'snacks') then return M.snacks(start) end
  if pcall(require, 'toggleterm.terminal') then return M.toggleterm(start) end
  return M.native(start)
end

--- Opens a terminal. The provider is the name of a function above, or a function of the person.
function M.open(provider, start)
  local open = type(provider) == 'function' and provider or M[provider]
  if not open then error('no provider ' .. tostring(provider), 0) end
  local terminal = open(start)
  terminal.wanted = start
  return setmetatable(terminal, methods)
end

return M
