# shellcheck shell=bash
# Functions for .ci/run, which sources this file. `step COMMAND…` runs a command under a headline; at the end, the
# script prints how long each step took. `beside FUNCTION` starts a function of steps that runs beside the next ones,
# and `join` waits for it, prints what it printed and how long its steps took, and fails if one of them has failed.
times=()

step() {
    printf '\n== %s\n' "$*" >&2
    local begin=$SECONDS
    running=$*
    "$@"
    times+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$*")")
    running=
}

beside() {
    mkdir -p target/ci
    # Its own process group, so that the compilers end too if a step of the script fails.
    set -m
    (
        times=() running= SECONDS=0
        trap durations EXIT
        "$@"
    ) </dev/null >target/ci/beside.log 2>&1 &
    set +m
    other=$!
}

join() {
    local status=0
    wait "$other" || status=$?
    other=
    cat target/ci/beside.log >&2
    return "$status"
}

durations() {
    printf '\n' >&2
    [ "${#times[@]}" -eq 0 ] || printf '%s\n' "${times[@]}" >&2
    printf '%5d s  in all\n' "$SECONDS" >&2
    [ -z "${running:-}" ] || printf 'failed: %s\n' "$running" >&2
}

ended() {
    durations
    [ -n "${other:-}" ] || return 0
    kill -- "-$other" 2>/dev/null || true
    printf 'what the steps beside it printed: target/ci/beside.log\n' >&2
}
trap ended EXIT
