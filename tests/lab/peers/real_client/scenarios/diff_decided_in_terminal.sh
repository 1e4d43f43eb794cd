# shellcheck shell=bash
# The person accepts a proposed file in the terminal: the client writes it, and the diff of the
# editor closes.
# Clients: claude-*
start_editor
start_client_and_settle
submit 'write new.txt with proposed'
expect_event '"event":"diff".*"contents":"proposed' 20
expect_screen '1\. Yes' 10
# 2.1.332 ignores Enter in the first moments of its question.
sleep 1.5
press Enter
expect_file new.txt proposed
expect_event '"event":"diff_closed"' 10
