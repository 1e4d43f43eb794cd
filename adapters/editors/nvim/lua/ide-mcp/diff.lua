--- The view of a proposal: a tab with the file on the left and the proposal, which can be edited, on the right.
--- Writing the proposal accepts it, and closing the proposal rejects it.
local editor = require('ide-mcp.editor')
local api = vim.api
local M = {}

-- Above these limits a view has no highlighting, because an agent could freeze Neovim with it. Measured with 0.7.2 and
-- 0.12.4 for 20,000 lines: one change of all takes 0.03 s, but changes in 1,000 places 0.3 s, in 5,000 places 0.9 s and in
-- 10,000 places 2 s; 50,000 lines with 25,000 places take 35 s. Many a key takes a fifth of that again.
local max_changed, max_places = 20000, 1000
-- Above this size of the changed text, of both sides in bytes, lines are not matched and words not marked. Neovim 0.12.4
-- needs 0.4 s to do so for 90 KiB, and 11 s for 1 MiB.
local max_matched = 32 * 1024
-- Above these sizes of a side and of a line, in bytes, the syntax is not highlighted: its regular expressions hold up
-- Neovim. At the limits the worst key, in 16 KiB of "(" as Lua, takes 0.4 s of Neovim 0.12.4 and 0.3 s of 0.7.2. In 64 KiB
-- of "({[" as C it takes 1.4 s, and with lines of 2,000 bytes more than 4 s.
local max_syntax, max_line = 16 * 1024, 256
-- For so many nanoseconds after a view is on the screen, nothing is accepted: who began to write a file when it opened
-- has not read it.
local unread = 500e6

-- Returns the number of lines from the first to the last that differ, and these lines of each side as a text.
local function changed(old, new)
  local first, last = 1, { #old, #new }
  while old[first] and old[first] == new[first] do first = first + 1 end
  while last[1] >= first and last[2] >= first and old[last[1]] == new[last[2]] do
    last = { last[1] - 1, last[2] - 1 }
  end
  local a, b = table.concat(old, '\n', first, last[1]), table.concat(new, '\n', first, last[2])
  return math.max(unpack(last)) - first + 1, a, b
end

-- Returns why two texts are too different for highlighting, or nil, and then whether their words are.
local function too_much(old, new)
  local count, a, b = changed(old, new)
  if count > max_changed then return ('%d changed lines'):format(count) end
  local diff = vim.text and vim.text.diff or vim.diff -- before Neovim 0.12
  local places = #diff(a .. '\n', b .. '\n', { result_type = 'indices' })
  if places > max_places then return ('%d changed places'):format(places) end
  return nil, #a + #b > max_matched
end

-- Highlights the syntax of the current buffer by the rules for a path. The buffer has no 'filetype': that would start the
-- plugins for it, language servers, and tree-sitter, which a text of 300 bytes aborts together with Neovim 0.12.
local function highlight(buf, path)
  local is_done, syntax = pcall(vim.filetype.match, { buf = buf, filename = path })
  if not is_done then -- Neovim 0.7 sets the type
    local ignored = vim.go.eventignore
    vim.go.eventignore = 'all'
    pcall(vim.filetype.match, path, buf)
    syntax = vim.bo[buf].filetype
    vim.bo[buf].filetype = ''
    vim.go.eventignore = ignored
  end
  if syntax and syntax ~= '' then pcall(function() vim.bo[buf].syntax = syntax end) end
end

-- Gives a buffer a name without a file, and lines.
local function fill_buffer(buf, name, lines, buftype)
  api.nvim_buf_set_name(buf, name)
  vim.bo[buf].undolevels = -1 -- undo does not take the text away
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].undolevels = vim.go.undolevels
  vim.bo[buf].buftype, vim.bo[buf].modified = buftype, false
end

