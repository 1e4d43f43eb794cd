# shellcheck shell=bash
# The editor learns the folder in which the client was started.
# Clients: claude-*
start_editor
start_client
expect_attached
expect_event "\"event\":\"roots\".*\"uri\":\"file://$project\"" 15
