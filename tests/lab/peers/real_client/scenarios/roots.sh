# shellcheck shell=bash
# The editor is told in which folder the client was started.
# Clients: claude-*
start_editor
start_client
expect_attached
expect_event "\"event\":\"roots\".*\"uri\":\"file://$project\"" 15
