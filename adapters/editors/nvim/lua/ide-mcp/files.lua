--- Files: their names, their buffers, and what happens to these when an agent opens or writes a file.
local messages, is_too_deep = require('ide-mcp.messages'), require('ide-mcp.too_deep')
local split = require('ide-mcp.text').split
local api, fn = vim.api, vim.fn
local M = {}

local max_file = 16 * 1024 * 1024 -- the largest file that an agent can open: the limit of the sidecar
-- The largest text with syntax highlighting, and its longest line, in bytes. Measured with Neovim 0.7.2 and 0.12.4: the
-- jump to the end of 600 KiB of JavaScript takes 0.4 to 0.6 s, and each key in a line of 1 MiB of JSON takes 0.1 s.
M.max_highlighted = 512 * 1024
local max_line = 64 * 1024
-- The maximum size of all files that were loaded for agents and that the person has not seen: twice the largest file.
-- Without this limit, Neovim grew by 600 MB for 30 files of 15 MiB. A small file counts as `min_buffer`, since any
-- buffer takes 40 to 210 KiB.
local max_unseen, min_buffer = 32 * 1024 * 1024, 64 * 1024
-- The extensions of files that Neovim's plugins unpack: 16 MiB can unpack to a text without an end.
local packed = {
  gz = true, Z = true, bz2 = true, xz = true, lzma = true, lz = true, lz4 = true, lzo = true, zst = true, br = true,
}
local unseen = {} -- the sizes of files that were loaded for agents and not seen by the person, by buffer
local times = {} -- the modification times of files when Neovim last read or wrote them, by buffer

--- Returns a key that is the same for all spellings of a path. On Windows, they differ in case and, with 'shellslash',
--- in the slashes.
function M.key(path, is_windows)
  if is_windows == nil then is_windows = fn.has('win32') == 1 end
  return is_windows and (path:gsub('\\', '/'):lower()) or path
end

--- Returns the key of a path with its links resolved.
function M.real(path) return M.key(vim.loop.fs_realpath(path) or path) end

--- Returns the loaded buffer of a file, or nil. The buffer may have another path of the same file, through links.
function M.buffer(path)
  local function find(form)
    local wanted = form(path)
    for _, buf in ipairs(api.nvim_list_bufs()) do
      local is_file = api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
      if is_file and form(api.nvim_buf_get_name(buf)) == wanted then return buf end
    end
  end
  return path and (find(M.key) or find(M.real))
end

--- Returns whether the name of a buffer is the path of a file. Otherwise it is empty, or a URL such as
--- `scp://host/file`. A Windows path begins with a drive or a share.
function M.is_path(name) return (name:find('^/') or name:find('^%a:[/\\]') or name:find('^\\\\')) ~= nil end

--- Returns the path of the current buffer, or nil.
function M.path()
  local name = api.nvim_buf_get_name(0)
  return M.is_path(name) and name
end

--- Returns the URI of a file, spelled as the library `ide-mcp` does; `vim.uri_from_fname` would encode the backslashes
--- of a share. A URL stays as it is.
function M.uri(path)
  if not M.is_path(path) then return path end
  local drive, rest = path:match('^(%a):([/\\].*)')
  if drive or path:find('^\\\\') then path = (rest or path):gsub('\\', '/') end
  local encoded = path:gsub('[^%w/._~-]', function(byte) return ('%%%02X'):format(byte:byte()) end)
  return 'file://' .. (drive and '/' .. drive:upper() .. ':' or '') .. encoded
end

--- Returns why lines are too much for highlighting, or nil. The limits are in bytes.
function M.too_large(lines, limit, line_limit)
  local size = 0
  for _, line in ipairs(lines) do
    if #line > (line_limit or max_line) then return ('a line of %d KiB'):format(#line / 1024) end
    size = size + #line + 1
  end
  return size > (limit or M.max_highlighted) and ('%d KiB'):format(size / 1024) or nil
end

--- Returns whether a file with these attributes can be read. A FIFO or a device would block Neovim, or has no end.
function M.is_plain(stat) return stat and stat.type == 'file' and stat.size <= max_file end

--- Returns the text of a file on disk, or nil.
function M.read(path)
  local flags = vim.loop.constants
  -- Checks the file that it has opened, so that nobody can swap it. With `O_NONBLOCK`, opening a FIFO does not block.
  local file = vim.loop.fs_open(path, flags.O_RDONLY + (flags.O_NONBLOCK or 0), 0)
  if not file then return nil end
  local stat = vim.loop.fs_fstat(file)
  local text = M.is_plain(stat) and vim.loop.fs_read(file, stat.size, 0) or nil
  vim.loop.fs_close(file)
  return text
end

--- Returns the lines of the file that a proposal is about: those of its buffer, with the unsaved changes of the person,
--- or the text in the event.
function M.before(proposal)
  local buf = M.buffer(proposal.old_path)
  if buf then return api.nvim_buf_get_lines(buf, 0, -1, false) end
  return (split(proposal.old or ''))
end

--- Remembers the modification time of a buffer's file.
function M.remember_time(buf)
  local stat = vim.loop.fs_stat(api.nvim_buf_get_name(buf))
  times[buf] = stat and stat.mtime
end

