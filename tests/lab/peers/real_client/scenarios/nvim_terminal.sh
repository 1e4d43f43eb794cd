# shellcheck shell=bash
# The client in a terminal of Neovim, opened by the plugin: it attaches, hides and comes back, takes a mention from
# netrw, and its proposal is accepted by a key in another window. Of two agents, the chosen one takes the mention.
# Clients: claude-2.*
# Needs: nvim
root=$(cd "$here/../../../.." && pwd)

write_client_program "$work/agent" --ide # in a terminal of an editor, it attaches without this
cat >"$work/init.lua" <<LUA
vim.opt.rtp:prepend('$root/adapters/editors/nvim')
vim.o.columns, vim.o.lines = 120, 40
vim.keymap.set({ 'n', 't' }, '<F5>', '<Plug>(ide-mcp-toggle)')
vim.keymap.set({ 'n', 't' }, '<F6>', '<Plug>(ide-mcp-accept)')
vim.keymap.set({ 'n', 't' }, '<F7>', '<Plug>(ide-mcp-focus)')
require('ide-mcp').setup({
  terminal = { command = { '$work/agent' }, size = 70 },
  on_event = function(event)
    local file = io.open('$events', 'a')
    file:write(vim.json.encode(event) .. '\n')
    file:close()
  end,
})
LUA
start_editor_in_terminal nvim -u "$work/init.lua" a.txt
tmux_socket=$tmux_socket.editor # the client is in there too
tmux_run resize-window -x 150 -y 45

press F5
expect_attached
sleep 4 # no message says when the client begins to accept pushes
press F5
expect_not_on_screen 'shortcuts|❯' 10
press F5
expect_screen '❯' 10
press F7 # back in the file

tmux_run send-keys ':Explore' Enter /b.txt Enter ':IdeMcp mention' Enter
expect_screen '@b.txt' 20
press F7
press C-c # clears the prompt
expect_not_on_screen '@b.txt' 10

# A text is typed, and submitted with `!`.
press F7
tmux_run send-keys ':IdeMcp send what are' Enter
expect_screen '❯.*what are' 10
tmux_run send-keys ':IdeMcp send! these berries' Enter
expect_model 'these berries'
press F7

submit 'write new.txt with proposed'
expect_event '"contents":"proposed' 20
expect_screen ':w accepts' 20
tmux_run send-keys gt # the tab of the terminal
sleep 1               # a view accepts nothing in its first half second
press F6
expect_file new.txt proposed
expect_screen '❯' 20

tmux_run send-keys C-\\ C-n ':IdeMcp open 2' Enter
expect_attached
sleep 4
tmux_run send-keys C-\\ C-n ':IdeMcp toggle 2' Enter ':IdeMcp agents' Enter
expect_screen '1: claude-code .*, terminal 1' 10
expect_screen '2: claude-code .*, terminal 2' 10
tmux_run send-keys 1 Enter
sleep 1
tmux_run send-keys 1 Enter
sleep 1
tmux_run send-keys ':IdeMcp mention a.txt 1 2' Enter
expect_screen '@a.txt#L1-2' 20
