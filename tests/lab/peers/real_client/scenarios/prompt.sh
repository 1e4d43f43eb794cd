# shellcheck shell=bash
# A prompt of the editor is offered as a command. The words after it become its arguments, and its text
# reaches the model.
# Clients: claude-2.*
start_editor
send_commands '{"cmd":"context","prompts":[{"name":"review","description":"Reviews a topic","arguments":[{"name":"focus","required":true},{"name":"depth"}],"text":"Review the rhubarb of {focus}, {depth}."}]}'
start_client_and_settle
tmux_run send-keys -l '/ide:rev'
expect_screen '/ide:review.*Reviews a topic' 10
# Version 2.1.332 knows the command only by the name that the completion writes.
press Tab
expect_screen '/mcp__ide__review +\[focus\]' 10
tmux_run send-keys -l 'marzipan deeply'
expect_screen 'review marzipan deeply' 10
press Enter
expect_event '"event":"prompt".*"name":"review","arguments":\{"depth":"deeply","focus":"marzipan"\}' 20
expect_model 'Review the rhubarb of marzipan, deeply.'
