vim9script
# Lets coding agents attach to Vim: `:help ide-mcp`. Functions come first, then the tables of the commands, events and
# tools, and then the options. Functions of one line are constants.

const [max_deaths, within] = [5, 60] # a sidecar that dies more often within so many seconds is not started again
const max_text = 256 * 1024 # the longest text of a selection that agents receive, in bytes
const nul = "\uffff" # a NUL of JSON in a text, which cannot have it; in a line of a buffer it is a line feed

var options: dict<any> # see below
var running = null_job # the process of the sidecar, unless it was stopped
var [lock, problem] = ['', ''] # the path of its lock file, which the next process takes over; its last error
var deaths: list<number> = [] # the times at which processes died
var [port, is_paused, is_due] = [0, false, false] # `is_due`: the selection will be sent soon
var agents: dict<string> = {}
var announced: list<string> = [] # the files with problems, as agents know them
var proposals: dict<dict<any>> = {} # the open proposals by their calls; `close` closes the view, once there is one
var waiting: list<dict<any>> = [] # what waits for the end of typing: proposals, agents, and views that close
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
  const line = json_encode(command)->substitute('\%#=2[\ud800-\udfff\U110000-\U7fffffff]', '?', 'g')
  silent! ch_sendraw(process, line->substitute(nul, '\\u0000', 'g') .. "\n")
enddef

# Returns a text for the status line: the attached agents, or an empty text without a sidecar.
export def Status(): string
  const count = copy(waiting)->filter((_, event) => event.event == 'diff')->len()
  const note = count > 0 ? $' ({count} proposal waits)' : is_paused ? ' (paused)' : ''
  const names = empty(agents) ? 'no agent' : values(agents)->join(', ')
  return running == null_job ? '' : $'⧉ {names}{note}'
enddef

def Warn(message: string)
  echohl WarningMsg | echomsg 'ide-mcp: ' .. message | echohl None
enddef

# --- The process `ide-mcp sidecar`: commands and events are lines of JSON (docs/sidecar.md).

def Start()
  if running != null_job | return | endif
  extend(options, get(g:, 'ide_mcp', {})->mapnew((name, Value) =>
    type(Value) == v:t_dict ? extendnew(options[name], Value) : Value))
  const program = options.command[0]
  if !executable(program) | Warn($'{program} is not installed: see the README of ide-mcp') | return | endif
  if &encoding != 'utf-8' | Warn($"'encoding' is {&encoding}, and has to be utf-8") | return | endif
  # With `noblock` Vim keeps the rest of a long command until the process reads.
  const callbacks = {out_cb: Receive, close_cb: (_) => End(), exit_cb: (_, _) => End()}
  running = job_start(options.command, extend({mode: 'nl', noblock: 1, err_io: 'null'}, callbacks))
  problem = 'the sidecar died too often'
  Send({name: 'Vim', version: $'{v:version / 100}.{v:version % 100}', pid: getpid(), folders: [getcwd(-1)],
    tools: keys(tools) + ['openDiff', 'getCurrentSelection', 'getLatestSelection', 'getWorkspaceFolders'],
  }->extend(lock == '' ? {} : {resume: lock})->extend(options.config))
enddef

def Receive(channel: channel, line: string)
  if ch_getjob(channel) != running | return | endif # Stop() has ended this process
  const has_nul = stridx(line, '\u0000') >= 0
  const text = has_nul ? line->substitute('\v\\@1<!(\\\\)*\zs\\u0000', '\\uffff', 'g') : line
  var event: dict<any>
  try | event = json_decode(text) | catch | Warn(v:exception) | return | endtry
  problem = event.event == 'error' ? event.message : problem
  try | options.on_event(event) | catch | Warn(v:exception) | endtry
  Attempt(event, get(handlers, event.event, (_) => 0))
  GoOn()
  redrawstatus!
enddef

# Called at the end of a process and at the end of its output, in either order.
def End()
  const process = running
  if ch_status(process) != 'closed' || job_status(process) != 'dead' || running != process | return | endif
  [running, deaths] = [null_job, deaths->filter((_, time) => localtime() - time < within)->add(localtime())]
  Forget()
  const is_final = job_info(process).exitval == 2 || len(deaths) > max_deaths
  if is_final | Warn(problem .. '. Start it again with :IdeMcp start') | else | Start() | endif
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
  endtry
