--- What agents learn of Neovim: the selection, and the answers of the tools.
local api, fn = vim.api, vim.fn
local is_nested = require('ide-mcp.nested')
local M = { tools = {} }

local max_text = 256 * 1024 -- the longest text of a selection that agents receive, in bytes
local max_file = 16 * 1024 * 1024 -- the largest file that an agent can open, as the sidecar has it
-- The largest text with highlighting of syntax, and its longest line, in bytes. Measured with Neovim 0.7.2 and 0.12.4: in
-- JavaScript the jump to the end of 600 KiB takes 0.4 to 0.6 s, and with a line of 1 MiB of JSON each key 0.1 s.
local max_highlighted, max_line = 512 * 1024, 64 * 1024
-- What the files may have in sum that were loaded for agents and that the person has not seen, in bytes: two of the
-- largest. Of 30 files of 15 MiB Neovim grew by 600 MB. A file counts as what its buffer takes at least: 40 to 210 KiB.
local max_unseen, min_buffer = 32 * 1024 * 1024, 64 * 1024
-- The longest text that `openFile` looks for, in bytes: in 16 MiB of one letter, the search for 999 of them and another
-- letter takes 0.3 s.
local max_sought = 1000
-- The endings of files that the plugins of Neovim unpack: one of 16 MiB can have a text without an end.
local packed = { gz = true, Z = true, bz2 = true, xz = true, lzma = true, lz = true, lz4 = true, lzo = true, zst = true, br = true }
-- What a message and a status line do not have: controls, marks for the direction of writing, and line separators.
local hidden = {
  '%c', '\194[\128-\159]', '\216\156', '\226\128[\139-\143\168-\174]', '\226\129[\160-\175]', '\239\187\191',
}
local unseen = {} -- how much the buffers count that were loaded for agents and that the person has not seen
local times = {} -- when the files of buffers were changed, at the last time that Neovim read or wrote them
local severities = { 'Error', 'Warning', 'Information', 'Hint' }

-- Returns a line of a loaded buffer. Rows and columns count from 0.
local function line_of(buf, row) return api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or '' end

