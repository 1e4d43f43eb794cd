# shellcheck shell=bash
# The client forgets its selection when it lists the tools again. The editor sends the selection
# again, and a mention made at that moment arrives.
# Clients: claude-*
start_editor
start_client_and_settle
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}'
expect_screen '1 line selected' 10
send_commands '{"cmd":"tools","offer":["openDiff"]}' '{"cmd":"mention","path":"b.txt","lines":[1,2]}'
expect_screen '@b\.txt#L2-3' 10
# By then the client has listed the tools and forgotten its selection.
sleep 3
expect_screen '1 line selected' 10
