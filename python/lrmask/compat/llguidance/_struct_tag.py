"""Tool calls in free text, as a grammar."""

from __future__ import annotations

import json
from typing import Any


class StructTag:
    """A call: `begin`, which starts with `trigger`, arguments of `grammar`, and `end`.

    `grammar` is a JSON schema, as a dictionary or a text, or a grammar in Lark's notation.
    """

    def __init__(
        self, *, trigger: str, begin: str, grammar: str | dict[str, Any], end: str
    ) -> None:
        self.trigger = trigger
        self.begin = begin
        self.grammar = grammar
        self.end = end
        assert self.trigger, "trigger must not be empty"
        assert self.begin.startswith(self.trigger), "begin must start with trigger"

    @staticmethod
    def to_grammar(
        tags: list[StructTag],
        *,
        assume_special: bool = True,
        text_regex: str = r"(.|\n)*",
    ) -> str:
        """The grammar of free text with these calls in it.

        With `assume_special`, triggers like `<this>` are special tokens.
        """
        assert tags, "tags must not be empty"
        assert "/" not in text_regex, "text_regex must not contain /"

        def literal(text: str) -> str:
            return json.dumps(text) if text else ""

        rules = [f"start: ({' | '.join(f'tag_{i}' for i in range(len(tags)))})* TAG_TEXT"]
        rules.append(f"TAG_TEXT: /{text_regex}/")
        others = []
        for number, tag in enumerate(tags):
            name = f"tag_{number}"
            if isinstance(tag.grammar, dict):
                part = f"%json {json.dumps(tag.grammar)}"
            elif tag.grammar.lstrip().startswith("{"):
                part = f"%json {tag.grammar}"
            else:
                others.append({"name": f"{name}_grm", "lark_grammar": tag.grammar})
                part = f"@{name}_grm"
            rest = f"{literal(tag.begin[len(tag.trigger) :])} {part} {literal(tag.end)}"
            if assume_special and tag.trigger.startswith("<") and tag.trigger.endswith(">"):
                rules.append(f"{name}: TAG_TEXT {tag.trigger} {rest}")
            else:
                rules.append(f"{name}_trig[lazy]: TAG_TEXT {literal(tag.trigger)}")
                rules.append(f"{name}: {name}_trig {rest}")
        lark = "%llguidance {}\n" + "\n".join(rules) + "\n"
        if not others:
            return lark
        return json.dumps({"grammars": [{"name": "struct_tag", "lark_grammar": lark}, *others]})
