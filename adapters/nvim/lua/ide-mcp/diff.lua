--- The view of a proposal: a tab with the file on the left and the proposal, which can be edited, on the right.
--- Writing the proposal accepts it, and closing the proposal rejects it.
local api = vim.api
local M = {}

-- Returns the lines of a text, the end of each line, and that of the last one.
local function split(text)
  local is_dos = text:find('\r\n') and not text:gsub('\r\n', ''):find('\n')
  local line_end = is_dos and '\r\n' or '\n'
  local lines = vim.split(text, line_end, { plain = true })
  local has_end = #lines > 1 and lines[#lines] == ''
  if has_end then table.remove(lines) end
  return lines, line_end, has_end and line_end or ''
end

-- Shows lines in the current window, in a buffer that ends with the window.
local function show(name, path, lines, buftype)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_win_set_buf(0, buf)
  api.nvim_buf_set_name(buf, name)
  vim.bo.undolevels = -1 -- undo does not take the text away
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo.undolevels = vim.go.undolevels
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.modified = buftype, 'wipe', false
  vim.cmd('silent! doautocmd <nomodeline> filetypedetect BufRead ' .. vim.fn.fnameescape(path))
  vim.cmd('diffthis')
  return buf
end

--- Shows a proposal: the event `diff` (docs/sidecar.md), with `client`, and with `accept(text)` and `reject()`, of
--- which the first call counts. Returns a function that closes the view.
function M.show(proposal)
  local lines, line_end, last_end = split(proposal.contents)
  local before, is_reviewing = api.nvim_get_current_tabpage(), vim.t.ide_mcp_proposal
  vim.cmd('tabnew')
  vim.bo.bufhidden = 'wipe' -- the empty buffer of the tab
  local tab = api.nvim_get_current_tabpage()
  vim.t.ide_mcp_proposal = proposal.call
  local name = ('ide-mcp://%d/%%s/%s'):format(proposal.call, vim.fn.fnamemodify(proposal.path, ':t'):gsub('%%', '%%%%'))
  local old = show(name:format('file'), proposal.path, require('ide-mcp.editor').lines(proposal.old_path), 'nofile')
  vim.bo.modifiable, vim.wo.statusline = false, ' %t '
  vim.cmd('rightbelow vsplit')
  local new = show(name:format('proposal'), proposal.path, lines, 'acwrite')
  local client = proposal.client:gsub('%%', '%%%%')
  local note = proposal.outside and ' OUTSIDE of the open folders' or ''
  vim.wo.statusline = (' %%t%s, proposed by %%<%s %%m%%=:w accepts, :q rejects '):format(note, client)
  vim.cmd('silent! normal! gg]c')

  local on_write
  local function close()
    pcall(api.nvim_del_autocmd, on_write)
    pcall(api.nvim_tabpage_del_var, tab, 'ide_mcp_proposal') -- other windows of the person keep the tab
    if api.nvim_get_current_tabpage() == tab and api.nvim_tabpage_is_valid(before) then
      api.nvim_set_current_tabpage(before)
    end
    for _, buf in ipairs({ new, old }) do
      if api.nvim_buf_is_valid(buf) then api.nvim_buf_delete(buf, { force = true }) end
    end
  end
  -- By a pattern, not for the buffer: so `:w FILE` writes that file.
  local pattern = ('ide-mcp://%d/proposal/*'):format(proposal.call)
  on_write = api.nvim_create_autocmd('BufWriteCmd', { pattern = pattern, callback = function()
    if api.nvim_get_current_tabpage() ~= tab then -- `:wa` elsewhere
      return vim.notify('ide-mcp: a proposal is accepted in its own tab only', vim.log.levels.WARN)
    end
    vim.bo[new].modified = false
    proposal.accept(table.concat(api.nvim_buf_get_lines(new, 0, -1, false), line_end) .. last_end)
    vim.schedule(close) -- later: the rest of :wq would close another window
  end })
  api.nvim_create_autocmd('BufWipeout', { buffer = new, callback = function()
    proposal.reject()
    vim.schedule(close)
  end })
  -- The person decides on the earlier proposal first.
  if is_reviewing then api.nvim_set_current_tabpage(before) end
  return close
end

return M
