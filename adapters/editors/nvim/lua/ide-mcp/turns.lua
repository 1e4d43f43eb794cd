--- Decides when something may open: not while the person types, because it would take the next keys.
local messages = require('ide-mcp.messages')
local M = {}

local waiting = {} -- pairs of a function to run, and one that returns whether it is due
local timer = vim.loop.new_timer() -- runs them
local last_key = 0 -- the time of the last key, in milliseconds
local quiet = 500 -- after so many milliseconds without a key, the person is no longer typing commands
local is_by_key = false -- whether a key of the person began what Neovim does now: no timer has run since
local is_acting = false -- whether an agent is being served: keys that autocommands feed by `:normal` are not the person's

-- The modes in which no command is half typed: `:help mode()`.
local calm = { n = true, nt = true, v = true, V = true, ['\22'] = true, t = true }

local function now() return vim.loop.hrtime() / 1e6 end

--- Runs a function for an agent.
function M.serve(act, ...)
  is_acting = true
  local is_done, bug = pcall(act, ...)
  is_acting = false
  if not is_done then messages.warn(bug) end
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

--- Runs a function when it is due and the person does not type, after those that already wait, or at this place among
--- them.
function M.later(act, is_due, place)
  table.insert(waiting, place or #waiting + 1, { act = act, is_due = is_due or function() return true end })
  vim.schedule(M.go_on)
end

--- Returns whether what happens now was begun by a key of the person, and not by a timer, an agent or another program.
function M.is_by_key() return is_by_key end

local function end_of_key() is_by_key = false end

--- Calls a function at each key of the person.
function M.watch(on_key)
  vim.on_key(function(_, typed)
    last_key = now()
    if typed == '' or is_acting then return end -- empty for the rest of a mapping; nil before Neovim 0.10
    on_key()
    is_by_key = true
    vim.schedule(end_of_key) -- runs between commands of the person, as timers do
  end, vim.api.nvim_create_namespace('ide-mcp'))
  -- A timer that was due when the key came runs before that, so SafeState ends the key as well. In Neovim 0.7, which
  -- has no SafeState, this works only after a key that moves the cursor or changes the text.
  local is_new = vim.fn.exists('##SafeState') == 1
  local events = is_new and 'SafeState' or { 'CursorMoved', 'CursorMovedI', 'TextChanged', 'TextChangedI' }
  vim.api.nvim_create_autocmd(events, { callback = end_of_key })
end

return M
