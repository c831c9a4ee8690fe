"""The audit of a judge: all checks together, those that human labels allow; the ordinary run that it is."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.analysis.audit import (
    DIFFERENCE,
    SCORE,
    AuditLine,
    AuditVerdict,
    JudgePredictions,
    again_line,
    change_lines,
    enough,
    held,
    judged_together,
    label_token_line,
    mass_line,
    order_lines,
    speed_line,
    too_few,
    within,
    wording_line,
)
from engine.analysis.perturbations import REWORDINGS, MadePerturbations
from engine.core.column_map import CANDIDATES
from engine.core.errors import SetupError
from engine.core.formatting import counted, percent, points, short_name
from engine.core.items import PREFERENCES, HumanLabel, Item, Method, Preference, Tie, agree
from engine.core.judgments import JudgmentKey
from engine.core.numeric import FloatArray, IntArray
from engine.core.rubric import DEFAULT_WORDING
from engine.data.dataset import Dataset
from engine.data.slices import Slice, slicing
from engine.metrics.intervals import FEW, OverInstructions, cost_of_choosing
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore

MOST_BY_LENGTH = 0.05
"""By how much more a response may be preferred for being twice as long, at the same human label."""
LEAST_KNOWN = 0.8
"""How often, of a good and a bad tie, the judge must find the good one more probably good."""
MOST_BEHIND = 0.10
"""By how much the accuracy on a slice may be below that on all other items."""
MOST_FAVOURED = 0.05
"""How far a candidate's win rate by the judge may be from that by human labels."""
LEAST_TIES = 10
"""Labels both_good and as many both_bad, on all criteria together."""

_DIVISIONS = ("length", "longer")
_ROUNDING = 1e-9  # of the length, what may be left by rounding where the labels tell all of it
_NEAR = 0.1  # as in the division by which response is longer
# The judge's leads vary by themselves, more than one that was not seen adds.
_DOUBLED = within(1.0, 0.0, -1.0)
_SIDES: Mapping[HumanLabel, float] = {Preference.A: 1.0, Preference.B: -1.0}
_TIED = (Preference.BOTH_GOOD, Preference.BOTH_BAD)
_LENGTH = ("length", "length: at the same human label")
_TIES = ("ties", "ties: both good against both bad")
_SLICES = ("slices", "agreement: the worst slice")
_FAVOUR = ("favour", "favour: to one candidate")
_ONE_AND_THE_SAME = (
    "The human labels determine the length ratio exactly, so the two effects are confounded; add items"
    " of other lengths."
)
_NO_LABELS = "There are no human labels; use a labelled dataset."


class _Labelled(NamedTuple):
    """One judgment with its human label: its criterion, as a row, and the place of its item."""

    row: int
    place: int
    human: HumanLabel


def _labelled(received: JudgePredictions) -> Iterator[_Labelled]:
    """Of the items that are no perturbations, the scored judgments that have a human label."""
    for row, name in enumerate(received.criteria):
        for place in received.own.tolist():
            human = received.human.get(JudgmentKey(received.items[place].id, name))
            if human is not None and received.scored[row, place]:
                yield _Labelled(row, place, human)


# Length


# By a regression of all labels; what the items say at which annotators prefer neither stands in the sentence
# alone: in simulations the two have the same mean, and the first one half the variance. Of two responses that
# annotators hold equal the longer may still be better by a little.
def length_line(received: JudgePredictions) -> AuditLine:
    """Whether length counts beside the human label: what twice the length is worth at the same one."""
    labelled = [
        (each, ratio) for each in _labelled(received) if (ratio := _log_ratio(received.items[each.place]))
    ]
    if not labelled:
        return AuditLine.untold(
            *_LENGTH, "All responses have the same length." if received.human else _NO_LABELS
        )
    kept, ratios = zip(*labelled, strict=True)
    instructions = len(set(received.groups([each.place for each in kept])))
    if instructions < FEW:
        return too_few(*_LENGTH, instructions, "labelled")
    found = _beside_labels(received, kept, np.array(ratios))
    if found is None:
        return AuditLine.untold(*_LENGTH, _ONE_AND_THE_SAME)
    said = (
        "At the same human label, a response twice as long is preferred by"
        f" {_more(found.mean)}.{_of_ties(received, labelled)}"
    )
    return held(_LENGTH, found, _DOUBLED, MOST_BY_LENGTH, said, two_sided=True)


