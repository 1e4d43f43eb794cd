vim9script
# Files and their buffers, as agents ask for them.

import autoload './proposals.vim'
import autoload './strings.vim'
import autoload './turns.vim'
import autoload './ui.vim'

# Above these limits Vim would keep the person waiting. The times were measured with Vim 9.0 on a busy machine.
const max_file = 16 * 1024 * 1024 # bytes of a file that is read: the sidecar lets no larger one through
const max_type = 512 * 1024 # bytes of a file with a file type: `G` takes 0.4 s in 250 kB of PHP, and 1.5 s in 1 MB
export const max_line = 64 * 1024 # bytes of a line that is highlighted or wrapped: a key takes 0.02 s, with 1 MB 0.15 s
const max_search = 1000 # bytes of a text that Vim looks for on behalf of an agent

# The maximum size of all files that were loaded for agents and that the person has not seen: twice the largest file.
# Without this limit, Vim grew by 600 MB for 30 files of 15 MiB. A small file counts as `min_buffer`, the minimum that
# its buffer takes.
const [max_unseen, min_buffer] = [32 * 1024 * 1024, 64 * 1024]
const limit_unseen = $'agents can open only {max_unseen / 1024 / 1024} MiB of files that the person has not seen: '
  .. 'show one with makeFrontmost'

var unseen: dict<number> = {} # the sizes of files that were loaded for agents and not seen by the person, by buffer

# Called when the person presses a key: they have seen the windows of the current tab.
export def MarkSeen()
  for buffer in tabpagebuflist() | silent! remove(unseen, buffer) | endfor
enddef

# Returns whether the current tab shows a file that was loaded for an agent, and the person has pressed no key since.
export def IsUnseen(): bool
  return !empty(unseen) && indexof(tabpagebuflist(), (_, buffer) => has_key(unseen, buffer)) >= 0
enddef

export def IsFile(buffer: number): bool
  return getbufvar(buffer, '&buftype') == ''
enddef

# Returns the absolute path of the file of a buffer.
export def Path(buffer: number): string
  return fnamemodify(bufname(buffer), ':p')
enddef

# Returns the loaded buffer of a file, or 0. The buffer may have another path of the same file, through links.
export def Buffer(path: string): number
  const loaded = getbufinfo({bufloaded: 1})->filter((_, info) => info.name != '' && IsFile(info.bufnr))
  const [key, target] = [strings.Key(path), strings.Key(resolve(path))]
  const found = copy(loaded)->filter((_, info) => strings.Key(info.name) == key)
    ?? copy(loaded)->filter((_, info) => strings.Key(resolve(info.name)) == target)
  return get(found, 0, {bufnr: 0}).bufnr
enddef

# Returns whether Vim can read a file at once: a FIFO would make it wait, and an encrypted file ask for a password.
export def IsPlain(path: string): bool
  return getftype(resolve(path)) == 'file' && filereadable(path)
    && getfsize(path) >= 0 && getfsize(path) <= max_file && readblob(path, 0, 9) != 0z56696D43727970747E
enddef

# Returns the lines of a file, with the unsaved changes of the person.
export def Lines(path: string): list<string>
  const buffer = Buffer(path)
  return buffer > 0 ? getbufline(buffer, 1, '$')
    : IsPlain(path) ? readfile(path)->map((_, line) => substitute(line, '\r$', '', '')) : []
enddef

# Calls a function that loads, reads again or writes a file for an agent. Meanwhile Vim asks the person nothing, because
# their next key would be the answer, and it ignores modelines.
def Quietly(Act: func, ignored = '')
  const [shortmess, confirm, more, modelines, eventignore] = [&shortmess, &confirm, &more, &modelines, &eventignore]
  try
    set shortmess+=A noconfirm nomore modelines=0
    &eventignore = [eventignore, ignored]->filter((_, events) => events != '')->join(',')
    Act()
  finally
    [&shortmess, &confirm, &more, &modelines, &eventignore] = [shortmess, confirm, more, modelines, eventignore]
  endtry
enddef

# Reads the file of a buffer again if it has changed on disk. Unsaved changes stay, and Vim does not ask about them, as
# it would before it shows or writes the buffer.
def CheckTime(buffer: number)
  const undoreload = &undoreload
  if has_key(unseen, buffer)
    Count(buffer, Path(buffer))
    &undoreload = 0 # otherwise undo keeps the old text in memory
  endif
  if !getbufvar(buffer, '&modified') | setbufvar(buffer, '&autoread', true) | endif
  execute $'autocmd ide_mcp FileChangedShell <buffer={buffer}> v:fcs_choice = "" | MarkChanged(true)'
  try
    Quietly(() => execute($'checktime {buffer}'))
  finally
    execute $'autocmd! ide_mcp FileChangedShell <buffer={buffer}>'
    &undoreload = undoreload
  endtry
