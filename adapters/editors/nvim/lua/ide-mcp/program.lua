--- The program `ide-mcp`, which serves the agents: where it is, how it is fetched, and whether it is as new as this
--- plugin. `:help ide-mcp-program`
local fn, messages = vim.fn, require('ide-mcp.messages')
local M = {}

local root = fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')
local is_windows = fn.has('win32') == 1
local data = fn.stdpath('data')
-- A relative path is ignored, as XDG asks: with it, the program would come from the folder in which Neovim was started.
if not is_windows and data:sub(1, 1) ~= '/' then data = fn.expand('~/.local/share/nvim') end
local folder = data .. '/ide-mcp'
local extension = is_windows and '.exe' or ''
local own = folder .. '/bin/ide-mcp' .. extension

--- What M.install() fetches.
M.path = own

local new = ('%s/bin/new-%d%s'):format(folder, fn.getpid(), extension) -- a new program that was not run yet
local old = ('%s/bin/old-%d%s'):format(folder, fn.getpid(), extension) -- a program that was replaced while it ran
local installing -- while M.install() runs, the function that ends it, with true, or with false and the reason

-- Returns the contents of `release.json`: the version of this plugin and, in a release, the address of its programs and
-- their SHA-256 sums by target. Reads the file each time, since a plugin manager can have updated the plugin while
-- Neovim runs.
local function release() return fn.json_decode(fn.readfile(root .. '/release.json')) end

-- Returns the target triple of this system, by which a release names its programs.
local function target()
  if is_windows then return 'x86_64-pc-windows-gnu' end
  local uname = vim.loop.os_uname()
  local processor = ({ amd64 = 'x86_64', arm64 = 'aarch64' })[uname.machine] or uname.machine
  return processor .. '-' .. (({ Linux = 'unknown-linux-musl', Darwin = 'apple-darwin' })[uname.sysname] or uname.sysname)
end

--- Returns the command with the program to run: the one in PATH, or else the one that M.install() has fetched. Returns
--- nil and the reason if there is neither.
function M.find(command)
  if fn.executable(command[1]) == 1 then return command end
  if command[1] ~= 'ide-mcp' then return nil, command[1] .. ' is not in PATH: see `:help ide-mcp-options`' end
  if fn.executable(own) == 1 then return vim.list_extend({ own }, command, 2) end
  local way = release().base and '`:IdeMcp install` fetches it' or 'see `:help ide-mcp-program`'
  return nil, 'ide-mcp is not in PATH: ' .. way
end

local function numbers(version)
  return vim.tbl_map(tonumber, { (version or ''):match('^(%d+)%.(%d+)%.(%d+)') })
end

-- Returns how to update the program of a command, for the end of a sentence.
local function update(command, mine)
  if command[1] == own and mine.base then return ': :IdeMcp install' end
  local is_named = fn.fnamemodify(command[1], ':t:r') == 'ide-mcp' -- and not `docker`
  return is_named and ', ' .. fn.fnamemodify(fn.exepath(command[1]), ':~') or ''
end

--- Returns what to update if a program of this version is older than the plugin, or newer in the first or second
--- number. Otherwise returns nil: a program that is newer in the third number understands the plugin.
function M.advice(version, command)
  local mine, other = release(), numbers(version)
  for i, number in ipairs(numbers(mine.version)) do
    local difference = (other[i] or -1) - number
    if difference > 0 and i == 3 then return end
    if difference ~= 0 then
      local is_installed = fn.filereadable(root .. '/ide-mcp.version') == 1
      local way = difference < 0 and 'program' .. update(command, mine)
        or is_installed and 'plugin: ide-mcp plugin nvim' or 'plugin, by your plugin manager'
      return ('program %s, plugin %s: update the %s'):format(version or 'unknown', mine.version, way)
    end
  end
end

-- Resumes the coroutine that fetches the program.
local function go_on(thread, ...)
  local is_done, result, problem = coroutine.resume(thread, ...)
  if not is_done then return installing(false, result) end
  if coroutine.status(thread) == 'dead' then installing(result, problem) end
end

-- Runs a command in the coroutine of the caller. Returns what it printed, or nil and the reason.
local function run(command)
  local caller, output = coroutine.running(), {}
  local function keep(_, lines) vim.list_extend(output, lines) end
  local function on_exit(_, status)
    local text = vim.trim(table.concat(output, '\n'))
    go_on(caller, status == 0 and text or nil, text == '' and command[1] .. ': status ' .. status or text)
  end
  local is_started, job = pcall(fn.jobstart, command, {
    on_stdout = keep, on_stderr = keep, on_exit = on_exit, stdout_buffered = true, stderr_buffered = true,
  })
  if not is_started or job <= 0 then return nil, is_started and command[1] .. ' cannot be started' or job end
  return coroutine.yield()
