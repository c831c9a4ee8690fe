"""The weighted judge in tables of values: decisions, winners, fitted weights.

Knows: which columns stand side by side, and what they mean. Does not know: how items are weighed, terminals,
windows.
"""

from engine.core.formatting import words
from engine.core.value_tables import Column, Fact, Kind, Row, Table
from engine.weigh.system_weighing import OverallAgreement, Weighing
from engine.weigh.weight_fit import WeightFit
from engine.weigh.weighted_judge import WINNERS

_DECIDED = (
    Column("fact", "weighted judge", Kind.NAME, "What the weighted judge decided."),
    Column("value", "", Kind.FACT, "How many comparisons, which share of them, or how many points."),
)
_AGREEMENT = (
    Column(
        "fact",
        "against the human overall label",
        Kind.NAME,
        "What is held against the winner by the human overall label.",
    ),
    Column("value", "", Kind.FACT, "How many items, or which share of them."),
)
_WINNERS = (
    Column("human", "", Kind.NAME, "The winner by the human overall label."),
    *(
        Column(name, f"weighted {name}", Kind.COUNT, f"How often the weighted judge gives “{name}”.")
        for name in WINNERS
    ),
)
_FIT = "How winners are found: with weights and a threshold fitted to other items, or without."


def weighing_table(weighing: Weighing) -> Table:
    """What the weighted judge decided."""
    decided = weighing.result
    rows: list[Row] = [
        ["comparisons", Fact(Kind.COUNT, len(decided["results"]))],
        ["left out, a criterion is unscored", Fact(Kind.COUNT, len(weighing.left_out))],
        ["A wins", Fact(Kind.SHARE, decided["win_rate_a"])],
        ["B wins", Fact(Kind.SHARE, decided["win_rate_b"])],
        ["tie", Fact(Kind.SHARE, decided["tie_rate"])],
        ["mean margin (points)", Fact(Kind.NUMBER, decided["avg_margin"])],
    ]
    return Table(_DECIDED, rows)


def overall_agreement_table(agreement: OverallAgreement) -> Table:
    """How often its winner is that of the human overall label."""
    rows: list[Row] = [
        ["items with a human overall label", Fact(Kind.COUNT, agreement.items)],
        ["of these, A or B wins", Fact(Kind.COUNT, agreement.items - agreement.ties)],
        ["of these, a tie", Fact(Kind.COUNT, agreement.ties)],
        ["weighted winner or tie is the human one", Fact(Kind.SHARE, agreement.accuracy)],
        ["own overall label is the human one", Fact(Kind.SHARE, agreement.own_label)],
        ["most frequent of A, B and tie", Fact(Kind.SHARE, agreement.most_frequent)],
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
        Column("how", f"cross-validated on {fit.items:,} items", Kind.TEXT, _FIT),
        Column("found", "", Kind.SHARE, "The share of items whose winner is the human one."),
    )
    rows: list[Row] = [
        ["fitted weights and threshold", fit.agreement],
        ["equal weights, fitted threshold", fit.equal],
        ["most frequent of A, B and tie", fit.most_frequent],
    ]
    return Table(columns, rows)


def weights_in_words(weighing: Weighing) -> str:
    """The weights, normalised to sum 1."""
    total = sum(weighing.weights.values())
    return ", ".join(f"{words(name)} {weight / total:.3f}" for name, weight in weighing.weights.items())