--- Returns whether a file was changed since its buffer was read or written. If the buffer was read without
--- autocommands, the time is unknown, and the file counts as changed.
function M.is_changed_on_disk(buf)
  local stat = vim.loop.fs_stat(api.nvim_buf_get_name(buf))
  return stat and not vim.deep_equal(stat.mtime, times[buf])
end

--- Calls `act`, which reads, enters, writes or leaves buffers for an agent, and returns its result. Meanwhile Neovim
--- asks the person nothing, because their next key would be the answer, and it ignores modelines. `ignored` are the
--- events to ignore, and `choice` says what to do with a buffer whose file was changed on disk, where Neovim would ask.
function M.quietly(act, ignored, choice)
  local saved, set = {}, {
    shortmess = vim.go.shortmess .. 'A', confirm = false, more = false, eventignore = ignored,
    modelines = 0, modeline = false, -- the buffer keeps this, so modelines are also ignored when it is read again
  }
  for name in pairs(set) do saved[name] = vim.go[name] end
  local on_change = api.nvim_create_autocmd('FileChangedShell', {
    callback = function() vim.v.fcs_choice = choice or '' end,
  })
  local is_done, result = pcall(function()
    for name, value in pairs(set) do vim.go[name] = value end
    return act()
  end)
  api.nvim_del_autocmd(on_change)
  for name, value in pairs(saved) do
    pcall(function() vim.go[name] = value end) -- an autocommand of OptionSet can fail
  end
  if not is_done then error(result, 0) end
  return result
end

--- Returns whether Neovim would abort, in the parser that highlights a buffer, if the buffer read its file again.
function M.would_abort(buf, path)
  local highlighter = vim.treesitter.highlighter
  return highlighter and highlighter.active[buf] and M.is_changed_on_disk(buf) and is_too_deep(M.read(path) or '')
end

--- Reads a file again if it was changed on disk. Unsaved changes stay: Neovim would ask about them, and take the next
--- keys as the answer.
---
--- `accepted` is a proposal that the person accepted and the agent writes: its `text`, and the buffer `buf` that it was
--- compared with, when this had the tick `tick`. If that is what the file has, the person has decided about the unsaved
--- changes too: they are replaced, and `:undo` brings them back. Returns whether another text is on disk.
function M.reread(path, accepted)
  local buf = M.buffer(path)
  if not buf or not M.is_plain(vim.loop.fs_stat(path)) then return false end
  local function check(choice)
    if M.would_abort(buf, path) then
      return messages.warn(fn.fnamemodify(path, ':t') .. ' on disk is nested too deep for a parser, and is not read again')
    end
    M.quietly(function() vim.cmd('checktime ' .. buf) end, nil, choice)
  end
  if not vim.bo[buf].modified then
    local is_wanted = api.nvim_buf_call(buf, function() return api.nvim_eval('&autoread') == 1 end)
    if is_wanted then check() end -- otherwise the person reads it again
    return false
  end
  if not accepted or not M.is_changed_on_disk(buf) then return false end
  -- The agent can have its own line ends and its own mark of the encoding.
  local function plain(text) return text and text:gsub('^\239\187\191', ''):gsub('\r\n', '\n') end
  local is_same = plain(M.read(path)) == plain(accepted.text)
  if not is_same or buf ~= accepted.buf or api.nvim_buf_get_changedtick(buf) ~= accepted.tick then return true end
  local undoreload = vim.o.undoreload
  vim.o.undoreload = -1 -- a long text can be undone too
  local is_done, problem = pcall(check, 'reload')
  vim.o.undoreload = undoreload
  if not is_done then error(problem, 0) end
  return vim.bo[buf].modified
end

--- Called for each key: the person has seen the windows of the current tab.
function M.mark_seen()
  if not next(unseen) then return end
  for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do unseen[api.nvim_win_get_buf(window)] = nil end
end

-- Counts the size of a file that is loaded for an agent, or fails if there is no room for it.
local function count(buf, size)
  local sum = math.max(size, min_buffer)
  for other, bytes in pairs(unseen) do
    if api.nvim_buf_is_loaded(other) then sum = sum + bytes else unseen[other] = nil end
  end
  if sum > max_unseen then
    error('agents can open only 32 MiB of files that the person has not seen: show one with makeFrontmost', 0)
  end
  unseen[buf] = math.max(size, min_buffer)
end

--- Reads a file that an agent names into its buffer. Some files are read without autocommands, and so without a file
--- type: large ones, those that a plugin would unpack, and those at which a parser would abort Neovim.
function M.load(buf, path, size)
  local is_deep = size <= M.max_highlighted and is_too_deep(M.read(path) or '')
  local is_bare = size > M.max_highlighted or packed[fn.fnamemodify(path, ':e')] or is_deep
  count(buf, size)
  M.quietly(function() fn.bufload(buf) end, is_bare and 'all' or 'BufReadCmd')
  vim.bo[buf].buflisted = true
  M.remember_time(buf)
  local notes = {} -- for one message: a second one would make Neovim wait for a key
  if is_deep then table.insert(notes, 'is nested too deep for a parser, and has no file type') end
  if not fn.swapname(buf):find('%.swp$') and fn.swapname(buf) ~= '' then
    vim.bo[buf].readonly = true
    table.insert(notes, 'has a swap file of another editor, and is read-only here')
  end
  if notes[1] then messages.warn(fn.fnamemodify(path, ':t') .. ' ' .. table.concat(notes, '; it ')) end
end

return M
