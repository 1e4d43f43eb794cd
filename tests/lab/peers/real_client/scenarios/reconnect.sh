# shellcheck shell=bash
# The editor is stopped and started again on its port and with its token. What is selected and
# mentioned while the client is away is shown after it has attached again. Version 1.0.51 never
# reconnects.
# Clients: claude-2.*
start_editor
start_client_and_settle
stop_editor
start_editor
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}' '{"cmd":"mention","path":"b.txt","lines":[1,2]}'
expect_attached
expect_screen '1 line selected' 15
expect_screen '@b\.txt#L2-3' 5
