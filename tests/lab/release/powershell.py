#!/usr/bin/env python3
"""Finds syntax errors in PowerShell scripts, because Debian has no PowerShell to run them.

Run: tests/lab/release/powershell.py FILE…       Needs: tree-sitter and tree-sitter-powershell from PyPI.
"""

import pathlib
import sys

import tree_sitter
import tree_sitter_powershell


def errors(node):
    if node.is_error or node.is_missing:
        yield node
    for child in node.children:
        yield from errors(child)


parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
found = [f"{file}:{node.start_point.row + 1}: this is not PowerShell"
         for file in sys.argv[1:] for node in errors(parser.parse(pathlib.Path(file).read_bytes()).root_node)]
sys.exit("\n".join(found) or None)
