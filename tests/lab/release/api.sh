#!/usr/bin/env bash
# Compares the public API of every published crate with the files of tests/lab/release/api; `renew` rewrites these
# files after an intended change. Needs the nightly toolchain, for rustdoc's JSON.
# Run: tests/lab/release/api.sh [renew]
set -euo pipefail
cd "$(dirname "$0")/../../.."

tools=$PWD/target/tools
PATH=$tools/bin:$PATH
command -v cargo-public-api >/dev/null || cargo install --quiet --locked --root "$tools" cargo-public-api@0.52.0

known=tests/lab/release/api
work=target/api
mkdir -p "$work" "$known"
rm -f "$work"/*.txt
names=$(tests/lab/release/published.sh lib)
mapfile -t crates <<<"$names"
for crate in "${crates[@]}"; do
    # A lost derive or auto trait breaks users too, so leave out only the blanket implementations (-s), and the auto
    # traits that stable Rust cannot name.
    cargo +nightly public-api -s --package "$crate" --all-features >"$work/all" 2>"$work/log" || {
        cat "$work/log" >&2
        exit 1
    }
    grep -vE '^impl.* core::marker::(Freeze|UnsafeUnpin) for ' "$work/all" >"$work/$crate.txt"
done
if [ "${1:-}" = renew ]; then
    rm -f "$known"/*.txt
    cp "$work"/*.txt "$known"
elif ! diff --unified=0 --recursive --exclude=log --exclude=all "$known" "$work"; then
    echo 'the public API has changed; if you intended that, run tests/lab/release/api.sh renew' >&2
    exit 1
fi
