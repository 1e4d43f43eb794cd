#!/usr/bin/env python3
"""Counts the functions of the core that run for one `getOpenEditors` and its answer, and their files.

It runs an unoptimized build under callgrind, so that each function of the source is one of the program. Generic
functions count once. Needs valgrind.

Run: benches/route/count.py [--list]
"""

import collections
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = ["bytes_in", "event", "answer", "bytes_out"]


def build():
    env = dict(os.environ, CARGO_PROFILE_DEV_OPT_LEVEL="0", CARGO_PROFILE_DEV_DEBUG="1")
    command = ["cargo", "build", "--quiet", "--no-default-features", "--bin", "route", "--target-dir", "target/route"]
    subprocess.run(command, cwd=ROOT / "benches", env=env, check=True)
    return ROOT / "benches/target/route/debug/route"


def functions(program, step):
    """Returns the functions of `src` that a step runs, as pairs of file and name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
                   f"--toggle-collect=route::{step}", str(program)]
        subprocess.run(command, check=True, capture_output=True)
        text = out.read_text()
    names, found, file = {}, set(), ""

    def name_of(token):
        number, _, name = token.partition(" ")
        return names.setdefault(number, name) if name else names[number]

    files = {}
    for line in text.splitlines():
        kind, _, rest = line.partition("=")
        if kind in ("fl", "fi", "fe", "cfi", "cfl"):
            number, _, name = rest.partition(" ")
            path = files.setdefault(number, name) if name else files[number]
            if kind == "fl":
                file = path
        elif kind in ("fn", "cfn"):
            name = name_of(rest)
            if kind == "fn" and "/src/" in file and file.startswith(str(ROOT / "src")):
                found.add((str(Path(file).relative_to(ROOT)), re.sub(r"<[^<>]*>$|::h[0-9a-f]{16}$", "", name)))
    return found


def main():
    program = build()
    together = set()
    for step in STEPS:
        found = functions(program, step)
        together |= found
        print(f"{step:>10}  {len(found):4} functions  {len({file for file, _ in found}):3} files")
        if "--list" in sys.argv:
            by_file = collections.defaultdict(list)
            for file, name in sorted(found):
                by_file[file].append(name)
            for file, names in by_file.items():
                print(f"            {file}: {len(names)}")
                for name in names:
                    print(f"                {name}")
    print(f"{'round trip':>10}  {len(together):4} functions  {len({file for file, _ in together}):3} files")


main()
