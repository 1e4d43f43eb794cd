--- What the person is told. A text of an agent in it, or of a file name, is one plain line.
local fn = vim.fn
local M = {}

-- What a message and a status line do not have: controls, marks for the direction of writing, and line separators.
local hidden = {
  '%c', '\194[\128-\159]', '\216\156', '\226\128[\139-\143\168-\174]', '\226\129[\160-\175]', '\239\187\191',
}

-- Returns a text as one line. A mark for the direction of writing or a line separator would turn around the words beside
-- it, and some terminals execute a control character of 8 bits.
local function one_line(text)
  for _, pattern in ipairs(hidden) do text = text:gsub(pattern, ' ') end
  return text
end

--- Returns a text of an agent as one line of at most 64 characters, in which no quotation mark ends a quotation. With
--- `columns`, at most so many are taken, or 8 if there is no room.
function M.safe(text, columns)
  local line = fn.strcharpart(one_line(text):gsub('"', "'"), 0, 64)
  columns = columns and math.max(8, math.min(64, columns))
  if not columns or fn.strdisplaywidth(line) <= columns then return line end
  return fn.printf('%.' .. columns - 1 .. 'S…', line)
end

--- Returns the label of a file in at most so many columns: of a longer one the end.
function M.file_name(label, columns)
  local line = M.safe(label)
  while fn.strdisplaywidth(line) > columns do line = '…' .. fn.strcharpart(line, 2) end
  return line
end

--- Shows a message to the person, cut to one line: a longer one would wait for a key.
function M.warn(message)
  local columns = math.max(0, vim.v.echospace - 9)
  require('ide-mcp.log').message(one_line(tostring(message)))
  vim.notify(fn.printf('ide-mcp: %.' .. columns .. 'S', one_line(tostring(message))), vim.log.levels.WARN)
end

return M
