# Functions for .ci/run and .ci/full, which source this file. `step COMMAND…` runs a command under a
# headline; at the end, the duration of each step is printed. `beside FUNCTION` starts a function of
# steps that runs beside the following steps until `join`, which prints its output, and fails if one
# of its steps has failed.
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
    (
        times=() running=
        trap told EXIT
        "$@"
    ) >target/ci/beside.log 2>&1 &
    other=$!
}

join() {
    local status=0
    wait "$other" || status=$?
    other=
    cat target/ci/beside.log >&2
    return "$status"
}

told() {
    printf '\n' >&2
    [ "${#times[@]}" -eq 0 ] || printf '%s\n' "${times[@]}" >&2
    printf '%5d s  in all\n' "$SECONDS" >&2
    [ -z "${running:-}" ] || printf 'failed: %s\n' "$running" >&2
}
trap 'told; [ -z "${other:-}" ] || kill "$other"' EXIT
