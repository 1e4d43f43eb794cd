--- The view of a proposal: the file and the proposal, side by side in a tab or in the current windows, or the proposal
--- alone with the old lines in between. The proposal can be edited. Writing it accepts it, and closing it rejects it.
local files, messages, turns = require('ide-mcp.files'), require('ide-mcp.messages'), require('ide-mcp.turns')
local windows = require('ide-mcp.windows')
local compare, split = require('ide-mcp.text').compare, require('ide-mcp.text').split
local api = vim.api
local M = {}

-- Above these limits a view has no highlighting, because an agent could freeze Neovim with it. Measured with 0.7.2 and
-- 0.12.4 in 20,000 lines: one change of all lines takes 0.03 s, but changes in 1,000 places take 0.3 s, in 5,000 places
-- 0.9 s and in 10,000 places 2 s. 50,000 lines with changes in 25,000 places take 35 s. Many keys take a fifth of these
-- times again.
local max_changed, max_places = 20000, 1000
-- Above this size of the changed text (both sides, in bytes), lines are not matched and words are not marked. Neovim
-- 0.12.4 needs 0.4 s to do so for 90 KiB, and 11 s for 1 MiB.
local max_matched = 32 * 1024
-- Above these sizes of a side and of a line, in bytes, the syntax is not highlighted: its regular expressions would
-- block Neovim. At the limits the worst key, in 16 KiB of "(" as Lua, takes 0.4 s of Neovim 0.12.4 and 0.3 s of 0.7.2.
-- In 64 KiB of "({[" as C it takes 1.4 s, and with lines of 2,000 bytes more than 4 s.
local max_syntax, max_line = 16 * 1024, 256
-- For so many nanoseconds after a view is on the screen, nothing is accepted: a `:w` that the person began before was
-- not meant for it.
local unread = 500e6

-- Returns the number of lines from the first to the last difference, and these lines of each side, joined.
local function changed(old, new)
  local first, last = 1, { #old, #new }
  while old[first] and old[first] == new[first] do first = first + 1 end
  while last[1] >= first and last[2] >= first and old[last[1]] == new[last[2]] do
    last = { last[1] - 1, last[2] - 1 }
  end
  local a, b = table.concat(old, '\n', first, last[1]), table.concat(new, '\n', first, last[2])
  return math.max(unpack(last)) - first + 1, a, b
end

-- Returns why two texts are too different for highlighting; otherwise nil, and whether they are too different to
-- compare their words.
local function too_much(old, new)
  local count, a, b = changed(old, new)
  if count > max_changed then return ('%d changed lines'):format(count) end
  local places = #compare(a .. '\n', b .. '\n', { result_type = 'indices' })
  if places > max_places then return ('%d changed places'):format(places) end
  return nil, #a + #b > max_matched
end

-- Highlights the syntax of the current buffer by the rules for a path. The buffer gets no 'filetype', because that
-- would start plugins, language servers, and tree-sitter, which a text of 300 bytes can make abort Neovim 0.12.
local function highlight(buf, path)
  local is_done, syntax = pcall(vim.filetype.match, { buf = buf, filename = path })
  if not is_done then -- in Neovim 0.7 it sets the type itself
    local ignored = vim.go.eventignore
    vim.go.eventignore = 'all'
    pcall(vim.filetype.match, path, buf)
    syntax = vim.bo[buf].filetype
    vim.bo[buf].filetype = ''
    vim.go.eventignore = ignored
  end
  if syntax and syntax ~= '' then pcall(function() vim.bo[buf].syntax = syntax end) end
end

-- Fills a buffer with lines, which undo does not remove.
local function set_lines(buf, lines)
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].undolevels = vim.go.undolevels
  vim.bo[buf].modified = false
end

-- Returns the prefix of the name of a view's buffer. It has a random part, so that an agent cannot guess it and make a
-- folder of this name.
local function root_of(view, mark) return ('ide-mcp://%s-%s/'):format(mark:gsub(' ', '-'), view.secret) end

-- Returns the name of a view's buffer, in which `mark` says what the buffer is. In the title of a tab, Neovim shows the
-- last part of the name whole, and the first letter of each part before it.
local function name_of(view, mark)
  local folder, file = view.proposal.label:match('^[/\\]*(.-)([^/\\]*)$')
  return ('%s%s[%s] %s'):format(root_of(view, mark), folder, mark, file)
