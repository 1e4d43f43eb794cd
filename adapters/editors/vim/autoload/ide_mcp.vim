vim9script
# Lets coding agents attach to Vim: `:help ide-mcp`. Functions come first, then the tables of the commands, events and
# tools, and then the options. Functions of one line are constants.
#
# Paths, names, texts and messages come from agents, which can be made to send anything. They are values: none of them
# becomes part of a command, of an expression or of the format of a status line. Line() makes safe what is shown in a
# title, in a message or in a question.

import autoload './ide_mcp/program.vim'

const [max_deaths, within] = [5, 60] # a sidecar that dies more often within so many seconds is not started again
const max_text = 256 * 1024 # the longest text of a selection that agents receive, in bytes
const quiet = 0.5 # seconds without a key before a view opens, which would take the next keys
const unread = 0.5 # seconds in which a view accepts nothing: who began to write a file when it opened has not read it
const max_kept = 8 # texts that stay after their proposals were withdrawn: each can have some MiB, and none is thrown away
const nul = "\uffff" # a NUL of JSON in a text, which cannot have it; in a line of a buffer it is a line feed

# Without its judgement of a file, nothing of an agent is shown.
const no_gate = 'update ide-mcp: this sidecar does not judge what agents name'

# Above these limits Vim would keep the person waiting. The figures are those of Vim 9.0 on a machine with other work.
const max_file = 16 * 1024 * 1024 # bytes of a file that is read: what the sidecar lets through
const max_diff = 4 * 1024 * 1024 # bytes of both sides of a diff: 7 MB take 0.3 s, also after each edit
const max_changes = 20'000 # lines from the first change to the last: 0.1 s, and 50,000 with folds 5 s
const max_folds = 50'000'000 # changes times lines in a diff with folds, which Vim checks one by one: 0.2 s
const max_syntax = 8 * 1024 # bytes of each side of a diff with syntax: brackets take 0.3 s at `G`, of 16 KiB over 0.5 s
const max_syntax_line = 256 # bytes of a line of it: lines of 2,000 take 2 s in 64 KiB of HTML, and over 4 s in C
const max_type = 512 * 1024 # bytes of a file with a file type: PHP of 250 kB takes 0.4 s at `G`, of 1 MB 1.5 s
const max_line = 64 * 1024 # bytes of a line that is highlighted or wrapped: 0.02 s for each key, of 1 MB 0.15 s
const max_nul = 500'000 # NULs in an event: 0.3 s
const max_search = 1000 # bytes of a text that an agent has Vim look for

# The files that were loaded for agents and that the person has not seen have so many bytes in sum: two of the largest.
# Vim grew by 600 MB at 30 files of 15 MiB. Each counts as what its buffer takes at least.
const [max_unseen, min_buffer] = [32 * 1024 * 1024, 64 * 1024]
const limit_unseen = $'files of more than {max_unseen / 1024 / 1024} MiB were opened and not looked at. '
  .. 'Show one with makeFrontmost, for the person to look at'

var options: dict<any> # see below
var running = null_job # the process of the sidecar, unless it was stopped
var started: list<string> # its command, with its program
var [lock, problem] = ['', ''] # the path of its lock file, which the next process takes over; its last error
var deaths: list<number> = [] # the times at which processes died
var [port, is_paused, is_due] = [0, false, false] # `is_due`: the selection will be sent soon
var agents: dict<string> = {}
var announced: list<string> = [] # the files with problems, as agents know them
var proposals: dict<dict<any>> = {} # the open proposals by their calls; `close` closes the view, once there is one
var waiting: list<dict<any>> = [] # what waits for the end of typing: proposals, agents, files, and views that close
var is_opening = false # a view opens, whose autocommands can let Vim read the next event
var last_key = reltime() # the time of the last key
var [clock, watcher] = [0, 0] # the timer for the end of a pause, and the popup that sees the keys of the person
# Whether the next proposal waits for a key: the agent withdrew the one that the person saw, who could take the next for
# it and accept a text that nobody has read.
var is_held = false
var kept: list<number> = [] # the buffers with what the person typed into proposals that were withdrawn
var unseen: dict<number> = {} # the bytes of the files that were loaded for agents, by buffers that the person has not seen
var dialogs: dict<number> = {} # the questions about agents by their connections
var views: dict<func> = {} # what follows if the buffer of a proposal is written, or ends

# Executes `:IdeMcp`, with the first and the last line of its range.
export def Command(name: string, lines: list<number>)
  call(get(commands, name, (_) => Warn('no command ' .. name)), [lines])
enddef

export def Complete(_: string, _: string, _: number): string
  return keys(commands)->sort()->join("\n")
enddef

# Sends a command of docs/sidecar.md. Nothing happens if no sidecar runs, or if the process has ended.
export def Send(command: dict<any>, process = running)
  # A buffer can have bytes that are not UTF-8; JSON cannot. json_encode() leaves those that Vim can decode.
  const line = json_encode(command)->substitute('\%#=2[^\x01-\ud7ff\ue000-\U10ffff]', '?', 'g')
  silent! ch_sendraw(process, line->substitute(nul, '\\u0000', 'g') .. "\n")
enddef

# Returns a text for the status line: the attached agents, or an empty text without a sidecar.
export def Status(): string
  const count = copy(waiting)->filter((_, event) => event.event == 'diff')->len()
  const note = count > 0 ? $' ({count} proposal{count > 1 ? "s wait" : " waits"}{is_held ? " for a key" : ""})'
    : is_paused ? ' (paused)' : ''
  const names = empty(agents) ? 'no agent' : values(agents)->join(', ')
  return running == null_job ? '' : $'⧉ {names}{note}'
enddef

# Returns a text of an agent as it can be shown: one line without control characters and without marks that turn the
# direction of what follows, and in at most so many columns.
def Line(text: string, columns: number): string
  const line = substitute(tr(text, "\n", ' '),
    '[\x01-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]', ' ', 'g')
  return strdisplaywidth(line) > columns ? printf('%.*S…', max([columns - 1, 0]), line) : line
enddef

# Returns the label of a file in at most so many columns: of a longer one the end.
def FileName(label: string, columns: number): string
  var line = Line(label, 64)
  while strdisplaywidth(line) > columns | line = '…' .. strcharpart(line, 2) | endwhile
  return line
enddef

const Tail = (path: string): string => matchstr(path, '[^/\\]*$')

