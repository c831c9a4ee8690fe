"""By whose labels candidates are ranked: annotators', a judge's on one criterion, or the weighted judge's; in
the report of a judge, two rankings compared, and how one was made, as methods for a paper.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core import VERSION
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, followed
from engine.core.formatting import counted, listed, number, percent, words
from engine.core.judgments import JudgmentKey
from engine.core.numeric import FloatArray
from engine.core.rubric import default_criterion
from engine.core.tables import Column, Kind, Row, Section, Sentences, Table, Tone
from engine.data.dataset import Dataset
from engine.metrics.matching import Matched, System
from engine.ranking import comparisons as compared
from engine.ranking.bradley_terry import DRAWS, PairTold, TwoRankings, rank_in_words, side_by_side
from engine.ranking.comparisons import PairComparisons
from engine.ranking.correction import Correction
from engine.ranking.labelled_part import LabelledPart, RankedByLabels, by_labels, judged_apart
from engine.ranking.ranking import Ranking, rank
from engine.ranking.stopping import UntilSignificant, told_of, until_significant
from engine.ranking.weighted_scoring import WeightedScoring
from engine.report import methods
from engine.report.columns import CANDIDATE
from engine.report.ranking import RANK, STRENGTH, ranking_sheet
from engine.report.trust import methods_of_kept
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults
from engine.results.trust import KeptTrust, kept_trust, may_stand

_STOPPED = (
    "This run stopped at a significant result, or before: rates here and their intervals may be too far"
    " from 50 %. The intervals under “Resolved comparisons” are valid however often you look."
)
_ACCEPTED = (
    "Only labels that may stand count: {}. Items with such labels are no random sample: all rates and"
    " intervals are of these items alone, and human labels do not correct them."
)


@dataclass(frozen=True, eq=False)
class RankedBy:
    """`said`: what was said of each item of the dataset, shape (items, 5), as PairComparisons has it.
    `system`: by whom; None for annotators in the dataset. `criterion`: None for the weighted judge.
    `accepted`: where only labels count that may stand by it.
    """

    dataset: Dataset
    said: FloatArray
    criterion: str | None
    system: System | None = None
    weighted_scoring: WeightedScoring | None = None
    accepted: KeptTrust | None = None

    @classmethod
    def by_annotators(cls, dataset: Dataset, criterion: str) -> "RankedBy":
        return cls(dataset, compared.human_said(dataset, criterion), criterion)

    @classmethod
    def by_system(cls, system: System, dataset: Dataset, criterion: str) -> "RankedBy":
        """SetupError where it lacks the criterion."""
        return cls(dataset, compared.system_said(system, dataset, criterion), criterion, system)

    @classmethod
    def by_weights(cls, system: System, dataset: Dataset, weighted_scoring: WeightedScoring) -> "RankedBy":
        """SetupError where the scores carry nothing."""
        weighted_scoring.informative.check()
        winners = {decision["id"]: decision["winner"] for decision in weighted_scoring.result["results"]}
        return cls(dataset, compared.winners_said(winners, dataset), None, system, weighted_scoring)

    def by_accepted(self) -> "RankedBy":
        """The same by labels that may stand. SetupError where it is not known which."""
        results = self.system.results if self.system is not None else None
        if results is None:
            raise SetupError("Which labels may stand is kept with runs alone.", Hint(Step.CHOOSE_RUN))
        kept = kept_trust(results)
        stand, weighed = may_stand(results, kept), self.weighted_scoring
        names = [self.criterion] if self.criterion is not None else [*weighed.weights] if weighed else []
        accepted = [all(JudgmentKey(each, name) in stand for name in names) for each in self.dataset.ids]
        said = np.where(np.array(accepted)[:, None], self.said, np.nan)
        return replace(self, said=said, accepted=kept)

    @property
    def title(self) -> str:
        """By whom on what, in words: `run 7, overall quality`."""
        whose = f"{self.dataset.name} by human labels" if self.system is None else self.system.name
        which = ", labels that may stand" if self.accepted is not None else ""
        return f"{whose}, {'weighted judge' if self.criterion is None else words(self.criterion)}{which}"

    @property
    def stopped(self) -> RunResults | None:
        """The run whose labels these are, where it stopped once something was clear, or before; else None."""
        results = self.system.results if self.system is not None else None
        return results if results is not None and results.run.stopped_early else None

    @property
    def remark(self) -> str:
        accepted = _ACCEPTED.format(self.accepted.in_words) if self.accepted is not None else ""
        return " ".join(filter(None, (_STOPPED if self.stopped is not None else "", accepted)))

    @property
    def until(self) -> UntilSignificant | None:
        """What is clear of what a run was to answer before it stopped, by its judge alone, if anything."""
        results = self.stopped
        asked = results.run.until if results is not None else None
        if results is None or asked is None or self.criterion is None:
            return None
        with suppress(SetupError):  # nobody is named: comparisons say so
            return told_of(until_significant(self.dataset, self.criterion, asked), results)
        return None

    @property
    def judge(self) -> tuple[System, Dataset, str] | None:
        """Whose labels those of annotators may correct: a system on a criterion, on which items."""
        if self.system is None or self.criterion is None or self.accepted is not None:
            return None
        return self.system, self.dataset, self.criterion

    @property
    def comparisons(self) -> PairComparisons:
        """SetupError as `comparisons_of` raises it."""
        return compared.comparisons_of(self.dataset, self.said)


def stopped(*ranked: RankedBy) -> list[str]:
    return [by.title for by in ranked if by.stopped is not None]


BOTH_WAYS = (
    "A judge can be right on many items and rank candidates wrongly, or the reverse: what matters is"
    " whether its errors favour some candidates."
)
_ONE_STOPPED = (
    "{whose} stopped at a significant result, or before: candidates may look further apart there than"
    " they are."
)
_SWAPPED = (
    Column("above", "first above", Kind.TEXT, "The candidate that ranks higher in the first ranking."),
    Column(
        "below", "first below", Kind.TEXT, "The candidate that ranks lower there, and higher in the second."
    ),
    Column("told", "significance", Kind.TEXT).means(
        "Significant: in each ranking the two differ significantly, in opposite directions. The"
        " family-wise error rate of all pairs is at most 5 %."
    ),
)


def side_by_side_section(found: TwoRankings, one: str, other: str, stopped: Sequence[str] = ()) -> Section:
    """`one`, `other`: by whose labels; `stopped`: those by a run that stopped at a significant result."""
    swaps = found.swaps
    rows: list[Row] = [
        [swap.above, swap.below, "significant" if swap.told is PairTold.SWAPPED else "not significant"]
        for swap in swaps
    ]
    early = [_ONE_STOPPED.format(whose=" and ".join(stopped))] if stopped else []
    return Section(
        "side_by_side",
        "Two rankings compared",
        [
            *([Sentences(early, Tone.CAVEAT)] if early else ()),
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
        f" {alike:,} are significantly in the same order, {swapped:,} significantly swapped, and {unsure:,}"
        f" not significantly different in at least one ranking. By point estimates, {swaps} swapped."
    )
    items = counted(len(found.comparisons), "item", "items")
    yield (
        f"On {percent(found.same_side.value)} of {items} both favour the same candidate, or both favour none."
    )


def _places(found: TwoRankings) -> Table:
    columns = [CANDIDATE]
    for place, which in (("one", "first"), ("other", "second")):
        columns += [
            Column(f"{column.key}_{place}", f"{which}: {column.title}", column.kind, column.meaning)
            for column in (RANK, STRENGTH)
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
    """The candidates by the system's labels; None where no dataset names two, or none has a label."""
    system, criterion = matched.system, default_criterion(matched.system.criteria)
    try:
        dataset = _naming_candidates(matched)
        ranked = RankedBy.by_system(system, dataset, criterion)
        comparisons = ranked.comparisons
        ranking = followed(rank(comparisons, dataset=dataset))
        corrected = followed(by_labels(system, dataset, criterion))
    except SetupError:
        return None
    # How many labels it takes is asked before they are there, not in a report.
    told = corrected.correction is not None or corrected.refused is not None
    shown = replace(corrected, sample_size=None) if told else None
    sheet = ranking_sheet(ranking, ranked.title, shown, until=ranked.until, remark=ranked.remark)
    sections = []
    for section in sheet.sections:
        title = f"Ranking: {section.title[:1].lower()}{section.title[1:]}"
        first = section is sheet.sections[0]
        note = f"The candidate models that wrote the responses. {sheet.title}." if first else section.note
        sections.append(replace(section, key=f"ranking_{section.key}", title=title, note=note))
    golds = {item.id: item.gold.get(criterion) for item in matched.dataset}
    said = compared.said_of([golds.get(item_id) for item_id in comparisons.ids])
    annotators = f"the human labels of {matched.dataset.name}, {words(criterion)}"
    with suppress(SetupError):
        found = followed(side_by_side(comparisons, comparisons.with_said(said)))
        sections.append(side_by_side_section(found, ranked.title, annotators, stopped(ranked)))
    return ReportedRanking(ranking, ranked.title, sections)


