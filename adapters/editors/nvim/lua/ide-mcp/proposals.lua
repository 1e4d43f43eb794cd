--- The open proposals: which one is shown, which wait, and what the person decides.
local files, messages = require('ide-mcp.files'), require('ide-mcp.messages')
local sidecar, turns = require('ide-mcp.sidecar'), require('ide-mcp.turns')
local M = {}

local open = {} -- the open proposals, the earliest first. At most one is shown; those put aside keep their `view`
-- Whether the next proposal waits for a key, because the agent withdrew the one on the screen: the person could take
-- the next one for it, and accept a text that they have not read.
local is_held = false

local warn = messages.warn

local function options() return require('ide-mcp').options end

local function emit(name, event, verdict)
  require('ide-mcp.events').emit(name, {
    call = event.call, conn = event.conn, client = event.client, path = event.path, label = event.label,
    outside = event.outside, verdict = verdict,
  })
end

-- Returns the index of an open proposal, or nil.
local function place_of(proposal)
  for at, other in ipairs(open) do
    if other == proposal then return at end
  end
end

-- Returns the proposal that is shown, or nil.
local function shown()
  for _, proposal in ipairs(open) do
    if proposal.is_shown then return proposal end
  end
end

-- Removes a proposal from the list. Returns whether it was open.
local function remove(proposal)
  local at = place_of(proposal)
  if at then table.remove(open, at) end
  return at ~= nil
end

-- Reads the file of an accepted proposal again, a few times, because the agent will soon write it.
local function reread_soon(event, compared)
  for _, ms in ipairs({ 200, 1000, 5000 }) do
    vim.defer_fn(function()
      turns.later(function()
        local is_other = files.reread(event.path, compared)
        if is_other and ms == 5000 then
          warn(event.label .. ' keeps your changes: they are newer, or the file is not the accepted text')
        end
      end)
    end, ms)
  end
end

-- Shows a proposal, for the first time or after it was put aside.
local function present(proposal, focus)
  local event = proposal.event
  proposal.is_shown = true
  local is_done, problem, ended
  proposal.compared.buf = files.buffer(event.old_path)
  proposal.compared.tick = proposal.compared.buf and vim.api.nvim_buf_get_changedtick(proposal.compared.buf)
  if proposal.view then
    is_done, problem = pcall(proposal.view.show, focus)
  else
    event.layout, event.focus = options().layout, focus
    is_done, problem, ended = pcall(options().show, event)
    local is_own = type(problem) == 'function' -- a view of the person: `:help ide-mcp-view`
    if is_done then proposal.view = is_own and { close = problem, say_ended = ended } or problem or {} end
  end
  if is_done then return end
  remove(proposal)
  sidecar.send({ cmd = 'fail', call = event.call, message = tostring(problem) })
  warn(tostring(problem))
end

-- Shows a proposal as soon as the person has stopped typing, and has decided about the one on the screen.
local function wait(proposal)
  turns.later(function()
    if place_of(proposal) and not proposal.is_shown then present(proposal, options().focus) end
  end, function() return not place_of(proposal) or proposal.is_shown or not shown() and not is_held end)
end

--- Takes the event `diff`.
function M.add(event)
  local proposal = { event = event, compared = {} }
  local function answer(verdict, contents)
    if not remove(proposal) then
      if verdict == 'accept' then warn('nothing is accepted: the proposal has ended') end
      return false
    end
    vim.defer_fn(turns.go_on, 30) -- once the view is closed
    local changed = contents ~= event.contents and contents or nil
    sidecar.send({ cmd = 'answer', call = event.call, verdict = verdict, contents = changed })
    if verdict == 'accept' then
      proposal.compared.text = contents or event.contents
      reread_soon(event, proposal.compared)
    end
    vim.schedule(function() emit('Decided', event, verdict) end)
    return true
  end
  table.insert(open, proposal)
  function event.accept(text) return answer('accept', text) end
  function event.reject() return answer('reject') end
  wait(proposal)
  emit('Proposal', event)
end

-- The reasons that say that the agent withdrew a proposal.
local withdrawals = { close_tab = true, closeAllDiffTabs = true, cancelled = true }

