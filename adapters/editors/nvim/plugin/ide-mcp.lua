-- Starts with the default options, unless the configuration of the person calls `setup` itself, or there is no screen.
vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    if vim.fn.exists(':IdeMcp') == 0 and #vim.api.nvim_list_uis() > 0 and vim.g.ide_mcp_start ~= false then
      require('ide-mcp').setup()
    end
  end,
})
