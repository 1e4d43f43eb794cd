vim9script
# Starts with Vim, unless there is no screen. The options are in `g:ide_mcp`: `:help ide-mcp`.

command -nargs=1 -range -bar -complete=custom,ide_mcp#Complete IdeMcp
  \ ide_mcp#Command(<q-args>, <range> > 0 ? [<line1> - 1, <line2> - 1] : [])

# Vim compiles `has('ttyout')` in a function to false.
const has_screen = has('ttyout') || has('gui_running')

def Start()
  if has_screen && get(get(g:, 'ide_mcp', {}), 'start', true) | ide_mcp#Command('start', []) | endif
enddef

# A plugin manager can load this file when Vim has started.
if v:vim_did_enter
  Start()
else
  autocmd VimEnter * Start()
endif
