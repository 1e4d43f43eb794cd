-- A component for lualine.nvim: `lualine_x = { 'ide_mcp' }`. The name of an agent is no format.
local M = require('lualine.component'):extend()

function M:update_status() return (require('ide-mcp').status():gsub('%%', '%%%%')) end

return M