-- Shows lines in the current window, in a buffer that ends with the window. Returns the buffer.
local function show(name, lines, buftype)
  -- A plugin would show the folder.
  if vim.loop.fs_lstat(name) then error('there is a file with the name of the view: ' .. name, 0) end
  local buf = api.nvim_create_buf(false, true)
  api.nvim_win_set_buf(0, buf)
  fill_buffer(buf, name, lines, buftype)
  vim.bo.bufhidden = 'wipe'
  -- The search for the other bracket takes at most so many milliseconds: by default 300, and so 1.2 s for a text of
  -- brackets.
  vim.b.matchparen_timeout, vim.b.matchparen_insert_timeout = 20, 20
  return buf
end

-- Returns a text of an agent for a status line.
local function escape(text) return (text:gsub('%%', '%%%%')) end

local function tail(path) return path:match('[^/\\]*$') end

-- Returns a status line. At 80 columns each side has 40: what decides stands first, and of what is too long the
-- beginning is cut, so that the name of the file stays.
local function status(proposal, first, last)
  return (' %s%s%%<%s '):format(proposal.outside and 'OUTSIDE: ' or '', first, escape(last .. proposal.label))
end

-- Returns whether the current window shows the proposal, in the buffer that was made for it.
local function is_ours(view)
  local buf = view[2]
  return buf and api.nvim_win_get_buf(0) == buf and vim.bo[buf].buftype == 'acwrite' and vim.bo[buf].modifiable
    and vim.startswith(api.nvim_buf_get_name(buf), view.name)
end

-- Fills the tab of a proposal, and adds to `view` what has an end: the buffers, and `diffopt` of before, if it is changed.
local function fill(proposal, view, old, new)
  vim.bo.bufhidden = 'wipe' -- the empty buffer of the tab
  local large, is_coarse = editor.too_large(old) or editor.too_large(new), false
  local reason = large
  if not large then reason, is_coarse = too_much(old, new) end
  local is_plain = large or editor.too_large(old, max_syntax, max_line) or editor.too_large(new, max_syntax, max_line)
  local function add(side, lines, buftype)
    local buf = show(view.name .. side .. '/' .. tail(proposal.label), lines, buftype)
    table.insert(view, buf)
    if large then vim.cmd('setlocal nowrap') end -- a line of 15 MB takes 1.4 s to wrap
    if not is_plain then highlight(buf, proposal.path) end
    if not reason then vim.cmd('diffthis') end
  end
  if is_coarse then
    view.diffopt = vim.o.diffopt
    vim.opt.diffopt:remove(vim.tbl_filter(function(item) return item:find('^linematch') or item:find('^inline') end,
      vim.opt.diffopt:get()))
  end
  if large then collectgarbage() end -- a message of 15 MB leaves several texts of that size
  add('file', old, 'nofile')
  vim.bo.modifiable = false
  vim.wo.statusline = status(proposal, '', reason and 'no highlighting, ' .. reason .. ': ' or '')
  vim.cmd('rightbelow vsplit')
  add('proposal', new, 'acwrite')
  vim.wo.statusline = status(proposal, ':w accepts, :q rejects. ', proposal.client .. ' proposes ') .. '%m'
  vim.cmd('silent! normal! gg]c')
  if not is_ours(view) then error('a plugin has taken the view of the proposal', 0) end
end

-- The texts that stay after their proposals were withdrawn. Each can have some MiB, and none is thrown away: with so many,
-- a further proposal fails.
local withdrawn, max_kept = {}, 8

-- Keeps the text of a proposal into which the person has typed, and which is not accepted, in a listed buffer. Neovim does
-- not end while the text is there, since it counts as modified. Returns the buffer.
local function keep(view, label)
  local name = '[withdrawn] ' .. tail(label)
  local buf = api.nvim_create_buf(true, true)
  fill_buffer(buf, view.name .. name, api.nvim_buf_get_lines(view[2], 0, -1, false), 'acwrite')
  vim.bo[buf].modified = true
  table.insert(withdrawn, buf)
  api.nvim_create_autocmd('BufWriteCmd', { pattern = view.name .. '*', callback = function()
    editor.warn('this proposal was withdrawn. `:w FILE` writes your text to a file')
  end })
  return buf
end

