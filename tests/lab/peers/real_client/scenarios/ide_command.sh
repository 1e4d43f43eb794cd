# shellcheck shell=bash
# What a person reads who loses the editor or finds none: docs/troubleshooting.md has these words.
# Clients: claude-2.1.332
start_editor
start_client_and_settle
stop_editor
expect_screen 'ide-mcp editor disconnected' 40

mkdir -p "$home/elsewhere"
here_is=$project
project=$home/elsewhere start_editor
submit /ide
expect_screen 'No available IDEs detected' 10
expect_screen 'Found 1 other running IDE not open in the current directory' 5
press Escape
stop_editor

# A lock file of a living process, on whose port nobody listens.
printf '{"pid":%s,"workspaceFolders":["%s"],"ideName":"Silent","transport":"ws","authToken":"0123456789abcdef"}' \
    "$$" "$here_is" >"$home/.claude/ide/41113.lock"
submit /ide
expect_screen 'Silent' 10
press Up
expect_screen '❯ +Silent' 10
press Enter
expect_screen 'Connect to your IDE automatically' 10
sleep 1 # the client ignores keys in the first moments
press Enter
expect_screen "Couldn't connect to Silent" 40
