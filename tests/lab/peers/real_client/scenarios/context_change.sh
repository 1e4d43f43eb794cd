# shellcheck shell=bash
# The client forgets its selection when it lists prompts or resources again. The editor sends the
# selection again.
# Clients: claude-2.*
start_editor
start_client
expect_attached
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}'
expect_screen '1 line selected' 15
# The selection is repeated for the last time 7 s after the list of tools.
sleep 8
send_commands '{"cmd":"context","prompts":[{"name":"late","text":"x"}],"resources":[{"uri":"notes://late","name":"late","text":"x"}]}'
# By then the client has listed them and forgotten its selection.
sleep 1
expect_screen '1 line selected' 10
submit 'what is this'
expect_model marmalade
