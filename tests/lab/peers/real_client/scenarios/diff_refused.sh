# shellcheck shell=bash
# A proposed file that the person rejects in the editor is not written, and the client says so.
# Clients: claude-*
start_editor
start_client_and_settle
submit 'write new.txt with proposed'
expect_event '"event":"diff".*"contents":"proposed' 20
send_commands '{"cmd":"answer","verdict":"reject"}'
expect_screen '[Rr]ejected write' 20
expect_no_file new.txt
