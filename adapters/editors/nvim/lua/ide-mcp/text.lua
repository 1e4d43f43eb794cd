--- Lines, columns and bytes of texts.
local M = {}

--- Converts a column in bytes to one in UTF-16 units, or in units of another encoding.
function M.units(line, column, encoding)
  column = math.min(column, #line)
  if encoding == 'utf-8' then return column end
  if vim.fn.has('nvim-0.11') == 1 then return vim.str_utfindex(line, encoding or 'utf-16', column) end
  local wide, narrow = vim.str_utfindex(line, column)
  return encoding == 'utf-32' and wide or narrow
end

--- Compares two texts as `vim.diff` does.
M.compare = vim.text and vim.text.diff or vim.diff -- before Neovim 0.12

--- Returns the lines of a text, the line end, and the end of the last line, if it has one. The line end is CR LF only
--- if all lines end in it.
function M.split(text)
  local is_dos = text:find('\r\n') and not text:gsub('\r\n', ''):find('\n')
  local line_end = is_dos and '\r\n' or '\n'
  local lines, at = {}, 1
  while at do -- `vim.split` takes twice as long
    local stop, last = text:find(line_end, at, true)
    lines[#lines + 1] = text:sub(at, (stop or 0) - 1)
    at = last and last + 1
  end
  local has_end = #lines > 1 and lines[#lines] == ''
  if has_end then table.remove(lines) end
  return lines, line_end, has_end and line_end or ''
end

--- Returns a string as valid UTF-8: if it is not valid, all its bytes above ASCII become question marks.
function M.utf8(text)
  if text:find('[\128-\255]') and not pcall(vim.fn.json_encode, text) then text = text:gsub('[\128-\255]', '?') end
  return text
end

return M
