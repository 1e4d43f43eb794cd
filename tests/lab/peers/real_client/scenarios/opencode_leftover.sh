# shellcheck shell=bash
# There is a newer lock file of a dead process for the same folder. opencode does not check whether processes are
# running, but still attaches, because the running editor makes its own file the newest again.
# Clients: opencode-* kilo-*
start_editor
dead=$(sh -c 'echo $$')
left=$home/.claude/ide/41113.lock
printf '{"pid":%d,"workspaceFolders":["%s"],"ideName":"Left","transport":"ws","authToken":"0123456789abcdef"}' \
    "$dead" "$project" >"$left.new"
touch --date '+1 second' "$left.new"
mv "$left.new" "$left"
start_client_and_settle
send_commands '{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,9]}'
expect_screen 'a\.txt#' 10
