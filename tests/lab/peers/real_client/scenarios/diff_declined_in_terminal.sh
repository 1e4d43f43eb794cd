# shellcheck shell=bash
# The person declines a proposed file in the terminal: nothing is written, and the diff of the
# editor closes.
# Clients: claude-*
start_editor
start_client_and_settle
submit 'write new.txt with proposed'
expect_event '"event":"diff".*"contents":"proposed' 20
expect_screen '1\. Yes' 10
press Escape
expect_event '"event":"diff_closed"' 10
expect_no_file new.txt
