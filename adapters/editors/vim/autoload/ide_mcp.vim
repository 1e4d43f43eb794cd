vim9script
# Lets coding agents attach to Vim: `:help ide-mcp`. This file has the tables: the commands, the handlers of events, the
# answers and the autocommands. The rest is in `ide_mcp/`, one file for each purpose.

import autoload './ide_mcp/agents.vim'
import autoload './ide_mcp/context.vim'
import autoload './ide_mcp/doctor.vim'
import autoload './ide_mcp/events.vim'
import autoload './ide_mcp/files.vim'
import autoload './ide_mcp/log.vim'
import autoload './ide_mcp/options.vim'
import autoload './ide_mcp/program.vim'
import autoload './ide_mcp/proposals.vim'
import autoload './ide_mcp/sidecar.vim'
import autoload './ide_mcp/strings.vim'
import autoload './ide_mcp/terminal.vim'
import autoload './ide_mcp/tools.vim'
import autoload './ide_mcp/trees.vim'
import autoload './ide_mcp/turns.vim'
import autoload './ide_mcp/ui.vim'
import autoload './ide_mcp/view.vim'

var is_paused = false

# Runs `:IdeMcp`, with the first and the last line of its range, its bang, and its modifiers such as "vertical".
export def Command(words: string, lines: list<number>, bang = false, mods = '')
  # `:IdeMcp send! TEXT`, and so `:IdeMcp! send TEXT`
  const has_bang = bang || words =~ '^send!\%(\s\|$\)'
  const first = matchstr(words, '^\S\+')
  const [name, rest] = [(has_bang ? trim(first, '!', 2) : first) ?? 'status', trim(matchstr(words, '^\S*\zs.*'))]
  const [of_terminal, has_text] = [index(['open', 'toggle', 'focus'], name) >= 0, index(['send', 'mention'], name) >= 0]
  # A count is the name of a terminal: 2 means `@2`.
  const number = of_terminal && !empty(lines) ? $'@{lines[1] + 1} ' : ''
  if !has_key(commands, name)
    ui.Warn($'there is no command {name}: `:help :IdeMcp` has them all')
  elseif rest != '' && !of_terminal && !has_text
    ui.Warn($'{name} takes no arguments: {rest}')
  else
    # Keeps the modifiers that place a window. Vim has already applied others, such as `:silent`.
    const sides = mods->split()->filter((_, word) => word =~ '^\%(vert\|hor\|tab\|bot\|top\|abo\|bel\|left\|right\)')
    try
      commands[name]({rest: number .. rest, lines: lines, has_bang: has_bang, mods: sides->join()})
    catch # from a function that the person has set, or because Vim cannot open a window here
      ui.Warn(v:exception)
    endtry
  endif
  turns.GoOnSoon()
enddef

export def Complete(_: string, line: string, place: number): list<string>
  const words = strpart(line, 0, place)->matchstr('IdeMcp!\?\s\zs.*')->trim(" \t", 1)
  const [name, rest] = [matchstr(words, '^\S*'), matchstr(words, '^\S*\s\+\zs.*')]
  if words !~ '\s' | return keys(commands)->sort()->filter((_, other) => stridx(other, name) == 0) | endif
  return name == 'mention' ? getcompletion(rest, 'file') : index(['open', 'toggle', 'focus'], name) < 0 ? []
    : terminal.Names()->filter((_, other) => stridx(other, rest) == 0)
enddef

# Asks for a text, types it into the terminal of the agent, and presses Enter.
export def Ask()
  const text = input('To the agent: ')
  if text != '' | terminal.Type(text, true) | endif
enddef

# Sends a command of docs/sidecar.md. Nothing happens if no sidecar runs.
export def Send(command: dict<any>)
  sidecar.Send(command)
enddef

# Returns the attached agents for the status line, or an empty string if no sidecar runs.
export def Status(): string
  if !sidecar.IsRunning() | return '' | endif
  const note = proposals.Note() ?? (is_paused ? 'paused' : '')
  return $'⧉ {agents.Names() ?? "no agent"}' .. (note == '' ? '' : $' ({note})')
enddef

# Handles an event of the sidecar.
def Receive(event: dict<any>, line: string)
  log.Add('debug', line)
  try | options.chosen.on_event(event) | catch | ui.Warn(v:exception) | endtry
  turns.Attempt(event, get(handlers, event.event, (_) => 0))
  turns.GoOn()
  redrawstatus!
enddef

# Forgets what belongs to a sidecar that has ended: the next one numbers its agents and calls from 1 again.
def Forget()
  proposals.Keep([])
  agents.Forget()
  filter(turns.waiting, (_, event) => event.event == 'close')
  turns.GoOn()
  redrawstatus!
enddef

def Listen(event: dict<any>)
  sidecar.Listen(event)
  if is_paused | sidecar.Send({cmd: 'pause'}) | endif
  context.SelectionChanged()
  events.Emit('Listening', {port: event.port})
enddef