enddef

# Returns whether the person types. The command-line window forbids to open and close others.
const IsTyping = (): bool => index(['n', 'nt', 'v', 'V', "\<C-V>", 't'], mode(1)) < 0 || getcmdwintype() != ''

# Does what waits, unless the person types: another window would take the next keys.
def GoOn()
  while !empty(waiting) && !IsTyping()
    Attempt(remove(waiting, 0), (event) => get({consent: Ask, close: (_) => event.close()}, event.event, Open)(event))
  endwhile
enddef

def Open(proposal: dict<any>)
  proposal.close = options.show(proposal)
enddef

# Asks the person to let an agent attach. A key of a person who types is no answer.
def Ask(event: dict<any>)
  var last = reltime() # the time of the last key
  const Filter = (dialog, key) => {
    const is_answer = !IsTyping() && reltimefloat(reltime(last)) > 0.5
    last = reltime()
    return is_answer && key =~? '^[yn]$' && popup_filter_yesno(dialog, key)
  }
  const Answer = (dialog, choice) => {
    if get(dialogs, event.conn) != dialog | return | endif # CloseQuestion() has closed it
    remove(dialogs, event.conn)
    Send({cmd: choice == 1 ? 'allow' : 'disconnect', conn: event.conn})
  }
  dialogs[event.conn] = popup_dialog($'Let {get(event, "client", "an agent")} attach? (y/n)',
    {filter: Filter, callback: Answer, tabpage: -1})
enddef

# Ends the question about an agent without an answer.
def CloseQuestion(conn: any)
  filter(waiting, (_, event) => event.event != 'consent' || string(event.conn) != $'{conn}')
  if has_key(dialogs, conn) | popup_close(remove(dialogs, conn)) | endif
enddef

def Attach(agent: dict<any>)
  agents[agent.conn] = $'{get(agent, "client", "agent")} {get(agent, "version", "")}'
enddef

def Leave(event: dict<any>)
  CloseQuestion(event.conn)
  filter(agents, (conn, _) => conn != string(event.conn))
enddef

def Listen(event: dict<any>)
  [port, lock] = [event.port, get(event, 'lock', '')]
  for [name, value] in items(event.environment) | setenv(name, value) | endfor
  if is_paused | Send({cmd: 'pause'}) | endif
  SelectionChanged()
enddef

def Pause(event: dict<any>)
  is_paused = event.event == 'paused'
enddef

# Catches up after a gap: ends what has ended in it.
def CatchUp(event: dict<any>)
  if has_key(event, 'line') | return | endif # the answer to a command
  const ended = values(proposals)->filter((_, open) => index(event.calls, open.call) < 0)
  for proposal in ended | CloseView(proposal.call) | endfor
  const [conns, asking] = [event.agents->mapnew((_, agent) => string(agent.conn)), keys(dialogs)
    + copy(waiting)->filter((_, waiter) => waiter.event == 'consent')->map((_, waiter) => string(waiter.conn))]
  for conn in asking | if index(conns, conn) < 0 | CloseQuestion(conn) | endif | endfor
  [agents, is_paused] = [{}, event.paused]
  for agent in event.agents | if !agent.model && !get(agent, 'consent') | Attach(agent) | endif | endfor
enddef

# Answers a call by a function of the options. The answer is for the process that asked.
def Respond(event: dict<any>, name: string)
  const process = running
  const result = options.answers[name](event)
  Send({cmd: 'respond', call: event.call, result: result}, process)
enddef

def Propose(event: dict<any>)
  const Answer = (members: dict<any>) => {
    if get(proposals, event.call, {}) isnot event
      if members.verdict == 'accept' | Warn('the proposal has ended') | endif
      return
    endif
    remove(proposals, event.call)
    Send({cmd: 'answer', call: event.call}->extend(members))
    timer_start(250, (_) => Reread(event.path), {repeat: 20}) # the agent writes the file soon
  }
  event.client = get(agents, event.conn, 'an agent')
  event.accept = (text) => Answer({verdict: 'accept'}->extend(text == event.contents ? {} : {contents: text}))
  event.reject = () => Answer({verdict: 'reject'})
  proposals[event.call] = event
  waiting->add(event)
enddef

def CloseView(call: number)
  filter(waiting, (_, event) => get(event, 'call') != call)
  const proposal = has_key(proposals, call) ? remove(proposals, call) : {}
  if has_key(proposal, 'close') | CloseLater(proposal.close) | endif
