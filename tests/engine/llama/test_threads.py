"""A session takes as many threads as there are cores for, and what it reads does not depend on it."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.core.cancel import CancelToken
from engine.core.items import Item, Order
from engine.core.log_probs import FloatArray
from engine.core.rubric import ELOQUENT
from engine.llama.library import LlamaModel
from engine.llama.session import LlamaSession, SessionShape
from engine.llama.threads import ThreadChoice
from engine.loading.opening import machine_settings
from engine.loading.templates import chat_template
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.tokens import tokenize_prompt


class Computer:
    """Eight cores, of which a process is given some and others idle."""

    def __init__(self) -> None:
        self._now = self._idle = 0.0
        self.choice = ThreadChoice(8, lambda: self._idle, lambda: self._now)

    def compute(self, seconds: float, given: float, idle: float = 0.0) -> None:
        """Batches of a tenth of a second; with few threads no more cores than these are given."""
        for _ in range(round(seconds * 10)):
            self._now += 0.1
            self._idle += 0.1 * idle
            self.choice.saw(0.1, 0.1 * min(given, self.choice.count))


def test_all_threads_stay_where_there_is_a_core_for_each() -> None:
    computer = Computer()
    computer.compute(20, given=7.5)
    assert computer.choice.count == 8


def test_threads_without_a_core_are_given_up_within_a_second() -> None:
    computer = Computer()
    computer.compute(1, given=3.1)
    assert computer.choice.count == 3


def test_at_least_one_thread_stays() -> None:
    computer = Computer()
    computer.compute(5, given=0.2)
    assert computer.choice.count == 1


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
    for _ in range(60):  # two minutes on a computer that looks idle and is not
        before = computer.choice.count
        computer.compute(2, given=2, idle=3)
        changes += computer.choice.count != before
    assert changes < 16


def test_other_programs_are_noticed_in_a_real_process() -> None:
    choice = ThreadChoice(1000)  # more than any computer that runs these tests has cores
    with choice.watched():
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            pass
    assert choice.count == 1


def test_a_score_is_the_same_bit_for_bit_whatever_the_number_of_threads(
    small_model: Callable[[str], Path],
) -> None:
    def scores(counts: list[int]) -> FloatArray:
        choice = ThreadChoice(4)
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


def test_only_a_number_that_nobody_chose_adapts() -> None:
    assert machine_settings(None, 0).adapts
    assert not machine_settings(2, 0).adapts
