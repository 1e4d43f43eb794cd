# shellcheck shell=bash
# A mention of a whole file is shown, and the model of opencode gets all of it. opencode drops a mention
# without lines, so the editor must send some.
# Clients: opencode-* kilo-*
start_editor
start_client_and_settle
send_commands '{"cmd":"mention","path":"b.txt"}'
expect_screen '@b\.txt' 10
submit 'what is this'
expect_model apricot
expect_model damson
