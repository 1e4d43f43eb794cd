# shellcheck shell=bash
# A selection and a mention from before the client starts are shown once it has attached, and the
# model gets the text.
# Clients: claude-*
start_editor
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}' '{"cmd":"mention","path":"b.txt","lines":[1,2]}'
start_client
expect_attached
expect_screen '1 line selected' 15
expect_screen '@b\.txt#L2-3' 5
submit 'what is this'
expect_model marmalade
expect_model cherry
