"""Two rankings side by side, as a section of a sheet and as plain values.

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
    "A judge may be right on many items and rank candidates wrongly, or be wrong on many and rank them"
    " rightly: what counts is whether its errors favour somebody."
)
_STOPPED = (
    "{whose} stopped once something was clear, or before: candidates may look further apart there than they"
    " are."
)
_SWAPPED = (
    Column("above", "first above", Kind.TEXT, "The candidate that stands above in the first ranking."),
    Column("below", "first below", Kind.TEXT, "The one below it there, and above it in the second."),
    Column(
        "told",
        "swapped",
        Kind.TEXT,
        "Surely: each of the rankings surely tells the two apart, and they say the opposite. All that is said"
        " of all pairs together is wrong with 5 % at most.",
    ),
)


def side_by_side_section(found: TwoRankings, one: str, other: str, stopped: Sequence[str] = ()) -> Section:
    """`one`, `other`: by whose labels, on which criterion, the first ranking and the second; `stopped`: those
    by a run that stopped once something was clear.
    """
    swaps = found.swaps
    rows: list[Row] = [
        [swap.above, swap.below, "surely" if swap.told is PairTold.SWAPPED else "not surely"]
        for swap in swaps
    ]
    return Section(
        "side_by_side",
        "Two rankings side by side",
        [
            *([Sentences([_STOPPED.format(whose=" and ".join(stopped))], Tone.CAVEAT)] if stopped else ()),
            Sentences([f"First: {one}. Second: {other}.", *_in_words(found), BOTH_WAYS]),
            _places(found),
            *([Table(_SWAPPED, rows)] if swaps else ()),
        ],
        "Both over the same items, and the same draws of instructions. The interval of tau: where a ranking"
        " cannot tell two candidates apart, both orders of them are possible.",
        spelt_out=True,
    )


def _in_words(found: TwoRankings) -> Iterator[str]:
    told = [pair.told for pair in found.pairs]
    alike, swapped, unsure = (told.count(kind) for kind in PairTold)
    pairs, swaps = counted(len(told), "pair", "pairs"), counted(len(found.swaps), "pair is", "pairs are")
    low, high = found.tau_ends
    yield (
        f"Kendall's tau-b {number(found.tau)} (95 %: {low:.2f} to {high:.2f}): of {pairs} of candidates"
        f" {alike:,} stand surely in the same order, {swapped:,} surely swapped, and of {unsure:,} at least"
        f" one ranking cannot tell. As they stand, {swaps} swapped."
    )
    items = counted(len(found.contests), "item", "items")
    yield f"On {percent(found.same_side.value)} of {items} both favour the same candidate, or neither any."


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
        "items": len(found.contests),
        "kendall_tau_b": found.tau,
        "kendall_tau_b_interval": list(found.tau_ends),
        "same_side": 100 * found.same_side.value,
        "same_side_interval": found.same_side.ends and [100 * end for end in found.same_side.ends],
        "pairs": [
            {"above": pair.above, "below": pair.below, "swapped": pair.swapped, "told": pair.told.value}
            for pair in found.pairs
        ],
    }
