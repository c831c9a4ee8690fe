"""What a run says by itself, without human labels, as tables of text.

Knows: which columns stand side by side. Does not know: terminals, windows, measures against people.
"""

from collections.abc import Sequence

from engine.core.formatting import Table, percent, words
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import Judgment, Unscored
from engine.decisions.run_results import RunResults
from engine.measure.label_counts import LabelCounts

_LEAST_SHOWN = 0.001


def distribution_table(scores: Sequence[LabelCounts]) -> Table:
    """The labels in force of each criterion, how often the order decided, and the format mass."""
    header = ["criterion", *(label.value for label in PREFERENCES), "unscored", "flipped", "format mass"]
    rows = [
        [
            words(score.criterion),
            *(f"{score.predicted.get(label, 0):,}" for label in PREFERENCES),
            f"{score.unscored:,}",
            percent(score.flipped),
            _mass(score.format_mass),
        ]
        for score in scores
    ]
    return Table(header, rows)


def _mass(mass: float | None) -> str:
    if mass is None:
        return "-"
    return f"{mass:.3f}" if mass >= _LEAST_SHOWN else f"<{_LEAST_SHOWN}"


def changes_table(before: RunResults, after: RunResults) -> Table:
    """How many of the model's own labels another calibration of the same run changes."""
    rows = []
    for name, column in after.judgments.items():
        pairs = zip(column, before.judgments[name], strict=True)
        changed = sum(_own_label(one) is not _own_label(other) for one, other in pairs)
        used = after.calibration is not None and name in after.calibration.criteria
        rows.append([words(name), "yes" if used else "no", f"{len(column):,}", f"{changed:,}"])
    return Table(["criterion", "calibrated?", "items", "labels changed"], rows)


def _own_label(judgment: Judgment | Unscored) -> Preference | None:
    return judgment.preference if isinstance(judgment, Judgment) else None


def unscored_table(results: RunResults) -> Table:
    """What could not be judged, with the reason and what a person gave instead, if anything."""
    rows = []
    for index in range(len(results.judged)):
        for column in results.judgments.values():
            one = column[index]
            if isinstance(one, Unscored):
                rows.append([one.item_id, one.criterion, one.reason, results.label(one) or "-"])
    return Table(["item", "criterion", "reason", "a person's label"], rows)
