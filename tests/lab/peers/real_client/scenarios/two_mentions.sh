# shellcheck shell=bash
# Two mentions at once both arrive, one of a whole file and one of lines.
# Clients: claude-*
start_editor
start_client_and_settle
send_commands '{"cmd":"mention","path":"a.txt"}' '{"cmd":"mention","path":"b.txt","lines":[1,2]}'
expect_screen '@a\.txt +@b\.txt#L2-3' 10
