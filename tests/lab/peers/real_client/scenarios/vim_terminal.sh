# shellcheck shell=bash
# The client in a terminal of Vim: the terminal hides and shows, a file is mentioned from the tree, a proposal is accepted
# by a key in another window, and of two agents the chosen one gets a mention.
# Clients: claude-2.*
# Needs: vim
root=$(cd "$here/../../../.." && pwd)
mkdir -p "$home/.vim/pack/ide-mcp/start" "$work/bin"
ln -s "$root/adapters/editors/vim" "$home/.vim/pack/ide-mcp/start/"
cat >"$home/.vim/vimrc" <<VIM
func Log(event)
  call writefile([json_encode(a:event)], '$events', 'a')
endfunc
let g:ide_mcp = #{on_event: function('Log'), terminal: #{size: 0.6}}
set laststatus=2 statusline=%f\ %{ide_mcp#Status()}
nmap ,t <Plug>(ide-mcp-toggle)
tmap <C-]> <Plug>(ide-mcp-toggle)
nmap ,f <Plug>(ide-mcp-focus)
tmap <C-f> <Plug>(ide-mcp-focus)
nmap ,y <Plug>(ide-mcp-accept)
VIM
write_client_program "$work/bin/claude"
PATH=$work/bin:$PATH start_editor_in_terminal vim b.txt
tmux_socket=$tmux_socket.editor # the client is on the screen of the editor

tmux_run send-keys ,t
expect_attached
expect_screen 'Claude Code' 20
sleep 4 # as start_client_and_settle
press C-]
expect_not_on_screen 'Claude Code' 10
expect_screen apricot 10
tmux_run send-keys ,t
expect_screen 'Claude Code' 10

press C-f
tmux_run send-keys ':Explore' Enter '/a.txt' Enter ':IdeMcp mention' Enter
expect_screen '@a\.txt' 10
tmux_run send-keys ,f C-u C-f

tmux_run send-keys ':IdeMcp! send write new.txt with proposed' Enter
expect_event '"contents":"proposed' 20
expect_screen ':w accepts' 10
sleep 1 # a view accepts nothing in its first half second
tmux_run send-keys ':tabprevious' Enter C-f
tmux_run send-keys ,y
expect_file new.txt proposed

press ,t # hides the terminal
tmux_run send-keys ':IdeMcp open @second' Enter
expect_attached
sleep 4
press C-]
tmux_run send-keys ':IdeMcp agents' Enter
expect_screen 'Agents' 10
tmux_run send-keys Enter
expect_screen 'Disconnect it' 10
tmux_run send-keys Enter
expect_screen '→claude-code' 10
tmux_run send-keys ':IdeMcp mention b.txt 2 3' Enter ':IdeMcp toggle @second' Enter
sleep 2
expect_not_on_screen '@b\.txt' 2
press C-]
tmux_run send-keys ':IdeMcp toggle @1' Enter
expect_screen '@b\.txt#L2-3' 10
