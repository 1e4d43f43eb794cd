--- Shows a proposal in one window: new lines are marked, and removed lines stand between them as virtual text. As in a
--- diff, `do` takes back a change, and `]c` and `[c` go to the next and the previous one.
local compare, messages = require('ide-mcp.text').compare, require('ide-mcp.messages')
local api = vim.api
local M = {}

local space = api.nvim_create_namespace('ide-mcp-inline')
-- The maximum number of removed lines that are shown in one place, and of bytes of each.
local max_lines, max_bytes = 200, 512

-- Returns the changes in a buffer. Each has the lines of the file from `from` to `to`, and in the buffer, from 0, those from
-- `row` to before `stop`.
local function changes(buf, file)
  local function text(lines)
    if #lines == 1 and lines[1] == '' then return '' end
    return table.concat(lines, '\n') .. '\n'
  end
  local hunks = compare(text(file), text(api.nvim_buf_get_lines(buf, 0, -1, false)), { result_type = 'indices' })
  return vim.tbl_map(function(hunk)
    local from, gone, row, added = unpack(hunk) -- if there are no lines, the number is that of the line above
    if gone == 0 then from = from + 1 end
    if added > 0 then row = row - 1 end
    return { from = from, to = from + gone - 1, row = row, stop = row + added }
  end, hunks)
end

local function shown(line)
  return { { line:sub(1, max_bytes):gsub('\t', '    '):gsub('%c', '?') .. ' ', 'DiffDelete' } }
end

-- Returns the changes in a buffer, and marks them.
local function mark(buf, file)
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
  local last = api.nvim_buf_line_count(buf) - 1
  local marked = changes(buf, file)
  for _, change in ipairs(marked) do
    local lines = vim.tbl_map(shown, vim.list_slice(file, change.from, math.min(change.to, change.from + max_lines - 1)))
    local rest = change.to - change.from + 1 - #lines
    if rest > 0 then table.insert(lines, { { ('and %d more lines'):format(rest), 'DiffDelete' } }) end
    if lines[1] then
      local look = { virt_lines = lines, virt_lines_above = change.row <= last }
      api.nvim_buf_set_extmark(buf, space, math.min(change.row, last), 0, look)
    end
    for row = change.row, change.stop - 1 do
      local look = { end_row = row + 1, hl_group = 'DiffAdd', hl_eol = true, strict = false }
      api.nvim_buf_set_extmark(buf, space, row, 0, look)
    end
  end
  return marked
end

-- Puts the cursor on a change.
local function go(buf, change)
  local row = math.min(change.row, api.nvim_buf_line_count(buf) - 1)
  api.nvim_win_set_cursor(0, { row + 1, 0 })
  -- Virtual lines above the first line are out of sight without this.
  if row == 0 then vim.fn.winrestview({ topline = 1, topfill = math.min(change.to - change.from + 1, max_lines + 1) }) end
end

local keys = {}

keys['do'] = function(buf, file)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  for _, change in ipairs(changes(buf, file)) do
    local near = change.row == change.stop and 1 or 0 -- removed lines stand between two others
    if row >= change.row - near and row < change.stop + near then
      return api.nvim_buf_set_lines(buf, change.row, change.stop, false, vim.list_slice(file, change.from, change.to))
    end
  end
end

-- Goes to the next or the previous change, as often as the count says.
local function step(buf, file, is_forward)
  local row, there = api.nvim_win_get_cursor(0)[1] - 1, {}
  for _, change in ipairs(changes(buf, file)) do
    if is_forward and change.row > row then
      table.insert(there, change)
    elseif not is_forward and change.row < row then
      table.insert(there, 1, change)
    end
  end
  if not there[1] then return end
  local change = there[math.min(vim.v.count1, #there)]
  vim.cmd("normal! m'") -- resets `v:count1` to 1
  go(buf, change)
end

keys[']c'] = function(buf, file) step(buf, file, true) end
keys['[c'] = function(buf, file) step(buf, file, false) end

--- Marks the changes in the buffer of the current window, and goes to the first one. `file` are the lines of the file, or nil
--- if the texts are not compared.
function M.show(buf, file)
  local group = api.nvim_create_augroup('ide-mcp-inline', {})
  for key, act in pairs(keys) do
    vim.keymap.set('n', key, function()
      if file then act(buf, file) else messages.warn('the texts are not compared: see the status line') end
    end, { buffer = buf })
  end
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
  if not file then return end
  local function mark_again() mark(buf, file) end -- takes 0.07 s at most, of a text that diff.lua compares
  api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, { group = group, buffer = buf, callback = mark_again })
  local first = mark(buf, file)[1]
  if first then go(buf, first) end
end

return M
