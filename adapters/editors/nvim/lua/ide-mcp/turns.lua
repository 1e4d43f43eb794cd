--- When something may open: not under the hands of the person, whose next keys it would take.
local editor = require('ide-mcp.editor')
local M = {}

local waiting = {} -- functions, and functions that return whether it is their turn
local timer = vim.loop.new_timer() -- runs them
local last_key = 0 -- the time of the last key, in milliseconds
local quiet = 500 -- so many milliseconds without a key end the typing of commands
local is_acting = false -- whether an agent is served: a `:normal` of autocommands is no key of the person

-- The modes in which no command is half typed: `:help mode()`.
local calm = { n = true, nt = true, v = true, V = true, ['\22'] = true, t = true }

local function now() return vim.loop.hrtime() / 1e6 end

--- Runs a function for an agent.
function M.serve(act, ...)
  is_acting = true
  local is_done, bug = pcall(act, ...)
  is_acting = false
  if not is_done then editor.warn(bug) end
end

--- Runs the functions that wait, unless the person types.
function M.go_on()
  if not waiting[1] or not calm[vim.fn.mode(1)] or vim.fn.getcmdwintype() ~= '' then return end
  local rest = last_key + quiet - now()
  if rest > 0 then return timer:start(math.ceil(rest), 0, vim.schedule_wrap(M.go_on)) end
  for at, waiter in ipairs(waiting) do
    if waiter.is_due() then
      table.remove(waiting, at)
      M.serve(waiter.act)
      vim.cmd('redrawstatus')
      return M.go_on()
    end
  end
end

--- Runs a function when the person does not type, and once it is due: after those that wait already, or at a place.
function M.later(act, is_due, place)
  table.insert(waiting, place or #waiting + 1, { act = act, is_due = is_due or function() return true end })
  vim.schedule(M.go_on)
end

--- Calls a function at each key of the person.
function M.watch(on_key)
  vim.on_key(function(_, typed)
    last_key = now()
    if typed ~= '' and not is_acting then on_key() end -- else the rest of a mapping; before Neovim 0.10 there is no `typed`
  end, vim.api.nvim_create_namespace('ide-mcp'))
end

return M
