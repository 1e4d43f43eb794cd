vim9script
# The process `ide-mcp sidecar`: commands and events are lines of JSON (docs/sidecar.md).

import autoload './log.vim'
import autoload './plain.vim'
import autoload './program.vim'

const [max_deaths, within] = [5, 60] # a sidecar that dies more often within so many seconds is not started again
const max_nul = 500'000 # NULs in an event: 0.3 s

# `:help ide-mcp-options`. Those of the person replace the defaults.
export var options: dict<any> = {}
export var defaults: dict<any> = {}

# The values of options that are words.
const words: dict<list<string>> = {
  layout: ['tab', 'vertical', 'horizontal', 'inline'],
  log: ['debug', 'info', 'warn', 'off'],
  'terminal.layout': ['right', 'left', 'above', 'below', 'tab', 'float'],
  'terminal.provider': ['vim', 'tmux'],
  'terminal.folder': ['cwd', 'git'],
}

# The types of values, for a message. A person can give a text, a list or a function for the options of `open_types`.
const types: dict<list<any>> = {'true or false': [v:t_bool, v:t_number], 'a number': [v:t_number, v:t_float],
  'a text': [v:t_string], 'a list': [v:t_list], 'a dictionary': [v:t_dict], 'a function': [v:t_func]}
const open_types = ['terminal.command', 'terminal.provider', 'terminal.folder']

# What the plugin does with an event, and once a process has ended: `receive` and `forget`.
export var hooks: dict<func> = {}

var running = null_job # the process of the sidecar, unless it was stopped
var started: list<string> # its command, with its program
var [port, advice, environment] = [0, '', {}] # what the event `listening` has
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
  # A buffer can have bytes that are not UTF-8; JSON cannot. json_encode() leaves those that Vim can decode.
  const line = json_encode(command)->substitute('\%#=2[^\x01-\ud7ff\ue000-\U10ffff]', '?', 'g')
  silent! ch_sendraw(process, line->substitute(plain.nul, '\\u0000', 'g') .. "\n")
enddef

# Returns whether a sidecar runs, and otherwise says how to start it.
export def IsRunningOrSay(): bool
  if running == null_job | plain.Warn('the sidecar does not run: `:IdeMcp start` starts it') | endif
  return running != null_job
enddef

# Sends a command, or says that no sidecar runs. Returns whether one runs.
export def SendOrSay(command: dict<any>): bool
  if IsRunningOrSay() | Send(command) | endif
  return running != null_job
enddef

# Returns the open folders.
export def Folders(): list<string>
  return get(options.config, 'folders', [getcwd(-1)])
enddef

export def Start()
  if running != null_job | return | endif
  ReadOptions()
  try | started = program.Find(options.command) | catch | plain.Warn(v:exception) | return | endtry
  if &encoding != 'utf-8' | plain.Warn($"'encoding' is {&encoding}, and has to be utf-8") | return | endif
  # With `noblock` Vim keeps the rest of a long command until the process reads.
  const callbacks = {out_cb: Receive, close_cb: (_) => End(), exit_cb: (_, _) => End()}
  running = job_start(started, extend({mode: 'nl', noblock: 1, err_io: 'null'}, callbacks))
  problem = 'the sidecar died too often'
  log.Add('info', 'starts ' .. string(started))
  Send({protocol: 1, name: 'Vim', version: $'{v:version / 100}.{v:version % 100}', pid: getpid(), folders: [getcwd(-1)],
    tools: hooks.tools(), own: hooks.own(),
  }->extend(lock == '' ? {} : {resume: lock})->extend(Config()))
enddef

