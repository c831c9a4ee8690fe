"""Cascades: a first judge's labels where these may stand, a second one's where not, kept as a run. A judge's
raw prediction is what it decided, calibrated as its run is, out of fold. Does not know: how thresholds are
found, how a run is judged.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.calibration.jury import Jury, PanelJudge, panel_identity, panel_item, panel_manifest
from engine.core import judgments
from engine.core.codec import plain, record_or
from engine.core.items import PREFERENCES, Order, digest
from engine.data.dataset import Dataset
from engine.metrics.matching import system_of_run
from engine.results.run_results import RunResults
from engine.results.trust import KeptTrust, may_stand
from engine.settings import identity as stored

_AHEAD = 1e-9  # of an equally likely label: as a logarithm, so that the label that was chosen stays first


@dataclass(frozen=True)
class _InTurn(PanelJudge):
    """`decided`: the judgments that are its own."""

    decided: Mapping[judgments.JudgmentKey, judgments.AnyJudgment]

    def raw_predictions(self, item_id: str, criterion: str) -> Iterator[judgments.RawPrediction]:
        judgment = self.decided.get(judgments.JudgmentKey(item_id, criterion))
        if isinstance(judgment, judgments.Judgment):
            *_, second, likeliest = sorted(judgment.probabilities)
            tie = second >= likeliest * (1 - _AHEAD)
            ahead = [_AHEAD * (tie and label is judgment.preference) for label in PREFERENCES]
            logs = (math.log(max(each, sys.float_info.min)) for each in judgment.probabilities)  # 0 has none
            a, b, good, bad = map(sum, zip(logs, ahead, strict=True))
            yield judgments.RawPrediction(Order.AB, (a, b, good, bad), judge=self.number, label_alone=True)

    def texts(self, item_id: str, criterion: str) -> Iterator[judgments.Explanation]:
        judgment = self.decided.get(judgments.JudgmentKey(item_id, criterion))
        yield from judgment.explanations if isinstance(judgment, judgments.Judgment) else ()


def make_cascade(first: RunResults, second: RunResults, kept: KeptTrust, dataset: Dataset) -> Jury:
    """On the criteria of the first, who judged all items of `dataset`; `kept`: a threshold for each."""
    first, second, names = first.model_alone(), second.model_alone(), tuple(first.judgments)
    said = [{own.key: own for name in names for own in each.judgments[name]} for each in (first, second)]
    stand = may_stand(first, kept)
    own = {key: said[0][key] for key in stand}
    rest = {
        key: said[1].get(key, judgments.Unscored(*key, "not judged")) for key in said[0] if key not in stand
    }
    judges = [
        _InTurn(number, system_of_run(each), 1.0, decided)
        for number, (each, decided) in enumerate(((first, own), (second, rest)), start=1)
    ]
    items = []
    for place, item in enumerate(dataset):
        found = panel_item(place, item, judges, names)
        reasons = {name: rest[judgments.JudgmentKey(item.id, name)] for name in found.unscored}
        unscored = {name: f"{second.run.in_short}: {_reason(each)}" for name, each in reasons.items()}
        items.append(replace(found, unscored=unscored))
    thresholds = {name: plain(kept.criteria[name]) for name in names}
    manifest = {**panel_manifest(judges, dataset), stored.CASCADE: thresholds}
    # Who measures it asks by this whether its judges saw labels.
    examples, seen = _labels_seen([first, second])
    if seen is not None:
        manifest[stored.EXAMPLES_SHOWN] = plain(seen)
    by = [each.calibration and each.calibration.hash for each in (first, second)]
    identity = panel_identity(judges, dataset, names, 1.0, is_whole=False)
    identity = replace(
        identity,
        key=digest([stored.CASCADE, identity.key, by, thresholds]),
        model_hash=digest([stored.CASCADE, identity.model_hash, by, thresholds]),
        model_name=f"{first.run.identity.model_name}, else {second.run.identity.model_name}",
        settings={**identity.settings, stored.EXAMPLES: examples},
    )
    return Jury(identity, tuple(items), manifest)


def _reason(judgment: judgments.AnyJudgment) -> str:
    return judgment.reason if isinstance(judgment, judgments.Unscored) else ""


def _labels_seen(judges: Sequence[RunResults]) -> tuple[str | None, judgments.FittedOn | None]:
    """A digest of the items whose labels judges saw, as examples or in a fit that decides these too, None for
    no such labels; and the items where they are known.
    """
    seen: list[judgments.FittedOn | None] = []
    for each in judges:
        if each.calibration and not each.calibration.leaves_out:
            seen.append(each.calibration.fitted_on)
        if each.run.identity.examples:
            seen.append(record_or(each.run.manifest.get(stored.EXAMPLES_SHOWN), judgments.FittedOn, None))
    if not seen or None in seen:
        return (digest(plain(seen)) if seen else None), None
    items = dict.fromkeys(item for own in seen if own for item in own.items)
    instructions = {group for own in seen if own for group in own.instructions}
    return digest(plain(seen)), judgments.FittedOn(tuple(items), tuple(sorted(instructions)))
