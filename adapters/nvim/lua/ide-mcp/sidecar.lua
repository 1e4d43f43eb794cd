--- The process `ide-mcp sidecar`, which serves the agents. Commands and events are lines of JSON: docs/sidecar.md.
local M = {}

local job -- the channel of the process, while it runs
local lock -- the path of the lock file: the next process takes over its port and its token
local deaths = {} -- the times at which processes died

-- A process that dies more often within so many seconds is not started again.
local max_deaths, within = 5, 60

--- Sends a command. Returns false if no process runs.
function M.send(command)
  local line = vim.json.encode(command)
  -- A buffer can have bytes that are not UTF-8; JSON cannot.
  if line:find('[\128-\255]') and not pcall(vim.fn.json_encode, line) then line = line:gsub('[\128-\255]', '?') end
  return job ~= nil and pcall(vim.fn.chansend, job, line .. '\n')
end

function M.is_running() return job ~= nil end

--- Starts the process. `config` returns the configuration, `on_event` takes each event, and `on_death` is called if a
--- process died, with the reason if none is started again: no call is open any more.
function M.start(command, config, on_event, on_death)
  if job then return end
  if vim.fn.executable(command[1]) == 0 then
    return on_death(command[1] .. ' is not installed: see the README of ide-mcp')
  end
  local partial, problem = {}, 'the sidecar died too often' -- the pieces of the last line, and the last error

  local function on_stdout(_, pieces)
    table.insert(partial, pieces[1])
    for i = 2, #pieces do
      local line = table.concat(partial)
      local event = vim.json.decode(line, { luanil = { object = true, array = true } })
      partial = { pieces[i] }
      if event.event == 'listening' then
        lock = event.lock
        event.environment = vim.json.decode(line).environment -- with vim.NIL for each variable to remove
      end
      if event.event == 'error' then problem = event.message end
      local is_done, bug = pcall(on_event, event)
      if not is_done then vim.notify('ide-mcp: ' .. bug, vim.log.levels.ERROR) end
    end
  end

  local function on_exit(id, status)
    if id ~= job then return end -- M.stop has ended this process
    job = nil
    deaths = vim.tbl_filter(function(time) return os.time() - time < within end, deaths)
    table.insert(deaths, os.time())
    if status == 2 or #deaths > max_deaths then return on_death(problem .. '. Start it again with :IdeMcp start') end
    on_death()
    M.start(command, config, on_event, on_death)
  end

  job = vim.fn.jobstart(command, { on_stdout = on_stdout, on_exit = on_exit })
  M.send(vim.tbl_extend('keep', config(), { resume = lock }))
end

--- Stops the process, which removes the lock file and rejects the open diffs.
function M.stop()
  local stopped = job
  job, lock = nil, nil
  if stopped then vim.fn.chanclose(stopped, 'stdin') end
end

return M
