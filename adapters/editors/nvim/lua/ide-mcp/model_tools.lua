--- The tools by which the model can ask Neovim, if the person has turned them on: `:help ide-mcp-tools`. Each answer is
--- a list of lines, and the first one says how many there are. It is kept short, because a model pays for each line.
local files, open_file = require('ide-mcp.files'), require('ide-mcp.editor').tools.openFile
local units = require('ide-mcp.text').units
local fn = vim.fn
local M = { answers = {} }

-- The maximum number of lines and bytes of an answer.
local max_lines, max_bytes = 300, 24 * 1024
local max_line = 300 -- bytes of each line
local max_visited = 20000 -- entries of folders that are looked at without git
local patience = 8000 -- milliseconds to wait for a language server

local path = { type = 'string', description = 'The absolute path of the file, or its path in the open folder' }

local offers = {
  symbols = {
    description = 'The symbols of a file, such as functions and types, with their lines, from the language server',
    schema = { type = 'object', properties = { path = path }, required = { 'path' } },
  },
  references = {
    description = 'Where a symbol is used in the project, from the language server',
    schema = {
      type = 'object', required = { 'path', 'line', 'symbol' },
      properties = {
        path = path, line = { type = 'integer', description = 'The line of the file that has the symbol, from 1' },
        symbol = { type = 'string', description = 'The symbol as that line has it' },
      },
    },
  },
  files = {
    description = 'The files of the project, without those that git ignores',
    schema = {
      type = 'object',
      properties = { part = { type = 'string', description = 'A part of the path; without it, all files are listed' } },
    },
  },
}

--- Returns the tools with these names, for the configuration of the sidecar.
function M.offer(names)
  return vim.tbl_map(function(name)
    local offer = offers[name] or error(('there is no tool %s; the tools are symbols, references and files'):format(name), 0)
    return vim.tbl_extend('error', { name = name, models = true }, offer)
  end, names)
end

-- Calls a function with a callback, and waits until it is called. Returns its arguments, or nothing after `patience`.
-- Must run in a coroutine.
local function await(act)
  local caller, is_over = coroutine.running(), false
  local function go_on(...)
    if is_over then return end
    is_over = true
    coroutine.resume(caller, ...)
  end
  vim.defer_fn(go_on, patience)
  act(vim.schedule_wrap(go_on))
  return coroutine.yield()
end

local function folder() return vim.loop.fs_realpath(fn.getcwd(-1, -1)) or fn.getcwd(-1, -1) end

-- Returns whether a path whose links are resolved is below the folder.
local function is_inside(real)
  local root = files.key(folder()):gsub('[/\\]$', '')
  return vim.startswith(files.key(real), root .. '/')
end

