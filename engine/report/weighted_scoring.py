"""The weighted judge in tables of values: decisions, winners, fitted weights.

Knows: which columns stand side by side, and what they mean. Does not know: how items are weighed, terminals,
windows.
"""

from collections.abc import Sequence
from statistics import quantiles

from engine.core.formatting import INTERVAL, SCORE, counted, interval, number, words
from engine.core.tables import Column, Estimate, Fact, Kind, Picture, Row, Section, Sentences, Table, Tone
from engine.metrics.intervals import Interval
from engine.metrics.matching import System
from engine.ranking.weight_fit import WeightFit
from engine.ranking.weighted_judge import WINNERS
from engine.ranking.weighted_scoring import OverallAgreement, WeightedScoring

_TITLE = "Weighted judge"
_DECIDED = (
    Column("fact", "weighted judge", Kind.NAME, "The decision of the weighted judge."),
    Column(
        "value",
        "",
        Kind.FACT,
        f"A number of comparisons, a percentage of them, or points. {INTERVAL}",
    ),
)
_AGREEMENT = (
    Column(
        "fact",
        "compared with the human overall label",
        Kind.NAME,
        "What is compared with the winner by the human overall label.",
    ),
    Column("value", "", Kind.FACT, f"A number of items, or a percentage of them. {INTERVAL}"),
)
_WINNERS = (
    Column("human", "", Kind.NAME, "The winner by the human overall label."),
    *(
        Column(
            name,
            (f"weighted {name}"),
            Kind.COUNT,
            f"The number of items for which the weighted judge decides “{name}”.",
        )
        for name in WINNERS
    ),
)
_FITTED = (
    Column("fitted", "fitted", Kind.NAME, "The weight of a criterion in percent, or the tie threshold."),
    Column("value", "", Kind.FACT, "The fitted value: it explains the human overall labels best."),
    Column(
        "range",
        "95 % range",
        Kind.FACT,
        "The range of the fit on other items of this kind: from bootstrap samples of instructions.",
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
    """What the weighted judge decided of a system; `source`: where weights and threshold come from."""
    doubts = (
        [Sentences(weighted_scoring.informative.sentences, Tone.CAVEAT)]
        if weighted_scoring.informative.sentences
        else []
    )
    if weighted_scoring.informative.refused:
        return Section("weighing", _TITLE, doubts)
    agreement = weighted_scoring.agreement
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
            *(
                [Sentences([weighted_scoring.fit_in_words], Tone.CAVEAT)]
                if weighted_scoring.fit_in_words
                else []
            ),
            Sentences([_weights(weighted_scoring, source)]),
            weighted_scoring_table(weighted_scoring),
            *([overall_agreement_table(agreement), winner_table(agreement)] if agreement else []),
            Picture(
                "margins",
                (
                    "Decisions with margins near the tie threshold would change with a small change of"
                    " the scores."
                ),
            ),
        ],
        f"A response's score on a criterion is {SCORE}{sure}. The weighted sum of the criteria decides; the"
        " margin is the difference of the two sums. The human winner is the human label of overall quality,"
        " where both_good and both_bad are a tie.",
    )


def weighted_scoring_table(weighted_scoring: WeightedScoring) -> Table:
    """How many comparisons it decided, and how."""
    decided = weighted_scoring.result
    won: list[Row] = [[_WON[name], _estimate(*found)] for name, found in weighted_scoring.rates.items()]
    rows: list[Row] = [
        ["comparisons", Fact(Kind.COUNT, len(decided["results"]))],
        ["omitted (a criterion is unscored)", Fact(Kind.COUNT, len(weighted_scoring.left_out))],
        *won,
        ["mean margin (points)", Fact(Kind.NUMBER, decided["avg_margin"])],
        ["margins: 10, 50, 90 % below", Fact(Kind.TEXT, _deciles(weighted_scoring.margins))],
    ]
    return Table(_DECIDED, rows)


def overall_agreement_table(agreement: OverallAgreement) -> Table:
    """How often its winner is that of the human overall label."""
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
    """How often fitted weights find the human winner, cross-validated."""
    columns = (
        Column("how", f"cross-validated on {counted(fit.items, 'item', 'items')}", Kind.TEXT, _FIT),
        Column(
            "found",
            "accuracy (%)",
            Kind.ESTIMATE,
            f"The percentage of items with the human winner. {INTERVAL}",
        ),
    )
    rows: list[Row] = [
        ["fitted weights and threshold", Estimate(fit.agreement, fit.intervals["agreement"])],
        ["equal weights, fitted threshold", Estimate(fit.equal, fit.intervals["equal"])],
        ["most frequent of A, B and tie", Estimate(fit.most_frequent, fit.intervals["most_frequent"])],
    ]
    return Table(columns, rows)


def fitted_weight_table(fit: WeightFit) -> Table:
    """Each fitted weight, and the threshold, with its range."""
    rows: list[Row] = [
        [words(name), Fact(Kind.SHARE, weight), Fact(Kind.SHARE_INTERVAL, fit.ranges[name])]
        for name, weight in fit.weights.items()
    ]
    threshold = [Fact(Kind.NUMBER, fit.tie_threshold), Fact(Kind.INTERVAL, fit.threshold_range)]
    return Table(_FITTED, [*rows, ["tie threshold (points)", *threshold]])


def ranges_in_words(fit: WeightFit) -> str:
    """The ranges in a line, for where the weights go without their table."""
    weights = [f"{words(name)} {interval(ends, 100)} %" for name, ends in fit.ranges.items()]
    return f"95 % ranges: {', '.join(weights)}; tie threshold {interval(fit.threshold_range)} points"


def _estimate(share: float | None, ends: Interval | None) -> Fact:
    return Fact(Kind.ESTIMATE, None if share is None else Estimate(share, ends))


def _weights(weighted_scoring: WeightedScoring, source: str) -> str:
    """The weights, normalised to sum 1, and the tie threshold."""
    total = sum(weighted_scoring.weights.values())
    weights = ", ".join(
        f"{words(name)} {weight / total:.3f}" for name, weight in weighted_scoring.weights.items()
    )
    said = f"Weights: {weights}. Differences up to {weighted_scoring.tie_threshold:g} points are a tie."
    return f"{said} Weights and tie threshold: {source}." if source else said


def _deciles(margins: Sequence[float]) -> str:
    if len(margins) < 2:
        return "-"
    cuts = quantiles(margins, n=10, method="inclusive")
    return ", ".join(number(cuts[place]) for place in (0, 4, 8))