--- Shows a proposal: the event `diff` (docs/sidecar.md), with `client`, and with `accept(text)` and `reject()`, of
--- which the first call counts and returns true. Returns a function that closes the view; if the person has typed into
--- a text that was not accepted, that function keeps the text, and returns its buffer. Returns also a function that says
--- in the view that the proposal has ended: while the person types, the view stays open.
function M.show(proposal)
  withdrawn = vim.tbl_filter(api.nvim_buf_is_loaded, withdrawn)
  if #withdrawn >= max_kept then
    error(('%d texts of withdrawn proposals stay until the person closes one: see `:ls`'):format(max_kept), 0)
  end
  local lines, line_end, last_end = editor.split(proposal.contents)
  local before = api.nvim_get_current_tabpage()
  vim.cmd('tabnew')
  local tab, on_write, opened = api.nvim_get_current_tabpage(), nil, math.huge
  -- Nobody can guess the name, and so make a folder with it.
  local secret = vim.loop.random(8):gsub('.', function(byte) return ('%02x'):format(byte:byte()) end)
  local view = { name = ('ide-mcp://%d-%s/'):format(proposal.call, secret) }
  vim.t.ide_mcp_proposal = proposal.call
  local function leave()
    if on_write then pcall(api.nvim_del_autocmd, on_write) end
    local text = view[2]
    local kept = text and api.nvim_buf_is_valid(text) and vim.bo[text].modified and keep(view, proposal.label) or nil
    pcall(api.nvim_tabpage_del_var, tab, 'ide_mcp_proposal') -- other windows of the person keep the tab
    if api.nvim_get_current_tabpage() == tab and api.nvim_tabpage_is_valid(before) then
      api.nvim_set_current_tabpage(before)
    end
    for _, buf in ipairs(view) do
      if api.nvim_buf_is_valid(buf) then api.nvim_buf_delete(buf, { force = true }) end
    end
    if view.diffopt then vim.o.diffopt = view.diffopt end
    return kept
  end
  local function close() return editor.quietly(leave) end -- another buffer can be entered
  local is_done, problem = pcall(fill, proposal, view, editor.before(proposal), lines)
  if not is_done then
    close()
    if api.nvim_tabpage_is_valid(tab) then vim.cmd('tabclose! ' .. api.nvim_tabpage_get_number(tab)) end
    error(problem, 0)
  end
  local new = view[2]
  -- By a pattern, not for the buffer: so `:w FILE` writes that file.
  local pattern = view.name .. 'proposal/*'
  on_write = api.nvim_create_autocmd('BufWriteCmd', { pattern = pattern, callback = function()
    if api.nvim_get_current_tabpage() ~= tab then -- `:wa` elsewhere
      return editor.warn('a proposal is accepted in its own tab only')
    end
    if not is_ours(view) then
      proposal.reject()
      vim.schedule(close)
      return editor.warn('the proposal is rejected: a plugin has taken its view')
    end
    if vim.loop.hrtime() - opened < unread then
      local is_modified = vim.bo[new].modified
      vim.bo[new].modified = true -- else :wq goes on, and rejects
      vim.schedule(function()
        if api.nvim_buf_is_valid(new) then vim.bo[new].modified = is_modified end
      end)
      return editor.warn('the proposal has just opened, and is not accepted yet')
    end
    local text = table.concat(api.nvim_buf_get_lines(new, 0, -1, false), line_end) .. last_end
    if proposal.accept(text) == false then return end -- the view closes soon, and keeps what is typed
    vim.bo[new].modified = false
    vim.schedule(close) -- later: the rest of :wq would close another window
  end })
  api.nvim_create_autocmd('BufWipeout', { buffer = new, callback = function()
    proposal.reject()
    vim.schedule(close)
  end })
  vim.cmd('redraw')
  opened = vim.loop.hrtime()
  return close, function()
    for _, window in ipairs(vim.fn.win_findbuf(new)) do
      vim.wo[window].statusline = status(proposal, 'ended, nothing is accepted. ', '')
    end
  end
end

return M
