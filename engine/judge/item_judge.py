"""Items judged by an open session: both orders, all criteria, then the explanations together.

Knows: the way from items to raw results. Does not know: stores, files, how a run goes on.
"""

import time
import unicodedata
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from engine.core.cell_safety import unsafe_explanation
from engine.core.events import TokensEvaluated
from engine.core.items import Item, Order, Preference, digest
from engine.core.judgments import Explanation, JudgedItem, Judgment, Reading, Shortening
from engine.core.rubric import Rubric
from engine.core.settings import JudgeSettings
from engine.decisions.calibration import Calibration
from engine.decisions.decision import decide
from engine.decisions.sentences import complete_length, without_half_sentence
from engine.llama.session import Continuation, LlamaSession, Sampling
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.examples import ExamplePool
from engine.prompt.sizes import PromptSizer, SizedItem
from engine.prompt.tokens import tokenize_explanation

Placed = tuple[int, Item]  # position in the dataset, item
LabelsByCriterion = Mapping[str, Preference]
ExplanationsByCriterion = Mapping[str, Explanation]
_Progress = Iterator[TokensEvaluated]


@dataclass
class _Work:
    """One item on its way."""

    position: int
    original: Item
    sized: SizedItem
    shortening: Shortening | None = None
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    explanations: dict[str, Explanation] = field(default_factory=dict)
    seconds: float = 0.0
    tokens_read: int = 0
    tokens_generated: int = 0


@dataclass(frozen=True)
class _Text:
    """One explanation to write, and the branch of the session that it continues."""

    work: _Work
    criterion: str
    preference: Preference
    slot: int
    branch: int


