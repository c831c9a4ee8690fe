"""The numbers of figures as tables, for those who do not see them or want to go on with them.

Knows: which numbers each figure of an evaluation draws. Does not know: how it is drawn, where it is shown.
"""

from collections.abc import Mapping, Sequence

from engine.calibrate.order_margin import MarginReport
from engine.calibrate.quality import ReliabilityBin
from engine.core.formatting import words
from engine.core.items import Preference, labels_beside
from engine.core.value_tables import Column, Kind, Row, Table
from engine.measure.evaluation import Evaluation
from engine.report.columns import CRITERION, LABELS_GIVEN
from engine.report.measure_tables import accuracy_table
from engine.report.order_tables import margin_table

_HUMAN = Column("human", "human label", Kind.NAME, "The label that annotators gave.")
_COUNT = Column("judgments", "judgments", Kind.COUNT, "The number of judgments with about this confidence.")
_SURE = Column(
    "sure",
    "probability of its label",
    Kind.SHARE,
    "The mean probability of the judge's label (confidence).",
)
_RIGHT = Column("right", "right", Kind.SHARE, "The share of these that are right (accuracy).")


def figure_table(
    name: str,
    evaluation: Evaluation,
    bins: Mapping[str, Sequence[ReliabilityBin]],
    orders: MarginReport | None = None,
) -> Table | None:
    """The numbers of a figure of an evaluation; None for a figure that draws others."""
    match name:
        case "accuracy":
            return accuracy_table(evaluation)
        case "labels":
            return _label_table(evaluation)
        case "confusion":
            return _confusion_table(evaluation)
        case "reliability":
            rows: list[Row] = [
                [words(criterion), each.count, each.confidence, each.accuracy]
                for criterion, found in bins.items()
                for each in found
            ]
            return Table((CRITERION, _COUNT, _SURE, _RIGHT), rows)
        case "orders" if orders:
            return margin_table(orders)
        case _:
            return None


def _label_table(evaluation: Evaluation) -> Table:
    columns = (
        CRITERION,
        Column("label", "label", Kind.NAME, "The label; “unscored” where the judge gave none."),
        Column("people", "annotators", Kind.COUNT, "How often annotators gave it."),
        Column("judge", "judge", Kind.COUNT, "How often the judge gave it."),
    )
    rows: list[Row] = []
    for measure in evaluation.labels.values():
        for label in labels_beside(measure.human):
            judged = measure.predicted.get(label, 0) if isinstance(label, Preference) else ""
            rows.append([words(measure.criterion), words(label), measure.human.get(label, 0), judged])
        if measure.unscored:
            rows.append([words(measure.criterion), "unscored", "", measure.unscored])
    return Table(columns, rows)


def _confusion_table(evaluation: Evaluation) -> Table:
    rows: list[Row] = [
        [words(measure.criterion), words(label), *counts]
        for measure in evaluation.labels.values()
        for label, counts in measure.confusion.items()
    ]
    return Table((CRITERION, _HUMAN, *LABELS_GIVEN), rows)