# Remembers whether agents are paused, and tells the person. If the sidecar dies, Listen() pauses the next one too.
def SetPaused(is_now: bool)
  if is_now != is_paused
    is_paused = is_now
    events.Emit(is_paused ? 'Paused' : 'Resumed', {})
  endif
  ui.Say(is_paused ? 'files and selections are hidden from agents' : 'agents see files and selections again')
enddef

# Catches up after a gap in the events, with the state that `status` reports.
def CatchUp(event: dict<any>)
  if has_key(event, 'line') | return | endif # the answer to a command
  if event.paused != is_paused | SetPaused(event.paused) | endif
  agents.CatchUp(event)
enddef

# Answers a call. One that shows a file waits until the person pauses and has left the tab of a proposal.
def Call(event: dict<any>)
  const is_shown = event.tool == 'openFile' && get(event.arguments, 'makeFrontmost', true)
  if is_shown
    turns.Wait(event, (call) => Respond(call, call.tool), () => !turns.IsReviewing())
  else
    Respond(event, event.tool)
  endif
enddef

# Answers a call with the result of a function, the person's or the plugin's. The answer goes only to the process that
# asked. A function that answers later returns another function, which gets two: one to call with the answer, and one to
# call with the reason of a failure.
def Respond(event: dict<any>, name: string)
  const process = sidecar.Process()
  const Result = extendnew(answers, options.chosen.answers)[name](event)
  const Done = (result) => sidecar.Send({cmd: 'respond', call: event.call, result: result}, process)
  const Fail = (message) => sidecar.Send({cmd: 'fail', call: event.call, message: message}, process)
  if type(Result) == v:t_func | Result(Done, Fail) | else | Done(Result) | endif
enddef

# --- Commands.

# Mentions the path in the command; without one, the chosen files of a tree, or the file of the buffer.
def Mention(rest: string, lines: list<number>)
  var paths: list<string>
  var span = lines
  if rest != ''
    const parts = getftype(rest) != '' ? [] : matchlist(rest, '^\(.\{-1,}\)\s\+\(\d\+\)\%(\s\+\(\d\+\)\)\?$')
    const named = get(parts, 1, rest)
    # A file can have the name `~root`, which Vim takes for an absolute path.
    const is_here = getftype(named) != '' && (named[0] == '~' || !isabsolutepath(named))
    paths = [is_here ? simplify($'{getcwd()}/{named}') : fnamemodify(named, ':p')]
    if !empty(parts)
      span = [str2nr(parts[2]) - 1, str2nr(parts[3] ?? parts[2]) - 1]
      if span[0] < 0 || span[1] < span[0]
        ui.Warn($'nothing is mentioned: there are no lines {span[0] + 1} to {span[1] + 1} (the first is 1)')
        return
      endif
    endif
  elseif trees.IsTree(bufnr())
    paths = trees.Paths(lines)->mapnew((_, path) => fnamemodify(path, ':p'))
    span = []
  elseif files.IsFile(bufnr()) && isabsolutepath(expand('%:p'))
    paths = [expand('%:p')]
  endif
  if empty(paths)
    const is_tree = rest == '' && trees.IsTree(bufnr())
    ui.Warn('nothing is mentioned: ' .. (is_tree ? 'there is no file under the cursor' : 'the buffer has no file'))
    return
  endif
  for path in paths
    if getftype(path) == '' | ui.Warn($'nothing is mentioned: there is no file {path}') | return | endif
    if !agents.Mention(path, span) | return | endif
  endfor
  if empty(agents.attached) | ui.Warn('no agent is attached: the mention waits up to 30 s for one') | endif
enddef

# Types a text, or the lines of a range, into the terminal of the agent.
def Type(given: dict<any>)
  const typed = !empty(given.lines) ? getline(given.lines[0] + 1, given.lines[1] + 1)
    ->mapnew((_, line) => tr(line, "\n", ' '))->join("\n") : given.rest
  if typed == '' | ui.Warn('nothing is sent: name a text or lines') | return | endif
  terminal.Type(typed, given.has_bang)
enddef

def Install()
  program.Install((text: string) => {
    const is_replaced = sidecar.IsRunning() && sidecar.Command()[0] == program.path
    sidecar.Start()
    ui.Say(text, is_replaced ? '. To use it, stop and start' : '')
  })
enddef

def Uninstall()
  if sidecar.IsRunning() && sidecar.Command()[0] == program.path | sidecar.Stop() | endif
  program.Uninstall()
enddef

def ShowStatus()
  if sidecar.IsRunningOrSay() | ui.Say(Status(), $', port {sidecar.Port()}, {getcwd(-1)}') | endif
enddef

