# Functions for .ci/run and .ci/full, which source this file. `step COMMAND…` runs a command under a
# headline; at the end, the duration of each step is printed.
times=()

step() {
    printf '\n== %s\n' "$*" >&2
    local begin=$SECONDS
    running=$*
    "$@"
    times+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$*")")
    running=
}

told() {
    printf '\n' >&2
    [ "${#times[@]}" -eq 0 ] || printf '%s\n' "${times[@]}" >&2
    printf '%5d s  in all\n' "$SECONDS" >&2
    [ -z "${running:-}" ] || printf 'failed: %s\n' "$running" >&2
}
trap told EXIT
