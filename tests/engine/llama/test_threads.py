"""A session takes as many threads as there are cores for, and what it reads does not depend on it."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.events import CancelToken
from engine.core.items import Item, Order
from engine.core.numeric import FloatArray, Logits
from engine.core.rubric import ELOQUENT
from engine.llama.context import SessionShape, ThreadCount
from engine.llama.model import BranchTokens, LlamaModel
from engine.llama.session import Continuation, LlamaSession, Sampling, Steps, batches
from engine.models.opening import machine_settings
from engine.models.templates import chat_template
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.tokens import tokenize_prompt

SmallModel = Callable[[str], Path]


class Computer:
    """Eight cores, of which a process is given some and others idle."""

    def __init__(self) -> None:
        self._now = self._idle = 0.0
        self.choice = ThreadCount(8, lambda: self._idle, lambda: self._now)

    def compute(self, seconds: float, given: float, idle: float = 0.0) -> None:
        """Batches of a tenth of a second; with few threads no more cores than these are given."""
        for _ in range(round(seconds * 10)):
            self._now += 0.1
            self._idle += 0.1 * idle
            self.choice.saw(0.1, 0.1 * min(given, self.choice.count))


@pytest.mark.parametrize(
    ("seconds", "given", "idle", "count"),
    [(20, 7.5, 0, 8), (1, 3.1, 0, 3), (20, 1.2, 6, 8), (5, 0.2, 0, 1)],
    ids=["a core for each", "given up within a second", "a GPU works, or the disk", "at least one"],
)
def test_threads_stay_where_they_have_cores(seconds: float, given: float, idle: float, count: int) -> None:
    computer = Computer()
    computer.compute(seconds, given, idle)
    assert computer.choice.count == count


def test_idle_cores_are_taken_again_after_a_while() -> None:
    computer = Computer()
    computer.compute(1, given=2)
    computer.compute(1.4, given=8, idle=6)
    assert computer.choice.count == 2
    computer.compute(2, given=8, idle=6)
    assert computer.choice.count == 8


def test_cores_that_are_free_for_moments_only_are_left_alone_longer_and_longer() -> None:
    computer = Computer()
    changes = 0
    for _ in range(60):  # two minutes with a program that wants whatever core is taken from it
        before = computer.choice.count
        computer.compute(2, given=2, idle=0 if before > 2 else 3)
        changes += computer.choice.count != before
    assert changes < 16


def test_other_programs_are_noticed_in_a_real_process() -> None:
    # More than any computer that runs these tests has cores, and none of these idle.
    choice = ThreadCount(1000, idle=lambda: 0.0)
    with choice.watched():
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            pass
    assert choice.count == 1
    assert [machine_settings(chosen).adapts for chosen in (None, 2)] == [True, False]


def test_a_score_is_the_same_bit_for_bit_whatever_the_number_of_threads(small_model: SmallModel) -> None:
    def scores(counts: list[int]) -> FloatArray:
        choice = ThreadCount(4)
        choice.saw = lambda *_seconds: setattr(choice, "count", counts[0]) or counts.append(counts.pop(0))  # type: ignore[method-assign,func-returns-value]
        with (
            LlamaModel(small_model("headers")) as model,
            LlamaSession(model, SessionShape(4096, 1, 5), choice, CancelToken()) as session,
        ):
            template = chat_template(model.chat_template, session.vocabulary, CancelToken())
            item = Item("1", "Say it. " * 200, "One. " * 100, "Two. " * 100)
            prompt = tokenize_prompt(build_prompt(item, Order.AB, ELOQUENT), template)
            session.read_trunk(0, prompt.trunk)
            return session.score(0, prompt.branches)

    alone = scores([1])
    assert np.array_equal(alone, scores([2]))
    assert np.array_equal(alone, scores([1, 4, 2, 3]))


def outcome(path: Path, threads: int, trunk: int, context: int = 2048) -> tuple[FloatArray, list[bytes]]:
    """One branch after a trunk of so many tokens: its scores, and what it writes, with the logits of that."""
    seen: list[Logits] = []
    with (
        LlamaModel(path) as model,
        LlamaSession(model, SessionShape(context, 1, 1), threads, CancelToken()) as session,
    ):
        read = session._read

        def watched(feeds: Sequence[Any], written: bool = False) -> Steps[list[list[Logits]]]:
            if written and feeds:
                seen.append(session._logits(0).copy())
            return read(feeds, written)

        session._read = watched  # type: ignore[method-assign]
        ids = [5 + place * 7 % 200 for place in range(trunk)]
        prompt = (*ids, 9, 11)
        session.read_trunk(0, ids)
        scores = session.score(0, [BranchTokens(prompt, ((20,), (21,), (22, 23)))])
        (text,) = session.generate([Continuation(0, 0, (*prompt, 12))], Sampling(max_tokens=12))
    return scores, [text.data, *(row.tobytes() for row in seen)]


@pytest.mark.slow
@pytest.mark.parametrize("trunk", [300, 1025])  # of 1,025 the last batch holds one token
def test_a_token_that_is_read_alone_does_not_depend_on_the_number_of_threads(
    small_model: SmallModel, trunk: int
) -> None:
    path = small_model("headers")
    scores, written = outcome(path, 1, trunk)
    for threads in (2, 3):
        others, other_written = outcome(path, threads, trunk)
        assert np.array_equal(scores, others)
        assert written == other_written


def test_a_token_read_alone_has_company_in_a_context_that_is_nearly_full(small_model: SmallModel) -> None:
    """The trunk, its branch, a label of two tokens, twelve written ones: one cell is left."""
    scores, written = outcome(small_model("headers"), 1, 1024 - 2 - 1 - 12 - 1, context=1024)
    assert np.isfinite(scores).all()
    assert written[0]


@pytest.mark.parametrize(
    ("lengths", "equal", "sizes"),
    [
        ([5, 4], False, [9]),
        ([5, 4], True, [8, 1]),
        ([4, 5, 3], True, [11, 1]),
        ([5, 5, 4], True, [14]),
        ([6, 4], True, [10]),
        ([3], True, [3]),
        ([10, 3], True, [10, 3]),
    ],
)
def test_no_token_is_left_over_where_equally_many_of_each_sequence_are_read_at_once(
    lengths: list[int], equal: bool, sizes: list[int]
) -> None:
    entries = [(5, at, sequence, True, 0) for sequence, many in enumerate(lengths) for at in range(many)]
    parts = list(batches(entries, 10 if sum(lengths) == 13 else 20, equal))
    assert [len(part) for part in parts] == sizes
    for sequence, length in enumerate(lengths):  # in their order
        assert [at for part in parts for _, at, where, *_ in part if where == sequence] == [*range(length)]
