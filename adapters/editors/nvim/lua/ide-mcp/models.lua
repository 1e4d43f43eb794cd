--- The tools that the model can have of Neovim: `:help ide-mcp-tools`
local M = { answers = {} }

function M.offer() return {} end

return M
