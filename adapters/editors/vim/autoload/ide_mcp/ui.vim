vim9script
# What a person sees of the plugin besides proposals and terminals: messages, lists to choose from, and windows with a
# text.

import autoload './log.vim'
import autoload './strings.vim'

# Says that something is wrong, or was not done. If both parts do not fit, `message` is cut first.
export def Warn(message: string, last = '')
  Show('warn', 'WarningMsg', message, last)
enddef

# Says what was done, or what the person asked for.
export def Say(message: string, last = '')
  Show('info', 'None', message, last)
enddef

# Shows a message in one line, without a prompt that would take the next key. Where Vim shows "-- INSERT --", "-- VISUAL
# --" or a command, it would at once overwrite a message, so `:echowindow` shows it in a window.
def Show(level: string, highlight: string, message: string, last: string)
  const rest = v:echospace - strdisplaywidth(last)
  const line = strings.Line(strings.Line('ide-mcp: ' .. message, max([rest, 32])) .. last, v:echospace)
  log.Add(level, message .. last)
  execute 'echohl' highlight
  if mode(1) =~ '^\%(n\|no\|nt\|t\)$' | echomsg line | else | :5echowindow line | endif
  echohl None
enddef

# Lets the person choose one of these lines, which have names of agents and files. Each stays one line on the screen,
# because a part of a name on a line of its own could be read as another choice. The function gets the number of the
# line, from 1.
export def Choose(title: string, names: list<string>, Then: func(number))
  const columns = max([&columns - 8, 8])
  popup_menu(names->mapnew((_, name) => strings.Line(name, columns)), {mapping: false, wrap: false,
    title: $' {strings.Line(title, columns)} ', callback: (_, choice) => {
      if choice > 0 | Then(choice) | endif
    }})
enddef

# Shows lines in a window whose buffer has no file.
export def Scratch(name: string, lines: list<string>)
  const window = bufwinid(name)
  if window > 0 | win_gotoid(window) | else | execute 'silent botright sbuffer' bufadd(name) | endif
  setlocal buftype=nofile bufhidden=wipe noswapfile nobuflisted modifiable nowrap
  silent deletebufline('', 1, '$')
  setline(1, lines)
  setlocal nomodifiable nomodified
enddef
