--- Messages to the person. The words of an agent and the names of files in them are made one plain line.
local fn = vim.fn
local M = {}

-- What is removed from messages and status lines: control characters, marks for the direction of writing, and line
-- separators.
local hidden = {
  '%c', '\194[\128-\159]', '\216\156', '\226\128[\139-\143\168-\174]', '\226\129[\160-\175]', '\239\187\191',
}

-- Returns a string as one line. A mark for the direction of writing could reorder the words beside it, a line separator
-- could break the line, and some terminals obey 8-bit control characters.
local function one_line(text)
  for _, pattern in ipairs(hidden) do text = text:gsub(pattern, ' ') end
  return text
end

--- Returns a string of an agent as one line of at most 64 characters. Double quotes become single ones, so that it
--- cannot end a quotation. With `columns`, the line has at most so many, but not less than 8.
function M.safe(text, columns)
  local line = fn.strcharpart(one_line(text):gsub('"', "'"), 0, 64)
  columns = columns and math.max(8, math.min(64, columns))
  if not columns or fn.strdisplaywidth(line) <= columns then return line end
  return fn.printf('%.' .. columns - 1 .. 'S…', line)
end

--- Returns the label of a file in at most so many columns. A longer one loses its beginning.
function M.file_name(label, columns)
  local line = M.safe(label)
  while fn.strdisplaywidth(line) > columns do line = '…' .. fn.strcharpart(line, 2) end
  return line
end

-- Returns whether another plugin shows the messages, in windows with room for long ones. Since 0.12, the source of
-- Neovim's own function is `?`.
local function has_room()
  if type(vim.notify) ~= 'function' then return true end
  local source = debug.getinfo(vim.notify, 'S').source
  return source ~= '?' and not source:find('^@vim/')
end

local function show(message, level)
  local line, columns = 'ide-mcp: ' .. one_line(tostring(message)), vim.v.echospace
  require('ide-mcp.log').message(level, line:sub(10))
  -- In the command line, a longer message would make Neovim wait for a key.
  if fn.strdisplaywidth(line) > columns and not has_room() then line = fn.printf('%.' .. columns - 1 .. 'S…', line) end
  vim.notify(line, vim.log.levels[level:upper()])
end

--- Tells the person that something is wrong, or was not done.
function M.warn(message) show(message, 'warn') end

--- Tells the person what was done, or what they asked for.
function M.say(message) show(message, 'info') end

--- Lets the person choose from a list. Ctrl+C chooses nothing, as Escape does, although Neovim's own list then ends
--- with an error.
function M.choose(items, prompt, format_item, on_choice)
  local is_done, problem = pcall(vim.ui.select, items, { prompt = prompt, format_item = format_item }, on_choice)
  if not is_done and not tostring(problem):find('Keyboard interrupt', 1, true) then error(problem, 0) end
end

return M
