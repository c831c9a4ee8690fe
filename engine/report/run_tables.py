"""What a run says by itself, without human labels, as tables of values.

Knows: which columns stand side by side, and what they mean. Does not know: terminals, windows, measures
against people.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.formatting import words
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import Judgment, Unscored
from engine.core.value_tables import Column, Kind, Row, Table
from engine.decisions.run_results import RunResults
from engine.measure.label_counts import LabelCounts
from engine.report.columns import CRITERION, FLIPPED, FORMAT_MASS, LABELS_GIVEN

_DISTRIBUTION = (
    CRITERION,
    *LABELS_GIVEN,
    FLIPPED,
    replace(FORMAT_MASS, least=0.001),
)
_CHANGES = (
    CRITERION,
    Column("calibrated", "calibrated?", Kind.FLAG, "Whether the calibration decides this criterion."),
    Column("items", "items", Kind.COUNT, "How many items of the run were judged on this criterion."),
    Column(
        "changed", "labels changed", Kind.COUNT, "How many of the model's labels the calibration changes."
    ),
)
_UNSCORED = (
    Column("item", "item", Kind.TEXT, "The id of the item."),
    CRITERION,
    Column("reason", "reason", Kind.TEXT, "Why there is no judgment."),
    Column("label", "a person's label", Kind.TEXT, "The label that a person gave instead, if any."),
)


def distribution_table(scores: Sequence[LabelCounts]) -> Table:
    """The labels in force of each criterion, how often the order decided, and the format mass."""
    rows = [
        [
            words(score.criterion),
            *(score.predicted.get(label, 0) for label in PREFERENCES),
            score.unscored,
            score.flipped,
            score.format_mass,
        ]
        for score in scores
    ]
    return Table(_DISTRIBUTION, rows)


def changes_table(before: RunResults, after: RunResults) -> Table:
    """How many of the model's own labels another calibration of the same run changes."""
    rows: list[Row] = []
    for name, column in after.judgments.items():
        pairs = zip(column, before.judgments[name], strict=True)
        changed = sum(_own_label(judgment) is not _own_label(other) for judgment, other in pairs)
        used = after.calibration is not None and name in after.calibration.criteria
        rows.append([words(name), used, len(column), changed])
    return Table(_CHANGES, rows)


def _own_label(judgment: Judgment | Unscored) -> Preference | None:
    return judgment.preference if isinstance(judgment, Judgment) else None


def unscored_table(results: RunResults) -> Table:
    """What could not be judged, with the reason and what a person gave instead, if anything."""
    rows: list[Row] = []
    for index in range(len(results.judged)):
        for column in results.judgments.values():
            judgment = column[index]
            if isinstance(judgment, Unscored):
                rows.append([judgment.item_id, judgment.criterion, judgment.reason, results.label(judgment)])
    return Table(_UNSCORED, rows)
