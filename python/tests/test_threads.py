"""Objects are shared by threads and processes, and the interpreter's lock is let go."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import signal
import sys
import threading
import time
from collections.abc import Callable

import numpy
import pytest

import lrmask

TEXT = b'{"a": [1, {"b": "c"}, [], true], "d": null}'


def masks_along(constraint: lrmask.Constraint, text: bytes) -> list[list[int]]:
    matcher = constraint.matcher()
    found = [matcher.allowed_tokens()]
    for byte in text:
        matcher.advance(byte)
        found.append(matcher.allowed_tokens())
    return found


def test_many_threads_fill_the_same_masks(words: lrmask.Vocabulary) -> None:
    grammar = lrmask.Grammar.builtin("json")
    expected = masks_along(lrmask.Constraint(grammar, words), TEXT)
    constraint = lrmask.Constraint(grammar, words)
    wrong: list[int] = []

    def run(number: int) -> None:
        for _ in range(5):
            if masks_along(constraint, TEXT) != expected:
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_a_mask_is_filled_while_another_thread_advances(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(lrmask.Grammar.builtin("json"), words)
    known = {tuple(mask) for mask in masks_along(constraint, TEXT)}
    matcher = constraint.matcher()
    enough = threading.Event()

    def advance() -> None:
        while not enough.is_set():
            for byte in TEXT:
                matcher.advance(byte)
            matcher.rollback(len(TEXT))

    thread = threading.Thread(target=advance)
    thread.start()
    found = [tuple(matcher.allowed_tokens()) for _ in range(200)]
    enough.set()
    thread.join()
    assert set(found) <= known and matcher.steps == 0


def test_the_lock_is_let_go_while_building(words: lrmask.Vocabulary) -> None:
    """Another thread of Python runs while a grammar is compiled."""
    ticks = 0
    over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            time.sleep(0)

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks
    lrmask.Constraint(lrmask.Grammar.builtin("python"), words)
    during = ticks - before
    over.set()
    thread.join()
    assert during > 100


def fill_batch(constraint: lrmask.Constraint, threads: int) -> numpy.ndarray:
    matchers = []
    for end in range(len(TEXT)):
        matchers.append(constraint.matcher())
        matchers[-1].advance_bytes(TEXT[:end])
    rows = lrmask.new_mask(len(matchers), constraint.vocabulary.width)
    lrmask.fill_masks(matchers, rows, threads=threads)
    return rows


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_fills_masks(words: lrmask.Vocabulary) -> None:
    grammar = lrmask.Grammar.builtin("json")
    constraint = lrmask.Constraint(grammar, words)
    expected = fill_batch(constraint, 4).tobytes()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            known = fill_batch(constraint, 4).tobytes()
            new = fill_batch(lrmask.Constraint(grammar, words), 4).tobytes()
            status = 0 if known == new == expected else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_child(constraint: lrmask.Constraint, queue: multiprocessing.Queue[bytes]) -> None:
    queue.put(fill_batch(constraint, 2).tobytes())


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_multiprocessing(method: str, words: lrmask.Vocabulary) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    constraint = lrmask.Constraint(lrmask.Grammar.builtin("json"), words)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=in_child, args=(constraint, queue))
    process.start()
    assert queue.get(timeout=120) == fill_batch(constraint, 2).tobytes()
    process.join()
    assert process.exitcode == 0
