#!/usr/bin/env bash
# Runs one scenario with one client. real_client.sh starts it in its own PID and network namespaces: only loopback can
# be reached, and all processes end with them. Scenarios call the functions below.
#
# Usage: driver.sh CLIENT CLIENT_FOLDER SCENARIO_FILE WORK_FOLDER TMUX_SOCKET IDE_MCP
# Exit status: 0 if all expectations were met; otherwise 1, with the reason and the screen on standard output.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
client=$1 installed=$2 scenario=$3 work=$4 tmux_socket=$5 ide_mcp=$6

home=$work/home project=$work/project requests=$work/requests
events=$work/events.jsonl
editor_port=41111 api_port=41112
editor=        # the process id, while it runs
client_arguments=()
client_environment=()
begins_in_auto_mode=false  # a scenario can set this before it starts the client
events_seen=0  # how many lines of $events the expectations have already passed

# --- The editor

# Starts the editor, always with the same port and token, and waits until it listens.
start_editor() {
    env -i PATH="$PATH" HOME="$home" "$ide_mcp" editor --headless --port "$editor_port" --token-of "$work/token.lock" \
        "$project" <"$work/commands" >>"$events" 2>>"$work/editor.err" &
    editor=$!
    expect_event '"event":"listening"' 10
}

# Starts a sidecar with these members in its configuration, as an editor that never answers a call. Waits until it
# listens.
start_sidecar() {
    env -i PATH="$PATH" HOME="$home" "$ide_mcp" sidecar <"$work/commands" >>"$events" 2>>"$work/editor.err" &
    editor=$!
    send_commands "{\"name\":\"sidecar\",\"folders\":[\"$project\"],$1}"
    expect_event '"event":"listening"' 10
}

# Starts a real editor in its own terminal, and waits until it listens. Its plugin appends the events to $events.
start_editor_in_terminal() {
    tmux -S "$tmux_socket.editor" -f /dev/null new-session -d -x 120 -y 40 -c "$project" \
        env -i PATH="$(dirname "$ide_mcp"):$PATH" HOME="$home" TERM=xterm-256color LANG=C.UTF-8 "$@"
    expect_event '"event":"listening"' 10
}

# Types in the editor: texts, and keys as tmux calls them.
type_in_editor() {
    tmux -S "$tmux_socket.editor" send-keys "$@"
}

# Ends the editor, which removes its lock file.
stop_editor() {
    local process=$editor
    editor=
    send_commands '{"cmd":"quit"}'
    timeout 10 tail --pid="$process" --follow /dev/null || fail "the editor did not end within 10 s"
    wait "$process" || fail "the editor ended with an error"
}

# Sends these commands to the editor in one write, each a line of JSON.
send_commands() {
    printf '%s\n' "$@" >&"$commands"
}

