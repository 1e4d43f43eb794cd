vim9script
# Starts with Vim, unless there is no screen. The options are in `g:ide_mcp`: `:help ide-mcp`.

command -nargs=1 -range -bar -complete=custom,ide_mcp#Complete IdeMcp
  \ ide_mcp#Command(<q-args>, <range> > 0 ? [<line1> - 1, <line2> - 1] : [])

const has_screen = has('ttyout') || has('gui_running')
autocmd VimEnter * if has_screen && get(get(g:, 'ide_mcp', {}), 'start', true) | ide_mcp#Command('start', []) | endif
