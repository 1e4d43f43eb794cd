vim9script
# The process `ide-mcp sidecar`: commands and events are lines of JSON (docs/sidecar.md).

import autoload './log.vim'
import autoload './options.vim'
import autoload './program.vim'
import autoload './strings.vim'
import autoload './ui.vim'

const [max_deaths, within] = [5, 60] # a sidecar that dies more than 5 times in 60 seconds is not started again
const max_nul = 500'000 # the maximum number of NULs in an event: they take 0.3 s

# `configuration` returns the first line for a process, `receive` takes an event, and `forget` is called after a process
# has ended.
export var hooks: dict<func> = {}

var running = null_job # the process of the sidecar, unless it was stopped
var started: list<string> # its command, with the program that was found
var [port, advice, environment] = [0, '', {}] # from the event `listening`
var [lock, problem] = ['', ''] # the path of its lock file, which the next process takes over; its last error
var deaths: list<number> = [] # the times at which processes died

export def Process(): job
  return running
enddef

export def IsRunning(): bool
  return running != null_job
enddef

# Returns the command of the running process, with its program.
export def Command(): list<string>
  return started
enddef

# Sends a command of docs/sidecar.md. Nothing happens if no sidecar runs, or if the process has ended.
export def Send(command: dict<any>, process = running)
  if process == null_job | return | endif
  # A buffer can have bytes that are not UTF-8; JSON cannot. json_encode() keeps some that Vim can decode, such as
  # surrogates, so they are replaced here.
  const line = json_encode(command)->substitute('\%#=2[^\x01-\ud7ff\ue000-\U10ffff]', '?', 'g')
  silent! ch_sendraw(process, line->substitute(strings.nul, '\\u0000', 'g') .. "\n")
enddef

# Returns whether a sidecar runs, and otherwise says how to start it.
export def IsRunningOrSay(): bool
  if running == null_job | ui.Warn('the sidecar is not running: `:IdeMcp start` starts it') | endif
  return running != null_job
enddef

# Sends a command, or says that no sidecar runs. Returns whether one runs.
export def SendOrSay(command: dict<any>): bool
  if IsRunningOrSay() | Send(command) | endif
  return running != null_job
enddef

# Returns the open folders.
export def Folders(): list<string>
  return get(options.chosen.config, 'folders', [getcwd(-1)])
enddef

export def Start()
  if running != null_job | return | endif
  options.Read()
  try | started = program.Find(options.chosen.command) | catch | ui.Warn(v:exception) | return | endtry
  if &encoding != 'utf-8' | ui.Warn($"'encoding' is {&encoding}, and must be utf-8") | return | endif
  # With `noblock`, Vim does not wait until the process has read a long command, but keeps the rest.
  const callbacks = {out_cb: Receive, close_cb: (_) => End(), exit_cb: (_, _) => End()}
  running = job_start(started, extend({mode: 'nl', noblock: 1, err_io: 'null'}, callbacks))
  problem = 'the sidecar died too often'
  log.Add('info', 'starts ' .. string(started))
  Send({protocol: 1, name: 'Vim', version: $'{v:version / 100}.{v:version % 100}', pid: getpid(), folders: [getcwd(-1)]}
    ->extend(lock == '' ? {} : {resume: lock})->extend(hooks.configuration()))
enddef

# Remembers the port, and the lock file, which the next process takes over. Sets the variables by which agents in
# terminals find this Vim.
export def Listen(event: dict<any>)
  [port, lock, advice, environment] = [event.port, get(event, 'lock', ''),
    program.Advice(get(event, 'version', ''), started), event.environment]
  if advice != '' | ui.Warn(advice) | endif
  for [name, value] in items(environment) | setenv(name, value) | endfor
enddef

# Returns what to update, the program or the plugin, or an empty string.
export def Advice(): string
  return advice
enddef

export def Port(): number
  return port
enddef

export def IsListening(): bool
  return running != null_job && port > 0
enddef

# Returns the variables by which an agent finds this sidecar. One with the value null must be removed.
export def Environment(): dict<any>
  return environment
enddef

def Receive(channel: channel, line: string)
  if ch_getjob(channel) != running | return | endif # from a process that Stop() has ended
  var event: dict<any>
  const has_text = count(line, '\u0000') <= max_nul
  try | event = json_decode(has_text ? KeepNul(line) : line) | catch | ui.Warn(v:exception) | return | endtry
  if !has_text && has_key(event, 'call')
    Send({cmd: 'fail', call: event.call, message: $'the text has more than {max_nul} NUL characters'})
    return
  endif
  problem = event.event == 'error' ? event.message : problem
  hooks.receive(event, line)
enddef

# Returns a line of JSON with U+FFFF instead of each escaped NUL, which a string of Vim cannot have. After an odd number
# of backslashes, `\u0000` is not an escape, but text. One pattern that counts them would take 1.4 s for 350,000 NULs.
def KeepNul(line: string): string
  if stridx(line, '\\u0000') < 0 | return substitute(line, '\\u0000', '\\uffff', 'g') | endif
  var parts = split(line, '\\u0000', true)
  for i in range(len(parts) - 1)
    const is_nul = (len(parts[i]) - len(trim(parts[i], '\', 2))) % 2 == 0
    parts[i] = parts[i] .. (is_nul ? '\uffff' : '\u0000')
  endfor
  return join(parts, '')
enddef

# Called at the end of a process and at the end of its output, in either order.
def End()
  const process = running
  if ch_status(process) != 'closed' || job_status(process) != 'dead' || running != process | return | endif
  port = 0
  [running, deaths] = [null_job, deaths->filter((_, time) => localtime() - time < within)->add(localtime())]
  log.Add('warn', $'the sidecar ended with status {job_info(process).exitval}')
  hooks.forget()
  const is_final = job_info(process).exitval == 2 || len(deaths) > max_deaths
  if is_final | ui.Warn(problem, '. Start it again with :IdeMcp start') | else | Start() | endif
  redrawstatus!
enddef

export def Stop()
  Send({cmd: 'quit'})
  [running, lock, port] = [null_job, '', 0]
  if v:exiting == null | hooks.forget() | endif
enddef
