"""A plug-in of pytest that notes what XGrammar answers while it tests itself.

Each line of the file LRMASK_RECORD is a case: the notation and the text of a grammar, its options,
a text, whether the text had to be complete, and the answer.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable
from typing import Any

import xgrammar
import xgrammar.testing
from xgrammar.compiler import GrammarCompiler
from xgrammar.grammar import (
    Grammar,
    _convert_schema_to_str,
    _get_structural_tag_str_from_args,
)
from xgrammar.matcher import GrammarMatcher

#: Notation, text and options of a grammar.
Origin = tuple[str, str, dict[str, Any]]

file = open(os.environ["LRMASK_RECORD"], "a", encoding="utf-8")  # noqa: SIM115
seen: set[str] = set()
#: Grammars that were printed, by their text.
printed: dict[str, Origin] = {}


def note(origin: Origin | None, text: str, complete: bool, answer: bool) -> None:
    if origin is None:
        return
    notation, source, options = origin
    line = json.dumps([notation, source, options, text, complete, answer], sort_keys=True)
    if line not in seen:
        seen.add(line)
        file.write(line + "\n")
        file.flush()


def origin_of(grammar: Any, root: str = "root") -> Origin | None:
    if isinstance(grammar, str):
        return printed.get(grammar) or ("ebnf", grammar, {"start": root})
    return getattr(grammar, "lrmask_origin", None)


def schema(schema: Any, **options: Any) -> Origin:
    for name in ("self", "print_converted_ebnf"):
        options.pop(name, None)
    return "json_schema", _convert_schema_to_str(schema), options


def lark(lark_string: str, *, named_grammars: Any = None, **_: Any) -> Origin | None:
    named = named_grammars or {}
    if not all(isinstance(text, str) for text in named.values()):
        return None
    return "lark", lark_string, {"named": named}


def tags(*args: Any, **options: Any) -> Origin:
    return "structural_tag", _get_structural_tag_str_from_args(list(args), options), {}


def originates(owner: Any, name: str, read: Callable[..., Origin | None]) -> None:
    """Makes results of a function know where they come from."""
    static = isinstance(inspect.getattr_static(owner, name), staticmethod)
    original = getattr(owner, name)
    skipped = 0 if static or inspect.ismodule(owner) else 1

    @functools.wraps(original)
    def wrapper(*args: Any, **options: Any) -> Any:
        made = original(*args, **options)
        try:
            if read is tags:
                origin = tags(*args[skipped:], **options)
            else:
                call = inspect.signature(original).bind(*args, **options)
                call.apply_defaults()
                arguments = dict(call.arguments)
                if skipped:
                    arguments.pop("self")
                origin = read(**arguments)
        except Exception:
            origin = None
        if isinstance(made, str):
            if origin is not None:
                printed[made] = origin
        else:
            made.lrmask_origin = origin
        return made

    setattr(owner, name, staticmethod(wrapper) if static else wrapper)


def regex(**arguments: Any) -> Origin:
    return "regex", next(iter(arguments.values())), {}


def ebnf(ebnf_string: str, root_rule_name: str = "root") -> Origin | None:
    return origin_of(ebnf_string, root_rule_name)


originates(Grammar, "from_ebnf", ebnf)
originates(Grammar, "from_json_schema", schema)
originates(Grammar, "from_regex", regex)
originates(Grammar, "from_lark", lark)
originates(Grammar, "from_structural_tag", tags)
originates(Grammar, "builtin_json_grammar", lambda: ("builtin", "json", {}))
originates(GrammarCompiler, "compile_json_schema", schema)
originates(GrammarCompiler, "compile_regex", regex)
originates(GrammarCompiler, "compile_lark", lark)
originates(GrammarCompiler, "compile_structural_tag", tags)
originates(GrammarCompiler, "compile_builtin_json_grammar", lambda: ("builtin", "json", {}))
originates(
    GrammarCompiler,
    "compile_grammar",
    lambda grammar, root_rule_name: origin_of(grammar, root_rule_name),
)
originates(xgrammar.testing, "_json_schema_to_ebnf", schema)
originates(xgrammar.testing, "_regex_to_ebnf", regex)
originates(xgrammar.testing, "_ebnf_to_grammar_no_normalization", ebnf)

accepts = xgrammar.testing._is_grammar_accept_string
is_inner = False


@functools.wraps(accepts)
def accepts_noted(grammar: Any, input_str: str, **options: Any) -> bool:
    global is_inner
    is_inner = True
    try:
        answer = accepts(grammar, input_str, **options)
    finally:
        is_inner = False
    note(origin_of(grammar), input_str, options.get("require_termination", True), answer)
    return answer


xgrammar.testing._is_grammar_accept_string = accepts_noted

begin, reset = GrammarMatcher.__init__, GrammarMatcher.reset
accept_string = GrammarMatcher.accept_string


def begin_noted(self: Any, compiled_grammar: Any, *args: Any, **options: Any) -> None:
    begin(self, compiled_grammar, *args, **options)
    self.lrmask_origin = origin_of(compiled_grammar)
    self.lrmask_text = ""


def accept_string_noted(self: Any, input_str: Any, **options: Any) -> bool:
    """A matcher that only texts have moved: whether its text may begin a sentence."""
    answer = accept_string(self, input_str, **options)
    text = getattr(self, "lrmask_text", None)
    if isinstance(input_str, bytes) or text is None:
        self.lrmask_text = None
    elif not is_inner:
        note(self.lrmask_origin, text + input_str, False, answer)
        if answer:
            self.lrmask_text = text + input_str
    return answer


def forgets(name: str) -> None:
    original = getattr(GrammarMatcher, name)

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **options: Any) -> Any:
        self.lrmask_text = None
        return original(self, *args, **options)

    setattr(GrammarMatcher, name, wrapper)


def reset_noted(self: Any) -> None:
    reset(self)
    self.lrmask_text = ""


GrammarMatcher.__init__ = begin_noted
GrammarMatcher.accept_string = accept_string_noted
forgets("accept_token")
forgets("rollback")
GrammarMatcher.reset = reset_noted
