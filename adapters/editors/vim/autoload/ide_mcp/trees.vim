vim9script
# Finds the files that the person means in a file tree: netrw, which comes with Vim, fern, NERDTree and dirvish.

# Returns the paths in the lines of a range. Without a range, returns the paths that the person has marked in the tree
# of the current window or, if none is marked, the one under the cursor. Returns an empty list if the window is not a
# tree.
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

# The functions that return the file under the cursor, by the file type of the tree.
const finders: dict<func> = {netrw: Netrw, fern: Fern, nerdtree: NerdTree, dirvish: () => getline('.')}
