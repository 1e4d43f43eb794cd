vim9script
# Decides when something is shown: only when the person does not type and pauses, because a new window would take the
# next keys.

import autoload './files.vim'
import autoload './proposals.vim'
import autoload './sidecar.vim'
import autoload './ui.vim'

export const quiet = 0.5 # seconds without a key before a view opens, which would take the next keys

# What waits until the person stops typing: proposals, questions about agents, files, and views to close. `act` shows
# it, and `is_next` returns whether nothing else holds it up.
export var waiting: list<dict<any>> = []

var is_opening = false # whether a view is just opening: its autocommands can make Vim read the next event
var last_key = reltime() # the time of the last key
var [clock, watcher] = [0, 0] # the timer for the end of `quiet`, and the popup that sees the person's keys
# Whether the next proposal waits for a key, because the agent withdrew the one on the screen: the person could take the
# next one for it, and accept a text that they have not read.
var is_held = false

export def IsHeld(): bool
  return is_held
enddef

export def Hold()
  is_held = true
enddef

# Lets an event wait until the person stops typing.
export def Wait(event: dict<any>, Act: func, IsNext: func)
  waiting->add(extend(event, {act: Act, is_next: IsNext}))
enddef

# Closes a view, by calling a function, when the person does not type and before another view opens. If the person has
# not decided on it, it also waits for a pause.
export def CloseLater(Close: func, is_decided = false)
  waiting->insert({event: 'close', act: (_) => Close(), is_next: () => true, is_decided: is_decided})
enddef

# Shows what waits at once, because the person asked for it.
export def Now(event: dict<any>)
  if is_opening || IsTyping() | return | endif
  filter(waiting, (_, other) => other isnot event)
  Show(event)
enddef

def Show(event: dict<any>)
  is_opening = true
  try | Attempt(event, event.act) | finally | is_opening = false | endtry
enddef

# Runs the function of an event. If the function fails, the call of the event fails.
export def Attempt(event: dict<any>, Act: func)
  const process = sidecar.Process() # another process may run when the function returns
  try
    Act(event)
  catch
    ui.Warn(v:exception)
    if process != sidecar.Process() || !has_key(event, 'call') | return | endif
    proposals.CloseView(event.call)
    sidecar.Send({cmd: 'fail', call: event.call, message: v:exception})
    redrawstatus!
  endtry
enddef

# Returns whether the person types. The command-line window counts as well: Vim cannot open or close other windows in
# it.
export def IsTyping(): bool
  return index(['n', 'nt', 'v', 'V', "\<C-V>", 't'], mode(1)) < 0 || getcmdwintype() != ''
enddef

# Returns whether the current tab shows a proposal.
export def IsReviewing(): bool
  return bufexists(get(t:, 'ide_mcp_proposal', -1))
enddef

# Returns whether the person pauses, with no command or mapping half typed. In a terminal, only the popup sees keys.
const IsQuiet = (): bool => reltimefloat(reltime(last_key)) >= quiet
  && (mode(1) == 't' ? watcher != 0 : state('mS') == '')

# After `:normal` in a callback, Vim says that a command is half typed until the next key comes. So this feeds a key
# that does nothing, and that does not end a command.
def Settle()
  if mode(1) != 't' && state('mS') == 'S' | feedkeys("\<Ignore>", 'n') | endif
enddef

# Shows what waits if the person pauses; without the pause, a new window would take the next keys. A view on which the
# person has decided closes without a pause.
export def GoOn()
  const is_quiet = IsQuiet()
  while !is_opening && !IsTyping()
    const next = indexof(waiting, (_, event) => (is_quiet || get(event, 'is_decided')) && event.is_next())
    if next < 0 | break | endif
    Show(remove(waiting, next))
    Settle()
  endwhile
  if !is_held && !files.IsUnseen() && (empty(waiting) || mode(1) != 't')
    popup_close(watcher)
    watcher = 0
  elseif empty(popup_getpos(watcher)) # another plugin can have closed it
    Watch()
  endif
  # While the person types no timer is needed: the end of typing triggers an event.
  if !is_quiet && clock == 0 && !empty(waiting) && !IsTyping()
    const rest = float2nr(1000 * (quiet - reltimefloat(reltime(last_key))))
    clock = timer_start(max([rest + 1, 50]), (_) => { # Vim can be busy for a moment after the pause
      clock = 0
      Settle()
      GoOn()
    })
  endif
enddef

# Calls GoOn() after a command of the person: in a terminal no event does.
export def GoOnSoon()
  timer_start(0, (_) => GoOn())
enddef

# Called after a key outside of terminals: remembers its time, and goes on with what it has decided.
export def KeyWasTyped()
  last_key = reltime()
  GoOn()
enddef

# Called for a key of the person, who has seen the windows of the current tab.
def OnKey()
  files.MarkSeen()
  [last_key, is_held] = [reltime(), false]
enddef

# Waits for a key of the person by an invisible popup, which sees each key first. In a terminal, keys trigger no events;
# elsewhere, an event does not say whether the person pressed the key, or Vim or a plugin fed it. Vim closes the popup
# at CTRL-C.
def Watch()
  const Filter = (_, key) => {
    if index(["\<Ignore>", "\<CursorHold>", "\<FocusGained>", "\<FocusLost>", "\<MouseMove>"], key) < 0
      OnKey()
      GoOnSoon()
    endif
    return false
  }
  const Return = (popup, result) => {
    if result != -1 || popup != watcher | return | endif
    watcher = 0
    OnKey()
    feedkeys("\<C-C>", 'ni') # ahead of keys that came since
    GoOnSoon()
  }
  if mode(1) == 't' | last_key = reltime() | endif # earlier keys are not known
  watcher = popup_create(' ', {line: 1, col: 1, mask: [[1, 1, 1, 1]], zindex: 32000, tabpage: -1, filter: Filter,
    callback: Return})
enddef