enddef

# Calls a function that closes a view, after the end of typing.
def CloseLater(Close: func)
  waiting->add({event: 'close', close: Close})
enddef

# --- The view of a proposal: a tab with the file on the left and the proposal, which can be edited, on the right.
# Writing the proposal accepts it, and closing the proposal rejects it.

# Shows a proposal: the event `diff` (docs/sidecar.md), with `client`, and with `accept(text)` and `reject()`, of which
# the first call counts. Returns a function that closes the view.
def Show(proposal: dict<any>): func
  const contents = proposal.contents
  const is_dos = stridx(contents, "\r\n") >= 0 && count(contents, "\r\n") == count(contents, "\n")
  const line_end = is_dos ? "\r\n" : "\n"
  const last_end = contents[-1 :] == "\n" ? line_end : ''
  const lines = contents->strpart(0, len(contents) - len(last_end))->split(line_end, true)

  const [before, is_reviewing] = [win_getid(), bufexists(get(t:, 'ide_mcp_proposal', -1))]
  tabnew
  const old = Fill('file', proposal, Lines(proposal.old_path), 'nofile')
  setlocal nomodifiable statusline=\ %t\ 
  rightbelow vnew
  const new = Fill('proposal', proposal, lines, 'acwrite')
  t:ide_mcp_proposal = new
  const note = proposal.outside ? ' OUTSIDE of the open folders' : ''
  &l:statusline = $' %t{note}, proposed by %<{substitute(proposal.client, "%", "%%", "g")} %m%=:w accepts, :q rejects '
  if diff_hlID(1, 1) == 0 | execute 'silent! normal! ]c' | endif

  const Close = () => {
    if get(t:, 'ide_mcp_proposal') == new | win_gotoid(before) | endif
    feedkeys("\<Ignore>", 'n') # a terminal receives the next key
    execute $'silent! bwipeout! {new}' | execute $'silent! bwipeout! {old}'
  }
  views[new] = (is_written) => {
    # In such a window Vim writes a buffer that the current tab does not show, as :wa and 'autowrite' do.
    if is_written && win_gettype() == 'autocmd' | Warn('a proposal is accepted in its own tab only') | return | endif
    setbufvar(new, '&modified', false)
    const text = getbufline(new, 1, '$')->map((_, line) => tr(line, "\n", nul))->join(line_end) .. last_end
    if is_written | proposal.accept(text) | else | proposal.reject() | endif
    CloseLater(Close) # at once, the rest of :wq would close another window
  }
  # The person decides on the earlier proposal first.
  if is_reviewing | win_gotoid(before) | endif
  return Close
enddef

# Shows lines in the new buffer of the current window, which ends with the window.
def Fill(side: string, proposal: dict<any>, lines: list<string>, buftype: string): number
  setlocal bufhidden=wipe noswapfile nobuflisted undolevels=-1
  &l:buftype = buftype
  execute 'silent file' fnameescape($'ide-mcp://{proposal.call}/{side}/{fnamemodify(proposal.path, ":t")}')
  setline(1, mapnew(lines, (_, line) => tr(line, nul, "\n")))
  setlocal undolevels< nomodified
  execute 'silent! doautocmd <nomodeline> filetypedetect BufRead' fnameescape(proposal.path)
  diffthis
  return bufnr()
enddef

# --- What agents learn of Vim: the selection, and the answers of the tools.

const IsFile = (buffer: number): bool => getbufvar(buffer, '&buftype') == ''

# Returns the absolute path of the file of a buffer.
const Path = (buffer: number): string => fnamemodify(bufname(buffer), ':p')

# Returns the URI of a file: each byte is encoded but slashes and those that RFC 3986 calls unreserved.
const Uri = (path: string): string => 'file://' .. range(len(path))->mapnew((_, i) => strpart(path, i, 1))
  ->map((_, byte) => byte =~ '[[:alnum:]/._~-]' ? byte : printf('%%%02X', char2nr(byte)))->join('')

# Returns the number of UTF-16 units in the first bytes of a text.
def Units(text: string, bytes: number): number
  var chars = strpart(text, 0, bytes)->str2list()
  return len(chars) + (max(chars) < 0x10000 ? 0 : chars->filter((_, char) => char >= 0x10000)->len())
