"""Writes a program, its version and a result to the table of docs/python.md."""

import pathlib
import sys

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "python.md"

program, version, result = sys.argv[1:]
lines = PAGE.read_text(encoding="utf-8").splitlines()
row = f"| {program} | {version} | {result.strip('= ')} |"
heading = lines.index("## Versions")
known = [i for i, line in enumerate(lines) if i > heading and line.startswith(f"| {program} |")]
if known:
    lines[known[0]] = row
else:
    last = max(i for i, line in enumerate(lines) if i > heading and line.startswith("|"))
    lines.insert(last + 1, row)
PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
