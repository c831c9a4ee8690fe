"""A ranking of candidates: which sections there are, the words and columns for what each shows.

By whose labels candidates are ranked: annotators', a judge's on one criterion, or the weighted judge's.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from engine.core.errors import SetupError
from engine.core.formatting import INTERVAL, capitalised, counted, listed, percent, short_name, words
from engine.core.numeric import FloatArray
from engine.core.tables import (
    Column,
    Estimate,
    Fact,
    ItemsBehind,
    Kind,
    Picture,
    Row,
    Section,
    Sentences,
    Sheet,
    Table,
    Tone,
    Value,
)
from engine.data.dataset import Dataset
from engine.metrics.matching import System
from engine.ranking.bradley_terry import BradleyTerryScores, rank_in_words
from engine.ranking.comparisons import (
    PairComparisons,
    comparisons_of,
    human_said,
    in_words,
    system_said,
    winners_said,
)
from engine.ranking.labelled_part import RankedByLabels
from engine.ranking.length_control import LengthControl
from engine.ranking.ranking import Ranking
from engine.ranking.stopping import UntilSignificant, told_of, until_significant
from engine.ranking.weighted_scoring import WeightedScoring
from engine.report.correction import HintText, correction_sections
from engine.report.stopping import until_section
from engine.results.run_results import RunResults

_STOPPED = (
    "This run stopped at a significant result, or before: rates here and their intervals may be too far"
    " from 50 %. The intervals under “Resolved comparisons” are valid however often you look."
)


@dataclass(frozen=True, eq=False)
class RankedBy:
    """`said`: what was said of each item of the dataset, shape (items, 5), as Contests has it. `system`: by
    whom; None for annotators in the dataset. `criterion`: None for the weighted judge, whose
    `weighted_scoring` it is.
    """

    dataset: Dataset
    said: FloatArray
    criterion: str | None
    system: System | None = None
    weighted_scoring: WeightedScoring | None = None

    @classmethod
    def by_annotators(cls, dataset: Dataset, criterion: str) -> "RankedBy":
        """By the human labels of a dataset."""
        return cls(dataset, human_said(dataset, criterion), criterion)

    @classmethod
    def by_system(cls, system: System, dataset: Dataset, criterion: str) -> "RankedBy":
        """By a system's labels on the items of a dataset. SetupError where it lacks the criterion."""
        return cls(dataset, system_said(system, dataset, criterion), criterion, system)

    @classmethod
    def by_weights(cls, system: System, dataset: Dataset, weighted_scoring: WeightedScoring) -> "RankedBy":
        """By the winners of the weighted judge."""
        winners = {decision["id"]: decision["winner"] for decision in weighted_scoring.result["results"]}
        return cls(dataset, winners_said(winners, dataset), None, system, weighted_scoring)

    @property
    def title(self) -> str:
        """By whom on what, in words: `run 7, overall quality`."""
        whose = f"{self.dataset.name} by human labels" if self.system is None else self.system.name
        return f"{whose}, {'weighted judge' if self.criterion is None else words(self.criterion)}"

    @property
    def stopped(self) -> RunResults | None:
        """The run whose labels these are, where it stopped once something was clear, or before; else None."""
        results = self.system.results if self.system is not None else None
        return results if results is not None and results.run.stopped_early else None

    @property
    def remark(self) -> str:
        """What is to be said of such a run; empty of all others."""
        return _STOPPED if self.stopped is not None else ""

    @property
    def until(self) -> UntilSignificant | None:
        """What is clear of what a run was to answer before it stopped, by its judge alone, however often one
        looks; None of all others, and of the weighted judge.
        """
        results = self.stopped
        asked = results.run.until if results is not None else None
        if results is None or asked is None or self.criterion is None:
            return None
        with suppress(SetupError):  # nobody is named: comparisons say so
            return told_of(until_significant(self.dataset, self.criterion, asked), results)
        return None

    @property
    def judge(self) -> tuple[System, Dataset, str] | None:
        """Whose labels those of annotators may correct: a system on a criterion, on which items; else
        None.
        """
        if self.system is None or self.criterion is None:
            return None
        return self.system, self.dataset, self.criterion

    @property
    def comparisons(self) -> PairComparisons:
        """The comparisons of the dataset with what was said of them. SetupError as `comparisons_of` raises
        it.
        """
        return comparisons_of(self.dataset, self.said)


