"""The weighted judge in tables: decisions, winners, fitted weights.

Knows: which columns stand side by side. Does not know: how items are weighed, terminals, windows.
"""

from engine.core.formatting import Table, number, percent, words
from engine.weigh.system_weighing import OverallAgreement, Weighing
from engine.weigh.weight_fit import WeightFit
from engine.weigh.weighted_judge import WINNERS


def weighing_table(weighing: Weighing) -> Table:
    """What the weighted judge decided."""
    decided = weighing.result
    rows = [
        ["comparisons", f"{len(decided['results']):,}"],
        ["left out, a criterion is unscored", f"{len(weighing.left_out):,}"],
        ["A wins", percent(decided["win_rate_a"])],
        ["B wins", percent(decided["win_rate_b"])],
        ["tie", percent(decided["tie_rate"])],
        ["mean margin (points)", number(decided["avg_margin"])],
    ]
    return Table(["weighted judge", ""], rows)


def overall_agreement_table(agreement: OverallAgreement) -> Table:
    """How often its winner is that of the human overall label."""
    rows = [
        ["items with a human winner", f"{agreement.items:,}"],
        ["weighted winner is the human one", percent(agreement.accuracy)],
        ["own overall label is the human one", percent(agreement.own_label)],
        ["most frequent human winner", percent(agreement.most_frequent)],
    ]
    return Table(["against the human overall label", ""], rows)


def winner_table(agreement: OverallAgreement) -> Table:
    """Human winners down, weighted ones across."""
    rows = [
        [f"human {name}", *(f"{count:,}" for count in counts)]
        for name, counts in zip(WINNERS, agreement.confusion, strict=True)
    ]
    return Table(["", *(f"weighted {name}" for name in WINNERS)], rows)


def fit_table(fit: WeightFit) -> Table:
    """How often fitted weights find the human winner, cross-validated."""
    rows = [
        ["fitted weights and threshold", percent(fit.agreement)],
        ["equal weights, fitted threshold", percent(fit.equal)],
        ["most frequent winner", percent(fit.most_frequent)],
    ]
    return Table([f"cross-validated on {fit.items:,} items", ""], rows)


def weights_in_words(weighing: Weighing) -> str:
    """The weights, normalised to sum 1."""
    total = sum(weighing.weights.values())
    return ", ".join(f"{words(name)} {one / total:.3f}" for name, one in weighing.weights.items())
