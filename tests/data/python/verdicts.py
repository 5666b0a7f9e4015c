"""Asks CPython 3.12's `ast.parse` and writes what it says.

    python3.12 tests/data/python/verdicts.py                    the verdicts in snippets.txt
    python3.12 tests/data/python/verdicts.py mutations COUNT    one-token mutations of the standard library
    python3.12 tests/data/python/verdicts.py prefixes COUNT     beginnings of its files
    python3.12 tests/data/python/verdicts.py library            the paths of its files
    lrmask generate python ... --json | python3.12 tests/data/python/verdicts.py generated

All but the first and the last write lines like those of snippets.txt to standard output, the same in every run with the same
version of CPython; `tests/python.rs` says how they are used. The last counts what CPython parses, and how deep blocks nest.
"""

import ast
import io
import json
import os
import pathlib
import random
import sys
import tokenize
import warnings

SNIPPETS = pathlib.Path(__file__).with_name("snippets.txt")
LIBRARY = pathlib.Path(os.__file__).parent

# What the grammar takes although CPython refuses it, by CPython's message.
WIDE = (
    "unknown Unicode character name",
    "field 'value' is required for Constant",
    "unknown encoding",
    "encoding problem",
)

WORDS = (
    "False None True and as assert async await break class continue def del elif else except finally for from global if "
    "import in is lambda nonlocal not or pass raise return try while with yield match case type _ x self print 0 1 1.5 1j "
    "0x1f 'a' b'a' f'{x}' \"\" r'\\d' f'{x!r:>{w}}' + - * / // % @ << >> & | ^ ~ := < > <= >= == != ( ) [ ] { } , : . ; = "
    "-> += -= *= /= @= %= &= |= ^= >>= <<= **= ** ... !"
).split()

PASSED_OVER = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.FSTRING_MIDDLE,
}


def verdict(text):
    return verdict_on(text.encode())


def verdict_on(source):
    try:
        ast.parse(source)
        return "yes"
    except (SyntaxError, ValueError) as error:
        return "wide" if any(message in str(error) for message in WIDE) else "no"


def line(text):
    return f"{verdict(text)}\t{json.dumps(text, ensure_ascii=False)}"


def snippets():
    told = [
        text if text.startswith("#") else line(json.loads(text.split("\t", 1)[1]))
        for text in SNIPPETS.read_text().rstrip("\n").split("\n")
    ]
    SNIPPETS.write_text("\n".join(told) + "\n")


def parts(text):
    """The lines of `text` as the tokenizer counts them."""
    return [line + "\n" for line in text.split("\n")]


def sources(chance):
    """Files of the library in random order, over and over: those that are UTF-8 and that CPython parses."""
    paths = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    while True:
        try:
            text = chance.choice(paths).read_bytes().decode().replace("\r\n", "\n")
            yield text, ast.parse(text.encode())
        except (SyntaxError, ValueError):
            continue


def mutate(text, chance):
    """`text` with one token taken out, doubled, replaced by another or put before it."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    tokens = [token for token in tokens if token.string and token.type not in PASSED_OVER]
    if not tokens:
        return None
    starts = [0]
    for part in parts(text):
        starts.append(starts[-1] + len(part))
    token = chance.choice(tokens)
    (row, column), (last, behind) = token.start, token.end
    before, after = text[: starts[row - 1] + column], text[starts[last - 1] + behind :]
    change = chance.randrange(5)
    word = chance.choice(tokens).string if change == 4 else chance.choice(WORDS)
    middle = ["", f"{token.string} {token.string}", word, f"{word} {token.string}", word][change]
    return before + middle + after


def mutations(count):
    chance = random.Random(312)
    while True:
        for text, tree in sources(chance):
            lines = parts(text)
            for statement in chance.sample(tree.body, min(4, len(tree.body))):
                decorators = [decorator.lineno for decorator in getattr(statement, "decorator_list", [])]
                part = "".join(lines[min([statement.lineno, *decorators]) - 1 : statement.end_lineno])
                if not 0 < len(part) < 2500:
                    continue
                for _ in range(6):
                    try:
                        mutation = mutate(part, chance)
                    except (tokenize.TokenError, SyntaxError):
                        continue
                    if mutation is not None:
                        yield mutation
                        count -= 1
                        if count == 0:
                            return


def prefixes(count):
    chance = random.Random(312)
    for text, _ in sources(chance):
        if not 200 < len(text) < 30_000:
            continue
        ends = [at + 1 for at, character in enumerate(text) if character == "\n"]
        places = chance.sample(ends, min(30, len(ends))) + [chance.randrange(len(text)) for _ in range(20)]
        for place in places:
            yield text[:place]
            count -= 1
            if count == 0:
                return


def library():
    for path in sorted(LIBRARY.rglob("*.py")):
        if "site-packages" not in path.parts:
            yield f"{verdict_on(path.read_bytes())}\t{json.dumps(str(path))}"


def depth(node):
    """How deep blocks nest."""
    inner = max(map(depth, ast.iter_child_nodes(node)), default=0)
    return inner + isinstance(getattr(node, "body", None), list)


def generated(texts):
    counts = {"yes": 0, "no": 0, "wide": 0}
    deep = 0
    for text in texts:
        said = verdict(text)
        counts[said] += 1
        if said == "yes":
            deep += depth(ast.parse(text.encode())) > 5
        else:
            print(line(text))
    print(f"{counts}, {deep} with blocks at least 5 deep")
    if counts["no"] > 0:
        sys.exit(1)


def main():
    if sys.version_info[:2] != (3, 12):
        sys.exit("this asks CPython 3.12: no other version's parser")
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case []:
            snippets()
        case ["mutations", count]:
            sys.stdout.reconfigure(encoding="utf-8")
            for text in mutations(int(count)):
                print(line(text))
        case ["prefixes", count]:
            sys.stdout.reconfigure(encoding="utf-8")
            for text in prefixes(int(count)):
                print(line(text))
        case ["library"]:
            print(*library(), sep="\n")
        case ["generated"]:
            generated(text for text in (json.loads(line).get("text") for line in sys.stdin) if text is not None)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