def stopped(*ranked: RankedBy) -> list[str]:
    """By whom on what, of those that are by a run which stopped once something was clear, or before."""
    return [by.title for by in ranked if by.stopped is not None]


_CANDIDATE = Column("candidate", "candidate", Kind.TEXT, "A model that wrote responses.")
_WIN_RATE = Column(
    "win_rate",
    "win rate (%)",
    Kind.ESTIMATE,
    f"The share of its comparisons that it won, in percent; a tie counts half. {INTERVAL}",
)
_STRENGTH = Column(
    "strength",
    "vs the mean (%)",
    Kind.ESTIMATE,
    "The win rate against a candidate with the mean Bradley-Terry score, in percent (model with ties)."
    f" It is fair even if candidates had different opponents. {INTERVAL}",
)
_RANK = Column(
    "rank",
    "rank",
    Kind.TEXT,
    "The possible ranks: below those that are significantly better, above those that are significantly"
    " worse. The family-wise error rate of all pairs is at most 5 %.",
)
_GROUP = Column(
    "group",
    "group",
    Kind.TEXT,
    "Candidates that share a letter do not differ significantly.",
)
_EQUAL_LENGTH = Column(
    "equal_length",
    "length-controlled (%)",
    Kind.ESTIMATE,
    "The win rate if both responses of each comparison had the same length, in percent, by a logistic"
    f" regression. {INTERVAL}",
)
_BY_LENGTH = Column(
    "by_length",
    "length effect",
    Kind.NUMBER,
    "The win rate minus the length-controlled one, in percentage points: what is due to length.",
    digits=1,
)
_TIES = (
    Column("both_good", "both good", Kind.SHARE, "The share of its comparisons labelled both good."),
    Column("both_bad", "both bad", Kind.SHARE, "The share of its comparisons labelled both bad."),
    Column("tie", "tie", Kind.SHARE, "The share of its comparisons labelled only “tie”."),
)
_COMPARISONS = Column(
    "contests", "comparisons", Kind.COUNT, "The number of labelled items with a response of this candidate."
)
_INSTRUCTIONS = Column(
    "instructions", "instructions", Kind.COUNT, "The number of instructions of these items."
)
_OF_LENGTHS = (
    Column("fact", "length", Kind.NAME, "A measure of the effect of length or position."),
    Column("value", "", Kind.FACT, f"In percent, or in log odds. {INTERVAL}"),
)
RANKING_FIGURE = "ranking"
"""The name of its figure: printing a report does not load the plotting library."""
_OF_PICTURE = (
    "A point for each candidate, its 95 % interval as a line. Thick lines at the right join candidates"
    " that do not differ significantly; the dotted line is a win rate of 50 %."
)
_A_RUN = re.compile(r"run \d+\b")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def ranking_sheet(
    ranking: Ranking,
    title: str,
    corrected: RankedByLabels | None = None,
    *,
    until: UntilSignificant | None = None,
    remark: str = "",
    word: HintText = str,
) -> Sheet:
    """All of a ranking; `title`: by whose labels, on which criterion; `corrected`: a judge's, by annotators.

    `until`: what a run was to answer before it stopped; `remark`: what its stopping does to all other
    numbers, empty for nothing. `word`: a hint in the words of whoever shows it.
    """
    is_corrected = corrected is not None and corrected.correction is not None
    caveats = [*([remark] if remark else ()), *ranking.caveats]
    sections = [_in_short(ranking, caveats, is_corrected)]
    sections += [until_section(until)] if until is not None else []
    sections += [_candidates(ranking), _pairs(ranking)]
    if ranking.lengths is not None:
        sections.append(_lengths(ranking, ranking.lengths))
    if corrected is not None:
        sections += correction_sections(corrected, word)
    return Sheet(f"{begun(title)}: {in_words(ranking.comparisons)}", sections)


