vim9script
# The files under the cursor in trees of files: netrw, which Vim has, fern, NERDTree and dirvish.

# Returns the paths that the person has marked in the tree of the current window or, if none is marked, those of the lines
# of a range, or of the cursor. Returns nothing in a window that is no tree.
export def Paths(range: list<number>): list<string>
  if !has_key(finders, &filetype) | return [] | endif
  const marked = empty(range) ? Marked() : []
  if !empty(marked) | return marked | endif
  const view = winsaveview()
  var paths: list<string>
  try
    for line in empty(range) ? [line('.')] : range(range[0] + 1, range[1] + 1)
      cursor(line, 1)
      paths->add(finders[&filetype]())
    endfor
  finally
    winrestview(view)
  endtry
  return paths->filter((_, path) => path != '')->uniq()
enddef

export def IsTree(buffer: number): bool
  return has_key(finders, getbufvar(buffer, '&filetype'))
enddef

def Marked(): list<string>
  if &filetype == 'netrw'
    const marked = netrw#Expose('netrwmarkfilelist')
    return type(marked) == v:t_list ? copy(marked) : []
  endif
  return &filetype == 'fern' ? fern#helper#new().sync.get_selected_nodes()->mapnew((_, node) => node._path) : []
enddef

def Netrw(): string
  return getline('.') =~ '^"' ? '' : netrw#Call('NetrwFile', netrw#Call('NetrwGetWord'))
enddef

def Fern(): string
  const node = fern#helper#new().sync.get_cursor_node()
  return type(node) == v:t_dict ? get(node, '_path', '') : ''
enddef

def NerdTree(): string
  const node = g:NERDTreeFileNode.GetSelected()
  return empty(node) ? '' : node.path.str()
enddef

# What returns the file under the cursor, by the file type of the tree.
const finders: dict<func> = {netrw: Netrw, fern: Fern, nerdtree: NerdTree, dirvish: () => getline('.')}
