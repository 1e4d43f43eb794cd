# shellcheck shell=bash
# Mentioned lines are shown, and the model of opencode gets them.
# Clients: opencode-*
start_editor
start_client_and_settle
send_commands '{"cmd":"mention","path":"b.txt","lines":[1,2]}'
expect_screen '@b\.txt#' 10
submit 'what is this'
expect_model blackberry