-- Returns a path relative to the folder.
local function short(real) return real:sub(#folder():gsub('[/\\]$', '') + 2) end

-- Returns the path of a file that the model names, or fails if it is not in the folder.
local function resolve(name)
  if type(name) ~= 'string' or name:find('%c') then error('path must be the path of a file', 0) end
  local real = vim.loop.fs_realpath(files.is_path(name) and name or folder() .. '/' .. name)
  if not real or not is_inside(real) then error('there is no such file in the folder of Neovim', 0) end
  return real
end

-- Returns lines as an answer. `what` has the singular and the plural of what they are.
local function answer(lines, what, total)
  local shown, size = {}, 0
  for _, line in ipairs(lines) do
    line = line:gsub('%c', ' '):sub(1, max_line)
    size = size + #line + 1
    if #shown == max_lines or size > max_bytes then break end
    table.insert(shown, line)
  end
  total = total or #lines
  local all = ('%d %s'):format(total, what[total == 1 and 1 or 2])
  local head = #shown < total and ('%d of %s'):format(#shown, all) or all
  return head .. '\n' .. table.concat(shown, '\n')
end

-- Returns the buffer of a file, and a language server for it that has a capability. Loads the file if it is not open,
-- and waits a moment for its server to attach.
local function server_of(real, ability)
  if not files.buffer(real) then open_file({ filePath = real, makeFrontmost = false }, real) end
  local buf, rest = files.buffer(real), patience / 100
  while buf and rest > 0 do
    local clients = (vim.lsp.get_clients or vim.lsp.get_active_clients)({ bufnr = buf })
    for _, client in pairs(clients) do -- before Neovim 0.8, these are the clients of all buffers
      if vim.lsp.buf_is_attached(buf, client.id) and client.server_capabilities[ability] then return buf, client end
    end
    if not next(clients) and rest < patience / 100 - 20 then break end
    rest = rest - 1
    await(function(go_on) vim.defer_fn(go_on, 100) end)
  end
  error('Neovim has no language server that supports this for the file', 0)
end

-- Asks a language server. Returns its result.
local function ask(client, buf, method, params)
  params.textDocument = { uri = vim.uri_from_bufnr(buf) }
  local problem, result = await(function(go_on)
    local handler = function(err, value) go_on(err and (err.message or 'the server failed') or false, value) end
    if fn.has('nvim-0.11') == 1 then return client:request(method, params, handler, buf) end
    client.request(method, params, handler, buf)
  end)
  if problem == nil then error('the language server does not answer', 0) end
  if problem then error(problem, 0) end
  return result ~= vim.NIL and result or {}
end

function M.answers.symbols(arguments)
  local buf, client = server_of(resolve(arguments.path), 'documentSymbolProvider')
  local lines, total = {}, 0
  local function add(symbols, indent)
    for _, symbol in ipairs(symbols) do
      total = total + 1
      local range = symbol.range or symbol.location.range
      local kind = (vim.lsp.protocol.SymbolKind[symbol.kind] or 'symbol'):lower()
      if #lines <= max_lines then
        local first, last = range.start.line + 1, range['end'].line + 1
        table.insert(lines, ('%s%s %s, lines %d to %d'):format(indent, kind, symbol.name, first, last))
      end
      if symbol.children and #indent < 20 then add(symbol.children, indent .. '  ') end
    end
  end
  add(ask(client, buf, 'textDocument/documentSymbol', {}), '')
  return answer(lines, { 'symbol', 'symbols' }, total)
end

function M.answers.references(arguments)
  local real, line, symbol = resolve(arguments.path), arguments.line, arguments.symbol
  if type(line) ~= 'number' or type(symbol) ~= 'string' or symbol == '' then
    error('line must be a number, and symbol a string', 0)
  end
  local buf, client = server_of(real, 'referencesProvider')
  local text = vim.api.nvim_buf_get_lines(buf, line - 1, line, false)[1] or ''
  -- A whole word is better: `def` also occurs in `undefined`.
  local column = fn.match(text, '\\C\\V\\<' .. fn.escape(symbol, '\\') .. '\\>')
  if column < 0 then column = (text:find(symbol, 1, true) or 0) - 1 end
  if column < 0 then error(('line %d does not have %s'):format(line, symbol:sub(1, 60)), 0) end
  local found = ask(client, buf, 'textDocument/references', {
    position = { line = line - 1, character = units(text, column, client.offset_encoding) },
    context = { includeDeclaration = true },
  })
  local lines, outside = {}, 0
  for _, place in ipairs(found) do
    local at = vim.uri_to_fname(place.uri)
    at = vim.loop.fs_realpath(at) or at
    if is_inside(at) then
      table.insert(lines, ('%s:%d'):format(short(at), place.range.start.line + 1))
    else
      outside = outside + 1
    end
  end
  return answer(lines, { 'reference', 'references' }) .. (outside > 0 and ('\n%d outside of the folder'):format(outside) or '')
end

-- Returns the files of the folder as git lists them, or nil without git.
local function tracked(root)
  if fn.executable('git') == 0 then return nil end
  local pieces = {}
  local status = await(function(go_on)
    local command = { 'git', '--literal-pathspecs', '-c', 'core.fsmonitor=false', 'ls-files', '-z', '--cached', '--others' }
    -- The folder is named as a path: if the settings of the repository name another work tree, git then fails.
    fn.jobstart(vim.list_extend(command, { '--exclude-standard', '--', root }), {
      cwd = root, stdout_buffered = true, on_stdout = function(_, lines) pieces = lines end,
      on_exit = function(_, status) go_on(status) end,
    })
  end)
  if status ~= 0 then return nil end
  local paths = vim.split(table.concat(pieces, '\n'), '\n') -- Neovim turns NUL into a line feed
  return vim.tbl_filter(function(name) return name ~= '' end, paths)
end

-- Returns the files of the folder by walking through it. Skips hidden ones.
local function walked(root)
  local found, folders, visited = {}, { '' }, 0
  while folders[1] and visited < max_visited do
    local below = table.remove(folders, 1)
    local handle = vim.loop.fs_scandir(root .. '/' .. below)
    while handle and visited < max_visited do
      local name, kind = vim.loop.fs_scandir_next(handle)
      if not name then break end
      visited = visited + 1
      if kind == 'directory' and not vim.startswith(name, '.') then table.insert(folders, below .. name .. '/') end
      if kind == 'file' and not vim.startswith(name, '.') then table.insert(found, below .. name) end
    end
  end
  return found
end

function M.answers.files(arguments)
  local part = arguments.part or ''
  if type(part) ~= 'string' then error('part must be a string', 0) end
  local root = folder()
  local paths = vim.tbl_filter(function(name) return name:find(part, 1, true) ~= nil end, tracked(root) or walked(root))
  table.sort(paths)
  return answer(paths, { 'file', 'files' })
end

return M
