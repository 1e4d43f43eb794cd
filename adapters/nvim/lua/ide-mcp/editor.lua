--- What agents learn of Neovim: the selection, and the answers of the tools.
local api, fn = vim.api, vim.fn
local M = { tools = {} }

local max_text = 256 * 1024 -- the longest text of a selection that agents receive, in bytes
local severities = { 'Error', 'Warning', 'Information', 'Hint' }

-- Returns a line of a loaded buffer. Rows and columns count from 0.
local function line_of(buf, row) return api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or '' end

-- Returns a column in UTF-16 units. The other column counts bytes.
local function units(line, column) return (select(2, vim.str_utfindex(line, math.min(column, #line)))) end

-- Returns the path of a file without links.
local function real(path) return vim.loop.fs_realpath(path) or path end

--- Returns the loaded buffer of a file, or nil. The path of the buffer can go through links.
function M.buffer(path)
  local function find(form)
    local wanted = form(path)
    for _, buf in ipairs(api.nvim_list_bufs()) do
      local is_file = api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
      if is_file and form(api.nvim_buf_get_name(buf)) == wanted then return buf end
    end
  end
  return find(tostring) or path and find(real)
end

--- Returns the path of the current buffer, or nil: a buffer can have no name, or an address such as `scp://host/file`.
function M.path()
  local path = api.nvim_buf_get_name(0)
  return (path:find('^/') or path:find('^%a:[/\\]')) and path
end

--- Returns the lines of a file, with the unsaved changes of the person. Its buffer need not be loaded.
function M.lines(path, buf)
  buf = buf or M.buffer(path)
  if buf and api.nvim_buf_is_loaded(buf) then return api.nvim_buf_get_lines(buf, 0, -1, false) end
  local lines = fn.filereadable(path) == 1 and fn.readfile(path) or {}
  return vim.tbl_map(function(line) return (line:gsub('\r$', '')) end, lines)
end

--- Reads a file again, unless it has unsaved changes of the person: Neovim would ask, and take the next keys as answer.
function M.reread(path)
  local buf = M.buffer(path)
  if buf and not vim.bo[buf].modified then vim.cmd('checktime ' .. buf) end
end

--- Returns the selection as a command. A block counts as whole lines. Returns nil in a command line and in a terminal,
--- where the agent may be: the selection of before stays.
function M.selection()
  local buf, mode = api.nvim_get_current_buf(), fn.mode()
  local path = M.path()
  if vim.bo.buftype ~= '' or mode:find('^[ct]') then return nil end
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
      local lines = M.lines(name, buf)
      local file = files[real(name)] or { uri = vim.uri_from_fname(name), diagnostics = {} }
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
        uri = vim.uri_from_fname(info.name), label = fn.fnamemodify(info.name, ':t'), isDirty = info.changed == 1,
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
  api.nvim_buf_call(buf, function() vim.cmd('update') end)
  return { saved = true, message = 'Document saved successfully' }
end)

function M.tools.openFile(arguments, path)
  if not path or fn.filereadable(path) == 0 then error('there is no file ' .. arguments.filePath, 0) end
  local buf = fn.bufadd(path)
  fn.bufload(buf)
  vim.bo[buf].buflisted = true
  if arguments.makeFrontmost == false then
    local count = api.nvim_buf_line_count(buf)
    return { success = true, filePath = path, languageId = vim.bo[buf].filetype, lineCount = count }
  end
  -- In a window with a file, not in place of the terminal of an agent.
  local function has_file(window) return vim.bo[api.nvim_win_get_buf(window)].buftype == '' end
  local windows = vim.list_extend(fn.win_findbuf(buf), vim.tbl_filter(has_file, api.nvim_tabpage_list_wins(0)))
  if windows[1] then api.nvim_set_current_win(windows[1]) else vim.cmd('split') end
  api.nvim_win_set_buf(0, buf)
  api.nvim_win_set_cursor(0, { math.min(arguments.startLine or 1, api.nvim_buf_line_count(buf)), 0 })
  local function find(text, flags)
    return text and fn.search('\\V' .. fn.escape(text, '\\'):gsub('\n', '\\n'), flags) > 0
  end
  if find(arguments.startText, 'cW') then
    vim.cmd('normal! v')
    if not find(arguments.endText, 'eW') then find(arguments.startText, 'ceW') end
    if arguments.selectToEndOfLine then vim.cmd('normal! g_') end
  end
  return 'Opened file: ' .. path
end

return M
