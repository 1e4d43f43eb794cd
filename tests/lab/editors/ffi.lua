--- Runs the C library in Neovim itself, by the FFI of LuaJIT. This replaces
--- adapters/editors/nvim/lua/ide-mcp/sidecar.lua, which has the same functions. Only for tests. Commands use the typed
--- functions where the library has some, and each member of an event is read both with its type and as JSON, so that a
--- difference between the two is an error.
local library, header = ...
local ffi = require('ffi')
local M = {}

local file = assert(io.open(header))
local declarations = file:read('*a')
file:close()
local abi = declarations:match('#define IDEMCP_ABI (%d+)')
-- LuaJIT has no preprocessor.
ffi.cdef((declarations:gsub('#ifdef __cplusplus.-#endif', ''):gsub('\n#[^\n]*', '')))
local lib = ffi.load(library)
assert(lib.idemcp_abi() == tonumber(abi), 'the header and the library have different versions')

local editor -- the handle, while an editor runs
local report -- takes each event

local typed = {} -- the commands that have a function

function typed.select(command)
  local start, stop, text = command.start, command['end'], command.text
  return lib.idemcp_select(editor, command.path, start[1], start[2], stop[1], stop[2], text, #text)
end

function typed.clear() return lib.idemcp_select(editor, nil, 0, 0, 0, 0, nil, 0) end

function typed.mention(command)
  local lines = command.lines or { -1, -1 }
  return lib.idemcp_mention(editor, command.path, lines[1], lines[2], command.conn or 0)
end

function typed.answer(command)
  if command.verdict == 'reject' then return lib.idemcp_reject(editor, command.call) end
  return lib.idemcp_accept(editor, command.call, command.contents, #(command.contents or ''))
end

function typed.respond(command)
  local json = vim.json.encode(command.result)
  return lib.idemcp_respond(editor, command.call, json, #json)
end

function typed.fail(command) return lib.idemcp_fail(editor, command.call, command.message) end

--- Runs a command. Returns false if no editor runs.
function M.send(command)
  if not editor then return false end
  local line = vim.json.encode(command)
  if lib.idemcp_quote(nil, 0, line, #line) == 0 then -- not UTF-8
    line = line:gsub('[\128-\255]', '?')
    command = vim.json.decode(line)
  end
  local act = typed[command.cmd]
  local result = act and act(command) or not act and lib.idemcp_do(editor, line, #line)
  if result < 0 then
    local event, to = { event = 'error', message = ffi.string(lib.idemcp_error(editor)) }, report
    vim.schedule(function() to(event) end)
  end
  return true
end

function M.is_running() return editor ~= nil end

local length = ffi.new('size_t[1]')

-- Copies a string that the library has returned with its length.
local function lent(text) return text ~= nil and ffi.string(text, length[0]) or nil end

-- Returns the current event of a handle.
local function current(handle, kind)
  local function decode(text) return vim.json.decode(text, { luanil = { object = true, array = true } }) end
  local json = lent(lib.idemcp_json(handle, length))
  local event = decode(json)
  local members = vim.deepcopy(event)
  members.event = nil
  assert(lib['IDEMCP_' .. event.event:upper()] == kind, event.event)
  for name, value in pairs(members) do
    local text = lent(lib.idemcp_text(handle, name, length))
    if type(value) ~= 'string' then text = decode(text) end
    assert(vim.deep_equal(text, value), name)
    if type(value) == 'boolean' then value = value and 1 or 0 end
    assert(type(value) ~= 'number' or lib.idemcp_number(handle, name, -1) == value, name)
  end
  if event.environment then event.environment = vim.json.decode(json).environment end -- keeps each null, as vim.NIL
  return event
end

--- Starts an editor, as the function of sidecar.lua does. There is no process that could die and be started again.
function M.start(_, config, on_event, on_death)
  if editor then return end
  local text, why = vim.json.encode(config()), ffi.new('char[256]')
  local handle = lib.idemcp_open(text, #text, why, 256)
  if handle == nil then return on_death(ffi.string(why)) end
  editor, report = handle, on_event
  local poll = vim.loop.new_poll(lib.idemcp_fd(handle))
  -- Takes the turn now, because the descriptor stays readable until then. Only what Neovim does with the events is
  -- deferred.
  poll:start('r', function(problem)
    assert(not problem, problem)
    local kind = lib.idemcp_next(handle)
    while kind > 0 do
      local event = current(handle, kind)
      vim.schedule(function()
        if handle == editor then on_event(event) end
      end)
      kind = lib.idemcp_next(handle)
    end
    if not lib.idemcp_is_over(handle) then return end
    if handle == editor then
      local reason = ffi.string(lib.idemcp_error(handle))
      editor = nil
      vim.schedule(function() on_death(reason) end)
    end
    poll:close()
    lib.idemcp_free(handle)
  end)
end

--- Stops the editor, which removes the lock file and rejects the open diffs. When Neovim exits, it runs its loop until
--- the descriptor is closed.
function M.stop()
  local stopped = editor
  editor = nil
  if stopped then lib.idemcp_quit(stopped) end
end

return M
