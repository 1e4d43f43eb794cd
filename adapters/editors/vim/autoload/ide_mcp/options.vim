vim9script
# The options that a person can set in `g:ide_mcp`, with their defaults and checks. `:help ide-mcp-options`

import autoload './context.vim'
import autoload './log.vim'
import autoload './ui.vim'
import autoload './view.vim'

const defaults: dict<any> = {
  start: true,
  layout: 'tab',
  focus: true,
  diffs: true,
  terminal: {command: 'claude', provider: 'vim', layout: 'right', size: 0, folder: 'cwd'},
  tools: [],
  log: 'info',
  command: ['ide-mcp', 'sidecar'],
  config: {},
  answers: {},
  problems: () => context.Problems(),
  show: (proposal) => view.Show(proposal),
  on_event: (_) => 0,
}

# The allowed values of options that are a word or a list of words.
export const words: dict<list<string>> = {
  layout: ['tab', 'vertical', 'horizontal', 'inline'],
  log: ['debug', 'info', 'warn', 'off'],
  tools: ['symbols', 'references', 'files'],
  'terminal.layout': ['right', 'left', 'above', 'below', 'tab', 'float'],
  'terminal.provider': ['vim', 'tmux'],
  'terminal.folder': ['cwd', 'git'],
}

# The names of types, for messages. The options in `open_types` can be a string, a list or a function.
const types: dict<list<any>> = {'true or false': [v:t_bool, v:t_number], 'a number': [v:t_number, v:t_float],
  'a string': [v:t_string], 'a list': [v:t_list], 'a dictionary': [v:t_dict], 'a function': [v:t_func]}
const open_types = ['terminal.command', 'terminal.provider', 'terminal.folder']

# The options as of the last Read(), and what was wrong with those of the person.
export var chosen: dict<any> = copy(defaults)
export var faults: list<string> = []

# Reads the person's options, and returns all options. A wrong one keeps its default, and a message names it. The
# options are read often, so the same faults are named only once.
export def Read(): dict<any>
  const reported = faults
  faults = []
  const given = Valid('', defaults, get(g:, 'ide_mcp', {}))
  chosen = extendnew(defaults, given)
  chosen.terminal = extendnew(defaults.terminal, Valid('terminal.', defaults.terminal, get(given, 'terminal', {})))
  if empty(faults) || faults == reported | return chosen | endif
  # Only one message: a second one would make Vim wait for a key.
  for fault in faults[1 :] | log.Add('warn', fault) | endfor
  ui.Warn(faults[0], len(faults) > 1 ? $', and {len(faults) - 1} more: :IdeMcp log' : '')
  return chosen
enddef

# Returns the given options that are valid.
def Valid(group: string, known: dict<any>, given: any): dict<any>
  if type(given) != v:t_dict
    faults->add('g:ide_mcp must be a dictionary')
    return {}
  endif
  return copy(given)->filter((name, Value) => {
    const fault = Fault(group .. name, get(known, name, null), Value)
    if fault != '' | faults->add($'the option {group}{name} {fault}') | endif
    return fault == ''
  })
enddef

# Returns what is wrong with the value of an option, or an empty string.
def Fault(name: string, Default: any, Value: any): string
  if type(Default) == v:t_none | return 'does not exist' | endif
  if type(Default) == v:t_bool && type(Value) == v:t_number && index([0, 1], Value) < 0 | return 'must be true or false' | endif
  const is_open = index(open_types, name) >= 0 && index([v:t_string, v:t_list, v:t_func], type(Value)) >= 0
  for [kind, allowed] in items(is_open ? {} : types)
    if index(allowed, type(Default)) == 0 && index(allowed, type(Value)) < 0 | return $'must be {kind}' | endif
  endfor
  if !has_key(words, name) || is_open && type(Value) != v:t_string | return '' | endif
  const named = type(Value) == v:t_list ? Value : [Value]
  const at = named->indexof((_, word) => index(words[name], word) < 0)
  return at < 0 ? '' : $'does not know {string(named[at])}, only {join(words[name], ", ")}'
enddef
