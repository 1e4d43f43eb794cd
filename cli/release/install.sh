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
    # Nobody else may change what the user runs.
    umask go-w
    prefix=${PREFIX:-${HOME:?is not set, so name a place: PREFIX=DIR sh install.sh}/.local}
    case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
    # What is installed, as paths below the prefix, so that the prefix may move.
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
    if [ -e "$prefix/bin/ide-mcp" ] && ! { [ -f "$list" ] && grep -qx bin/ide-mcp "$list"; }; then
        fail "$prefix/bin/ide-mcp is not from this script: remove it first, or install elsewhere by PREFIX=DIR"
    fi

    work=$(mktemp -d) new=
    trap 'rm -rf "$work" ${new:+"$new"}; empty bin; empty share/ide-mcp' EXIT
    trap 'exit 1' HUP INT TERM
    printf 'ide-mcp: %s/%s.tar.gz\n' "$base" "$name"
    download "$base/$name.tar.gz" "$work/archive"
    found=$(sum_of "$work/archive")
    [ "$found" = "$sum" ] ||
        fail "the download is not the archive of this release (SHA-256 $found, expected $sum): nothing was installed"
    tar -xzf "$work/archive" -C "$work"

    put "$name/ide-mcp" bin/ide-mcp 755
    for page in "$work/$name"/man/man1/*.1; do
        put "$name/man/man1/${page##*/}" "share/man/man1/${page##*/}" 644
    done
    put "$name/completions/ide-mcp.bash" share/bash-completion/completions/ide-mcp 644
    put "$name/completions/_ide-mcp" share/zsh/site-functions/_ide-mcp 644
    put "$name/completions/ide-mcp.fish" share/fish/vendor_completions.d/ide-mcp.fish 644
    for text in LICENSE-APACHE LICENSE-MIT; do
        put "$name/$text" "share/ide-mcp/$text" 644
    done
    # Remove what only an earlier version had.
    while IFS= read -r path; do
        grep -qxF "$path" "$work/files" || remove "$path"
    done <"$list"
    new=$list.$$
    cp "$work/files" "$new"
    mv -f "$new" "$list"

    printf 'ide-mcp: installed %s as %s/bin/ide-mcp; try: ide-mcp demo\n' "$version" "$prefix"
    case :$PATH: in
        *":$prefix/bin:"*) ;;
        *) printf 'ide-mcp: %s/bin is not in PATH: add it there, or write out the path\n' "$prefix" ;;
    esac
}

# Puts a file of the archive at a path below the prefix. The path is listed before the file exists, so --uninstall removes
# everything, however this script ends.
put() {
    to=$prefix/$2
    [ ! -d "$to" ] || fail "$to is a folder: move it away, and run this again"
    mkdir -p "$(dirname "$to")" "$prefix/share/ide-mcp"
    # Rename each file into place: a running program keeps the file from which it was started. The temporary name has the
    # id of this process, because another process may install at the same time.
    new=$to.$$
    cp "$work/$1" "$new"
    chmod "$3" "$new"
    [ "$3" = 644 ] || "$new" --version >/dev/null || fail "the program does not start here: nothing was installed"
    printf '%s\n' "$2" >>"$work/files"
    printf '%s\n' "$2" >>"$list"
    mv -f "$new" "$to"
    new=
}

uninstall() {
    [ -f "$list" ] || fail "nothing was installed below $prefix by this script"
    while IFS= read -r path; do remove "$path"; done <"$list"
    rm -f "$list"
    empty share/ide-mcp
    printf 'ide-mcp: removed from %s\n' "$prefix"
}

remove() {
    rm -f "$prefix/$1"
    empty "$(dirname "$1")"
}

# Removes a folder below the prefix, and those above it up to the prefix, as long as they are empty.
empty() {
    folder=$1
    while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
    rmdir "$prefix" 2>/dev/null || :
}

download() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --connect-timeout 30 --speed-limit 1 --speed-time 60 --output "$2" "$1" || fail "$1 cannot be downloaded"
    elif command -v wget >/dev/null; then
        wget -q -T 60 -O "$2" "$1" || fail "$1 cannot be downloaded"
    else
        fail "neither curl nor wget is here: download $1 by hand, and unpack it"
    fi
}

sum_of() {
    if command -v sha256sum >/dev/null; then
        sha256sum <"$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null; then
        shasum -a 256 <"$1" | cut -d ' ' -f 1
    else
        fail "neither sha256sum nor shasum is here, so the download cannot be checked"
    fi
}

main "$@"
