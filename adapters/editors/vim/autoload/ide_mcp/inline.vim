vim9script
# A proposal in one window: its new lines are marked, and the lines that it replaces stand above them, as text that is no
# part of the buffer.

import autoload './sides.vim'
import autoload './strings.vim'

const max_edits = 300 # lines that differ before a change is shown as one: the search takes the square of it, 0.2 s
const max_old = 2000 # lines of before that are shown
const max_columns = 500 # of such a line

highlight default link IdeMcpOld DiffDelete
highlight default link IdeMcpNew DiffAdd
sign_define('ide_mcp_new', {linehl: 'IdeMcpNew'})

# Marks what a proposal changes, and goes to the first change.
export def Mark(buffer: number, old: list<string>, new: list<string>)
  if empty(prop_type_get('ide_mcp_old')) | prop_type_add('ide_mcp_old', {highlight: 'IdeMcpOld'}) | endif
  setlocal signcolumn=no
  const changes = Changes(old, new)
  var rest = max_old
  for [from, count, place, added] in changes
    for line in range(place + 1, place + added)
      sign_place(0, 'ide_mcp', 'ide_mcp_new', buffer, {lnum: line})
    endfor
    # Behind the last line there is none above which a text could stand.
    const is_end = place >= len(new)
    for line in count == 0 ? [] : old[from : from + min([count, rest]) - 1]
      const shown = strings.Line(line->substitute('\t', repeat(' ', &tabstop), 'g'), max_columns)
      # Up to the edge, the color is that of the old line, and not of the new one below.
      const edge = repeat(' ', max([&columns - strdisplaywidth(shown), 1]))
      prop_add(is_end ? len(new) : place + 1, 0, {bufnr: buffer, type: 'ide_mcp_old', text: shown .. edge,
        text_align: is_end ? 'below' : 'above', text_wrap: 'truncate'})
    endfor
    rest -= min([count, rest])
  endfor
  const first = get(changes, 0, [0, 0, 0, 0])
  cursor(min([first[2] + 1, len(new)]), 1)
  normal! zz
enddef

# Returns what to replace in a list of lines, for another one: the first line from 0, the number of lines, the first line
# of the other list, and their number. Follows E. Myers, "An O(ND) Difference Algorithm".
export def Changes(old: list<string>, new: list<string>): list<list<number>>
  const [first: number, last: number] = sides.Equal(old, new)
  const [n, m] = [len(old) - last, len(new) - last]
  if first == n && first == m | return [] | endif
  const whole = [[first, n - first, first, m - first]]
  if first == n || first == m | return whole | endif
  # `reach[k + middle]` is the line of `old` up to which the diagonal `k` reaches after so many edits.
  const [most, middle] = [min([max_edits, n + m - 2 * first]), max_edits + 1]
  var reach = repeat([first], 2 * max_edits + 3)
  var steps: list<list<number>> = []
  for d in range(most + 1)
    steps->add(copy(reach))
    for k in range(-d, d, 2)
      var x = k == -d || (k != d && reach[middle + k - 1] < reach[middle + k + 1]) ? reach[middle + k + 1]
        : reach[middle + k - 1] + 1
      var y = x - k
      while x < n && y < m && old[x] ==# new[y]
        x += 1
        y += 1
      endwhile
      reach[middle + k] = x
      if x >= n && y >= m | return Back(steps, middle, first, n, m) | endif
    endfor
  endfor
  return whole
enddef

# Goes the way of the edits back, and joins those that follow each other.
def Back(steps: list<list<number>>, middle: number, first: number, n: number, m: number): list<list<number>>
  var [x, y] = [n, m]
  var found: list<list<number>> = []
  for d in range(len(steps) - 1, 1, -1)
    const [reach, k] = [steps[d], x - y]
    const is_new = k == -d || (k != d && reach[middle + k - 1] < reach[middle + k + 1])
    const from = is_new ? reach[middle + k + 1] : reach[middle + k - 1]
    const [a, b] = [from, from - (is_new ? k + 1 : k - 1)]
    const [next_a, next_b] = [is_new ? a : a + 1, is_new ? b + 1 : b]
    if !empty(found) && found[0][0] == next_a && found[0][2] == next_b
      found[0] = [a, found[0][1] + next_a - a, b, found[0][3] + next_b - b]
    else
      found->insert([a, next_a - a, b, next_b - b])
    endif
    [x, y] = [a, b]
  endfor
  return found
enddef
