# shellcheck shell=bash
# The model reads resources of the editor by itself: one that the editor declares, and the selection.
# Clients: claude-2.*
start_editor
send_commands '{"cmd":"context","resources":[{"uri":"notes://today","name":"today","mimeType":"text/plain","text":"Buy rhubarb."}]}' \
    '{"cmd":"select","path":"b.txt","start":[1,0],"end":[1,10]}'
start_client_and_settle
submit 'call ReadMcpResourceTool {"server":"ide","uri":"notes://today"}'
expect_event '"event":"resource".*"uri":"notes://today"' 20
expect_model 'Buy rhubarb.'
submit 'call ReadMcpResourceTool {"server":"ide","uri":"ide://selection"}'
expect_event '"event":"call".*"tool":"getCurrentSelection"' 20
expect_model 'ide://selection\",\"mimeType'
