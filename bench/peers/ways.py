"""Ways to get the same judgments from a model in this process: this program, llama-cpp-python's `Llama`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import llama_cpp.llama_cpp as bindings
import numpy as np
from llama_cpp import Llama

from bench.peers.asked import AskedItem, Question, groups, item_judge
from engine.core.judgments import JudgedItem
from engine.core.numeric import log_softmax
from engine.core.rubric import ELOQUENT
from engine.judging.item_judge import ItemJudge, Placed
from engine.llama.context import BATCH
from engine.llama.library import special_layouts_work
from engine.llama.model import LlamaModel
from engine.llama.session import LlamaSession
from engine.settings.rows import JudgeSettings


@dataclass(frozen=True)
class ObservedTask:
    """Tokens `read` and `written`; `log_probs`: by item, order and criterion, nan where not told."""

    seconds: float
    read: int
    written: int
    log_probs: Sequence[tuple[float, ...]]


Clock = Callable[[], float]
"""Seconds since some moment: of the day, or of processor time."""


class Method(Protocol):
    """Somebody who answers what this program asks."""

    name: str

    def judge(self, items: Sequence[int]) -> ObservedTask:
        """Judge items by their numbers."""


class Ours:
    """This program: items in groups, as a run judges them."""

    name = "this program"

    def __init__(
        self,
        model: LlamaModel,
        session: LlamaSession,
        placed: Sequence[Placed],
        settings: JudgeSettings,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._session = session
        self._judge: ItemJudge = item_judge(model, session, settings)
        self._placed = placed
        self._settings = settings

    def judge(self, items: Sequence[int]) -> ObservedTask:
        read, written = self._session.tokens_read, self._session.tokens_generated
        judged: list[JudgedItem] = []
        started = self._clock()
        for group in groups([self._placed[item] for item in items], self._settings.items_at_once):
            judged += _returned(self._judge.judge(group))
        seconds = self._clock() - started
        log_probs = [
            each.raw_predictions[name][order].log_probs
            for each in judged
            for order in range(len(self._settings.orders))
            for name in ELOQUENT.names
        ]
        written = self._session.tokens_generated - written
        return ObservedTask(seconds, self._session.tokens_read - read, written, log_probs)


def _returned(steps: Any) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class CountingLlama(Llama):
    """llama-cpp-python's class, which counts what it evaluates."""

    evaluated = 0

    def eval(self, tokens: Sequence[int]) -> None:
        self.evaluated += len(tokens)
        super().eval(tokens)


def open_llama(path: Path, context: int, threads: int) -> CountingLlama:
    """`Llama` with flash attention, which it leaves off by itself, and weights laid out as ours."""
    with _layouts_as_ours():
        return CountingLlama(
            model_path=str(path),
            n_ctx=context,
            n_batch=BATCH,
            n_threads=threads,
            n_threads_batch=threads,
            flash_attn=True,
            verbose=False,
        )


@contextmanager
def _layouts_as_ours() -> Iterator[None]:
    """`Llama` has no argument for layouts: the defaults that it starts from are changed while it loads."""
    defaults = bindings.llama_model_default_params

    def changed() -> Any:
        params = defaults()
        params.use_extra_bufts = special_layouts_work()
        return params

    bindings.llama_model_default_params = changed
    try:
        yield
    finally:
        bindings.llama_model_default_params = defaults


class Python:
    """`Llama.generate`, one text after another; `keeps`: the common prefix stays cached."""

    def __init__(self, llama: CountingLlama, asked: Sequence[AskedItem], keeps: bool, clock: Clock) -> None:
        self._clock = clock
        self.name = "Llama, prompts one by one, cache kept" if keeps else "Llama, separate prompts"
        self._llama = llama
        self._asked = asked
        self._keeps = keeps

    def judge(self, items: Sequence[int]) -> ObservedTask:
        self._llama.evaluated = 0
        log_probs: list[tuple[float, ...]] = []
        written = steps = 0
        started = self._clock()
        for item in items:
            asked = self._asked[item]
            for question in asked.questions:
                self._write(question.prompt, 1)
                log_probs.append(self._label_log_probs(question))
            for text in asked.texts:
                self._write(text.prompt, text.tokens)
                written += text.tokens
                steps += text.tokens - 1
        seconds = self._clock() - started
        return ObservedTask(seconds, self._llama.evaluated - steps, written, log_probs)

    def _write(self, prompt: Sequence[int], tokens: int) -> None:
        if not self._keeps:
            self._llama.reset()  # type: ignore[no-untyped-call]
        for _ in islice(self._llama.generate(prompt, temp=0.0), tokens):
            pass

    def _label_log_probs(self, question: Question) -> tuple[float, ...]:
        row = bindings.llama_get_logits_ith(self._llama.ctx, -1)
        scores = log_softmax(np.ctypeslib.as_array(row, shape=(self._llama.n_vocab(),)))
        return tuple(float(scores[label]) for label in question.labels)
