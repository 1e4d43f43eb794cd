--- `:checkhealth ide-mcp`
local M = {}

function M.check()
  local health = vim.health or require('health')
  local function report(kind, ...) return (health[kind] or health['report_' .. kind])(...) end -- before Neovim 0.10
  local plugin = require('ide-mcp')
  local program = require('ide-mcp.program')
  local command, problem = program.find(plugin.options.command)
  report('start', 'ide-mcp')
  if not command then return report('error', problem) end
  local words = vim.list_slice(command)
  words[#words] = '--version' -- in place of `sidecar`, behind a command such as `docker exec`
  local answer = vim.trim(vim.fn.system(words))
  report(vim.v.shell_error == 0 and 'ok' or 'error', ('%s: %s'):format(answer, vim.fn.exepath(command[1])))
  local advice = vim.v.shell_error == 0 and program.advice(answer:match('%S+$'), command)
  if advice then report('warn', advice) end
  if plugin.status() == '' then return report('error', 'the sidecar does not run', { ':IdeMcp start' }) end
  if not plugin.port then return report('warn', 'the sidecar does not listen yet', { ':checkhealth ide-mcp' }) end
  report('ok', ('agents attach at port %d in %s'):format(plugin.port, vim.fn.getcwd(-1, -1)))
  if next(plugin.agents) then return report('ok', plugin.status()) end
  report('warn', 'no agent is attached', { 'Start `claude` in this folder, or run `ide-mcp doctor`' })
end

return M
