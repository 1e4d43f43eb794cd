# shellcheck shell=bash
# In auto mode the client announces each edit to the editor before it writes the file: a new file, and
# two edits of one turn. A call of getDiagnostics by the model announces nothing, nor does an edit that the client
# refuses. The editor undoes the edits.
# Clients: claude-2.*
begins_in_auto_mode=true
mkdir -p "$home/.claude"
printf '{"permissions":{"allow":["mcp__ide__getDiagnostics"]}}' >"$home/.claude/settings.json"
printf '[1, 2, 3]\n' >"$project/c.json"
start_editor
start_client_and_settle

submit 'write new.json with 1'
expect_event '"event":"edit_expected".*new\.json"' 20
expect_event '"event":"edit_ended".*new\.json","reason":"turn_done","confirmed":true' 10
expect_file new.json 1

submit 'list problems of c.json'
expect_event '"event":"call".*c\.json' 20
submit 'edit c.json from 7 to 8'
expect_screen "Couldn't edit file" 20

submit 'edit c.json from 1 to 10 and edit c.json from 2 to 20'
expect_event '"event":"edit_expected".*c\.json"' 20
expect_event '"event":"edit_ended".*c\.json","reason":"next_edit","confirmed":true' 10
expect_event '"event":"edit_ended".*c\.json","reason":"turn_done","confirmed":true' 10
[ "$(grep --count '"event":"edit_expected"' "$events")" = 3 ] || fail 'there are not exactly three hints'

# Prints the members that identify the edit that ended as number $1.
edit() {
    sed -n 's/.*"edit_ended","conn":\([0-9]*\),"edit":\([0-9]*\).*/"conn":\1,"edit":\2/p' "$events" | sed -n "$1p"
}
send_commands "{\"cmd\":\"undo\",$(edit 2)}"
expect_event '"event":"error".*changed since' 5
for number in 3 2 1; do
    send_commands "{\"cmd\":\"undo\",$(edit "$number")}"
    expect_event '"event":"edit_undone"' 5
done
expect_file c.json '[1, 2, 3]'
expect_no_file new.json
