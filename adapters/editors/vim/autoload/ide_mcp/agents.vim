vim9script
# The agents that are attached, and those that ask to.

import autoload './events.vim'
import autoload './log.vim'
import autoload './proposals.vim'
import autoload './sidecar.vim'
import autoload './strings.vim'
import autoload './terminal.vim'
import autoload './turns.vim'
import autoload './ui.vim'

# The attached agents by connection: `conn`, `name` to show, and the `folder` and the `process` that they reported.
export var attached: dict<dict<any>> = {}

var dialogs: dict<number> = {} # the open questions about agents, by connection
var target = 0 # the connection of the agent that gets the mentions; 0 for the one that was attached last

# Returns the name of an agent.
export def Name(conn: number): string
  return has_key(attached, conn) ? attached[conn].name : 'an agent'
enddef

# Returns the names of all agents, for the status line. An arrow marks the one that gets the mentions.
export def Names(): string
  return values(attached)->mapnew((_, agent) => (agent.conn == target ? '→' : '') .. agent.name)->join(', ')
enddef

# Has the person decide about an agent that waits for consent, one at a time.
export def Consent(event: dict<any>)
  turns.Wait(event, Ask, () => empty(dialogs))
enddef

# Asks the person whether an agent may attach. A key pressed while the person is typing does not count as an answer. The
# name is cut so that the question fits on one line: if it wrapped, its end could look like one of the answers.
def Ask(event: dict<any>)
  var last = reltime() # the time of the last key, also in a terminal
  const Filter = (dialog, key) => {
    const is_answer = !turns.IsTyping() && reltimefloat(reltime(last)) > turns.quiet
    last = reltime()
    return is_answer && key =~? '^[yn]$' && popup_filter_yesno(dialog, key)
  }
  const Answer = (dialog, choice) => {
    if get(dialogs, event.conn) != dialog | return | endif # CloseQuestion() has closed it
    remove(dialogs, event.conn)
    sidecar.Send({cmd: choice == 1 ? 'allow' : 'disconnect', conn: event.conn})
  }
  const name = strings.Line(get(event, 'client', '')->tr('"', "'"), max([min([64, &columns - 66]), 8]))
  const who = name =~ '\S' ? $'that calls itself "{name}"' : 'without a name'
  dialogs[event.conn] = popup_dialog([$'An agent {who} asks to attach. Let it attach?',
    'y: Let it attach', 'n: Refuse'], {filter: Filter, callback: Answer, tabpage: -1, mapping: false})
enddef

# Closes the question about an agent without an answer.
def CloseQuestion(conn: any)
  filter(turns.waiting, (_, event) => event.event != 'consent' || string(event.conn) != $'{conn}')
  if has_key(dialogs, conn) | popup_close(remove(dialogs, conn)) | endif
enddef

export def Attach(agent: dict<any>)
  const name = $'{strings.Line(get(agent, "client", "agent"), 64)} {strings.Line(get(agent, "version", ""), 20)}'
  attached[agent.conn] = {conn: agent.conn, name: trim(name, ' ', 2)}
  events.Emit('Connected', {conn: agent.conn, client: attached[agent.conn].name})
enddef

# Remembers the folder that an agent works in, so that the person can tell agents apart.
export def Roots(event: dict<any>)
  if !has_key(attached, event.conn) || type(event.roots) != v:t_list | return | endif
  const root = get(event.roots, 0, {})
  const uri = type(root) == v:t_dict ? get(root, 'uri', '') : ''
  attached[event.conn].folder = type(uri) == v:t_string ? strings.Line(strings.Tail(trim(uri, '/', 2)), 32) : ''
enddef

# Remembers the process of an agent: two agents of the same program have the same name.
export def Process(event: dict<any>)
  if has_key(attached, event.conn) | attached[event.conn].process = get(event, 'pid') | endif
enddef

# Describes an agent in one line, so that the person can tell it from others.
def About(agent: dict<any>): string
  const [process, folder] = [get(agent, 'process'), get(agent, 'folder', '')]
  const name = process > 0 ? terminal.NameOf(process) : ''
  return strings.Line(agent.name, max([min([64, &columns - 48]), 8]))
    .. (name != '' ? $', terminal {name}' : process > 0 ? $', process {process}' : '')
    .. (folder == '' ? '' : $' in {folder}')
enddef

export def Leave(event: dict<any>)
  CloseQuestion(event.conn)
  if !has_key(attached, event.conn) | return | endif
  const agent = remove(attached, event.conn)
  if target == event.conn
    target = 0
    ui.Warn('the agent that you chose for mentions has left: they go to the one that attached last')
  endif
  events.Emit('Closed', {conn: event.conn, client: agent.name})
enddef

# Forgets all agents and questions of a sidecar that has ended: the next one numbers its connections from 1 again.
export def Forget()
  target = 0
  for conn in keys(dialogs) + keys(attached) | Leave({conn: str2nr(conn)}) | endfor
enddef

# Catches up after a gap in the events: removes the agents, questions and proposals that ended during it, and adds the
# agents that are new.
export def CatchUp(event: dict<any>)
  proposals.Keep(event.calls)
  filter(turns.waiting, (_, waiter) => waiter.event != 'call' || index(event.calls, waiter.call) >= 0)
  const [conns, asking] = [event.agents->mapnew((_, agent) => string(agent.conn)), keys(dialogs)
    + copy(turns.waiting)->filter((_, waiter) => waiter.event == 'consent')->map((_, waiter) => string(waiter.conn))]
  for conn in asking | if index(conns, conn) < 0 | CloseQuestion(conn) | endif | endfor
  for conn in keys(attached) | if index(conns, conn) < 0 | Leave({conn: str2nr(conn)}) | endif | endfor
  for agent in event.agents
    if agent.model || get(agent, 'consent') | continue | endif
    if !has_key(attached, agent.conn) | Attach(agent) | endif
    Process(agent)
    Roots(agent)
  endfor
enddef

# Mentions a file, or these lines of it, in the prompt of the target. Returns whether a sidecar takes it.
export def Mention(path: string, lines: list<number>): bool
  log.Add('info', $'mentions {path} {lines}')
  return sidecar.SendOrSay({cmd: 'mention', path: path}->extend(empty(lines) ? {} : {lines: lines})
    ->extend(target == 0 ? {} : {conn: target}))
enddef

# Lets the person choose an agent, and then what to do with it.
export def Menu()
  const conns = keys(attached)->map((_, conn) => str2nr(conn))->sort('n')
  if empty(conns)
    if sidecar.IsRunningOrSay() | ui.Warn('no agent is attached') | endif
    return
  endif
  const names = conns->mapnew((_, conn) => (conn == target ? '→ ' : '  ') .. About(attached[conn]))
  ui.Choose('Agents', names, (choice) => ChooseAction(conns[choice - 1]))
enddef

# Offers what can be done with an agent, unless it has left meanwhile.
def ChooseAction(conn: number)
  if !has_key(attached, conn) | ui.Warn('the agent has left') | return | endif
  const mentions = target == conn ? 'Send mentions to the agent that attached last' : 'Send mentions to this agent'
  ui.Choose(attached[conn].name, [mentions, 'Disconnect it'], (choice) => {
    if !has_key(attached, conn) | ui.Warn('the agent has left') | return | endif
    if choice == 2 | sidecar.Send({cmd: 'disconnect', conn: conn}) | return | endif
    target = target == conn ? 0 : conn
    ui.Say('mentions go to ' .. (target == 0 ? 'the agent that attached last' : attached[conn].name))
    redrawstatus!
  })
enddef
