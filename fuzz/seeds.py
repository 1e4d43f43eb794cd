#!/usr/bin/env python3
"""Packs and unpacks the seeds of the fuzz targets.

    fuzz/seeds.py unpack TARGET FOLDER    writes each seed of fuzz/seeds/TARGET.txt as a file, as libFuzzer wants them
    fuzz/seeds.py pack TARGET FOLDER      writes fuzz/seeds/TARGET.txt from the files of a folder

A line is a seed: its name, a tab, and its bytes as a string of Rust has them. Seeds that a person has named, because they
were written by hand or once failed, come first. The others need no name: libFuzzer calls them by their SHA-1.
"""

import ast
import hashlib
import pathlib
import re
import sys

HEAD = "# Seeds of the fuzz target {}, one a line: a name (or none), a tab, the bytes. fuzz/seeds.py writes and reads this file.\n"
SHORT = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def escape(seed):
    """As `u8::escape_ascii` of Rust."""
    return "".join(SHORT.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in seed)


def unescape(text):
    return ast.literal_eval(f'b"{text}"')


def pack(target, folder, packed):
    named, others = {}, set()
    for path in pathlib.Path(folder).iterdir():
        seed = escape(path.read_bytes())
        if re.fullmatch(r"[0-9a-f]{40}", path.name):
            others.add(seed)
        else:
            named[path.name] = seed
    # A merge keeps a named seed under its hash as well.
    others -= set(named.values())
    lines = [f"{name}\t{seed}\n" for name, seed in sorted(named.items())] + [f"\t{seed}\n" for seed in sorted(others)]
    packed.write_text(HEAD.format(target) + "".join(lines), newline="\n")
    print(f"{target}: {len(named)} named seeds and {len(others)} others")


def unpack(folder, packed):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for line in packed.read_text().split("\n")[1:-1]:
        name, text = line.split("\t")
        seed = unescape(text)
        if re.search(r"[^\w.-]", name):
            sys.exit(f"{packed}: no name of a file: {name}")
        (folder / (name or hashlib.sha1(seed).hexdigest())).write_bytes(seed)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    way, target, folder = sys.argv[1:]
    packed = pathlib.Path(__file__).resolve().parent / "seeds" / f"{target}.txt"
    pack(target, folder, packed) if way == "pack" else unpack(folder, packed)


if __name__ == "__main__":
    main()
