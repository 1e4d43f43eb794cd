vim9script
# The view of a proposal: the file, and the proposal, which can be edited. Writing the proposal accepts it, and closing it
# rejects it.

import autoload './files.vim'
import autoload './inline.vim'
import autoload './layout.vim'
import autoload './options.vim'
import autoload './proposals.vim'
import autoload './sides.vim'
import autoload './strings.vim'
import autoload './terminal.vim'
import autoload './turns.vim'
import autoload './ui.vim'

const unread = 0.5 # seconds in which a new view accepts nothing: a `:w` begun before was not meant for it
const max_kept = 8 # texts of withdrawn proposals that are kept: each can have some MiB, and none is thrown away

var kept: list<number> = [] # the buffers with what the person typed into proposals that were withdrawn
var views: dict<dict<func>> = {} # what to call if the buffer of a proposal is written, entered, left or wiped out

# Shows a proposal: the event `diff` (docs/sidecar.md), with `client`, and with `accept(text)` and `reject()`, of which
# the first call counts. Returns a function that closes the view. Adds what a person can do from another window: `decide`,
# `go` to the view, and `shelve` it to make room for another proposal.
export def Show(proposal: dict<any>): func
  const open = files.Buffer(proposal.old_path)
  const old = sides.Split(open > 0 ? sides.Join(open, "\n") : get(proposal, 'old', ''))
  # `is_aside`: a terminal has made room. `before`, `sizes` and `around` are there to restore the windows at the end.
  # The buffers `former` and `proposed` come later; `tick` is the state of `proposed` before the person edits it.
  var view = {proposal: proposal, old: old, new: get(proposal, 'draft', sides.Split(proposal.contents)),
    root: Root(proposal), is_aside: terminal.StepAside(), former: 0, proposed: 0, tick: 0, is_open: false,
    is_inside: options.chosen.focus}
  view->extend({layout: layout.Choose(), before: win_getid(), sizes: winrestcmd(), around: layout.WindowsOf(win_getid())})
  const windows = getwininfo()->map((_, window) => window.winid)
  proposal.keys = ':w accepts, :q rejects. '
  try
    Fill(view)
    Place(view)
  catch
    # A view that fails to open leaves nothing behind.
    const failure = v:exception
    for window in getwininfo()
      if index(windows, window.winid) < 0 | win_execute(window.winid, 'silent! close!') | endif
    endfor
    End(view)
    throw failure
  endtry
  if !options.chosen.focus
    win_gotoid(view.before)
    ui.Warn($'{strings.FileName(proposal.label, 40)}: :IdeMcp accept or reject')
  endif
  redraw
  view.is_open = true
  # When the person could first read it. Empty for a tab in the background, which nobody has seen yet.
  proposal.opened = options.chosen.focus || view.layout != 'tab' ? reltime() : []
  views[view.proposed] = {write: () => Write(view), end: () => Leave(view), enter: () => Enter(view),
    leave: () => extend(view, {is_inside: false})}
  return extend(proposal, {go: () => Go(view), decide: (is_accepted) => Decide(view, is_accepted),
    shelve: () => Shelve(view), close: () => Close(view)}).close
enddef

# Makes the buffers of both sides.
def Fill(view: dict<any>)
  const [proposal, label] = [view.proposal, strings.Line(view.proposal.label, 64)]
  const [limit, has_folds, has_characters] = sides.Limits(view.old, view.new)
  view->extend({limit: limit, has_folds: has_folds, has_characters: has_characters})
  view.has_syntax = limit == '' && sides.IsSmall(view.old) && sides.IsSmall(view.new)
  view.name = strings.Line(strings.Tail(proposal.label), 64)
  const warning = proposal.outside ? 'OUTSIDE: ' : ''
  const reason = limit == '' ? '' : $'no highlighting, {limit}: '
  view.former = sides.Fill($'{view.root}file/{view.name}', view.old, {warning: warning, text: reason .. label})
  view.proposed = sides.Fill($'{view.root}proposal/{view.name}', view.new, {warning: warning, proposal: proposal,
    text: (view.layout == 'inline' ? reason : '') .. $'{proposal.client} proposes {label}'})
  view.tick = getbufvar(view.proposed, 'changedtick')
enddef