end

-- Gives a buffer a name, which is not that of a file, and lines.
local function fill_buffer(buf, name, lines, buftype)
  api.nvim_buf_set_name(buf, name)
  set_lines(buf, lines)
  vim.bo[buf].buftype = buftype
end

-- Returns a new buffer with lines. It has no file, whatever its name is.
local function create(name, lines, buftype)
  -- Otherwise a plugin could show a folder of this name.
  if vim.loop.fs_lstat(name) then error('there is a file with the name of the view: ' .. name, 0) end
  local buf = api.nvim_create_buf(false, true)
  fill_buffer(buf, name, lines, buftype)
  -- The time limit of matchparen, in milliseconds. With its default of 300, a key in a text of brackets takes 1.2 s.
  vim.b[buf].matchparen_timeout, vim.b[buf].matchparen_insert_timeout = 20, 20
  return buf
end

-- Escapes a string of an agent for a status line.
local function escape(text) return (text:gsub('%%', '%%%%')) end

-- Returns a status line. At 80 columns each side has 40, so the line begins with the keys that decide, and a label that
-- is too long loses its beginning: the name of the file stays.
local function status(proposal, first, last)
  local text = ' %s%s%%<%s%%{v:lua.require\'ide-mcp.proposals\'.note()} '
  return text:format(proposal.outside and 'OUTSIDE: ' or '', first, escape(last .. proposal.label))
end

-- Returns whether the buffer of the proposal is still the one that the view made.
local function is_ours(view)
  local buf = view.new
  return api.nvim_buf_is_valid(buf) and vim.bo[buf].buftype == 'acwrite' and vim.bo[buf].modifiable
    and vim.startswith(api.nvim_buf_get_name(buf), root_of(view, 'proposal'))
end

-- Returns what the two texts are too large for. `large` is the reason to highlight nothing, `reason` the reason not to
-- mark the differences; with `is_coarse`, lines and words are not matched, and with `is_plain`, there is no syntax.
local function check_limits(old, new)
  local large = files.too_large(old) or files.too_large(new)
  local reason, is_coarse = large, false
  if not large then reason, is_coarse = too_much(old, new) end
  local is_plain = large or files.too_large(old, max_syntax, max_line) or files.too_large(new, max_syntax, max_line)
  return { large = large, reason = reason, is_coarse = is_coarse, is_plain = is_plain }
end

-- Sets up the window of a view's buffer, with as much highlighting as the limits allow.
local function set_up_window(view, window, buf)
  api.nvim_set_current_win(window)
  vim.bo[buf].bufhidden = 'wipe' -- wiping it out rejects the proposal
  if view.limits.large then vim.cmd('setlocal nowrap') end -- a line of 15 MB takes 1.4 s to wrap
  if view.limits.is_plain then
    vim.bo[buf].syntax = '' -- left from a time when the text was shorter
  elseif vim.bo[buf].syntax == '' then
    highlight(buf, view.proposal.path)
  end
end

-- Fills the side of the file. It does so each time that the view is shown, because the file can have changed while the
-- proposal was aside.
local function fill_old(view)
  view.before = files.before(view.proposal)
  view.limits = check_limits(view.before, api.nvim_buf_get_lines(view.new, 0, -1, false))
  vim.bo[view.old].modifiable = true
  set_lines(view.old, view.before)
  vim.bo[view.old].modifiable = false
end

-- Opens the windows of a view, and remembers in `view` what must be undone at its end.
local function open(view, focus)
  fill_old(view)
  local proposal, limits = view.proposal, view.limits
  view.place = {}
  windows.open(view.place, view.layout, focus, view.old, view.new)
  vim.t.ide_mcp_proposal = proposal.call
  view.tab = api.nvim_get_current_tabpage()
  local left, right = unpack(view.place)
  if limits.is_coarse and right then
    view.diffopt = vim.o.diffopt
    vim.opt.diffopt:remove(vim.tbl_filter(function(item) return item:find('^linematch') or item:find('^inline') end,
      vim.opt.diffopt:get()))
  end
  if limits.large then collectgarbage() end -- a message of 15 MB leaves several texts of that size
  local note = limits.reason and 'no highlighting, ' .. limits.reason .. ': ' or ''
  if right then
    set_up_window(view, left, view.old)
    vim.wo[left].statusline = status(proposal, '', note)
    note = ''
    if not limits.reason then vim.cmd('diffthis') end
  end
  local window = right or left
  set_up_window(view, window, view.new)
  if right and not limits.reason then vim.cmd('diffthis') end
  vim.wo[window].statusline = status(proposal, ':w accepts, :q rejects. ', note .. proposal.client .. ' proposes ') .. '%m'
  if right then
    vim.cmd('silent! normal! gg]c')
  else
    require('ide-mcp.inline').show(view.new, not limits.reason and view.before or nil)
  end
  if not is_ours(view) or api.nvim_win_get_buf(window) ~= view.new then
    error('a plugin has taken the view of the proposal', 0)
  end
  windows.keep(view.place, { view.old, view.new })
