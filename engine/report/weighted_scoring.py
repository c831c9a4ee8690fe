"""The weighted judge: decisions, winners, fitted weights, the figure of its margins."""

import math
from collections import Counter
from functools import partial
from statistics import quantiles
from typing import Any

import numpy as np

from engine.core.formatting import INTERVAL, SCORE, counted, interval, number, words
from engine.core.numeric import FloatArray
from engine.core.tables import Column, Estimate, Fact, Kind, Picture, Row, Section, Sentences, Table, Tone
from engine.metrics.intervals import Interval
from engine.metrics.matching import System
from engine.ranking.weight_fit import WeightFit
from engine.ranking.weighted_judge import TIE, WINNERS
from engine.ranking.weighted_scoring import OverallAgreement, WeightedScoring
from engine.report import drawing

_TITLE = "Weighted judge"
_DECIDED = (
    Column("fact", "weighted judge", Kind.NAME, "The decision of the weighted judge."),
    Column("value", "", Kind.FACT, f"A number of comparisons, a percentage of them, or points. {INTERVAL}"),
)
_AGREEMENT = (
    Column("fact", "compared with the human overall label", Kind.NAME).means(
        "What is compared with the winner by the human overall label."
    ),
    Column("value", "", Kind.FACT, f"A number of items, or a percentage of them. {INTERVAL}"),
)
_WINNERS = (
    Column("human", "", Kind.NAME, "The winner by the human overall label."),
    *(
        Column(name, f"weighted {name}", Kind.COUNT).means(
            f"The number of items for which the weighted judge decides “{name}”."
        )
        for name in WINNERS
    ),
)
_FITTED = (
    Column("fitted", "fitted", Kind.NAME, "The weight of a criterion in percent, or the tie threshold."),
    Column("value", "", Kind.FACT, "The fitted value: it explains the human overall labels best."),
    Column("range", "95 % range", Kind.FACT).means(
        "The range of the fit on other items of this kind: from bootstrap samples of instructions."
    ),
)
RANGES = (
    "The ranges show how much the fit could change with other items of this kind. If the range of a"
    " weight covers nearly everything, these labels do not determine it."
)
"""Shown below fitted weights."""
_WON = dict(zip(WINNERS, ("A wins (%)", "B wins (%)", "tie (%)"), strict=True))
_FIT = "How winners are found: with weights and threshold fitted on other items, or without."


def weighted_scoring_section(weighted_scoring: WeightedScoring, system: System, source: str = "") -> Section:
    """`source`: where weights and threshold come from."""
    said = weighted_scoring.informative.sentences
    doubts = [Sentences(said, Tone.CAVEAT)] if said else []
    if weighted_scoring.informative.refused:
        return Section("weighing", _TITLE, doubts)
    agreement = weighted_scoring.agreement
    total = sum(weighted_scoring.weights.values())
    weights = ", ".join(
        f"{words(name)} {weight / total:.3f}" for name, weight in weighted_scoring.weights.items()
    )
    weighed = f"Weights: {weights}. Differences up to {weighted_scoring.tie_threshold:g} points are a tie."
    weighed += f" Weights and tie threshold: {source}." if source else ""
    sure = ""
    if system.results is None:
        sure = "; the label of a submission counts as probability 1"
    elif system.overrides:
        sure = "; a human override counts as probability 1"
    return Section(
        "weighing",
        _TITLE,
        [
            *doubts,
            *([Sentences([fitted], Tone.CAVEAT)] if (fitted := weighted_scoring.fit_in_words) else []),
            Sentences([weighed]),
            weighted_scoring_table(weighted_scoring),
            *([overall_agreement_table(agreement), winner_table(agreement)] if agreement else []),
            Picture(
                "margins",
                "Decisions with margins near the tie threshold would change with a small change of the"
                " scores.",
            ),
        ],
        f"A response's score on a criterion is {SCORE}{sure}. The weighted sum of the criteria decides; the"
        " margin is the difference of the two sums. The human winner is the human label of overall quality,"
        " where both_good and both_bad are a tie.",
    )


def weighted_scoring_table(weighted_scoring: WeightedScoring) -> Table:
    decided, margins, deciles = weighted_scoring.result, weighted_scoring.margins, "-"
    if len(margins) > 1:
        cuts = quantiles(margins, n=10, method="inclusive")
        deciles = ", ".join(number(cuts[place]) for place in (0, 4, 8))
    won: list[Row] = [[_WON[name], _estimate(*found)] for name, found in weighted_scoring.rates.items()]
    rows: list[Row] = [
        ["comparisons", Fact(Kind.COUNT, len(decided["results"]))],
        ["omitted (a criterion is unscored)", Fact(Kind.COUNT, len(weighted_scoring.left_out))],
        *won,
        ["mean margin (points)", Fact(Kind.NUMBER, decided["avg_margin"])],
        ["margins: 10, 50, 90 % below", Fact(Kind.TEXT, deciles)],
    ]
    return Table(_DECIDED, rows)


