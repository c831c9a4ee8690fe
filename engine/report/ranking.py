"""A ranking of candidates: its sections, its figure, its CSV, and what of it goes into a paper."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from engine.core.formatting import INTERVAL, capitalised, counted, listed, percent, short_name, visible
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
)
from engine.data.submission import quoted_cell
from engine.ranking.bradley_terry import rank_in_words
from engine.ranking.comparisons import in_words
from engine.ranking.labelled_part import RankedByLabels
from engine.ranking.length_control import LengthControl
from engine.ranking.ranking import Ranking, ranking_json
from engine.ranking.stopping import UntilSignificant
from engine.report import drawing
from engine.report.columns import CANDIDATE
from engine.report.correction import HintText, corrected_candidates, corrected_in_short, correction_sections
from engine.report.stopping import until_section

_WIN_RATE = Column("win_rate", "win rate (%)", Kind.ESTIMATE).means(
    f"The share of its comparisons that it won, in percent; a tie counts half. {INTERVAL}"
)
STRENGTH = Column("strength", "vs the mean (%)", Kind.ESTIMATE).means(
    "The win rate against a candidate with the mean Bradley-Terry score, in percent (model with ties)."
    f" It is fair even if candidates had different opponents. {INTERVAL}"
)
_ELO = Column("elo", "Elo", Kind.NUMBER, digits=0).means(
    "The Bradley-Terry score as an Elo rating: the mean of the candidates is 1500, and 400 points are odds of"
    " 10 to 1 that a candidate wins rather than loses. Its interval is in the JSON."
)
RANK = Column("rank", "rank", Kind.TEXT).means(
    "The possible ranks: below those that are significantly better, above those that are significantly"
    " worse. The family-wise error rate of all pairs is at most 5 %."
)
_GROUP = Column("group", "group", Kind.TEXT, "Candidates that share a letter do not differ significantly.")
_MIXED = Column("mixed", "for the mix (%)", Kind.ESTIMATE).means(
    f"The win rates on the slices of the stated mix, weighted by its shares, in percent. {INTERVAL}"
)
_EQUAL_LENGTH = Column("equal_length", "length-controlled (%)", Kind.ESTIMATE).means(
    "The win rate if both responses of each comparison had the same length, in percent, by a logistic"
    " regression. It depends on the other candidates: with one against a baseline it rests on that one's"
    f" lengths alone, with many on those of all. Compare only rates of one table. {INTERVAL}"
)
_EQUAL_STYLE = Column("equal_style", "style-controlled (%)", Kind.ESTIMATE).means(
    "The win rate if both responses of each comparison also had as many items of lists, headings and bold"
    f" parts, in percent. Compare only rates of one table. {INTERVAL}"
)
_BY_LENGTH = Column("by_length", "length effect", Kind.NUMBER, digits=1).means(
    "The win rate minus the length-controlled one, in percentage points: what is due to length."
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
    `until`: what a run was to answer before it stopped; `remark`: what its stopping does to other numbers.
    """
    by_labels = None if corrected is None else corrected_in_short(corrected, word)
    caveats = [*([remark] if remark else ()), *ranking.caveats]
    said = list(_verdict(ranking))
    if by_labels is not None and by_labels.tone is not Tone.CAVEAT:
        said[0] = f"By the judge only, uncorrected: {said[0]}"
    first = [by_labels] if by_labels is not None else []
    parts = [*first, *([Sentences(caveats, Tone.CAVEAT)] if caveats else ()), Sentences(said)]
    sections = [Section("in_short", "In short", parts)]
    sections += [until_section(until)] if until is not None else []
    sections += [_candidates(ranking), _pairs(ranking)]
    if ranking.lengths is not None:
        sections.append(_lengths(ranking, ranking.lengths))
    if corrected is not None:
        sections += correction_sections(corrected)
    return Sheet(f"{begun(title)}: {in_words(ranking.comparisons)}", sections)


def begun(title: str) -> str:
    """By whose labels, on which criterion, at the beginning: `Run 7, safety`; names of files as they are."""
    return capitalised(title) if _A_RUN.match(title) else title


