"""Where a calibration gives one label to everything, so that nothing is judged any more; the words for it.

Knows: judgments as they are decided. Does not know: how a calibration is fitted, human labels, who shows it.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from engine.core.formatting import words
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import AnyJudgment, CriterionCalibration, Judgment
from engine.results.calibration import Calibration


@dataclass(frozen=True)
class OneLabel:
    """The one label of all `items` that the model scored, two or more; two where these are equally likely for
    each of them. `unscored`: whether there are others, which it could not score.
    """

    labels: tuple[Preference, ...]
    items: int
    unscored: bool = False

    @property
    def in_words(self) -> str:
        """Such as `A`, or `A or B`."""
        return " or ".join(map(words, self.labels))


def one_labels(
    judgments: Mapping[str, Sequence[AnyJudgment]], calibration: Calibration | None
) -> dict[str, OneLabel]:
    """By criterion that the calibration decides; criteria with several labels are omitted."""
    decided = calibration.criteria if calibration else {}
    found = {name: _one_label(judgments[name], decided[name]) for name in judgments if name in decided}
    return {name: one for name, one in found.items() if one is not None}


def _one_label(column: Sequence[AnyJudgment], fitted: CriterionCalibration) -> OneLabel | None:
    labels: set[Preference] = set()
    judges = any(each.judges for each in (fitted, *fitted.folds))
    items = 0
    for judgment in column:
        if isinstance(judgment, Judgment):
            labels.add(judgment.preference)
            items += 1
            if len(labels) > 1 and judges:  # in most runs the first few items differ
                return None
    if items < 2:
        return None
    return OneLabel(tuple(each for each in PREFERENCES if each in labels), items, items < len(column))


def calibrated_in_words(calibration: Calibration, found: Mapping[str, OneLabel]) -> str:
    """On what a run is calibrated, in a few words: `on gold.tsv, to one label on safety (A)`."""
    named = ", ".join(f"{words(name)} ({one.in_words})" for name, one in found.items())
    return f"on {calibration.dataset}{f', to one label on {named}' if named else ''}"


def one_label_sentence(found: Mapping[str, OneLabel], out_of_fold: Container[str] = ()) -> str:
    """What is to be said of it, before and after it is applied; empty where no criterion has one label.

    `out_of_fold`: the criteria that have one label, too, where each item is decided by what was fitted
    without it.
    """
    if not found:
        return ""
    named = ", ".join(
        f"{words(name)} (“{one.in_words}” for all {one.items:,}"
        f" {'scored items' if one.unscored else 'items'}"
        f"{', cross-validated too' if name in out_of_fold else ''})"
        for name, one in found.items()
    )
    return (
        f"This calibration gives one label to everything on {named}. Its accuracy there is that of always"
        " giving this label."
    )