enddef

# Returns the loaded buffer of a file, or 0. Another path of the file, through links, is as good.
def Buffer(path: string): number
  const files = getbufinfo({bufloaded: 1})->filter((_, info) => info.name != '' && IsFile(info.bufnr))
  const target = resolve(path)
  const found = copy(files)->filter((_, info) => info.name == path)
    ?? copy(files)->filter((_, info) => resolve(info.name) == target)
  return get(found, 0, {bufnr: 0}).bufnr
enddef

# Returns the lines of a file, with the unsaved changes of the person.
const Lines = (path: string): list<string> => Buffer(path) > 0 ? getbufline(Buffer(path), 1, '$')
  : filereadable(path) ? readfile(path)->map((_, line) => substitute(line, '\r$', '', '')) : []

# Reads a file again, unless it has unsaved changes of the person.
def Reread(path: string)
  const buffer = Buffer(path)
  if buffer == 0 || getbufvar(buffer, '&modified') | return | endif
  setbufvar(buffer, '&autoread', true)
  execute 'silent checktime' buffer
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
      && (bufloaded(item.bufnr) || filereadable(Path(item.bufnr)))
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
  const window = popup_create(buffer, {hidden: 1}) # the buffer may be in no other window
  win_execute(window, 'update')
  popup_close(window)
  return {saved: true, message: 'Document saved successfully'}
enddef

def OpenFile(call: dict<any>): any
  const [path, arguments] = [get(call, 'path', ''), call.arguments]
  if !filereadable(path) | throw 'there is no file ' .. arguments.filePath | endif
  const buffer = bufadd(path)
  bufload(buffer)
  setbufvar(buffer, '&buflisted', true)
  const about = {languageId: getbufvar(buffer, '&filetype'), lineCount: getbufinfo(buffer)[0].linecount}
  if !get(arguments, 'makeFrontmost', true) | return extend({success: true, filePath: path}, about) | endif
  # In a window with a file, not in place of the terminal of an agent.
  const windows = ([win_getid()] + gettabinfo(tabpagenr())[0].windows)->filter((_, window) => IsFile(winbufnr(window)))
  if win_gotoid(get(win_findbuf(buffer) + windows, 0, 0)) == 0 | split | endif
  execute 'hide buffer' buffer
  cursor(get(arguments, 'startLine', 1), 1)
  const Find = (name, flags) => has_key(arguments, name)
    && search('\V' .. arguments[name]->escape('\')->substitute("\n", '\\n', 'g'), flags) > 0
  if Find('startText', 'cW')
    normal! v
    if !Find('endText', 'eW') | Find('startText', 'ceW') | endif
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
  diff_closed: (event) => CloseView(event.call),
  consent: (event) => add(waiting, event),
  call: (event) => Respond(event, event.tool),
  prompt: (event) => Respond(event, event.name),
  resource: (event) => Respond(event, event.uri),
  edit_ended: (event) => Reread(event.path),
  mention_expired: (event) => Warn('no agent took the mention of ' .. event.path),
  error: (event) => Warn(event.message),
  paused: Pause, resumed: Pause, status: CatchUp,
}

const commands: dict<func> = {
  start: (_) => Start(), stop: (_) => Stop(),
  pause: (_) => Send({cmd: 'pause'}), resume: (_) => Send({cmd: 'resume'}),
  mention: (lines) => IsFile(bufnr()) && isabsolutepath(expand('%:p'))
    ? Send({cmd: 'mention', path: expand('%:p')}->extend(empty(lines) ? {} : {lines: lines})) : Warn('no file'),
  status: (_) => Warn(running == null_job ? 'the sidecar does not run' : $'{Status()}, port {port}, {getcwd(-1)}'),
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
  autocmd SafeState,SafeStateAgain * GoOn()
  autocmd QuickFixCmdPost * AnnounceProblems()
  autocmd User ALELintPost,CocDiagnosticChange,lsp_diagnostics_updated AnnounceProblems()
  autocmd DirChanged * Send({cmd: 'folders', folders: get(options.config, 'folders', [getcwd(-1)])})
  autocmd BufWriteCmd ide-mcp://* views[expand('<abuf>')](true)
  autocmd BufWipeout ide-mcp://*/proposal/* remove(views, expand('<abuf>'))(false)
  autocmd VimLeavePre * Stop()
augroup END
