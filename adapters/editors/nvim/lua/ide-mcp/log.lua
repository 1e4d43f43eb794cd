--- The log of the plugin: its messages to the person, and what agents did. `:help ide-mcp-log`
local M = {}

local max_bytes = 400 -- of the message in a line: it can contain a long path, or the output of another program

local levels = { debug = 1, info = 2, warn = 3, error = 4, off = 5 }
-- The events with the level `info`; the others have `debug`. The contents of files are never logged.
local news = { listening = true, connected = true, closed = true, diff = true, diff_closed = true, over = true, gap = true,
  problem = true, error = true, lock_file = true }

--- Returns the path of the log.
---@return string
function M.path()
  local folder = vim.fn.stdpath(vim.fn.has('nvim-0.8') == 1 and 'log' or 'cache')
  return folder .. '/ide-mcp.log'
end

local function is_on(level)
  return levels[level] >= (levels[require('ide-mcp').options.log.level] or levels.warn)
end

-- Writes a line. A log that has reached its size is renamed to `.old`, so there are at most two.
local function write(level, text)
  local path = M.path()
  local stat = vim.loop.fs_stat(path)
  if stat and stat.size > require('ide-mcp').options.log.size then vim.loop.fs_rename(path, path .. '.old') end
  if not stat then vim.fn.mkdir(vim.fn.fnamemodify(path, ':h'), 'p') end
  local file = vim.loop.fs_open(path, 'a', 384) -- 0600
  if not file then return end
  vim.loop.fs_write(file, ('%s %-5s %s\n'):format(os.date('%Y-%m-%d %H:%M:%S'), level, vim.fn.strpart(text, 0, max_bytes)))
  vim.loop.fs_close(file)
end

--- Logs a message to the person, which is one plain line.
function M.message(level, text)
  if is_on(level) then write(level, text) end
end

--- Logs an event of the sidecar.
function M.event(event)
  local level = news[event.event] and 'info' or 'debug'
  if not is_on(level) then return end
  local safe = require('ide-mcp.messages').safe
  local words = { event.event }
  for _, name in ipairs({ 'conn', 'call', 'tool', 'client', 'label', 'reason', 'message', 'state' }) do
    if event[name] ~= nil then table.insert(words, ('%s=%s'):format(name, safe(tostring(event[name])))) end
  end
  write(level, table.concat(words, ' '))
end

--- Shows the log.
function M.open()
  if not vim.loop.fs_stat(M.path()) then return require('ide-mcp.messages').say('the log is empty: ' .. M.path()) end
  require('ide-mcp.files').quietly(function() vim.cmd('split ' .. vim.fn.fnameescape(M.path())) end)
  vim.bo.readonly, vim.bo.modifiable, vim.bo.bufhidden, vim.bo.autoread = true, false, 'wipe', true
  vim.cmd('normal! G')
end

return M
