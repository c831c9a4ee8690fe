"""Two rankings compared, as a section of a sheet and as plain values.

Knows: the words and columns. Does not know: how rankings are compared, terminals, HTML, windows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from engine.core.formatting import counted, number, percent
from engine.core.sheets import Section, Sentences, Tone
from engine.core.value_tables import Column, Kind, Row, Table
from engine.rank.side_by_side import PairTold, TwoRankings
from engine.rank.strengths import rank_in_words
from engine.report.ranking_sheet import place_columns

BOTH_WAYS = (
    "A judge can be right on many items and rank candidates wrongly, or the reverse: what matters is"
    " whether its errors favour some candidates."
)
_STOPPED = (
    "{whose} stopped at a significant result, or before: candidates may look further apart there than"
    " they are."
)
_SWAPPED = (
    Column("above", "first above", Kind.TEXT, "The candidate that ranks higher in the first ranking."),
    Column(
        "below", "first below", Kind.TEXT, "The candidate that ranks lower there, and higher in the second."
    ),
    Column(
        "told",
        "significance",
        Kind.TEXT,
        "Significant: in each ranking the two differ significantly, in opposite directions. The"
        " family-wise error rate of all pairs is at most 5 %.",
    ),
)


def side_by_side_section(found: TwoRankings, one: str, other: str, stopped: Sequence[str] = ()) -> Section:
    """`one`, `other`: by whose labels, on which criterion, the first ranking and the second; `stopped`: those
    by a run that stopped at a significant result.
    """
    swaps = found.swaps
    rows: list[Row] = [
        [swap.above, swap.below, "significant" if swap.told is PairTold.SWAPPED else "not significant"]
        for swap in swaps
    ]
    return Section(
        "side_by_side",
        "Two rankings compared",
        [
            *([Sentences([_STOPPED.format(whose=" and ".join(stopped))], Tone.CAVEAT)] if stopped else ()),
            Sentences([f"First: {one}. Second: {other}.", *_in_words(found), BOTH_WAYS]),
            _places(found),
            *([Table(_SWAPPED, rows)] if swaps else ()),
        ],
        "Both use the same items, and the same bootstrap samples of instructions. For the interval of"
        " tau, two candidates that do not differ significantly may be in either order.",
        spelt_out=True,
    )


def _in_words(found: TwoRankings) -> Iterator[str]:
    told = [pair.told for pair in found.pairs]
    alike, swapped, unsure = (told.count(kind) for kind in PairTold)
    pairs, swaps = counted(len(told), "pair", "pairs"), counted(len(found.swaps), "pair is", "pairs are")
    low, high = found.tau_ends
    yield (
        f"Kendall's tau-b {number(found.tau)} (95 %: {low:.2f} to {high:.2f}): of {pairs} of candidates"
        f" {alike:,} are significantly in the same order, {swapped:,} significantly swapped, and"
        f" {unsure:,} not significantly different in at least one ranking. By point estimates, {swaps}"
        " swapped."
    )
    items = counted(len(found.comparisons), "item", "items")
    yield (
        f"On {percent(found.same_side.value)} of {items} both favour the same candidate, or both favour none."
    )


def _places(found: TwoRankings) -> Table:
    candidate, *of_each = place_columns()
    columns = [candidate]
    for place, words in (("one", "first"), ("other", "second")):
        columns += [
            Column(f"{column.key}_{place}", f"{words}: {column.title}", column.kind, column.meaning)
            for column in of_each
        ]
    rows: list[Row] = []
    for name in found.one.order:
        row: list[Any] = [name]
        for each, ranks in zip((found.one, found.other), found.ranks, strict=True):
            row += [rank_in_words(ranks[name]), each.scores[name]]
        rows.append(row)
    return Table(columns, rows)


def side_by_side_json(found: TwoRankings, other: str) -> dict[str, Any]:
    """As plain values; `other`: by whose labels the second ranking is. Shares in percent."""
    return {
        "with": other,
        "items": len(found.comparisons),
        "kendall_tau_b": found.tau,
        "kendall_tau_b_interval": list(found.tau_ends),
        "same_side": 100 * found.same_side.value,
        "same_side_interval": found.same_side.ends and [100 * end for end in found.same_side.ends],
        "pairs": [
            {"above": pair.above, "below": pair.below, "swapped": pair.swapped, "told": pair.told.value}
            for pair in found.pairs
        ],
    }
