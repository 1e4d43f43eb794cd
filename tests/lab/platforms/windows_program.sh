#!/usr/bin/env bash
# Runs the program for Windows, under wine: editor, agent, bridge, tap, replay, sidecar, doctor and mcp-config with each
# other, each way to spell a Windows path, and what is left when an editor ends or is killed.
# Run: PROGRAM=…/ide-mcp.exe WINEPREFIX=… tests/lab/platforms/windows_program.sh, as windows.sh does
set -uo pipefail
: "${PROGRAM:?set it to the path of ide-mcp.exe}" "${WINEPREFIX:?set it to what tests/lab/platforms/wine.sh prints}"
PROGRAM=$(realpath "$PROGRAM")
export WINEPREFIX WINEDEBUG=-all RUST_BACKTRACE=0
unset CLAUDE_CONFIG_DIR CLAUDE_CODE_SSE_PORT

drive=$(realpath "$WINEPREFIX/drive_c") || exit 2
proj=$drive/proj
work=$(mktemp -d)
failed=0 checks=0 editor=

ended() {
    [ -z "$editor" ] || kill -9 "$editor" 2>/dev/null
    rm -rf "$work"
}
trap ended EXIT

# Runs a command of the program. Puts its status into $status, and its output into $work/out and $work/err.
run() {
    timeout "${limit:-60}" wine "$PROGRAM" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    sed -i 's/\r$//' "$work/out" "$work/err"
}

# passes STATUS NAME counts a check and, if it failed, shows its name and the output of the last command.
passes() {
    checks=$((checks + 1))
    [ "$1" = 0 ] && return
    failed=$((failed + 1))
    printf 'failed: %s\n' "$2" >&2
    tail -n 20 "$work/out" "$work/err" 2>/dev/null | cut -c1-300 >&2
}
is() {
    [ "$2" = "$3" ]
    passes $? "$1: $2 instead of $3"
}
# prints NAME TEXT checks that TEXT is in the output of the last command.
prints() {
    grep -qF -- "$2" "$work/out"
    passes $? "$1: prints $2"
}
hides() {
    ! grep -qF -- "$2" "$work/out" "$work/err"
    passes $? "$1: does not print $2"
}

