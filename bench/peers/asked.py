"""What this program asks of a model for some items, token by token, so that others can be asked the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.events import CancelToken
from engine.core.numeric import FloatArray
from engine.core.rubric import ELOQUENT
from engine.judging.item_judge import ItemJudge, Placed
from engine.llama.context import SessionShape
from engine.llama.model import BranchTokens, LlamaModel
from engine.llama.session import Continuation, Generated, LlamaSession, Sampling, Steps, Writer
from engine.models.templates import chat_template
from engine.prompt.examples import ExamplePool
from engine.settings.rows import JudgeSettings


class NotComparableError(Exception):
    """The peers cannot be asked the same; says why, and what to do."""


@dataclass(frozen=True)
class Question:
    """A whole prompt, and the tokens of its labels."""

    prompt: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Text:
    """A whole prompt, and how many tokens are written after it (1 or more; the last of them is not read)."""

    prompt: tuple[int, ...]
    tokens: int


@dataclass(frozen=True)
class AskedItem:
    """An item's questions by order, then criterion; then the texts, which go on from the last order."""

    orders: tuple[tuple[Question, ...], ...]
    texts: tuple[Text, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(question for order in self.orders for question in order)


class RecordingSession(LlamaSession):
    """A session that remembers what it was asked."""

    def __init__(self, model: LlamaModel, shape: SessionShape, threads: int, cancel: CancelToken) -> None:
        super().__init__(model, shape, threads, cancel)
        self.orders: list[tuple[Question, ...]] = []
        self.texts: list[Text] = []

    def scoring(
        self, slot: int, branches: Sequence[BranchTokens], goes_on: bool = False
    ) -> Steps[FloatArray]:
        self.orders.append(tuple(map(_question, branches)))
        return super().scoring(slot, branches, goes_on)

    def writing(self, continuations: Sequence[Continuation], sampling: Sampling) -> Steps[list[Generated]]:
        steps = super().writing(continuations, sampling)
        writers: Sequence[Writer] = ()
        while True:
            try:
                latest = next(steps)
            except StopIteration as end:
                lengths = [len(writer.tokens) for writer in writers]
                self.texts += map(Text, (each.prompt for each in continuations), lengths)
                result: list[Generated] = end.value
                return result
            writers = latest or writers
            yield latest


def _question(branch: BranchTokens) -> Question:
    if any(len(label) != 1 for label in branch.labels):
        raise NotComparableError(
            "This model's labels are of several tokens: choose a model with one for each."
        )
    return Question(branch.prompt, tuple(label[0] for label in branch.labels))


def session_shape(settings: JudgeSettings) -> SessionShape:
    slots = settings.items_at_once if settings.explains else 1
    return SessionShape(settings.context, slots, len(ELOQUENT.criteria))


def item_judge(model: LlamaModel, session: LlamaSession, settings: JudgeSettings) -> ItemJudge:
    template = chat_template(model.chat_template, session.vocabulary, CancelToken())
    return ItemJudge(session, template, ELOQUENT, settings, ExamplePool())


def groups(placed: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [placed[start : start + size] for start in range(0, len(placed), size)]


def asked_of(
    model: LlamaModel, placed: Sequence[Placed], settings: JudgeSettings, threads: int
) -> list[AskedItem]:
    """Judge the items once and tell what was asked. NotComparableError where one does not fit."""
    session = RecordingSession(model, session_shape(settings), threads, CancelToken())
    with session:
        judge = item_judge(model, session, settings)
        for group in groups(placed, settings.items_at_once):
            for _ in judge.judge(group):
                pass
    return by_item(session.orders, session.texts, len(placed), len(settings.orders))


def by_item(
    orders: Sequence[tuple[Question, ...]], texts: Sequence[Text], items: int, orders_each: int
) -> list[AskedItem]:
    if len(orders) != items * orders_each or len(texts) % items:
        raise NotComparableError("An item does not fit, or is not decided: give a larger --context.")
    texts_each = len(texts) // items
    return [
        AskedItem(
            tuple(orders[item * orders_each : (item + 1) * orders_each]),
            tuple(texts[item * texts_each : (item + 1) * texts_each]),
        )
        for item in range(items)
    ]


def largest_difference(rows: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> float:
    """How far the labels' probabilities of two ways are apart, of those that both tell (no nan)."""
    differences = np.abs(np.exp(np.array(rows, dtype=float)) - np.exp(np.array(others, dtype=float)))
    return float(np.nanmax(differences, initial=0.0)) if not np.isnan(differences).all() else float("nan")
