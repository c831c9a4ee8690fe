"""The ranking of candidates where systems are measured: in a judge's report, or by two systems compared.

Knows: which ranking belongs to an evaluation, how its sections are called there. Does not know: HTML, how
rankings are computed.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import MeasureProgress, followed
from engine.core.formatting import words
from engine.core.rubric import default_criterion
from engine.core.sheets import Section, Sheet
from engine.data.dataset import Dataset
from engine.decisions.run_dataset import dataset_of_run
from engine.measure.matching import Matched
from engine.rank.by_labels import by_labels
from engine.rank.contests import said_of
from engine.rank.ranking import Ranking, rank
from engine.rank.side_by_side import TwoRankings, side_by_side
from engine.report.ranked_by import RankedBy, stopped
from engine.report.ranking_sheet import ranking_sheet
from engine.report.side_by_side_tables import side_by_side_json, side_by_side_section


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
