#!/usr/bin/env bash
# Packs every published crate and, without `--no-verify`, builds each from only its package. Checks what is in the
# packages: the licenses, a README, the sources, and no files that an application does not need.
# Run: tests/lab/release/packages.sh [--no-verify]
set -euo pipefail
cd "$(dirname "$0")/../../.."

names=$(tests/lab/release/published.sh)
mapfile -t crates <<<"$names"
built=target/packages
packed=$built/package
# Otherwise cargo would reuse the unpacked and built crates of an earlier run, because they have the same version.
rm -rf "$built" "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/ide-mcp*
# These builds need no debug information.
CARGO_PROFILE_DEV_DEBUG=0 cargo package --quiet --allow-dirty --target-dir "$built" "$@" "${crates[@]/#/--package=}"

manifest='Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json'
# The header of the C library, and its template for pkg-config. The plugins are part of the program.
of_c='include/ide_mcp\.h|idemcp\.pc\.in'
# The pages of `guide`, which are part of the documentation, and those of `ide-mcp help`.
pages='docs/(config|conformance|context|diffs|embedding|errors|findings|first-agent|first-editor|headless|models|problems|protocol|records|safety|scripts|search|selections|several|testing)\.md'
status=0
for crate in "${crates[@]}"; do
    file=$(ls "$packed/$crate"-[0-9]*.crate)
    contents=$(tar -tzf "$file" | cut -d / -f 2-)
    for needed in LICENSE-APACHE LICENSE-MIT README.md 'src/(lib|main)\.rs'; do
        grep -qxE "$needed" <<<"$contents" || { echo "$crate: $needed is missing" >&2; status=1; }
    done
    if more=$(grep -Evx "$manifest|(README|CHANGELOG|ARCHITECTURE)\.md|LICENSE-(APACHE|MIT)|$pages|src/.*|$of_c|plugins/.*" <<<"$contents"); then
        while read -r surplus; do
            echo "$crate: leave $surplus out (\`include\` in its Cargo.toml), or allow it in this script" >&2
        done <<<"$more"
        status=1
    fi
    printf '%s: %s files, %s KiB\n' "$crate" "$(wc -l <<<"$contents")" $(($(stat -c %s "$file") / 1024)) >&2
done
exit "$status"
