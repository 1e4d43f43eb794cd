# shellcheck shell=bash
# Neovim with its plugin: a selection is shown, a proposal is accepted with a change, the model reads the
# quickfix list, and another proposal is rejected.
# Clients: claude-2.*
# Needs: nvim
root=$(cd "$here/../../../.." && pwd)
cat >"$work/init.lua" <<LUA
vim.opt.rtp:prepend('$root/adapters/editors/nvim')
require('ide-mcp').setup({ on_event = function(event)
  local file = io.open('$events', 'a')
  file:write(vim.json.encode(event) .. '\n')
  file:close()
end })
LUA
start_editor_in_terminal nvim -u "$work/init.lua" b.txt
start_client_and_settle
type_in_editor Vj
expect_screen '2 lines selected' 10
submit 'what is this'
expect_model blackberry
submit 'write new.txt with proposed'
expect_event '"contents":"proposed' 20
sleep 2 # the view waits for a pause, and accepts nothing in its first half second
type_in_editor ggOaltered Escape :w Enter
expect_file new.txt $'altered\nproposed'
type_in_editor Escape ":call setqflist([{'filename': 'b.txt', 'lnum': 2, 'text': 'damson is wrong'}])" Enter
submit 'call ReadMcpResourceTool {"server":"ide","uri":"nvim://quickfix"}'
expect_model 'damson is wrong'
submit 'write other.txt with unwanted'
expect_event '"contents":"unwanted' 20
sleep 2 # the view waits for a pause, and accepts nothing in its first half second
type_in_editor :q Enter
expect_screen 'other.txt' 10
expect_no_file other.txt
