# shellcheck shell=bash
# A selection that is cleared leaves the screen, and the model does not get its text.
# Clients: claude-*
start_editor
start_client_and_settle
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}'
expect_screen '1 line selected' 10
send_commands '{"cmd":"clear"}'
expect_not_on_screen '1 line selected' 10
submit 'what is this'
expect_model 'what is this'
expect_not_in_model marmalade