def apart_of(matched: Matched) -> RankedByLabels | None:
    """How the judge differs from the labels, on the criterion by which candidates are ranked; None where no
    dataset names them.
    """
    with suppress(SetupError):
        criterion = default_criterion(matched.system.criteria)
        return judged_apart(matched.system, _naming_candidates(matched), criterion)
    return None


@dataclass(frozen=True, eq=False)
class RankingsBeside:
    """Two rankings of the same candidates, by `one` and by the `other`."""

    found: TwoRankings
    one: RankedBy
    other: RankedBy

    @property
    def section(self) -> Section:
        titles = self.one.title, self.other.title
        return side_by_side_section(self.found, *titles, stopped(self.one, self.other))

    def as_json(self) -> dict[str, Any]:
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
        found = followed(side_by_side(first.comparisons, second.comparisons, cancel=cancel))
        return RankingsBeside(found, first, second)
    return None


def _naming_candidates(matched: Matched) -> Dataset:
    """The labelled dataset, else that of the run. SetupError where neither names them."""
    results = matched.system.results
    if matched.dataset.names_candidates or results is None:
        return matched.dataset
    return dataset_of_run(results.run).only(frozenset(matched.dataset.ids))


_MOST_NAMES = 100


def ranking_methods(
    ranked: RankedBy, ranking: Ranking, seed: int, corrected: RankedByLabels | None = None
) -> Sequence[methods.Statement]:
    """What is to be said of a ranking; `seed`: of the draws; `corrected`: what human labels make of it."""
    said = [*_data(ranked, ranking), *_labels(ranked), *_numbers(ranking, seed)]
    said += favour_methods(corrected)
    if corrected is not None and corrected.part is not None and corrected.correction is not None:
        said += _correction(ranked, corrected.part, corrected.correction, seed)
    return [*said, methods.COMPUTED]


