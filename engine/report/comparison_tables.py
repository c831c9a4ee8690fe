"""A comparison of systems as tables of text and as plain values for JSON.

Knows: which columns stand side by side, which cells are the best. Does not know: terminals, windows, files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.core.formatting import Table, number, percent, words
from engine.measure.comparison import Comparison, Measure
from engine.measure.evaluation import Evaluation, mean_of, official_json
from engine.report.published import MEASURED_ON, PUBLISHED

PUBLISHED_NOTE = f"For reference, measured on {MEASURED_ON}, so not ranked here"
P_VALUE_NOTE = "p-values are not corrected for how many there are."

_TITLES = {
    "accuracy": "accuracy (%)",
    "rouge_l": "ROUGE-L x 100",
    "bertscore": "BERTScore F1 x 100",
    "agreement": "LLM agreement (%)",
}
_SMALLEST_P = 0.0001


@dataclass(frozen=True)
class RankedTable(Table):
    """A table with a column for each system. `best`: row and column, from 0, of the best cells.

    A row has several where systems are equally good, and none where all systems are or one alone has a value.
    """

    best: frozenset[tuple[int, int]] = frozenset()


def measure_table(comparison: Comparison) -> RankedTable:
    """All measures by criterion, each with its rank in brackets, and their means."""
    rows: list[list[str]] = []
    best: list[Sequence[float | None]] = []
    for name in dict.fromkeys(one.name for one in comparison.measures):
        measures = [one for one in comparison.measures if one.name == name]
        rows += [[f"{_TITLES[name]}, {words(one.criterion)}", *_cells(one)] for one in measures]
        best += [[None if rank is None else -rank for rank in one.ranks] for one in measures]
        means = [mean_of(column) for column in zip(*(one.values for one in measures), strict=True)]
        rows.append([f"{_TITLES[name]}, mean", *map(number, means)])
        # Equal to twelve digits is equal, as where ranks are made.
        best.append([None if value is None else round(value, 12) for value in means])
    return RankedTable(["measure", *comparison.systems], rows, _best(best))


def borda_table(comparison: Comparison) -> RankedTable:
    """The Borda counts of both sub-tasks; the second only where two systems or more explain."""
    counts = {"labels (sub-task 1)": comparison.borda_labels}
    if comparison.borda_explanations:
        counts["explanations (sub-task 2)"] = comparison.borda_explanations
    rows = [
        [title, *(f"{points[name]:g}" if name in points else "-" for name in comparison.systems)]
        for title, points in counts.items()
    ]
    best = _best([[points.get(name) for name in comparison.systems] for points in counts.values()])
    return RankedTable(["Borda count", *comparison.systems], rows, best)


def agreement_table(comparison: Comparison) -> Table:
    """Each two systems on each criterion: equal labels, kappa, and McNemar's test."""
    rows = [
        [
            f"{one.one} / {one.other}",
            words(one.criterion),
            percent(one.same),
            number(one.kappa, 3),
            f"{one.only_one}/{one.only_other}",
            f"<{_SMALLEST_P:.4f}" if one.p_value < _SMALLEST_P else number(one.p_value, 4),
        ]
        for one in comparison.agreements
    ]
    return Table(["systems", "criterion", "same label", "kappa", "only one right", "McNemar p"], rows)


def published_table() -> Table:
    """The published systems, in percent; what was measured on other items is not ranked with ours."""
    criteria = list(PUBLISHED[0].accuracy)
    rows = [
        [
            f"{one.name} ({one.remark})" if one.remark else one.name,
            *(number(one.accuracy[name]) for name in criteria),
            number(one.mean_accuracy),
            *(number(one.explanations.get(name)) for name in ("rouge_l", "bertscore", "agreement")),
        ]
        for one in PUBLISHED
    ]
    header = ["published, 2025", *map(words, criteria), "mean", "ROUGE-L", "BERTScore", "agreement"]
    return Table(header, rows)


def comparison_json(
    comparison: Comparison, evaluations: Sequence[Evaluation], judge_name: str | None = None
) -> Mapping[str, Any]:
    """All of a comparison with every difference, the published systems, and each system's own scores.

    `judge_name`: the model that was asked for agreement.
    """
    return {
        **asdict(comparison),
        "published": {"measured_on": MEASURED_ON, "results": [asdict(one) for one in PUBLISHED]},
        "scores": {one.name: official_json(one, judge_name) for one in evaluations},
    }


def _cells(measure: Measure) -> list[str]:
    return [
        "-" if value is None or rank is None else f"{value:.2f} [{rank:g}]"
        for value, rank in zip(measure.values, measure.ranks, strict=True)
    ]


def _best(rows: Sequence[Sequence[float | None]]) -> frozenset[tuple[int, int]]:
    """Row and column of the highest values of each row, the first column being that of the titles."""
    found = set()
    for row, values in enumerate(rows):
        known = [value for value in values if value is not None]
        if len(set(known)) > 1:
            found |= {(row, column) for column, value in enumerate(values, 1) if value == max(known)}
    return frozenset(found)
