--- The process `ide-mcp sidecar`, which serves the agents. Commands and events are lines of JSON: docs/sidecar.md.
local M = {}

local job -- the channel of the process, while it runs
local lock -- the path of the lock file, whose port and token the next process takes over
local deaths = {} -- the times at which processes died

-- Above this length in bytes, the memory of a line is freed at once, because Lua holds three copies of it: a line can
-- have 15 MB.
local large = 1024 * 1024

-- A process that dies more than 5 times in 60 seconds is not started again.
local max_deaths, within = 5, 60

--- Sends a command. Returns false if no process runs.
function M.send(command)
  local line = require('ide-mcp.text').utf8(vim.json.encode(command)) -- a buffer can have other bytes
  return job ~= nil and pcall(vim.fn.chansend, job, line .. '\n')
end

function M.is_running() return job ~= nil end

-- Returns the event of a line.
local function decode(line)
  local options = { luanil = { object = true, array = true } }
  local is_done, event = pcall(vim.json.decode, line, options)
  if not is_done then -- vim.json refuses half of a surrogate pair
    line = line:gsub('\\\\', '\1'):gsub('\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)', '\2%1\2%2')
      :gsub('\\u[dD][89a-fA-F]%x%x', '\\ufffd'):gsub('\2', '\\u'):gsub('\1', '\\\\')
    is_done, event = pcall(vim.json.decode, line, options)
    if not is_done then error('the sidecar sent a line that is not JSON: ' .. line:sub(1, 60), 0) end
  end
  -- Decoded again, so that each variable to remove has the value vim.NIL.
  if event.event == 'listening' then event.environment = vim.json.decode(line).environment end
  return event
end

--- Starts the process. `config` returns the configuration, and `on_event` takes each event. `on_death` is called when a
--- process has died, and with it all open calls; it gets the reason if no other process is started.
function M.start(command, config, on_event, on_death)
  if job then return end
  local partial, problem = {}, 'the sidecar died too often' -- the pieces of the last line, and the last error

  local function take(line)
    local event = decode(line)
    if event.event == 'listening' then lock = event.lock end
    if event.event == 'error' then problem = event.message end
    on_event(event)
  end

  local function on_stdout(id, pieces)
    if id ~= job then return end -- from a process that M.stop has ended
    table.insert(partial, pieces[1])
    for i = 2, #pieces do
      local line = table.concat(partial)
      partial = { pieces[i] }
      local is_done, bug = pcall(take, line)
      if not is_done then require('ide-mcp.messages').warn(bug) end
      if #line > large then
        line, pieces[i - 1] = nil, nil
        collectgarbage()
      end
    end
  end

  local function on_exit(id, status)
    if id ~= job then return end
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
