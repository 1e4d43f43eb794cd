# shellcheck shell=bash
# An editor that never answers getDiagnostics does not block an edit. The client calls the tool before an edit and, if
# that call did not fail, after it. The model sees nothing of these calls. If it calls the tool itself, it gets
# "unknown", and never "no problems".
# Clients: claude-2.*
begins_in_auto_mode=true
mkdir -p "$home/.claude"
printf '{"permissions":{"allow":["mcp__ide__getDiagnostics"]}}' >"$home/.claude/settings.json"
start_sidecar '"tools":["openDiff","getDiagnostics"]'
start_client_and_settle

submit 'write new.json with 1'
expect_event '"event":"call".*"uri":"[^"]*new\.json"' 20
expect_event '"event":"call_ended".*"expired"' 5
expect_event '"event":"call".*"arguments":\{\}' 10
expect_event '"event":"call_ended".*"expired"' 5
expect_file new.json 1
expect_screen 'ok' 10
expect_not_in_model 'unknown: the editor'

submit 'list problems of a.txt'
expect_event '"event":"call".*a\.txt' 20
expect_model 'unknown: the editor has not reported the problems in time'
