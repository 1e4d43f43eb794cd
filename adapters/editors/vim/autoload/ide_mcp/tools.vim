vim9script
# The tools that Vim offers to a model if the option `tools` names them. Answers are limited in size, cover only the
# open folders, and say how many results there are in all.

import autoload './files.vim'
import autoload './options.vim'
import autoload './program.vim'
import autoload './sidecar.vim'
import autoload './strings.vim'

const [max_results, max_files, max_bytes] = [200, 1000, 64 * 1024]
const max_tags = 16 * 1024 * 1024 # bytes of all tags files: Vim searches them while the person waits, 0.3 s
const max_time = 10'000 # milliseconds that a language server has to answer

const path_argument = {type: 'string', description: 'The absolute path of the file, or its path in the open folder'}

const declared: dict<dict<any>> = {
  symbols: {
    description: 'Lists the symbols of a file: name, kind and line (from 1), by a language server or a tags file',
    schema: {type: 'object', required: ['path'], properties: {path: path_argument}},
  },
  references: {
    description: 'Lists where a symbol is used in the project, by a language server',
    schema: {type: 'object', required: ['path', 'line', 'symbol'], properties: {path: path_argument,
      line: {type: 'integer', description: 'The line of the file that has the symbol, from 1'},
      symbol: {type: 'string', description: 'The symbol as that line has it'}}},
  },
  files: {
    description: 'Lists the files of the project, without those that Git ignores',
    schema: {type: 'object', properties: {
      part: {type: 'string', description: 'A part of the path; without it, all files are listed'}}},
  },
}

# Returns the tools that the person has chosen, for the sidecar. Models get them by `ide-mcp mcp-config`.
export def Declared(): list<dict<any>>
  return options.chosen.tools->mapnew((_, name) => extendnew(declared[name], {name: name, models: true}))
enddef

# Returns whether a path, with its links resolved, is one of the open folders or lies in one.
def IsInside(path: string): bool
  const key = strings.Key(resolve(path))
  return sidecar.Folders()->indexof((_, folder) => {
    const parent = strings.Key(resolve(folder))
    return key == parent || stridx(key, parent->substitute('/\?$', '/', '')) == 0
  }) >= 0
enddef

# Returns the absolute path of a file that a model names.
def PathOf(call: dict<any>): string
  const named = get(call.arguments, 'path', '')
  if type(named) != v:t_string || named =~ '[[:cntrl:]]' | throw 'path must be the name of a file' | endif
  const path = simplify(isabsolutepath(named) ? named : $'{sidecar.Folders()->get(0, "")}/{named}')
  if !IsInside(path) || !files.IsPlain(path) | throw 'there is no such file in the open folders' | endif
  return path
enddef

# Returns the first results, at most `count` and 64 KiB, and how many there are in all.
def Bound(name: string, results: list<any>, count: number): dict<any>
  var [shown, rest] = [0, max_bytes]
  while shown < min([count, len(results)])
    rest -= len(json_encode(results[shown]))
    if rest < 0 | break | endif
    shown += 1
  endwhile
  return {[name]: slice(results, 0, shown), shown: shown, total: len(results)}
enddef

# Asks the language server that vim-lsp has for a file. Returns whether there is one.
def AskServer(method: string, path: string, params: dict<any>, Then: func, Fail: func): bool
  const buffer = files.Buffer(path)
  if buffer == 0 || !exists('*lsp#get_allowed_servers') | return false | endif
  const servers = lsp#get_allowed_servers(buffer)
  if empty(servers) | return false | endif
  var is_over = false
  timer_start(max_time, (_) => {
    if !is_over | Fail('the language server does not answer') | endif
    is_over = true
  })
  lsp#send_request(servers[0], {method: method, bufnr: buffer,
    params: extendnew(params, {textDocument: {uri: strings.Uri(path)}}),
    on_notification: (data) => {
      if is_over | return | endif
      is_over = true
      try
        Then(get(get(data, 'response', {}), 'result', []))
      catch
        Fail(v:exception)
      endtry
    }})
  return true
enddef

# Returns the symbols of LSP, which can be nested, as a flat list.
def Flatten(symbols: list<any>): list<dict<any>>
  var found: list<dict<any>> = []
  for symbol in symbols
    const range = has_key(symbol, 'location') ? symbol.location.range : get(symbol, 'selectionRange', symbol.range)
    found->add({name: symbol.name, kind: symbol.kind, line: range.start.line + 1})
    found->extend(Flatten(get(symbol, 'children', [])))
  endfor
  return found
enddef

