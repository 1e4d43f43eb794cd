vim9script
# The proposals of agents: which one is shown, and what the person decides.

import autoload './agents.vim'
import autoload './events.vim'
import autoload './files.vim'
import autoload './options.vim'
import autoload './sidecar.vim'
import autoload './strings.vim'
import autoload './turns.vim'
import autoload './ui.vim'
import autoload './view.vim'

# The error if the sidecar is too old to check the files that agents name. Nothing of an agent is shown then.
export const no_gate = 'update ide-mcp: this sidecar does not check what agents name'

# The open proposals by call. One that is shown has `close`, which closes its view.
var proposals: dict<dict<any>> = {}

# Takes a proposal, the event `diff`. It is shown when the person pauses and no other one is on the screen.
export def Propose(event: dict<any>)
  if !has_key(event, 'label') | throw no_gate | endif
  const Answer = (members: dict<any>) => {
    if get(proposals, event.call, {}) isnot event
      if members.verdict == 'accept' | ui.Warn('nothing is accepted: the proposal has ended') | endif
      return false
    endif
    remove(proposals, event.call)
    event.is_decided = true
    sidecar.Send({cmd: 'answer', call: event.call}->extend(members))
    Emit('Decided', event, {verdict: members.verdict})
    if members.verdict != 'accept' | return true | endif
    var looks = 20 # the agent writes the file soon
    timer_start(250, (timer) => {
      looks -= 1
      if files.TakeIn(event, get(members, 'contents', event.contents), looks == 0) | timer_stop(timer) | endif
    }, {repeat: looks})
    return true
  }
  event.client = agents.Name(event.conn)
  event.accept = (text) => Answer({verdict: 'accept'}->extend(text == event.contents ? {} : {contents: text}))
  event.reject = () => Answer({verdict: 'reject'})
  proposals[event.call] = event
  Wait(event)
  Emit('Proposal', event)
enddef

# Tells the autocommands of the person about a proposal.
def Emit(name: string, proposal: dict<any>, more: dict<any> = {})
  const told = ['call', 'conn', 'client', 'path', 'label', 'outside']
  events.Emit(name, copy(proposal)->filter((member, _) => index(told, member) >= 0)->extend(more))
enddef

def Wait(event: dict<any>)
  turns.Wait(event, Open, () => !turns.IsHeld() && empty(Shown()))
enddef

def Open(proposal: dict<any>)
  view.CheckKept()
  const buffer = files.Buffer(proposal.old_path)
  proposal.compared = [buffer, getbufvar(buffer, 'changedtick')]
  proposal.opened = reltime()
  proposal.close = options.Read().show(proposal)
  if get(proposals, proposal.call, {}) isnot proposal | turns.CloseLater(() => Withdraw(proposal)) | endif
  redrawstatus! # one proposal less is waiting
enddef

# Ends a proposal on which the person has not decided.
export def CloseView(call: number, reason = '')
  filter(turns.waiting, (_, event) => get(event, 'call') != call)
  if !has_key(proposals, call) | return | endif
  const proposal = remove(proposals, call)
  [proposal.keys, proposal.reason] = ['ended, nothing is accepted. ', reason]
  Emit('Decided', proposal, {verdict: 'withdrawn'})
  redrawstatus!
  if has_key(proposal, 'close') || has_key(proposal, 'draft') | turns.CloseLater(() => Withdraw(proposal)) | endif
enddef

# Ends all proposals except those with these calls.
export def Keep(calls: list<number>)
  for call in Calls()
    if index(calls, call) < 0 | CloseView(call) | endif
  endfor
enddef

# Returns the calls of the open proposals, in the order in which they came.
def Calls(): list<number>
  return keys(proposals)->map((_, call) => str2nr(call))->sort('n')
enddef