# Starts an editor. Its standard input stays open until close_input. Sets $editor, $port and $lock.
start() {
    rm -f "$work/in" && mkfifo "$work/in"
    wine "$PROGRAM" editor --headless --on-diff accept "$@" <"$work/in" >"$work/editor" 2>"$work/editor.err" &
    editor=$!
    exec 7>"$work/in"
    for _ in $(seq 240); do
        grep -q '"listening"' "$work/editor" && break
        sleep .25
    done
    port=$(sed -n 's/.*"listening","port":\([0-9]*\).*/\1/p' "$work/editor")
    is 'the editor names its lock file' "$(grep -o '"lock":"[^"]*"' "$work/editor")" \
        "\"lock\":\"C:\\\\users\\\\$(id -un)\\\\.claude\\\\ide\\\\$port.lock\""
    lock=$locks/$port.lock
    [ -f "$lock" ]
    passes $? 'the lock file is there'
}
close_input() {
    exec 7>&-
}
# Waits until the editor has ended, and puts its status into $status.
await_end() {
    for _ in $(seq 80); do
        kill -0 "$editor" 2>/dev/null || break
        sleep .25
    done
    kill -9 "$editor" 2>/dev/null
    wait "$editor"
    status=$?
    editor=
}

# Wine makes a DACL of the mode of a file, and the editor refuses a directory of lock files that others can read.
umask 077
rm -rf "$proj" && mkdir -p "$proj/sub"
locks=$drive/users/$(id -un)/.claude/ide
rm -rf "$drive/users/$(id -un)/.claude" "$drive/users/$(id -un)/AppData/Local/ide-mcp" && mkdir -p "$locks"
echo one >"$proj/a.txt" && echo KEY=1 >"$proj/.env" && echo '{' >"$proj/b c.json" && echo two >"$drive/new.txt"
cd "$proj" || exit 2

run --version
is 'version' "$status $(cut -d' ' -f1 "$work/out")" '0 ide-mcp'

start
is 'folders' "$(grep -o '"workspaceFolders":[^]]*]' "$lock")" '"workspaceFolders":["C:\\proj","/mnt/c/proj","/c/proj"]'
grep -q '"runningInWindows":true' "$lock"
passes $? 'the lock file says Windows'

# All spellings mean the same folder.
for folder in . 'C:\proj' 'c:\proj\sub' 'c:/PROJ' '\\?\C:\proj' 'sub\..'; do
    run agent --cwd "$folder" tools
    is "agent in $folder" "$status" 0
    prints "agent in $folder" 'openDiff '
done
run agent --cwd 'C:\users' tools
is 'agent in another folder' "$status" 2
passes "$(grep -q 'no editor found for C:\\users' "$work/err"; echo $?)" 'agent in another folder says that it finds no editor'

# A reader that closes the pipe early is not a failure.
timeout 60 wine "$PROGRAM" agent tools 2>"$work/err" | head -n 1 >"$work/out"
prints 'a closed pipe' 'openDiff '
hides 'a closed pipe' 'cannot be written'

for file in a.txt 'sub\new.txt' 'c:/proj/sub/../newer.txt' '\\?\C:\proj\newest.txt'; do
    run agent diff "$file" 'C:\new.txt'
    is "diff of $file" "$status" 0
    prints "diff of $file" 'accepted: '
done
is 'the texts are written' "$(cat a.txt sub/new.txt newer.txt newest.txt | sort | uniq -c | tr -s ' ')" ' 4 two'
is 'no other file is written' "$(find . -type f | sort | tr '\n' ' ')" './.env ./a.txt ./b c.json ./newer.txt ./newest.txt ./sub/new.txt '

# All spellings mean the same open file, and agents see it in one form.
spellings=('C:\\proj\\a.txt' 'c:\\proj\\a.txt' 'C:\\PROJ\\A.TXT' 'c:/proj/sub/../a.txt' 'a.txt' 'sub\\..\\a.txt'
    '\\\\?\\C:\\proj\\a.txt' '/c/proj/a.txt' '/mnt/c/proj/a.txt' 'file:///C:/proj/a.txt' 'file:///c%3A/proj/a.txt'
    'file://localhost/C:/proj/a.txt' 'file://C:\\proj\\a.txt' 'file://c:/proj/a.txt')
hidden=('.env' 'C:\\proj\\.env' 'C:\\proj\\.env::$DATA' '.ENV' 'file:///C:/proj/%2Eenv' 'file://C:\\proj\\.env' '.env.')
refused=('..\\new.txt' 'C:\\new.txt' 'file:///C:/new.txt' '\\proj\\a.txt' 'C:a.txt' '\\\\.\\C:\\proj\\a.txt' 'NUL'
    'file://other/C:/proj/a.txt' 'a.txt::$DATA')
{
    for path in "${spellings[@]}" "${hidden[@]}" "${refused[@]}"; do
        printf 'openFile {"filePath":"%s"}\n' "$path"
    done
    echo 'getDiagnostics {"uri":"file://C:\\proj\\b c.json"}'
    echo 'getDiagnostics {}'
} >"$work/calls"
timeout 60 wine "$PROGRAM" agent calls <"$work/calls" 2>"$work/err" | tr -d '\r' >"$work/all"
line=0
outcome() {
    line=$((line + 1))
    grep "\"line\":$line," "$work/all" >"$work/out"
}
for path in "${spellings[@]}"; do
    outcome
    prints "open $path" 'Opened file: C:\\proj\\a.txt"'
done
for path in "${hidden[@]}"; do
    outcome
    prints "open $path" 'the file may not leave the editor'
done
for path in "${refused[@]}"; do
    outcome
    hides "open $path" 'Opened file'
    prints "open $path" '"isError":true'
done
outcome
prints 'problems, with the URI as it was asked for' '\"uri\":\"file://C:\\\\proj\\\\b c.json\"'
prints 'problems' 'EOF while parsing'
outcome
prints 'all problems' 'b c.json\"'
hides 'all problems' '?\'
run agent call getOpenEditors '{}'
prints 'open editors' '"tabs":[{"uri":"file:///C:/proj/a.txt",'
prints 'open editors' '"label":"a.txt"'
prints 'open editors' '"fileName":"C:\\proj\\a.txt"}]}'
run agent call getWorkspaceFolders '{}'
prints 'folders' '"uri":"file:///C:/proj","path":"C:\\proj"'
run agent call getCurrentSelection '{}'
prints 'selection' '"filePath":"C:\\proj\\a.txt"'

{
    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
    echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
    sleep 4
} | timeout 60 wine "$PROGRAM" bridge >"$work/out" 2>"$work/err"
is 'bridge' "${PIPESTATUS[1]}" 0
prints 'bridge' '"id":1,"result":{"protocolVersion":"2025-03-26"'
prints 'bridge' '"name":"openDiff"'

# A tap between agent and editor, ended by Ctrl+C.
wine "$PROGRAM" tap --json --out 'C:\record.jsonl' --force >"$work/tap" 2>"$work/err" </dev/null &
tap=$!
for _ in $(seq 80); do grep -q '"listening"' "$work/tap" && break || sleep .25; done
tapped=$(sed -n 's/.*"event":"listening".*"port":\([0-9]*\)}.*/\1/p' "$work/tap")
run agent --port "$tapped" tools
prints 'agent through the tap' 'openDiff '
kill -INT "$tap" && wait "$tap"
is 'tap, ended by Ctrl+C' "$?" 0
is 'the tap leaves no lock file' "$(ls "$locks")" "$port.lock"
run replay 'C:\record.jsonl'
is 'replay' "$status" 0
cat "$work/err" >>"$work/out"
prints 'replay' 'no difference'

(echo '{"name":"Side","version":"1","folders":["C:\\proj"],"tools":["openDiff"]}'; sleep 4) |
    timeout 60 wine "$PROGRAM" sidecar >"$work/out" 2>"$work/err"
is 'sidecar' "${PIPESTATUS[1]}" 0
prints 'sidecar' '"event":"listening"'
prints 'sidecar' '"event":"stopping","reason":"end of standard input"'
is 'the sidecar leaves no lock file' "$(ls "$locks")" "$port.lock"

run doctor
is 'doctor of a working set-up' "$status" 0
hides 'doctor' '?\'
run mcp-config
is 'mcp-config' "$status" 0
prints 'mcp-config' "C:\\users\\$(id -un)\\.claude\\ide\\$port.mcp.json"
[ -f "$locks/$port.mcp.json" ]
passes $? 'mcp-config writes its file'

close_input
await_end
is 'the end of the input ends the editor' "$status" 0
is 'the end of the input removes the published files' "$(ls "$locks")" ''

start
kill -INT "$editor"
await_end
is 'Ctrl+C ends the editor' "$status" 0
is 'Ctrl+C removes the lock file' "$(ls "$locks")" ''
close_input

# With --resume, the next run of an editor takes the same port. The token is a fresh one, because Windows does not say
# which user the client with the old token belongs to.
for run in first second; do
    start --resume
    [ "$run" = first ] && kept=$port
    close_input
    await_end
done
is 'the port of a resumed run' "$port" "$kept"
[ -d "$drive/users/$(id -un)/AppData/Local/ide-mcp" ]
passes $? 'the state is below LOCALAPPDATA'

# The lock file of a killed editor must not keep agents from the next editor.
start
{ kill -9 "$editor" && wait "$editor"; } 2>/dev/null
killed=$port
[ -f "$lock" ]
passes $? 'a killed editor leaves its lock file'
run agent tools
is 'agent with only a leftover lock file' "$status" 2
start
run agent tools
is 'agent with a leftover lock file and an editor' "$status" 0
is 'the next editor removes the leftover lock file' "$(ls "$locks")" "$port.lock"
[ "$killed" != "$port" ] || echo 'not checked: the next editor got the port of the killed one'
close_input
await_end
is 'the last editor ends' "$status" 0

echo "$((checks - failed)) passed, $failed failed"
[ "$failed" = 0 ]
