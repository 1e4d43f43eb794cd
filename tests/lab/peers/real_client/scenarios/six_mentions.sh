# shellcheck shell=bash
# Six mentions at once all arrive, in order.
# Clients: claude-*
start_editor
start_client_and_settle
send_commands '{"cmd":"mention","path":"b.txt","lines":[0,1]}' '{"cmd":"mention","path":"b.txt","lines":[0,2]}' \
    '{"cmd":"mention","path":"b.txt","lines":[0,3]}' '{"cmd":"mention","path":"b.txt","lines":[1,2]}' \
    '{"cmd":"mention","path":"b.txt","lines":[1,3]}' '{"cmd":"mention","path":"b.txt","lines":[2,3]}'
expect_screen '@b\.txt#L1-2 +@b\.txt#L1-3 +@b\.txt#L1-4 +@b\.txt#L2-3 +@b\.txt#L2-4 +@b\.txt#L3-4' 10
