"""A ranking for others: CSV for programs, and what of it goes into a paper.

Knows: columns, what CSV needs quoted. Does not know: how rankings are computed, LaTeX.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.core.formatting import counted, visible
from engine.core.sheets import Section, Sheet
from engine.core.value_tables import Table
from engine.data.submission import quoted_cell
from engine.rank.by_labels import RankedByLabels
from engine.rank.contests import in_words
from engine.rank.ranking import Ranking
from engine.rank.ranking_json import ranking_json
from engine.report.correction_sections import corrected_candidates
from engine.report.ranking_sheet import candidate_table

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
