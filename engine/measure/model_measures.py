"""The measures of explanations that need a model: BERTScore by an encoder, agreement by a judge model.

All criteria of a system are measured together, so that a model is opened once. What works with the model
is apart from the rest: a process of its own can do it (engine/system/apart.py).

Knows: matched systems, and who measures what. Does not know: prompts, formulas, terminals, processes.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from engine.core.cancel import CancelToken
from engine.core.events import MeasureProgress
from engine.core.formatting import counted, percent
from engine.core.judgments import Agreement, Unscored
from engine.core.settings import MachineSettings
from engine.loading.checked_model import CheckedModel
from engine.loading.opening import encoder_hash, open_encoder
from engine.measure.accuracy import mean
from engine.measure.agreement import AgreementQuestion, measure_agreement, open_agreement_model
from engine.measure.bertscore import bert_scores
from engine.measure.explanation_measures import explained_pairs
from engine.measure.matching import Matched
from engine.store.run_store import RunStore

_LEAST_MASS = 0.5  # of yes and no together, on average

Score = TypeVar("Score")
_Progress = Generator[MeasureProgress, None, Score]


def measure_bertscore(
    matched: Matched, score: Callable[[Sequence[tuple[str, str]]], _Progress[list[float]]]
) -> _Progress[Mapping[str, Sequence[float]]]:
    """The BERTScore F1 (at most 1) of each explained pair, by criterion.

    `score`: does what `score_texts` does with its last argument. Raises what it raises.
    """
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
    """The BERTScore F1 of each pair of a candidate and a reference.

    What the store knows is not measured again. Raises Cancelled, ModelFileError, StoreError.
    """
    with RunStore(store_path, or_none=True) as store:
        scores = yield from bert_scores(
            texts, encoder_hash(encoder), lambda: open_encoder(encoder, machine, cancel), store, cancel
        )
    return [score.f1 for score in scores]


def measure_agreements(
    matched: Matched, ask: Callable[[Sequence[AgreementQuestion]], _Progress[list[Agreement | Unscored]]]
) -> _Progress[Mapping[str, Sequence[Agreement | Unscored]]]:
    """What a judge model says of each explained pair, by criterion; Unscored with the reason where nothing.

    `ask`: does what `ask_questions` does with its last argument. Raises what it raises.
    """
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
    """What a judge model answers to each question.

    What the store knows is not asked again. Raises Cancelled, ModelFileError, StoreError.
    """
    with RunStore(store_path, or_none=True) as store:
        return (
            yield from measure_agreement(
                questions, lambda: open_agreement_model(model, machine, cancel), store, model.hash
            )
        )


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
    """The scores of all explained pairs, cut where the criteria change."""
    cut, start = {}, 0
    for name in matched.pairs:
        end = start + len(explained_pairs(matched, name))
        cut[name] = scores[start:end]
        start = end
    return cut
