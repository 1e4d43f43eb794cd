vim9script
# Makes strings safe to show, and converts them for agents. Paths, names, texts and messages come from agents, which can
# be made to send anything. They must stay values: never make them part of a command, of an expression or of the format
# of a status line. Line() makes a string safe for a title, a message or a question.

export const nul = "\uffff" # stands for NUL, which a string cannot have; in a line of a buffer, a line feed does

# Returns a string of an agent so that it is safe to show: one line of at most so many columns, without control
# characters and without marks that change the direction of writing.
export def Line(text: string, columns: number): string
  const line = substitute(tr(text, "\n", ' '),
    '[\x01-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]', ' ', 'g')
  return strdisplaywidth(line) > columns ? printf('%.*S…', max([columns - 1, 0]), line) : line
enddef

# Returns the label of a file in at most so many columns. A longer one loses its beginning.
export def FileName(label: string, columns: number): string
  var line = Line(label, 64)
  while strdisplaywidth(line) > columns | line = '…' .. strcharpart(line, 2) | endwhile
  return line
enddef

# Returns the last part of a path.
export def Tail(path: string): string
  return matchstr(path, '[^/\\]*$')
enddef

# Returns the number of UTF-16 units in the first bytes of a text.
export def Units(text: string, bytes: number): number
  var chars = strpart(text, 0, bytes)->str2list()
  return len(chars) + (max(chars) < 0x10000 ? 0 : chars->filter((_, char) => char >= 0x10000)->len())
enddef

# Returns the URI of a file. Each byte is percent-encoded, except slashes, the characters that RFC 3986 calls
# unreserved, and the colon of a drive.
export def Uri(path: string): string
  const drive = path =~ '^\a:[/\\]' ? '/' .. toupper(path[0]) .. ':' : ''
  const slashed = drive != '' || path =~ '^\\\\' ? tr(path, '\', '/') : path
  const rest = drive != '' ? strpart(slashed, 2) : slashed
  return 'file://' .. drive .. range(len(rest))->mapnew((_, i) => strpart(rest, i, 1))
    ->map((_, byte) => byte =~ '[[:alnum:]/._~-]' ? byte : printf('%%%02X', char2nr(byte)))->join('')
enddef

# Returns a key that is the same for all spellings of a path. On Windows, they differ in case and, with 'shellslash', in
# the slashes.
export def Key(path: string, is_windows = !!has('win32')): string
  return is_windows ? tolower(tr(path, '\', '/')) : path
enddef
