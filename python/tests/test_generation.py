"""Explanations, traces, drafts without a model, and preferred tokens."""

from __future__ import annotations

import pickle

import numpy
import pytest

import lrmask


def test_a_refusal_is_explained(words: lrmask.Vocabulary) -> None:
    matcher = lrmask.Constraint(lrmask.Grammar.builtin("json"), words).matcher()
    matcher.advance_bytes("[tr")
    assert matcher.explain(ord("u")) is None and matcher.explain_bytes("ue") is None
    why = matcher.explain(ord("x"))
    assert why is not None and (why.kind, why.offset) == ("grammar", 0)
    assert any("true" in expected for expected in why.expected) and str(why) in repr(why)
    assert why.lexeme is not None and why.lexeme[0] == -2
    why = matcher.explain_bytes("ue, }")
    assert why is not None and why.offset == 4


def test_a_sequence_is_traced(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(lrmask.Grammar.builtin("json"), words)
    tokens = list(b"[1}]")
    masks = lrmask.new_mask(4, words.width)
    scores = numpy.zeros((4, words.width), dtype=numpy.float32)
    traced = constraint.trace(tokens, masks, scores=scores, threads=2)
    assert [step.is_allowed for step in traced] == [True, True, False, False]
    row = lrmask.new_mask(1, words.width)
    matcher = constraint.matcher()
    for place in range(3):
        matcher.fill_mask(row)
        assert row[0].tolist() == masks[place].tolist()
        count = len(matcher.allowed_tokens())
        removed = traced[place].removed
        assert traced[place].allowed == count and removed is not None
        assert abs(removed - (1 - count / words.width)) < 1e-5
        matcher.try_advance(tokens[place])
    assert not masks[3].any()


def test_drafts_are_proposed(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(lrmask.Grammar.builtin("json"), words)
    speculator = lrmask.Speculator(constraint, capacity=100)
    sample = list(b'{"ab": 1}')
    for _ in range(5):
        assert speculator.observe(sample) == len(sample)
    matcher = constraint.matcher()
    matcher.advance(sample[0])
    matcher.advance(sample[1])
    proposed = speculator.propose(matcher, sample[1], most=4)
    assert proposed and matcher.validate(proposed) == len(proposed)
    again = lrmask.Speculator.load(speculator.save(), constraint)
    assert again.propose(matcher, sample[1], most=4) == proposed
    assert 0 < speculator.contexts <= speculator.capacity == 100
    with pytest.raises(ValueError):
        lrmask.Speculator.load(b"{}", constraint)


def test_preferred_tokens() -> None:
    vocabulary = lrmask.Vocabulary.from_tokens(["a", "b", "ab", "bc", "c"])
    matcher = lrmask.Constraint(lrmask.Grammar.from_regex("[abc]+"), vocabulary).matcher()
    scores = numpy.array([0.3, 0.1, 0.2, 0.9, 0.0], dtype=numpy.float32)
    assert matcher.retokenize("abc", lambda tokens: scores) == [0, 3]
    assert matcher.retokenize("x", lambda tokens: scores) is None
    with pytest.raises(ZeroDivisionError):
        matcher.retokenize("abc", lambda tokens: 1 // 0)
    assert matcher.state_key() == matcher.fork().state_key()


def test_canonical_tokens_are_those_of_the_tokenizer() -> None:
    vocabulary = lrmask.Vocabulary.from_tokens(["a", "b", "c", "ab", "bc", ";"])
    grammar = lrmask.Grammar.from_lark('start: /[abc]+/ ";"')
    constraint = lrmask.Constraint(grammar, vocabulary)
    with pytest.raises(ValueError, match="merges"):
        constraint.with_canonical_tokens()
    merged = vocabulary.with_merges([("a", b"b"), (b"b", "c")])
    canonical = lrmask.Constraint(grammar, merged).with_canonical_tokens()
    matcher = canonical.matcher()
    assert matcher.allowed_tokens() == [0, 1, 2, 3, 4]
    matcher.advance(0)
    assert matcher.allowed_tokens() == [0, 2, 3, 5]
    with pytest.raises(lrmask.AdvanceError) as refused:
        matcher.advance(1)
    assert refused.value.kind == "canonical"
    matcher.reset()
    assert matcher.follow_prompt([0]) and matcher.allowed_tokens() == [0, 2, 3]
    split = lrmask.Constraint(grammar, merged.with_split_pattern("[ab]|[^ab]"))
    matcher = split.with_canonical_tokens().matcher()
    assert matcher.allowed_tokens() == [0, 1, 2]
    with pytest.raises(lrmask.VocabularyError):
        vocabulary.with_merges([("c", "a")])
    with pytest.raises(TypeError):
        pickle.dumps(canonical)


def test_a_lookahead_forbids_tokens_of_several_lexemes() -> None:
    vocabulary = lrmask.Vocabulary.from_tokens(["1", "+", "+1", "1+1"])
    grammar = lrmask.Grammar.from_lark('start: /[0-9]+/ ("+" /[0-9]+/)*')
    constraint = lrmask.Constraint(grammar, vocabulary)
    for terminals, allowed in enumerate([[0, 1], [0, 1, 2], [0, 1, 2, 3]]):
        matcher = constraint.with_lookahead(terminals).matcher()
        matcher.advance_bytes("1")
        assert matcher.allowed_tokens() == allowed


def test_what_keeps_a_model_from_writing_for_ever_is_pickled(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(lrmask.JsonSchema({"type": "array"}), words, for_models=True)
    again = pickle.loads(pickle.dumps(constraint))
    for known in (constraint, again):
        matcher = known.matcher()
        matcher.advance_bytes('["' + "x" * 1000)
        assert not matcher.try_advance(ord("x"))
    assert again.parse("[1]") == constraint.parse("[1]")
