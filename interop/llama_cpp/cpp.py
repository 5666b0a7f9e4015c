"""Reads the cases of llama.cpp's tests of grammars out of their C++ source."""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Iterator

LEXEME = re.compile(
    r'(?P<skip>\s+|//[^\n]*|/\*.*?\*/)'
    r'|R"(?P<mark>\w*"*)\((?P<raw>.*?)\)(?P=mark)"'
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<char>'(?:[^'\\]|\\.)+')"
    r"|(?P<word>\w+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)

#: A text, in which a token that stands for itself is a number.
Text = tuple["bytes | int", ...]


@dataclasses.dataclass
class Case:
    """A grammar (or a schema), with texts that it accepts and others."""

    name: str
    kind: str
    grammar: str
    accepted: list[Text]
    refused: list[Text]


def lexemes(source: str) -> Iterator[tuple[str, str]]:
    for found in LEXEME.finditer(source):
        kind = found.lastgroup or ""
        if found["raw"] is not None:
            # A raw string's mark may have quotes: R"""( ... )""" is the mark "" and more quotes.
            yield "text", found["raw"]
        elif kind == "text":
            body = found["text"][1:-1].encode()
            yield "text", codecs.escape_decode(body)[0].decode("utf-8", "surrogateescape")
        elif kind != "skip":
            yield kind, found[0]


class Reader:
    def __init__(self, source: str) -> None:
        self.all = [*lexemes(source), ("end", "")]
        self.at = 0

    def sign(self, sign: str) -> None:
        if self.all[self.at] != ("sign", sign):
            raise SyntaxError(f"{sign!r} expected, not {self.all[self.at]!r}")
        self.at += 1

    def skip_comma(self) -> None:
        if self.all[self.at] == ("sign", ","):
            self.at += 1

    def text(self) -> Text:
        """Texts and tokens, joined by `+` or by standing next to each other."""
        parts: list[bytes | int] = []
        while True:
            kind, value = self.all[self.at]
            if kind == "text":
                parts.append(value.encode("utf-8", "surrogateescape"))
                self.at += 1
            elif (kind, value) == ("word", "token"):
                parts.append(int(self.all[self.at + 2][1]))
                self.at += 4
            elif (kind, value) == ("sign", "+"):
                self.at += 1
            elif parts:
                return tuple(parts)
            else:
                raise SyntaxError(f"a text expected, not {value!r}")

    def texts(self) -> list[Text]:
        self.sign("{")
        found = []
        while self.all[self.at] != ("sign", "}"):
            found.append(self.text())
            self.skip_comma()
        self.sign("}")
        return found

    def string(self) -> str:
        text = b"".join(part for part in self.text() if isinstance(part, bytes))
        self.skip_comma()
        return text.decode()

    def cases(self) -> Iterator[Case]:
        while self.at < len(self.all):
            kind, name = self.all[self.at]
            self.at += 1
            if kind != "word" or name not in ("test_grammar", "test_schema"):
                continue
            if self.all[self.at + 1][0] != "text":
                continue  # The function itself.
            self.sign("(")
            title, grammar = self.string(), self.string()
            accepted = self.texts()
            self.skip_comma()
            refused = self.texts()
            self.sign(")")
            yield Case(title, name.removeprefix("test_"), grammar, accepted, refused)
