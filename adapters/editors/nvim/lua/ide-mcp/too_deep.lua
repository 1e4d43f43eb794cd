-- The Markdown parser of Neovim 0.12 aborts Neovim at 255 nested blocks, because it has 1,024 bytes for them. A line
-- with 255 `>` or 255 list items is enough, and so are nested lists in 255 lines. Half of that is more than people
-- write.
local max_nested = 128

--- Returns whether a text can have more than `max_nested` nested blocks. Each block takes a mark or two columns of
--- indentation; marks are `>`, and `-`, `*`, `+` or a number before a blank. This holds for files of any type, because
--- parsers of other languages look for Markdown in comments.
return function(text)
  -- Without the NULs, the marks of UTF-16 are found too. Runs of less than 12 characters are skipped: there are many,
  -- and in 16 MiB they take a second.
  for run in text:gsub('%z', ''):gmatch(('[%d \t>*+.)-]'):rep(12) .. '*') do
    -- Lines such as `-----` and numbers such as 0.5 are not marks.
    run = #run > max_nested / 2 and run:gsub('%f[%d]%d+[.)]%f[%s%z]', '-'):gsub('[*+-][*+-]+', '.') or ''
    for nest in run:gmatch('[ \t>*+-]+') do
      local _, blanks = nest:gsub(' ', '')
      local _, tabs = nest:gsub('\t', '') -- a tab counts as four columns
      if math.floor(#nest - blanks / 2 + tabs) > max_nested then return true end
    end
  end
  return false
end
