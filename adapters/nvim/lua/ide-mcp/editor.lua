--- What agents learn of Neovim: the selection, and the answers of the tools.
local api, fn = vim.api, vim.fn
local M = { tools = {} }

local max_text = 256 * 1024 -- the longest text of a selection that agents receive, in bytes
local severities = { 'Error', 'Warning', 'Information', 'Hint' }

local function line_of(buf, row) return api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or '' end

-- Returns the column in UTF-16 units. Rows and columns count from 0, other columns count bytes.
local function units(buf, row, column)
  local line = line_of(buf, row)
  return (select(2, vim.str_utfindex(line, math.min(column, #line))))
end

--- Returns the loaded buffer of a file, or nil.
function M.buffer(path)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local is_file = api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
    if is_file and api.nvim_buf_get_name(buf) == path then return buf end
  end
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
  local path = api.nvim_buf_get_name(buf)
  if vim.bo.buftype ~= '' or mode:find('^[ct]') then return nil end
  if path == '' then return { cmd = 'clear' } end
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
  local start, stop = { first, units(buf, first, from) }, { last, units(buf, last, to) }
  return { cmd = 'select', path = path, start = start, ['end'] = stop, text = table.concat(lines, '\n') }
end

local function problem(item)
  local function at(row, column) return { line = row, character = units(item.bufnr, row, column) } end
  local stop = at(item.end_lnum or item.lnum, item.end_col or item.col)
  return {
    message = item.message, severity = severities[item.severity], source = item.source,
    code = item.code and tostring(item.code), range = { start = at(item.lnum, item.col), ['end'] = stop },
  }
end

function M.tools.getDiagnostics(arguments, path)
  local files = {}
  for _, item in ipairs(vim.diagnostic.get()) do
    local name = api.nvim_buf_get_name(item.bufnr)
    files[name] = files[name] or { uri = vim.uri_from_fname(name), diagnostics = {} }
    table.insert(files[name].diagnostics, problem(item))
  end
  files[''] = nil -- buffers without a file
  if not arguments.uri then return vim.tbl_values(files) end
  return { { uri = arguments.uri, diagnostics = (files[path] or {}).diagnostics or {} } }
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
