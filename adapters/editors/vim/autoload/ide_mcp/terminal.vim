vim9script
# The terminal of an agent: a window of Vim, a pane of tmux, or what a command or a function of the person opens.

import autoload './layout.vim'
import autoload './log.vim'
import autoload './options.vim'
import autoload './sidecar.vim'
import autoload './strings.vim'
import autoload './tmux.vim'
import autoload './ui.vim'

const sides = {right: 'botright vertical', left: 'topleft vertical', above: 'topleft', below: 'botright', tab: 'tab'}

# The terminals, the one that was used last first: `folder`, `name`, `command`, and `buffer` or what the provider adds.
var terminals: list<dict<any>> = []

var aside: dict<any> = {} # the terminal that was hidden to make room for a proposal

# --- What the person does.

# Shows the terminal, and starts an agent with these arguments in it if there is none yet. `mods` are those of the command,
# such as "vertical".
export def Open(words: string, mods: string)
  Choose(words, mods, (terminal, _) => Go(terminal, mods))
enddef

# Hides the terminal if it is shown, and shows it otherwise. The agent keeps running.
export def Toggle(words: string, mods: string)
  Choose(words, mods, (terminal, is_new) => {
    if is_new || !IsShown(terminal) | Go(terminal, mods) | else | Hide(terminal) | endif
  })
enddef

# Goes to the terminal or, from there, back.
export def Focus(words: string, mods: string)
  Choose(words, mods, (terminal, is_new) => {
    if is_new || !IsInside(terminal) | Go(terminal, mods) | else | GoBack(terminal) | endif
  })
enddef

# Pastes a text into the terminal, and presses Enter after it if `is_sent`. Nothing in the text acts as a key: control
# characters become spaces.
export def Type(text: string, is_sent: bool)
  const clean = text->substitute('\t', repeat(' ', &tabstop), 'g')
    ->substitute('[\x01-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]', ' ', 'g')
  const terminal = Receiver()
  if has_key(terminal, 'buffer')
    # Vim knows whether the program understands a bracketed paste.
    term_sendkeys(terminal.buffer, "\<PasteStart>" .. substitute(clean, "\n", "\r", 'g') .. "\<PasteEnd>")
    # Enter comes later: at once, the agent could take it for a part of the paste.
    if is_sent | timer_start(150, (_) => term_sendkeys(terminal.buffer, "\r")) | endif
  elseif has_key(terminal, 'pane')
    tmux.Type(terminal, clean, is_sent)
  elseif has_key(terminal, 'Type')
    terminal.Type(clean, is_sent)
  elseif !empty(terminal)
    ui.Warn('this terminal takes no text')
  endif
enddef

# Presses Escape in the terminal, which interrupts the agent.
export def Interrupt()
  const terminal = Receiver()
  if has_key(terminal, 'buffer')
    term_sendkeys(terminal.buffer, "\<Esc>")
  elseif has_key(terminal, 'pane')
    tmux.Press(terminal, 'Escape')
  elseif has_key(terminal, 'Interrupt')
    terminal.Interrupt()
  elseif !empty(terminal)
    ui.Warn('this terminal takes no keys')
  endif
enddef

# Returns the name of the terminal in which a process runs, or an empty string.
export def NameOf(process: number): string
  return copy(terminals)->filter((_, terminal) => IsAlive(terminal) && has_key(terminal, 'buffer')
    && job_info(term_getjob(terminal.buffer)).process == process)->get(0, {name: ''}).name
enddef

# Returns the names of terminals, for the completion.
export def Names(): list<string>
  return terminals->mapnew((_, terminal) => terminal.name)->sort()->uniq()
enddef

# --- How it is done.

