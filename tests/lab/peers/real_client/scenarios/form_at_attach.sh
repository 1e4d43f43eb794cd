# shellcheck shell=bash
# A form that is sent at the moment of attaching is shown. The client itself cancels forms that arrive in its first 20
# ms, so the server must hold it back.
# Clients: claude-2.*
start_editor
{ tail --lines=+1 --follow "$events" | grep --line-buffered --max-count=1 '"event":"connected"' || true; } >/dev/null &
attached=$!
start_client
wait "$attached" || true # tail ends with a broken pipe
send_commands '{"cmd":"form","form":{"message":"Which tests should run?","requestedSchema":{"type":"object","properties":{"note":{"type":"string","title":"Note"}},"required":["note"]}}}'
expect_screen 'Which tests should run\?' 20
sleep 1
note_and_accept quince
expect_event '"event":"form_answer".*"action":"accept","content":\{"note":"quince"\}' 10