# Writes the file with which the client gives the editor's tools to its model, as the server `editor`. A client that
# starts after this reads it. The arguments choose the editor; the default is that of the project.
give_tools_to_model() {
    [ $# -gt 0 ] || set -- --cwd "$project"
    env -i PATH="$PATH" HOME="$home" "$ide_mcp" mcp-config "$@" --out "$work/mcp.json" >/dev/null
    client_arguments=(--mcp-config "$work/mcp.json")
}

# --- The client

# Starts the client in the terminal.
start_client() {
    local program environment=(PATH="$PATH" HOME="$home" TERM=xterm-256color LANG=C.UTF-8 "${client_environment[@]}")
    client_program "$client" "$installed"
    configure_client "$client" "$home" "$project" "$api_port"
    program+=("${client_arguments[@]}")
    tmux_run -f /dev/null new-session -d -x 140 -y 50 -c "$project" \
        "$(printf '%q ' exec env -i "${environment[@]}" "${program[@]}") 2>>$(printf %q "$work/client.err")" \
        \; set-option remain-on-exit on
}

# Writes the program $1, which starts the client with its configuration and with the variables of its own environment,
# for the terminal of an editor. Leaves out our argument $2.
write_client_program() {
    local at program environment=("${client_environment[@]}")
    client_program "$client" "$installed"
    configure_client "$client" "$home" "$project" "$api_port"
    for at in "${!program[@]}"; do
        [ "${program[at]}" != "${2-}" ] || unset "program[$at]"
    done
    printf '#!/bin/bash\nexec env %s "$@"\n' "$(printf '%q ' "${environment[@]}" "${program[@]}")" >"$1"
    chmod +x "$1"
}

# Starts the client and waits until it is ready for the person and for the editor.
start_client_and_settle() {
    start_client
    expect_attached
    # No message says when the client begins to accept pushes. Only scenarios about that moment do without this wait.
    sleep 4
}

# Waits until the client has attached, for the first time or again.
expect_attached() {
    expect_event '"event":"connected"' 60
}

tmux_run() {
    tmux -S "$tmux_socket" "$@"
}

# Types the prompt $1 and submits it.
submit() {
    tmux_run send-keys -l "$1"
    expect_screen "$1" 10
    tmux_run send-keys Enter
}

# Presses the key $1, as tmux calls it.
press() {
    tmux_run send-keys "$1"
}

# Types the note $1 into the selected field of the form on the screen, and accepts the form.
note_and_accept() {
    tmux_run send-keys -l "$1"
    expect_screen "Note: $1" 10
    press Enter
    expect_screen '❯ Accept' 10
    sleep 1 # the client ignores keys in the first moments
    press Enter
}

screen() {
    tmux_run capture-pane -p 2>/dev/null | grep -v '^ *$' || true
}

# --- Expectations

# Waits up to $2 seconds until the screen shows the extended regular expression $1.
expect_screen() {
    await "$2" on_screen "$1" || fail "the screen does not show, within $2 s: $1"
}

# Waits up to $2 seconds until the screen does not show the extended regular expression $1.
expect_not_on_screen() {
    await "$2" not on_screen "$1" || fail "the screen still shows, after $2 s: $1"
}

# Waits up to $2 seconds for a new event of the editor with the extended regular expression $1.
expect_event() {
    await "$2" next_event "$1" || fail "the editor has no new event, within $2 s: $1"
}

# Waits up to 20 seconds until a request to the model contains the text $1.
expect_model() {
    await 20 in_requests "$1" || fail "no request to the model, within 20 s, contains: $1"
}

# Checks that no request to the model contains the text $1.
expect_not_in_model() {
    not in_requests "$1" || fail "a request to the model contains: $1"
}

# Waits up to 20 seconds until the file $1 of the project has exactly the line $2.
expect_file() {
    await 20 has_line "$1" "$2" || fail "$1 does not contain, within 20 s: $2"
}

# Checks that the project has no file $1.
expect_no_file() {
    [ ! -e "$project/$1" ] || fail "$1 was written"
}

on_screen() {
    screen | grep --extended-regexp --quiet -- "$1"
}

next_event() {
    local number
    number=$(grep --extended-regexp --line-number --max-count=1 -- "$1" < <(tail -n "+$((events_seen + 1))" "$events")) ||
        return 1
    events_seen=$((events_seen + ${number%%:*}))
}

in_requests() {
    grep --fixed-strings --quiet --recursive -- "$1" "$requests"
}

has_event() {
    grep --extended-regexp --quiet -- "$1" "$events"
}

# Prints the `conn` of the first event that matches the extended regular expression $1.
conn_of() {
    grep --extended-regexp --max-count=1 -- "$1" "$events" | sed 's/.*"conn":\([0-9]*\).*/\1/'
}

has_line() {
    [ "$(cat "$project/$1" 2>/dev/null)" = "$2" ]
}

not() {
    ! "$@"
}

# Repeats a check for up to $1 seconds; returns 1 if it never succeeds.
await() {
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        expect_processes
        sleep 0.2
    done
}

# Fails if the editor or the client has ended by itself.
expect_processes() {
    [ -z "$editor" ] || kill -0 "$editor" 2>/dev/null || fail "the editor ended: $(tail -n 1 "$work/editor.err")"
    [ "$(tmux_run display-message -p '#{pane_dead}' 2>/dev/null)" != 1 ] ||
        fail "the client ended: $(grep --max-count=1 -E '^[A-Za-z]*Error' "$work/client.err" | cut -c 1-160)"
}

# Ends the scenario; prints this reason, the screen and the last event.
fail() {
    printf '%s\n' "$1"
    screen | tail -n 24 | sed 's/^/  | /'
    printf 'last event: %s\n' "$(tail -n 1 "$events" | cut -c 1-160)"
    exit 1
}

# --- The run

# shellcheck source=tests/lab/peers/real_client/clients.sh
. "$here/clients.sh"

ip link set lo up
mkdir -p "$home" "$project" "$requests"
: >"$events"
printf '{"authToken":"%s"}' the-token-of-a-scenario >"$work/token.lock"
# Each line has a unique word, by which it can be found in a request to the model.
printf 'marmalade and toast\n' >"$project/a.txt"
printf 'apricot\nblackberry\ncherry\ndamson\n' >"$project/b.txt"
# Otherwise a client would take the repository that contains the work folder for its project.
git -C "$project" init --quiet

mkfifo "$work/commands"
exec {commands}<>"$work/commands"
(cd "$project" && exec node "$here/model_api.mjs" "$api_port" "$requests") 2>"$work/api.err" &

# shellcheck disable=SC1090
. "$scenario"
[ -z "$editor" ] || stop_editor