# Shows a message in one line, without a prompt that would take the next key. Of both parts, the second is the last to be
# cut. Where Vim shows "-- INSERT --", "-- VISUAL --" or a command, it shows that over a message at once, but not over this window.
def Warn(message: string, last = '')
  const rest = v:echospace - strdisplaywidth(last)
  const line = Line(Line('ide-mcp: ' .. message, max([rest, 32])) .. last, v:echospace)
  echohl WarningMsg
  if mode(1) =~ '^\%(n\|no\|nt\|t\)$' | echomsg line | else | :5echowindow line | endif
  echohl None
enddef

# --- The process `ide-mcp sidecar`: commands and events are lines of JSON (docs/sidecar.md).

def Start()
  if running != null_job | return | endif
  extend(options, get(g:, 'ide_mcp', {})->mapnew((name, Value) =>
    type(Value) == v:t_dict ? extendnew(options[name], Value) : Value))
  try | started = program.Find(options.command) | catch | Warn(v:exception) | return | endtry
  if &encoding != 'utf-8' | Warn($"'encoding' is {&encoding}, and has to be utf-8") | return | endif
  # With `noblock` Vim keeps the rest of a long command until the process reads.
  const callbacks = {out_cb: Receive, close_cb: (_) => End(), exit_cb: (_, _) => End()}
  running = job_start(started, extend({mode: 'nl', noblock: 1, err_io: 'null'}, callbacks))
  problem = 'the sidecar died too often'
  Send({protocol: 1, name: 'Vim', version: $'{v:version / 100}.{v:version % 100}', pid: getpid(), folders: [getcwd(-1)],
    tools: keys(tools) + ['openDiff', 'getCurrentSelection', 'getLatestSelection', 'getWorkspaceFolders'],
  }->extend(lock == '' ? {} : {resume: lock})->extend(options.config))
enddef

def Receive(channel: channel, line: string)
  if ch_getjob(channel) != running | return | endif # Stop() has ended this process
  var event: dict<any>
  const has_text = count(line, '\u0000') <= max_nul
  try | event = json_decode(has_text ? KeepNul(line) : line) | catch | Warn(v:exception) | return | endtry
  if !has_text && has_key(event, 'call')
    Send({cmd: 'fail', call: event.call, message: $'the text has more than {max_nul} NUL characters'})
    return
  endif
  problem = event.event == 'error' ? event.message : problem
  try | options.on_event(event) | catch | Warn(v:exception) | endtry
  Attempt(event, get(handlers, event.event, (_) => 0))
  GoOn()
  redrawstatus!
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
  [running, deaths] = [null_job, deaths->filter((_, time) => localtime() - time < within)->add(localtime())]
  Forget()
  const is_final = job_info(process).exitval == 2 || len(deaths) > max_deaths
  if is_final | Warn(problem, '. Start it again with :IdeMcp start') | else | Start() | endif
  redrawstatus!
enddef

def Stop()
  Send({cmd: 'quit'})
  [running, lock] = [null_job, '']
  if v:exiting == null | Forget() | endif
enddef

# Ends all of a process that has ended: the next one numbers its agents and calls from 1 again.
def Forget()
  for proposal in values(proposals) | CloseView(proposal.call) | endfor
  for conn in keys(dialogs) | CloseQuestion(conn) | endfor
  filter(waiting, (_, event) => event.event == 'close')
  [agents, port] = [{}, 0]
  GoOn()
  redrawstatus!
enddef

# --- Events.

# Runs the function of an event. If the function fails, the call of the event fails.
def Attempt(event: dict<any>, Act: func)
  const process = running # another one may run at the end of the function
  try
    Act(event)
  catch
    Warn(v:exception)
    if process != running || !has_key(event, 'call') | return | endif
    CloseView(event.call)
    Send({cmd: 'fail', call: event.call, message: v:exception})
    redrawstatus!
  endtry
enddef

# Returns whether the person types. The command-line window forbids to open and close others.
const IsTyping = (): bool => index(['n', 'nt', 'v', 'V', "\<C-V>", 't'], mode(1)) < 0 || getcmdwintype() != ''

# Returns whether the current tab shows a proposal.
const IsReviewing = (): bool => bufexists(get(t:, 'ide_mcp_proposal', -1))

# Returns whether nothing else holds up what waits: a person decides on one proposal and on one agent at a time.
const IsNext = (event: dict<any>): bool => event.event == 'close'
  || (event.event == 'consent' ? empty(dialogs) : event.event == 'call' ? !IsReviewing()
  : !is_held && copy(proposals)->filter((_, proposal) => has_key(proposal, 'close'))->empty())

# Returns whether the person pauses, and has typed no part of a command or of a mapping. In a terminal, only the popup
# knows of keys.
const IsQuiet = (): bool => reltimefloat(reltime(last_key)) >= quiet
  && (mode(1) == 't' ? watcher != 0 : state('mS') == '')

# After `:normal` in a callback, Vim takes a command for half typed until the next key. This key does nothing, and ends
# no command.
def Settle()
  if mode(1) != 't' && state('mS') == 'S' | feedkeys("\<Ignore>", 'n') | endif
enddef

# Does what waits in a pause of the person: another window would take the next keys. What the person has decided on is
# closed at once.
def GoOn()
  const steps = {consent: Ask, close: (event) => event.close(), call: (event) => Respond(event, event.tool), diff: Open}
  const is_quiet = IsQuiet()
  while !is_opening && !IsTyping()
    const next = indexof(waiting, (_, event) => (is_quiet || get(event, 'is_decided')) && IsNext(event))
    if next < 0 | break | endif
    const event = remove(waiting, next)
    is_opening = true
    try | Attempt(event, steps[event.event]) | finally | is_opening = false | endtry
    Settle()
  endwhile
  if !is_held && !IsUnseen() && (empty(waiting) || mode(1) != 't')
    popup_close(watcher)
    watcher = 0
  elseif empty(popup_getpos(watcher)) # another plugin can have closed it
    Watch()
  endif
  # The end of typing is an event of its own.
  if !is_quiet && clock == 0 && !empty(waiting) && !IsTyping()
    const rest = float2nr(1000 * (quiet - reltimefloat(reltime(last_key))))
    clock = timer_start(max([rest + 1, 50]), (_) => { # Vim can be busy for a moment after the pause
      clock = 0
      Settle()
      GoOn()
    })
  endif
enddef

# Notes the time of a key outside of terminals, and goes on with what the key has decided on.
def KeyWasTyped()
  last_key = reltime()
  GoOn()
enddef

# Returns whether the current tab shows a file that was loaded for an agent, and the person has pressed no key since.
const IsUnseen = (): bool => !empty(unseen)
  && indexof(tabpagebuflist(), (_, buffer) => has_key(unseen, buffer)) >= 0

