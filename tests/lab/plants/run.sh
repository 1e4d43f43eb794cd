#!/usr/bin/env bash
# Plants one bug after another, and fails if the tests do not find it. Each of these bugs once passed all of
# `cargo test`. The first line of a patch names the command that must find the bug, the second line describes the bug.
# This works on a copy of the tree, in target/plants. The copy has your uncommitted changes to tracked files, but no
# untracked files. You can go on editing meanwhile. If a patch no longer applies or compiles, write it anew for the
# present code.
# Run: tests/lab/plants/run.sh [NUMBER…]
set -euo pipefail
cd "$(dirname "$0")/../../.."

shopt -s nullglob
plants=()
for number in "${@:-*}"; do
    # The number of a plant, or `*` for all of them.
    # shellcheck disable=SC2206
    found=(tests/lab/plants/$number-*.patch)
    [ "${#found[@]}" -gt 0 ] || { printf 'there is no tests/lab/plants/%s-*.patch\n' "$number" >&2; exit 2; }
    plants+=("${found[@]}")
done

copy=$PWD/target/plants/tree
log=$PWD/target/plants/last.log
export CARGO_TARGET_DIR=$PWD/target/plants/target
commit=$(git stash create)
commit=${commit:-HEAD}
mkdir -p target/plants
git worktree prune
if [ -e "$copy/.git" ]; then
    git -C "$copy" checkout --quiet --force --detach "$commit"
else
    git worktree add --quiet --force --detach "$copy" "$commit"
fi

# tests PATCH runs the command in the first line of a patch, in the copy.
tests() {
    local command
    read -ra command <<<"$(sed -n '1s/^run: //p' "$1")"
    [ "${command[*]:0:2}" = 'cargo test' ] || { printf '%s: the first line must be "run: cargo test …"\n' "$1" >&2; exit 2; }
    printf '\n== %s: %s\n' "$(basename "$1" .patch)" "${command[*]}" >&2
    (cd "$copy" && timeout 1200 "${command[@]}") >"$log" 2>&1
}

# Each command must first pass without a bug.
declare -A sound=()
for plant in "${plants[@]}"; do
    run=$(head -n 1 "$plant")
    [ -z "${sound[$run]:-}" ] || continue
    tests "$plant" || { cat "$log" >&2; printf '%s: its tests fail even without the bug; fix that first\n' "$plant" >&2; exit 1; }
    grep -q '^running [1-9]' "$log" || { printf '%s: its command runs no test; correct the first line\n' "$plant" >&2; exit 2; }
    sound[$run]=1
done

table=() status=0
for plant in "${plants[@]}"; do
    name=$(basename "$plant" .patch)
    if ! git -C "$copy" apply "$PWD/$plant"; then
        verdict='DOES NOT APPLY'
    elif tests "$plant"; then
        verdict=SURVIVES
    elif grep -q '^test result: FAILED' "$log"; then
        verdict="found by $(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log" | sort | paste -sd ' ')"
    else
        # It does not compile, or a test hangs.
        tail -n 30 "$log" >&2
        verdict='NO RESULT'
    fi
    case $verdict in found*) ;; *) status=1 ;; esac
    table+=("$(printf '%-42s %s' "$name" "$verdict")")
    git -C "$copy" checkout --quiet --force .
done

printf '\n%s\n' "$(printf '%s\n' "${table[@]}")"
exit "$status"
