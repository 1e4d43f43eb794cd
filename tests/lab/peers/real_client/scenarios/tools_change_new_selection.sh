# shellcheck shell=bash
# A selection that is made at the moment when the tools change is shown.
# Clients: claude-*
start_editor
start_client_and_settle
send_commands '{"cmd":"tools","offer":["openDiff"]}' '{"cmd":"select","path":"b.txt","start":[0,0],"end":[2,0]}'
# By then the client has listed the tools and forgotten what came before.
sleep 4
expect_screen '2 lines selected' 10
