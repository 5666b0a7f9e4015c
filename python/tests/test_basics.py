"""Each class does what its name says, and refuses with reasons."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy
import pytest

import lrmask

DAYS = 'start: "{" "\\"days\\":" /[1-9][0-9]?/ "}"'


def small() -> lrmask.Vocabulary:
    return lrmask.Vocabulary.from_tokens(
        ["{", "}", '"days":', "7", "14", ""], special_tokens={5: "<end>"}, stop_tokens=[5]
    )


def test_a_text_is_generated() -> None:
    constraint = lrmask.Constraint(lrmask.Grammar.from_lark(DAYS), small())
    matcher = constraint.matcher()
    scores = numpy.array([0.5, 0.1, 0.7, 0.4, 0.9, 0.3], dtype=numpy.float32)
    mask = lrmask.new_mask(1, 6)
    written = []
    while not matcher.is_finished:
        info = matcher.fill_mask(mask)
        assert info.is_exact and not info.is_full
        logits = scores.copy()
        lrmask.apply_mask(logits, mask)
        token = int(logits.argmax())
        matcher.advance(token)
        written.append(token)
    assert written == [0, 2, 4, 1, 5]
    assert small().decode(written) == b'{"days":14}'


def test_masks_go_into_arrays_of_all_kinds() -> None:
    matcher = lrmask.Constraint(lrmask.Grammar.from_lark(DAYS), small()).matcher()
    for dtype in (numpy.int32, numpy.uint32):
        rows = numpy.full((3, 2), 7, dtype=dtype)
        matcher.fill_mask(rows, 1)
        assert rows.tolist() == [[7, 7], [1, 0], [7, 7]]
    plain = bytearray(8)
    matcher.fill_mask(plain)
    assert plain == b"\1" + bytes(7)
    row = numpy.full(1, 7, dtype=numpy.int32)
    matcher.fill_mask_at(row.ctypes.data, 1)
    assert row[0] == 1
    every_other = numpy.full((2, 4), 7, dtype=numpy.int32)[:, :2]
    matcher.fill_mask(every_other, 1)
    assert every_other.tolist() == [[7, 7], [1, 0]]
    with pytest.raises(ValueError):
        matcher.fill_draft_masks([0], every_other)


@pytest.mark.parametrize(
    ("array", "row", "error"),
    [
        (numpy.zeros((1, 1), dtype=numpy.int64), 0, TypeError),
        (numpy.zeros((1, 1), dtype=numpy.float32), 0, TypeError),
        (numpy.zeros((2, 0), dtype=numpy.int32), 0, ValueError),
        (numpy.zeros((2, 4), dtype=numpy.int32)[:, ::2], 0, ValueError),
        (numpy.zeros((2, 4), dtype=numpy.int32)[::-1], 0, ValueError),
        (numpy.zeros((2, 2, 2), dtype=numpy.int32), 0, ValueError),
        (numpy.zeros((2, 1), dtype=numpy.int32), 2, IndexError),
        (b"\0" * 8, 0, ValueError),
        ([0, 0], 0, TypeError),
        (bytearray(3), 0, ValueError),
    ],
)
def test_other_arrays_are_refused(array: object, row: int, error: type[Exception]) -> None:
    matcher = lrmask.Constraint(lrmask.Grammar.from_lark(DAYS), small()).matcher()
    with pytest.raises(error):
        matcher.fill_mask(array, row)


def test_batches_fill_rows_by_index_and_leave_others() -> None:
    matcher = lrmask.Constraint(lrmask.Grammar.from_lark(DAYS), small()).matcher()
    after = matcher.fork()
    after.advance(0)
    rows = numpy.full((4, 2), 7, dtype=numpy.int32)
    lrmask.fill_masks([after, None], rows, rows=[3, 1], threads=2)
    assert rows.tolist() == [[7, 7], [-1, -1], [7, 7], [0b100, 0]]
    lrmask.fill_masks([matcher, matcher], rows)
    assert rows[:2].tolist() == [[1, 0], [1, 0]]
    with pytest.raises(ValueError):
        lrmask.fill_masks([matcher], rows[:, :1])
    for matchers, places in ([[matcher], [4]], [[matcher] * 2, [0, 0]], [[matcher], [0, 1]]):
        with pytest.raises((ValueError, IndexError)):
            lrmask.fill_masks(matchers, rows, rows=places)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_masks_are_applied_in_place(dtype: str) -> None:
    mask = numpy.array([[0b101], [-1]], dtype=numpy.int32)
    logits = numpy.ones((2, 34), dtype=dtype)
    lrmask.apply_mask(logits, mask)
    kept = numpy.isfinite(logits)
    assert kept[0].nonzero()[0].tolist() == [0, 2]
    assert kept[1].nonzero()[0].tolist() == list(range(32))
    logits = numpy.ones((2, 3), dtype=dtype)
    lrmask.apply_mask(logits, mask, rows=[0])
    assert numpy.isfinite(logits).tolist() == [[True, False, True], [True] * 3]
    with pytest.raises(TypeError):
        lrmask.apply_mask(numpy.ones((2, 3), dtype=numpy.int32), mask)


def test_a_matcher_goes_back_and_forks(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(lrmask.Grammar.builtin("json"), words)
    matcher = constraint.matcher()
    matcher.advance_bytes('{"a":')
    fork = copy.copy(matcher)
    fork.advance(256)
    assert fork.steps == 2 and matcher.steps == 1
    assert matcher.rollback(5) == 1 and matcher.steps == 0
    fork.reset()
    assert fork.allowed_tokens() == matcher.allowed_tokens()
    assert matcher.validate([ord("["), ord("]"), 264, 264, ord("[")]) == 4
    with pytest.raises(lrmask.AdvanceError) as refused:
        matcher.advance(ord("}"))
    assert refused.value.kind == "grammar" and refused.value.token == ord("}")
    assert matcher.try_advance(ord("[")) and not matcher.try_advance(264)
    assert "after 1 steps" in repr(matcher)


def test_drafts_in_a_chain_and_in_a_tree(words: lrmask.Vocabulary) -> None:
    matcher = lrmask.Constraint(lrmask.Grammar.builtin("json"), words).matcher()
    chain = [ord("["), ord("]"), ord("}")]
    rows = numpy.full((5, 9), 7, dtype=numpy.int32)
    assert matcher.fill_draft_masks(chain, rows, 1) == [True, True, False]
    expected = numpy.zeros(9, dtype=numpy.int32)
    for row, token in enumerate([None, *chain[:2]], 1):
        if token is not None:
            matcher.advance(token)
        matcher.fill_mask(expected)
        assert rows[row].tolist() == expected.tolist()
    assert rows[0].tolist() == rows[4].tolist() == [7] * 9
    matcher.reset()
    tree = matcher.fill_draft_masks(
        [ord("["), ord("]"), ord("1")], rows, parents=[None, 0, 0]
    )
    assert tree == [True, True, True]
    with pytest.raises(ValueError):
        matcher.fill_draft_masks([1, 2], rows, parents=[1, None])


def test_forced_tokens_captures_and_completion() -> None:
    vocabulary = lrmask.Vocabulary.builtin("bytes")
    text = 'start: "<name>" name "</name>"\nname[capture]: /[a-z]+/'
    matcher = lrmask.Constraint(lrmask.Grammar.from_lark(text), vocabulary).matcher()
    assert matcher.forced_bytes() == b"<name>"
    assert bytes(matcher.forced_tokens()) == b"<name>"
    assert matcher.forced_tokens(lambda text: list(text)[:3]) == list(b"<na")
    with pytest.raises(ZeroDivisionError):
        matcher.forced_tokens(lambda text: 1 // 0)
    matcher.advance_bytes(b"<name>ada")
    assert matcher.shortest_completion() == b"</name>"
    matcher.advance_bytes("</name>")
    [capture] = matcher.captures()
    assert (capture.name, capture.bytes, capture.text, capture.span) == ("name", b"ada", "ada", (6, 9))
    assert matcher.is_accepting and not matcher.can_continue()
    assert matcher.temperature() is None and matcher.remaining_tokens() is None


def test_stop_tokens_of_one_sequence() -> None:
    vocabulary = lrmask.Vocabulary.from_tokens(["a", "", ""], stop_tokens=[1])
    constraint = lrmask.Constraint(lrmask.Grammar.from_regex("a*"), vocabulary)
    assert constraint.matcher().allowed_tokens() == [0, 1]
    matcher = constraint.matcher([2])
    assert matcher.allowed_tokens() == [0, 2] and matcher.stop_tokens == [2]
    with pytest.raises(lrmask.VocabularyError):
        constraint.matcher([3])


@pytest.mark.parametrize(
    ("grammar", "yes", "no"),
    [
        (lrmask.Grammar.from_lark(DAYS), b'{"days":7}', b'{"days":0}'),
        (lrmask.Grammar.from_gbnf('root ::= "a" [bc]+'), b"abc", b"a"),
        (lrmask.Grammar.from_regex("[0-9]{3}"), b"123", b"12"),
        (lrmask.Grammar.from_choices(["yes", "no"]), b"no", b"maybe"),
        (lrmask.Grammar.from_yacc("%token A\n%%\ns: A | s A;", 'A: "a"'), b"aa", b""),
        (lrmask.Grammar.builtin("json"), b"[1]", b"[1"),
        (lrmask.Grammar.builtin("sqlite"), b"SELECT 1;", b"SELECT"),
        (lrmask.Grammar.builtin("python"), b"x = 1\n", b"x ="),
        (lrmask.JsonSchema({"type": "integer"}), b"12", b"1.5"),
        (lrmask.JsonSchema('{"enum": ["a"]}'), b'"a"', b'"b"'),
        (lrmask.JsonSchema({"type": "array"}, whitespace="none"), b"[1,2]", b"[1, 2]"),
        (
            lrmask.Grammar.from_lark(
                "%import .w.WORD\nlist: WORD+", start="list", files={"w.lark": "WORD: /[a-z]/"}
            ),
            b"ab",
            b"",
        ),
        (
            lrmask.Grammar.from_structural_tags(
                {
                    "triggers": ["<f="],
                    "structures": [{"begin": "<f=a>", "schema": {"type": "null"}, "end": "</f>"}],
                }
            ),
            b"so <f=a>null</f>",
            b"so <f=a>1</f>",
        ),
    ],
    ids=lambda case: case.kind if isinstance(case, lrmask.Grammar) else None,
)
def test_every_notation(grammar: lrmask.Grammar, yes: bytes, no: bytes) -> None:
    for known in (grammar, pickle.loads(pickle.dumps(grammar))):
        assert known.accepts(yes) and not known.accepts(no)
        assert isinstance(known.check(), list)


def test_tools_are_called() -> None:
    tools = {"weather": {"type": "object", "properties": {"city": {"type": "string"}}}}
    grammar = lrmask.Grammar.from_tools(tools, form="hermes", calls="one")
    call = b'<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
    assert grammar.accepts(call) and not grammar.accepts(call.replace(b"weather", b"news"))
    for form in ("llama3", "python", "mistral", "deepseek", "kimi", "glm"):
        lrmask.Grammar.from_tools(tools, form=form).check()  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        lrmask.Grammar.from_tools(tools, form="none")  # type: ignore[arg-type]
    with pytest.raises(lrmask.SchemaError):
        lrmask.Grammar.from_tools({})


def test_a_prompt_is_healed() -> None:
    vocabulary = lrmask.Vocabulary.from_tokens(["Age", ":", " ", " 4", "42", " x", "4"])
    matcher = lrmask.Constraint(lrmask.Grammar.from_regex("[0-9]+"), vocabulary).matcher()
    assert vocabulary.take_back([0, 1, 2]) == (2, b" ")
    assert vocabulary.take_back([0, 1, 2], tokens=2) == (1, b": ")
    matcher.heal(b" ")
    assert matcher.unwritten == b" " and matcher.allowed_tokens() == [2, 3]
    matcher.advance(3)
    assert matcher.unwritten == b"" and matcher.is_accepting


def test_bounds_for_models() -> None:
    schema = lrmask.JsonSchema({"type": "string"}, default_max_length=3)
    assert schema.accepts(b'"abc"') and not schema.accepts(b'"abcd"')
    vocabulary = lrmask.Vocabulary.builtin("bytes")
    matcher = lrmask.Constraint(
        lrmask.Grammar.builtin("sqlite"), vocabulary, for_models=True
    ).matcher()
    matcher.advance_bytes("SELECT 1 ")
    with pytest.raises(lrmask.AdvanceError):
        matcher.advance_bytes("-- comment")


def test_errors_have_parts() -> None:
    with pytest.raises(lrmask.GrammarError) as refused:
        lrmask.Grammar.from_lark("start: wrod").check()
    error = refused.value
    [finding] = [d for d in error.diagnostics if d.severity == "error"]
    assert finding.code == "undefined-symbol" and finding.place is not None
    assert (finding.place.line, finding.place.column, finding.place.start) == (1, 8, 7)
    assert "start: wrod" in error.rendered and "^" in error.rendered
    assert "wrod" in str(error) and "wrod" in repr(finding)
    with pytest.raises(lrmask.SchemaError) as schema:
        lrmask.JsonSchema({"properties": {"a": {"minLength": "b"}}}).check()
    assert schema.value.pointer == "/properties/a/minLength"
    assert schema.value.kind == "schema-invalid"
    with pytest.raises(lrmask.LimitError) as limit:
        lrmask.Grammar.builtin("sqlite").check(lrmask.Limits(build_steps=1000))
    assert limit.value.limit == "steps" and isinstance(limit.value, lrmask.GrammarError)
    with pytest.raises(lrmask.VocabularyError) as vocabulary:
        lrmask.Vocabulary.from_file_bytes(b"nothing")
    assert vocabulary.value.kind == "file"
    with pytest.raises(FileNotFoundError):
        lrmask.Vocabulary.from_file("/nowhere/tokenizer.json")
    with pytest.raises(ValueError):
        lrmask.Grammar.builtin("cobol")
    with pytest.raises(TypeError):
        lrmask.JsonSchema({}, colour="red").check()  # type: ignore[call-arg]


def test_limits_and_cancel() -> None:
    limits = lrmask.Limits.strict(mask_steps=5)
    assert limits.mask_steps == 5 and limits.build_steps < lrmask.Limits().build_steps
    assert limits.replace(mask_steps=6) != limits == limits.replace()
    assert "mask_steps=5" in repr(limits)
    with pytest.raises(TypeError):
        lrmask.Limits(speed=1)
    with pytest.raises(AttributeError):
        limits.speed
    cancel = lrmask.Cancel()
    cancel.stop()
    with pytest.raises(lrmask.LimitError) as refused:
        lrmask.Grammar.builtin("sqlite").check(lrmask.Limits(cancel=cancel))
    assert refused.value.limit == "cancelled"


def test_constraints_are_saved_warmed_and_pickled(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(lrmask.Grammar.builtin("json"), words)
    sample = words.cut_longest(b'{"ab": [true, null, 10]}')
    assert sample is not None
    told: list[int] = []
    done = constraint.warm([sample] * 3, explore=20, threads=2, progress=told.append)
    assert done >= 3 * len(sample) and sum(told) == done
    with pytest.raises(ZeroDivisionError):
        constraint.warm([sample], progress=lambda count: count // 0)
    loaded = lrmask.Constraint.load(constraint.save([sample]), words)
    again = pickle.loads(pickle.dumps(loaded))
    third = pickle.loads(pickle.dumps(constraint))
    for other in (loaded, again, third):
        assert other.fingerprint == constraint.fingerprint
        assert other.matcher().allowed_tokens() == constraint.matcher().allowed_tokens()
    with pytest.raises(lrmask.LoadError):
        lrmask.Constraint.load(constraint.save(), lrmask.Vocabulary.builtin("bytes"))
    with pytest.raises(lrmask.LoadError):
        lrmask.Constraint.load(b"{}", words)
    with pytest.raises(TypeError):
        loaded.parse("1")


def test_a_vocabulary_is_what_was_given() -> None:
    vocabulary = lrmask.Vocabulary.from_tokens(
        [b"a", "é", None, b"x"], special_tokens={3: "<|x|>"}, stop_tokens=[3], width=40
    )
    assert [vocabulary.token_bytes(id) for id in range(4)] == [b"a", "é".encode(), None, None]
    assert (vocabulary.width, len(vocabulary), vocabulary.stop_tokens) == (40, 3, [3])
    assert vocabulary.special_tokens == {3: "<|x|>"}
    assert vocabulary.token(b"a") == 0 and vocabulary.token(b"b") is None
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary
    assert vocabulary.replace(width=50) != vocabulary
    assert "width 40" in repr(vocabulary)
    with pytest.raises(IndexError):
        vocabulary.token_bytes(40)


def test_a_cache_builds_once(words: lrmask.Vocabulary) -> None:
    cache = lrmask.ConstraintCache(1 << 24)
    first = cache.get_or_build(lrmask.Grammar.builtin("json"), words)
    second = cache.get_or_build(lrmask.Grammar.builtin("json"), words)
    assert len(cache) == 1 and cache.nbytes > 0 and first.fingerprint == second.fingerprint
    for _ in range(2):
        with pytest.raises(lrmask.GrammarError):
            cache.get_or_build(lrmask.Grammar.from_lark("start: a"), words)
    assert len(cache) == 2
    schema = lrmask.JsonSchema({"type": "integer"})
    assert cache.get_or_build(schema, words).parse("7") == 7
    made: list[int] = []
    barrier = threading.Barrier(4)

    def build() -> None:
        barrier.wait()
        made.append(cache.get_or_build(lrmask.Grammar.builtin("sqlite"), words).fingerprint)

    threads = [threading.Thread(target=build) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(set(made)) == 1 and len(made) == 4


def test_a_budget_ends_texts_in_time(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(lrmask.Grammar.builtin("json"), words)
    matcher = constraint.matcher()
    matcher.advance(ord("["))
    with pytest.raises(ValueError):
        matcher.set_budget(0)
    matcher.set_budget(3)
    assert matcher.budget == 3
    matcher.advance(ord("["))
    assert matcher.budget == 2
    matcher.rollback()
    matcher.clear_budget()
    assert matcher.budget is None
    random = numpy.random.default_rng(0)
    matcher.reset()
    matcher.set_budget(12)
    for _ in range(13):
        if matcher.is_finished:
            break
        matcher.advance(int(random.choice(matcher.allowed_tokens())))
    assert matcher.is_finished