# Notes a key of the person, who sees the windows of the tab.
def Look()
  for buffer in tabpagebuflist() | silent! remove(unseen, buffer) | endfor
  [last_key, is_held] = [reltime(), false]
enddef

# Waits for a key of the person: an invisible popup sees it first. In a terminal keys are no events, and elsewhere an
# event does not tell a key from what Vim or a plugin makes Vim read. Vim closes the popup at CTRL-C.
def Watch()
  const Filter = (_, key) => {
    if index(["\<Ignore>", "\<CursorHold>", "\<FocusGained>", "\<FocusLost>", "\<MouseMove>"], key) < 0
      Look()
      timer_start(0, (_) => GoOn()) # in a terminal nothing else does
    endif
    return false
  }
  const Return = (popup, result) => {
    if result != -1 || popup != watcher | return | endif
    watcher = 0
    Look()
    feedkeys("\<C-C>", 'ni') # before keys that have come since
    timer_start(0, (_) => GoOn())
  }
  if mode(1) == 't' | last_key = reltime() | endif # of keys before, nothing is known
  watcher = popup_create(' ', {line: 1, col: 1, mask: [[1, 1, 1, 1]], zindex: 32000, tabpage: -1, filter: Filter,
    callback: Return})
enddef

def Open(proposal: dict<any>)
  if len(filter(kept, (_, text) => bufloaded(text))) >= max_kept
    throw $'{max_kept} texts of withdrawn proposals stay until the person closes one: see `:ls`'
  endif
  const buffer = Buffer(proposal.old_path)
  proposal.compared = [buffer, getbufvar(buffer, 'changedtick')]
  proposal.close = options.show(proposal)
  if get(proposals, proposal.call, {}) isnot proposal | CloseLater(() => Withdraw(proposal)) | endif
enddef

# Asks the person to let an agent attach. A key of a person who types is no answer. The name is so short that the
# question fits in a line, and so none of its words begins a line, as the answers do.
def Ask(event: dict<any>)
  var last = reltime() # the time of the last key, also in a terminal
  const Filter = (dialog, key) => {
    const is_answer = !IsTyping() && reltimefloat(reltime(last)) > quiet
    last = reltime()
    return is_answer && key =~? '^[yn]$' && popup_filter_yesno(dialog, key)
  }
  const Answer = (dialog, choice) => {
    if get(dialogs, event.conn) != dialog | return | endif # CloseQuestion() has closed it
    remove(dialogs, event.conn)
    Send({cmd: choice == 1 ? 'allow' : 'disconnect', conn: event.conn})
  }
  const name = get(event, 'client', '')->tr('"', "'")->Line(max([min([64, &columns - 66]), 8]))
  dialogs[event.conn] = popup_dialog([$'An agent that calls itself "{name}" asks to attach. Let it attach?',
    'y: Let it attach', 'n: Refuse'], {filter: Filter, callback: Answer, tabpage: -1, mapping: false})
enddef

# Ends the question about an agent without an answer.
def CloseQuestion(conn: any)
  filter(waiting, (_, event) => event.event != 'consent' || string(event.conn) != $'{conn}')
  if has_key(dialogs, conn) | popup_close(remove(dialogs, conn)) | endif
enddef

def Attach(agent: dict<any>)
  agents[agent.conn] = $'{get(agent, "client", "agent")->Line(64)} {get(agent, "version", "")->Line(20)}'
enddef

def Leave(event: dict<any>)
  CloseQuestion(event.conn)
  filter(agents, (conn, _) => conn != string(event.conn))
enddef

def Listen(event: dict<any>)
  [port, lock] = [event.port, get(event, 'lock', '')]
  const advice = program.Advice(get(event, 'version', ''), started)
  if advice != '' | Warn(advice) | endif
  for [name, value] in items(event.environment) | setenv(name, value) | endfor
  if is_paused | Send({cmd: 'pause'}) | endif
  SelectionChanged()
enddef

def Pause(event: dict<any>)
  is_paused = event.event == 'paused'
  Warn(is_paused ? 'files and selections are hidden from agents' : 'agents see files and selections again')
enddef

# Catches up after a gap: ends what has ended in it.
def CatchUp(event: dict<any>)
  if has_key(event, 'line') | return | endif # the answer to a command
  const ended = values(proposals)->filter((_, open) => index(event.calls, open.call) < 0)
  for proposal in ended | CloseView(proposal.call) | endfor
  filter(waiting, (_, waiter) => waiter.event != 'call' || index(event.calls, waiter.call) >= 0)
  const [conns, asking] = [event.agents->mapnew((_, agent) => string(agent.conn)), keys(dialogs)
    + copy(waiting)->filter((_, waiter) => waiter.event == 'consent')->map((_, waiter) => string(waiter.conn))]
  for conn in asking | if index(conns, conn) < 0 | CloseQuestion(conn) | endif | endfor
  [agents, is_paused] = [{}, event.paused]
  for agent in event.agents | if !agent.model && !get(agent, 'consent') | Attach(agent) | endif | endfor
enddef

# Answers a call, or lets it wait if it shows something.
def Call(event: dict<any>)
  const is_shown = event.tool == 'openFile' && get(event.arguments, 'makeFrontmost', true)
  if is_shown | waiting->add(event) | else | Respond(event, event.tool) | endif
enddef

# Answers a call by a function of the options. The answer is for the process that asked.
def Respond(event: dict<any>, name: string)
  const process = running
  const result = options.answers[name](event)
  Send({cmd: 'respond', call: event.call, result: result}, process)
enddef

def Propose(event: dict<any>)
  if !has_key(event, 'label') | throw no_gate | endif
  const Answer = (members: dict<any>) => {
    if get(proposals, event.call, {}) isnot event
      if members.verdict == 'accept' | Warn('the proposal has ended') | endif
      return false
    endif
    remove(proposals, event.call)
    event.is_decided = true
    Send({cmd: 'answer', call: event.call}->extend(members))
    if members.verdict != 'accept' | return true | endif
    var looks = 20 # the agent writes the file soon
    timer_start(250, (timer) => {
      looks -= 1
      if TakeIn(event, get(members, 'contents', event.contents), looks == 0) | timer_stop(timer) | endif
    }, {repeat: looks})
    return true
  }
  event.client = get(agents, event.conn, 'an agent')
  event.accept = (text) => Answer({verdict: 'accept'}->extend(text == event.contents ? {} : {contents: text}))
  event.reject = () => Answer({verdict: 'reject'})
  proposals[event.call] = event
  waiting->add(event)
enddef

