#!/usr/bin/env bash
# Checks the C library ide-mcp-capi: the header as C and C++, the exported functions, the README, misuse, a planted
# panic, and the editors of adapters/editors/capi/examples. target/debug/ide-mcp drives these while other programs send
# garbage and resets. You need a C compiler, python3 and target/debug/ide-mcp (cargo build --package ide-mcp-cli); the
# parts in C++ run if there is a C++ compiler. With --valgrind, each program runs under valgrind, a leak is a failure,
# and pkg-config must find the library; that needs g++, valgrind and pkg-config.
# Run: tests/lab/capi/run.sh [--valgrind]
set -euo pipefail
cd "$(dirname "$0")/../../.."

work=$PWD/target/capi
folder=$work/folder
package=adapters/editors/capi
strict=(-g -Wall -Wextra -pedantic -Werror -I"$package/include")
thorough=${1:-}
export CLAUDE_CONFIG_DIR=$work/claude
rm -rf "$work"
mkdir -p "$folder" "$CLAUDE_CONFIG_DIR/ide"

log() { printf '%s\n' "$*" >&2; }
fail() {
    log "$*"
    exit 1
}

# build NAME [OPTION…] builds the library, and copies it to the folder NAME.
build() {
    cargo build --quiet --package ide-mcp-capi "${@:2}"
    mkdir -p "$work/$1"
    cp target/debug/libidemcp.{so,a} "$work/$1"
}

# compile NAME STANDARD FILE compiles a program with the library that `build NAME` has made.
compile() {
    local name=${3##*/} compiler=cc
    case $3 in *.cpp) compiler=g++ ;; esac
    "$compiler" "-std=$2" "${strict[@]}" "$3" -L"$work/$1" -Wl,-rpath,"$work/$1" -lidemcp -o "$work/${name%.*}"
}

# has_cpp succeeds if the parts in C++ can run.
has_cpp() { [ -n "$thorough" ] || command -v g++ >/dev/null; }

# play NAME ARGUMENT… runs a program. Under valgrind, errors, leaks and descriptors that stay open are failures.
play() {
    [ -n "$thorough" ] || { "$work/$1" "${@:2}"; return; }
    local log=$work/$1.log
    valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all \
        --track-fds=yes --log-file="$log" "$work/$1" "${@:2}" || { cat "$log" >&2; return 1; }
    # Descriptors that the program has only inherited do not count: valgrind names no place in the code for them.
    ! grep -A 1 '== Open ' "$log" | grep -B 1 ' at 0x' >&2
}

# begin NAME ARGUMENT… starts an editor, whose standard input is the descriptor $keys, and waits for its lock file.
begin() {
    rm -f "$work/keys" "$work/out"
    mkfifo "$work/keys"
    play "$@" <"$work/keys" >"$work/out" &
    editor=$!
    exec {keys}>"$work/keys"
    wait_until has_lock
}

# end waits until the editor has ended, and checks that no lock file is left.
end() {
    wait "$editor" || fail 'the editor failed'
    exec {keys}>&-
    no_locks
}

# rests checks that the editor uses next to no processor time while an agent is attached and nothing happens.
rests() {
    local agent process before
    rm -f "$work/calls" "$work/called"
    mkfifo "$work/calls"
    agent calls <"$work/calls" >"$work/called" 2>&1 &
    agent=$!
    exec {calls}>"$work/calls"
    echo getDiagnostics >&"$calls"
    wait_until test -s "$work/called"
    process=$(<"/proc/$editor/task/$editor/children")
    before=$(ticks "$process")
    sleep 2
    # In these 2 s, a loop that never waits takes 200 ticks of 10 ms.
    [ $(($(ticks "$process") - before)) -lt 50 ] || fail 'the editor never waits'
    exec {calls}>&-
    wait "$agent" || true
}

ticks() { awk '{print $14 + $15}' "/proc/${1// /}/stat"; }