def overall_agreement_table(agreement: OverallAgreement) -> Table:
    ends = agreement.intervals
    rows: list[Row] = [
        ["items with a human overall label", Fact(Kind.COUNT, agreement.items)],
        ["of these, A or B wins", Fact(Kind.COUNT, agreement.items - agreement.ties)],
        ["of these, a tie", Fact(Kind.COUNT, agreement.ties)],
        ["weighted winner or tie is the human one (%)", _estimate(agreement.accuracy, ends.get("accuracy"))],
        ["own overall label is the human one (%)", _estimate(agreement.own_label, ends.get("own_label"))],
        ["most frequent of A, B and tie (%)", _estimate(agreement.most_frequent, ends.get("most_frequent"))],
    ]
    return Table(_AGREEMENT, rows)


def winner_table(agreement: OverallAgreement) -> Table:
    """Human winners down, weighted ones across."""
    rows: list[Row] = [
        [f"human {name}", *counts] for name, counts in zip(WINNERS, agreement.confusion, strict=True)
    ]
    return Table(_WINNERS, rows)


def fit_table(fit: WeightFit) -> Table:
    columns = (
        Column("how", f"cross-validated on {counted(fit.items, 'item', 'items')}", Kind.TEXT, _FIT),
        Column("found", "accuracy (%)", Kind.ESTIMATE).means(
            f"The percentage of items with the human winner. {INTERVAL}"
        ),
    )
    rows: list[Row] = [
        ["fitted weights and threshold", Estimate(fit.agreement, fit.intervals["agreement"])],
        ["equal weights, fitted threshold", Estimate(fit.equal, fit.intervals["equal"])],
        ["most frequent of A, B and tie", Estimate(fit.most_frequent, fit.intervals["most_frequent"])],
    ]
    return Table(columns, rows)


def fitted_weight_table(fit: WeightFit) -> Table:
    rows: list[Row] = [
        [words(name), Fact(Kind.SHARE, weight), Fact(Kind.SHARE_INTERVAL, fit.ranges[name])]
        for name, weight in fit.weights.items()
    ]
    threshold = [Fact(Kind.NUMBER, fit.tie_threshold), Fact(Kind.INTERVAL, fit.threshold_range)]
    return Table(_FITTED, [*rows, ["tie threshold (points)", *threshold]])


def ranges_in_words(fit: WeightFit) -> str:
    weights = [f"{words(name)} {interval(ends, 100)} %" for name, ends in fit.ranges.items()]
    return f"95 % ranges: {', '.join(weights)}; tie threshold {interval(fit.threshold_range)} points"


def _estimate(share: float | None, ends: Interval | None) -> Fact:
    return Fact(Kind.ESTIMATE, None if share is None else Estimate(share, ends))


_MARGIN_BINS = 20


def margin_figure(weighted_scoring: WeightedScoring, name: str = "", dark: bool = False) -> drawing.Figure:
    """The margins of the weighted judge by winner, in score points, and the tie threshold."""
    edges = _margin_edges(weighted_scoring)
    decided = weighted_scoring.result["results"]
    title = f"Margins of the weighted judge\n{drawing.drawable(name)}".rstrip()
    with drawing.new_panels(3.2, title, dark, legend_columns=4) as (figure, [axes], theme):
        base = np.zeros(len(edges) - 1)
        colours = (theme.human, theme.judge, theme.third)
        for winner, colour, hatch in zip((TIE, *WINNERS[:2]), colours, ("..", "", "//"), strict=True):
            margins = [float(decision["margin"]) for decision in decided if decision["winner"] == winner]
            # One that equals an edge belongs to the bin that ends there, as ties are decided: so that no tie
            # stands beyond the threshold.
            places = np.searchsorted(edges[1:-1] + 1e-6 * edges[-1], margins)
            counts = np.bincount(places, minlength=len(edges) - 1)
            label = f"{'tie' if winner == TIE else f'{winner} wins'} ({len(margins):,})"
            bars = axes.bar(edges[:-1], counts, np.diff(edges), base, align="edge", color=colour, label=label)
            drawing.stripe(bars, hatch, theme)
            base += counts
        threshold = weighted_scoring.tie_threshold
        line: dict[str, Any] = {"linewidth": 1.4, "linestyle": "--", "label": f"tie up to {threshold:g}"}
        axes.axvline(threshold, color=theme.marked, **line)
        axes.set_xlim(0, edges[-1])
        axes.set_ylim(0, 1.08 * max(base.max(), 1))
        axes.set_xlabel("margin (score points)")
        axes.set_ylabel("comparisons")
        axes.grid(axis="y")
    return figure


def _margin_edges(weighted_scoring: WeightedScoring) -> FloatArray:
    """About twenty bins from 0 to the largest margin; where it can be, one ends at the tie threshold."""
    threshold = weighted_scoring.tie_threshold
    largest = max([*weighted_scoring.margins, threshold]) or 1.0
    width = largest / _MARGIN_BINS
    if threshold > width / 2:
        width = threshold / max(1, round(threshold / width))
    return np.arange(math.ceil(largest / width - 1e-6) + 1, dtype=np.float64) * width


def margin_report_figure(weighted_scoring: WeightedScoring, name: str) -> drawing.ReportFigure:
    decided = Counter(decision["winner"] for decision in weighted_scoring.result["results"])
    winners = ", ".join(f"{who} {decided[who]:,}" for who in WINNERS)
    said = (
        f"Histogram of the weighted judge's margins, a tie up to {weighted_scoring.tie_threshold:g}, by"
        f" winner: {winners}. The largest margin is {number(max(weighted_scoring.margins))}."
    )
    return drawing.ReportFigure(partial(margin_figure, weighted_scoring, name), said)
