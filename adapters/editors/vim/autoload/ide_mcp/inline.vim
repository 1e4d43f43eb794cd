vim9script
# Shows a proposal in one window: the new lines are marked, and the lines that they replace stand above them as virtual
# text.

import autoload './sides.vim'
import autoload './strings.vim'

const max_edits = 300 # with more edits, all is shown as one change: the search takes quadratic time, 0.2 s
const max_old = 2000 # old lines that are shown
const max_new = 20'000 # new lines, or none is marked: 0.02 s after each edit, and 4 s for 70,000
const max_columns = 500 # of an old line that is shown

highlight default link IdeMcpOld DiffDelete
highlight default link IdeMcpNew DiffAdd
sign_define('ide_mcp_new', {linehl: 'IdeMcpNew'})

# Shows in the current window how its proposal differs from the old lines, now and after each edit, and goes to the
# first change. Maps `do`, `]c` and `[c` to what they do in a diff.
export def Show(old: list<string>)
  if empty(prop_type_get('ide_mcp_old')) | prop_type_add('ide_mcp_old', {highlight: 'IdeMcpOld'}) | endif
  setlocal signcolumn=no
  extend(b:ide_mcp, {old: old, tick: 0, changes: []})
  autocmd ide_mcp TextChanged,InsertLeave <buffer> Changed()
  nnoremap <buffer> do <ScriptCmd>Obtain()<CR>
  nnoremap <buffer> ]c <ScriptCmd>Step(1)<CR>
  nnoremap <buffer> [c <ScriptCmd>Step(-1)<CR>
  cursor(get(Changed()->mapnew(Start), 0, 1), 1)
  normal! zz
enddef

# Returns the changes from the old lines to the current text, and marks them.
def Changed(): list<list<number>>
  if b:ide_mcp.tick != b:changedtick
    b:ide_mcp.changes = Changes(b:ide_mcp.old, getline(1, '$')->map((_, line) => tr(line, "\n", strings.nul)))
    Mark(b:ide_mcp.changes)
    b:ide_mcp.tick = b:changedtick
  endif
  return b:ide_mcp.changes
enddef

def Mark(changes: list<list<number>>)
  const [buffer, last] = [bufnr(), line('$')]
  const marked = changes->mapnew((_, change) => change[3])->reduce((sum, added) => sum + added, 0)
  sign_unplace('ide_mcp', {buffer: buffer})
  # From the last sign to the first, each with a number of its own: otherwise Vim looks through all others each time.
  for [_, _, place, added] in marked > max_new ? [] : reverse(copy(changes))
    for number in range(place + added, place + 1, -1)
      sign_place(number, 'ide_mcp', 'ide_mcp_new', buffer, {lnum: number})
    endfor
  endfor
  prop_remove({type: 'ide_mcp_old', all: true})
  var rest = max_old
  for [from, count, place, _] in changes
    for text in slice(b:ide_mcp.old, from, from + min([count, rest]))
      const shown = strings.Line(text->substitute('\t', repeat(' ', &tabstop), 'g'), max_columns)
      # Spaces up to the edge, so that the rest of the line does not have the color of the new line below.
      const edge = repeat(' ', max([&columns - strdisplaywidth(shown), 1]))
      # After the last line there is no line above which the text could stand.
      prop_add(min([place + 1, last]), 0, {type: 'ide_mcp_old', text: shown .. edge, text_wrap: 'truncate',
        text_align: place < last ? 'above' : 'below'})
    endfor
    rest -= min([count, rest])
  endfor
enddef

# Returns the line of a change: the first of its new lines or, if it only removes lines, the line below them.
const Start = (_: number, change: list<number>): number => min([change[2] + 1, line('$')])

# Goes to the next change, or with a negative step to the previous one, as often as the count says.
def Step(step: number)
  const times = v:count1
  const starts = Changed()->mapnew(Start)
  normal! m'
  for _ in range(times)
    const here = line('.')
    const there = copy(starts)->filter((_, number) => step > 0 ? number > here : number < here)
    cursor(get(there, step > 0 ? 0 : -1, here), 1)
  endfor
enddef

# Replaces the change under the cursor by the old lines.
def Obtain()
  for change in Changed()
    const [from, count, place, added] = change
    const start = Start(0, change)
    # Removed lines stand between two others, and the cursor can be on either.
    const first = added == 0 ? place : start
    if line('.') >= first && line('.') <= max([start, place + added])
      append(place + added, slice(b:ide_mcp.old, from, from + count)->map((_, text) => tr(text, strings.nul, "\n")))
      if added > 0 | deletebufline('', place + 1, place + added) | endif
      cursor(start, 1)
      return
    endif
  endfor
enddef

# Returns the changes that turn one list of lines into another. Each is a list of four numbers: the first old line, from
# 0, how many old lines, the first new line, and how many new lines. Follows E. Myers, "An O(ND) Difference Algorithm".
export def Changes(old: list<string>, new: list<string>): list<list<number>>
  const [first: number, last: number] = sides.Equal(old, new)
  const [n, m] = [len(old) - last, len(new) - last]
  if first == n && first == m | return [] | endif
  const whole = [[first, n - first, first, m - first]]
  if first == n || first == m | return whole | endif
  # `reach[k + middle]` is the line of `old` up to which the diagonal `k` reaches after `d` edits.
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

# Follows the edits back to the first one, and joins adjacent ones.
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
