# shellcheck shell=bash
# The client begins each session with `initialize`, on the connection of --ide and on the one for its model. Over other
# transports it first asks `server/discover` (MCP 2026-07-28), after which there are no pushes. Once it does so here too, this crate must answer with something other than -32601. A tap between the client and the editor shows the messages.
# Clients: claude-2.*
start_editor
env -i PATH="$PATH" HOME="$home" "$ide_mcp" tap --port "$editor_port" --out "$work/session.jsonl" --json >"$work/tap.jsonl" &
await 10 grep --quiet '"event":"listening"' "$work/tap.jsonl" || fail 'the tap does not listen'
tap_port=$(sed -n 's/.*"event":"listening".*"port":\([0-9]*\)}$/\1/p' "$work/tap.jsonl")
# The client does not choose an editor by itself if two have the folder open.
client_environment=("CLAUDE_CODE_SSE_PORT=$tap_port")
give_tools_to_model --port "$tap_port"
start_client
expect_attached
await 20 has_event '"event":"model_connected"' || fail 'no connection for the model'

# Prints the kind and the method of the first message of the client on each connection.
first_messages() {
    "$ide_mcp" replay --list --only agent --only -handshake "$work/session.jsonl" |
        awk '!seen[$2]++ { print $2, $5, $6 }'
}
both_began() {
    [ "$(first_messages | wc -l)" = 2 ]
}
await 10 both_began || fail "not two connections: $(first_messages)"
[ "$(first_messages | cut -d ' ' -f 2-)" = $'request initialize\nrequest initialize' ] ||
    fail "the first message is not initialize: $(first_messages)"
