"""The measures of explanations that need a model: BERTScore by an encoder, agreement by a judge model. All
criteria of a system are measured together, so that a model is opened once. What works with the model is apart
from the rest: a process of its own can do it (engine/system/subprocess_worker.py).
"""

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from engine.core.errors import EngineBug
from engine.core.events import CancelToken, MeasureProgress
from engine.core.formatting import counted, percent
from engine.core.items import Gold, Item, Prediction, digest
from engine.core.judgments import Agreement, Unscored
from engine.core.rubric import Criterion
from engine.llama.context import SessionShape
from engine.llama.library import library_version
from engine.llama.model import LONE_TOKEN_CELLS, PromptTokens, common_prefix
from engine.metrics.accuracy import mean
from engine.metrics.explanations import bert_scores, explained_pairs
from engine.metrics.matching import Matched
from engine.models.checked_model import CheckedModel
from engine.models.opening import OpenModel, OpenModelFactory, encoder_hash, open_encoder, open_session
from engine.prompt.conversation import FRAME_VERSION, UnbreakableTextError, own
from engine.prompt.judge_prompt import (
    AGREEMENT_VERSION,
    AgreementPrompt,
    answer_reply,
    build_agreement_prompt,
    item_trunk,
)
from engine.prompt.tokens import PROBES, branch_tokens, shared_tokens
from engine.results.decision import NOT_FINITE
from engine.settings.rows import MachineSettings, default_context
from engine.store.run_store import RunStore

_NEITHER = "the model gave no probability to yes or no"
_SLOT = 0


@dataclass(frozen=True)
class AgreementQuestion:
    """One explanation to ask about. EngineBug where it, or the human one, is missing."""

    item: Item
    criterion: Criterion
    gold: Gold
    prediction: Prediction

    def __post_init__(self) -> None:
        if not self.prediction.explanation or not self.gold.explanation:
            raise EngineBug(f"item {self.item.id}, {self.criterion.name}: an explanation is missing")

    def key(self, model_hash: str) -> str:
        """What the result depends on, as one digest: the build, the model and its format, all texts."""
        item, criterion = self.item, self.criterion
        return digest(
            [
                *("agreement", AGREEMENT_VERSION, FRAME_VERSION, library_version(), model_hash),
                *(item.instruction, item.output_a, item.output_b),
                *(criterion.name, criterion.question),
                *(self.prediction.preference, self.prediction.explanation),
                *(self.gold.label, self.gold.explanation),
            ]
        )


def open_agreement_model(
    checked: CheckedModel, machine: MachineSettings, cancel: CancelToken
) -> AbstractContextManager[OpenModel]:
    """With room for one question of at most 8,192 tokens. Raises ModelFileError, Cancelled."""
    return open_session(
        checked, machine, lambda model: SessionShape(default_context(model.trained_context), 1, 1), cancel
    )


def measure_agreement(
    questions: Sequence[AgreementQuestion], opener: OpenModelFactory, store: RunStore, model_hash: str
) -> Generator[MeasureProgress, None, list[Agreement | Unscored]]:
    """Ask all questions that the store does not know; returns the results in their order. A question that
    does not fit the context, or gets no finite probabilities, comes back as Unscored with the reason, which
    is not kept. `opener` opens the model of `model_hash`, only where something is left to ask, and its
    CancelToken stops the measure: Cancelled; the items that were finished are in the store, and the same call
    goes on with the others. Raises what `opener` does, StoreError.
    """
    keys = [question.key(model_hash) for question in questions]
    counts = Counter(keys)
    found: dict[str, Agreement | str] = {}
    found |= {key: Agreement(*numbers) for key, numbers in store.recall(counts).items()}
    done = sum(counts[key] for key in found)
    yield MeasureProgress(done, len(questions))
    groups: dict[str, dict[str, AgreementQuestion]] = {}  # those about the same texts together
    for key, question in zip(keys, questions, strict=True):
        if key not in found:
            groups.setdefault(question.item.content_hash, {})[key] = question
    if groups:
        with opener() as opened:
            asker = _Asker(opened)
            for group in groups.values():
                for key, question in group.items():
                    found[key] = asker.ask(question)
                    done += counts[key]
                    yield MeasureProgress(done, len(questions))
                given = {key: each for key in group if isinstance(each := found[key], Agreement)}
                store.remember({key: (answer.p_yes, answer.p_no) for key, answer in given.items()})
    return [
        Unscored(asked.item.id, asked.criterion.name, said) if isinstance(said := found[key], str) else said
        for key, asked in zip(keys, questions, strict=True)
    ]