has_lock() { [ -n "$(ls "$CLAUDE_CONFIG_DIR/ide")" ]; }
no_locks() { ! has_lock || fail 'a lock file is left'; }

agent() { target/debug/ide-mcp agent --cwd "$folder" "$@"; }

# wait_for TEXT waits until the editor has printed this text.
wait_for() { wait_until grep -qsF "$1" "$work/out"; }

wait_until() {
    for _ in {1..600}; do
        ! "$@" || return 0
        sleep 0.1
    done
    fail "waited 60 s in vain for: $*"
}

# unauthenticated makes twenty connections as other programs do: garbage, unfinished opening handshakes, and resets.
unauthenticated() {
    python3 - "$(basename "$CLAUDE_CONFIG_DIR"/ide/*.lock .lock)" <<'P'
import os, socket, struct, sys
request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
for turn in range(20):
    peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    peer.sendall([os.urandom(500), request[: 10 * turn], request, b""][turn % 4])
    if turn % 2:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
P
}

# in_one_turn leave sends a diff and disconnects while the editor is stopped, so that one turn reads both. in_one_turn
# twice sends two diffs, and checks that the first is answered.
in_one_turn() {
    python3 - "$1" "$CLAUDE_CONFIG_DIR"/ide/*.lock "$(<"/proc/$editor/task/$editor/children")" <<'P'
import json, os, signal, socket, struct, sys
way, lock, process = sys.argv[1], sys.argv[2], int(sys.argv[3])
port = os.path.basename(lock)[:-5]
peer = socket.create_connection(("127.0.0.1", int(port)), 60)
lines = ["GET / HTTP/1.1", "Host: 127.0.0.1:" + port, "Upgrade: websocket", "Connection: Upgrade"]
lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: mcp", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
lines += ["X-Claude-Code-Ide-Authorization: " + json.load(open(lock))["authToken"], "", ""]
peer.sendall("\r\n".join(lines).encode())

def frame(message):
    text = json.dumps({"jsonrpc": "2.0", **message}).encode()
    size = bytes([0x80 | len(text)]) if len(text) < 126 else struct.pack(">BH", 0x80 | 126, len(text))
    return b"\x81" + size + bytes(4) + text

def until(part):
    seen = b""
    while part not in seen:
        more = peer.recv(65536)
        assert more, seen
        seen += more

def diff(number):
    arguments = {"old_file_path": "/a", "new_file_path": "/a", "new_file_contents": "a", "tab_name": str(number)}
    return frame({"id": number, "method": "tools/call", "params": {"name": "openDiff", "arguments": arguments}})

until(b"101 ")
hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
peer.sendall(frame({"id": 1, "method": "initialize", "params": hello}))
until(b"protocolVersion")
peer.sendall(frame({"method": "notifications/initialized"}))
os.kill(process, signal.SIGSTOP)
if way == "leave":
    peer.sendall(diff(2))
    peer.close()
else:
    peer.sendall(diff(2) + diff(3))
os.kill(process, signal.SIGCONT)
if way == "twice":
    until(b"FILE_SAVED")
P
}

# In this order, so that target/debug ends up with the plain library.
build planted --features planted-panic
build plain

log 'the header has no warning'
for standard in c99 c11 c++11 c++20; do
    case $standard in c++*) language=c++ ;; *) language=c ;; esac
    [ "$language" = c ] || has_cpp || continue
    cc "-std=$standard" -x "$language" "${strict[@]}" -fsyntax-only - <<<'#include <ide_mcp.h>'
done

log 'the library exports the functions of the header, and nothing else'
diff <(grep -oE '^[a-z].*idemcp_[a-z_]+\(' $package/include/ide_mcp.h | grep -oE 'idemcp_[a-z_]+\(' | tr -d '(' | sort) \
    <(nm -D --defined-only "$work/plain/libidemcp.so" | awk '{print $3}' | sort)

log 'the editor in the README compiles'
awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' $package/README.md >"$work/readme.c"
if [ -n "$thorough" ]; then
    mkdir -p "$work/plain/lib/pkgconfig" "$work/plain/include"
    cp "$work/plain/libidemcp.so" "$work/plain/lib"
    cp $package/include/ide_mcp.h "$work/plain/include"
    sed "s|@PREFIX@|$work/plain|; s|@VERSION@|0|" $package/idemcp.pc.in >"$work/plain/lib/pkgconfig/idemcp.pc"
    PKG_CONFIG_PATH=$work/plain/lib/pkgconfig pkg-config --cflags --libs idemcp |
        xargs cc -std=c99 -Wall -Wextra -pedantic -Werror "$work/readme.c" -o "$work/readme"
fi
cc -std=c99 "${strict[@]}" "$work/readme.c" "$work/plain/libidemcp.a" -o "$work/readme"

log 'misuse is refused'
compile plain c99 tests/lab/capi/misuse.c
play misuse
no_locks
if [ -n "$thorough" ]; then
    # With an argument, the program passes a length beyond the end of a buffer.
    play misuse fault 2>"$work/fault" || true
    grep -q 'Invalid read' "$work/fault" || fail 'valgrind does not find the planted fault'
fi

log 'a panic ends the handle and nothing else'
compile planted c99 tests/lab/capi/panic.c
play panic 2>"$work/panic.err"
[ ! -s "$work/panic.err" ] || fail 'the library has printed the panic'
no_locks

log 'an editor on poll(2)'
compile plain c99 $package/examples/poll_editor.c
begin poll_editor "$folder"
rests
agent tools | grep openFile >&2
agent call getDiagnostics '{}' | grep 'not a word' >&2
! agent call getDiagnostics '{"uri":"file:///none"}' >&2 || fail 'getDiagnostics of an unknown file does not fail'
agent call getOpenEditors | grep hello.txt >&2
agent call openFile '{"filePath":"/w/a file"}' | grep 'Opened file' >&2
wait_for 'open /w/a file'
unauthenticated
echo s >&"$keys"
diff='{"call":"openDiff","arguments":{"old_file_path":"${folder}/a","new_file_path":"${folder}/a","tab_name":"t"'
cat >"$work/script" <<S
{"expect":{"event":"selection_changed","params":{"text":"hello"}}}
{"call":"getDiagnostics","arguments":{}}
{"expect":{"event":"outcome","tool":"getDiagnostics"}}
$diff,"new_file_contents":"proposed"}}
{"expect":{"event":"outcome","outcome":{"result":{"content":[{"text":"FILE_SAVED"},{"text":"proposed"}]}}}}
$diff,"new_file_contents":"a\\u001bg\\u009bain"}}
{"expect":{"event":"outcome","outcome":{"result":{"content":[{"text":"DIFF_REJECTED"}]}}}}
S
agent --script "$work/script" &
script=$!
wait_for proposed
echo a >&"$keys"
wait_for 'a?g?ain'
echo r >&"$keys"
wait "$script"
echo left >"$work/proposal"
target/debug/ide-mcp agent --cwd "$folder" diff left "$work/proposal" &
wait_for left
kill -9 $!
wait_for 'closed: disconnected'
unauthenticated
echo q >&"$keys"
end

log 'an editor that uses its own sockets'
compile plain gnu99 $package/examples/own_sockets.c
begin own_sockets "$folder" "$CLAUDE_CONFIG_DIR/ide"
rests
unauthenticated
! agent call getDiagnostics '{}' >&2 || fail 'getDiagnostics does not fail, although the editor knows no problems'
seq 1 600000 >"$work/proposal"
agent diff large "$work/proposal"
cmp "$work/proposal" "$folder/large"
unauthenticated
exec {keys}>&-
end

if has_cpp; then
    log 'an editor in C++ survives an agent that leaves, and a diff after its last one'
    compile plain c++11 $package/examples/editor.cpp
    begin editor "$folder" 2
    rests
    in_one_turn leave
    echo small >"$work/proposal"
    agent diff small "$work/proposal"
    in_one_turn twice
    end
fi
log 'all is well'
