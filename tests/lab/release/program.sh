#!/usr/bin/env bash
# Installs the program ide-mcp from the checkout as a user does, below target, with the profile of a release, and checks
# its size. Compares its start with that of an empty program: `ide-mcp --version` may take 1.5 times as long (the
# fastest of 60 runs each), and 3 times as many instructions. Then times `ide-mcp doctor` with 50 lock files of dead
# processes. Finally builds only `ide-mcp sidecar`, as an editor can ship it, and checks its size.
# Needs valgrind and python3.
# Run: tests/lab/release/program.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

root=target/install
cargo install --quiet --locked --force --profile small --root "$root" --path cli
size=$(stat -c %s "$root/bin/ide-mcp")
printf 'bytes: %s of ide-mcp, at most %s\n' "$size" 7000000 >&2
[ "$size" -le 7000000 ]
rustc -O -o "$root/empty" - <<<'fn main() {}'

# With an empty environment, because its length affects the count.
instructions() {
    env -i valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}
empty=$(instructions "$root/empty")
start=$(instructions "$root/bin/ide-mcp" --version)
printf 'instructions: %s of ide-mcp --version, %s of an empty program\n' "$start" "$empty" >&2
[ "$start" -le $((3 * empty)) ]

# Runs both in turn, so that it does not matter if the machine slows down.
python3 - "$root/bin/ide-mcp" "$root/empty" <<'PYTHON'
import os, sys, time

program, empty = sys.argv[1:]
nowhere = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
best = {program: 1.0, empty: 1.0}
for _ in range(60):
    for path in best:
        begin = time.perf_counter()
        os.waitpid(os.posix_spawn(path, [path, "--version"], {}, file_actions=nowhere), 0)
        best[path] = min(best[path], time.perf_counter() - begin)
ratio = best[program] / best[empty]
print(f"time: {ratio:.2f} times that of an empty program, at most 1.5", file=sys.stderr)
sys.exit(ratio > 1.5)
PYTHON

# The fastest of ten runs, so that a busy machine does not matter. `PATH` is empty, so that the doctor does not ask
# clients for their versions.
doctor=$(python3 - "$root/bin/ide-mcp" "$root/doctor" <<'PYTHON'
import json, os, pathlib, shutil, subprocess, sys, time

program, home = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
shutil.rmtree(home, ignore_errors=True)
locks = home / ".claude/ide"
locks.mkdir(parents=True, mode=0o700)
os.chmod(home / ".claude", 0o700)
dead = subprocess.Popen(["true"])
dead.wait()
for port in range(20_001, 20_051):
    lock = {"pid": dead.pid, "workspaceFolders": [str(home)], "ideName": "dead", "transport": "ws", "authToken": "0" * 64}
    descriptor = os.open(locks / f"{port}.lock", os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(descriptor, json.dumps(lock).encode())
    os.close(descriptor)
times = []
for _ in range(10):
    begin = time.perf_counter()
    run = subprocess.run([program, "doctor", "--json"], cwd=home, env={"HOME": str(home)}, capture_output=True)
    times.append(time.perf_counter() - begin)
    found = run.stdout.decode()
    if found.count(".lock") < 50:
        sys.exit(f"the doctor does not name 50 lock files: {found}{run.stderr.decode()}")
print(round(1000 * min(times)))
PYTHON
)
printf 'ms: %s of ide-mcp doctor with 50 stale lock files, at most %s
' "$doctor" 100 >&2
[ "$doctor" -le 100 ]

# An empty program has 290,000 bytes, and the backtrace of a panic 190,000 of them.
largest=1600000
cargo build --quiet --locked --profile small --package ide-mcp-cli --no-default-features --features sidecar
size=$(stat -c %s target/small/ide-mcp)
printf 'bytes: %s of ide-mcp sidecar alone, at most %s\n' "$size" "$largest" >&2
[ "$size" -le "$largest" ]