# Shows the buffers in windows. At 80 columns each side has 40, so the status line begins with the keys that decide, and
# a label that is too long loses its beginning: the name of the file stays.
def Place(view: dict<any>)
  const [is_tab, is_inline] = [view.layout == 'tab', view.layout == 'inline']
  if !view.has_characters && &diffopt =~ 'inline:\%(char\|word\)'
    view.diffopt = &diffopt
    &diffopt = substitute(&diffopt, 'inline:\%(char\|word\)', 'inline:simple', '')
  endif
  if !is_tab | win_gotoid(layout.FileWindow()) | endif
  const room = winheight(0) * 3 / 4
  execute 'silent' (is_tab ? 'tab' : 'belowright') 'sbuffer' (is_inline ? view.proposed : view.former)
  if !is_tab | execute 'resize' room | endif
  if !is_inline
    CheckShown(view.former, view.root)
    setlocal nomodifiable statusline=\ %{b:ide_mcp.warning}%{ide_mcp#view#Note()}%<%{b:ide_mcp.text}\ 
    execute 'silent' (view.layout == 'horizontal' ? 'belowright' : 'rightbelow vertical') 'sbuffer' view.proposed
  endif
  CheckShown(view.proposed, view.root)
  &l:statusline = ' %{b:ide_mcp.warning}%{b:ide_mcp.proposal.keys}' .. (is_inline ? '%{ide_mcp#view#Note()}' : '')
    .. '%<%{b:ide_mcp.text} %m'
  t:ide_mcp_proposal = view.proposed
  for shown in is_inline ? [view.proposed] : [view.former, view.proposed]
    win_gotoid(bufwinid(shown))
    setlocal bufhidden=wipe
    sides.Highlight(view, !is_inline)
    CheckShown(shown, view.root)
  endfor
  setbufvar(view.proposed, '&buftype', 'acwrite')
  if is_inline && view.limit == ''
    inline.Show(view.old.text->split(view.old.line_end, true))
  elseif view.limit == '' && diff_hlID(1, 1) == 0
    execute 'silent! normal! ]c'
  endif
  if is_tab | t:ide_mcp_label = $'{view.name}: proposal' | endif
  layout.TabLine()
enddef

# --- The end of a view.

def Close(view: dict<any>)
  if view.is_open && getbufvar(view.proposed, '&modified', false)
    KeepText(view.proposal, sides.Join(view.proposed, "\n"))
  endif
  End(view)
enddef

# Closes the windows and wipes out the buffers of a view. The other windows are as before.
def End(view: dict<any>)
  const [before, is_tab] = [view.before, view.layout == 'tab']
  const is_inside = is_tab ? turns.IsReviewing() && t:ide_mcp_proposal == view.proposed
    : index([view.former, view.proposed], bufnr()) >= 0
  if is_inside | win_gotoid(before) | endif
  feedkeys("\<Ignore>", 'n') # a terminal receives the next key
  # A terminal that the person has shown in the tab of the proposal would keep the tab open.
  const has_left = is_tab && terminal.Leave(get(win_findbuf(view.former) + win_findbuf(view.proposed), 0))
  # The buffers of a view that failed early are known only by their names.
  const named = getbufinfo()->filter((_, info) => stridx(info.name, view.root) == 0)->map((_, info) => info.bufnr)
  for buffer in [view.former, view.proposed] + named
    if buffer > 0 && bufexists(buffer) | execute $'silent! bwipeout! {buffer}' | endif
  endfor
  if has_key(view, 'diffopt') | &diffopt = view.diffopt | endif
  if !is_tab && layout.WindowsOf(before) == view.around | win_execute(before, view.sizes) | endif
  layout.TabLine()
  if has_left || view.is_aside && win_getid() == before | terminal.Return() | endif
  if has_left | win_gotoid(before) | endif
enddef

# Closes the view a moment later: if it closed at once, the `q` of `:wq` would close another window.
def CloseSoon(view: dict<any>)
  setbufvar(view.proposed, '&modified', false)
  turns.CloseLater(() => Close(view), true)
enddef

# --- What the person does.

# Returns whether the person cannot have read a proposal yet.
export def IsUnread(proposal: dict<any>): bool
  return empty(proposal.opened) || reltimefloat(reltime(proposal.opened)) < unread
enddef

def IsChanged(view: dict<any>): bool
  return has_key(view.proposal, 'draft') || getbufvar(view.proposed, 'changedtick') != view.tick
enddef

# Accepts the text of a view. Returns whether the proposal was still open.
def Accept(view: dict<any>): bool
  const [proposal, new] = [view.proposal, view.new]
  return proposal.accept(IsChanged(view) ? sides.Join(view.proposed, new.line_end) .. new.last_end : proposal.contents)
enddef

def Write(view: dict<any>)
  const proposed = view.proposed
  # In such a window, Vim writes a buffer that the current tab does not show, for :wa and 'autowrite'.
  if win_gettype() == 'autocmd' | ui.Warn('a proposal is accepted in its own tab only') | return | endif
  # They also write the buffer if it is in another window of the current tab.
  if !view.is_inside | ui.Warn('a proposal is accepted in its own window, or by :IdeMcp accept') | return | endif
  if IsUnread(view.proposal)
    const is_modified = getbufvar(proposed, '&modified')
    setbufvar(proposed, '&modified', true) # otherwise :wq goes on to `q`, which rejects
    timer_start(0, (_) => setbufvar(proposed, '&modified', is_modified))
    ui.Warn('not accepted: the proposal has just opened. Read it first')
    return
  endif
  if Accept(view) | CloseSoon(view) | endif # otherwise it has ended: the view closes soon, and typed text is kept
enddef

def Leave(view: dict<any>)
  view.proposal.reject()
  CloseSoon(view)
enddef

def Enter(view: dict<any>)
  view.is_inside = true
  if empty(view.proposal.opened) | view.proposal.opened = reltime() | endif
enddef

def Go(view: dict<any>)
  const here = bufwinid(view.proposed)
  win_gotoid(here > 0 ? here : get(win_findbuf(view.proposed), 0))
enddef

def Decide(view: dict<any>, is_accepted: bool)
  if is_accepted && empty(view.proposal.opened)
    Go(view)
    ui.Warn('not accepted: read the proposal first')
  elseif is_accepted && IsUnread(view.proposal)
    ui.Warn('not accepted: the proposal has just opened. Read it first')
  elseif is_accepted ? Accept(view) : view.proposal.reject()
    CloseSoon(view)
  endif
enddef

def Shelve(view: dict<any>)
  if IsChanged(view)
    view.proposal.draft = extendnew(view.new, {text: sides.Join(view.proposed, view.new.line_end)})
  endif
  remove(views, view.proposed)
  End(view)
enddef

# Calls the function for an event of a buffer: "write", "enter", "leave" or "end".
export def On(event: string, buffer: string)
  if !has_key(views, buffer) | return | endif
  const View = views[buffer]
  if event == 'end' | remove(views, buffer) | endif
  if has_key(View, event) | View[event]() | endif
enddef

# Returns what the status line of a view says about other proposals.
export def Note(): string
  const note = proposals.Note()
  return note == '' ? '' : $'({note}) '
enddef

# --- Texts that are kept.

# Returns the prefix of the names of a view's buffers. It is random, because an agent that could guess it could make a
# folder of this name, which a plugin would list instead of the buffer.
const Root = (proposal: dict<any>): string =>
  printf('ide-mcp://%d-%08x%08x/', proposal.call, rand(srand()), rand(srand()))

# Fails if too many texts of withdrawn proposals are kept.
export def CheckKept()
  if len(filter(kept, (_, buffer) => bufloaded(buffer))) >= max_kept
    throw $'close one of the {max_kept} withdrawn texts first: see `:ls`'
  endif
enddef

# Keeps what the person has typed into a proposal that was withdrawn while it waited again.
export def KeepDraft(proposal: dict<any>)
  KeepText(proposal, proposal.draft.text->substitute("\r\n", "\n", 'g'))
enddef

# Keeps what the person has typed into a proposal that was withdrawn, in a listed buffer without a file. It counts as
# modified, so Vim does not quit while it is there.
def KeepText(proposal: dict<any>, typed: string)
  const name = $'{Root(proposal)}withdrawn/{strings.Line(strings.Tail(proposal.label), 64)}'
  const buffer = sides.Fill(name, {text: typed, line_end: "\n", last_end: ''}, {})
  for [option, value] in items({buftype: 'acwrite', buflisted: true, modified: true})
    setbufvar(buffer, $'&{option}', value)
  endfor
  views[buffer] = {write: () => ui.Warn('this proposal was withdrawn. `:w FILE` writes your text to a file')}
  kept->add(buffer)
  proposal.kept = buffer
enddef

# Fails if the current window does not show a buffer of a view, as the view made it.
def CheckShown(buffer: number, root: string)
  if bufnr() != buffer || stridx(bufname(buffer), root) != 0 || empty(getbufvar(buffer, 'ide_mcp'))
    throw 'another plugin has taken the view of the proposal'
  endif
enddef
