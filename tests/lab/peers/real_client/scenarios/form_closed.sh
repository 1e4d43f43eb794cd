# shellcheck shell=bash
# A form that the person cancels with Escape is answered, and a form that the editor closes leaves the
# terminal.
# Clients: claude-2.*
start_editor
start_client_and_settle
send_commands '{"cmd":"form","form":{"message":"Which tests should run?","requestedSchema":{"type":"object","properties":{"note":{"type":"string"}}}}}'
expect_screen 'Which tests should run\?' 10
sleep 1
press Escape
expect_event '"event":"form_answer".*"action":"cancel"' 10
expect_not_on_screen 'Which tests should run' 10
send_commands '{"cmd":"form","within":4000,"form":{"message":"Which tests should run?","requestedSchema":{"type":"object","properties":{"note":{"type":"string"}}}}}'
expect_screen 'Which tests should run\?' 4
expect_event '"event":"form_answer".*"error":' 10
expect_not_on_screen 'Which tests should run' 5
