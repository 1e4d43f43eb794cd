vim9script
# Texts as they can be shown, and as agents receive them. Paths, names, texts and messages come from agents, which can be
# made to send anything. They are values: none of them becomes part of a command, of an expression or of the format of a
# status line. Line() makes safe what is shown in a title, in a message or in a question.

export const nul = "\uffff" # a NUL of JSON in a text, which cannot have it; in a line of a buffer it is a line feed

# Returns a text of an agent as it can be shown: one line without control characters and without marks that turn the
# direction of what follows, and in at most so many columns.
export def Line(text: string, columns: number): string
  const line = substitute(tr(text, "\n", ' '),
    '[\x01-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]', ' ', 'g')
  return strdisplaywidth(line) > columns ? printf('%.*S…', max([columns - 1, 0]), line) : line
enddef

# Returns the label of a file in at most so many columns: of a longer one the end.
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

# Returns the URI of a file: each byte is encoded but slashes, those that RFC 3986 calls unreserved, and the colon of a
# drive.
export def Uri(path: string): string
  const drive = path =~ '^\a:[/\\]' ? '/' .. toupper(path[0]) .. ':' : ''
  const slashed = drive != '' || path =~ '^\\\\' ? tr(path, '\', '/') : path
  const rest = drive != '' ? strpart(slashed, 2) : slashed
  return 'file://' .. drive .. range(len(rest))->mapnew((_, i) => strpart(rest, i, 1))
    ->map((_, byte) => byte =~ '[[:alnum:]/._~-]' ? byte : printf('%%%02X', char2nr(byte)))->join('')
enddef

# Returns what the paths of one file have in common. On Windows they differ in the case, and with 'shellslash' in the
# slashes.
export def Key(path: string, is_windows = !!has('win32')): string
  return is_windows ? tolower(tr(path, '\', '/')) : path
enddef
