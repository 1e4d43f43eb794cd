vim9script
# The terminal of an agent in a pane of tmux, beside that of Vim.

import autoload './program.vim'
import autoload './ui.vim'

const sides = {right: ['-h'], left: ['-h', '-b'], above: ['-v', '-b'], below: ['-v']}

# Escapes words for tmux, which takes a semicolon at the end of a word as the end of a command.
export def Plain(words: list<string>): list<string>
  return words->mapnew((_, word) => substitute(word, ';$', '\\;', ''))
enddef

# Runs a command of tmux. `more` are options of the job.
def Run(words: list<string>, Then: func = (_) => 0, more: dict<any> = {})
  program.Run(['tmux'] + Plain(words), 'tmux: ', (text) => ui.Warn(text), Then, more)
enddef

def Side(terminal: dict<any>): list<string>
  const size = terminal.size > 1 ? $'{float2nr(terminal.size)}' : $'{float2nr(terminal.size * 100)}%'
  return get(sides, terminal.layout, sides.right) + ['-l', size]
enddef

# Starts an agent in a pane beside Vim, and calls a function with its terminal.
export def Start(terminal: dict<any>, Then: func(dict<any>))
  if $TMUX_PANE == '' | ui.Warn('Vim does not run in tmux') | return | endif
  const where = ['-t', $TMUX_PANE, '-c', terminal.folder] + Side(terminal)
  Run(['split-window', '-P', '-F', '#{pane_id}'] + where + terminal.outside, (pane) => {
    Then(extend(terminal, {pane: pane, is_shown: true}))
  })
enddef

# Calls `Yes` if the agent is running, and `No` if its pane is gone. Terminals of other kinds report by themselves that
# their agent has ended, so this calls `Yes` for them.
export def IfAlive(terminal: dict<any>, Yes: func(), No: func())
  if !has_key(terminal, 'pane') | Yes() | return | endif
  Run(['list-panes', '-a', '-F', '#{pane_id} #{window_id}'], (text) => {
    const windows = text->split("\n")->mapnew((_, line) => split(line))
    const window = copy(windows)->filter((_, pane) => pane[0] == terminal.pane)
    terminal.is_shown = !empty(window) && index(windows, [$TMUX_PANE, window[0][1]]) >= 0
    if empty(window) | No() | else | Yes() | endif
  })
enddef

export def Show(terminal: dict<any>)
  const Select = (_) => Run(['select-pane', '-t', terminal.pane])
  if get(terminal, 'is_shown') | Select('') | return | endif
  Run(['join-pane', '-s', terminal.pane, '-t', $TMUX_PANE] + Side(terminal), Select)
  terminal.is_shown = true
enddef

export def Hide(terminal: dict<any>)
  Run(['break-pane', '-d', '-s', terminal.pane])
  terminal.is_shown = false
enddef

export def Type(terminal: dict<any>, text: string, is_sent: bool)
  const Paste = (_) => Run(['paste-buffer', '-p', '-d', '-b', 'ide-mcp', '-t', terminal.pane],
    (_) => is_sent ? timer_start(150, (_) => Press(terminal, 'Enter')) : 0)
  # Through a file, because all users can read the arguments of a command. The file is deleted once the job has opened
  # it.
  const file = tempname()
  writefile(split(text, "\n", true), file, 'b')
  Run(['load-buffer', '-b', 'ide-mcp', '-'], Paste, {in_io: 'file', in_name: file})
  delete(file)
enddef

# Presses a key, by its name.
export def Press(terminal: dict<any>, key: string)
  Run(['send-keys', '-t', terminal.pane, key])
enddef
