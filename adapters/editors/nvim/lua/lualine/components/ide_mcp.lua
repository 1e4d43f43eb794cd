-- A component for lualine.nvim: `lualine_x = { 'ide_mcp' }`. It escapes the names of agents, which lualine would read
-- as a format.
local M = require('lualine.component'):extend()

function M:update_status() return (require('ide-mcp').status():gsub('%%', '%%%%')) end

return M
