#!/usr/bin/env bash
# Runs the real client (two versions), opencode and Kilo Code against `editor --headless`, a sidecar and the plugins,
# and checks what a person sees in the terminal and what the model gets. Each scenario is a file in
# real_client/scenarios. It runs in tmux with an empty home, a stand-in for the model's API, and namespaces of its own,
# in which only loopback can be reached. The clients are installed from npm, by version, below target. A failure does
# not stop the other scenarios. Clients that cannot run here are skipped with a notice, or fail if IDE_MCP_NO_SKIPS is
# set. Takes 6 to 10 minutes.
#
# Needs node, npm, tmux, git, ip, and unshare as root or with user namespaces.
# Run: tests/lab/peers/real_client.sh [--list] [PATTERN]    such as 'opencode-*/*', 'claude-2.1.332/clear' or '*/clear'
set -euo pipefail
cd "$(dirname "$0")/../../.."

parts=$PWD/tests/lab/peers/real_client
root=$PWD/target/real_client
ide_mcp=$PWD/target/debug/ide-mcp
clients=(claude-1.0.51 claude-2.1.332 opencode-1.18.33 kilo-7.7.9)
# The maximum seconds for one scenario; the longest takes half of them.
limit=180
no_skips=${IDE_MCP_NO_SKIPS:-}

# Runs a command in its own namespaces; when it ends, all of its processes do.
isolated=(unshare --net --pid --fork --mount-proc --kill-child)
[ "$(id -u)" -eq 0 ] || isolated+=(--user --map-root-user)

# shellcheck source=tests/lab/peers/real_client/clients.sh
. "$parts/clients.sh"

main() {
    local list=false pattern client file name runs=()
    if [ "${1:-}" = --list ]; then
        list=true
        shift
    fi
    pattern=${1:-*}
    for client in "${clients[@]}"; do
        for file in "$parts"/scenarios/*.sh; do
            name=$client/$(basename "$file" .sh)
            # shellcheck disable=SC2053
            if [[ $name == $pattern ]] && is_for "$client" "$file" && has_program "$file"; then
                runs+=("$name")
            fi
        done
    done
    if [ "${#runs[@]}" -eq 0 ]; then
        echo "no scenario has a name like $pattern; --list prints the names" >&2
        exit 2
    fi
    if $list; then
        printf '%s\n' "${runs[@]}"
        exit
    fi

    skip_without_tools
    cargo build --quiet --package ide-mcp-cli
    run_all "${runs[@]}"
}

# Returns 0 if scenario $2 is for client $1: one of its lines has patterns of clients.
is_for() {
    local patterns pattern
    read -ra patterns < <(sed -n 's/^# Clients: //p' "$2")
    for pattern in "${patterns[@]}"; do
        # shellcheck disable=SC2053
        [[ $1 != $pattern ]] || return 0
    done
    return 1
}

# Returns 0 if the program that scenario $1 needs is installed: one of its lines names the program.
has_program() {
    local program
    program=$(sed -n 's/^# Needs: //p' "$1")
    [ -z "$program" ] || command -v "$program" >/dev/null && return
    echo "skip  $(basename "$1" .sh): $program is not installed" >&2
    [ -z "$no_skips" ] || exit 1
    return 1
}

skip_without_tools() {
    local tool
    for tool in node npm tmux git ip unshare; do
        command -v "$tool" >/dev/null || skip_all "$tool is not installed"
    done
    "${isolated[@]}" true 2>/dev/null || skip_all "unshare is not permitted to create network and PID namespaces"
}

skip_all() {
    echo "real_client: all scenarios skipped: $1" >&2
    [ -z "$no_skips" ]
    exit
}

# Installs client $1 unless it is there. Returns 1 if the registry does not offer it.
install_client() {
    local package log=$root/npm-$1.log
    package=$(client_package "$1")
    [ ! -e "$root/$1/installed" ] || return 0
    npm view --fetch-retries=0 --fetch-timeout=30000 "$package" version >/dev/null 2>&1 || return 1
    if ! npm install --prefix "$root/$1" --no-audit --no-fund --ignore-scripts "$package" >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        echo "npm cannot install $package, though the registry has it" >&2
        exit 1
    fi
    touch "$root/$1/installed"
}

# Runs the scenarios, each named CLIENT/SCENARIO, and prints how each ended. Exits with 1 if one failed.
run_all() {
    local run client previous='' usable=true passed=0 failed=() skipped=0 begin
    mkdir -p "$root"
    # The path of a socket must be short, and that of the work folder may be long.
    sockets=$(mktemp -d)
    for run in "$@"; do
        client=${run%%/*}
        if [ "$client" != "$previous" ]; then
            previous=$client usable=true
            if ! install_client "$client"; then
                usable=false
                echo "skip  $client: npm does not reach a registry that has $(client_package "$client")"
            elif ! client_program "$client" "$root/$client"; then
                usable=false
                echo "skip  $client: its package has no program for $(node -p 'process.platform + " " + process.arch')"
            fi
        fi
        if ! $usable; then
            skipped=$((skipped + 1))
            continue
        fi
        begin=$SECONDS
        if run_one "$run" >"$root/output.txt" 2>&1; then
            passed=$((passed + 1))
            printf 'pass  %-42s %3d s\n' "$run" $((SECONDS - begin))
        else
            failed+=("$run")
            printf 'FAIL  %-42s %3d s\n' "$run" $((SECONDS - begin))
            sed 's/^/      /' "$root/output.txt"
        fi
    done
    printf '\n%d passed, %d failed, %d skipped, in %d s\n' "$passed" "${#failed[@]}" "$skipped" "$SECONDS"
    if [ "${#failed[@]}" -gt 0 ]; then
        printf 'failed: %s\n' "${failed[@]}"
        exit 1
    fi
    [ "$skipped" -eq 0 ] || [ -z "$no_skips" ]
}

# Runs one scenario. Its files (requests to the model, events of the editor, errors) stay until its next run.
run_one() {
    local client=${1%%/*} scenario=${1#*/} work=$root/runs/$1 status=0
    rm -rf "${work:?}" "$sockets/tmux"
    mkdir -p "$work"
    "${isolated[@]}" timeout --kill-after=5 "$limit" \
        "$parts/driver.sh" "$client" "$root/$client" "$parts/scenarios/$scenario.sh" "$work" "$sockets/tmux" "$ide_mcp" \
        </dev/null &
    running=$!
    wait "$running" || status=$?
    running=
    [ "$status" -ne 124 ] || echo "not done within $limit s"
    return "$status"
}

running= # the process of the scenario, while it runs
sockets=
clean_up() {
    [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
    [ -z "$sockets" ] || rm -rf "${sockets:?}"
}
trap clean_up EXIT
trap 'exit 143' INT TERM

main "$@"
