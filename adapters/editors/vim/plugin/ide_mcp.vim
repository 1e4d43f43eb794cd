vim9script
# Starts the plugin with Vim, unless there is no screen or the option `start` is false. `:help ide-mcp`

import autoload 'ide_mcp/options.vim'

# Without `-bar`, since a text for the agent can have `|` and `"`.
command -nargs=* -range -bang -complete=customlist,ide_mcp#Complete IdeMcp
  \ ide_mcp#Command(<q-args>, <range> > 0 ? [<line1> - 1, <line2> - 1] : [], <bang>false, <q-mods>)

# The plugin maps no key by itself: `:help ide-mcp-keys`. A count is the name of a terminal: 2 means `@2`.
for name in ['open', 'toggle', 'focus', 'interrupt', 'mention', 'accept', 'reject', 'next', 'previous', 'proposals', 'agents']
  const count = index(['open', 'toggle', 'focus'], name) < 0 ? '' : " .. (v:count > 0 ? ' @' .. v:count : '')"
  execute $"nnoremap <Plug>(ide-mcp-{name}) <Cmd>execute 'IdeMcp {name}'{count}<CR>"
  execute $"tnoremap <Plug>(ide-mcp-{name}) <Cmd>IdeMcp {name}<CR>"
endfor
xnoremap <Plug>(ide-mcp-mention) :IdeMcp mention<CR>
xnoremap <Plug>(ide-mcp-send) :IdeMcp send<CR>
nnoremap <Plug>(ide-mcp-send) <Cmd>call ide_mcp#Ask()<CR>

# Not in a function, where Vim compiles `has('ttyout')` to false.
const has_screen = has('ttyout') || has('gui_running')

def Start()
  if has_screen && options.Read().start | ide_mcp#Command('start', []) | endif
enddef

# A plugin manager can load this file after Vim has started.
if v:vim_did_enter
  Start()
else
  autocmd VimEnter * Start()
endif
