"""The recipes of docs/python.md run as they stand there, and pass mypy --strict."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

PAGES = pathlib.Path(__file__).parents[2]


def blocks(page: str) -> str:
    """The programs of a page, one after the other, each at its own line."""
    text = (PAGES / page).read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        for number, line in enumerate(block[1].splitlines(), first):
            lines[number] = line
    return "\n".join(lines)


def test_every_recipe_runs() -> None:
    page = "docs/python.md"
    program = blocks(page)
    assert program.count("assert") >= 20
    # A module, because types are looked up in it.
    import types

    module = types.ModuleType("recipes")
    sys.modules["recipes"] = module
    exec(compile(program, page, "exec"), module.__dict__)


def test_the_recipes_are_typed(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "recipes.py"
    file.write_text(blocks("docs/python.md"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(file)],
        cwd=PAGES / "python",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
