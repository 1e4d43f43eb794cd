# shellcheck shell=bash
# A proposed file that the person accepts with a change of their own is written with that change.
# Clients: claude-*
start_editor
start_client_and_settle
submit 'write new.txt with proposed'
expect_event '"event":"diff".*"contents":"proposed' 20
send_commands '{"cmd":"answer","verdict":"accept","contents":"altered\n"}'
expect_file new.txt altered
