"""Whether scores carry anything about the items, or a weighing would make a preference out of nothing.

Knows: scored pairs, what a run says of its own raw predictions, human labels on a criterion. Does not know:
how winners are found, who shows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.core.errors import SetupError
from engine.core.formatting import counted, words
from engine.core.health import HealthVerdict
from engine.core.items import HumanLabel, Preference
from engine.core.judgments import JudgmentKey
from engine.data.dataset import Dataset
from engine.measure.intervals import FEW, OverInstructions
from engine.measure.systems import System

_SAME = 1e-9  # points: scores that differ by rounding only
_SIDES: Mapping[HumanLabel, float] = {Preference.A: 1.0, Preference.B: -1.0}  # any other label: 0


@dataclass(frozen=True)
class Informativeness:
    """What is known of each of some `criteria` whose scores are weighed.

    `nothing`: why the scores significantly say nothing of single items. `unshown`: why it is not shown that
    they do. Both by criterion, in words that follow “on safety”; what nothing speaks against is in neither.
    """

    criteria: Sequence[str] = ()
    nothing: Mapping[str, str] = field(default_factory=dict)
    unshown: Mapping[str, str] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether no criterion carries anything, so that there is nothing to weigh."""
        return bool(self.criteria) and all(name in self.nothing for name in self.criteria)

    @property
    def sentences(self) -> list[str]:
        """What must be said before anything that follows from the scores; empty where there is nothing."""
        if self.refused:
            return [f"No weighted scores, because no criterion is informative: {_listed(self.nothing)}"]
        said = []
        if self.nothing:
            said.append(f"Some criteria are not informative: {_listed(self.nothing)}")
        if self.unshown:
            said.append(f"Not shown to be informative: {_listed(self.unshown)}")
        return said

    def check(self) -> None:
        """SetupError where there is nothing to weigh."""
        if self.refused:
            raise SetupError(
                " ".join(self.sentences), "Give weight to other criteria, or choose another run."
            )

    def as_json(self) -> dict[str, Any]:
        """What there is to say, as plain values; empty where there is nothing."""
        found = {"carries_nothing": dict(self.nothing), "not_shown_to_carry": dict(self.unshown)}
        return {name: reasons for name, reasons in found.items() if reasons}


def informativeness_of(
    rows: Sequence[Mapping[str, Any]],
    criteria: Sequence[str],
    system: System,
    gold: Dataset | None = None,
    *,
    by_grades: bool = False,
) -> Informativeness:
    """Of the scored pairs `rows` of a system; `gold`: human labels, if there are any. `by_grades`: the scores
    are grades, which no calibration takes part in.

    Without labels it is known that scores are the same for all items, as of raw predictions calibrated to the
    class prior, and that a model does not judge by its health. With labels of FEW instructions or
    more it is known whether scores follow them, which outweighs a bad health.
    """
    nothing: dict[str, str] = {}
    unshown: dict[str, str] = {}
    calibration = system.results.calibration if system.results and not by_grades else None
    fitted = calibration.criteria if calibration else {}
    instructions = gold.groups if gold is not None else {}
    for name in criteria:
        own = [row for row in rows if JudgmentKey(row["id"], name) not in system.overrides]
        follows = _follows(own, name, gold.labels(name), instructions) if gold is not None else None
        if same := _same(own, name, read=bool(system.judgments)):
            by_frequencies = name in fitted and fitted[name].scale == 0
            how = " (calibrated to the class prior)" if by_frequencies else ""
            (nothing if system.judgments else unshown)[name] = same + how
        elif follows is not None and not follows.significantly:
            unshown[name] = follows.in_words
        elif follows is None and name not in fitted and _does_not_judge(system):
            nothing[name] = "the health check says that the model does not judge"
        elif follows is None and calibration and _no_better(calibration.measured.get(name)):
            unshown[name] = "its calibration, cross-validated, is no better than the class prior"
    return Informativeness(tuple(criteria), nothing, unshown)


def _same(rows: Sequence[Mapping[str, Any]], name: str, read: bool) -> str:
    """What is to be said where all items have the same scores; empty where they differ, or are too few.

    `read`: from probabilities, of which two equal rows are no chance; labels alone may well be the same.
    """
    if len(rows) < (2 if read else FEW):
        return ""
    a, b = (np.array([row[side][name] for row in rows], np.float64) for side in ("scores_a", "scores_b"))
    if max(np.ptp(a), np.ptp(b)) > _SAME:
        return ""
    lead = float(a[0] - b[0])
    points = f", {abs(lead):.1f} points for {'A' if lead > 0 else 'B'}" if abs(lead) > _SAME else ""
    what = "the scores are the same" if read else "there is one label"
    return f"{what} for all {len(rows):,} items{points}"


def _does_not_judge(system: System) -> bool:
    return bool(system.judgments) and system.health.verdict is HealthVerdict.DOES_NOT_JUDGE


def _no_better(measured: Any) -> bool:
    """Whether a calibration says of itself that it does no better than frequencies."""
    try:
        after, frequencies = (float(measured[of]["log_loss"]) for of in ("after", "most_frequent_label"))
    except (KeyError, TypeError, ValueError):  # a file may hold anything there, or nothing
        return False
    return after >= frequencies


@dataclass(frozen=True)
class _Follows:
    """The correlation of scores with human labels over `items`, and whether it is significantly above 0."""

    correlation: float
    significantly: bool
    items: int

    @property
    def in_words(self) -> str:
        labels = counted(self.items, "human label does", "human labels do")
        return f"{labels} not show that its scores agree with annotators (correlation {self.correlation:.2f})"


def _follows(
    rows: Sequence[Mapping[str, Any]],
    name: str,
    annotators: Mapping[str, HumanLabel],
    instructions: Mapping[str, str],
) -> _Follows | None:
    """None for too few instructions with a label, and where all labels take one side or all scores are alike.

    The correlation is the mean of the products of both standardised, whose interval is that of a difference.
    """
    known = [row for row in rows if row["id"] in annotators]
    groups = [instructions[row["id"]] for row in known]
    if len(set(groups)) < FEW:
        return None
    of_system = np.array([row["scores_a"][name] - row["scores_b"][name] for row in known])
    of_annotators = np.array([_SIDES.get(annotators[row["id"]], 0.0) for row in known])
    if np.ptp(of_system) <= _SAME or np.ptp(of_annotators) == 0:
        return None
    one, other = ((values - values.mean()) / values.std() for values in (of_system, of_annotators))
    found = OverInstructions.of_one((one * other).tolist(), groups)
    assert found is not None
    return _Follows(found.mean, found.difference_interval().low > 0, len(known))


def _listed(reasons: Mapping[str, str]) -> str:
    """Criteria with the same reason together."""
    found: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        found.setdefault(reason, []).append(words(name))
    return "; ".join(f"on {', '.join(names)} {reason}" for reason, names in found.items()) + "."
