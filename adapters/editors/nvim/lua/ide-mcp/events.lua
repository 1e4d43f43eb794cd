--- Triggers the person's autocommands: `:help ide-mcp-events`
local M = {}

--- The data of the last event, for Neovim 0.7: later ones pass it to the autocommands.
M.data = {}

function M.emit(name, data)
  M.data = data
  local event = { pattern = 'IdeMcp' .. name, modeline = false, data = vim.fn.has('nvim-0.8') == 1 and data or nil }
  local is_done, problem = pcall(vim.api.nvim_exec_autocmds, 'User', event)
  if not is_done then require('ide-mcp.messages').warn(problem) end
end

return M