def _data(ranked: RankedBy, ranking: Ranking) -> Iterator[methods.Statement]:
    dataset, comparisons = ranked.dataset, ranking.comparisons
    known = int(np.sum(comparisons.known))
    pairs = counted(len(comparisons), "pair of responses", "pairs of responses")
    labelled = "" if known == len(comparisons) else f", {known:,} of which have a label and count"
    instructions = len(np.unique(comparisons.instructions))
    said = (
        f"{counted(len(comparisons.names), 'candidate', 'candidates')}"
        f" ({listed(comparisons.names, _MOST_NAMES)}) were compared in {pairs} to"
        f" {counted(instructions, 'instruction', 'instructions')}{labelled}."
    )
    yield methods.Statement(
        " ".join(filter(None, (said, compared.left_out_in_words(comparisons.left_out)))),
        f"{dataset.path.name}, its columns that name candidates; SHA-256 of its texts {dataset.hash}",
    )


def _labels(ranked: RankedBy) -> Iterator[methods.Statement]:
    dataset, system, criterion = ranked.dataset, ranked.system, ranked.criterion
    if system is None and criterion is not None:
        several = any(item.gold[criterion].annotators for item in dataset if criterion in item.gold)
        label = "the shares of its annotators' labels" if several else "one label"
        yield methods.Statement(
            f"The labels are human ones, on {words(criterion)}: for each pair {label}.",
            f"{dataset.path.name}, the columns of human labels",
        )
    elif system is not None:
        yield from methods.labels_of_system(system, criterion)
    if ranked.accepted is not None and system is not None:
        yield from methods_of_kept(system.results)
        yield methods.Statement(ranked.remark, f"Tiebreak {VERSION}, docs/commands.md, rank")
    if ranked.weighted_scoring is not None:
        weights = ", ".join(
            f"{words(name)} {weight:g}" for name, weight in ranked.weighted_scoring.weights.items()
        )
        yield methods.Statement(
            f"The winner of a pair is that of the weighted sum of scores ({weights}); differences up to"
            f" {ranked.weighted_scoring.tie_threshold:g} points are ties.",
            f"Tiebreak {VERSION}, docs/measures.md, Weighted scoring; weights as given to the command or the"
            " rubric",
        )


