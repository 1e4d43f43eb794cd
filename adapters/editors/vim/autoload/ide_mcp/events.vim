vim9script
# Triggers the person's autocommands: `:help ide-mcp-events`

import autoload './log.vim'
import autoload './ui.vim'

# Triggers the autocommands `User IdeMcp{name}`, with the data in `g:ide_mcp_event`.
export def Emit(name: string, data: dict<any>)
  log.Add('info', $'{name} {string(data)}')
  if !exists($'#User#IdeMcp{name}') | return | endif
  g:ide_mcp_event = data
  try
    execute $'doautocmd <nomodeline> User IdeMcp{name}'
  catch
    ui.Warn($'User IdeMcp{name}: {v:exception}')
  endtry
enddef