# P(yes) and P(no) are read from the logits after the prompt; no text is generated. All questions about an
# item share its texts, which are read once. Each question is read by itself after them, so that its result
# depends on nothing else that is asked: it can be kept.
class _Asker:
    """Asks one question after another; what they share with the one before is not read again."""

    def __init__(self, opened: OpenModel) -> None:
        self._session = opened.session
        self._template = opened.template
        self._context = opened.session.shape.context
        self._trunk: tuple[int, ...] | None = None
        # What all questions begin with.
        probes = [item_trunk(Item("probe", text, text, text)) for text in PROBES]
        asked = [AgreementPrompt(trunk, ()).question() for trunk in probes]
        self._stem = shared_tokens(asked, opened.template)
        # Where it does not fit, no question does, and each says so.
        if len(self._stem) + LONE_TOKEN_CELLS < self._context:
            self._session.hold_stem(self._stem)

    def ask(self, question: AgreementQuestion) -> Agreement | str:
        """What the model says, or the reason why it said nothing that counts. Raises Cancelled."""
        self._session.raise_if_cancelled()
        try:
            tokens = self._tokenized(question)
        except UnbreakableTextError as error:
            return error.reason
        cells = len(self._stem) + LONE_TOKEN_CELLS + tokens.cells_beside(self._stem)
        if cells > self._context:
            return f"needs {cells:,} tokens, the context holds {self._context:,}"
        if tokens.trunk != self._trunk:
            self._session.release([_SLOT])
            self._session.read_trunk(_SLOT, tokens.trunk)
            self._trunk = tokens.trunk
        log_probs = self._session.score(_SLOT, tokens.branches)
        if not np.isfinite(log_probs).all():
            return NOT_FINITE
        p_yes, p_no = (math.exp(value) for value in log_probs[0])
        return Agreement(p_yes, p_no) if p_yes + p_no > 0 else _NEITHER

    def _tokenized(self, question: AgreementQuestion) -> PromptTokens:
        prompt = build_agreement_prompt(question.item, question.criterion, question.gold, question.prediction)
        replies = [prompt.question(answer_reply(agrees)) for agrees in (True, False)]
        branch = branch_tokens(replies, self._template)
        trunk = shared_tokens(
            [AgreementPrompt(prompt.trunk, (own(text),)).question() for text in PROBES], self._template
        )
        return PromptTokens(trunk[: common_prefix([trunk, branch.prompt[:-1]])], (branch,))


_LEAST_MASS = 0.5  # of yes and no together, on average

Score = TypeVar("Score")
_Progress = Generator[MeasureProgress, None, Score]


def measure_bertscore(
    matched: Matched, score: Callable[[Sequence[tuple[str, str]]], _Progress[list[float]]]
) -> _Progress[Mapping[str, Sequence[float]]]:
    """The BERTScore F1 (at most 1) of each explained pair, by criterion; `score`: as `score_texts`."""
    texts = [
        (pair.prediction.explanation or "", pair.gold.explanation or "")
        for name in matched.pairs
        for pair in explained_pairs(matched, name)
    ]
    scores = yield from score(texts)
    return _by_criterion(matched, scores)


def score_texts(
    cancel: CancelToken,
    encoder: CheckedModel,
    machine: MachineSettings,
    store_path: Path,
    texts: Sequence[tuple[str, str]],
) -> _Progress[list[float]]:
    """BERTScore F1; what the store knows is kept. Raises Cancelled, ModelFileError, StoreError."""
    opener = partial(open_encoder, encoder, machine, cancel)
    with RunStore(store_path, or_none=True) as store:
        scores = yield from bert_scores(texts, encoder_hash(encoder), opener, store, cancel)
    return [score.f1 for score in scores]


def measure_agreements(
    matched: Matched, ask: Callable[[Sequence[AgreementQuestion]], _Progress[list[Agreement | Unscored]]]
) -> _Progress[Mapping[str, Sequence[Agreement | Unscored]]]:
    """What a judge model says of each explained pair, by criterion; `ask`: as `ask_questions`."""
    rubric = matched.system.asked or matched.dataset.rubric
    criteria = {criterion.name: criterion for criterion in rubric.criteria}
    questions = [
        AgreementQuestion(pair.item, criteria[name], pair.gold, pair.prediction)
        for name in matched.pairs
        for pair in explained_pairs(matched, name)
    ]
    answers = yield from ask(questions)
    return _by_criterion(matched, answers)


def ask_questions(
    cancel: CancelToken,
    model: CheckedModel,
    machine: MachineSettings,
    store_path: Path,
    questions: Sequence[AgreementQuestion],
) -> _Progress[list[Agreement | Unscored]]:
    """Answers; what the store knows is not asked. Raises Cancelled, ModelFileError, StoreError."""
    opener = partial(open_agreement_model, model, machine, cancel)
    with RunStore(store_path, or_none=True) as store:
        return (yield from measure_agreement(questions, opener, store, model.hash))


def agreement_warnings(agreements: Mapping[str, Sequence[Agreement | Unscored]]) -> Iterator[str]:
    """Where the judge model did not understand what it was asked, and what it could not be asked."""
    answers = [answer for column in agreements.values() for answer in column]
    mass = mean([answer.answer_mass for answer in answers if isinstance(answer, Agreement)])
    if mass is not None and mass < _LEAST_MASS:
        yield (
            f"The judge model gave yes and no only {percent(mass)} of the total probability: it did not"
            " understand the question, and its agreement means little."
        )
    unasked = [answer for answer in answers if isinstance(answer, Unscored)]
    if unasked:
        first = unasked[0]
        yield (
            f"{counted(len(unasked), 'explanation', 'explanations')} omitted from the agreement: the"
            f" judge model could not be asked. The first: item {first.item_id}, {first.criterion}:"
            f" {first.reason}"
        )


def _by_criterion(matched: Matched, scores: Sequence[Score]) -> dict[str, Sequence[Score]]:
    left = iter(scores)
    return {name: list(islice(left, len(explained_pairs(matched, name)))) for name in matched.pairs}