const commands: dict<func> = {
  open: (given) => terminal.Open(given.rest, given.mods),
  toggle: (given) => terminal.Toggle(given.rest, given.mods),
  focus: (given) => terminal.Focus(given.rest, given.mods),
  send: Type, interrupt: (_) => terminal.Interrupt(),
  mention: (given) => Mention(given.rest, given.lines),
  accept: (_) => proposals.Decide(true), reject: (_) => proposals.Decide(false),
  next: (_) => proposals.Step(1), previous: (_) => proposals.Step(-1), proposals: (_) => proposals.Menu(),
  agents: (_) => agents.Menu(),
  pause: (_) => sidecar.SendOrSay({cmd: 'pause'}), resume: (_) => sidecar.SendOrSay({cmd: 'resume'}),
  start: (_) => sidecar.Start(), stop: (_) => sidecar.Stop(),
  install: (_) => Install(), uninstall: (_) => Uninstall(),
  doctor: (_) => doctor.Show(), log: (_) => log.Show(),
  status: (_) => ShowStatus(),
}

# --- Tables.

# The answers to the calls of docs/sidecar.md, to the tools for models, to prompts, and to resources.
const calls: dict<func> = {
  getDiagnostics: context.Diagnostics,
  getOpenEditors: (_) => ({tabs: getbufinfo({buflisted: 1})
    ->filter((_, info) => info.name != '' && files.IsFile(info.bufnr))->mapnew((_, info) => ({
      uri: strings.Uri(info.name), label: fnamemodify(info.name, ':t'), isDirty: info.changed == 1,
      isActive: info.bufnr == bufnr(), languageId: getbufvar(info.bufnr, '&filetype')}))}),
  openFile: files.OpenFile,
  saveDocument: (call) => files.OfOpenFile(get(call, 'path', ''), files.Save),
  checkDocumentDirty: (call) => files.OfOpenFile(get(call, 'path', ''),
    (buffer) => ({isDirty: !!getbufvar(buffer, '&modified'), isUntitled: false})),
}
const answers: dict<any> = extendnew(calls, tools.answers)->extend({
  review: (event) => 'Review the file that is open in the editor, above all '
    .. get(event.arguments, 'focus', 'the selected lines') .. '.',
  'vim://quickfix': (_) => getqflist()
    ->mapnew((_, item) => $'{bufname(item.bufnr)}:{item.lnum}:{item.col}: {item.text}')->join("\n"),
})

# Returns what the sidecar offers to agents. Members of the option `config` replace those of the plugin, except `own`:
# the person's tools are added to those of the plugin.
def Configuration(): dict<any>
  const config = options.chosen.config
  return {
    tools: keys(calls) + ['getCurrentSelection', 'getLatestSelection', 'getWorkspaceFolders']
      + (options.chosen.diffs ? ['openDiff'] : []),
    prompts: [{name: 'review', description: 'Review the open file', arguments: [{name: 'focus'}]}],
    resources: [{uri: 'vim://quickfix', description: 'The errors of the last build or search in Vim'}],
  }->extend(config)->extend({own: tools.Declared() + get(config, 'own', [])})
enddef

# The handlers of the events of docs/sidecar.md.
const handlers: dict<func> = {
  listening: Listen,
  connected: agents.Attach,
  ide_connected: agents.Process,
  roots: agents.Roots,
  closed: agents.Leave,
  diff: proposals.Propose,
  diff_closed: (event) => proposals.CloseView(event.call, event.reason),
  consent: agents.Consent,
  call: Call,
  call_ended: (event) => proposals.CloseView(event.call),
  prompt: (event) => Respond(event, event.name),
  resource: (event) => Respond(event, event.uri),
  edit_ended: (event) => files.Reread(event.path),
  mention_expired: (event) => ui.Warn('no agent took the mention of ' .. event.path),
  error: (event) => ui.Warn(event.message),
  paused: (_) => SetPaused(true), resumed: (_) => SetPaused(false), status: CatchUp,
}

extend(sidecar.hooks, {configuration: Configuration, receive: Receive, forget: Forget})

augroup ide_mcp
  autocmd BufEnter,CursorMoved,CursorMovedI,ModeChanged,TextChanged,TextChangedI * context.SelectionChanged()
  # Vim triggers SafeState when it waits for a key and no command is half typed, and SafeStateAgain after other events.
  # `++nested`, so that the windows of a view trigger autocommands as other windows do.
  autocmd SafeState * ++nested turns.KeyWasTyped()
  autocmd SafeStateAgain * ++nested turns.GoOn()
  autocmd QuickFixCmdPost * context.AnnounceProblems()
  autocmd FileChangedShellPost * files.MarkChanged(true)
  autocmd BufReadPost,BufWritePost * files.MarkChanged(false)
  autocmd User ALELintPost,CocDiagnosticChange,lsp_diagnostics_updated context.AnnounceProblems()
  autocmd DirChanged * sidecar.Send({cmd: 'folders', folders: sidecar.Folders()})
  autocmd BufWriteCmd ide-mcp://* view.On('write', expand('<abuf>'))
  autocmd BufEnter,WinEnter ide-mcp://* view.On('enter', expand('<abuf>'))
  autocmd WinLeave ide-mcp://* view.On('leave', expand('<abuf>'))
  autocmd BufWipeout * view.On('end', expand('<abuf>')) # any name
  autocmd VimLeavePre * sidecar.Stop()
augroup END