end

-- The texts of withdrawn proposals that are kept. Each can have some MiB, and none is thrown away: with `max_kept` of
-- them, a further proposal fails.
local withdrawn, max_kept = {}, 8

-- Keeps a text that the person has edited but not accepted, in a listed buffer. It counts as modified, so Neovim does
-- not quit while it is there. Returns the buffer.
local function keep(view)
  local buf = api.nvim_create_buf(true, true)
  fill_buffer(buf, name_of(view, 'withdrawn'), api.nvim_buf_get_lines(view.new, 0, -1, false), 'acwrite')
  vim.bo[buf].modified = true
  table.insert(withdrawn, buf)
  api.nvim_create_autocmd('BufWriteCmd', { pattern = root_of(view, 'withdrawn') .. '*', callback = function()
    messages.warn('this proposal was withdrawn. `:w FILE` writes your text to a file')
  end })
  return buf
end

-- Closes the windows of a view. The buffers stay.
local function hide(view)
  for _, buf in pairs({ view.old, view.new }) do
    if api.nvim_buf_is_valid(buf) then vim.bo[buf].bufhidden = 'hide' end
  end
  if view.tab then pcall(api.nvim_tabpage_del_var, view.tab, 'ide_mcp_proposal') end -- other windows keep the tab
  if view.place then windows.close(view.place, { view.old, view.new }) end
  if view.diffopt then vim.o.diffopt = view.diffopt end
  view.place, view.tab, view.diffopt, view.opened = nil, nil, nil, nil
end

-- Closes a view. If the person has edited the text and not accepted it, returns the buffer that keeps it.
local function close(view)
  if view.is_closed then return end
  view.is_closed = true
  for _, autocmd in ipairs(view.autocmds) do pcall(api.nvim_del_autocmd, autocmd) end
  local kept = api.nvim_buf_is_valid(view.new) and vim.bo[view.new].modified and keep(view) or nil
  hide(view)
  for _, buf in pairs({ view.old, view.new }) do
    if api.nvim_buf_is_valid(buf) then api.nvim_buf_delete(buf, { force = true }) end
  end
  return kept
end

-- Returns the window of the current tab that shows the proposal, or nil.
local function window_of(view)
  local window = vim.fn.bufwinid(view.new)
  return window ~= -1 and window or nil
end

-- Accepts the text of a view, unless the person cannot have read it yet. Returns whether the proposal is decided.
local function accept(view)
  local new = view.new
  if not is_ours(view) then
    view.proposal.reject()
    vim.schedule(view.close)
    messages.warn('the proposal is rejected: a plugin has taken its view')
    return true
  end
  if not view.opened then
    messages.warn('not accepted: `:IdeMcp next` shows the proposal first')
    return false
  end
  if vim.loop.hrtime() - view.opened < unread then
    messages.warn('not accepted: the proposal has just opened. Read it first')
    return false
  end
  local text = table.concat(api.nvim_buf_get_lines(new, 0, -1, false), view.line_end) .. view.last_end
  if view.proposal.accept(text) == false then return true end -- it has ended: the view closes soon, and typed text is kept
  vim.bo[new].modified = false
  vim.schedule(view.close) -- later: the rest of :wq would close another window
  return true
end

