-- The parser of Neovim 0.12 for Markdown ends Neovim at 255 blocks in each other, because it has 1,024 bytes for them: one
-- line of 255 `>` or 255 items is enough, and so are nested lists of 255 lines. Half of that is more than people write.
local max_nested = 128

--- Returns whether a text can have more nested blocks. Each takes a mark or two columns of indentation; marks are `>`,
--- and `-`, `*`, `+` or a number before a blank. The type of the file does not matter: parsers of other authors find
--- Markdown in comments.
return function(text)
  -- Without NUL, UTF-16 has the marks too. Shorter runs are many, and take a second in 16 MiB.
  for run in text:gsub('%z', ''):gmatch(('[%d \t>*+.)-]'):rep(12) .. '*') do
    -- Lines such as `-----` have no marks, nor have numbers such as 0.5.
    run = #run > max_nested / 2 and run:gsub('%f[%d]%d+[.)]%f[%s%z]', '-'):gsub('[*+-][*+-]+', '.') or ''
    for nest in run:gmatch('[ \t>*+-]+') do
      local _, blanks = nest:gsub(' ', '')
      local _, tabs = nest:gsub('\t', '') -- of four columns
      if math.floor(#nest - blanks / 2 + tabs) > max_nested then return true end
    end
  end
  return false
end
