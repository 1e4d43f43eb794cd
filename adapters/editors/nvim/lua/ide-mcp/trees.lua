--- Finds the files that the person means in a file tree: in netrw, or in that of a plugin.
local api, fn = vim.api, vim.fn
local M = {}

local function join(folder, name) return (folder:gsub('/$', '')) .. '/' .. name end

--- For each 'filetype', functions that return the marked paths, if there are any, and the path under the cursor or nil.
local trees = {}

trees.netrw = {
  marked = function()
    local list = fn['netrw#Expose']('netrwmarkfilelist')
    return type(list) == 'table' and list or {}
  end,
  cursor = function()
    if fn.line('.') < (vim.w.netrw_bannercnt or 0) then return nil end -- in the banner
    local word = fn['netrw#Call']('NetrwGetWord'):gsub('[@*|=/]$', '')
    if word == '' or word == '.' or word == '..' then return nil end
    -- A name in the folder or, in the tree view, the whole path.
    local path = fn['netrw#Call']('NetrwFile', word)
    return vim.loop.fs_stat(path) and path or join(vim.b.netrw_curdir, word)
  end,
}

trees.oil = {
  cursor = function()
    local oil = require('oil')
    local entry, folder = oil.get_cursor_entry(), oil.get_current_dir()
    return entry and folder and entry.name ~= '..' and join(folder, entry.name) or nil
  end,
}

trees.NvimTree = {
  marked = function()
    return vim.tbl_map(function(node) return node.absolute_path end, require('nvim-tree.api').marks.list())
  end,
  cursor = function()
    local node = require('nvim-tree.api').tree.get_node_under_cursor()
    return node and node.name ~= '..' and node.absolute_path or nil
  end,
}

trees['neo-tree'] = {
  cursor = function()
    local state = require('neo-tree.sources.manager').get_state(vim.b.neo_tree_source or 'filesystem')
    local node = state.tree and state.tree:get_node()
    return node and node.path or nil
  end,
}

trees.minifiles = {
  cursor = function() return (require('mini.files').get_fs_entry() or {}).path end,
}

trees.snacks_picker_list = {
  marked = function()
    local picker = require('snacks').picker.get({ source = 'explorer' })[1]
    return picker and vim.tbl_map(function(item) return item.file end, picker:selected()) or {}
  end,
  cursor = function()
    local picker = require('snacks').picker.get({ source = 'explorer' })[1]
    return ((picker and picker:current()) or {}).file
  end,
}

trees.fern = {
  marked = function()
    return api.nvim_eval('map(copy(fern#helper#new().sync.get_selected_nodes()), {_, node -> node._path})')
  end,
  cursor = function() return api.nvim_eval('fern#helper#new().sync.get_cursor_node()._path') end,
}

trees.nerdtree = {
  cursor = function()
    local path = api.nvim_eval("empty(g:NERDTreeFileNode.GetSelected()) ? '' : g:NERDTreeFileNode.GetSelected().path.str()")
    return path ~= '' and path or nil
  end,
}

trees.dirvish = { cursor = function() return api.nvim_get_current_line() end }

--- Returns the paths in the lines of a range. Without a range, returns the marked paths or, if none is marked, the one
--- under the cursor. Returns nil if the current buffer is not a file tree.
function M.paths(first, last)
  local tree = trees[vim.bo.filetype]
  if not tree then return nil end
  local view, paths = fn.winsaveview(), {}
  local function add(path)
    if type(path) == 'string' and path ~= '' then table.insert(paths, (path:gsub('(.)/+$', '%1'))) end
  end
  if first then
    for line = first, last do
      api.nvim_win_set_cursor(0, { line, 0 })
      add(tree.cursor())
    end
  else
    for _, path in ipairs(tree.marked and tree.marked() or {}) do add(path) end
    if not paths[1] then add(tree.cursor()) end
  end
  fn.winrestview(view)
  return paths
end

return M
