#!/usr/bin/env python3
"""Packs and unpacks the seeds of the fuzz targets.

    fuzz/seeds.py unpack TARGET FOLDER    writes each seed of fuzz/seeds/TARGET.txt as a file, as libFuzzer wants them
    fuzz/seeds.py pack TARGET FOLDER      writes fuzz/seeds/TARGET.txt from the files of a folder
    fuzz/seeds.py check                   checks that both lose nothing: unpacks each file, and packs it again

Each line is a seed: its name, a tab, and its bytes as Rust's `escape_ascii` writes them. Seeds that a person has named,
because they were written by hand or once failed, come first. The others have no name: libFuzzer names them by their
SHA-1. To add a seed, unpack the seeds, copy its file into the folder under a name, and pack the folder.
"""

import hashlib
import pathlib
import re
import sys
import tempfile

PACKED = pathlib.Path(__file__).resolve().parent / "seeds"
HEAD = (
    "# Seeds of the fuzz target {}, one a line: a name (or none), a tab, the bytes as `escape_ascii` of Rust writes them. "
    "fuzz/seeds.py packs this file."
)
SHORT = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
HASH = re.compile(r"[0-9a-f]{40}")


def escape(seed):
    return "".join(SHORT.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in seed)


def unescape(text):
    seed = text.encode("ascii").decode("unicode_escape").encode("latin-1")
    # Python accepts more escapes than Rust.
    if escape(seed) != text:
        raise ValueError(text)
    return seed


def packed_text(target, files):
    """The packed text of files, which are pairs of a name and bytes."""
    named = {name: seed for name, seed in files if not HASH.fullmatch(name)}
    for name in named:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
            sys.exit(f"{target}: a name has letters, digits, - and _ only: {name}")
    # A merge keeps a named seed under its hash as well.
    others = {seed for name, seed in files if HASH.fullmatch(name)} - set(named.values())
    lines = [f"{name}\t{escape(seed)}" for name, seed in sorted(named.items())] + sorted(f"\t{escape(seed)}" for seed in others)
    return "\n".join([HEAD.format(target), *lines, ""])


def unpacked(target, text):
    """The files of a packed text. Exits if packing them again would write another text."""
    files = []
    for number, line in enumerate(text.split("\n")[1:-1], 2):
        try:
            name, escaped = line.split("\t")
            seed = unescape(escaped)
        except ValueError:
            sys.exit(f"{target}.txt line {number} is not a seed: a name or none, a tab, and escaped bytes")
        files.append((name or hashlib.sha1(seed).hexdigest(), seed))
    for number, (line, again) in enumerate(zip(text.split("\n"), packed_text(target, files).split("\n")), 1):
        if line != again:
            sys.exit(f"{target}.txt line {number} would be packed as {again!r}")
    return files


def files_of(folder):
    return [(path.name, path.read_bytes()) for path in folder.iterdir()]


def unpack(target, text, folder):
    files = unpacked(target, text)
    folder.mkdir(parents=True, exist_ok=True)
    for name, seed in files:
        (folder / name).write_bytes(seed)


def check():
    with tempfile.TemporaryDirectory() as scratch:
        # A seed with every byte, and an empty one.
        others = bytes(reversed(range(256))), b""
        files = {("every", bytes(range(256))), *((hashlib.sha1(seed).hexdigest(), seed) for seed in others)}
        texts = {"every_byte": packed_text("every_byte", files)}
        if set(unpacked("every_byte", texts["every_byte"])) != files:
            sys.exit("packing changes seeds")
        texts |= {packed.stem: packed.read_bytes().decode("ascii") for packed in PACKED.glob("*.txt")}
        for target, text in texts.items():
            folder = pathlib.Path(scratch) / target
            unpack(target, text, folder)
            if packed_text(target, files_of(folder)) != text:
                sys.exit(f"{target}.txt is not as it would be packed")
    print(f"{len(texts) - 1} files of seeds are as they would be packed")


def main():
    match sys.argv[1:]:
        case ["pack", target, folder]:
            text = packed_text(target, files_of(pathlib.Path(folder)))
            (PACKED / f"{target}.txt").write_bytes(text.encode("ascii"))
            print(f"{target}: {text.count(chr(10)) - 1} seeds")
        case ["unpack", target, folder]:
            unpack(target, (PACKED / f"{target}.txt").read_bytes().decode("ascii"), pathlib.Path(folder))
        case ["check"]:
            check()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
