#!/bin/sh
# Installs ide-mcp @VERSION@ for you alone: the program in ~/.local/bin, its man pages and completions in
# ~/.local/share. It checks the archive against the sum in this script, and never needs root.
#
#   sh install.sh                        installs
#   sh install.sh --uninstall            removes what it installed
#   PREFIX=/opt/ide-mcp sh install.sh    installs elsewhere
set -eu

version='@VERSION@'
base=${IDE_MCP_FROM:-'@BASE@'}
sums='@SUMS@'

fail() {
    printf 'ide-mcp: %s\n' "$*" >&2
    exit 1
}

# The shell must read the whole script before the last line calls this, so half a download does nothing.
main() {
    prefix=${PREFIX:-${HOME:?is not set, so name a place: PREFIX=DIR sh install.sh}/.local}
    list=$prefix/share/ide-mcp/installed
    case ${1-} in
        '') install ;;
        --uninstall) uninstall ;;
        *) fail "unknown argument $1; there is only --uninstall" ;;
    esac
}

install() {
    case $version in @*) fail "this is only the template: take the installer of a release" ;; esac
    [ -n "$base" ] || fail "this release does not say where to download from: set IDE_MCP_FROM=URL"
    system=$(uname -s) processor=$(uname -m)
    case $system in
        Linux) system=unknown-linux-musl ;;
        Darwin) system=apple-darwin ;;
        *) fail "there is no program for $system; on Windows use install.ps1, elsewhere \`cargo install ide-mcp-cli\`" ;;
    esac
    case $processor in
        x86_64 | amd64) processor=x86_64 ;;
        aarch64 | arm64) processor=aarch64 ;;
        *) fail "there is no program for $processor; build it: \`cargo install ide-mcp-cli\`" ;;
    esac
    target=$processor-$system
    sum=$(printf '%s\n' "$sums" | sed -n "s/ $target\$//p")
    [ -n "$sum" ] || fail "this release has no program for $target; build it: \`cargo install ide-mcp-cli\`"
    name=ide-mcp-$version-$target

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    printf 'ide-mcp: %s/%s.tar.gz\n' "$base" "$name"
    download "$base/$name.tar.gz" "$work/archive"
    found=$(sum_of "$work/archive")
    [ "$found" = "$sum" ] ||
        fail "the download is not the archive of this release (SHA-256 $found, expected $sum): nothing was installed"
    tar -xzf "$work/archive" -C "$work"

    # Rename each file into place: a running program keeps the file from which it was started.
    mkdir -p "$prefix/share/ide-mcp"
    : >"$list.new"
    put "$name/ide-mcp" "$prefix/bin/ide-mcp" 755
    for page in "$work/$name"/man/man1/*.1; do
        put "$name/man/man1/${page##*/}" "$prefix/share/man/man1/${page##*/}" 644
    done
    put "$name/completions/ide-mcp.bash" "$prefix/share/bash-completion/completions/ide-mcp" 644
    put "$name/completions/_ide-mcp" "$prefix/share/zsh/site-functions/_ide-mcp" 644
    put "$name/completions/ide-mcp.fish" "$prefix/share/fish/vendor_completions.d/ide-mcp.fish" 644
    for text in LICENSE-APACHE LICENSE-MIT; do
        put "$name/$text" "$prefix/share/ide-mcp/$text" 644
    done
    mv "$list.new" "$list"

    "$prefix/bin/ide-mcp" --version >/dev/null || fail "$prefix/bin/ide-mcp is installed, but does not start"
    printf 'ide-mcp: installed %s as %s/bin/ide-mcp; try: ide-mcp demo\n' "$version" "$prefix"
    case :$PATH: in
        *":$prefix/bin:"*) ;;
        *) printf 'ide-mcp: %s/bin is not in PATH: add it there, or write out the path\n' "$prefix" ;;
    esac
}

put() {
    mkdir -p "$(dirname "$2")"
    printf '%s\n' "$2" >>"$list.new"
    cp "$work/$1" "$2.new"
    chmod "$3" "$2.new"
    mv "$2.new" "$2"
}

uninstall() {
    [ -f "$list" ] || fail "nothing was installed below $prefix by this script"
    while IFS= read -r path; do
        rm -f "$path"
        empty "$(dirname "$path")"
    done <"$list"
    rm -f "$list"
    empty "$prefix/share/ide-mcp"
    printf 'ide-mcp: removed from %s\n' "$prefix"
}

# Removes the folder, and those above it up to the prefix, as long as they are empty.
empty() {
    folder=$1
    while rmdir "$folder" 2>/dev/null && [ "$folder" != "$prefix" ]; do folder=$(dirname "$folder"); done
}

download() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1" || fail "$1 cannot be downloaded"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1" || fail "$1 cannot be downloaded"
    else
        fail "neither curl nor wget is here: download $1 by hand, and unpack it"
    fi
}

sum_of() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        fail "neither sha256sum nor shasum is here, so the download cannot be checked"
    fi
}

main "$@"
