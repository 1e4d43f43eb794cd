vim9script
# Tells the autocommands of the person what has happened: `:help ide-mcp-events`

import autoload './log.vim'
import autoload './ui.vim'

# Executes the autocommands `User IdeMcp…` with a name. The data is `g:ide_mcp_event`.
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