def _of_ties(received: JudgePredictions, labelled: list[tuple[_Labelled, float]]) -> str:
    """A sentence on the items at which annotators prefer neither; empty for too few of them."""
    least = -np.log1p(-_NEAR)
    tied = [(each, ratio) for each, ratio in labelled if agree(each.human, Tie.TIE) and abs(ratio) > least]
    leads = [received.lead[each.row, each.place] * np.sign(ratio) for each, ratio in tied]
    found = enough(OverInstructions.of_one(leads, received.groups([each.place for each, _ in tied])))
    if found is None:
        return ""
    labels = counted(len(tied), "label", "labels")
    return f" If annotators prefer neither ({labels}), the longer one is preferred by {_more(found.mean)}."


def _more(mean: float) -> str:
    return f"{points(abs(mean))} {'more' if mean >= 0 else 'less'}"


def _log_ratio(item: Item) -> float:
    """How much longer A is than B, as a natural logarithm of their ratio; 0 for the same length."""
    a, b = item.lengths
    return float(np.log((a + 1) / (b + 1)))


def _beside_labels(
    received: JudgePredictions, labelled: Sequence[_Labelled], ratios: FloatArray
) -> OverInstructions | None:
    """What twice the length is worth next to the human label: a regression of the judge's lead on the label
    (1 for A, -1 for B, 0 for ties), of each criterion its own, and the logarithm of the ratio of the lengths.
    Without a constant: with A and B exchanged all three change sign.
    """
    leads = np.array([received.lead[each.row, each.place] for each in labelled])
    sides = np.array([_SIDES.get(each.human, 0.0) for each in labelled])
    rows = np.array([each.row for each in labelled])
    labels = np.where(rows[:, None] == np.arange(len(received.criteria)), sides[:, None], 0.0)
    columns = np.column_stack([labels, ratios / np.log(2)])
    groups = received.groups([each.place for each in labelled])
    return enough(OverInstructions.of_slope(leads, columns, -1, groups, _ROUNDING))


# Ties


def tie_line(received: JudgePredictions) -> AuditLine:
    """Whether it knows items with the human label both good from those with both bad."""
    labelled = list(_labelled(received))
    if not received.human:
        return AuditLine.untold(*_TIES, _NO_LABELS)
    good, bad = (sum(each.human is label for each in labelled) for label in _TIED)
    found = _found_of_ties(received, labelled) if min(good, bad) >= LEAST_TIES else None
    if found is None:
        return AuditLine.untold(
            *_TIES,
            f"{counted(good, 'label', 'labels')} both_good and {bad:,} both_bad; this needs {LEAST_TIES}"
            f" of each, of {FEW} instructions. Label more items.",
        )
    said = (
        f"It ranks both_good above both_bad in {percent(1 - found.mean)} of all pairs (the area under the"
        f" ROC curve; 50 % is chance; {good:,} labels both_good, {bad:,} both_bad)."
    )
    return held(_TIES, found, SCORE, LEAST_KNOWN, said, below=True)


def _found_of_ties(received: JudgePredictions, labelled: list[_Labelled]) -> OverInstructions | None:
    """In how many of all pairs of a good and a bad tie the judge's odds of good against bad stand the wrong
    way round, a tie of both half: one less the area under the ROC curve, pairs within a criterion alone.
    Clustered by instruction as by Obuchowski, Nonparametric Analysis of Clustered ROC Curve Data (1997): by
    how much each label moves it. A criterion counts by how much its labels tell: m n / (m + n).
    """
    of_good, of_bad = (received.mean[..., PREFERENCES.index(label)] for label in _TIED)
    odds = of_good - of_bad
    means: list[tuple[float, float]] = []  # of each criterion, with its weight
    parts: list[tuple[float, IntArray, FloatArray]] = []
    for row in range(len(received.criteria)):
        own = [each for each in labelled if each.row == row]
        good, bad = (
            np.array([each.place for each in own if each.human is label], np.int64) for label in _TIED
        )
        if not len(good) or not len(bad):
            continue
        ahead = odds[row, good][:, None] - odds[row, bad][None, :]
        wrong = (ahead < 0) + 0.5 * (ahead == 0)
        weight = len(good) * len(bad) / (len(good) + len(bad))
        mean = float(wrong.mean())
        means.append((mean, weight))
        parts.append((weight / len(good), good, wrong.mean(axis=1) - mean))
        parts.append((weight / len(bad), bad, wrong.mean(axis=0) - mean))
    whole = sum(weight for _, weight in means)
    if not whole:
        return None
    places = np.concatenate([places for _, places, _ in parts])
    pulls = np.concatenate([share * moved for share, _, moved in parts]) / whole
    weights = np.concatenate([np.full(len(places), share) for share, places, _ in parts]) / (2 * whole)
    mean = sum(mean * weight for mean, weight in means) / whole
    return enough(OverInstructions.of_pulls(mean, pulls.tolist(), weights.tolist(), received.groups(places)))


