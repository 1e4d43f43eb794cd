--- What agents learn about Neovim: the selection, and the answers of the tools.
local files, text = require('ide-mcp.files'), require('ide-mcp.text')
local api, fn = vim.api, vim.fn
local M = { tools = {} }

local max_text = 256 * 1024 -- the longest selection that agents receive, in bytes
-- The longest text that `openFile` looks for, in bytes. In 16 MiB of the same letter, it takes 0.3 s to look for 999 of
-- these letters and another one.
local max_sought = 1000
local severities = { 'Error', 'Warning', 'Information', 'Hint' }

-- Returns a line of a loaded buffer. Rows and columns count from 0.
local function line_of(buf, row) return api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or '' end

--- Returns the selection as a command. A blockwise selection counts as whole lines. Returns nil in a command line, in a
--- file tree, and in a terminal, where the agent may run: there, agents keep the selection from before.
function M.selection()
  local buf, mode = api.nvim_get_current_buf(), fn.mode()
  local path = files.path()
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
  -- If a text is longer than the limit, the sidecar sends only its beginning.
  local cut = fn.byte2line(api.nvim_buf_get_offset(buf, first) + from + max_text + 2) - 1
  local lines = api.nvim_buf_get_lines(buf, first, (cut < 0 and last or math.min(last, cut)) + 1, false)
  if #lines == last - first + 1 then lines[#lines] = lines[#lines]:sub(1, to) end
  lines[1] = lines[1]:sub(from + 1)
  local start, stop = { first, text.units(line_of(buf, first), from) }, { last, text.units(line_of(buf, last), to) }
  return { cmd = 'select', path = path, start = start, ['end'] = stop, text = table.concat(lines, '\n') }
end

-- Converts a problem of Neovim, in a file with these lines, to that of the protocol.
local function problem(item, lines)
  local function at(row, column) return { line = row, character = text.units(lines[row + 1] or '', column) } end
  local stop = at(item.end_lnum or item.lnum, item.end_col or item.col)
  return {
    message = item.message, severity = severities[item.severity], source = item.source,
    code = item.code and tostring(item.code), range = { start = at(item.lnum, item.col), ['end'] = stop },
  }
end

function M.tools.getDiagnostics(arguments, path)
  local found = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local items, name = vim.diagnostic.get(buf), api.nvim_buf_get_name(buf)
    if items[1] and name ~= '' then
      local is_loaded = api.nvim_buf_is_loaded(buf)
      local lines = is_loaded and api.nvim_buf_get_lines(buf, 0, -1, false) or text.split(files.read(name) or '')
      local file = found[files.real(name)] or { uri = files.uri(name), diagnostics = {} }
      for _, item in ipairs(items) do table.insert(file.diagnostics, problem(item, lines)) end
      found[files.real(name)] = file
    end
  end
  if not arguments.uri then return vim.tbl_values(found) end
  return { { uri = arguments.uri, diagnostics = (found[path and files.real(path)] or {}).diagnostics or {} } }
end

function M.tools.getOpenEditors()
  local tabs = {}
  for _, info in ipairs(fn.getbufinfo({ buflisted = 1 })) do
    if info.name ~= '' and vim.bo[info.bufnr].buftype == '' then
      table.insert(tabs, {
        uri = files.uri(info.name), label = fn.fnamemodify(info.name, ':t'), isDirty = info.changed == 1,
        isActive = info.bufnr == fn.bufnr(), languageId = vim.bo[info.bufnr].filetype,
      })
    end
  end
  return { tabs = tabs }
end

-- Returns a tool that works only for an open file, for which it calls `answer`.
local function of_open_file(answer)
  return function(_, path)
    local buf = files.buffer(path)
    if not buf then return { success = false, message = 'Document not open: ' .. tostring(path) } end
    return vim.tbl_extend('error', { success = true, filePath = path }, answer(buf))
  end
end

M.tools.checkDocumentDirty = of_open_file(function(buf)
  return { isDirty = vim.bo[buf].modified, isUntitled = false }
end)

M.tools.saveDocument = of_open_file(function(buf)
  -- Otherwise Neovim would ask, even with `noconfirm`, and take the next keys as the answer.
  if files.is_changed_on_disk(buf) then error('not saved: the file has changed on disk as well', 0) end
  if vim.bo[buf].readonly then error('not saved: the buffer is read-only', 0) end
  files.quietly(function() api.nvim_buf_call(buf, function() vim.cmd('update') end) end)
  return { saved = true, message = 'Document saved successfully' }
end)

-- Returns the row and the column of a byte in joined lines. All three count from 1.
local function place(lines, at)
  for row, line in ipairs(lines) do
    if at <= #line + 1 then return row, at end
    at = at - #line - 1
  end
end

-- Selects from the first `startText` at or after a line of the current buffer to the end of the next `endText`.
local function select_text(arguments, line)
  local lines = api.nvim_buf_get_lines(0, line - 1, -1, false)
  local all = table.concat(lines, '\n')
  local function find(wanted, from)
    if (wanted or '') ~= '' then return all:find(wanted, from, true) end
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
    local sought = arguments[name] or ''
    if type(sought) ~= 'string' or #sought > max_sought then
      error(('%s must be a string of at most %d bytes'):format(name, max_sought), 0)
    end
  end
  local stat = path and vim.loop.fs_stat(path)
  if not files.is_plain(stat) then error('there is no plain file of at most 16 MiB: ' .. arguments.filePath, 0) end
  local buf = fn.bufadd(path)
  if not api.nvim_buf_is_loaded(buf) then
    files.load(buf, path, stat.size)
  elseif files.would_abort(buf, path) then -- Neovim reads a buffer again when it is entered
    error('the file on disk is nested too deep for a parser: ' .. path, 0)
  end
  if arguments.makeFrontmost == false then
    local count = api.nvim_buf_line_count(buf)
    return { success = true, filePath = path, languageId = vim.bo[buf].filetype, lineCount = count }
  end
  -- Uses a window with a file, and not that of an agent's terminal.
  local function has_file(window) return vim.bo[api.nvim_win_get_buf(window)].buftype == '' end
  local windows = vim.list_extend(fn.win_findbuf(buf), vim.tbl_filter(has_file, api.nvim_tabpage_list_wins(0)))
  files.quietly(function()
    if windows[1] then api.nvim_set_current_win(windows[1]) else vim.cmd('split') end
    api.nvim_win_set_buf(0, buf)
  end)
  if stat.size > files.max_highlighted then vim.cmd('setlocal nowrap') end -- a line of 15 MB takes 1.4 s to wrap
  local line = math.max(1, math.min(math.floor(arguments.startLine or 1), api.nvim_buf_line_count(buf)))
  api.nvim_win_set_cursor(0, { line, 0 })
  select_text(arguments, line)
  return 'Opened file: ' .. path
end

return M