def CloseView(call: number, reason = '')
  filter(waiting, (_, event) => get(event, 'call') != call)
  if !has_key(proposals, call) | return | endif
  const proposal = remove(proposals, call)
  [proposal.keys, proposal.reason] = ['ended, nothing is accepted. ', reason]
  redrawstatus!
  if has_key(proposal, 'close') | CloseLater(() => Withdraw(proposal)) | endif
enddef

# Closes the view of a proposal that has ended. If the person has not decided on it, the next one waits for a key.
def Withdraw(proposal: dict<any>)
  if get(proposal, 'is_decided') | proposal.close() | return | endif
  is_held = true
  proposal.close()
  redraw # the end of the view would take the message away
  const is_withdrawn = index(['close_tab', 'closeAllDiffTabs', 'cancelled'], get(proposal, 'reason', '')) >= 0
  # At 80 columns the last sentence is cut: the status line says the same.
  const name = FileName(proposal.label, max([15, v:echospace - 95]))
  Warn((is_withdrawn ? $'the agent withdrew {name}. ' : $'the proposal for {name} ended. ')
    .. (has_key(proposal, 'kept') ? $'Your text: :b{proposal.kept}. ' : '') .. 'The next proposal waits for a key')
enddef

# Calls a function that closes a view, after the end of typing and before another view opens. A view on which the person
# has not decided is closed in a pause.
def CloseLater(Close: func, is_decided = false)
  insert(waiting, {event: 'close', close: Close, is_decided: is_decided})
enddef

# --- The view of a proposal: a tab with the file on the left and the proposal, which can be edited, on the right.
# Writing the proposal accepts it, and closing the proposal rejects it.

# Shows a proposal: the event `diff` (docs/sidecar.md), with `client`, and with `accept(text)` and `reject()`, of which
# the first call counts. Returns a function that closes the view.
def Show(proposal: dict<any>): func
  const open = Buffer(proposal.old_path)
  const old = Split(open > 0 ? Join(open, "\n") : get(proposal, 'old', ''))
  const new = Split(proposal.contents)
  const [limit, has_folds] = Limits(old, new)
  const has_syntax = limit == '' && IsSmall(old) && IsSmall(new)
  const root = Root(proposal)
  const warning = proposal.outside ? 'OUTSIDE: ' : ''
  proposal.keys = ':w accepts, :q rejects. '
  const [before, windows] = [win_getid(), getwininfo()->map((_, window) => window.winid)]
  var [former, proposed, tick] = [0, 0, 0] # the two buffers, and the state of the second before the person edits it
  var opened: list<number> # the time at which the view was on the screen
  const Close = () => {
    if !empty(opened) && getbufvar(proposed, '&modified', false) | Keep(proposal, proposed) | endif
    if IsReviewing() && t:ide_mcp_proposal == proposed | win_gotoid(before) | endif
    feedkeys("\<Ignore>", 'n') # a terminal receives the next key
    # Those of a view that failed early have only names.
    const named = getbufinfo()->filter((_, info) => stridx(info.name, root) == 0)->map((_, info) => info.bufnr)
    for buffer in extend([former, proposed], named)
      if buffer > 0 && bufexists(buffer) | execute $'silent! bwipeout! {buffer}' | endif
    endfor
  }

  try
    former = Fill($'{root}file/{Line(Tail(proposal.label), 64)}', old,
      {warning: warning, text: (limit == '' ? '' : $'no highlighting, {limit}: ') .. Line(proposal.label, 64)})
    proposed = Fill($'{root}proposal/{Line(Tail(proposal.label), 64)}', new,
      {warning: warning, proposal: proposal, text: $'{proposal.client} proposes {Line(proposal.label, 64)}'})
    tick = getbufvar(proposed, 'changedtick')
    execute 'silent tab sbuffer' former
    CheckShown(former, root)
    # At 80 columns each side has 40: what decides stands first, and of what is too long the beginning is cut, so that
    # the name of the file stays.
    setlocal nomodifiable statusline=\ %{b:ide_mcp.warning}%<%{b:ide_mcp.text}\ 
    execute 'silent rightbelow vertical sbuffer' proposed
    CheckShown(proposed, root)
    &l:statusline = ' %{b:ide_mcp.warning}%{b:ide_mcp.proposal.keys}%<%{b:ide_mcp.text} %m'
    t:ide_mcp_proposal = proposed
    for shown in [former, proposed]
      win_gotoid(bufwinid(shown))
      setlocal bufhidden=wipe
      Highlight(proposal, limit, has_folds, has_syntax)
      CheckShown(shown, root)
    endfor
    setbufvar(proposed, '&buftype', 'acwrite')
    if limit == '' && diff_hlID(1, 1) == 0 | execute 'silent! normal! ]c' | endif
  catch
    # A view that fails to open leaves nothing behind.
    const failure = v:exception
    for window in getwininfo()
      if index(windows, window.winid) < 0 | win_execute(window.winid, 'silent! close!') | endif
    endfor
    Close()
    throw failure
  endtry
  redraw
  opened = reltime()

  views[proposed] = (is_written) => {
    # In such a window Vim writes a buffer that the current tab does not show, as :wa and 'autowrite' do.
    if is_written && win_gettype() == 'autocmd' | Warn('a proposal is accepted in its own tab only') | return | endif
    if is_written && reltimefloat(reltime(opened)) < unread
      const is_modified = getbufvar(proposed, '&modified')
      setbufvar(proposed, '&modified', true) # else :wq goes on, and rejects
      timer_start(0, (_) => setbufvar(proposed, '&modified', is_modified))
      Warn('the proposal has just opened, and is not accepted yet')
      return
    endif
    const is_changed = getbufvar(proposed, 'changedtick') != tick
    if !is_written
      proposal.reject()
    elseif !proposal.accept(is_changed ? Join(proposed, new.line_end) .. new.last_end : proposal.contents)
      return # the view closes soon, and what is typed stays
    endif
    setbufvar(proposed, '&modified', false)
    CloseLater(Close, true) # at once, the rest of :wq would close another window
  }
  return Close
enddef

# Returns the beginning of the names of buffers. No agent can guess it, and so no folder has it, which a plugin would list
# in place of the buffer.
const Root = (proposal: dict<any>): string =>
  printf('ide-mcp://%d-%08x%08x/', proposal.call, rand(srand()), rand(srand()))

# Keeps what the person has typed into a proposal that was withdrawn, in a listed buffer without a file. It counts as
# modified, so Vim does not end over it.
def Keep(proposal: dict<any>, proposed: number)
  const buffer = Fill($'{Root(proposal)}withdrawn/{Line(Tail(proposal.label), 64)}',
    {text: Join(proposed, "\n"), line_end: "\n", last_end: ''}, {})
  for [option, value] in items({buftype: 'acwrite', buflisted: true, modified: true})
    setbufvar(buffer, $'&{option}', value)
  endfor
  views[buffer] = (is_written) => {
    if is_written | Warn('this proposal was withdrawn. `:w FILE` writes your text to a file') | endif
  }
  kept->add(buffer)
  proposal.kept = buffer