class ItemJudge:
    """Judges items with one session, rubric and set of settings."""

    def __init__(
        self,
        session: LlamaSession,
        template: ChatTemplate,
        rubric: Rubric,
        settings: JudgeSettings,
        examples: ExamplePool,
        *,
        calibration: Calibration | None = None,
    ) -> None:
        """Read the stem. SetupError where it alone fills the context; else what the session raises."""
        self._session = session
        self._template = template
        self._rubric = rubric
        self._settings = settings
        self._calibrations = calibration.criteria if calibration else {}
        self._sizer = PromptSizer(template, rubric, settings, examples, session.raise_if_cancelled)
        self._reported = 0
        session.hold_stem(self._sizer.stem)

    def judge(self, group: Sequence[Placed]) -> Generator[TokensEvaluated, None, list[JudgedItem]]:
        """Judge a group: reports progress, returns the results in the order of the group.

        Items that do not fit the context come back unscored. The same group gives the same results.
        """
        works = [self._prepare(position, item) for position, item in group]
        for batch in self._batches([work for work in works if self._sizer.fits(work.sized)]):
            yield from self._judge_batch(batch)
        return [self._result(work) for work in works]

    def explain(
        self, group: Sequence[tuple[Placed, LabelsByCriterion]]
    ) -> Generator[TokensEvaluated, None, list[ExplanationsByCriterion | None]]:
        """Write explanations for labels by criterion, whatever is read.

        Reports progress; returns in the order of the group the explanations by criterion, without those of
        no words, or None for an item that does not fit the context.
        """
        works = [self._prepare(position, item) for (position, item), _ in group]
        labels = {work.position: wanted for work, (_, wanted) in zip(works, group, strict=True)}
        for batch in self._batches([work for work in works if self._sizer.fits(work.sized)]):
            texts = []
            for slot, work in enumerate(batch):
                wanted = labels[work.position]
                self._read(slot, work, Order.AB, tuple(wanted))
                for branch, (criterion, preference) in enumerate(wanted.items()):
                    texts.append(_Text(work, criterion, preference, slot, branch))
                yield self._progress()
            self._write(batch, texts)
            self._session.release(range(len(batch)))
            yield self._progress()
        return [work.explanations if self._sizer.fits(work.sized) else None for work in works]

    def _prepare(self, position: int, item: Item) -> _Work:
        return _Work(position, item, *self._sizer.as_judged(item))

    def _batches(self, works: Sequence[_Work]) -> Iterator[list[_Work]]:
        """As many items at once as the context holds, in their order."""
        batch: list[_Work] = []
        stem = cells = len(self._sizer.stem)
        for work in works:
            own = work.sized.cells - stem
            if batch and cells + own > self._settings.context:
                yield batch
                batch, cells = [], stem
            batch.append(work)
            cells += own
        if batch:
            yield batch

    def _judge_batch(self, batch: Sequence[_Work]) -> _Progress:
        """BA first, so that AB, which the explanations continue, can stay in the cache."""
        for order in sorted(self._settings.orders, key=lambda order: order is Order.AB):
            kept = order is Order.AB and self._settings.explains
            for slot, work in enumerate(batch):
                self._read(slot if kept else 0, work, order, self._rubric.names)
                if not kept:
                    self._session.release([0])
                yield self._progress()
        if self._settings.explains:
            self._explain(batch)
            self._session.release(range(len(batch)))
            yield self._progress()

    def _read(self, slot: int, work: _Work, order: Order, criteria: Sequence[str]) -> None:
        started, read = time.perf_counter(), self._session.tokens_read
        tokens = work.sized.tokens[order]
        self._session.read_trunk(slot, tokens.trunk)
        branches = dict(zip(self._rubric.names, tokens.branches, strict=True))
        scores = self._session.score(slot, [branches[criterion] for criterion in criteria])
        for criterion, row in zip(criteria, scores, strict=True):
            a, b, both_good, both_bad = (float(value) for value in row)
            reading = Reading(order, (a, b, both_good, both_bad))
            work.readings.setdefault(criterion, []).append(reading)
        work.seconds += time.perf_counter() - started
        work.tokens_read += self._session.tokens_read - read

    def _explain(self, batch: Sequence[_Work]) -> None:
        """Write all explanations of a batch, each for its decided label."""
        texts = []
        for slot, work in enumerate(batch):
            judged = self._result(work)
            for branch, criterion in enumerate(self._rubric.names):
                judgment = decide(judged, criterion, self._calibrations.get(criterion))
                if isinstance(judgment, Judgment):
                    texts.append(_Text(work, criterion, judgment.preference, slot, branch))
        self._write(batch, texts)

    def _write(self, batch: Sequence[_Work], texts: Sequence[_Text]) -> None:
        """Write the texts of a batch together; those of no words are left out."""
        started = time.perf_counter()
        read, generated = self._session.tokens_read, self._session.tokens_generated
        settings = self._settings
        most = settings.max_explanation_sentences
        complete = None if most is None else partial(complete_length, most_sentences=most)
        sampling = Sampling(settings.max_explanation_tokens, settings.temperature, complete)
        explanations = self._session.generate([self._continuation(text) for text in texts], sampling)
        for text, written in zip(texts, explanations, strict=True):
            line = tidy(written.data, written.cut)
            if most is not None:
                line = line[: complete_length(line, most, ended=True)]
            if line:
                text.work.explanations[text.criterion] = Explanation(line, text.preference, written.cut)
        share = len(batch)
        for work in batch:
            work.seconds += (time.perf_counter() - started) / share
            work.tokens_read += (self._session.tokens_read - read) // share
            work.tokens_generated += (self._session.tokens_generated - generated) // share

    def _continuation(self, text: _Text) -> Continuation:
        tree, question = text.work.sized.trees[Order.AB], self._rubric.names.index(text.criterion)
        prompt = tokenize_explanation(tree, question, text.preference, self._template)
        # Each text has a seed of its own, so that it does not depend on what else is written with it.
        key = [self._settings.seed, text.work.original.content_hash, text.criterion]
        return Continuation(text.slot, text.branch, prompt, seed=int(digest(key)[:15], 16))

    def _result(self, work: _Work) -> JudgedItem:
        unscored = {}
        if not work.readings:
            reason = f"needs {work.sized.cells:,} tokens, the context holds {self._settings.context:,}"
            unscored = dict.fromkeys(self._rubric.names, reason)
        return JudgedItem(
            position=work.position,
            item_id=work.original.id,
            content_hash=work.original.content_hash,
            readings={name: tuple(readings) for name, readings in work.readings.items()},
            explanations=work.explanations,
            unscored=unscored,
            shortening=work.shortening,
            seconds=work.seconds,
            tokens_read=work.tokens_read,
            tokens_generated=work.tokens_generated,
        )

    def _progress(self) -> TokensEvaluated:
        now = self._session.tokens_read + self._session.tokens_generated
        tokens, self._reported = now - self._reported, now
        return TokensEvaluated(tokens)


def tidy(data: bytes, cut: bool) -> str:
    """A generated explanation as one line of text: no control characters, no half sentence where it was cut.

    Empty where nothing was said, or only what table readers take for a missing value or a number.
    """
    text = data.decode("utf-8", "ignore" if cut else "replace")
    text = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in text)
    text = " ".join(text.split())
    if cut:
        text = without_half_sentence(text)
    return "" if unsafe_explanation(text) else text
