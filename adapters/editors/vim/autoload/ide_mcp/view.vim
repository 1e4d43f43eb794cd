vim9script
# The view of a proposal: the file, and the proposal, which can be edited. Writing the proposal accepts it, and closing it
# rejects it.

import autoload './files.vim'
import autoload './inline.vim'
import autoload './plain.vim'
import autoload './proposals.vim'
import autoload './sidecar.vim'
import autoload './terminal.vim'
import autoload './turns.vim'

const unread = 0.5 # seconds in which a view accepts nothing: who began to write a file when it opened has not read it
const max_kept = 8 # texts that stay after their proposals were withdrawn: each can have some MiB, and none is thrown away

# Above these limits Vim would keep the person waiting. The figures are those of Vim 9.0 on a machine with other work.
const max_diff = 4 * 1024 * 1024 # bytes of both sides of a diff: 7 MB take 0.3 s, also after each edit
const max_changes = 20'000 # lines from the first change to the last: 0.1 s, and 50,000 with folds 5 s
const max_folds = 50'000'000 # changes times lines in a diff with folds, which Vim checks one by one: 0.2 s
const max_syntax = 8 * 1024 # bytes of each side of a diff with syntax: brackets take 0.3 s at `G`, of 16 KiB over 0.5 s
const max_syntax_line = 256 # bytes of a line of it: lines of 2,000 take 2 s in 64 KiB of HTML, and over 4 s in C
const max_line = 64 * 1024 # bytes of a line that is highlighted or wrapped: 0.02 s for each key, of 1 MB 0.15 s

var kept: list<number> = [] # the buffers with what the person typed into proposals that were withdrawn
var views: dict<dict<func>> = {} # what follows if the buffer of a proposal is written, is entered, or ends

