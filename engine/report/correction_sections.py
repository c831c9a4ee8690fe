"""A judge's ranking corrected by people's labels, and how many labels it takes, as sections of a sheet.

Knows: titles, columns, meanings, sentences. Does not know: how it is computed, terminals, HTML, windows.
"""

from collections.abc import Callable, Iterator

from engine.core.errors import SetupError
from engine.core.formatting import counted, listed, short_name, words
from engine.core.measure_words import INTERVAL
from engine.core.remedies import Remedy
from engine.core.sheets import Section, Sentences, Tone
from engine.core.value_tables import Column, Estimate, Kind, Row, Table
from engine.measure.intervals import FEW
from engine.rank.by_labels import ByLabels
from engine.rank.corrected import Corrected
from engine.rank.correction import Correction
from engine.rank.how_many import COST, TYPICAL, HowMany
from engine.rank.ranking import ties_caveat

Word = Callable[[Remedy | str], str]

_CANDIDATE = Column("candidate", "candidate", Kind.TEXT, "A model that wrote responses.")
_PAIR = (
    Column("one", "candidate", Kind.TEXT, "A model that wrote responses."),
    Column("other", "against", Kind.TEXT, "The one that it met."),
)
_LABEL = Column("label", "label", Kind.NAME, "A label, whichever candidates it is of.")
_STRENGTH = Column(
    "strength",
    "vs the mean (%)",
    Kind.ESTIMATE,
    "What it would win against a candidate of mean strength, in percent, by the Bradley-Terry model with"
    f" ties, corrected. {INTERVAL}",
)
_CORRECTED = (
    Column(
        "corrected",
        "corrected (%)",
        Kind.ESTIMATE,
        "What people would say, in percent: their labels of a part, and the judge's word on all as far as it"
        f" says the same. {INTERVAL}",
    ),
    Column(
        "of_these",
        "of these items",
        Kind.SHARE_INTERVAL,
        "Where it would lie if people labelled the rest of these very items: of a hundred such intervals 95"
        " hold it. Narrower, for other items would differ besides.",
    ),
    Column(
        "labels",
        "labels alone (%)",
        Kind.ESTIMATE,
        f"By people's labels alone, in percent. {INTERVAL}",
    ),
    Column("judge", "judge alone", Kind.SHARE, "By the judge alone, on all items, as it reads them."),
    Column(
        "weight",
        "weight",
        Kind.NUMBER,
        "How much of the judge's word counts, 0 to 1: as much as makes the interval narrowest. At 0 the judge"
        " adds nothing, and the labels stand alone.",
    ),
    Column(
        "worth",
        "worth",
        Kind.NUMBER,
        "With the judge the labels say as much as so many times as many would say alone.",
        digits=1,
    ),
    Column("labelled", "labelled", Kind.COUNT, "How many of its items people labelled."),
    Column("items", "items", Kind.COUNT, "How many items it has a part in."),
)
_MORE = (
    Column("more", "labels more", Kind.COUNT, "Labels of the random sample beside those that there are."),
    Column(
        "half",
        "± points",
        Kind.NUMBER,
        "Half the width of the interval of a candidate's corrected win rate, in points.",
        digits=1,
    ),
)
_CORRELATION = Column(
    "correlation",
    "correlation",
    Kind.NUMBER,
    "Of the judge with people, in what A wins of an item: 1 is a judge that always says what people say.",
)
_NEEDED = (
    Column(
        "points",
        "to tell apart",
        Kind.NUMBER,
        "Two candidates whose rates are so many points apart.",
        digits=0,
    ),
    Column("items", "items", Kind.COUNT, "So many items must the judge have read."),
    Column("labels", "labelled", Kind.COUNT, "So many of them must people have labelled, at random."),
    Column("alone", "without a judge", Kind.COUNT, "So many labels would it take by labels alone."),
)
_NEXT_TO_NOTHING = 1.05  # times as many labels
_ROUGH_BELOW = 100  # labels
_LOOKING = (
    "Choose the number before you label. Who looks at the interval again and again, and stops where it is"
    " narrow or clear enough, is wrong more often than in one of twenty."
)


def correction_sections(found: ByLabels, word: Word = str) -> list[Section]:
    """What labels make of the judge's word, or why they cannot; and how many it takes.

    `word`: a remedy in the words of whoever shows it.
    """
    sections = []
    if found.refused is not None:
        sections.append(_refused(found.refused, word))
    elif found.correction is not None:
        sections.append(_corrected(found, found.correction))
    elif found.part is not None:
        everything = "All items have a label of people: there is nothing to correct. Rank by these labels."
        sections.append(Section("corrected", "Corrected by labels", [Sentences([everything])]))
    if found.how_many is not None:
        sections.append(_how_many(found.how_many))
    return sections


def _refused(refused: SetupError, word: Word) -> Section:
    said = [f"Not corrected. {refused.problem}", word(refused.remedy)]
    return Section("corrected", "Corrected by labels", [Sentences(said, Tone.CAVEAT)])


def _corrected(found: ByLabels, correction: Correction) -> Section:
    picked = found.part.remarks if found.part else ()
    parts: list[Sentences | Table] = [Sentences([*_what_it_adds(correction), *picked])]
    parts += [
        table
        for table in (corrected_candidates(correction), pairs(correction), shares(correction))
        if table.rows
    ]
    return Section(
        "corrected",
        "Corrected by labels",
        parts,
        "Prediction-powered inference: right whatever the judge is worth, and surer where it says what people"
        " say.",
        spelt_out=True,
    )