# Splits a command into words as a shell does, with quotes and backslashes, but without any expansion.
export def Words(text: string): list<string>
  var [words, rest] = [[], text]
  while true
    rest = trim(rest, " \t", 1)
    if rest == '' | return words | endif
    var word = ''
    while rest != '' && rest !~ '^[ \t]'
      const part = matchstr(rest, '^\%(''[^'']*''\|"\%([^"\\]\|\\.\)*"\|\\.\|[^ \t''"\\]\+\|\\$\)')
      if part == '' | throw $'a quotation mark is not closed: {rest}' | endif
      rest = strpart(rest, len(part))
      word ..= part[0] == "'" ? part[1 : -2] : part[0] == '"' ? substitute(part[1 : -2], '\\\([$`"\\]\)', '\1', 'g')
        : substitute(part, '^\\\(.\)', '\1', '')
    endwhile
    words->add(word)
  endwhile
  return words
enddef

# Returns the terminal that gets what the person sends: the one used last in the current folder or, if there is none,
# the one used last. If there is no terminal at all, says so and returns an empty dictionary.
def Receiver(): dict<any>
  filter(terminals, (_, terminal) => IsAlive(terminal))
  if empty(terminals) | ui.Warn('there is no terminal of an agent: `:IdeMcp open` opens one') | endif
  return copy(terminals)->filter((_, terminal) => terminal.folder == Folder())->get(0, get(terminals, 0, {}))
enddef

# Finds or starts the terminal that the words name, and calls a function with it and with whether it is new. The first
# word can be a name, such as `@review`, for one more terminal in the same folder. Without a name, the terminal used
# last in the folder is meant, and a new one has the name `@1`.
def Choose(text: string, mods: string, Then: func(dict<any>, bool))
  options.Read()
  const option = options.chosen.terminal
  var words: list<string>
  try | words = Words(text) | catch | ui.Warn(v:exception) | return | endtry
  const name = get(words, 0, '') =~ '^@[[:alnum:]_-]\+$' ? remove(words, 0) : ''
  filter(terminals, (_, terminal) => IsAlive(terminal))
  const [folder, inside] = [Folder(), copy(terminals)->filter((_, terminal) => IsInside(terminal))]
  const known = copy(terminals)->filter((_, terminal) => terminal.folder == folder && (name == '' || terminal.name == name))
  const found = name == '' && !empty(inside) ? inside[0] : get(known, 0, {})
  const Use = (terminal, is_new) => {
    filter(terminals, (_, other) => other isnot terminal)->insert(terminal)
    Then(terminal, is_new)
  }
  if !empty(found)
    if !empty(words)
      ui.Warn('the agent runs already, without these arguments: `open @NAME …` starts another one')
    endif
    tmux.IfAlive(found, () => Use(found, false), () => {
      filter(terminals, (_, other) => other isnot found)
      Choose(text, mods, Then)
    })
    return
  endif
  const command = (type(option.command) == v:t_list ? option.command : Words(option.command)) + words
  if !executable(command[0])
    ui.Warn($'{command[0]} is not in PATH: install it, or name the agent in g:ide_mcp.terminal.command')
    return
  endif
  if !isdirectory(folder) | ui.Warn($'the folder of the agent is not there: {folder}') | return | endif
  const size = option.size > 0 ? option.size : option.layout == 'float' ? 0.8 : 0.4
  WhenListening(() => Start({name: name ?? '@1', folder: folder, command: command, size: size, layout: option.layout,
    before: win_getid()}, option.provider, (terminal) => Use(terminal, true)))
enddef

# Returns the folder in which an agent starts.
def Folder(): string
  const Choice = options.chosen.terminal.folder
  if type(Choice) == v:t_func | return Choice() | endif
  if Choice != 'git' | return getcwd() | endif
  var folder = getcwd()
  while getftype(folder .. '/.git') == ''
    const parent = fnamemodify(folder, ':h')
    if parent == folder | return getcwd() | endif
    folder = parent
  endwhile
  return folder
enddef