-- Returns a column in UTF-16 units, or in those of another encoding. The other column counts bytes.
local function units(line, column, encoding)
  column = math.min(column, #line)
  if encoding == 'utf-8' then return column end
  if fn.has('nvim-0.11') == 1 then return vim.str_utfindex(line, encoding or 'utf-16', column) end
  local wide, narrow = vim.str_utfindex(line, column)
  return encoding == 'utf-32' and wide or narrow
end

M.units = units

--- Returns what the paths of one file have in common. On Windows they differ in the case, and with 'shellslash' in the
--- slashes.
function M.key(path, is_windows)
  if is_windows == nil then is_windows = fn.has('win32') == 1 end
  return is_windows and (path:gsub('\\', '/'):lower()) or path
end

-- Returns the path of a file without links.
local function real(path) return M.key(vim.loop.fs_realpath(path) or path) end

--- Returns the loaded buffer of a file, or nil. The path of the buffer can go through links.
function M.buffer(path)
  local function find(form)
    local wanted = form(path)
    for _, buf in ipairs(api.nvim_list_bufs()) do
      local is_file = api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
      if is_file and form(api.nvim_buf_get_name(buf)) == wanted then return buf end
    end
  end
  return path and (find(M.key) or find(real))
end

--- Returns whether a name is the path of a file. Others are empty, or an address such as `scp://host/file`. A path of
--- Windows begins with a drive or a share.
function M.is_path(name) return (name:find('^/') or name:find('^%a:[/\\]') or name:find('^\\\\')) ~= nil end

--- Returns the path of the current buffer, or nil.
function M.path()
  local name = api.nvim_buf_get_name(0)
  return M.is_path(name) and name
end

--- Returns the URI of a file, as the library writes it: `vim.uri_from_fname` encodes the backslashes of a share. An
--- address stays as it is.
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
  return size > (limit or max_highlighted) and ('%d KiB'):format(size / 1024) or nil
end

--- Returns the lines of a text, the end of each line, and that of the last one. CR is part of the line ends if all lines
--- end in CR LF.
function M.split(text)
  local is_dos = text:find('\r\n') and not text:gsub('\r\n', ''):find('\n')
  local line_end = is_dos and '\r\n' or '\n'
  local lines, at = {}, 1
  while at do -- `vim.split` takes twice the time
    local stop, last = text:find(line_end, at, true)
    lines[#lines + 1] = text:sub(at, (stop or 0) - 1)
    at = last and last + 1
  end
  local has_end = #lines > 1 and lines[#lines] == ''
  if has_end then table.remove(lines) end
  return lines, line_end, has_end and line_end or ''
end

-- Returns whether the facts about a file are those of one that can be read. A FIFO or a device would hold up Neovim, or
-- has no end.
local function is_plain(stat) return stat and stat.type == 'file' and stat.size <= max_file end

--- Returns a text in which bytes that are not UTF-8 are question marks, if it has any.
function M.utf8(text)
  if text:find('[\128-\255]') and not pcall(fn.json_encode, text) then text = text:gsub('[\128-\255]', '?') end
  return text
end

-- Returns the text of a file on disk, or nil.
local function read(path)
  local flags = vim.loop.constants
  -- The file that was opened is judged, and opening a FIFO does not wait.
  local file = vim.loop.fs_open(path, flags.O_RDONLY + (flags.O_NONBLOCK or 0), 0)
  if not file then return nil end
  local stat = vim.loop.fs_fstat(file)
  local text = is_plain(stat) and vim.loop.fs_read(file, stat.size, 0) or nil
  vim.loop.fs_close(file)
  return text
end

--- Returns the lines of the file that a proposal is about: those of its buffer, with the unsaved changes of the person,
--- or the text in the event.
function M.before(proposal)
  local buf = M.buffer(proposal.old_path)
  if buf then return api.nvim_buf_get_lines(buf, 0, -1, false) end
  return (M.split(proposal.old or ''))
end

-- Returns a text as one line. A mark for the direction of writing or a line separator would turn around the words beside
-- it, and some terminals execute a control character of 8 bits.
local function one_line(text)
  for _, pattern in ipairs(hidden) do text = text:gsub(pattern, ' ') end
  return text
end

--- Returns a text of an agent as one line of at most 64 characters, or of so many columns, in which no quotation mark
--- ends a quotation.
function M.safe(text, columns)
  local line = fn.strcharpart(one_line(text):gsub('"', "'"), 0, 64)
  if not columns or fn.strdisplaywidth(line) <= columns then return line end
  return fn.printf('%.' .. columns - 1 .. 'S…', line)
end

--- Returns the label of a file in at most so many columns: of a longer one the end.
function M.file_name(label, columns)
  local line = M.safe(label)
  while fn.strdisplaywidth(line) > columns do line = '…' .. fn.strcharpart(line, 2) end
  return line
end

--- Tells the person something. A message of more than the line would wait for a key.
function M.warn(message)
  local columns = math.max(0, vim.v.echospace - 9)
  require('ide-mcp.log').message(one_line(tostring(message)))
  vim.notify(fn.printf('ide-mcp: %.' .. columns .. 'S', one_line(tostring(message))), vim.log.levels.WARN)
end

--- Remembers the time of the file that a buffer has.
function M.note_time(buf)
  local stat = vim.loop.fs_stat(api.nvim_buf_get_name(buf))
  times[buf] = stat and stat.mtime
end

-- Returns whether a file was changed since its buffer has read or written it. Nobody knows the time of a buffer that was
-- read without autocommands.
local function is_changed_on_disk(buf)
  local stat = vim.loop.fs_stat(api.nvim_buf_get_name(buf))
  return stat and not vim.deep_equal(stat.mtime, times[buf])
end

--- Reads, enters, writes or leaves buffers for an agent. Meanwhile nothing asks the person, whose next key would be the
--- answer, and no line of a file is an option. `ignored` are the events to ignore, and `choice` says what becomes of a
--- buffer whose file was changed on disk, where Neovim would ask. Returns the result of `act`.
function M.quietly(act, ignored, choice)
  local saved, set = {}, {
    shortmess = vim.go.shortmess .. 'A', confirm = false, more = false, eventignore = ignored,
    modelines = 0, modeline = false, -- a buffer that is read now has no modelines when it is read again either
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

-- Returns whether Neovim would end if a buffer read its file again: by its highlighting.
local function ends_at(buf, path)
  local highlighter = vim.treesitter.highlighter
  return highlighter and highlighter.active[buf] and is_changed_on_disk(buf) and is_nested(read(path) or '')
end

--- Reads a file again, if it was changed on disk. Unsaved changes of the person stay, since Neovim would ask and take the
--- next keys as answer.
---
--- `accepted` is the accepted proposal that an agent writes: its `text`, and the buffer `buf` that it was compared with,
--- when this had the tick `tick`. If that is what the file has, the person has decided about the unsaved changes too:
--- they are replaced, and `:undo` brings them back. Returns whether another text is on disk.
function M.reread(path, accepted)
  local buf = M.buffer(path)
  if not buf or not is_plain(vim.loop.fs_stat(path)) then return false end
  local function check(choice)
    if ends_at(buf, path) then
      return M.warn(fn.fnamemodify(path, ':t') .. ' on disk is nested too deep for a parser, and is not read again')
    end
    M.quietly(function() vim.cmd('checktime ' .. buf) end, nil, choice)
  end
  if not vim.bo[buf].modified then
    local is_wanted = api.nvim_buf_call(buf, function() return api.nvim_eval('&autoread') == 1 end)
    if is_wanted then check() end -- else the person reads it
    return false
  end
  if not accepted or not is_changed_on_disk(buf) then return false end
  -- The agent can have its own line ends and its own mark of the encoding.
  local function plain(text) return text and text:gsub('^\239\187\191', ''):gsub('\r\n', '\n') end
  local is_same = plain(read(path)) == plain(accepted.text)
  if not is_same or buf ~= accepted.buf or api.nvim_buf_get_changedtick(buf) ~= accepted.tick then return true end
  local undoreload = vim.o.undoreload
  vim.o.undoreload = -1 -- a long text can be undone too
  local is_done, problem = pcall(check, 'reload')
  vim.o.undoreload = undoreload
  if not is_done then error(problem, 0) end
  return vim.bo[buf].modified
end

--- Returns the selection as a command. A block counts as whole lines. Returns nil in a command line, in a list of files, and
--- in a terminal, where the agent may be: the selection of before stays.
function M.selection()
  local buf, mode = api.nvim_get_current_buf(), fn.mode()
  local path = M.path()
  local is_list = vim.bo.buftype ~= '' or vim.bo.filetype == 'netrw'
  if is_list or mode:find('^[ct]') then return nil end
  if not path then return { cmd = 'clear' } end
  local a, b = fn.getpos('v'), fn.getpos('.')
  if not mode:find('^[vV\22]') then a = b end
  if a[2] > b[2] or a[2] == b[2] and a[3] > b[3] then a, b = b, a end
  local first, from, last, to = a[2] - 1, a[3] - 1, b[2] - 1, b[3] - 1
  if mode:find('^[V\22]') then
    from, to = 0, #line_of(buf, last)
  elseif mode == 'v' and vim.o.selection ~= 'exclusive' then
    to = to + #fn.matchstr(line_of(buf, last):sub(to + 1), '.')
  end
  -- Of a longer text, the sidecar sends the beginning.
  local cut = fn.byte2line(api.nvim_buf_get_offset(buf, first) + from + max_text + 2) - 1
  local lines = api.nvim_buf_get_lines(buf, first, (cut < 0 and last or math.min(last, cut)) + 1, false)
  if #lines == last - first + 1 then lines[#lines] = lines[#lines]:sub(1, to) end
  lines[1] = lines[1]:sub(from + 1)
  local start, stop = { first, units(line_of(buf, first), from) }, { last, units(line_of(buf, last), to) }
  return { cmd = 'select', path = path, start = start, ['end'] = stop, text = table.concat(lines, '\n') }
end

-- Returns a problem in the lines of a file.
local function problem(item, lines)
  local function at(row, column) return { line = row, character = units(lines[row + 1] or '', column) } end
  local stop = at(item.end_lnum or item.lnum, item.end_col or item.col)
  return {
    message = item.message, severity = severities[item.severity], source = item.source,
    code = item.code and tostring(item.code), range = { start = at(item.lnum, item.col), ['end'] = stop },
  }
end

function M.tools.getDiagnostics(arguments, path)
  local files = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local items, name = vim.diagnostic.get(buf), api.nvim_buf_get_name(buf)
    if items[1] and name ~= '' then
      local is_loaded = api.nvim_buf_is_loaded(buf)
      local lines = is_loaded and api.nvim_buf_get_lines(buf, 0, -1, false) or M.split(read(name) or '')
      local file = files[real(name)] or { uri = M.uri(name), diagnostics = {} }
      for _, item in ipairs(items) do table.insert(file.diagnostics, problem(item, lines)) end
      files[real(name)] = file
    end
  end
  if not arguments.uri then return vim.tbl_values(files) end
  return { { uri = arguments.uri, diagnostics = (files[path and real(path)] or {}).diagnostics or {} } }
end

function M.tools.getOpenEditors()
  local tabs = {}
  for _, info in ipairs(fn.getbufinfo({ buflisted = 1 })) do
    if info.name ~= '' and vim.bo[info.bufnr].buftype == '' then
      table.insert(tabs, {
        uri = M.uri(info.name), label = fn.fnamemodify(info.name, ':t'), isDirty = info.changed == 1,
        isActive = info.bufnr == fn.bufnr(), languageId = vim.bo[info.bufnr].filetype,
      })
    end
  end
  return { tabs = tabs }
end

-- Returns a tool for an open file.
local function of_open_file(answer)
  return function(_, path)
    local buf = M.buffer(path)
    if not buf then return { success = false, message = 'Document not open: ' .. tostring(path) } end
    return vim.tbl_extend('error', { success = true, filePath = path }, answer(buf))
  end
end

M.tools.checkDocumentDirty = of_open_file(function(buf)
  return { isDirty = vim.bo[buf].modified, isUntitled = false }
end)

M.tools.saveDocument = of_open_file(function(buf)
  -- Neovim would ask also with `noconfirm`, and take the next keys as answer.
  if is_changed_on_disk(buf) then error('the file was changed on disk', 0) end
  if vim.bo[buf].readonly then error('the buffer is read-only', 0) end
  M.quietly(function() api.nvim_buf_call(buf, function() vim.cmd('update') end) end)
  return { saved = true, message = 'Document saved successfully' }
end)

--- Notes that the person sees the windows of the tab: each key says so.
function M.look()
  if not next(unseen) then return end
  for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do unseen[api.nvim_win_get_buf(window)] = nil end
end

-- Counts the size of a file that is loaded for an agent.
local function count(buf, size)
  local sum = math.max(size, min_buffer)
  for other, bytes in pairs(unseen) do
    if api.nvim_buf_is_loaded(other) then sum = sum + bytes else unseen[other] = nil end
  end
  local remedy = 'Show one with makeFrontmost, for the person to look at'
  if sum > max_unseen then error('files of more than 32 MiB were opened and not looked at. ' .. remedy, 0) end
  unseen[buf] = math.max(size, min_buffer)
end

-- Reads a file that an agent names into its buffer. A large file is read without the autocommands, and so without a
-- type; so is one that a plugin would unpack, or at which a parser would end Neovim.
local function load(buf, path, size)
  local is_deep = size <= max_highlighted and is_nested(read(path) or '')
  local is_bare = size > max_highlighted or packed[fn.fnamemodify(path, ':e')] or is_deep
  count(buf, size)
  M.quietly(function() fn.bufload(buf) end, is_bare and 'all' or 'BufReadCmd')
  vim.bo[buf].buflisted = true
  M.note_time(buf)
  local notes = {} -- one message: a second one would wait for a key
  if is_deep then table.insert(notes, 'is nested too deep for a parser, and has no file type') end
  if not fn.swapname(buf):find('%.swp$') and fn.swapname(buf) ~= '' then
    vim.bo[buf].readonly = true
    table.insert(notes, 'has a swap file of another editor, and is read-only here')
  end
  if notes[1] then M.warn(fn.fnamemodify(path, ':t') .. ' ' .. table.concat(notes, '; it ')) end
end

-- Returns the row and the column of a byte of lines. All count from 1.
local function place(lines, at)
  for row, line in ipairs(lines) do
    if at <= #line + 1 then return row, at end
    at = at - #line - 1
  end
end

-- Selects the first text of the arguments behind a line of the current buffer, to the end of the second text.
local function select_text(arguments, line)
  local lines = api.nvim_buf_get_lines(0, line - 1, -1, false)
  local text = table.concat(lines, '\n')
  local function find(wanted, from)
    if (wanted or '') ~= '' then return text:find(wanted, from, true) end
  end
  local first, last = find(arguments.startText, 1)
  if not first then return end
  local function go(at)
    local row, column = place(lines, at)
    fn.cursor(line + row - 1, column)
  end
  go(first)
  vim.cmd('normal! v')
  go(select(2, find(arguments.endText, first)) or last)
  if arguments.selectToEndOfLine then vim.cmd('normal! g_') end
end

function M.tools.openFile(arguments, path)
  for _, name in ipairs({ 'startText', 'endText' }) do
    local text = arguments[name] or ''
    if type(text) ~= 'string' or #text > max_sought then
      error(('%s is not a text of at most %d bytes'):format(name, max_sought), 0)
    end
  end
  local stat = path and vim.loop.fs_stat(path)
  if not is_plain(stat) then error('there is no file, or none of at most 16 MiB: ' .. arguments.filePath, 0) end
  local buf = fn.bufadd(path)
  if not api.nvim_buf_is_loaded(buf) then
    load(buf, path, stat.size)
  elseif ends_at(buf, path) then -- a buffer that is entered is read again
    error('the file on disk is nested too deep for a parser: ' .. path, 0)
  end
  if arguments.makeFrontmost == false then
    local count = api.nvim_buf_line_count(buf)
    return { success = true, filePath = path, languageId = vim.bo[buf].filetype, lineCount = count }
  end
  -- In a window with a file, not in place of the terminal of an agent.
  local function has_file(window) return vim.bo[api.nvim_win_get_buf(window)].buftype == '' end
  local windows = vim.list_extend(fn.win_findbuf(buf), vim.tbl_filter(has_file, api.nvim_tabpage_list_wins(0)))
  M.quietly(function()
    if windows[1] then api.nvim_set_current_win(windows[1]) else vim.cmd('split') end
    api.nvim_win_set_buf(0, buf)
  end)
  if stat.size > max_highlighted then vim.cmd('setlocal nowrap') end -- a line of 15 MB takes 1.4 s to wrap
  local line = math.max(1, math.min(math.floor(arguments.startLine or 1), api.nvim_buf_line_count(buf)))
  api.nvim_win_set_cursor(0, { line, 0 })
  select_text(arguments, line)
  return 'Opened file: ' .. path
end

return M