def _numbers(ranking: Ranking, seed: int) -> Iterator[methods.Statement]:
    yield methods.Statement(
        "A win rate is the share of comparisons won, a tie counting half; its 95 % interval is that of"
        f" {methods.KORN_GRAUBARD.said} over instructions.",
        f"Tiebreak {VERSION}, docs/measures.md, Intervals and tests",
        (methods.KORN_GRAUBARD,),
    )
    if ranking.bradley_terry is not None:
        yield methods.Statement(
            f"Bradley-Terry scores are maximum-likelihood estimates ({methods.BRADLEY_TERRY.short}) with ties"
            f" ({methods.DAVIDSON.short}); their 95 % intervals are expanded percentiles"
            f" ({methods.HESTERBERG.short}) of {DRAWS:,} bootstrap samples of instructions (seed {seed}),"
            " and two candidates differ significantly if their difference is significant at 5 % over all"
            f" pairs ({methods.HOLM.short}).",
            f"Tiebreak {VERSION}, engine/ranking/bradley_terry.py",
            (methods.BRADLEY_TERRY, methods.DAVIDSON, methods.HESTERBERG, methods.HOLM),
        )
    if ranking.lengths is not None and ranking.lengths.rates:
        yield methods.Statement(
            "Length-controlled win rates are those of a logistic regression on candidates and length"
            f" differences, after {methods.DUBOIS.said}.",
            f"Tiebreak {VERSION}, engine/ranking/length_control.py",
            (methods.DUBOIS,),
        )
    if ranking.style is not None and ranking.style.rates:
        yield methods.Statement(
            "Style-controlled ones add differences in the numbers of list items, headings and bold parts.",
            f"Tiebreak {VERSION}, engine/ranking/length_control.py",
        )


_FAVOUR = methods.Statement(
    "Whom the judge favours is its win rate minus that by human labels on the items that both labelled, by"
    " candidate and by family of several; what moves it, the coefficients of a regression of A's win by the"
    " judge minus that by human labels on the differences of features. 95 % intervals are clustered by"
    f" instruction, p-values corrected by Holm's method ({methods.HOLM.short}), for candidates and families"
    " together and for features together.",
    f"Tiebreak {VERSION}, docs/measures.md, Favour to a candidate",
    (methods.HOLM,),
)


def favour_methods(found: RankedByLabels | None) -> list[methods.Statement]:
    return [_FAVOUR] if found is not None and found.favour else []


def _correction(
    ranked: RankedBy, part: LabelledPart, correction: Correction, seed: int
) -> Iterator[methods.Statement]:
    """Nothing where there are too few labels for any candidate: then no number is corrected."""
    if not correction.candidates:
        return
    results = ranked.system.results if ranked.system is not None else None
    kept = f"{ranked.dataset.path.name}, the columns of human labels"
    of_run = f"Tiebreak's store, run {results.run.id}, its annotations; {kept}" if results else kept
    yield methods.Statement(f"Human labels correct these numbers. {' '.join(part.remarks)}", of_run)
    drawn = (
        " Corrected Bradley-Terry scores are fitted to the likelihood corrected in the same way, with"
        f" intervals from {DRAWS:,} bootstrap samples of instructions (seed {seed})."
        if correction.bradley_terry is not None
        else ""
    )
    yield methods.Statement(
        "Corrected win rates are those of prediction-powered inference with a tuned weight"
        f" ({methods.ANGELOPOULOS.short}), with 95 % intervals by Wilson's formula"
        f" ({methods.WILSON.short}) and Student's t over labelled instructions.{drawn}",
        f"Tiebreak {VERSION}, docs/measures.md, A judge corrected by labels",
        (methods.ANGELOPOULOS, methods.WILSON),
    )