# Calls a function once the sidecar listens, or after 5 s: an agent finds Vim by the environment with which it was
# started.
def WhenListening(Then: func())
  if sidecar.IsListening() | Then() | return | endif
  sidecar.Start()
  var rest = sidecar.IsRunning() ? 100 : 0
  timer_start(50, (timer) => {
    rest -= 1
    if rest > 0 && !sidecar.IsListening() | return | endif
    timer_stop(timer)
    Then()
  }, {repeat: -1})
enddef

# Starts an agent, and calls a function with its terminal.
def Start(terminal: dict<any>, Provider: any, Then: func(dict<any>))
  log.Add('info', $'starts {join(terminal.command)} in {terminal.folder}')
  # A program that is not a child of Vim does not inherit the variables, so its command sets them.
  const environment = sidecar.Environment()
  terminal.outside = ['env'] + environment->items()->mapnew((_, item) =>
    item[1] == null ? ['-u', item[0]] : [$'{item[0]}={item[1]}'])->flattennew() + terminal.command
  if type(Provider) == v:t_func
    const given = Provider(terminal)
    Then(extend(terminal, type(given) == v:t_dict ? given : type(given) == v:t_number && given > 0 ? {buffer: given}
      : {}))
  elseif type(Provider) == v:t_list
    const Plain = (words) => fnamemodify(Provider[0], ':t') == 'tmux' ? tmux.Plain(words) : words
    const words = Provider->mapnew((_, word) => word == '{folder}' ? Plain([terminal.folder])
      : word == '{command}' ? Plain(terminal.outside) : [word])->flattennew(1)
      + (index(Provider, '{command}') < 0 ? Plain(terminal.outside) : [])
    job_start(words, {cwd: terminal.folder, in_io: 'null', out_io: 'null', err_io: 'null', stoponexit: ''})
  elseif Provider == 'tmux'
    tmux.Start(terminal, Then)
  else
    const name = $'agent {terminal.command[0]} {terminal.name}'
    # `term_api` is empty, because what the agent prints, such as a file, could otherwise call functions.
    terminal.buffer = term_start(terminal.command, {hidden: true, term_name: name, cwd: terminal.folder, norestore: true,
      term_api: '', term_kill: 'term', exit_cb: (_, status) => timer_start(0, (_) => End(terminal, status))})
    for [option, value] in items({buflisted: false, bufhidden: 'hide'})
      setbufvar(terminal.buffer, $'&{option}', value)
    endfor
    Then(terminal)
  endif
enddef

# Called after an agent in a window of Vim has ended. If it failed, its window stays, with the last output.
def End(terminal: dict<any>, status: number)
  filter(terminals, (_, other) => other isnot terminal)
  if status != 0 | ui.Warn($'the agent ended with status {status}') | endif
  if status != 0 && IsShown(terminal) || !bufexists(terminal.buffer) | return | endif
  if IsShown(terminal) | Hide(terminal) | endif
  execute $'silent! bwipeout! {terminal.buffer}'
enddef

# Returns whether the agent of a terminal is running. Outside of Vim this is unknown, and the agent counts as running.
def IsAlive(terminal: dict<any>): bool
  return !has_key(terminal, 'buffer') || bufexists(terminal.buffer) && term_getstatus(terminal.buffer) =~ 'running'
enddef

def IsInside(terminal: dict<any>): bool
  return get(terminal, 'buffer') == bufnr()
enddef

def Popup(terminal: dict<any>): number
  return has_key(terminal, 'popup') && !empty(popup_getpos(terminal.popup)) ? terminal.popup : 0
enddef

# Returns whether the current tab shows a terminal.
def IsShown(terminal: dict<any>): bool
  return has_key(terminal, 'buffer') ? bufwinid(terminal.buffer) > 0 || Popup(terminal) > 0
    : has_key(terminal, 'IsShown') ? terminal.IsShown() : get(terminal, 'is_shown')
enddef