def Symbols(call: dict<any>): any
  const path = PathOf(call)
  return (Done, Fail) => {
    const is_asked = AskServer('textDocument/documentSymbol', path, {},
      (result) => Done(Bound('symbols', Flatten(result ?? []), max_results)), Fail)
    if is_asked | return | endif
    const tags = tagfiles()
    # Vim would wait for the writer of a FIFO.
    if empty(tags) || tags->indexof((_, file) => getftype(resolve(file)) != 'file') >= 0
      throw 'there is no language server for the file, and no tags file'
    endif
    if copy(tags)->map((_, file) => getfsize(file))->reduce((a, b) => a + b) > max_tags
      throw $'the tags files have more than {max_tags / 1024 / 1024} MiB'
    endif
    const key = strings.Key(resolve(path))
    # Without the second argument, a file name: with it, Vim 9.0 runs what the file name of a tag has in backticks.
    const found = taglist('.')->filter((_, tag) => strings.Key(resolve(fnamemodify(tag.filename, ':p'))) == key)
      ->mapnew((_, tag) => ({name: tag.name, kind: tag.kind, line: LineOf(path, tag)}))->sort((a, b) => a.line - b.line)
    Done(Bound('symbols', found, max_results))
  }
enddef

# Returns the line of a tag, or 0 if the file has no such line. The command of a tag is a line number, or a pattern with
# the text of the line.
def LineOf(path: string, tag: dict<any>): number
  if has_key(tag, 'line') | return str2nr(tag.line) | endif
  if tag.cmd =~ '^\d\+$' | return str2nr(tag.cmd) | endif
  const line = tag.cmd->substitute('^[/?]^\?\|$\?[/?]$', '', 'g')->substitute('\\\(.\)', '\1', 'g')
  return files.Lines(path)->index(line) + 1
enddef

def References(call: dict<any>): any
  const path = PathOf(call)
  const [line, symbol] = [get(call.arguments, 'line'), get(call.arguments, 'symbol')]
  if type(line) != v:t_number || type(symbol) != v:t_string || line < 1 || symbol == ''
    throw 'line must be a number from 1, and symbol a string'
  endif
  const row = get(files.Lines(path), line - 1, '')
  # A whole word is better: `def` also occurs in `undefined`.
  const word = match(row, '\C\V\<' .. escape(symbol, '\') .. '\>')
  const at = word < 0 ? stridx(row, symbol) : word
  if at < 0 | throw $'line {line} does not have {strings.Line(symbol, 60)}' | endif
  const position = {line: line - 1, character: strings.Units(row, at)}
  return (Done, Fail) => {
    const is_asked = AskServer('textDocument/references', path,
      {position: position, context: {includeDeclaration: true}}, (result) => {
        const places = (result ?? [])
          ->mapnew((_, place) => ({path: PathOfUri(place.uri), line: place.range.start.line + 1}))
          ->filter((_, place) => place.path != '' && IsInside(place.path))
        Done(Bound('references', places, max_results))
      }, Fail)
    if !is_asked | throw 'vim-lsp has no language server for the file, or Vim has not opened the file' | endif
  }
enddef

# Returns the path of a file URI, or an empty string.
def PathOfUri(uri: string): string
  if uri !~ '^file:///' | return '' | endif
  # An escape is a byte, but nr2char() makes a character of it. In Latin-1, that character is this byte again.
  const path = strpart(uri, 7)->substitute('%\(\x\x\)', '\=nr2char(str2nr(submatch(1), 16))', 'g')
    ->iconv('utf-8', 'latin1')
  return path =~ '^/\a:/' ? strpart(path, 1) : path
enddef

def Files(call: dict<any>): any
  const part = get(call.arguments, 'part', '')
  if type(part) != v:t_string | throw 'part must be a string' | endif
  const folder = sidecar.Folders()->get(0, '')
  const Answer = (Done: func, paths: list<string>) => {
    const found = part == '' ? paths : copy(paths)->filter((_, path) => stridx(path, part) >= 0)
    Done(extend(Bound('files', found, max_files), {folder: folder}))
  }
  return (Done, Fail) => {
    # The settings of the repository must not start a program. If they name another work tree, git fails, because this
    # folder is outside of it.
    const settings = ['--literal-pathspecs', '-c', 'core.quotepath=off', '-c', 'core.fsmonitor=false']
    const listing = ['ls-files', '-co', '--exclude-standard', '--deduplicate', '--', folder]
    program.Run(['git', '-C', folder] + settings + listing, '',
      (_) => Fail('the open folder is not a Git repository'), (text) => Answer(Done, text->split("\n")))
  }
enddef

export const answers: dict<func> = {symbols: Symbols, references: References, files: Files}
