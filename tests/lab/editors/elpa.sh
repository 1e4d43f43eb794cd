#!/bin/bash
# Unpacks the Emacs packages that ours works with, from the system's Debian, without installing them, into
# target/elpa/NAME, and the library of vterm into target/elpa/lib. Without them, run.py skips their scenarios.
#
# Run: tests/lab/editors/elpa.sh
# Needs apt-get, and downloads 4 MB.
set -euo pipefail
cd "$(dirname "$0")/../../.."
into=$PWD/target/elpa
rm -rf "$into"
mkdir -p "$into"/{debs,root,lib}
(cd "$into/debs" && apt-get --quiet=2 -o APT::Sandbox::User=root download \
    elpa-{vterm,flycheck,treemacs,neotree,package-lint,dash,s,f,ht,hydra,lv,pfuture,ace-window,avy,let-alist,pkg-info,epl} \
    emacs-libvterm libvterm0)
for deb in "$into"/debs/*.deb; do
    dpkg -x "$deb" "$into/root"
done
for package in "$into"/root/usr/share/emacs/site-lisp/elpa-src/*; do
    name=${package##*/}
    mv "$package" "$into/${name%-*}"
done
find "$into/root" -name vterm-module.so -exec mv {} "$into/vterm" \;
find "$into/root" -name 'libvterm.so*' -exec mv {} "$into/lib" \;
rm -r "$into"/{debs,root}
ls "$into"