# Takes over the options of the person. Of those that are dictionaries, the members that are named replace the defaults. A
# wrong option is named in a message, and keeps its default.
export def ReadOptions()
  var faults: list<string> = []
  const wishes = Right('', extendnew(defaults, {start: true}), get(g:, 'ide_mcp', {}), faults)
  extend(options, defaults)->extend(wishes->mapnew((name, Value) =>
    name == 'terminal' ? extendnew(defaults.terminal, Right('terminal.', defaults.terminal, Value, faults))
    : type(Value) == v:t_dict ? extendnew(defaults[name], Value) : Value))
  for name in options.tools
    if !has_key(options.answers, name) | faults->add($'tools has no "{name}"') | endif
  endfor
  # One message: a second one would wait for a key.
  for fault in faults[1 :] | log.Add('warn', $'the option {fault}') | endfor
  if !empty(faults)
    plain.Warn($'the option {faults[0]}', len(faults) > 1 ? $', and {len(faults) - 1} more: :IdeMcp log' : '')
  endif
enddef

# Returns those of the wishes that are right, and adds what is wrong with the others to a list.
def Right(group: string, known: dict<any>, wishes: dict<any>, faults: list<string>): dict<any>
  return copy(wishes)->filter((name, Value) => {
    const fault = Fault(group .. name, get(known, name, null), Value)
    if fault != '' | faults->add($'{group}{name} {fault}') | endif
    return fault == ''
  })
enddef

# Returns what is wrong with the value of an option, or an empty text.
def Fault(name: string, Default: any, Value: any): string
  if type(Default) == v:t_none | return 'does not exist' | endif
  const is_open = index(open_types, name) >= 0 && index([v:t_string, v:t_list, v:t_func], type(Value)) >= 0
  for [kind, allowed] in items(is_open ? {} : types)
    if index(allowed, type(Default)) == 0 && index(allowed, type(Value)) < 0 | return $'has to be {kind}' | endif
  endfor
  const is_word = type(Value) == v:t_string && has_key(words, name)
  return is_word && index(words[name], Value) < 0 ? $'is "{Value}", and has to be one of {join(words[name], ", ")}' : ''
enddef

# Returns the configuration of the person. Tools of their own come beside those of the plugin.
def Config(): dict<any>
  return !has_key(options.config, 'own') ? options.config
    : extendnew(options.config, {own: hooks.own() + options.config.own})
enddef

# Notes the port, and the lock file, which the next process takes over.
export def Listen(event: dict<any>)
  [port, lock, advice, environment] = [event.port, get(event, 'lock', ''),
    program.Advice(get(event, 'version', ''), started), event.environment]
  if advice != '' | plain.Warn(advice) | endif
  for [name, value] in items(environment) | setenv(name, value) | endfor
enddef

# Returns which side to update, or an empty text.
export def Advice(): string
  return advice
enddef

export def Port(): number
  return port
enddef

export def IsListening(): bool
  return running != null_job && port > 0
enddef

# Returns the variables by which an agent finds this sidecar: null for one to remove.
export def Environment(): dict<any>
  return environment
enddef

def Receive(channel: channel, line: string)
  if ch_getjob(channel) != running | return | endif # Stop() has ended this process
  var event: dict<any>
  const has_text = count(line, '\u0000') <= max_nul
  try | event = json_decode(has_text ? KeepNul(line) : line) | catch | plain.Warn(v:exception) | return | endtry
  if !has_text && has_key(event, 'call')
    Send({cmd: 'fail', call: event.call, message: $'the text has more than {max_nul} NUL characters'})
    return
  endif
  problem = event.event == 'error' ? event.message : problem
  hooks.receive(event, line)
enddef

# Returns a line of JSON with another character in place of each NUL. An odd number of backslashes before its escape
# makes it a text; a pattern that counts them would take 1.4 s for 350,000 NULs.
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
  if is_final | plain.Warn(problem, '. Start it again with :IdeMcp start') | else | Start() | endif
  redrawstatus!
enddef

export def Stop()
  Send({cmd: 'quit'})
  [running, lock, port] = [null_job, '', 0]
  if v:exiting == null | hooks.forget() | endif
enddef
