"""Writes indentation.tsv: small texts, and whether CPython's ast.parse takes them.

Run with CPython 3.12.1: python3 tests/data/indentation.py > tests/data/indentation.tsv

Each line has the verdict (`yes` or `no`), a tab, and the text as a Python string literal without its quotes. The texts are drawn
from pieces of a very small part of Python: expressions of `x`, brackets and calls, `pass`, `if` and `else`, and all that
the beginnings and ends of lines are made of.
"""

import ast
import random
import sys

assert sys.version_info[:3] == (3, 12, 1), sys.version

LINES = ["x", "pass", "if x:", "if x: x", "else:", "x; x", "x;", "(x)", "(\nx)", "x(\n\n  x\n)", "[ # x\n\tx]", "if (\nx\n):",
         "", "#", "# x:", "x # y", "x \\\n x", "x\\\n", "\\\n x", "\\\nx", "if x: # x", "if x: \\\n x", "\x0c", "x\x0c"]
BLANKS = ["", "", " ", "  ", "    ", "        ", "\t", " \t", "\t ", "\t\t", "    \t", "       \t", "\x0c", " \x0c ", " \\\n", "\\\n ",
          "\t\\\n", " \\\n  "]
ENDS = ["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n \n"]


def draw(rng):
    """Lines with blanks that often, not always, fit."""
    text, widths, deeper = "", [""], False
    for _ in range(rng.randint(1, 7)):
        line = rng.choice(LINES)
        if rng.random() < 0.25:
            blanks = rng.choice(BLANKS)
        elif deeper:
            blanks = widths[-1] + rng.choice([" ", "  ", "\t", "\x0c  ", "\\\n  "])
            widths.append(blanks)
        else:
            blanks = rng.choice(widths[-2:] + [widths[-1]] * 2)
            if blanks in widths:
                del widths[widths.index(blanks) + 1:]
        if line and not line.startswith(("#", "\x0c", "\\")):
            deeper = line.rstrip(" #x").endswith(":")
        text += blanks + line + rng.choice(ENDS)
    return text if rng.random() < 0.6 else text.rstrip("\r\n") + rng.choice(["", "", " ", "\\", "\\\n", "  #"])


def nested(levels):
    return "".join(" " * level + "if x:\n" for level in range(levels)) + " " * levels + "x"


def verdict(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return "no"
    return "yes"


def main():
    rng = random.Random(12)
    texts = {"": None}
    yes = 0
    while len(texts) < 900:
        text = draw(rng)
        if text in texts:
            continue
        good = verdict(text) == "yes"
        if good and yes >= 450 or not good and len(texts) - yes >= 450:
            continue
        yes += good
        texts[text] = None
    texts = sorted(texts, key=lambda text: (len(text), text)) + [nested(99), nested(100)]
    for text in texts:
        print(verdict(text), repr(text)[1:-1], sep="\t")


main()