def _verdict(ranking: Ranking) -> Iterator[str]:
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
    found, lengths = ranking.bradley_terry, ranking.lengths
    style = ranking.style.rates if ranking.style is not None else {}
    rates = ranking.rates.candidates
    ties = {name: (rate.good_ties, rate.bad_ties, rate.other_ties) for name, rate in rates.items()}
    good, bad, other = (any(shares[place] for shares in ties.values()) for place in range(len(_TIES)))
    # That no comparison ended so is said, too, but not next to unspecified ties.
    met = [*((0, 1) if good or bad or not other else ()), *((2,) if other else ())]
    columns = [
        CANDIDATE,
        *((RANK, _GROUP, STRENGTH, _ELO) if found else ()),
        _WIN_RATE,
        *((_MIXED,) if ranking.mixed else ()),
        *((_EQUAL_LENGTH, _BY_LENGTH) if lengths and lengths.rates else ()),
        *((_EQUAL_STYLE,) if style else ()),
        *(_TIES[place] for place in met),
        _COMPARISONS,
        _INSTRUCTIONS,
    ]
    letters: dict[str, list[str]] = {name: [] for name in ranking.order}
    for place, group in enumerate(found.groups if found else ()):
        for name in group:
            letters[name].append(_LETTERS[place % len(_LETTERS)] * (1 + place // len(_LETTERS)))
    rows: list[Row] = []
    for name in ranking.order:
        row: list[Any] = [name]
        rate = rates[name]
        if found:
            row += [
                rank_in_words(found.ranks[name]),
                " ".join(letters[name]),
                found.scores[name],
                found.elo[name].value,  # its interval is that of the score; a page has no room for both
            ]
        row += [rate.rate, *([ranking.mixed.get(name)] if ranking.mixed else ())]
        if lengths and lengths.rates:
            even = lengths.rates.get(name)
            row += [even, None if even is None else 100 * (rate.rate.value - even.value)]
        row += [style.get(name)] if style else []
        row += [*(ties[name][place] for place in met), rate.comparisons, rate.instructions]
        rows.append(row)
    behind = [items_behind(ranking, name) for name in ranking.order]
    return Table(columns, rows, behind=behind)


def items_behind(ranking: Ranking, name: str, other: str | None = None) -> ItemsBehind:
    """The labelled items with a response of a candidate; with those of an `other` one, both."""
    place, shown = ranking.comparisons.names.index, short_name(name)
    if other is None:
        return ItemsBehind(ranking.ids_of[place(name)], None, f"with a response of {shown}")
    low, high = sorted((place(name), place(other)))
    return ItemsBehind(ranking.ids_between[low, high], None, f"{shown} against {short_name(other)}")


def _pairs(ranking: Ranking) -> Section:
    many = len(ranking.order) > _MOST_IN_TABLE
    best = f"The {_MOST_IN_TABLE} best candidates; JSON and CSV have all pairs that met."
    return Section(
        "pairs",
        "Pairwise win rates",
        [*([Sentences([best])] if many else ()), pair_table(ranking, _MOST_IN_TABLE)],
        "The win rate of the row's candidate against the column's, in percent; a tie counts half. If the"
        " whole interval is above 50, the row's candidate is significantly better (for this pair,"
        " uncorrected).",
    )


_MOST_IN_TABLE = 100  # a row and a column each: a thousand would be seven megabytes of text


def pair_table(ranking: Ranking, most: int | None = None) -> Table:
    """The win rate of each candidate against each other, of the best ones if there are more than `most`."""
    order, pairs = ranking.order[:most], ranking.rates.pairs
    columns = [
        Column(f"against {place}", name, Kind.ESTIMATE, foreign=True, shaded=True).means(
            f"The win rate against {name}, in percent. {INTERVAL}"
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
        [CANDIDATE, *columns],
        rows,
        frozenset(cell for cell, pair in met.items() if pairs[pair].is_significantly > 0),
        [items_behind(ranking, one) for one in order],
        {cell: items_behind(ranking, *pair) for cell, pair in met.items()},
    )


_SHRUNK = (
    " All candidates meet one baseline: these log odds are about a tenth too small, so they have no interval."
)


def _lengths(ranking: Ranking, lengths: LengthControl) -> Section:
    rows: list[Row] = [
        ["the longer response won (%)", Fact(Kind.ESTIMATE, lengths.longer_won)],
        ["log odds that a much longer response wins", Fact(Kind.NUMBER, lengths.effect)],
    ]
    if not lengths.shrunk:
        rows.append(["95 % interval of these log odds", Fact(Kind.INTERVAL, lengths.effect_ends)])
    rows.append(["response A won (%)", Fact(Kind.ESTIMATE, ranking.places)])
    for name, effect in ranking.style.effects.items() if ranking.style is not None else ():
        rows.append([f"log odds of much more: {name}, at equal style", Fact(Kind.MEASURE, effect)])
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
        "Labels cannot show whether longer responses are better or only preferred."
        + (_SHRUNK if lengths.shrunk else ""),
    )


_ROW = 0.24  # inches
_GROUP_STEP = 0.022  # of the width, between the lines of two groups


def ranking_figure(ranking: Ranking, title: str, dark: bool = False) -> drawing.Figure:
    """A row for each candidate, the best first: what it would win against one of the mean score, else its win
    rate; lines at the right join those that do not differ significantly.
    """
    shown, name = _estimates(ranking), f"{drawing.drawable(begun(title))}, with 95 % intervals"
    with drawing.new_panels(1.1 + _ROW * max(len(shown), 3), name, dark) as (figure, [axes], theme):
        rows = range(len(shown))
        for row, estimate in zip(rows, shown.values(), strict=True):
            if estimate.ends is not None:
                ends = [100 * end for end in estimate.ends]
                axes.plot(ends, [row, row], color=theme.judge, linewidth=1.6, marker="|", markersize=6)
            axes.plot(100 * estimate.value, row, marker="o", markersize=5, color=theme.text, zorder=3)
        axes.axvline(50, color=theme.muted, linestyle=":", linewidth=1.2)
        axes.set_yticks(rows, [drawing.drawable(name) for name in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.set_xlabel(f"{_measure(ranking)} (%)")
        axes.grid(axis="x")
        _draw_groups(axes, _groups(ranking), list(shown), theme)
    return figure


def ranking_in_words(ranking: Ranking) -> str:
    shown = [f"{name} {estimate} %" for name, estimate in _estimates(ranking).items()]
    groups = "; ".join(", ".join(group) for group in _groups(ranking))
    apart = f" Not significantly different: {groups}." if groups else ""
    points = f"Points with 95 % intervals of the {_measure(ranking)}, the best first."
    return f"{points} {'; '.join(shown)}.{apart}"


def _measure(ranking: Ranking) -> str:
    return "win rate against the mean candidate" if ranking.bradley_terry else "win rate"


def _estimates(ranking: Ranking) -> Mapping[str, Estimate]:
    found, rates = ranking.bradley_terry, ranking.rates.candidates
    return {name: found.scores[name] if found else rates[name].rate for name in ranking.order}


def _groups(ranking: Ranking) -> Sequence[Sequence[str]]:
    """Those of two candidates or more."""
    found = ranking.bradley_terry
    return [group for group in found.groups if len(group) > 1] if found else []


def _draw_groups(
    axes: drawing.Axes, groups: Sequence[Sequence[str]], names: Sequence[str], theme: drawing.Theme
) -> None:
    """A line for each group next to the rows of its candidates, a thin one past all others."""
    from matplotlib.transforms import blended_transform_factory  # noqa: PLC0415

    beside = blended_transform_factory(axes.transAxes, axes.transData)
    parts: dict[str, Any] = {"transform": beside, "color": theme.marked, "clip_on": False}
    ends: list[float] = []  # where the last line of each column at the right ends: the next one may follow it
    for group in groups:
        places = [names.index(name) for name in group]
        gaps = [at for at, (one, other) in enumerate(pairwise(places), 1) if other > one + 1]
        # The first and the last of rows that follow each other without a gap.
        runs = [(places[start], places[end - 1]) for start, end in pairwise([0, *gaps, len(places)])]
        rows = [runs[0][0] - 0.25, runs[-1][1] + 0.25]
        column = next((place for place, end in enumerate(ends) if end < rows[0]), len(ends))
        ends[column : column + 1] = [rows[1]]
        x = 1.02 + _GROUP_STEP * column
        if len(runs) > 1:
            axes.plot([x, x], rows, linewidth=0.6, **parts)
        for first, last in runs:
            axes.plot([x, x], [first - 0.25, last + 0.25], linewidth=2.2, **parts)


def ranking_report_figure(ranking: Ranking, title: str) -> drawing.ReportFigure:
    """The figure of a ranking; `title`: by whose labels, on which criterion."""
    draw = partial(ranking_figure, ranking, title)
    return drawing.ReportFigure(draw, ranking_in_words(ranking), candidate_table(ranking))


_IN_A_PAPER = frozenset(
    ("candidate", "rank", "strength", "win_rate", "equal_length", "contests", "corrected", "labels", "judge")
)
"""The columns that a page is wide enough for."""
_BRACKETS = "Brackets: 95 % intervals over instructions."


def ranking_csv(ranking: Ranking, corrected: RankedByLabels | None = None) -> bytes:
    """A row for each candidate, the best first, then for each pair that met, in both directions: `against`
    names the opponent. UTF-8, values as in the JSON of a ranking; an interval has two columns; empty: not
    known.
    """
    made = ranking_json(ranking, corrected)
    rows = [dict(_flat(row)) for row in (*made["candidates"], *made["pairs"])]
    names = dict.fromkeys(("name", "against", *(name for row in rows for name in row)))
    found = [[row.get(name) for name in names] for row in rows]
    cells = [["" if value is None else visible(str(value)) for value in values] for values in found]
    lines = [",".join(quoted_cell(cell, ",") for cell in line) for line in (list(names), *cells)]
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


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


def paper_sheet(ranking: Ranking, title: str, corrected: RankedByLabels | None = None) -> Sheet:
    """The candidates, as wide as a paper's page, and corrected by human labels; `title`: by whose."""
    sections = [Section("ranking", "", [_narrow(candidate_table(ranking))], _BRACKETS)]
    correction = corrected.correction if corrected else None
    if correction is not None and correction.candidates:
        of = f"{correction.labelled:,} of {counted(correction.items, 'item', 'items')}"
        table = _narrow(corrected_candidates(correction))
        caption = f"Candidates, corrected by human labels on {of}"
        sections.append(Section("ranking-corrected", caption, [table], _BRACKETS))
    return Sheet(f"{title}: {in_words(ranking.comparisons)}", sections)


def _narrow(table: Table) -> Table:
    kept = [place for place, column in enumerate(table.columns) if column.key in _IN_A_PAPER]
    columns = [table.columns[place] for place in kept]
    return Table(columns, [[row[place] for place in kept] for row in table.rows])
