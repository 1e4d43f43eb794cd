--- `:checkhealth ide-mcp`
local M = {}

local health = vim.health or require('health')
local function report(kind, ...) return (health[kind] or health['report_' .. kind])(...) end -- before Neovim 0.10

-- How many milliseconds Neovim waits for the doctor, which attaches for a moment to each editor that an agent could
-- find, and waits up to 2 s for one that does not answer.
local patience = 5000

-- Returns the command of the sidecar with other words instead of `sidecar`, its last one: it can begin with `docker
-- exec`.
local function command_with(command, ...) return vim.list_extend(vim.list_slice(command, 1, #command - 1), { ... }) end

-- Reports the findings of `ide-mcp doctor`: why an agent finds no editor, or the wrong one.
local function check_doctor(plugin, command)
  local kinds = { problem = 'error', warning = 'warn', note = 'info', ok = 'ok' }
  report('start', 'ide-mcp doctor')
  local lines = {}
  -- With consent, this plugin would ask the person about the doctor, and the doctor would wait for the answer.
  local words = command_with(command, 'doctor', '--json', plugin.options.config.consent and '--no-connect' or nil)
  local job = vim.fn.jobstart(words, {
    cwd = vim.fn.getcwd(-1, -1), stdout_buffered = true, on_stdout = function(_, output) lines = output end,
  })
  if vim.fn.jobwait({ job }, patience)[1] == -1 then
    vim.fn.jobstop(job)
    report('warn', ('the doctor takes more than %d s'):format(patience / 1000), { 'Run `ide-mcp doctor` in a terminal' })
  end
  for _, line in ipairs(lines) do
    local is_json, finding = pcall(vim.json.decode, line)
    if is_json and type(finding) == 'table' and finding.event == 'finding' then
      local advice = finding.status ~= 'ok' and finding.advice and { finding.advice } or nil
      report(kinds[finding.status] or 'info', finding.message, advice)
    end
  end
end

local function check_editor(plugin, command)
  local program = require('ide-mcp.program')
  local answer = vim.trim(vim.fn.system(command_with(command, '--version')))
  report(vim.v.shell_error == 0 and 'ok' or 'error', ('%s: %s'):format(answer, vim.fn.exepath(command[1])))
  local advice = vim.v.shell_error == 0 and program.advice(answer:match('%S+$'), command)
  if advice then report('warn', advice) end
  if plugin.status() == '' then return report('error', 'the sidecar is not running', { 'Start it with `:IdeMcp start`' }) end
  local again = { 'Wait a second, and run `:checkhealth ide-mcp` again' }
  if not plugin.port then return report('warn', 'the sidecar does not listen yet', again) end
  report('ok', ('agents attach at port %d in %s'):format(plugin.port, vim.fn.getcwd(-1, -1)))
  if next(plugin.agents) then return report('ok', plugin.status()) end
  report('warn', 'no agent is attached', { 'Start `claude` in this folder, or `:IdeMcp open`' })
end

local function check_terminal(plugin)
  local agent = plugin.options.terminal.command[1]
  if vim.fn.executable(agent) == 1 then return report('ok', '`:IdeMcp open` starts ' .. vim.fn.exepath(agent)) end
  report('warn', agent .. ' is not in PATH', { 'Install it, or name the agent in the option terminal.command' })
end

function M.check()
  local plugin = require('ide-mcp')
  local command, problem = require('ide-mcp.program').find(plugin.options.command)
  report('start', 'ide-mcp')
  for _, fault in ipairs(plugin.faults) do report('error', fault, { ':help ide-mcp-options' }) end
  -- Neovim before 0.10 takes a backtick for a part of the tag.
  if not command then return report('error', (problem:gsub('`', ''))) end
  check_editor(plugin, command)
  check_terminal(plugin)
  report('info', 'the log is ' .. require('ide-mcp.log').path())
  check_doctor(plugin, command)
end

return M