enddef

# Called by an autocommand. Remembers whether its file has changed on disk while its buffer had unsaved changes.
export def MarkChanged(is_changed: bool)
  const buffer = str2nr(expand('<abuf>'))
  setbufvar(buffer, 'ide_mcp_changed', is_changed && getbufvar(buffer, '&modified'))
enddef

# Reads a file again, unless it has unsaved changes of the person.
export def Reread(path: string)
  const buffer = Buffer(path)
  if buffer == 0 || getbufvar(buffer, '&modified') || !IsPlain(path) | return | endif
  if has_key(unseen, buffer) && !HasRoom(buffer, path) | return | endif
  CheckTime(buffer)
enddef

# Reads the file of a proposal again once the agent has written it, and returns whether that is done. Unsaved changes
# that were the left side of the accepted proposal are replaced too, because the person saw them and decided; undo
# brings them back. All other unsaved changes stay.
export def TakeIn(proposal: dict<any>, accepted: string, is_last: bool): bool
  const [buffer, path] = [Buffer(proposal.path), proposal.path]
  if buffer == 0 || !getbufvar(buffer, '&modified')
    Reread(path)
    return false
  endif
  const tick = getbufvar(buffer, 'changedtick')
  const is_compared = get(proposal, 'compared', []) == [buffer, tick]
  const bytes = len(tr(accepted, strings.nul, "\n"))
  const is_written = IsPlain(path) && index([bytes, bytes + 3], getfsize(path)) >= 0 && accepted
    ==# readfile(path, 'b')->map((_, line) => tr(line, "\n", strings.nul))->join("\n")->substitute('^\%ufeff', '', '')
  if is_compared && is_written && !(buffer == bufnr() && turns.IsTyping())
    const undoreload = &undoreload
    try
      &undoreload = -1
      setbufvar(buffer, '&modified', false)
      Reread(path)
    finally
      &undoreload = undoreload
      if getbufvar(buffer, 'changedtick') == tick | setbufvar(buffer, '&modified', true) | endif
    endtry
    return !getbufvar(buffer, '&modified')
  endif
  if is_last
    ui.Warn($'{strings.Line(proposal.label, 24)} keeps your changes: '
      .. (is_written ? 'they are newer than the proposal' : 'the file is not the accepted text'))
  endif
  return is_last
enddef

# Returns what `Answer` says about an open file, or a failure if the file is not open.
export def OfOpenFile(path: string, Answer: func(number): dict<any>): dict<any>
  return Buffer(path) == 0 ? {success: false, message: 'Document not open: ' .. path}
    : {success: true, filePath: path}->extend(Answer(Buffer(path)))
enddef

export def Save(buffer: number): dict<any>
  const path = Path(buffer)
  if !IsPlain(path) && getftype(resolve(path)) != '' | throw 'there is no plain file ' .. path | endif
  CheckTime(buffer)
  if getbufvar(buffer, 'ide_mcp_changed', false) | throw 'not saved: the file has changed on disk as well' | endif
  const window = popup_create(buffer, {hidden: 1}) # the buffer may be in no other window
  try
    Quietly(() => win_execute(window, 'update'))
  finally
    popup_close(window)
  endtry
  return {saved: true, message: 'Document saved successfully'}
enddef

# Returns how many bytes of `max_unseen` a file takes.
const Cost = (path: string): number => max([getfsize(path), min_buffer])

# Returns whether a file can be loaded or read again within `max_unseen`.
def HasRoom(buffer: number, path: string): bool
  filter(unseen, (other, _) => bufloaded(str2nr(other)))
  return copy(unseen)->filter((other, _) => other != string(buffer))->values()->reduce((a, b) => a + b, Cost(path))
    <= max_unseen
enddef

# Counts a file that is loaded or read again for an agent, or fails if there is no room for it.
def Count(buffer: number, path: string)
  if !HasRoom(buffer, path) | throw limit_unseen | endif
  unseen[buffer] = Cost(path)
enddef

