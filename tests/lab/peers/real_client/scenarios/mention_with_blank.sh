# shellcheck shell=bash
# The model gets a mentioned file whose name has a space.
# Clients: claude-2.*
printf 'gooseberry\n' >"$project/b c.txt"
start_editor
start_client_and_settle
send_commands '{"cmd":"mention","path":"b c.txt"}'
expect_screen '@"[^"]*b c\.txt"' 10
submit 'what is this'
expect_model gooseberry
