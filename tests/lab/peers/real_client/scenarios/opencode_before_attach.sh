# shellcheck shell=bash
# opencode offers no sub-protocol and does not list the tools. It still attaches, and a selection and a mention from
# before its start are shown.
# Clients: opencode-* kilo-*
start_editor
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}' '{"cmd":"mention","path":"b.txt","lines":[1,2]}'
start_client
expect_attached
expect_screen 'a\.txt#' 15
expect_screen '@b\.txt#' 5
