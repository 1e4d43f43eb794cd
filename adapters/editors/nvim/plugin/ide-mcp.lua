--- The command `:IdeMcp`, the maps, and the start.
vim.api.nvim_create_user_command('IdeMcp', function(call) require('ide-mcp.commands').run(call) end, {
  nargs = '*', range = true, bang = true, desc = 'Agents of ide-mcp',
  complete = function(typed, line) return require('ide-mcp.commands').complete(typed, line) end,
})

-- `<Plug>` maps, for which the person chooses the keys: `:help ide-mcp-keys`. A count is the number of a terminal.
local function map(modes, name, keys) vim.keymap.set(modes, ('<Plug>(ide-mcp-%s)'):format(name), keys) end

for _, name in ipairs({ 'open', 'toggle', 'focus' }) do
  map({ 'n', 'x', 't' }, name, function()
    vim.cmd(('IdeMcp %s %s'):format(name, vim.v.count > 0 and vim.v.count or ''))
  end)
end
for _, name in ipairs({ 'interrupt', 'accept', 'reject', 'next', 'previous', 'proposals', 'agents', 'pause', 'resume' }) do
  map({ 'n', 'x', 't' }, name, function() vim.cmd('IdeMcp ' .. name) end)
end
for _, name in ipairs({ 'mention', 'send' }) do
  map('n', name, function() vim.cmd('IdeMcp ' .. name) end)
  map('x', name, (':IdeMcp %s<CR>'):format(name))
end

-- Starts with the default options, unless there is no screen, or the person's configuration calls `setup` itself.
local function start()
  if #vim.api.nvim_list_uis() == 0 or vim.g.ide_mcp_start == false then return end
  local plugin = require('ide-mcp')
  if not plugin.is_set_up then plugin.setup() end
end

if vim.v.vim_did_enter == 1 then
  vim.schedule(start) -- a plugin manager that loads this file late calls `setup` right after it
else
  vim.api.nvim_create_autocmd('VimEnter', { callback = start })
end