-- Closes the view of a proposal that has ended without an answer.
local function withdraw(proposal, reason)
  remove(proposal)
  emit('Decided', proposal.event, 'withdrawn')
  if not proposal.view or not proposal.view.close then return end
  local was_shown = proposal.is_shown
  if proposal.view.say_ended then pcall(proposal.view.say_ended) end
  turns.later(function()
    is_held = is_held or was_shown
    local kept = proposal.view.close()
    local place = type(kept) == 'number' and ('Your text: :b%d. '):format(kept) or ''
    if not was_shown and place == '' then return end
    -- At 80 columns the last sentence is cut: the status line says the same.
    local name = messages.file_name(proposal.event.label, math.max(15, vim.v.echospace - 95))
    local text = withdrawals[reason] and 'the agent withdrew %s. %s' or 'the proposal for %s ended. %s'
    warn(text:format(name, place) .. 'The next proposal waits for a key')
  end, nil, 1) -- first in line: otherwise the next view opens over this one
end

--- Takes the event `diff_closed`.
function M.close(event)
  for _, proposal in ipairs(open) do
    if proposal.event.call == event.call then return withdraw(proposal, event.reason) end
  end
end

--- Ends all proposals except those with these calls.
function M.keep(calls)
  for _, proposal in ipairs(vim.list_slice(open)) do
    if not vim.tbl_contains(calls, proposal.event.call) then withdraw(proposal) end
  end
end

--- Called when the person presses a key.
function M.on_key()
  if not is_held then return end
  is_held = false
  vim.schedule(turns.go_on)
end

--- Returns how many proposals wait, and whether they wait for a key.
function M.waiting()
  return #open - (shown() and 1 or 0), is_held
end

--- Returns how many more proposals there are, for the status line of the one that is shown.
function M.note()
  local count = M.waiting()
  return count > 0 and (' (%d more)'):format(count) or ''
end

--- Accepts or rejects the proposal that is shown.
function M.decide(verdict)
  local proposal = shown()
  if not proposal then
    return warn(open[1] and ('nothing is %sed: no proposal was on the screen'):format(verdict) or 'there is no proposal')
  end
  local view, event = proposal.view or {}, proposal.event
  if view[verdict] then return turns.serve(view[verdict]) end
  if (verdict == 'accept' and event.accept or event.reject)() and view.close then turns.serve(view.close) end
end

--- Shows a proposal instead of the one on the screen. That one waits again, and keeps what was typed into it.
local function go(proposal)
  local other = shown()
  if other == proposal then
    if other.view and other.view.focus then other.view.focus() end
    return
  end
  if other then
    if not (other.view and other.view.hide) then return warn('first decide about the proposal that is shown') end
    other.view.hide()
    other.is_shown = false
    wait(other)
  end
  is_held = false
  turns.serve(present, proposal, true)
end

--- Shows the next proposal, or with -1 the previous one. If the current proposal is in another tab, goes there first.
function M.go(step)
  if not open[1] then return warn('there is no proposal') end
  local current = shown()
  if not current then return go(open[step > 0 and 1 or #open]) end
  local is_hidden = current.view and current.view.is_visible and not current.view.is_visible()
  go(is_hidden and current or open[(place_of(current) - 1 + step) % #open + 1])
end

--- Lets the person choose a proposal, and shows it.
function M.choose()
  if not open[1] then return warn('there is no proposal') end
  -- Names are cut so that each fits on one line: if one wrapped, its end could look like another choice.
  local room = math.max(8, math.floor((vim.o.columns - 26) / 2))
  local function line(proposal)
    local event = proposal.event
    local label, client = messages.file_name(event.label, room), messages.safe(event.client, room)
    return ('%s%s, %s%s'):format(event.outside and 'OUTSIDE: ' or '', label, client, proposal.is_shown and ' (shown)' or '')
  end
  messages.choose(vim.list_slice(open), 'Proposals', line, function(proposal)
    if proposal and not place_of(proposal) then return warn('the proposal has ended') end
    if proposal then go(proposal) end
  end)
end

return M
