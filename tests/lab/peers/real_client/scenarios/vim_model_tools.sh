# shellcheck shell=bash
# The model lists the files of the project with a tool of Vim, which an option has turned on.
# Clients: claude-2.*
# Needs: vim
root=$(cd "$here/../../../.." && pwd)
mkdir -p "$home/.vim/pack/ide-mcp/start"
ln -s "$root/adapters/editors/vim" "$home/.vim/pack/ide-mcp/start/"
cat >"$home/.vim/vimrc" <<VIM
func Log(event)
  call writefile([json_encode(a:event)], '$events', 'a')
endfunc
let g:ide_mcp = #{on_event: function('Log'), tools: ['files']}
VIM
start_editor_in_terminal vim b.txt
give_tools_to_model
start_client
expect_attached
await 20 has_event '"event":"model_connected"' || fail 'no connection for the model'
sleep 4
submit 'call mcp__editor__files {"contains":"a.txt"}'
expect_screen '1\. Yes' 20
sleep 1.5
press Enter
expect_model 'files\":[\"a.txt\"]'
expect_not_in_model mcp__editor__symbols