# Loads a file that an agent names, and returns its buffer.
def Load(path: string): number
  if !IsPlain(path) | throw 'there is no plain file ' .. path | endif
  if !bufloaded(path) && !HasRoom(0, path) | throw limit_unseen | endif # before bufadd() makes a buffer
  const buffer = bufadd(path)
  if bufloaded(buffer)
    CheckTime(buffer) # as Vim does before it shows a buffer
    return buffer
  endif
  Count(buffer, path)
  const is_large = getfsize(path) > max_type || readfile(path)->map((_, line) => len(line))->max() > max_line
  # Otherwise Vim runs other programs to unpack archives, and plugins ask for passwords.
  const is_packed = path =~? '\.\%(gz\|bz2\|z\|lzma\|xz\|lz\|lz4\|zst\|br\|gpg\|pgp\|asc\|age\)$'
  Quietly(() => bufload(buffer),
    is_large ? 'all' : is_packed ? 'BufReadCmd,BufReadPre,BufReadPost' : 'BufReadCmd')
  const name = fnamemodify(path, ':t')->strings.Line(24)
  if is_large
    setbufvar(buffer, 'ide_mcp_large', true)
    ui.Warn($'{name} is large: no highlighting. :edit adds it')
  endif
  if swapname(buffer) !~ '\.swp$\|^$'
    setbufvar(buffer, '&readonly', true)
    ui.Warn($'{name} has a swap file of another Vim, and is read-only here')
  endif
  return buffer
enddef

# Finds a text in the current buffer, from a place on. Returns the places of its first and last byte, or an empty list
# if it is not found in 0.2 s. Compares the lines itself, because search() ignores its timeout within a line.
def Find(text: string, from: number, column: number): list<list<number>>
  const parts = text->split("\n", true)->map((_, part) => tr(part, strings.nul, "\n"))
  const [rest, begin, step] = [len(parts) - 1, reltime(), 1000]
  var least = max([column - 1, 0])
  for first in text == '' ? [] : range(from, line('$'), step)
    if reltimefloat(reltime(begin)) > 0.2 | break | endif
    const lines = getline(first, first + step - 1 + rest)
    for i in range(max([min([step, len(lines) - rest]), 0]))
      const at = rest == 0 ? stridx(lines[i], parts[0], least) : len(lines[i]) - len(parts[0])
      if at >= least && (rest == 0 || strpart(lines[i], at) ==# parts[0]
          && (rest == 1 || lines[i + 1 : i + rest - 1] ==# parts[1 : -2])
          && strpart(lines[i + rest], 0, len(parts[-1])) ==# parts[-1])
        const last = parts[-1] == '' ? [first + i + rest - 1, len(lines[i + rest - 1]) + 1]
          : [first + i + rest, (rest == 0 ? at : 0) + len(parts[-1])]
        return [[first + i, at + 1], last]
      endif
      least = 0
    endfor
  endfor
  return []
enddef

export def OpenFile(call: dict<any>): any
  if !has_key(call, 'path') | throw proposals.no_gate | endif
  const [path, arguments] = [call.path, call.arguments]
  const texts = ['startText', 'endText']->map((_, name) => get(arguments, name, '') ?? '')
  for text in texts
    if len(text) > max_search | throw $'startText and endText may have at most {max_search} bytes' | endif
  endfor
  const buffer = Load(path)
  setbufvar(buffer, '&buflisted', true)
  const about = {languageId: getbufvar(buffer, '&filetype'), lineCount: getbufinfo(buffer)[0].linecount}
  if !get(arguments, 'makeFrontmost', true) | return extend({success: true, filePath: path}, about) | endif
  # Uses a window with a file, and not that of an agent's terminal.
  const windows = ([win_getid()] + gettabinfo(tabpagenr())[0].windows)->filter((_, window) => IsFile(winbufnr(window)))
  if win_gotoid(get(win_findbuf(buffer) + windows, 0, 0)) == 0 | split | endif
  execute 'hide buffer' buffer
  if get(b:, 'ide_mcp_large') | setlocal nowrap nospell foldmethod=manual | endif
  cursor(get(arguments, 'startLine', 1), 1)
  const found = Find(texts[0], line('.'), 0)
  if !empty(found)
    const ends = Find(texts[1], found[0][0], found[0][1]) ?? found
    cursor(found[0])
    normal! v
    cursor(ends[1])
    if get(arguments, 'selectToEndOfLine') | execute 'normal! g_' | endif
  endif
  return 'Opened file: ' .. path
enddef