# Slices


def slice_line(received: JudgePredictions, dataset: Dataset) -> AuditLine:
    """On which slice by length the judge agrees least with annotators, next to all other items."""
    if not received.human:
        return AuditLine.untold(*_SLICES, _NO_LABELS)
    own = dataset.only({received.items[place].id for place in received.own})
    right = [
        (each.place, float(agree(PREFERENCES[received.labels[each.row, each.place]], each.human)))
        for each in _labelled(received)
    ]
    behind = [
        (division.in_words(part), found)
        for division in (slicing(own, by) for by in _DIVISIONS)
        for part in division.slices
        if (found := _behind(received, right, part)) is not None
    ]
    if not behind:
        return AuditLine.untold(
            *_SLICES, f"No slice by length has {FEW} labelled instructions both in it and outside it."
        )
    name, most = max(behind, key=lambda one: one[1].mean)
    said = f"Where {name}, its accuracy is {points(most.mean)} below that on all other items."
    if luck := cost_of_choosing(found for _, found in behind):
        said += f" The worst of {luck.candidates} slices looks {points(luck.excess)} worse by chance alone."
    # Any of them might have been the worst.
    return held(_SLICES, most, DIFFERENCE, MOST_BEHIND, said, among=len(behind))


def _behind(
    received: JudgePredictions, right: list[tuple[int, float]], part: Slice
) -> OverInstructions | None:
    """How far the accuracy on a slice is below that on all other items; None for too few of either."""
    places, values = [place for place, _ in right], np.array([value for _, value in right])
    inside = np.array([received.items[place].id in part.known for place in places], dtype=np.bool_)
    groups: list[Hashable] = received.groups(places)
    for side in (inside, ~inside):
        if len({groups[place] for place in np.flatnonzero(side)}) < FEW:
            return None
    here, there = float(values[inside].mean()), float(values[~inside].mean())
    count = np.where(inside, inside.sum(), (~inside).sum())
    pulls = np.where(inside, here - values, values - there) / count
    return OverInstructions.of_pulls(there - here, pulls.tolist(), (0.5 / count).tolist(), groups)


# Favour


def favour_line(received: JudgePredictions, dataset: Dataset) -> Iterator[AuditLine]:
    """The candidate whose win rate by the judge is farthest from that by annotators, over all criteria; none
    where the dataset does not name two candidates of labelled items.
    """
    if not dataset.names_candidates:
        return
    written = (dataset.texts(side).to_pylist() for side in CANDIDATES)
    writers = dict(zip(dataset.ids, zip(*written, strict=True), strict=True))
    of: dict[str, list[tuple[float, int]]] = {}
    for each in _labelled(received):
        judged = PREFERENCES[received.labels[each.row, each.place]]
        more = (_SIDES.get(judged, 0.0) - _SIDES.get(each.human, 0.0)) / 2
        first, second = writers[received.items[each.place].id]
        if first and second and first != second:
            of.setdefault(first, []).append((more, each.place))
            of.setdefault(second, []).append((-more, each.place))
    measured = {
        name: enough(
            OverInstructions.of_one([more for more, _ in own], received.groups([place for _, place in own]))
        )
        for name, own in of.items()
    }
    known = {name: found for name, found in measured.items() if found is not None}
    if known:
        name, most = max(known.items(), key=lambda one: abs(one[1].mean))
        by = "above" if most.mean >= 0 else "below"
        said = f"{short_name(name)} wins {points(abs(most.mean))} {by} what it wins by human labels."
        yield held(_FAVOUR, most, DIFFERENCE, MOST_FAVOURED, said, among=len(known), two_sided=True)


