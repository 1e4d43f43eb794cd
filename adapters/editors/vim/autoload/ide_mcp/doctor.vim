vim9script
# Why no agent attaches: what the plugin knows, and the findings of `ide-mcp doctor`.

import autoload './agents.vim'
import autoload './options.vim'
import autoload './program.vim'
import autoload './sidecar.vim'
import autoload './strings.vim'
import autoload './terminal.vim'
import autoload './ui.vim'

# Shows the findings in a window: those of the plugin at once, and those of the program when it is done.
export def Show()
  options.Read()
  const mine = Mine()
  Write(mine + ['', 'ide-mcp doctor is looking…'])
  var command: list<string>
  try
    command = program.Find(options.chosen.command)
  catch
    Write(mine)
    return
  endtry
  # The last word of the command, also of `docker exec … ide-mcp sidecar`, is the one to replace.
  command = command[: -2] + ['doctor', '--json', '--cwd', getcwd(-1)]
    # With consent, the person would be asked about the doctor, and about the next agent only 10 s later.
    + (get(options.chosen.config, 'consent') ? ['--no-connect'] : [])
  const Finish = (text) => Write(mine + [''] + Findings(split(text, "\n")))
  program.Run(command, '', Finish, Finish, {in_io: 'null'})
enddef

def Write(lines: list<string>)
  const window = win_getid()
  ui.Scratch('ide-mcp://doctor', lines)
  cursor(1, 1)
  win_gotoid(window)
enddef

def Row(is_good: bool, good: string, bad: string): string
  return is_good ? $'ok       {good}' : $'problem  {bad}'
enddef

# Returns the findings of the plugin.
def Mine(): list<string>
  const agent = options.chosen.terminal.command
  const name = type(agent) == v:t_list ? agent[0] : get(terminal.Words(agent), 0, '')
  const names = agents.Names()
  var rows = [$'ide-mcp in Vim {v:versionlong / 10000 / 100}.{v:versionlong / 10000 % 100}.{v:versionlong % 10000}',
    Row(&encoding == 'utf-8', "'encoding' is utf-8", $"'encoding' is {&encoding}, and must be utf-8")]
  try
    rows->add(Row(true, 'the program is ' .. exepath(program.Find(options.chosen.command)[0]), ''))
  catch
    rows->add(Row(false, '', v:exception))
  endtry
  const advice = sidecar.Advice()
  if advice != '' | rows->add(Row(false, '', advice)) | endif
  rows += options.faults->mapnew((_, fault) => Row(false, '', fault)) + [
    Row(sidecar.IsListening(), $'the sidecar listens on port {sidecar.Port()} for {join(sidecar.Folders(), ", ")}',
      'the sidecar does not listen: `:IdeMcp start` starts it, and `:IdeMcp log` says why'),
    Row(names != '', $'attached: {names}', $'no agent is attached: start one in {getcwd(-1)}, or by `:IdeMcp open`'),
    Row(executable(name) == 1, $'`:IdeMcp open` starts {exepath(name)}',
      $'`:IdeMcp open` finds no {name}: install it, or name the agent in g:ide_mcp.terminal.command'),
    Row(has('terminal') == 1, 'Vim has terminals', 'this Vim has no terminals: set the provider "tmux" for `:IdeMcp open`'),
  ]
  return rows->map((_, row) => strings.Line(row, 500))
enddef

# Returns the findings of the program, as lines for a person.
def Findings(lines: list<string>): list<string>
  var rows: list<string>
  for line in lines
    var event: any
    try | event = json_decode(line) | catch | rows->add(line) | continue | endtry
    if type(event) != v:t_dict || get(event, 'event', '') != 'finding' | continue | endif
    rows->add(printf('%-8s %s', event.status, event.message))
    if event.status != 'ok' && has_key(event, 'advice') | rows->add($'         {event.advice}') | endif
  endfor
  return ['ide-mcp doctor:'] + rows->map((_, row) => strings.Line(row, 500))
enddef