# Closes the view of a proposal that has ended. If the person had not decided on it, the next proposal waits for a key.
def Withdraw(proposal: dict<any>)
  const is_shown = has_key(proposal, 'close')
  if get(proposal, 'is_decided') | proposal.close() | return | endif
  if is_shown
    turns.Hold()
    proposal.close()
    redraw # otherwise Vim would wipe the message when it redraws the closed view
  else
    view.KeepDraft(proposal)
  endif
  const is_withdrawn = index(['close_tab', 'closeAllDiffTabs', 'cancelled'], get(proposal, 'reason', '')) >= 0
  # At 80 columns the last sentence is cut: the status line says the same.
  const name = strings.FileName(proposal.label, max([15, v:echospace - 95]))
  ui.Warn((is_withdrawn ? $'the agent withdrew {name}. ' : $'the proposal for {name} ended. ')
    .. (has_key(proposal, 'kept') ? $'Your text: :b{proposal.kept}. ' : '')
    .. (is_shown ? 'The next proposal waits for a key' : ''))
enddef

# Returns how many proposals wait, for a status line.
export def Note(): string
  const count = CountWaiting()
  return count == 0 ? '' : $'{count} proposal' .. (count > 1 ? 's wait' : ' waits') .. (turns.IsHeld() ? ' for a key' : '')
enddef

def CountWaiting(): number
  return copy(turns.waiting)->filter((_, event) => event.event == 'diff')->len()
enddef

# --- What the person decides, from any window.

# Returns the proposal that is shown, or an empty dictionary.
def Shown(): dict<any>
  return values(proposals)->filter((_, proposal) => has_key(proposal, 'close'))->get(0, {})
enddef

# Returns the proposal that is shown. Otherwise says why there is none.
def ShownOrSay(): dict<any>
  const shown = Shown()
  if empty(shown)
    const is_open = CountWaiting() > 0
    ui.Warn('there is no proposal' .. (is_open ? ' on the screen: `:IdeMcp next` shows one' : ''))
  endif
  return shown
enddef

# Decides on the proposal that is shown, as `:w` and `:q` do in its window.
export def Decide(is_accepted: bool)
  const proposal = ShownOrSay()
  if empty(proposal) | return | endif
  if has_key(proposal, 'decide')
    proposal.decide(is_accepted)
  elseif view.IsUnread(proposal) && is_accepted # in a view of the person's own
    ui.Warn('not accepted: the proposal has just opened. Read it first')
  elseif is_accepted ? proposal.accept(proposal.contents) : proposal.reject()
    turns.CloseLater(proposal.close, true)
  endif
  turns.GoOnSoon()
enddef

# Shows the next or the previous proposal, in the order in which they came, instead of the one on the screen. From
# another tab, or if there is no other proposal, goes to the one on the screen.
export def Step(step: number)
  const calls = Calls()
  if empty(calls) | ui.Warn('there is no proposal') | return | endif
  const shown = Shown()
  if !empty(shown) && !turns.IsReviewing()
    SwitchTo(shown.call)
  else
    const at = empty(shown) ? (step > 0 ? -1 : 0) : index(calls, shown.call)
    SwitchTo(calls[(at + step) % len(calls)])
  endif
enddef

# Shows a proposal instead of the one on the screen. That one waits again, and keeps what was typed into it.
def SwitchTo(call: number)
  var [next, shown] = [proposals[call], Shown()]
  if turns.IsTyping() | ui.Warn('finish typing first') | return | endif
  if next is shown
    if has_key(shown, 'go') | shown.go() | endif
    return
  endif
  if !empty(shown)
    if !has_key(shown, 'shelve') | ui.Warn('first decide about the proposal that is shown') | return | endif
    shown.shelve()
    for member in ['close', 'decide', 'go', 'shelve'] | remove(shown, member) | endfor
    Wait(shown)
  endif
  turns.Now(next)
  redrawstatus!
enddef

# Shows all proposals, for the person to choose one.
export def Menu()
  const calls = Calls()
  if empty(calls) | ui.Warn('there is no proposal') | return | endif
  const names = calls->mapnew((_, call) => (has_key(proposals[call], 'close') ? '→ ' : '  ')
    .. (proposals[call].outside ? 'OUTSIDE: ' : '') .. strings.FileName(proposals[call].label, 64)
    .. (has_key(proposals[call], 'draft') ? ' (changed by you)' : '') .. ' of ' .. proposals[call].client)
  ui.Choose('Proposals', names, (choice) => {
    const call = calls[choice - 1]
    if has_key(proposals, call) | SwitchTo(call) | else | ui.Warn('the proposal has ended') | endif
  })
enddef
