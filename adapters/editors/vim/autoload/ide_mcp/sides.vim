vim9script
# The two sides of a proposal: the old and the new text, and their buffers.

import autoload './files.vim'
import autoload './strings.vim'

# Above these limits Vim would keep the person waiting. The times were measured with Vim 9.0 on a busy machine.
const max_diff = 4 * 1024 * 1024 # bytes of both sides of a diff: 7 MB take 0.3 s, again after each edit
const max_changes = 20'000 # lines from the first change to the last: 0.1 s, and with folds 5 s for 50,000
const max_folds = 50'000'000 # changes times lines in a diff with folds, which Vim checks one by one: 0.2 s
const max_inline = 64 * 1024 # bytes from the first change to the last, if Vim 9.2 compares characters: 0.2 s
const max_syntax = 8 * 1024 # bytes of a side with syntax: in brackets `G` takes 0.3 s, and over 0.5 s in 16 KiB
const max_syntax_line = 256 # bytes of a line with syntax: 64 KiB in lines of 2,000 take 2 s in HTML, and over 4 s in C

# Splits a text into its body, the end of its lines, and the end of its last line, if it has one. The end is a CR LF
# only if all lines end so.
export def Split(text: string): dict<any>
  const is_dos = stridx(text, "\r\n") >= 0 && count(text, "\r\n") == count(text, "\n")
  const line_end = is_dos ? "\r\n" : "\n"
  const last_end = strpart(text, len(text) - 1) == "\n" ? line_end : ''
  return {text: strpart(text, 0, len(text) - len(last_end)), line_end: line_end, last_end: last_end}
enddef

# Returns the text of a buffer. Joins it in parts, because a list of all lines would take some 80 bytes for each line.
export def Join(buffer: number, line_end: string): string
  const [count, step] = [getbufinfo(buffer)[0].linecount, 100'000]
  return range(1, count, step)->map((_, first) => getbufline(buffer, first, first + step - 1)
    ->map((_, line) => tr(line, "\n", strings.nul))->join(line_end))->join(line_end)
enddef

# Returns how many lines two lists have in common at the beginning, and how many more at the end.
export def Equal(a: list<string>, b: list<string>): list<number>
  var [first, last, least] = [0, 0, min([len(a), len(b)])]
  while first < least && a[first] ==# b[first] | first += 1 | endwhile
  while last < least - first && a[-1 - last] ==# b[-1 - last] | last += 1 | endwhile
  return [first, last]
enddef

# Returns three values: why two texts are not highlighted, or an empty string; whether their diff has folds; and whether
# Vim can compare the characters of changed lines.
export def Limits(old: dict<any>, new: dict<any>): list<any>
  if len(old.text) + len(new.text) > max_diff | return [$'over {max_diff / 1024 / 1024} MiB', false, false] | endif
  var lines = [old, new]->mapnew((_, side) => side.text->split(side.line_end, true))
  for side in lines
    if copy(side)->map((_, line) => len(line))->max() > files.max_line
      return [$'a line over {files.max_line / 1024} KiB', false, false]
    endif
  endfor
  const all = max([len(lines[0]), len(lines[1])])
  const [first, last] = Equal(lines[0], lines[1])
  const changes = all - first - last
  if changes > max_changes | return [$'{changes} lines changed', false, false] | endif
  const bytes = lines->mapnew((_, side) => side[first : len(side) - last - 1]->map((_, line) => len(line))->reduce(
    (sum, size) => sum + size, 0))
  return ['', changes / 2 * all < max_folds, bytes[0] + bytes[1] <= max_inline]
enddef

# Returns whether a text can have syntax highlighting.
export def IsSmall(side: dict<any>): bool
  return len(side.text) <= max_syntax && side.text->split("\n")->map((_, line) => len(line))->max() <= max_syntax_line
enddef

# Makes a buffer with a text, and with values for its status line. It is not shown yet. bufadd() takes the name
# literally.
export def Fill(name: string, text: dict<any>, values: dict<any>): number
  if getftype(name) != '' | throw 'a file has the name of the view' | endif
  const buffer = bufadd(name)
  setbufvar(buffer, 'ide_mcp', values)
  setbufvar(buffer, 'matchparen_timeout', 20) # otherwise Vim's matchparen can take 0.3 s for each key
  for [option, value] in items({buftype: 'nofile', swapfile: false, buflisted: false, modeline: false, undolevels: -1})
    setbufvar(buffer, $'&{option}', value)
  endfor
  noautocmd bufload(buffer)
  # In parts, for the same reason as in Join().
  var [from, size] = [0, len(text.text)]
  while from <= size
    const end = stridx(text.text, "\n", from + 1024 * 1024)
    const part = end < 0 ? strpart(text.text, from) : strpart(text.text, from, end + 1 - len(text.line_end) - from)
    var lines = part->split(text.line_end, true)
    appendbufline(buffer, '$', stridx(part, strings.nul) < 0 ? lines : lines->map((_, line) => tr(line, strings.nul, "\n")))
    from = (end < 0 ? size : end) + 1
  endwhile
  deletebufline(buffer, 1)
  setbufvar(buffer, '&undolevels', -123456) # use the global value
  setbufvar(buffer, '&modified', false)
  return buffer
enddef

# Highlights the buffer of a proposal in the current window. The file type is only looked up and not set, because its
# plugins must not run on the text of an agent.
export def Highlight(view: dict<any>, is_diff: bool)
  const proposal = view.proposal
  if view.has_folds && is_diff
    diffthis
  else
    setlocal nowrap nospell foldmethod=manual nofoldenable
    if view.limit == '' && is_diff | setlocal diff scrollbind cursorbind | endif
  endif
  if !view.has_syntax | return | endif
  const open = files.Buffer(proposal.path)
  var type = open > 0 ? getbufvar(open, '&syntax') : ''
  if open == 0 && strings.Tail(proposal.label) !~ '[`$|%#*?{}<>"\\;&!]\|\A\@<=\~'
    const eventignore = &eventignore
    try
      set eventignore+=FileType
      silent! doautocmd <nomodeline> filetypedetect BufRead
      type = &filetype
      setlocal filetype=
    finally
      &eventignore = eventignore
    endtry
  endif
  if type != '' | &l:syntax = type | endif
enddef
