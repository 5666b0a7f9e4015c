"""llguidance's interface on this engine. Its own tests are run by `interop/run llguidance`."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy
import pytest

import lrmask.compat
from lrmask.compat.llguidance import (
    LLExecutor,
    LLInterpreter,
    LLMatcher,
    LLTokenizer,
    StructTag,
    grammar_from,
    regex_to_lark,
)
from lrmask.compat.llguidance.numpy import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    fill_next_token_bitmask,
    fill_next_token_bitmask_par,
)


@pytest.fixture(scope="module")
def tokenizer() -> LLTokenizer:
    return LLTokenizer("byte")


def takes(tokenizer: LLTokenizer, grammar: str, text: str) -> bool:
    matcher = LLMatcher(tokenizer, grammar)
    assert not matcher.is_error(), matcher.get_error()
    return matcher.consume_tokens(tokenizer.tokenize_str(text)) and matcher.is_accepting()


@pytest.mark.parametrize(
    ("grammar", "yes", "no"),
    [
        (grammar_from("lark", "start: /[a-z]+/"), "ab", "1"),
        (grammar_from("grammar", 'root ::= "a" [0-9]'), "a1", "a"),
        (grammar_from("json_schema", '{"type": "integer"}'), "12", "x"),
        (grammar_from("regex", "a/b|c"), "a/b", "a"),
        (grammar_from("choice", '["yes", "no"]'), "no", "n"),
        (
            json.dumps(
                {
                    "grammars": [
                        {"lark_grammar": 'start: "<" @inner ">" @other'},
                        {"name": "inner", "lark_grammar": "start: /[0-9]+/"},
                        {"name": "other", "json_schema": {"type": "null"}},
                    ]
                }
            ),
            "<12>null",
            "<a>null",
        ),
        (
            LLMatcher.grammar_from_json_schema({"type": "array"}, {"whitespace_flexible": False}),
            "[1,2]",
            "[1, 2]",
        ),
        (
            StructTag.to_grammar(
                [StructTag(trigger="<f", begin="<f>", grammar={"type": "null"}, end="</f>")]
            ),
            "so <f>null</f>",
            "so <f>1</f>",
        ),
    ],
)
def test_grammars(tokenizer: LLTokenizer, grammar: str, yes: str, no: str) -> None:
    assert takes(tokenizer, grammar, yes) and not takes(tokenizer, grammar, no)
    assert LLMatcher.validate_grammar(grammar) == ""


def test_errors_stay(tokenizer: LLTokenizer) -> None:
    for bad in ("start: nowhere", "", "{}", '{"grammars": []}', "{", '{"grammars": [{}]}'):
        matcher = LLMatcher(tokenizer, bad)
        assert matcher.is_error() and matcher.get_error() and matcher.is_stopped()
        assert not matcher.consume_token(65)
        mask = numpy.frombuffer(matcher.compute_bitmask(), dtype=numpy.uint8)
        set_bits = numpy.unpackbits(mask, bitorder="little").nonzero()[0].tolist()
        assert set_bits == tokenizer.eos_tokens
        assert LLMatcher.validate_grammar(bad)


def test_executor_fills_rows(tokenizer: LLTokenizer) -> None:
    masks = allocate_token_bitmask(3, tokenizer.vocab_size)
    digits, letters = (LLMatcher(tokenizer, f"start: /[{of}]+/") for of in ("0-9", "a-z"))
    fill_next_token_bitmask_par(LLExecutor(), [(digits, 2), (letters, 0)], masks)
    single = allocate_token_bitmask(1, tokenizer.vocab_size)
    for matcher, row in ((digits, 2), (letters, 0)):
        fill_next_token_bitmask(matcher, single)
        assert masks[row].tolist() == single[0].tolist()
    assert (masks[1] == -1).all()
    logits = numpy.zeros((3, tokenizer.vocab_size), dtype=numpy.float32)
    apply_token_bitmask_inplace(logits, masks)
    assert numpy.isfinite(logits).sum(axis=1).tolist() == [26, tokenizer.vocab_size, 10]


def test_the_interpreter_forces(tokenizer: LLTokenizer) -> None:
    interpreter = LLInterpreter(tokenizer, 'start: "ab" n "cd"\nn[capture]: /[0-9]/')
    assert bytes(interpreter.process_prompt([])) == b"ab"
    mask, _ = interpreter.compute_mask()
    assert mask is not None and mask.count(200) == 10
    assert interpreter.commit_token(ord("7")) == (0, list(b"7cd"))
    assert interpreter.has_pending_stop()
    mask, report = interpreter.compute_mask()
    assert mask is None and json.loads(report)["stop"]
    assert json.loads(report)["progress"][0]["str"] == "7"
    with pytest.raises(ValueError):
        LLInterpreter(tokenizer, "start: nowhere")


def test_regexes_for_lark() -> None:
    assert regex_to_lark(r"\d/[\d_]", "d") == r"[0-9]\/[0-9_]"
    assert regex_to_lark(r"\W\\d", "w") == r"[^0-9a-zA-Z_]\\d"


def test_installed_in_its_place() -> None:
    """In a process of its own: an import of llguidance finds this."""
    program = (
        "import lrmask.compat; lrmask.compat.install('llguidance')\n"
        "import llguidance, llguidance.numpy, llguidance.hf\n"
        "from llguidance import LLMatcher, LLTokenizer\n"
        "from llguidance._lib import LLExecutor\n"
        "import lrmask.compat.llguidance as ours\n"
        "assert LLMatcher is ours.LLMatcher\n"
        "assert LLMatcher(LLTokenizer('byte'), 'start: /a/').consume_token(97)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with pytest.raises(ValueError):
        lrmask.compat.install("nothing")