-- Accepts the proposal when its buffer is written, and rejects it when the buffer is wiped out.
local function watch(view)
  local new = view.new
  local function at(events, options) table.insert(view.autocmds, api.nvim_create_autocmd(events, options)) end
  -- By a pattern and not for the buffer, so that `:w FILE` still writes that file.
  at('BufWriteCmd', { pattern = root_of(view, 'proposal') .. '*', callback = function()
    if not turns.is_by_key() then -- a plugin saves by itself, perhaps with `:silent!`
      return vim.schedule(function() messages.warn('a proposal is accepted by a key or a command of yours only') end)
    end
    -- A `:wa` in another tab. If the current tab has the window of the proposal, Neovim makes it current before this is
    -- called.
    if api.nvim_get_current_tabpage() ~= view.tab then
      return messages.warn('a proposal is accepted in its own tab only')
    end
    if view.place.is_shared and view.entered ~= window_of(view) then
      return messages.warn('a proposal is accepted in its own window only')
    end
    local is_modified = vim.bo[new].modified
    if accept(view) then return end
    vim.bo[new].modified = true -- otherwise :wq goes on to `q`, which rejects
    vim.schedule(function()
      if api.nvim_buf_is_valid(new) then vim.bo[new].modified = is_modified end
    end)
  end })
  at('BufWipeout', { buffer = new, callback = function()
    view.proposal.reject()
    vim.schedule(view.close)
  end })
  at({ 'TabEnter', 'BufWinEnter', 'WinEnter' }, { callback = function()
    view.entered = api.nvim_get_current_win()
    vim.schedule(view.look)
  end })
end

-- Shows a view. Without `focus`, returns to the window that was current before.
local function show(view, focus)
  local before, mode = api.nvim_get_current_win(), vim.fn.mode()
  local is_done, problem = pcall(open, view, focus)
  if not is_done then
    view.close()
    error(problem, 0)
  end
  if not focus and api.nvim_win_is_valid(before) then
    api.nvim_set_current_win(before)
    if mode == 't' then vim.cmd('startinsert') end
  end
  view.entered = api.nvim_get_current_win()
  view.look()
end

--- Shows a proposal: the event `diff` (docs/sidecar.md), with `client`, `layout` and `focus`, and with `accept(text)` and
--- `reject()`, of which the first call counts and returns true. Returns the view, a table of functions: `close` closes
--- it, and returns a buffer if the person has edited a text that was not accepted; `say_ended` says in the view that
--- the proposal has ended, since it stays open while the person types; `hide` and `show` put it aside; `focus` goes
--- there, `is_visible` says whether it is in the current tab, and `accept` and `reject` decide.
function M.show(proposal)
  withdrawn = vim.tbl_filter(api.nvim_buf_is_loaded, withdrawn)
  if #withdrawn >= max_kept then
    error(('close one of the %d withdrawn texts first: see `:ls`'):format(max_kept), 0)
  end
  local lines, line_end, last_end = split(proposal.contents)
  local secret = vim.loop.random(8):gsub('.', function(byte) return ('%02x'):format(byte:byte()) end)
  local view = {
    proposal = proposal, secret = secret, layout = proposal.layout or 'tab',
    line_end = line_end, last_end = last_end, autocmds = {},
  }
  function view.close() return files.quietly(function() return close(view) end) end -- it can enter another buffer
  function view.hide() files.quietly(function() hide(view) end) end
  function view.show(focus) show(view, focus) end
  function view.accept() return accept(view) end
  function view.reject()
    if api.nvim_buf_is_valid(view.new) then vim.bo[view.new].modified = false end -- a rejected text is not kept
    proposal.reject()
    view.close()
  end
  function view.is_visible() return window_of(view) ~= nil end
  function view.look() -- remembers when it was first on the screen
    if view.opened or not view.place or not window_of(view) then return end
    vim.cmd('redraw')
    view.opened = vim.loop.hrtime()
  end
  function view.focus()
    if not view.tab or not api.nvim_tabpage_is_valid(view.tab) then return end
    api.nvim_set_current_tabpage(view.tab)
    local window = window_of(view)
    if window then api.nvim_set_current_win(window) end
  end
  function view.say_ended()
    for _, window in ipairs(vim.fn.win_findbuf(view.new)) do
      vim.wo[window].statusline = status(proposal, 'ended, nothing is accepted. ', '')
    end
  end
  view.old = create(name_of(view, 'before the proposal'), {}, 'nofile')
  view.new = create(name_of(view, 'proposal'), lines, 'acwrite')
  watch(view)
  show(view, proposal.focus ~= false)
  return view
end

return M
