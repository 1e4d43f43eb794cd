--- The options: their defaults, and their allowed values. `:help ide-mcp-options`
local M = {}

local function quickfix()
  local function line(item)
    return ('%s:%d:%d: %s'):format(vim.fn.bufname(item.bufnr), item.lnum, item.col, item.text)
  end
  return table.concat(vim.tbl_map(line, vim.fn.getqflist()), '\n')
end

local function review(arguments)
  return 'Review the file that is open in the editor, above all ' .. (arguments.focus or 'the selected lines') .. '.'
end

---@type IdeMcp.Options
M.defaults = {
  layout = 'tab',
  focus = true,
  diffs = true,
  terminal = {
    command = { 'claude' }, provider = 'native', layout = 'right', size = 0, folder = 'cwd', external = {},
  },
  tools = {},
  log = { level = 'warn', size = 1024 * 1024 },
  command = { 'ide-mcp', 'sidecar' },
  config = {
    prompts = { { name = 'review', description = 'Review the open file', arguments = { { name = 'focus' } } } },
    resources = { { uri = 'nvim://quickfix', description = 'The errors of the last build or search in Neovim' } },
  },
  answers = vim.tbl_extend('error', require('ide-mcp.editor').tools, { review = review, ['nvim://quickfix'] = quickfix }),
  on_event = function() end,
  show = require('ide-mcp.diff').show,
}

--- The allowed values of options that are words.
M.choices = {
  layout = { 'tab', 'vertical', 'horizontal', 'inline' },
  ['terminal.layout'] = { 'left', 'right', 'above', 'below', 'float' },
  ['terminal.provider'] = { 'native', 'snacks', 'toggleterm', 'tmux', 'external', 'auto' },
  ['terminal.folder'] = { 'cwd', 'git' },
  ['log.level'] = { 'debug', 'info', 'warn', 'error', 'off' },
  tools = { 'symbols', 'references', 'files' },
}

-- Returns why a value is wrong for an option, or nil.
local function fault(name, value, default)
  if default == nil then return ('the option %s does not exist'):format(name) end
  local is_function = type(value) == 'function' and (name == 'terminal.provider' or name == 'terminal.folder')
  if type(value) ~= type(default) and not is_function then return ('the option %s must be a %s'):format(name, type(default)) end
  if is_function then return nil end
  for _, word in ipairs(M.choices[name] and (type(value) == 'table' and value or { value }) or {}) do
    if not vim.tbl_contains(M.choices[name], word) then
      local choices = table.concat(M.choices[name], ', ')
      return ('the option %s does not know %s, only %s'):format(name, tostring(word), choices)
    end
  end
end

--- Returns options with those that the person sets. A wrong one has no effect, and `say` gets the reason.
function M.merge(options, given, say)
  local merged = vim.tbl_extend('force', {}, options)
  for _, group in ipairs({ 'terminal', 'log' }) do merged[group] = vim.tbl_extend('force', {}, options[group]) end
  for name, value in pairs(given) do
    local is_group = name == 'terminal' or name == 'log'
    local problem = fault(name, value, M.defaults[name])
    if problem then
      say(problem)
    elseif is_group then
      for key, part in pairs(value) do
        problem = fault(name .. '.' .. key, part, M.defaults[name][key])
        if problem then say(problem) else merged[name][key] = part end
      end
    elseif name == 'config' or name == 'answers' then
      merged[name] = vim.tbl_extend('force', merged[name], value)
    else
      merged[name] = value
    end
  end
  return merged
end

return M
