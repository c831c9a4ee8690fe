"""A ranking for others: CSV for programs, and what of it goes into a paper.

Two rankings compared, as a section of a sheet and as plain values.

The ranking of candidates where systems are measured: in a judge's report, or by two systems compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress, followed
from engine.core.formatting import counted, number, percent, visible, words
from engine.core.rubric import default_criterion
from engine.core.tables import Column, Kind, Row, Section, Sentences, Sheet, Table, Tone
from engine.data.dataset import Dataset
from engine.data.submission import quoted_cell
from engine.metrics.matching import Matched
from engine.ranking.bradley_terry import rank_in_words
from engine.ranking.comparisons import in_words, said_of
from engine.ranking.labelled_part import RankedByLabels, by_labels
from engine.ranking.ranking import Ranking, rank, ranking_json
from engine.ranking.side_by_side import PairTold, TwoRankings, side_by_side
from engine.report.correction import corrected_candidates
from engine.report.ranking import RankedBy, candidate_table, place_columns, ranking_sheet, stopped
from engine.results.run_dataset import dataset_of_run

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
    for place, which in (("one", "first"), ("other", "second")):
        columns += [
            Column(f"{column.key}_{place}", f"{which}: {column.title}", column.kind, column.meaning)
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


@dataclass(frozen=True, eq=False)
class ReportedRanking:
    """A ranking as a report shows it; `title`: by whose labels, on which criterion."""

    ranking: Ranking
    title: str
    sections: Sequence[Section]


def reported_ranking(matched: Matched) -> ReportedRanking | None:
    """The candidates ranked by the system's labels, on the items that are measured; None where neither the
    labelled dataset nor that of the run names two of them, or no item has a label.
    """
    with suppress(SetupError):
        return _reported(matched)
    return None


def _reported(matched: Matched) -> ReportedRanking:
    system = matched.system
    dataset = _naming_candidates(matched)
    criterion = default_criterion(system.criteria)
    ranked = RankedBy.by_system(system, dataset, criterion)
    ranking = followed(rank(ranked.comparisons), _unheard)
    corrected = followed(by_labels(system, dataset, criterion), _unheard)
    # How many labels it takes is asked before they are there, not in a report.
    told = corrected.correction is not None or corrected.refused is not None
    shown = replace(corrected, sample_size=None) if told else None
    sheet = ranking_sheet(ranking, ranked.title, shown, until=ranked.until, remark=ranked.remark)
    sections = [_in_report(section, sheet) for section in sheet.sections]
    sections += _beside_annotators(matched, ranked, criterion)
    return ReportedRanking(ranking, ranked.title, sections)


def _in_report(section: Section, sheet: Sheet) -> Section:
    title = f"Ranking: {section.title[:1].lower()}{section.title[1:]}"
    first = section is sheet.sections[0]
    note = f"The candidate models that wrote the responses. {sheet.title}." if first else section.note
    return replace(section, key=f"ranking_{section.key}", title=title, note=note)


def _beside_annotators(matched: Matched, ranked: RankedBy, criterion: str) -> Iterator[Section]:
    """Nothing where there are too few labels."""
    comparisons = ranked.comparisons
    golds = {item.id: item.gold.get(criterion) for item in matched.dataset}
    by_annotators = comparisons.with_said(said_of([golds.get(item_id) for item_id in comparisons.ids]))
    annotators = f"the human labels of {matched.dataset.name}, {words(criterion)}"
    with suppress(SetupError):
        found = followed(side_by_side(comparisons, by_annotators), _unheard)
        yield side_by_side_section(found, ranked.title, annotators, stopped(ranked))


@dataclass(frozen=True, eq=False)
class RankingsBeside:
    """Two rankings of the same candidates, by `one` and by the `other`."""

    found: TwoRankings
    one: RankedBy
    other: RankedBy

    @property
    def section(self) -> Section:
        """As a sheet says it."""
        titles = self.one.title, self.other.title
        return side_by_side_section(self.found, *titles, stopped(self.one, self.other))

    def as_json(self) -> dict[str, Any]:
        """As plain values; shares in percent."""
        return {"ranked": self.one.title, **side_by_side_json(self.found, self.other.title)}


def rankings_beside(matched: Sequence[Matched], cancel: CancelToken | None = None) -> RankingsBeside | None:
    """The candidates ranked by each of two systems, on the items that both answer; None where these are not
    two, the dataset does not name candidates, or nothing can be said of both. Raises Cancelled.
    """
    if len(matched) != 2:
        return None
    one, other = matched
    shared = tuple(name for name in one.system.criteria if name in other.system.criteria)
    if not shared:
        return None
    with suppress(SetupError):
        dataset, criterion = _naming_candidates(one), default_criterion(shared)
        first, second = (RankedBy.by_system(each.system, dataset, criterion) for each in (one, other))
        found = followed(side_by_side(first.comparisons, second.comparisons, cancel=cancel), _unheard)
        return RankingsBeside(found, first, second)
    return None


def _naming_candidates(matched: Matched) -> Dataset:
    """The labelled dataset, else that of the run. SetupError where neither names them."""
    results = matched.system.results
    if matched.dataset.names_candidates or results is None:
        return matched.dataset
    return dataset_of_run(results.run).only(frozenset(matched.dataset.ids))


def _unheard(_progress: MeasureProgress) -> None:
    """Of a report nobody hears how far it is."""


_IN_A_PAPER = frozenset(
    ("candidate", "rank", "strength", "win_rate", "equal_length", "contests", "corrected", "labels", "judge")
)
"""The columns that a page is wide enough for."""
_BRACKETS = "Brackets: 95 % intervals over instructions."


def ranking_csv(ranking: Ranking, corrected: RankedByLabels | None = None) -> bytes:
    """A row for each candidate, the best first, then for each pair of candidates that met, in both
    directions: `against` names the opponent, and is empty for all together. UTF-8, values as in the JSON of a
    ranking; the two ends of an interval stand in two columns; a cell is empty where nothing is known. What
    human labels make of a judge's ranking stands in columns that begin with `corrected`.
    """
    made = ranking_json(ranking, corrected)
    rows = [dict(_flat(row)) for row in (*made["candidates"], *made["pairs"])]
    names = dict.fromkeys(("name", "against", *(name for row in rows for name in row)))
    lines = [list(names), *([_cell(row.get(name)) for name in names] for row in rows)]
    return "".join(f"{','.join(map(_quoted, line))}\n" for line in lines).encode("utf-8")


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if name == "ranks":
            yield from zip(("best_rank", "worst_rank"), value, strict=True)
        elif name.endswith("_interval"):
            stem = name.removesuffix("_interval")
            yield from zip((f"{stem}_low", f"{stem}_high"), value or (None, None), strict=True)
        elif isinstance(value, Mapping):
            yield from ((f"{name}_{inner}", each) for inner, each in _flat(value))
        else:
            yield name, value


def _cell(value: object) -> str:
    return "" if value is None else visible(str(value))


def _quoted(cell: str) -> str:
    return quoted_cell(cell, ",")


def paper_sheet(ranking: Ranking, title: str, corrected: RankedByLabels | None = None) -> Sheet:
    """What of a ranking a page of a paper is wide enough for: the candidates, and a second table where
    human labels correct a judge's; `title`: by whose labels.
    """
    sections = [Section("ranking", "", [_narrow(candidate_table(ranking))], _BRACKETS)]
    correction = corrected.correction if corrected else None
    if correction is not None and correction.candidates:
        annotators = (
            f"Candidates, corrected by human labels on {correction.labelled:,} of"
            f" {counted(correction.items, 'item', 'items')}"
        )
        table = _narrow(corrected_candidates(correction))
        sections.append(Section("ranking-corrected", annotators, [table], _BRACKETS))
    return Sheet(f"{title}: {in_words(ranking.comparisons)}", sections)


def _narrow(table: Table) -> Table:
    kept = [place for place, column in enumerate(table.columns) if column.key in _IN_A_PAPER]
    return Table(
        [table.columns[place] for place in kept], [[row[place] for place in kept] for row in table.rows]
    )