@dataclass(frozen=True)
class Audit:
    """What was found of a judge. `items`: how many are no perturbations, `copies`: how many are."""

    judge: str
    items: int
    copies: int
    unscored: int
    lines: tuple[AuditLine, ...]

    @property
    def faults(self) -> tuple[AuditLine, ...]:
        return tuple(line for line in self.lines if line.found)

    @property
    def looked_at(self) -> int:
        return sum(line.found is not None for line in self.lines)

    @property
    def untold(self) -> int:
        return sum(line.verdict is AuditVerdict.UNKNOWN for line in self.lines)

    def as_json(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "items": self.items,
            "copies": self.copies,
            "unscored": self.unscored,
            "faults": [line.name for line in self.faults],
            "lines": [line.as_json() for line in self.lines],
        }


def audit(
    results: RunResults,
    dataset: Dataset,
    gold: Dataset | None = None,
    reworded: Sequence[RunResults] = (),
) -> Audit:
    """What the raw predictions of a run tell of its judge; `gold`: whose human labels count, if others;
    `reworded`: its items judged in other words.
    """
    received, *others = (JudgePredictions.of_run(each, dataset, gold) for each in (results, *reworded))
    return audit_of(received, dataset, results.run.called, others)


def audit_of(
    received: JudgePredictions, dataset: Dataset, judge: str, reworded: Sequence[JudgePredictions] = ()
) -> Audit:
    lines = judged_together(
        [
            *order_lines(received),
            *([wording_line(received, reworded)] if reworded else ()),
            label_token_line(received),
            length_line(received),
            *change_lines(received),
            again_line(received),
            tie_line(received),
            slice_line(received, dataset),
            *favour_line(received, dataset),
            mass_line(received),
            speed_line(received),
        ]
    )
    own = len(received.own)
    told = tuple(line.with_more(own) for line in lines)
    return Audit(judge, own, len(received.items) - own, int((~received.scored).sum()), told)


AUDIT_METHODS = (Method.LABEL_TOKENS, Method.PERMUTED_LABELS)
"""Both orders, and the methods that cover all checks: permuted label tokens show a label-token bias."""

_FOLDER = "audits"


def default_place(perturbations: MadePerturbations, store: Path) -> Path:
    return store.parent / _FOLDER / perturbations.name


def audit_setup(
    setup: RunSetup, perturbations: Path, of_dataset: str, methods: tuple[Method, ...] = AUDIT_METHODS
) -> RunSetup:
    """A run of the same judge over a file of probes: all of them, labels alone, in both orders."""
    name = f"audit with {short_name(of_dataset)}"
    return setup.whole(dataset_path=perturbations, columns=None, ids=(), methods=methods, name=name)


def reworded_setups(audited: RunSetup, perturbations: MadePerturbations) -> list[RunSetup]:
    """The runs that judge the items of an audit, without their perturbations, in other words. SetupError
    where the rubric has words of its own.
    """
    rubric, ids = audited.rubric, tuple(item.id for item in perturbations.items[: perturbations.drawn])
    if rubric.wording != DEFAULT_WORDING:
        raise SetupError(
            f"{rubric.name} has a wording of its own, which Tiebreak cannot say in other words.",
            "Judge the items with a rubric that does, and compare both runs: runs diff RUN RUN",
        )
    return [
        replace(
            audited,
            rubric=replace(rubric, wording=wording),
            ids=ids,
            name=f"{audited.name}, in other words ({number})",
        )
        for number, wording in enumerate(REWORDINGS, 1)
    ]


_SAME = attrgetter("dataset_path", "model_hash", "criteria", "methods", "examples")


def reworded_runs(store: RunStore, audited: StoredRun) -> list[RunResults]:
    """The last complete runs that judged the items of an audit in other words."""
    if audited.identity.asked.wording != DEFAULT_WORDING:
        return []
    found = {
        run.identity.asked.wording: run.id
        for run in store.runs()
        if run.complete and _SAME(run.identity) == _SAME(audited.identity)
    }
    return [load_results(store, found[wording]) for wording in REWORDINGS if wording in found]
