--- Marks in the text of a proposal what it changes: lines that are new, and between them the lines that go.
local compare = require('ide-mcp.text').compare
local api = vim.api
local M = {}

local space = api.nvim_create_namespace('ide-mcp-inline')
-- So many lines that go are shown in one place, and so many bytes of each.
local max_lines, max_bytes = 200, 512

local function shown(line)
  return { { line:sub(1, max_bytes):gsub('\t', '    '):gsub('%c', '?') .. ' ', 'DiffDelete' } }
end

--- Marks the lines of a buffer that are not in `old`, the lines of the file.
function M.mark(buf, old)
  api.nvim_buf_clear_namespace(buf, space, 0, -1)
  if not old[1] then return end
  local before = #old == 1 and old[1] == '' and '' or table.concat(old, '\n') .. '\n'
  local new = api.nvim_buf_get_lines(buf, 0, -1, false)
  local hunks = compare(before, table.concat(new, '\n') .. '\n', { result_type = 'indices' })
  for number, hunk in ipairs(hunks) do
    local from, gone, at, added = unpack(hunk)
    local lines = {}
    for row = from, from + math.min(gone, max_lines) - 1 do table.insert(lines, shown(old[row])) end
    if gone > max_lines then
      table.insert(lines, { { ('and %d more lines'):format(gone - max_lines), 'DiffDelete' } })
    end
    -- Without new lines, `at` is the line above those that go.
    local row = math.max(at - 1, 0)
    if lines[1] then
      local is_above = added > 0 or at == 0
      api.nvim_buf_set_extmark(buf, space, row, 0, { virt_lines = lines, virt_lines_above = is_above })
    end
    for line = row, row + added - 1 do
      local look = { end_row = line + 1, hl_group = 'DiffAdd', hl_eol = true, strict = false }
      api.nvim_buf_set_extmark(buf, space, line, 0, look)
    end
    if number == 1 then
      api.nvim_win_set_cursor(0, { math.min(row + 1, #new), 0 })
      if row == 0 and lines[1] then vim.fn.winrestview({ topline = 1, topfill = #lines }) end
    end
  end
end

return M