# Shows a terminal, and goes to it.
def Go(terminal: dict<any>, mods = '')
  if !has_key(terminal, 'buffer')
    if has_key(terminal, 'pane') | tmux.Show(terminal) | elseif has_key(terminal, 'Show') | terminal.Show() | endif
    return
  endif
  if IsInside(terminal) | return | endif
  if win_gettype() == 'popup' | popup_close(win_getid()) | endif
  if bufwinid(terminal.buffer) > 0
    terminal.before = win_getid()
    win_gotoid(bufwinid(terminal.buffer))
    TakeKeys()
    return
  endif
  Hide(terminal) # in other tabs
  terminal.before = win_getid()
  const [side, size] = [mods ?? get(sides, terminal.layout, ''), terminal.size]
  if side == '' # a popup
    const part = size > 1 ? 0.8 : size
    const [columns, rows] = [float2nr(&columns * part), float2nr(&lines * part)]
    const title = $' {strings.Line(terminal.command[0], 32)} {strings.Line(terminal.name, 32)} '
    terminal.popup = popup_create(terminal.buffer, {minwidth: columns, maxwidth: columns, minheight: rows,
      maxheight: rows, pos: 'center', border: [], zindex: 60, title: title})
    TakeKeys()
    return
  endif
  execute 'silent' side 'sbuffer' terminal.buffer
  TakeKeys()
  setlocal nonumber norelativenumber signcolumn=no nospell nolist
  if side !~ 'tab' && mods == ''
    const is_vertical = side =~ 'vert'
    const cells = size > 1 ? size : (is_vertical ? &columns : &lines) * size
    execute is_vertical ? 'vertical resize' : 'resize' float2nr(cells)
    if is_vertical | setlocal winfixwidth | else | setlocal winfixheight | endif
  endif
enddef

# Makes the agent get the next key, also if the person has left its Terminal-Job mode by CTRL-W N. If the terminal was
# not opened by a key, Vim takes the next key for a command, so this feeds one that does nothing.
def TakeKeys()
  feedkeys(mode(1) == 'nt' && term_getstatus('') =~ 'normal' ? 'i' : "\<Ignore>", 'n')
enddef

# Hides a terminal in all tabs. The agent goes on.
def Hide(terminal: dict<any>)
  if !has_key(terminal, 'buffer')
    if has_key(terminal, 'pane') | tmux.Hide(terminal) | elseif has_key(terminal, 'Hide') | terminal.Hide() | endif
    return
  endif
  const is_inside = IsInside(terminal)
  if Popup(terminal) > 0 | popup_close(terminal.popup) | endif
  for window in win_findbuf(terminal.buffer)
    if winnr('$') == 1 && tabpagenr('$') == 1 && window == win_getid()
      hide enew
    else
      win_execute(window, 'hide')
    endif
  endfor
  if is_inside | win_gotoid(terminal.before) | endif
enddef

# Goes from a terminal back to the window that was current before. Hides a popup, because it would keep the keys.
def GoBack(terminal: dict<any>)
  if Popup(terminal) > 0
    Hide(terminal)
  elseif !win_gotoid(terminal.before)
    win_gotoid(layout.FileWindow())
  endif
enddef

# --- For a proposal.

# Hides the popup with the terminal, because Vim cannot open a window from a popup. Returns whether there was one.
export def StepAside(): bool
  return SetAside(copy(terminals)->filter((_, terminal) => Popup(terminal) > 0 && IsInside(terminal)))
enddef

# Hides the terminal in the tab of a window. Returns whether there was one.
export def Leave(window: number): bool
  const tab = win_id2tabwin(window)[0]
  return SetAside(copy(terminals)->filter((_, terminal) => tab > 0 && has_key(terminal, 'buffer')
    && index(tabpagebuflist(tab), terminal.buffer) >= 0))
enddef

# Hides the first of these terminals. Returns whether there was one.
def SetAside(shown: list<dict<any>>): bool
  if empty(shown) | return false | endif
  aside = shown[0]
  Hide(aside)
  return true
enddef

# Shows the terminal again that was hidden to make room.
export def Return()
  if index(terminals, aside) >= 0 | Go(aside) | endif
enddef
