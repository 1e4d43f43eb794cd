vim9script
# What has happened, for a person who looks for a reason, and for the autocommands of the person.

import autoload './plain.vim'

const levels = ['debug', 'info', 'warn', 'off']
const [max_lines, max_bytes] = [1000, 400] # of the log: it takes half a megabyte at most

var lines: list<string> = []

# Adds a text to the log, if its level is the one of the option `log` or above.
export def Add(level: string, text: string)
  # The option can have any type.
  if index(levels, level) < index(levels, $'{get(get(g:, "ide_mcp", {}), "log", "info")}') | return | endif
  lines->add($'{strftime("%H:%M:%S")} {level}: {plain.Line(strpart(text, 0, max_bytes), max_bytes)}')
  if len(lines) > max_lines | remove(lines, 0) | endif
enddef

# Shows the log in a window.
export def Show()
  Scratch('ide-mcp://log', copy(lines), 'the log is empty')
  normal! G
enddef

# Shows lines in a window whose buffer has no file.
export def Scratch(name: string, shown: list<string>, instead: string)
  const window = bufwinid(name)
  if window > 0 | win_gotoid(window) | else | execute 'silent botright sbuffer' bufadd(name) | endif
  setlocal buftype=nofile bufhidden=wipe noswapfile nobuflisted modifiable nowrap
  silent deletebufline('', 1, '$')
  setline(1, shown ?? [instead])
  setlocal nomodifiable nomodified
enddef

# Tells the autocommands `User IdeMcp…` of the person what has happened. The data is `g:ide_mcp_event`.
export def Announce(name: string, data: dict<any>)
  Add('info', $'{name} {string(data)}')
  if !exists($'#User#IdeMcp{name}') | return | endif
  g:ide_mcp_event = data
  try
    execute $'doautocmd <nomodeline> User IdeMcp{name}'
  catch
    plain.Warn($'User IdeMcp{name}: {v:exception}')
  endtry
enddef