end

-- Returns the SHA-256 sum of a file, or nil and the reason.
local function sum_of(path)
  local commands = { { 'sha256sum', path }, { 'shasum', '-a', '256', path }, { 'certutil', '-hashfile', path, 'SHA256' } }
  for _, command in ipairs(commands) do
    if fn.executable(command[1]) == 1 then
      local text, problem = run(command)
      return text and text:lower():match(('%x'):rep(64)), problem
    end
  end
  return nil, 'install sha256sum first: it checks the download'
end

-- Downloads the program of a release to the folder `work`, checks and unpacks it there, and puts it into its place.
-- Returns true, or nil and the reason.
local function fetch(mine, work)
  local name, archive = ('ide-mcp-%s-%s'):format(mine.version, target()), work .. '/archive'
  fn.mkdir(work, 'p', 448) -- 0700
  local text, problem = run({
    'curl', '--fail', '--silent', '--show-error', '--location', '--connect-timeout', '30', '--speed-limit', '1',
    '--speed-time', '60', '--max-filesize', '67108864', '--output', archive,
    mine.base .. '/' .. name .. (is_windows and '.zip' or '.tar.gz'),
  })
  if not text then return nil, 'try again, the download failed: ' .. problem end
  text, problem = sum_of(archive)
  if not text then return nil, problem end
  if text ~= mine.sums[target()] then return nil, 'try again, the download is not the archive of this release' end
  text, problem = run({ 'tar', '-xf', archive, '-C', work, name .. '/ide-mcp' .. extension })
  if not text then return nil, 'the archive cannot be unpacked: ' .. problem end

  -- The new program must run in its final folder before it replaces the old one.
  fn.mkdir(folder .. '/bin', 'p', 493) -- 0755
  text, problem = vim.loop.fs_copyfile(('%s/%s/ide-mcp%s'):format(work, name, extension), new)
  if not text then return nil, problem end
  text, problem = run({ new, '--version' })
  if text ~= 'ide-mcp ' .. mine.version then
    return nil, 'run cargo install ide-mcp-cli: it does not start here: ' .. (text or problem)
  end
  if vim.loop.fs_rename(new, own) then return true end
  -- Windows cannot replace a running program, but can rename it.
  local is_aside = vim.loop.fs_rename(own, old)
  text, problem = vim.loop.fs_rename(new, own)
  if not text and is_aside then vim.loop.fs_rename(old, own) end
  return text, problem
end

-- Returns why nothing can be fetched, or nil.
local function refusal(mine)
  if not mine.base then
    local other = fn.exepath('ide-mcp')
    if other ~= '' then return 'nothing to install: PATH has ' .. fn.fnamemodify(other, ':~') end
    return 'this plugin is not from a release: put ide-mcp in PATH (:help ide-mcp-program)'
  end
  if installing then return 'the program is already being fetched' end
  if not mine.sums[target()] then
    return 'run cargo install ide-mcp-cli: the release has no program for ' .. target()
  end
  for _, tool in ipairs({ 'curl', 'tar' }) do
    if fn.executable(tool) == 0 then return ('install %s first, or put ide-mcp in PATH'):format(tool) end
  end
end

--- Fetches the program of this version, and then calls `on_done` with a message for the person.
function M.install(on_done)
  local mine, work = release(), fn.tempname()
  local why = refusal(mine)
  if why then return messages.warn(why) end
  messages.say('fetching ide-mcp ' .. mine.version)

  function installing(is_installed, problem)
    installing = nil
    fn.delete(work, 'rf')
    fn.delete(new)
    -- Removes programs that were replaced earlier. Windows keeps one that still runs; it is removed the next time.
    local bin = folder .. '/bin/'
    local names = fn.isdirectory(bin) == 1 and fn.readdir(bin) or {}
    for _, name in ipairs(names) do
      if name:find('^old%-') then fn.delete(bin .. name) end
    end
    if not is_installed then
      -- Removes the folders if they are empty.
      fn.delete(folder .. '/bin', 'd')
      fn.delete(folder, 'd')
      return messages.warn('not installed: ' .. problem)
    end
    local other = fn.exepath('ide-mcp')
    local more = other ~= '' and (', but %s is in PATH, and goes first'):format(fn.fnamemodify(other, ':~')) or ''
    on_done(('installed %s in %s%s'):format(mine.version, fn.fnamemodify(own, ':~:h'), more))
  end
  go_on(coroutine.create(fetch), mine, work)
end

--- Removes what M.install() has fetched.
function M.uninstall()
  if fn.isdirectory(folder) == 0 then return messages.warn('nothing was installed by :IdeMcp install') end
  if fn.delete(folder, 'rf') ~= 0 then return messages.warn(folder .. ' cannot be removed') end
  messages.say('removed ' .. folder)
end

return M
