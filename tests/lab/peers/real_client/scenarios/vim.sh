# shellcheck shell=bash
# Vim with its plugin: a selection is shown, a proposal is accepted with a change, the model reads the
# quickfix list, and another proposal is rejected.
# Clients: claude-2.*
# Needs: vim
root=$(cd "$here/../../../.." && pwd)
mkdir -p "$home/.vim/pack/ide-mcp/start"
ln -s "$root/adapters/editors/vim" "$home/.vim/pack/ide-mcp/start/"
cat >"$home/.vim/vimrc" <<VIM
func Log(event)
  call writefile([json_encode(a:event)], '$events', 'a')
endfunc
let g:ide_mcp = #{on_event: function('Log')}
VIM
start_editor_in_terminal vim b.txt
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
submit 'call ReadMcpResourceTool {"server":"ide","uri":"vim://quickfix"}'
expect_model 'damson is wrong'
submit 'write other.txt with unwanted'
expect_event '"contents":"unwanted' 20
sleep 2 # the view waits for a pause, and accepts nothing in its first half second
type_in_editor :q Enter
expect_screen 'other.txt' 10
expect_no_file other.txt
