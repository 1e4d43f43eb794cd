vim9script
# Where a proposal is shown, and what the tab line says about it.

import autoload './files.vim'
import autoload './options.vim'
import autoload './strings.vim'
import autoload './trees.vim'

# The minimum height and width of a window that makes room for a proposal.
const [min_height, min_width] = [10, 40]

# Returns the layout of a proposal. This is a tab if there is no room, or if the current tab already shows a diff: Vim
# would compare all of these windows with each other.
export def Choose(): string
  const [layout, window] = [options.chosen.layout, FileWindow()]
  const has_diff = WindowsOf(window)->indexof((_, other) => getwinvar(other, '&diff')) >= 0
  const has_room = winheight(window) >= min_height && winwidth(window) >= min_width
  return index(['vertical', 'horizontal', 'inline'], layout) < 0 || !has_room || (has_diff && layout != 'inline') ? 'tab'
    : layout
enddef

# Returns all windows of the tab that a window is in.
export def WindowsOf(window: number): list<number>
  const tab = win_id2tabwin(window)[0]
  return tab == 0 ? [] : gettabinfo(tab)[0].windows
enddef

# Returns a window with a file: neither the terminal of an agent nor a tree of files makes room for a proposal.
export def FileWindow(): number
  return ([win_getid()] + gettabinfo(tabpagenr())[0].windows)->filter((_, window) => files.IsFile(winbufnr(window))
    && !getwinvar(window, '&previewwindow') && !trees.IsTree(winbufnr(window)))->get(0, win_getid())
enddef

# Shows a readable label for a proposal in the tab line, because the name of its buffer is a random one. Leaves a tab
# line that the person or another plugin has set.
export def TabLine()
  const [mine, mine_gui] = ['%!ide_mcp#layout#Tabs()', '%{ide_mcp#layout#TabText(v:lnum)}']
  const is_needed = range(1, tabpagenr('$'))->indexof((_, tab) => Label(tab) != '') >= 0
  if index(['', mine], &tabline) >= 0 | &tabline = is_needed ? mine : '' | endif
  if exists('+guitablabel') && index(['', mine_gui], &guitablabel) >= 0 | &guitablabel = is_needed ? mine_gui : '' | endif
enddef

# Returns the label of a tab with a proposal, or an empty string for another tab.
export def Label(tab: number): string
  return bufexists(gettabvar(tab, 'ide_mcp_proposal', -1)) ? gettabvar(tab, 'ide_mcp_label', '') : ''
enddef

# Returns the text for a tab, as Vim has it: the number of windows, a `+` for unsaved changes, and the name of the file.
export def TabText(tab: number): string
  const [buffers, window] = [tabpagebuflist(tab), tabpagewinnr(tab)]
  const is_changed = buffers->indexof((_, buffer) => getbufvar(buffer, '&modified')) >= 0
  const marks = (len(buffers) > 1 ? $'{len(buffers)}' : '') .. (is_changed ? '+' : '')
  const name = Label(tab) ?? pathshorten(fnamemodify(bufname(buffers[window - 1]), ':~:.')) ?? '[No Name]'
  return $' {marks}{marks == "" ? "" : " "}{strings.Line(name, 40)} '
enddef

# Returns the format of the tab line. It gets names from an expression, so that a `%` in a name has no meaning.
export def Tabs(): string
  return range(1, tabpagenr('$'))->mapnew((_, tab) =>
    $'%#{tab == tabpagenr() ? "TabLineSel" : "TabLine"}#%{tab}T%{{ide_mcp#layout#TabText({tab})}}')->join('')
    .. '%#TabLineFill#%T%=%#TabLine#%999XX'
enddef
