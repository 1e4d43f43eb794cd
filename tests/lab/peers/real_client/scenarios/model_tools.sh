# shellcheck shell=bash
# The model is given the tools for models over a connection of its own, and calls one of them. The
# selection and a diff go to the connection of --ide.
# Clients: claude-2.*
start_editor
give_tools_to_model
start_client
expect_attached
await 20 has_event '"event":"model_connected"' || fail 'no connection for the model'
sleep 4
agent=$(conn_of '"event":"connected"') model=$(conn_of '"event":"model_connected"')
[ "$agent" != "$model" ] || fail "one connection for both: $agent"
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}'
expect_screen '1 line selected' 10
submit 'call mcp__editor__getWorkspaceFolders'
expect_screen '1\. Yes' 20
sleep 1.5
press Enter
expect_event "\"event\":\"call\",\"conn\":$model,\"tool\":\"getWorkspaceFolders\"" 20
# The selection is a part of the prompt, and the result of the call is in the next request.
expect_model marmalade
expect_model rootPath
expect_not_in_model mcp__editor__openDiff
submit 'write new.txt with proposed'
expect_event "\"event\":\"diff\",\"conn\":$agent,.*\"contents\":\"proposed" 20
send_commands '{"cmd":"answer","verdict":"accept"}'
expect_file new.txt proposed
