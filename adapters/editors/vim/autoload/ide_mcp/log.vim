vim9script
# What has happened, for a person who looks for a reason.

import autoload './options.vim'
import autoload './strings.vim'
import autoload './ui.vim'

const [max_lines, max_bytes] = [1000, 400] # of the log: it takes half a megabyte at most

var lines: list<string> = []

# Adds a line to the log if its level is at least that of the option `log`.
export def Add(level: string, text: string)
  const levels = options.words.log
  if index(levels, level) < index(levels, options.chosen.log) | return | endif
  lines->add($'{strftime("%H:%M:%S")} {level}: {strings.Line(strpart(text, 0, max_bytes), max_bytes)}')
  if len(lines) > max_lines | remove(lines, 0) | endif
enddef

# Shows the log in a window.
export def Show()
  ui.Scratch('ide-mcp://log', lines ?? ['the log is empty'])
  normal! G
enddef