def begun(title: str) -> str:
    """By whose labels, on which criterion, at the beginning: `Run 7, safety`; names of files as they are."""
    return capitalised(title) if _A_RUN.match(title) else title


def _in_short(ranking: Ranking, caveats: Sequence[str], is_corrected: bool) -> Section:
    said = list(_ranking_sheet_verdict(ranking))
    if is_corrected:
        said.append(
            "These numbers are uncorrected; the correction by human labels of a random part is below."
        )
    parts = [*([Sentences(caveats, Tone.CAVEAT)] if caveats else ()), Sentences(said)]
    return Section("in_short", "In short", parts)


def _ranking_sheet_verdict(ranking: Ranking) -> Iterator[str]:
    found = ranking.bradley_terry
    rates = ranking.rates.candidates
    if found is None:
        highest = max(rate.rate.value for rate in rates.values())
        best = [name for name in ranking.order if rates[name].rate.value == highest]
        have = "has" if len(best) == 1 else "have"
        yield (
            f"{listed(best, shown=short_name)} {have} the highest win rate, {percent(highest)}; nothing"
            f" shows that {'it is' if len(best) == 1 else 'one of them is'} the best."
        )
        return
    best_one = found.order[0]
    if found.are_equal:
        yield "All candidates are equally good."
    elif not found.rivals:
        rate = percent(rates[best_one].rate.value)
        yield f"{short_name(best_one)} is significantly the best: it wins {rate} of its comparisons."
    else:
        yield (
            f"{short_name(best_one)} ranks first, with {percent(found.scores[best_one].value)} against"
            f" the mean, but is not significantly better than {listed(found.rivals, shown=short_name)}."
        )
    count = len(found.names)
    pairs = counted(count * (count - 1) // 2, "pair", "pairs")
    told = int(found.better.sum())
    yield f"{told:,} of {pairs} of candidates {'is' if told == 1 else 'are'} significantly different."


def _candidates(ranking: Ranking) -> Section:
    return Section(
        "candidates",
        "Candidates",
        [candidate_table(ranking), Picture(RANKING_FIGURE, _OF_PICTURE)],
        "Sorted by Bradley-Terry score if comparisons connect all candidates, otherwise by win rate.",
        help=("Ranking",),
        spelt_out=True,
    )


def candidate_table(ranking: Ranking) -> Table:
    """A row for each candidate, the best first."""
    found, lengths = ranking.bradley_terry, ranking.lengths
    rates = ranking.rates.candidates
    ties = {name: (rate.good_ties, rate.bad_ties, rate.other_ties) for name, rate in rates.items()}
    good, bad, other = (any(shares[place] for shares in ties.values()) for place in range(len(_TIES)))
    # That no comparison ended so is said, too, but not next to unspecified ties.
    met = [*((0, 1) if good or bad or not other else ()), *((2,) if other else ())]
    columns = [
        _CANDIDATE,
        *((_RANK, _GROUP, _STRENGTH) if found else ()),
        _WIN_RATE,
        *((_EQUAL_LENGTH, _BY_LENGTH) if lengths and lengths.rates else ()),
        *(_TIES[place] for place in met),
        _COMPARISONS,
        _INSTRUCTIONS,
    ]
    rows: list[Row] = []
    for name in ranking.order:
        rate = rates[name]
        rows.append(
            [
                name,
                *(_order_cells(found, name) if found else ()),
                rate.rate,
                *(_length_cells(lengths, name, rate.rate) if lengths and lengths.rates else ()),
                *(ties[name][place] for place in met),
                rate.comparisons,
                rate.instructions,
            ]
        )
    behind = [items_behind(ranking, name) for name in ranking.order]
    return Table(columns, rows, behind=behind)


def items_behind(ranking: Ranking, name: str, other: str | None = None) -> ItemsBehind:
    """The labelled items with a response of a candidate; with those of an `other` one, both."""
    comparisons = ranking.comparisons
    places, _ = comparisons.of(comparisons.names.index(name))
    if other is not None:
        number = comparisons.names.index(other)
        places = places[(comparisons.first[places] == number) | (comparisons.second[places] == number)]
    written = (
        f"with a response of {short_name(name)}"
        if other is None
        else f"{short_name(name)} against {short_name(other)}"
    )
    return ItemsBehind(frozenset(comparisons.ids[place] for place in places), None, written)


def _order_cells(found: BradleyTerryScores, name: str) -> list[Value]:
    letters = [
        _LETTERS[place % len(_LETTERS)] * (1 + place // len(_LETTERS))
        for place, group in enumerate(found.groups)
        if name in group
    ]
    return [rank_in_words(found.ranks[name]), " ".join(letters), found.scores[name]]


def _length_cells(lengths: LengthControl, name: str, rate: Estimate) -> list[Value]:
    even = lengths.rates.get(name)
    return [even, None if even is None else 100 * (rate.value - even.value)]


def _pairs(ranking: Ranking) -> Section:
    return Section(
        "pairs",
        "Pairwise win rates",
        [pair_table(ranking)],
        "The win rate of the row's candidate against the column's, in percent; a tie counts half. If the"
        " whole interval is above 50, the row's candidate is significantly better (for this pair,"
        " uncorrected).",
    )


def pair_table(ranking: Ranking) -> Table:
    """A row and a column for each candidate, in the same order."""
    order, pairs = ranking.order, ranking.rates.pairs
    columns = [
        Column(
            f"against {place}",
            name,
            Kind.ESTIMATE,
            f"The win rate against {name}, in percent. {INTERVAL}",
            foreign=True,
            shaded=True,
        )
        for place, name in enumerate(order)
    ]
    rows: list[Row] = [
        [one, *(pairs[one, other].rate if (one, other) in pairs else "" for other in order)] for one in order
    ]
    met = {
        (row, 1 + column): (one, other)
        for row, one in enumerate(order)
        for column, other in enumerate(order)
        if (one, other) in pairs
    }
    return Table(
        [_CANDIDATE, *columns],
        rows,
        frozenset(cell for cell, pair in met.items() if pairs[pair].is_significantly > 0),
        [items_behind(ranking, one) for one in order],
        {cell: items_behind(ranking, *pair) for cell, pair in met.items()},
    )


def _lengths(ranking: Ranking, lengths: LengthControl) -> Section:
    rows: list[Row] = [["the longer response won (%)", Fact(Kind.ESTIMATE, lengths.longer_won)]]
    rows.append(["log odds that a much longer response wins", Fact(Kind.NUMBER, lengths.effect)])
    rows.append(["95 % interval of these log odds", Fact(Kind.INTERVAL, lengths.effect_ends)])
    rows.append(["response A won (%)", Fact(Kind.ESTIMATE, ranking.places)])
    low, high = lengths.effect_ends
    verdict = "The longer response wins more often than it would without its length."
    if not lengths.rates:
        verdict = (
            "Length and candidate are confounded here: the much longer candidate nearly always wins, or"
            " nearly always loses. Length-controlled win rates are omitted."
        )
    elif high < 0:
        verdict = "The shorter response wins more often than it would without its length."
    elif low <= 0:
        verdict = "Length has no significant effect on the winner."
    return Section(
        "lengths",
        "Length and position",
        [Table(_OF_LENGTHS, rows), Sentences([verdict])],
        "Labels cannot show whether longer responses are better or only preferred.",
    )


def place_columns() -> tuple[Column, Column, Column]:
    """The columns of a candidate, its rank and its score, for other tables."""
    return _CANDIDATE, _RANK, _STRENGTH
