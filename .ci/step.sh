# shellcheck shell=bash
# Functions for .ci/run, which sources this file. `step COMMAND…` prints a headline and runs the command; when the
# script ends, it prints how long each step took. `beside FUNCTION` starts a function with steps, which run beside the
# steps that follow. `join` waits for these, prints their output and times, and fails if one of them has failed.
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
    # A process group of its own, so that ended() can stop its compilers too if another step fails.
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
    printf 'the output of the steps that ran beside it: target/ci/beside.log\n' >&2
}
trap ended EXIT
