--- `:checkhealth ide-mcp`
local M = {}

function M.check()
  local health = vim.health or require('health')
  local function report(kind, ...) return (health[kind] or health['report_' .. kind])(...) end -- before Neovim 0.10
  local plugin = require('ide-mcp')
  local words = vim.list_slice(plugin.options.command)
  report('start', 'ide-mcp')
  if vim.fn.executable(words[1]) == 0 then
    return report('error', words[1] .. ' is not in PATH', { 'See `:help ide-mcp`' })
  end
  words[#words] = '--version' -- in place of `sidecar`, behind a command such as `docker exec`
  local answer = vim.trim(vim.fn.system(words))
  report(vim.v.shell_error == 0 and 'ok' or 'error', answer)
  if plugin.status() == '' then return report('error', 'the sidecar does not run', { ':IdeMcp start' }) end
  if not plugin.port then return report('warn', 'the sidecar does not listen yet', { ':checkhealth ide-mcp' }) end
  report('ok', ('agents attach at port %d in %s'):format(plugin.port, vim.fn.getcwd(-1, -1)))
  if next(plugin.agents) then return report('ok', plugin.status()) end
  report('warn', 'no agent is attached', { 'Start `claude` in this folder, or run `ide-mcp doctor`' })
end

return M
