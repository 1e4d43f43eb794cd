vim9script
# What agents learn about Vim: the selection and the problems.

import autoload './files.vim'
import autoload './options.vim'
import autoload './sidecar.vim'
import autoload './strings.vim'

const max_text = 256 * 1024 # the longest selection that agents receive, in bytes

var is_due = false # the selection will be sent soon
var announced: list<string> = [] # the files with problems, as agents know them

# Sends the selection in 30 ms, once for all changes until then.
export def SelectionChanged()
  if !is_due && sidecar.IsRunning() | timer_start(30, SendSelection) | endif
  is_due = sidecar.IsRunning()
enddef

# Sends the selection. In a command line and in a terminal, where the agent may run, agents keep the selection from
# before. A blockwise selection counts as whole lines.
export def SendSelection(_: number)
  const [path, kind, cursor] = [expand('%:p'), mode(), getpos('.')]
  is_due = false
  # The buffer of a file tree such as netrw has the path of a folder.
  if !files.IsFile(bufnr()) || kind =~ '^[ct]' || path =~ '[/\\]$' | return | endif
  if !isabsolutepath(path) | sidecar.Send({cmd: 'clear'}) | return | endif
  var ends = [kind =~ "^[vV\<C-V>]" ? getpos('v') : cursor, cursor]
  const [a, b] = ends->sort((x, y) => x[1] == y[1] ? x[2] - y[2] : x[1] - y[1])
  const [first, last, last_line] = [a[1], b[1], getline(b[1])]
  var [from, to] = kind =~ "^[V\<C-V>]" ? [0, len(last_line)] : [a[2] - 1, b[2] - 1]
  if kind == 'v' && &selection != 'exclusive' | to += len(matchstr(last_line, '.', to)) | endif
  # If a text is longer than the limit, the sidecar sends only its beginning.
  const cut = byte2line(line2byte(first) + from + max_text + 1)
  var lines = getline(first, cut < 0 ? last : min([last, cut]))
  if len(lines) == last - first + 1 | lines[-1] = strpart(lines[-1], 0, to) | endif
  lines[0] = strpart(lines[0], from)
  sidecar.Send({cmd: 'select', path: path, text: lines->map((_, line) => tr(line, "\n", strings.nul))->join("\n"),
    start: [first - 1, strings.Units(getline(first), from)], end: [last - 1, strings.Units(last_line, to)]})
enddef

# Returns the problems of ALE, of the quickfix list and of all location lists, with the linter or the title of the list
# as `source`. ALE can also write its problems into a list: an entry at the same place, whose text ends with the same
# message, is left out.
export def Problems(): list<dict<any>>
  const of_ale = OfAle()
  var known: dict<list<string>>
  for item in of_ale
    const place = $'{item.bufnr}:{item.lnum}:{item.col}'
    known[place] = get(known, place, [])->add(item.text)
  endfor
  return of_ale + OfLists()->filter((_, item) => get(known, $'{item.bufnr}:{item.lnum}:{item.col}', [])
    ->indexof((_, message) => strpart(item.text, len(item.text) - len(message)) ==# message) < 0)
enddef

# Returns the problems that ALE knows in the loaded files, even if it fills no list.
def OfAle(): list<dict<any>>
  return get(g:, 'ale_buffer_info', {})->items()->mapnew((_, entry) => !bufloaded(str2nr(entry[0])) ? []
    : get(entry[1], 'loclist', [])->mapnew((_, item) => ({bufnr: str2nr(entry[0]), lnum: item.lnum, col: get(item, 'col'),
      end_lnum: get(item, 'end_lnum'), end_col: get(item, 'end_col') == 0 ? 0 : item.end_col + 1,
      type: get(item, 'type', 'E'), text: trim(item.text), source: get(item, 'linter_name', 'ALE')})))->flattennew(1)
enddef

# Returns the problems in the lists. An entry without a type is a problem if `:make` filled the list, and otherwise the
# result of a search. Entries that name no file are left out, because each failing `make` adds one.
def OfLists(): list<dict<any>>
  const fields = {id: 0, title: 0, items: 0}
  var lists = [getqflist(fields)] + getwininfo()->mapnew((_, window) => getloclist(window.winid, fields))
  return lists->sort((x, y) => x.id - y.id)->uniq((x, y) => x.id - y.id)->mapnew((_, list) => list.items
    ->filter((_, item) => item.valid && item.bufnr > 0 && bufname(item.bufnr) != ''
      && (bufloaded(item.bufnr) || files.IsPlain(files.Path(item.bufnr)))
      && (item.type != '' || list.title =~ '^:l\?make'))
    ->map((_, item) => extend(item, {text: trim(item.text), source: trim(list.title)})))->flattennew(1)
enddef

export def Diagnostics(call: dict<any>): list<any>
  var [found, texts] = [{}, {}]
  for item in options.chosen.problems()
    const name = files.Path(item.bufnr)
    if !has_key(found, name) | [found[name], texts[name]] = [[], files.Lines(name)] | endif
    const At = (row, column) => ({line: row - 1, character: strings.Units(get(texts[name], row - 1, ''), column - 1)})
    const [first, last] = [max([item.lnum, 1]), max([item.lnum, item.end_lnum, 1])]
    const range = {start: At(first, item.col), end: At(last, item.end_col == 0 ? item.col : item.end_col)}
    const severity = get({W: 'Warning', I: 'Information', N: 'Hint'}, toupper(item.type), 'Error')
    found[name]->add({message: item.text, severity: severity, source: item.source, range: range})
  endfor
  const [path, open] = [get(call, 'path', ''), files.Buffer(get(call, 'path', ''))]
  const asked = has_key(call.arguments, 'uri') ? [[call.arguments.uri, get(found, open > 0 ? files.Path(open) : path, [])]]
    : items(found)->mapnew((_, file) => [strings.Uri(file[0]), file[1]])
  return asked->mapnew((_, file) => ({uri: file[0], diagnostics: file[1]}))
enddef

# Tells agents which files have problems, and which ones had some before.
export def AnnounceProblems()
  if !sidecar.IsRunning() | return | endif
  const paths = options.chosen.problems()->mapnew((_, item) => files.Path(item.bufnr))->sort()->uniq()
  const uris = sort(paths + announced)->uniq()->mapnew((_, path) => strings.Uri(path))
  announced = paths
  if !empty(uris) | sidecar.Send({cmd: 'diagnostics_changed', uris: uris}) | endif
enddef
