#!/usr/bin/env bash
# Makes a wine prefix in target/platforms, in which Windows programs run, and prints its path. Installs Debian's wine
# and mingw-w64 if they are missing, which needs root. Call this and wine with `umask 077`: wine makes a DACL of the
# mode of a file, and with the usual umask, other users could read every file. Stops a running wineserver, which may
# still have another umask.
# Run: WINEPREFIX=$(tests/lab/platforms/wine.sh) wine PROGRAM.exe
set -euo pipefail
cd "$(dirname "$0")/../../.."

if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    apt-get update --quiet=2 >&2 || true
    apt-get install --yes --quiet=2 --no-install-recommends wine wine64 gcc-mingw-w64-x86-64 >&2
fi

export WINEPREFIX=$PWD/target/platforms/wine WINEDEBUG=-all
wineserver -k || true
system=$WINEPREFIX/drive_c/windows/system32
if [ ! -e "$system/bcryptprimitives.dll" ]; then
    mkdir -p "$WINEPREFIX"
    timeout 300 wine wineboot --init >/dev/null 2>&1
    # Wine 8 lacks this library, from which std and getrandom take random bytes.
    x86_64-w64-mingw32-gcc -shared -O2 -s -x c -o "$system/bcryptprimitives.dll" - -ladvapi32 <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
C
fi
echo "$WINEPREFIX"
