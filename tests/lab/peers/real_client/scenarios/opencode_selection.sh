# shellcheck shell=bash
# A selection is shown and given to the model of opencode; once it is cleared, it is not shown any
# more.
# Clients: opencode-* kilo-*
start_editor
start_client_and_settle
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}'
expect_screen 'a\.txt#' 10
submit 'what is this'
expect_model marmalade
send_commands '{"cmd":"clear"}'
expect_not_on_screen 'a\.txt#' 10
