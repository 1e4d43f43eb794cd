--- Splits a line into words as a shell does, with quotation marks and backslashes, but without any expansion: no shell
--- sees the words. Returns nil and the reason if a quotation mark is not closed.
return function(line)
  local words, word, quote, at = {}, nil, nil, 1
  while at <= #line do
    local character = line:sub(at, at)
    local follows = line:sub(at + 1, at + 1)
    if character == quote then
      quote = nil
    elseif not quote and (character == '"' or character == "'") then
      quote, word = character, word or ''
    elseif character == '\\' and (not quote and follows ~= '' or quote == '"' and follows:find('["\\$`]')) then
      word, at = (word or '') .. follows, at + 1
    elseif not quote and character:find('%s') then
      if word then table.insert(words, word) end
      word = nil
    else
      word = (word or '') .. character
    end
    at = at + 1
  end
  if quote then return nil, 'a quotation mark is not closed: ' .. quote end
  if word then table.insert(words, word) end
  return words
end
