--- The windows of a proposal: in a tab of its own, or those of the person, which are borrowed and given back.
local api = vim.api
local M = {}

-- The window options that a proposal changes, besides those that `diffoff` resets.
local changed = { 'statusline', 'wrap' }

-- Returns a window of the current tab that can show a proposal: one with a file, not the terminal of an agent, and not
-- the current window if the focus stays there. If there is none, returns a new window, and true.
local function with_file(focus)
  local function is_for_files(window)
    if vim.fn.exists('+winfixbuf') == 1 and vim.wo[window].winfixbuf then return false end
    if vim.bo[api.nvim_win_get_buf(window)].buftype ~= '' then return false end
    return api.nvim_win_get_config(window).relative == '' -- otherwise it floats
  end
  local last = vim.fn.win_getid(vim.fn.winnr('#'))
  local current = api.nvim_get_current_win()
  for _, window in ipairs({ current, last, unpack(api.nvim_tabpage_list_wins(0)) }) do
    if window ~= 0 and is_for_files(window) and (focus or window ~= current) then return window end
  end
  vim.cmd(is_for_files(current) and 'rightbelow vsplit' or 'topleft vsplit')
  return api.nvim_get_current_win(), true
end

-- Returns whether the current tab already shows a diff: Neovim would compare all of its diff windows with each other.
local function has_differences()
  for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do
    if vim.wo[window].diff then return true end
  end
  return false
end

-- Returns whether a terminal floats in the current tab: it would cover a proposal, which the person could then not
-- read.
local function is_covered()
  for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(window)
    if vim.bo[buf].buftype == 'terminal' and api.nvim_win_get_config(window).relative ~= '' then return true end
  end
  return false
end

-- Returns what a window shows, for restore().
local function state_of(window)
  return api.nvim_win_call(window, function()
    local options = {}
    for _, name in ipairs(changed) do options[name] = api.nvim_get_option_value(name, { scope = 'local' }) end
    return { window = window, buf = api.nvim_win_get_buf(window), view = vim.fn.winsaveview(), options = options }
  end)
end

-- Makes a window show what state_of() has returned.
local function restore(lent, window)
  local buf = api.nvim_buf_is_valid(lent.buf) and lent.buf or api.nvim_create_buf(true, false)
  api.nvim_win_call(window, function()
    vim.cmd('diffoff')
    api.nvim_win_set_buf(window, buf)
    for name, value in pairs(lent.options) do api.nvim_set_option_value(name, value, { scope = 'local' }) end
    vim.fn.winrestview(lent.view)
  end)
end

--- Opens the windows of a layout for two buffers: `tab`, `vertical` and `horizontal` have two windows, and `inline` has
--- one, with the second buffer. Adds the windows to `place`, with `lent`, what the first one showed before, `from`, the
--- window that was current, and `is_shared`, whether the tab is one of the person's. Without `focus`, the current
--- window stays as it is.
function M.open(place, layout, focus, old, new)
  place.from = api.nvim_get_current_win()
  if is_covered() or layout ~= 'inline' and has_differences() then layout = 'tab' end
  place.is_shared = layout ~= 'tab'
  local split = ({ tab = 'vsplit', vertical = 'vsplit', horizontal = 'split' })[layout]
  if not split and layout ~= 'inline' then error('no layout ' .. tostring(layout), 0) end
  if layout == 'tab' then
    vim.cmd('tabnew')
    vim.bo.bufhidden = 'wipe' -- the empty buffer
    place[1] = api.nvim_get_current_win()
  else
    local window, is_new = with_file(focus)
    if not is_new then place.lent = state_of(window) end
    place[1] = window
    api.nvim_set_current_win(window)
  end
  api.nvim_win_set_buf(place[1], split and old or new)
  if not split then return end
  vim.cmd('rightbelow ' .. split)
  place[2] = api.nvim_get_current_win()
  api.nvim_win_set_buf(place[2], new)
end

--- Gives back a borrowed window even when `:q` closes it: another window takes its place.
function M.keep(place, bufs)
  if not place.lent then return end
  place.autocmd = api.nvim_create_autocmd('QuitPre', { callback = function()
    local window = api.nvim_get_current_win()
    if window ~= place[1] or not vim.tbl_contains(bufs, api.nvim_win_get_buf(window)) then return end
    vim.cmd('noautocmd split')
    local other = api.nvim_get_current_win()
    restore(place.lent, other)
    place.lent.window = other
    vim.schedule(function()
      if not (api.nvim_win_is_valid(window) and api.nvim_win_is_valid(other)) then return end
      if place.lent then -- Neovim did not close it, because the text is modified
        place.lent.window = window
        api.nvim_win_close(other, true)
      end
    end)
  end })
end

--- Closes the windows, and gives back the borrowed one. If one of them is current, returns to the window that was
--- current before.
function M.close(place, bufs)
  local current, lent = api.nvim_get_current_win(), place.lent
  local function is_of_view(window)
    return api.nvim_win_is_valid(window) and vim.tbl_contains(bufs, api.nvim_win_get_buf(window))
  end
  local was_inside = is_of_view(current)
  place.lent = nil
  if place.autocmd then api.nvim_del_autocmd(place.autocmd) end
  if lent and is_of_view(lent.window) then restore(lent, lent.window) end
  if was_inside and api.nvim_win_is_valid(place.from) then api.nvim_set_current_win(place.from) end
  -- Closes whole tabs: if only their last window is closed, Neovim 0.7 does not give the tab line back to the windows.
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    local others = vim.tbl_filter(function(window) return not is_of_view(window) end, api.nvim_tabpage_list_wins(tab))
    if not others[1] and vim.fn.tabpagenr('$') > 1 then vim.cmd('tabclose! ' .. api.nvim_tabpage_get_number(tab)) end
  end
  for _, buf in ipairs(bufs) do
    for _, window in ipairs(vim.fn.win_findbuf(buf)) do pcall(api.nvim_win_close, window, true) end
  end
end

return M