def _what_it_adds(correction: Correction) -> Iterator[str]:
    labels = f"{correction.labelled:,} of {counted(correction.items, 'item', 'items')}"
    if correction.candidates and correction.is_helped and correction.worth < _NEXT_TO_NOTHING:
        yield f"To candidates' win rates the judge adds next to nothing beyond labels of {labels}."
    elif correction.candidates and correction.is_helped:
        yield (
            f"Labels of {labels}, with the judge on all, say as much of candidates' win rates as"
            f" {correction.worth:.1f} times as many labels alone (of half of the candidates more, of half"
            " less)."
        )
        if correction.are_held:
            yield (
                "Intervals are not narrower by as much, for labels are few: what a judge misses once in"
                " twenty items may not show yet."
            )
    elif correction.candidates:
        yield f"The judge adds nothing to labels of {labels}: what is shown is by these labels alone."
    if correction.correlation is not None:
        yield (
            f"The judge's correlation with people is {correction.correlation:.2f}, in what A wins of the"
            " labelled items."
        )
    if correction.unlabelled:
        yield (
            f"Too few labels, on fewer than {FEW} instructions, for"
            f" {listed(correction.unlabelled, shown=short_name)}: no win rate of theirs is corrected."
        )
    if correction.too_many_missing:
        yield (
            f"Strengths are not corrected: {correction.missing:,} of the"
            f" {correction.labelled + correction.missing:,} items that belong to the random part have no"
            " label, and by how much these would move a strength is not known. Label them, then it is."
        )
    if correction.strengths is not None:
        best, rivals = short_name(correction.strengths.order[0]), correction.strengths.rivals
        yield (
            f"Corrected, {best} stands first, but cannot be told from {listed(rivals, shown=short_name)}."
            if rivals
            else f"Corrected, {best} is surely the strongest."
        )
    yield from ties_caveat(correction.strengths)


def corrected_candidates(correction: Correction) -> Table:
    """A row for each candidate with enough labels, the best first."""
    found = correction.strengths
    rows: list[Row] = []
    for name, one in sorted(correction.candidates.items(), key=lambda each: -each[1].rate.value):
        strength = [found.scores[name]] if found else []
        rows.append([name, *_cells(one), *strength])
    return Table([_CANDIDATE, *_CORRECTED, *((_STRENGTH,) if found else ())], rows)


def pairs(correction: Correction) -> Table:
    """A row for each pair with enough labels, the one that wins first; of equals in the order of names."""
    rows: list[Row] = [
        [*names, *_cells(one)]
        for names, one in correction.pairs.items()
        if one.rate.value > 0.5 or (one.rate.value == 0.5 and names[0] < names[1])
    ]
    return Table([*_PAIR, *_CORRECTED], rows)


def shares(correction: Correction) -> Table:
    """A row for each label."""
    rows: list[Row] = [[words(name), *_cells(one)] for name, one in correction.shares.items()]
    return Table([_LABEL, *_CORRECTED], rows)


def _cells(one: Corrected) -> Row:
    rate: Estimate = one.rate
    return [rate, one.of_these, one.labels, one.judge, one.weight, one.worth, one.labelled, one.items]


def _how_many(found: HowMany) -> Section:
    parts: list[Sentences | Table] = [Sentences(list(_reach(found)))]
    if found.with_more and found.half is not None:
        halves = {0: found.half, **found.with_more}
        parts.append(Table(_MORE, [[more, 100 * half] for more, half in halves.items()]))
    rows: list[Row] = [
        [
            *(() if found.is_own else (correlation,)),  # its own is said above
            100 * each.difference,
            each.items,
            each.labels,
            each.alone,
        ]
        for correlation, each_needed in found.needed.items()
        for each in each_needed
    ]
    columns = _NEEDED if found.is_own else (_CORRELATION, *_NEEDED)
    parts += [Table(columns, rows), Sentences([_LOOKING])]
    return Section(
        "how_many",
        "How many labels",
        parts,
        "For the middle one of all pairs of candidates, in four of five samples, by a test at 5 %. A label is"
        f" taken to cost as much as {COST} items that the judge reads.",
        spelt_out=True,
    )


def _reach(found: HowMany) -> Iterator[str]:
    if found.is_own and found.smallest is not None and found.smallest_alone is not None:
        yield (
            f"{counted(found.labels, 'label', 'labels')} on {counted(found.items, 'item', 'items')} show"
            f" differences of two win rates from {100 * found.smallest:.1f} points on; by labels alone from"
            f" {100 * found.smallest_alone:.1f}."
        )
    first = next(iter(found.needed.values())) if found.is_own else found.needed[TYPICAL[-1]]
    least = first[0]
    like = "like this" if found.is_own else f"whose correlation with people is {TYPICAL[-1]:g}"
    yield (
        f"To tell {100 * least.difference:g} points apart you need about {least.items:,} items, of which"
        f" {least.labels:,} labelled, with a judge {like}; without a judge {least.alone:,} labels."
    )
    if not found.is_own:
        yield (
            "How this judge agrees with people is not known before enough labels are there; these are typical"
            " correlations: GPT-3.5 had .59 on the pairs of PandaLM, and one annotator .90 with the others."
        )
    elif found.labels < _ROUGH_BELOW:
        yield f"The correlation is of {found.labels:,} labels: these numbers are rough."
