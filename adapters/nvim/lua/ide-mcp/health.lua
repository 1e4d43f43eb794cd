--- `:checkhealth ide-mcp`
local M = {}

function M.check()
  local health = vim.health or require('health')
  local function report(kind, ...) return (health[kind] or health['report_' .. kind])(...) end -- before Neovim 0.10
  local plugin = require('ide-mcp')
  local program = plugin.options.command[1]
  report('start', 'ide-mcp')
  if vim.fn.executable(program) == 0 then
    return report('error', program .. ' is not installed', { 'cargo install ide-mcp-cli' })
  end
  report('ok', vim.trim(vim.fn.system({ program, '--version' })))
  if plugin.status() == '' then return report('error', 'the sidecar does not run', { ':IdeMcp start' }) end
  report('ok', ('agents attach at port %d in %s'):format(plugin.port, vim.fn.getcwd(-1, -1)))
  if next(plugin.agents) then return report('ok', plugin.status()) end
  report('warn', 'no agent is attached', { 'Start `claude` in this folder, or run `ide-mcp doctor`' })
end

return M