# Shows a proposal: the event `diff` (docs/sidecar.md), with `client`, and with `accept(text)` and `reject()`, of which
# the first call counts. Returns a function that closes the view. Adds what a person can do from another window: `decide`,
# `go` to the view, and `shelve` it, for another proposal.
export def Show(proposal: dict<any>): func
  const open = files.Buffer(proposal.old_path)
  const old = Split(open > 0 ? Join(open, "\n") : get(proposal, 'old', ''))
  const new = get(proposal, 'draft', Split(proposal.contents))
  const [limit, has_folds] = Limits(old, new)
  const has_syntax = limit == '' && IsSmall(old) && IsSmall(new)
  const root = Root(proposal)
  const warning = proposal.outside ? 'OUTSIDE: ' : ''
  const name = plain.Line(plain.Tail(proposal.label), 64)
  proposal.keys = ':w accepts, :q rejects. '
  sidecar.ReadOptions()
  const from_terminal = terminal.StepAside()
  const [before, windows, sizes] = [win_getid(), getwininfo()->map((_, window) => window.winid), winrestcmd()]
  const [layout, around] = [Layout(), WindowsOf(before)]
  var [former, proposed, tick] = [0, 0, 0] # the two buffers, and the state of the second before the person edits it
  var [is_open, is_inside_now] = [false, false]
  const End = () => {
    const is_inside = layout == 'tab' ? turns.IsReviewing() && t:ide_mcp_proposal == proposed
      : index([former, proposed], bufnr()) >= 0
    if is_inside | win_gotoid(before) | endif
    feedkeys("\<Ignore>", 'n') # a terminal receives the next key
    # The person has shown it in the tab of the proposal, which would stay for it.
    const has_moved = layout == 'tab' && terminal.Leave(get(win_findbuf(former) + win_findbuf(proposed), 0))
    # Those of a view that failed early have only names.
    const named = getbufinfo()->filter((_, info) => stridx(info.name, root) == 0)->map((_, info) => info.bufnr)
    for buffer in extend([former, proposed], named)
      if buffer > 0 && bufexists(buffer) | execute $'silent! bwipeout! {buffer}' | endif
    endfor
    if layout != 'tab' && WindowsOf(before) == around | win_execute(before, sizes) | endif
    TabLine()
    if from_terminal && win_getid() == before | terminal.Return() | endif
    if has_moved
      terminal.Return()
      win_gotoid(before)
    endif
  }
  const Close = () => {
    if is_open && getbufvar(proposed, '&modified', false) | KeepBuffer(proposal, proposed) | endif
    End()
  }
  const IsChanged = (): bool => has_key(proposal, 'draft') || getbufvar(proposed, 'changedtick') != tick

  try
    former = Fill($'{root}file/{name}', old,
      {warning: warning, text: (limit == '' ? '' : $'no highlighting, {limit}: ') .. plain.Line(proposal.label, 64)})
    proposed = Fill($'{root}proposal/{name}', new,
      {warning: warning, proposal: proposal, text: $'{proposal.client} proposes {plain.Line(proposal.label, 64)}'})
    tick = getbufvar(proposed, 'changedtick')
    if layout != 'tab' | GoToFile() | endif
    const room = winheight(0)
    execute 'silent' get({tab: 'tab'}, layout, 'belowright') 'sbuffer' (layout == 'inline' ? proposed : former)
    # At 80 columns each side has 40: what decides stands first, and of what is too long the beginning is cut, so that
    # the name of the file stays.
    if layout != 'inline'
      CheckShown(former, root)
      setlocal nomodifiable statusline=\ %{b:ide_mcp.warning}%{ide_mcp#view#Note()}%<%{b:ide_mcp.text}\ 
      if layout != 'tab' | execute 'resize' room * 3 / 4 | endif
      execute 'silent' (layout == 'horizontal' ? 'belowright' : 'rightbelow vertical') 'sbuffer' proposed
    endif
    if layout == 'inline' | execute 'resize' room * 3 / 4 | endif
    CheckShown(proposed, root)
    &l:statusline = ' %{b:ide_mcp.warning}%{b:ide_mcp.proposal.keys}' .. (layout == 'inline' ? '%{ide_mcp#view#Note()}' : '')
      .. '%<%{b:ide_mcp.text} %m'
    t:ide_mcp_proposal = proposed
    for shown in layout == 'inline' ? [proposed] : [former, proposed]
      win_gotoid(bufwinid(shown))
      setlocal bufhidden=wipe
      Highlight(proposal, limit, has_folds, has_syntax, layout != 'inline')
      CheckShown(shown, root)
    endfor
    setbufvar(proposed, '&buftype', 'acwrite')
    if layout == 'inline' && limit == ''
      inline.Mark(proposed, old.text->split(old.line_end, true), new.text->split(new.line_end, true))
    elseif limit == '' && diff_hlID(1, 1) == 0
      execute 'silent! normal! ]c'
    endif
    if layout == 'tab' | t:ide_mcp_label = $'{name}: proposal' | endif
    TabLine()
  catch
    # A view that fails to open leaves nothing behind.
    const failure = v:exception
    for window in getwininfo()
      if index(windows, window.winid) < 0 | win_execute(window.winid, 'silent! close!') | endif
    endfor
    End()
    throw failure
  endtry
  const has_focus = sidecar.options.focus
  if !has_focus
    win_gotoid(before)
    plain.Warn($'{plain.FileName(proposal.label, 40)}: :IdeMcp accept or reject')
  endif
  redraw
  is_open = true
  # The time since which the person can have read it. A tab in the background shows nothing.
  proposal.opened = has_focus || layout != 'tab' ? reltime() : []

  const Settle = () => {
    setbufvar(proposed, '&modified', false)
    turns.CloseLater(Close, true) # at once, the rest of :wq would close another window
  }
  const Accept = (): bool => proposal.accept(IsChanged() ? Join(proposed, new.line_end) .. new.last_end : proposal.contents)
  const Write = () => {
    # In such a window Vim writes a buffer that the current tab does not show, as :wa and 'autowrite' do.
    if win_gettype() == 'autocmd' | plain.Warn('a proposal is accepted in its own tab only') | return | endif
    # Here it writes that of another window of the tab.
    if !is_inside_now | plain.Warn('a proposal is accepted in its own window, or by :IdeMcp accept') | return | endif
    if IsUnread(proposal)
      const is_modified = getbufvar(proposed, '&modified')
      setbufvar(proposed, '&modified', true) # else :wq goes on, and rejects
      timer_start(0, (_) => setbufvar(proposed, '&modified', is_modified))
      plain.Warn('the proposal has just opened, and is not accepted yet')
      return
    endif
    if Accept() | Settle() | endif # otherwise the view closes soon, and what is typed stays
  }
  const Leave = () => {
    proposal.reject()
    Settle()
  }
  const Enter = () => {
    is_inside_now = true
    if empty(proposal.opened) | proposal.opened = reltime() | endif
  }
  const Go = () => {
    is_inside_now = false
  }
  is_inside_now = has_focus
  views[proposed] = {write: Write, end: Leave, enter: Enter, leave: Go}

  proposal.go = () => {
    win_gotoid(bufwinid(proposed) > 0 ? bufwinid(proposed) : get(win_findbuf(proposed), 0))
  }
  proposal.decide = (is_accepted) => {
    if is_accepted && empty(proposal.opened)
      proposal.go()
      plain.Warn('read the proposal first, and then accept it')
    elseif is_accepted && IsUnread(proposal)
      plain.Warn('the proposal has just opened, and is not accepted yet')
    elseif is_accepted ? Accept() : proposal.reject()
      Settle()
    endif
  }
  proposal.shelve = () => {
    if IsChanged()
      proposal.draft = extendnew(new, {text: Join(proposed, new.line_end)})
    endif
    remove(views, proposed)
    End()
  }
  return Close
enddef

# Returns what a status line of the view says of other proposals.
export def Note(): string
  const note = proposals.Note()
  return note == '' ? '' : $'({note}) '
enddef

# Returns whether the person cannot have read a proposal yet.
export def IsUnread(proposal: dict<any>): bool
  return empty(proposal.opened) || reltimefloat(reltime(proposal.opened)) < unread
enddef

# Executes what follows if a buffer is written or entered, or ends.
export def On(event: string, buffer: string)
  if !has_key(views, buffer) | return | endif
  const View = views[buffer]
  if event == 'end' | remove(views, buffer) | endif
  if has_key(View, event) | View[event]() | endif
enddef

# Returns the layout of a proposal. A diff in a tab with other windows of a diff would compare all of them.
def Layout(): string
  const layout = sidecar.options.layout
  const has_diff = gettabinfo(tabpagenr())[0].windows->indexof((_, window) => getwinvar(window, '&diff')) >= 0
  return index(['vertical', 'horizontal', 'inline'], layout) < 0 || (has_diff && layout != 'inline') ? 'tab' : layout
enddef

# Returns the windows of the tab with a window.
def WindowsOf(window: number): list<number>
  const tab = win_id2tabwin(window)[0]
  return tab == 0 ? [] : gettabinfo(tab)[0].windows
enddef

# Goes to a window with a file: neither the terminal of an agent nor a tree of files makes room for a proposal.
def GoToFile()
  const files_first = ([win_getid()] + gettabinfo(tabpagenr())[0].windows)
    ->filter((_, window) => files.IsFile(winbufnr(window)) && !getwinvar(window, '&previewwindow'))
  if !empty(files_first) | win_gotoid(files_first[0]) | endif
enddef

# Shows a label that a person knows in the line of the tabs, unless another plugin or the person makes this line: the name
# of the buffer of a proposal has to be one that no file has.
def TabLine()
  const [mine, mine_gui] = ['%!ide_mcp#view#Tabs()', '%{ide_mcp#view#Label(v:lnum)}']
  const is_needed = range(1, tabpagenr('$'))->indexof((_, tab) => Label(tab) != '') >= 0
  if index(['', mine], &tabline) >= 0 | &tabline = is_needed ? mine : '' | endif
  if exists('+guitablabel') && index(['', mine_gui], &guitablabel) >= 0 | &guitablabel = is_needed ? mine_gui : '' | endif
enddef

# Returns the label of a tab with a proposal, and an empty text for other tabs, for which Vim has one.
export def Label(tab: number): string
  return bufexists(gettabvar(tab, 'ide_mcp_proposal', -1)) ? gettabvar(tab, 'ide_mcp_label', '') : ''
enddef

# Returns what Vim shows of a tab: the number of its windows, a mark of changes, and the name of the file.
export def TabText(tab: number): string
  const [buffers, window] = [tabpagebuflist(tab), tabpagewinnr(tab)]
  const is_changed = buffers->indexof((_, buffer) => getbufvar(buffer, '&modified')) >= 0
  const marks = (len(buffers) > 1 ? $'{len(buffers)}' : '') .. (is_changed ? '+' : '')
  const name = Label(tab) ?? pathshorten(fnamemodify(bufname(buffers[window - 1]), ':~:.')) ?? '[No Name]'
  return $' {marks}{marks == "" ? "" : " "}{plain.Line(name, 40)} '
enddef

# Returns the line of the tabs. A name is a value of an expression, and no part of the format.
export def Tabs(): string
  return range(1, tabpagenr('$'))->mapnew((_, tab) =>
    $'%#{tab == tabpagenr() ? "TabLineSel" : "TabLine"}#%{tab}T%{{ide_mcp#view#TabText({tab})}}')->join('')
    .. '%#TabLineFill#%T%=%#TabLine#%999XX'
enddef

# Returns the beginning of the names of buffers. No agent can guess it, and so no folder has it, which a plugin would list
# in place of the buffer.
const Root = (proposal: dict<any>): string =>
  printf('ide-mcp://%d-%08x%08x/', proposal.call, rand(srand()), rand(srand()))

# Fails if too many texts of withdrawn proposals stay.
export def CheckKept()
  if len(filter(kept, (_, buffer) => bufloaded(buffer))) >= max_kept
    throw $'{max_kept} texts of withdrawn proposals stay until the person closes one: see `:ls`'
  endif
enddef

# Keeps what the person has typed into a proposal that was withdrawn, in a listed buffer without a file. It counts as
# modified, so Vim does not end over it.
def KeepBuffer(proposal: dict<any>, proposed: number)
  KeepText(proposal, Join(proposed, "\n"))
enddef

export def KeepDraft(proposal: dict<any>)
  KeepText(proposal, proposal.draft.text->substitute("\r\n", "\n", 'g'))
enddef

def KeepText(proposal: dict<any>, typed: string)
  const name = $'{Root(proposal)}withdrawn/{plain.Line(plain.Tail(proposal.label), 64)}'
  const buffer = Fill(name, {text: typed, line_end: "\n", last_end: ''}, {})
  for [option, value] in items({buftype: 'acwrite', buflisted: true, modified: true})
    setbufvar(buffer, $'&{option}', value)
  endfor
  views[buffer] = {write: () => plain.Warn('this proposal was withdrawn. `:w FILE` writes your text to a file')}
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
    ->map((_, line) => tr(line, "\n", plain.nul))->join(line_end))->join(line_end)
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
    appendbufline(buffer, '$', stridx(part, plain.nul) < 0 ? lines : lines->map((_, line) => tr(line, plain.nul, "\n")))
    from = (end < 0 ? size : end) + 1
  endwhile
  deletebufline(buffer, 1)
  setbufvar(buffer, '&undolevels', -123456) # that of all buffers
  setbufvar(buffer, '&modified', false)
  return buffer
enddef

# Highlights the buffer of a proposal in the current window. The plugins of a file type are not for the text of an
# agent, so the type is only looked up.
def Highlight(proposal: dict<any>, limit: string, has_folds: bool, has_syntax: bool, is_diff: bool)
  if has_folds && is_diff
    diffthis
  else
    setlocal nowrap nospell foldmethod=manual nofoldenable
    if limit == '' && is_diff | setlocal diff scrollbind cursorbind | endif
  endif
  if !has_syntax | return | endif
  const open = files.Buffer(proposal.path)
  var type = open > 0 ? getbufvar(open, '&syntax') : ''
  if open == 0 && plain.Tail(proposal.label) !~ '[`$|%#*?{}<>"\\;&!]\|\A\@<=\~'
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