enddef

# Fails if the current window does not show a buffer of a view, as the view made it.
def CheckShown(buffer: number, root: string)
  if bufnr() != buffer || stridx(bufname(buffer), root) != 0 || empty(getbufvar(buffer, 'ide_mcp'))
    throw 'another plugin has taken the view of the proposal'
  endif
enddef

# Returns the parts of a text. A carriage return belongs to the end of a line only if all lines end so.
def Split(text: string): dict<any>
  const is_dos = stridx(text, "\r\n") >= 0 && count(text, "\r\n") == count(text, "\n")
  const line_end = is_dos ? "\r\n" : "\n"
  const last_end = strpart(text, len(text) - 1) == "\n" ? line_end : ''
  return {text: strpart(text, 0, len(text) - len(last_end)), line_end: line_end, last_end: last_end}
enddef

# Returns the text of a buffer. A list of all lines would take some 80 bytes for each.
def Join(buffer: number, line_end: string): string
  const [count, step] = [getbufinfo(buffer)[0].linecount, 100'000]
  return range(1, count, step)->map((_, first) => getbufline(buffer, first, first + step - 1)
    ->map((_, line) => tr(line, "\n", nul))->join(line_end))->join(line_end)
enddef

# Returns the reason why two texts are not highlighted, or an empty text, and whether their diff has folds.
def Limits(old: dict<any>, new: dict<any>): list<any>
  if len(old.text) + len(new.text) > max_diff | return [$'over {max_diff / 1024 / 1024} MiB', false] | endif
  var lines = [old, new]->mapnew((_, side) => side.text->split(side.line_end, true))
  for side in lines
    if copy(side)->map((_, line) => len(line))->max() > max_line
      return [$'a line over {max_line / 1024} KiB', false]
    endif
  endfor
  const [a, b, all] = [lines[0], lines[1], max([len(lines[0]), len(lines[1])])]
  var [first, last, least] = [0, 0, min([len(lines[0]), len(lines[1])])]
  while first < least && a[first] ==# b[first] | first += 1 | endwhile
  while last < least - first && a[-1 - last] ==# b[-1 - last] | last += 1 | endwhile
  const changes = all - first - last
  return changes > max_changes ? [$'{changes} lines changed', false] : ['', changes / 2 * all < max_folds]
enddef

# Returns whether a text can have syntax highlighting.
const IsSmall = (side: dict<any>): bool => len(side.text) <= max_syntax
  && side.text->split("\n")->map((_, line) => len(line))->max() <= max_syntax_line

# Makes a buffer with a text, and with values for its status line. It is not shown yet. The functions take the name of
# the buffer as it is.
def Fill(name: string, text: dict<any>, values: dict<any>): number
  if getftype(name) != '' | throw 'a file has the name of the view' | endif
  const buffer = bufadd(name)
  setbufvar(buffer, 'ide_mcp', values)
  setbufvar(buffer, 'matchparen_timeout', 20) # brackets take the plugin of Vim 0.3 s for each key otherwise
  for [option, value] in items({buftype: 'nofile', swapfile: false, buflisted: false, modeline: false, undolevels: -1})
    setbufvar(buffer, $'&{option}', value)
  endfor
  noautocmd bufload(buffer)
  # In parts, as Join().
  var [from, size] = [0, len(text.text)]
  while from <= size
    const end = stridx(text.text, "\n", from + 1024 * 1024)
    const part = end < 0 ? strpart(text.text, from) : strpart(text.text, from, end + 1 - len(text.line_end) - from)
    var lines = part->split(text.line_end, true)
    appendbufline(buffer, '$', stridx(part, nul) < 0 ? lines : lines->map((_, line) => tr(line, nul, "\n")))
    from = (end < 0 ? size : end) + 1
  endwhile
  deletebufline(buffer, 1)
  setbufvar(buffer, '&undolevels', -123456) # that of all buffers
  setbufvar(buffer, '&modified', false)
  return buffer
enddef

# Highlights the buffer of a proposal in the current window. The plugins of a file type are not for the text of an
# agent, so the type is only looked up.
def Highlight(proposal: dict<any>, limit: string, has_folds: bool, has_syntax: bool)
  if has_folds
    diffthis
  else
    setlocal nowrap nospell foldmethod=manual nofoldenable
    if limit == '' | setlocal diff scrollbind cursorbind | endif
  endif
  if !has_syntax | return | endif
  const open = Buffer(proposal.path)
  var type = open > 0 ? getbufvar(open, '&syntax') : ''
  if open == 0 && Tail(proposal.label) !~ '[`$|%#*?{}<>"\\;&!]\|\A\@<=\~'
    const eventignore = &eventignore
    try
      set eventignore+=FileType
      silent! doautocmd <nomodeline> filetypedetect BufRead
      type = &filetype
      setlocal filetype=
    finally
      &eventignore = eventignore
    endtry
  endif
  if type != '' | &l:syntax = type | endif
enddef

# --- What agents learn of Vim: the selection, and the answers of the tools.

const IsFile = (buffer: number): bool => getbufvar(buffer, '&buftype') == ''

# Returns the absolute path of the file of a buffer.
const Path = (buffer: number): string => fnamemodify(bufname(buffer), ':p')

# Returns the URI of a file: each byte is encoded but slashes, those that RFC 3986 calls unreserved, and the colon of a
# drive.
export def Uri(path: string): string
  const drive = path =~ '^\a:[/\\]' ? '/' .. toupper(path[0]) .. ':' : ''
  const slashed = drive != '' || path =~ '^\\\\' ? tr(path, '\', '/') : path
  const rest = drive != '' ? strpart(slashed, 2) : slashed
  return 'file://' .. drive .. range(len(rest))->mapnew((_, i) => strpart(rest, i, 1))
    ->map((_, byte) => byte =~ '[[:alnum:]/._~-]' ? byte : printf('%%%02X', char2nr(byte)))->join('')
enddef

# Returns what the paths of one file have in common. On Windows they differ in the case, and with 'shellslash' in the
# slashes.
export def Key(path: string, is_windows = !!has('win32')): string
  return is_windows ? tolower(tr(path, '\', '/')) : path
enddef

# Returns the number of UTF-16 units in the first bytes of a text.
def Units(text: string, bytes: number): number
  var chars = strpart(text, 0, bytes)->str2list()
  return len(chars) + (max(chars) < 0x10000 ? 0 : chars->filter((_, char) => char >= 0x10000)->len())
enddef

# Returns the loaded buffer of a file, or 0. Another path of the file, through links, is as good.
def Buffer(path: string): number
  const files = getbufinfo({bufloaded: 1})->filter((_, info) => info.name != '' && IsFile(info.bufnr))
  const [key, target] = [Key(path), Key(resolve(path))]
  const found = copy(files)->filter((_, info) => Key(info.name) == key)
    ?? copy(files)->filter((_, info) => Key(resolve(info.name)) == target)
  return get(found, 0, {bufnr: 0}).bufnr
enddef

# Returns whether Vim can read a file without waiting for it, or for a password.
const IsPlain = (path: string): bool => getftype(resolve(path)) == 'file' && filereadable(path)
  && getfsize(path) >= 0 && getfsize(path) <= max_file && readblob(path, 0, 9) != 0z56696D43727970747E

# Returns the lines of a file, with the unsaved changes of the person.
const Lines = (path: string): list<string> => Buffer(path) > 0 ? getbufline(Buffer(path), 1, '$')
  : IsPlain(path) ? readfile(path)->map((_, line) => substitute(line, '\r$', '', '')) : []

# Loads, reads again or writes a file for an agent. Meanwhile nothing asks the person, whose next key would be the
# answer, and no line of the file is an option.
def Quietly(Act: func, ignored = '')
  const [shortmess, confirm, more, modelines, eventignore] = [&shortmess, &confirm, &more, &modelines, &eventignore]
  try
    set shortmess+=A noconfirm nomore modelines=0
    &eventignore = [eventignore, ignored]->filter((_, events) => events != '')->join(',')
    Act()
  finally
    [&shortmess, &confirm, &more, &modelines, &eventignore] = [shortmess, confirm, more, modelines, eventignore]
  endtry
enddef

# Reads the file of a buffer again if it has changed on disk. Unsaved changes stay, without the question that Vim asks
# before it shows or writes the buffer.
def CheckTime(buffer: number)
  const undoreload = &undoreload
  if has_key(unseen, buffer)
    Count(buffer, Path(buffer))
    &undoreload = 0 # undo would keep the text of before
  endif
  if !getbufvar(buffer, '&modified') | setbufvar(buffer, '&autoread', true) | endif
  execute $'autocmd ide_mcp FileChangedShell <buffer={buffer}> v:fcs_choice = "" | MarkChanged(true)'
  try
    Quietly(() => execute($'checktime {buffer}'))
  finally
    execute $'autocmd! ide_mcp FileChangedShell <buffer={buffer}>'
    &undoreload = undoreload
  endtry
enddef

# Notes whether the file of the buffer of an event has changed on disk beside the buffer.
def MarkChanged(is_changed: bool)
  const buffer = str2nr(expand('<abuf>'))
  setbufvar(buffer, 'ide_mcp_changed', is_changed && getbufvar(buffer, '&modified'))
enddef

# Reads a file again, unless it has unsaved changes of the person.
def Reread(path: string)
  const buffer = Buffer(path)
  if buffer == 0 || getbufvar(buffer, '&modified') || !IsPlain(path) | return | endif
  if has_key(unseen, buffer) && !HasRoom(buffer, path) | return | endif
  CheckTime(buffer)
enddef

# Reads the file of a proposal again once the agent has written it, and returns whether that is done. Unsaved changes
# that were the left side of an accepted proposal are decided on too: undo brings them back. All others stay.
def TakeIn(proposal: dict<any>, accepted: string, is_last: bool): bool
  const [buffer, path] = [Buffer(proposal.path), proposal.path]
  if buffer == 0 || !getbufvar(buffer, '&modified')
    Reread(path)
    return false
  endif
  const tick = getbufvar(buffer, 'changedtick')
  const is_compared = get(proposal, 'compared', []) == [buffer, tick]
  const bytes = len(tr(accepted, nul, "\n"))
  const is_written = IsPlain(path) && index([bytes, bytes + 3], getfsize(path)) >= 0 && accepted
    ==# readfile(path, 'b')->map((_, line) => tr(line, "\n", nul))->join("\n")->substitute('^\%ufeff', '', '')
  if is_compared && is_written && !(buffer == bufnr() && IsTyping())
    const undoreload = &undoreload
    try
      &undoreload = -1
      setbufvar(buffer, '&modified', false)
      Reread(path)
    finally
      &undoreload = undoreload
      if getbufvar(buffer, 'changedtick') == tick | setbufvar(buffer, '&modified', true) | endif
    endtry
    return !getbufvar(buffer, '&modified')
  endif
  if is_last
    Warn($'{Line(proposal.label, 24)} keeps your changes: '
      .. (is_written ? 'they are newer than the proposal' : 'the file is not the accepted text'))
  endif
  return is_last
enddef

# Sends the selection soon, once for many changes.
def SelectionChanged()
  if !is_due && running != null_job | timer_start(30, SendSelection) | endif
  is_due = running != null_job
enddef

# Sends the selection. In a command line and in a terminal, where the agent may be, the selection of before stays. A
# block counts as whole lines.
def SendSelection(_: number)
  const [path, kind, cursor] = [expand('%:p'), mode(), getpos('.')]
  is_due = false
  if !IsFile(bufnr()) || kind =~ '^[ct]' | return | endif
  if !isabsolutepath(path) | Send({cmd: 'clear'}) | return | endif
  var ends = [kind =~ "^[vV\<C-V>]" ? getpos('v') : cursor, cursor]
  const [a, b] = ends->sort((x, y) => x[1] == y[1] ? x[2] - y[2] : x[1] - y[1])
  const [first, last, last_line] = [a[1], b[1], getline(b[1])]
  var [from, to] = kind =~ "^[V\<C-V>]" ? [0, len(last_line)] : [a[2] - 1, b[2] - 1]
  if kind == 'v' && &selection != 'exclusive' | to += len(matchstr(last_line, '.', to)) | endif
  # Of a longer text, the sidecar sends the beginning.
  const cut = byte2line(line2byte(first) + from + max_text + 1)
  var lines = getline(first, cut < 0 ? last : min([last, cut]))
  if len(lines) == last - first + 1 | lines[-1] = strpart(lines[-1], 0, to) | endif
  lines[0] = strpart(lines[0], from)
  Send({cmd: 'select', path: path, text: lines->map((_, line) => tr(line, "\n", nul))->join("\n"),
    start: [first - 1, Units(getline(first), from)], end: [last - 1, Units(last_line, to)]})
enddef

# Returns the problems of the quickfix list and of all location lists, with the titles of the lists as `source`. Entries
# without a type are problems after `:make`, and results of a search otherwise. Each failing `make` adds an entry with a
# file that does not exist.
def Problems(): list<dict<any>>
  const fields = {id: 0, title: 0, items: 0}
  var lists = [getqflist(fields)] + getwininfo()->mapnew((_, window) => getloclist(window.winid, fields))
  return lists->sort((x, y) => x.id - y.id)->uniq((x, y) => x.id - y.id)->mapnew((_, list) => list.items
    ->filter((_, item) => item.valid && item.bufnr > 0 && bufname(item.bufnr) != ''
      && (bufloaded(item.bufnr) || IsPlain(Path(item.bufnr)))
      && (item.type != '' || list.title =~ '^:l\?make'))
    ->map((_, item) => extend(item, {text: trim(item.text), source: trim(list.title)})))->flattennew(1)
enddef

def Diagnostics(call: dict<any>): list<any>
  var [files, texts] = [{}, {}]
  for item in options.problems()
    const name = Path(item.bufnr)
    if !has_key(files, name) | [files[name], texts[name]] = [[], Lines(name)] | endif
    const At = (row, column) => ({line: row - 1, character: Units(get(texts[name], row - 1, ''), column - 1)})
    const [first, last] = [max([item.lnum, 1]), max([item.lnum, item.end_lnum, 1])]
    const range = {start: At(first, item.col), end: At(last, item.end_col == 0 ? item.col : item.end_col)}
    const severity = get({W: 'Warning', I: 'Information', N: 'Hint'}, toupper(item.type), 'Error')
    files[name]->add({message: item.text, severity: severity, source: item.source, range: range})
  endfor
  const [path, open] = [get(call, 'path', ''), Buffer(get(call, 'path', ''))]
  const asked = has_key(call.arguments, 'uri') ? [[call.arguments.uri, get(files, open > 0 ? Path(open) : path, [])]]
    : items(files)->mapnew((_, file) => [Uri(file[0]), file[1]])
  return asked->mapnew((_, file) => ({uri: file[0], diagnostics: file[1]}))
enddef

# Announces the files with problems, and those that had some before.
def AnnounceProblems()
  if running == null_job | return | endif
  const paths = options.problems()->mapnew((_, item) => Path(item.bufnr))->sort()->uniq()
  const uris = sort(paths + announced)->uniq()->mapnew((_, path) => Uri(path))
  announced = paths
  if !empty(uris) | Send({cmd: 'diagnostics_changed', uris: uris}) | endif
enddef

# Returns the answer for an open file.
const OfOpenFile = (path: string, Answer: func(number): dict<any>): dict<any> => Buffer(path) == 0
  ? {success: false, message: 'Document not open: ' .. path}
  : {success: true, filePath: path}->extend(Answer(Buffer(path)))

def Save(buffer: number): dict<any>
  const path = Path(buffer)
  if !IsPlain(path) && getftype(resolve(path)) != '' | throw 'there is no plain file ' .. path | endif
  CheckTime(buffer)
  if getbufvar(buffer, 'ide_mcp_changed', false) | throw 'the file has changed on disk too' | endif
  const window = popup_create(buffer, {hidden: 1}) # the buffer may be in no other window
  try
    Quietly(() => win_execute(window, 'update'))
  finally
    popup_close(window)
  endtry
  return {saved: true, message: 'Document saved successfully'}
enddef

# Returns how much a file counts among those that the person has not seen.
const Cost = (path: string): number => max([getfsize(path), min_buffer])

# Returns whether a file can be loaded or read again without a look of the person.
def HasRoom(buffer: number, path: string): bool
  filter(unseen, (other, _) => bufloaded(str2nr(other)))
  return copy(unseen)->filter((other, _) => other != string(buffer))->values()->reduce((a, b) => a + b, Cost(path))
    <= max_unseen
enddef

# Counts a file that is loaded or read again for an agent.
def Count(buffer: number, path: string)
  if !HasRoom(buffer, path) | throw limit_unseen | endif
  unseen[buffer] = Cost(path)
enddef

# Returns the loaded buffer of a file that an agent names.
def Load(path: string): number
  if !IsPlain(path) | throw 'there is no plain file ' .. path | endif
  if !bufloaded(path) && !HasRoom(0, path) | throw limit_unseen | endif # before there is a buffer
  const buffer = bufadd(path)
  if bufloaded(buffer)
    CheckTime(buffer) # as Vim does when it shows the buffer
    return buffer
  endif
  Count(buffer, path)
  const is_large = getfsize(path) > max_type || readfile(path)->map((_, line) => len(line))->max() > max_line
  # Vim unpacks archives by other programs, and plugins ask for passwords.
  const is_packed = path =~? '\.\%(gz\|bz2\|z\|lzma\|xz\|lz\|lz4\|zst\|br\|gpg\|pgp\|asc\|age\)$'
  Quietly(() => bufload(buffer),
    is_large ? 'all' : is_packed ? 'BufReadCmd,BufReadPre,BufReadPost' : 'BufReadCmd')
  const name = fnamemodify(path, ':t')->Line(24)
  if is_large
    setbufvar(buffer, 'ide_mcp_large', true)
    Warn($'{name} is large: no highlighting. :edit adds it')
  endif
  if swapname(buffer) !~ '\.swp$\|^$'
    setbufvar(buffer, '&readonly', true)
    Warn($'{name} has a swap file of another Vim, and is read-only here')
  endif
  return buffer
enddef

# Returns the places of the first and of the last byte of a text in the current buffer, from a place on, or an empty
# list if it is not found soon. Inside of a line search() keeps no limit of time, so this compares texts.
def Find(text: string, from: number, column: number): list<list<number>>
  const parts = text->split("\n", true)->map((_, part) => tr(part, nul, "\n"))
  const [rest, begin, step] = [len(parts) - 1, reltime(), 1000]
  var least = max([column - 1, 0])
  for first in text == '' ? [] : range(from, line('$'), step)
    if reltimefloat(reltime(begin)) > 0.2 | break | endif
    const lines = getline(first, first + step - 1 + rest)
    for i in range(max([min([step, len(lines) - rest]), 0]))
      const at = rest == 0 ? stridx(lines[i], parts[0], least) : len(lines[i]) - len(parts[0])
      if at >= least && (rest == 0 || strpart(lines[i], at) ==# parts[0]
          && (rest == 1 || lines[i + 1 : i + rest - 1] ==# parts[1 : -2])
          && strpart(lines[i + rest], 0, len(parts[-1])) ==# parts[-1])
        const last = parts[-1] == '' ? [first + i + rest - 1, len(lines[i + rest - 1]) + 1]
          : [first + i + rest, (rest == 0 ? at : 0) + len(parts[-1])]
        return [[first + i, at + 1], last]
      endif
      least = 0
    endfor
  endfor
  return []
enddef

def OpenFile(call: dict<any>): any
  if !has_key(call, 'path') | throw no_gate | endif
  const [path, arguments] = [call.path, call.arguments]
  const texts = ['startText', 'endText']->map((_, name) => get(arguments, name, '') ?? '')
  for text in texts
    if len(text) > max_search | throw $'a text to look for has more than {max_search} bytes' | endif
  endfor
  const buffer = Load(path)
  setbufvar(buffer, '&buflisted', true)
  const about = {languageId: getbufvar(buffer, '&filetype'), lineCount: getbufinfo(buffer)[0].linecount}
  if !get(arguments, 'makeFrontmost', true) | return extend({success: true, filePath: path}, about) | endif
  # In a window with a file, not in place of the terminal of an agent.
  const windows = ([win_getid()] + gettabinfo(tabpagenr())[0].windows)->filter((_, window) => IsFile(winbufnr(window)))
  if win_gotoid(get(win_findbuf(buffer) + windows, 0, 0)) == 0 | split | endif
  execute 'hide buffer' buffer
  if get(b:, 'ide_mcp_large') | setlocal nowrap nospell foldmethod=manual | endif
  cursor(get(arguments, 'startLine', 1), 1)
  const found = Find(texts[0], line('.'), 0)
  if !empty(found)
    const ends = Find(texts[1], found[0][0], found[0][1]) ?? found
    cursor(found[0])
    normal! v
    cursor(ends[1])
    if get(arguments, 'selectToEndOfLine') | execute 'normal! g_' | endif
  endif
  return 'Opened file: ' .. path
enddef

# --- Tables.

const tools: dict<func> = {
  getDiagnostics: Diagnostics,
  getOpenEditors: (_) => ({tabs: getbufinfo({buflisted: 1})
    ->filter((_, info) => info.name != '' && IsFile(info.bufnr))->mapnew((_, info) => ({
      uri: Uri(info.name), label: fnamemodify(info.name, ':t'), isDirty: info.changed == 1,
      isActive: info.bufnr == bufnr(), languageId: getbufvar(info.bufnr, '&filetype')}))}),
  openFile: OpenFile,
  saveDocument: (call) => OfOpenFile(get(call, 'path', ''), Save),
  checkDocumentDirty: (call) =>
    OfOpenFile(get(call, 'path', ''), (buffer) => ({isDirty: !!getbufvar(buffer, '&modified'), isUntitled: false})),
}

# What follows each event of docs/sidecar.md.
const handlers: dict<func> = {
  listening: Listen,
  connected: Attach,
  closed: Leave,
  diff: Propose,
  diff_closed: (event) => CloseView(event.call, event.reason),
  consent: (event) => add(waiting, event),
  call: Call,
  call_ended: (event) => CloseView(event.call),
  prompt: (event) => Respond(event, event.name),
  resource: (event) => Respond(event, event.uri),
  edit_ended: (event) => Reread(event.path),
  mention_expired: (event) => Warn('no agent took the mention of ' .. event.path),
  error: (event) => Warn(event.message),
  paused: Pause, resumed: Pause, status: CatchUp,
}

def SendOrSay(command: dict<any>)
  if running == null_job | Warn('the sidecar does not run: `:IdeMcp start` starts it') | return | endif
  Send(command)
enddef

def Mention(lines: list<number>)
  const path = expand('%:p')
  if !IsFile(bufnr()) || !isabsolutepath(path) | Warn('no file is mentioned: the buffer has no file') | return | endif
  SendOrSay({cmd: 'mention', path: path}->extend(empty(lines) ? {} : {lines: lines}))
  if running != null_job && empty(agents) | Warn('no agent is attached: the mention waits up to 30 s for one') | endif
enddef

def Install()
  program.Install((text) => Warn(text), (text) => {
    const is_replaced = running != null_job && started[0] == program.path
    Start()
    Warn(text, is_replaced ? '. Stop and start to use it' : '')
  })
enddef

def Uninstall()
  if running != null_job && started[0] == program.path | Stop() | endif
  program.Uninstall((text) => Warn(text))
enddef

const commands: dict<func> = {
  install: (_) => Install(), uninstall: (_) => Uninstall(),
  start: (_) => Start(), stop: (_) => Stop(),
  pause: (_) => SendOrSay({cmd: 'pause'}), resume: (_) => SendOrSay({cmd: 'resume'}),
  mention: (lines) => Mention(lines),
  status: (_) =>
    running == null_job ? SendOrSay({}) : Warn(Status(), $', port {port}, {getcwd(-1)}'),
}

# `:help ide-mcp-options`
options = {
  command: ['ide-mcp', 'sidecar'],
  config: {
    prompts: [{name: 'review', description: 'Review the open file', arguments: [{name: 'focus'}]}],
    resources: [{uri: 'vim://quickfix', description: 'The errors of the last build or search in Vim'}],
  },
  answers: extendnew(tools, {
    review: (event) => 'Review the file that is open in the editor, above all '
      .. get(event.arguments, 'focus', 'the selected lines') .. '.',
    'vim://quickfix': (_) => getqflist()
      ->mapnew((_, item) => $'{bufname(item.bufnr)}:{item.lnum}:{item.col}: {item.text}')->join("\n"),
  }),
  problems: Problems,
  show: Show,
  on_event: (_) => 0,
}

augroup ide_mcp
  autocmd BufEnter,CursorMoved,CursorMovedI,ModeChanged,TextChanged,TextChangedI * SelectionChanged()
  # Vim waits for a key after each whole command, and for other events. A view has the autocommands of other windows.
  autocmd SafeState * ++nested KeyWasTyped()
  autocmd SafeStateAgain * ++nested GoOn()
  autocmd QuickFixCmdPost * AnnounceProblems()
  autocmd FileChangedShellPost * MarkChanged(true)
  autocmd BufReadPost,BufWritePost * MarkChanged(false)
  autocmd User ALELintPost,CocDiagnosticChange,lsp_diagnostics_updated AnnounceProblems()
  autocmd DirChanged * Send({cmd: 'folders', folders: get(options.config, 'folders', [getcwd(-1)])})
  autocmd BufWriteCmd ide-mcp://* views[expand('<abuf>')](true)
  autocmd BufWipeout * if has_key(views, expand('<abuf>')) | remove(views, expand('<abuf>'))(false) | endif # any name
  autocmd VimLeavePre * Stop()
augroup END
