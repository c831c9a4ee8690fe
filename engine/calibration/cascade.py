"""Cascades: a first judge's labels where these may stand, a second one's where not, kept as one run. Of each
judgment it keeps what its judge decided, calibrated as its run is, out of fold. Does not know: how thresholds
are found, how a run is judged.
"""

import math
import sys
from collections.abc import Mapping, Sequence

import msgspec

from engine.calibration.jury import Jury
from engine.core.codec import plain, record_or
from engine.core.items import PREFERENCES, Item, Order, digest
from engine.core.judgments import (
    AnyJudgment,
    Explanation,
    FittedOn,
    JudgedItem,
    Judgment,
    JudgmentKey,
    RawPrediction,
    Unscored,
)
from engine.data.dataset import Dataset
from engine.metrics.matching import system_of_run
from engine.results.run_results import RunResults
from engine.results.trust import KeptThreshold
from engine.settings import identity as stored
from engine.settings.identity import RunIdentity, RunKind
from engine.settings.rows import Mode

_AHEAD = 1e-9  # of a label as likely as another: by the logarithm of its probability, so that it stays first

Thresholds = Mapping[str, KeptThreshold]
"""By criterion."""


def stands(judgment: AnyJudgment, thresholds: Thresholds) -> bool:
    return isinstance(judgment, Judgment) and thresholds[judgment.criterion].accepts(judgment)


def escalated_items(first: RunResults, thresholds: Thresholds) -> tuple[str, ...]:
    """The ids of the items of which not every label may stand, in the order of the run."""
    reached = {
        each.item_id for name in thresholds for each in first.judgments[name] if not stands(each, thresholds)
    }
    return tuple(item.item_id for item in first.judged if item.item_id in reached)


def make_cascade(first: RunResults, second: RunResults, thresholds: Thresholds, dataset: Dataset) -> Jury:
    """Of all items of `dataset`, which the first judge judged. `thresholds`: of criteria that both judged."""
    judges = first.model_alone(), second.model_alone()
    judged = [{item.item_id: item for item in each.judged} for each in judges]
    said = [{own.key: own for name in thresholds for own in each.judgments[name]} for each in judges]
    items = []
    for place, item in enumerate(dataset):
        decided: dict[str, tuple[int, AnyJudgment]] = {}
        for name in thresholds:
            key = JudgmentKey(item.id, name)
            number = 1 if stands(said[0][key], thresholds) else 2
            decided[name] = number, said[number - 1].get(key, Unscored(*key, "not judged"))
        own = [by_id[item.id] for by_id in judged if item.id in by_id]
        items.append(_item(place, item, decided, own, second.run.in_short))
    records = [
        {
            "name": each.run.identity.model_name,
            "what": system_of_run(each).description,
            "run": each.run.id,
            "key": each.run.identity.key,
            "orders": list(each.run.identity.orders),
        }
        for each in judges
    ]
    manifest = {stored.JUDGES: records, stored.CASCADE: msgspec.to_builtins(thresholds)}
    if dataset.columns is not None:
        manifest[stored.COLUMNS] = dataset.columns.as_json()
    if (seen := _labels_seen(judges)) is not None:
        manifest[stored.EXAMPLES_SHOWN] = plain(seen)
    return Jury(_identity(judges, thresholds, dataset), tuple(items), manifest)


def _item(
    place: int,
    item: Item,
    decided: Mapping[str, tuple[int, AnyJudgment]],
    judged: Sequence[JudgedItem],
    second: str,
) -> JudgedItem:
    raw_predictions: dict[str, tuple[RawPrediction, ...]] = {}
    unscored: dict[str, str] = {}
    texts: dict[str, tuple[Explanation, ...]] = {}
    for name, (number, judgment) in decided.items():
        if isinstance(judgment, Judgment):
            raw_predictions[name] = (_raw_prediction(number, judgment),)
            texts[name] = judgment.explanations
        elif isinstance(judgment, Unscored):
            unscored[name] = f"{second}: {judgment.reason}"
    return JudgedItem(
        position=place,
        item_id=item.id,
        content_hash=item.content_hash,
        raw_predictions=raw_predictions,
        explanations={name: own[0] for name, own in texts.items() if own},
        unscored=unscored,
        seconds=sum(each.seconds for each in judged),
        tokens_read=sum(each.tokens_read for each in judged),
        tokens_generated=sum(each.tokens_generated for each in judged),
        rewritten={(name, text.preference): text for name, own in texts.items() for text in own[1:]},
        lengths=item.lengths,
    )


def _raw_prediction(number: int, judgment: Judgment) -> RawPrediction:
    """What a judge decided, as its own; 0 has no logarithm, and of equal labels the one that it chose."""
    likeliest = max(judgment.probabilities)
    tie = judgment.probabilities.count(likeliest) > 1
    chosen = PREFERENCES.index(judgment.preference)
    a, b, good, bad = (
        math.log(max(each, sys.float_info.min)) + _AHEAD * (tie and place == chosen)
        for place, each in enumerate(judgment.probabilities)
    )
    return RawPrediction(Order.AB, (a, b, good, bad), judge=number, label_alone=True)


def _labels_seen(judges: Sequence[RunResults]) -> FittedOn | None:
    """The items whose labels judges saw, as examples or in a fit that decides them; None where not known."""
    items: dict[str, None] = {}
    instructions: set[str] = set()
    for each in judges:
        seen = [each.calibration.fitted_on] if each.calibration and not _out_of_fold(each) else []
        if each.run.identity.examples:
            seen.append(record_or(each.run.manifest.get(stored.EXAMPLES_SHOWN), FittedOn, None))
        for own in seen:
            if own is None:
                return None
            items |= dict.fromkeys(own.items)
            instructions |= set(own.instructions)
    return FittedOn(tuple(items), tuple(sorted(instructions)))


def _out_of_fold(results: RunResults) -> bool:
    calibration = results.calibration
    return calibration is None or all(fitted.folds for fitted in calibration.criteria.values())


def _identity(judges: Sequence[RunResults], thresholds: Thresholds, dataset: Dataset) -> RunIdentity:
    first, second = (each.run.identity for each in judges)
    by = [(each.run.identity.key, each.calibration and each.calibration.hash) for each in judges]
    at = [(name, each.confidence, each.measure) for name, each in thresholds.items()]
    # Those who measure it ask by this whether labels were seen: see EXAMPLES_SHOWN.
    saw = any(each.run.identity.examples or not _out_of_fold(each) for each in judges)
    mode = Mode.EXPLAIN if Mode.EXPLAIN in (first.mode, second.mode) else Mode.LABELS
    chosen = first.how_chosen if first.dataset_hash == dataset.hash else {stored.CHOSEN: list(dataset.ids)}
    return RunIdentity(
        key=digest([RunKind.PANEL, stored.CASCADE, dataset.hash, len(dataset), by, at]),
        dataset_path=dataset.path.absolute(),
        dataset_hash=dataset.hash,
        items=len(dataset),
        model_path=dataset.path.absolute(),
        model_name=f"{first.model_name}, else {second.model_name}",
        model_hash=digest([RunKind.PANEL, stored.CASCADE, by, at]),
        prompt_version="",
        criteria=tuple(thresholds),
        settings={
            "mode": mode.value,
            "orders": [],
            stored.EXAMPLES: digest([first.examples, second.examples, by]) if saw else None,
            **chosen,
        },
        kind=RunKind.PANEL,
        rubric=first.rubric and first.rubric.only(tuple(thresholds)),
    )
