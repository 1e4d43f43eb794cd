# shellcheck shell=bash
# The model of opencode gets exactly the mentioned lines. It counts lines from 1, the protocol from
# 0.
# Clients: opencode-* kilo-*
start_editor
start_client_and_settle
send_commands '{"cmd":"mention","path":"b.txt","lines":[1,2]}'
expect_screen '@b\.txt#' 10
submit 'what is this'
expect_model blackberry
expect_model cherry
expect_not_in_model apricot
expect_not_in_model damson
