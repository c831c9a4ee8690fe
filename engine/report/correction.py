"""A judge's ranking corrected by human labels, whom the judge favours, and how many labels it takes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from engine.core.errors import Hint, SetupError
from engine.core.formatting import INTERVAL, counted, listed, points, short_name, words
from engine.core.tables import Column, Kind, Part, Row, Section, Sentences, Table, Tone
from engine.metrics.intervals import FEW
from engine.ranking.correction import Corrected, Correction
from engine.ranking.favour import Favour
from engine.ranking.labelled_part import COST, TYPICAL, CorrectedShares, RankedByLabels, SampleSize
from engine.ranking.ranking import ties_caveat
from engine.report.columns import CANDIDATE, CRITERION, cells

HintText = Callable[[Hint | str], str]

_PAIR = (replace(CANDIDATE, key="one"), Column("other", "against", Kind.TEXT, "The one that it met."))
_LABEL = Column("label", "label", Kind.NAME, "A label, of any candidates.")
_STRENGTH = Column("strength", "vs the mean (%)", Kind.ESTIMATE).means(
    "The corrected win rate against a candidate with the mean Bradley-Terry score, in percent (model"
    f" with ties). {INTERVAL}"
)
_CORRECTED = (
    Column("corrected", "corrected (%)", Kind.ESTIMATE).means(
        "The estimated rate by human labels, in percent: from the labels of a part and the judge's"
        f" labels of all items, as far as the judge agrees with the annotators. {INTERVAL}"
    ),
    Column("of_these", "of these items", Kind.SHARE_INTERVAL).means(
        "The 95 % interval for the rate if annotators labelled the rest of these same items. It is"
        " narrower, because it does not cover how other items would differ."
    ),
    Column("labels", "labels only (%)", Kind.ESTIMATE, f"By human labels only, in percent. {INTERVAL}"),
    Column("judge", "judge only", Kind.SHARE, "By the judge only, on all items, uncorrected."),
    Column("weight", "weight", Kind.NUMBER).means(
        "The weight of the judge's predictions, 0 to 1, chosen to make the interval narrowest. At 0 the"
        " judge adds nothing to the labels."
    ),
    Column("worth", "worth", Kind.NUMBER, digits=1).means(
        "Effective sample size: with the judge, the labels are worth this many times as many labels."
    ),
    Column("labelled", "labelled", Kind.COUNT, "How many of its items have human labels."),
    Column("items", "items", Kind.COUNT, "How many items it takes part in."),
)
_PART = Column("part", "slice", Kind.NAME, "The items that it is a share of.")
_PPI = (
    "Prediction-powered inference: valid for any judge, and more precise if the judge agrees with the"
    " annotators."
)
_FAVOUR = (
    Column("favour", "judge − labels", Kind.ESTIMATE).means(
        "The win rate by the judge minus that by human labels, in percentage points, on items that both"
        f" labelled: above 0, the judge favours the candidate. {INTERVAL}"
    ),
    Column("p_holm", "p, Holm", Kind.NUMBER, digits=4, least=0.0001).means(
        "p that the difference is 0, corrected by Holm's method for all rows: significant below .05."
    ),
    Column("items", "items", Kind.COUNT, "The number of its items that both labelled."),
    Column("instructions", "instructions", Kind.COUNT, "The number of instructions of these items."),
)
_FEATURE = Column("feature", "much more of", Kind.NAME).means(
    "A has much more of it than B: more characters, items of lists, headings, bold parts, code, or English"
    " words of the first person, of hedging, of refusals; or it is more like the reference answer (ROUGE-L)."
    " Position A: the response stood as A."
)
_BY_FEATURE = (
    Column("favour", "judge − labels", Kind.ESTIMATE).means(
        "By how much this moves A's win rate by the judge away from that by human labels, in percentage"
        f" points, all other features alike: above 0, the judge favours it. {INTERVAL}"
    ),
    _FAVOUR[1],
    replace(_FAVOUR[2], title="differ", meaning="The number of labelled items where A and B differ in it."),
)
_OTHERS = (
    "A calibration fitted on labels of some candidates need not hold for others: the judge's errors depend on"
    " the candidate."
)
_MORE = (
    Column("more", "additional labels", Kind.COUNT).means(
        "Labels of the random sample, in addition to the present ones."
    ),
    Column("half", "± points", Kind.NUMBER, digits=1).means(
        "Half the width of the interval of a candidate's corrected win rate, in percentage points."
    ),
)
_CORRELATION = Column("correlation", "correlation", Kind.NUMBER).means(
    "The correlation of the judge with the annotators in A's win per item: 1 if the judge always agrees"
    " with them."
)
_NEEDED = (
    Column("points", "difference", Kind.NUMBER, digits=0).means(
        "The difference of two candidates' win rates that is to be detected, in percentage points."
    ),
    Column("items", "items", Kind.COUNT, "The number of items that the judge needs to read."),
    Column("labels", "labelled", Kind.COUNT).means(
        "The number of these that annotators need to label, sampled at random."
    ),
    Column(
        "alone", "without a judge", Kind.COUNT, "The number of labels that would be needed without a judge."
    ),
)
_NEXT_TO_NOTHING = 1.05  # times as many labels
_ROUGH_BELOW = 100  # labels
_LOOKING = (
    "Choose the number before you label. Checking the interval repeatedly and stopping once it is narrow"
    " enough raises the error rate above one in twenty."
)


def favour_sections(found: RankedByLabels | None) -> list[Section]:
    """Whom and what the judge favours, as far as labels show it."""
    sections = [_favour(found)] if found is not None and (found.favour or found.same_family) else []
    return [*sections, *([_features(found)] if found is not None and found.features else ())]


def corrected_in_short(found: RankedByLabels, word: HintText = str) -> Sentences | None:
    """Who is best by human labels and the judge together, or why labels correct nothing; `word`: words a
    hint. None without labels, or where all have one.
    """
    if found.refused is not None:
        said = [f"Not corrected. {found.refused.problem}", word(found.refused.hint)]
        return Sentences(said, Tone.CAVEAT)
    if (correction := found.correction) is None:
        return None
    by = f"Corrected by {counted(correction.labelled, 'human label', 'human labels')}"
    if correction.bradley_terry is None:
        return Sentences([f"{by}, no candidate is shown to be the best: label more items at random."])
    best, rivals = short_name(correction.bradley_terry.order[0]), correction.bradley_terry.rivals
    if rivals:
        as_good = listed(rivals, shown=short_name)
        more = "label more items at random to find out"
        return Sentences([f"{by}, {best} ranks first, but {as_good} may be as good: {more}."])
    return Sentences([f"{by}, {best} is significantly the best."])


def share_sections(found: Mapping[str, CorrectedShares | SetupError]) -> list[Section]:
    """The shares of labels, corrected by human ones, by criterion and slice; nothing where none is."""
    rows: list[Row] = []
    said: dict[str, None] = {}
    for name, of_one in found.items():
        if isinstance(of_one, SetupError):
            said[f"Not corrected on {words(name)}. {of_one.problem}"] = None
            continue
        said |= dict.fromkeys(of_one.part.remarks)
        for part, shares in of_one.shares.items():
            rows += [[words(name), part, words(label), *_cells(one)] for label, one in shares.items()]
    table = Table([CRITERION, _PART, _LABEL, *_CORRECTED], rows)
    title = "Shares of labels, corrected by human labels"
    return [Section("shares", title, [Sentences([*said]), table], _PPI, spelt_out=True)] if rows else []


def correction_sections(found: RankedByLabels) -> list[Section]:
    """What labels make of the judge's predictions."""
    sections = []
    if found.correction is not None:
        sections.append(_corrected(found, found.correction))
    elif found.part is not None:
        everything = "All items have a human label, so there is nothing to correct. Rank by these labels."
        sections.append(Section("corrected", "Corrected by human labels", [Sentences([everything])]))
    sections += favour_sections(found)
    if found.sample_size is not None:
        sections.append(_how_many(found.sample_size))
    return sections


def _favour(found: RankedByLabels) -> Section:
    related = [
        f"Of the judge's own family, by name or file ({family}):"
        f" {listed(names, shown=short_name)}. Judges often favour such candidates. Whether this one does,"
        f" {'the table shows' if set(names) & found.favour.keys() else 'only human labels can show'}."
        for family, names in found.same_family.items()
    ]
    measured: list[Part] = []
    if found.favour:
        measured = [Sentences(list(_whom(found))), favour_table(found.favour)]
    return Section(
        "favour",
        "Candidates that the judge favours",
        [*([Sentences(related, Tone.CAVEAT)] if related else ()), *measured],
        "Random errors of a judge also take from the best candidates and give to the weakest ones."
        if measured
        else "",
        spelt_out=True,
    )


def _whom(found: RankedByLabels) -> Iterator[str]:
    told = {name: one.difference.value for name, one in found.favour.items() if one.is_significant}
    if not told:
        most = max(one.at_most for one in found.favour.values())
        yield (
            "No candidate is significantly favoured, nor judged too strictly: by the intervals, no win rate"
            f" by this judge is more than {points(most)} from that by human labels."
        )
        return
    for does, sign in (("favours", 1), ("is harder than annotators on", -1)):
        shown = [f"{short_name(name)} (by {points(abs(by))})" for name, by in told.items() if sign * by > 0]
        if shown:
            yield f"This judge {does} {listed(shown, shown=str)}."
    named = {each for name in told for each in found.favour[name].members or (name,)}
    corrected = found.correction is not None and named <= found.correction.candidates.keys()
    yield f"Rank by {'the corrected win rates' if corrected else 'human labels'} instead. {_OTHERS}"


def favour_table(favour: Mapping[str, Favour]) -> Table:
    """A row for each candidate, the most favoured first, then for each family of several."""
    rows: list[Row] = [[name, one.difference, *cells(one, _FAVOUR[1:])] for name, one in favour.items()]
    return Table([CANDIDATE, *_FAVOUR], rows)


def _features(found: RankedByLabels) -> Section:
    told = {name: one.difference.value for name, one in found.features.items() if one.is_significant}
    more = [f"{name} ({100 * by:+.1f} points)" for name, by in told.items()]
    said = "No feature significantly moves this judge away from the human labels."
    if more:
        said = f"What significantly moves this judge away from the human labels: {listed(more, shown=str)}."
    return Section(
        "features",
        "What moves the judge away from people",
        [Sentences([said]), feature_table(found.features)],
        "Random errors of a judge look like too little of what people like.",
        spelt_out=True,
    )


def feature_table(features: Mapping[str, Favour]) -> Table:
    rows: list[Row] = [[name, one.difference, *cells(one, _BY_FEATURE[1:])] for name, one in features.items()]
    return Table([_FEATURE, *_BY_FEATURE], rows)


def _corrected(found: RankedByLabels, correction: Correction) -> Section:
    picked = found.part.remarks if found.part else ()
    tables = (corrected_candidates(correction), pairs(correction), shares(correction))
    parts: list[Part] = [Sentences([*_what_it_adds(correction), *picked])]
    parts += [table for table in tables if table.rows]
    return Section(
        "corrected",
        "Corrected by human labels",
        parts,
        _PPI,
        spelt_out=True,
    )


def _what_it_adds(correction: Correction) -> Iterator[str]:
    labels = f"{correction.labelled:,} of {counted(correction.items, 'item', 'items')}"
    if correction.candidates and correction.is_helped and correction.worth < _NEXT_TO_NOTHING:
        yield f"The judge adds almost nothing to the win rates beyond the labels of {labels}."
    elif correction.candidates and correction.is_helped:
        yield (
            f"With the judge on all items, labels of {labels} are worth {correction.worth:.1f} times as"
            " many labels for the win rates (median over the candidates)."
        )
        if correction.are_held:
            yield (
                "The intervals are not narrower by the same factor, because labels are few: an error"
                " that the judge makes once in twenty items may not show yet."
            )
    elif correction.candidates:
        yield f"The judge adds nothing to the labels of {labels}: the results are by these labels only."
    if correction.correlation is not None:
        yield (
            f"The judge's correlation with the annotators is {correction.correlation:.2f} (A's win per"
            " labelled item)."
        )
    if correction.unlabelled:
        yield (
            f"Too few labels, on fewer than {FEW} instructions, for"
            f" {listed(correction.unlabelled, shown=short_name)}: their win rates are not corrected."
        )
    if correction.too_many_missing:
        yield (
            f"Bradley-Terry scores are not corrected: {correction.missing:,} of the"
            f" {correction.labelled + correction.missing:,} items of the random part have no label, and"
            " their effect on the scores is not known. Label them to correct the scores."
        )
    yield from ties_caveat(correction.bradley_terry)


def corrected_candidates(correction: Correction) -> Table:
    found = correction.bradley_terry
    rows: list[Row] = []
    for name, one in sorted(correction.candidates.items(), key=lambda each: -each[1].rate.value):
        strength = [found.scores[name]] if found else []
        rows.append([name, *_cells(one), *strength])
    return Table([CANDIDATE, *_CORRECTED, *((_STRENGTH,) if found else ())], rows)


def pairs(correction: Correction) -> Table:
    """A row for each pair with enough labels, the one that wins first; of equals in the order of names."""
    rows: list[Row] = [
        [*names, *_cells(one)]
        for names, one in correction.pairs.items()
        if one.rate.value > 0.5 or (one.rate.value == 0.5 and names[0] < names[1])
    ]
    return Table([*_PAIR, *_CORRECTED], rows)


def shares(correction: Correction) -> Table:
    rows: list[Row] = [[words(name), *_cells(one)] for name, one in correction.shares.items()]
    return Table([_LABEL, *_CORRECTED], rows)


def _cells(one: Corrected) -> Row:
    return [one.rate, *cells(one, _CORRECTED[1:])]


def _how_many(found: SampleSize) -> Section:
    parts: list[Part] = [Sentences(list(_reach(found)))]
    if found.with_more and found.half is not None:
        halves = {0: found.half, **found.with_more}
        parts.append(Table(_MORE, [[more, 100 * half] for more, half in halves.items()]))
    first = 1 if found.is_own else 0  # its own correlation is said above
    columns = (_CORRELATION, *_NEEDED)[first:]
    rows: list[Row] = [
        [correlation, 100 * each.difference, each.items, each.labels, each.alone][first:]
        for correlation, each_needed in found.needed.items()
        for each in each_needed
    ]
    parts += [Table(columns, rows), Sentences([_LOOKING])]
    return Section(
        "how_many",
        "How many labels are needed",
        parts,
        "For the median pair of candidates, with 80 % power, at a 5 % significance level. One label is"
        f" assumed to cost as much as {COST} items read by the judge.",
        spelt_out=True,
    )


def _reach(found: SampleSize) -> Iterator[str]:
    if found.is_own and found.smallest is not None and found.smallest_alone is not None:
        yield (
            f"{counted(found.labels, 'label', 'labels')} on {counted(found.items, 'item', 'items')}"
            f" detect differences of two win rates from {100 * found.smallest:.1f} points; with labels"
            f" only, from {100 * found.smallest_alone:.1f}."
        )
    first = next(iter(found.needed.values())) if found.is_own else found.needed[TYPICAL[-1]]
    least = first[0]
    like = "like this" if found.is_own else f"whose correlation with annotators is {TYPICAL[-1]:g}"
    yield (
        f"To detect a difference of {100 * least.difference:g} points you need about {least.items:,} items,"
        f" of which {least.labels:,} labelled, with a judge {like}; without a judge {least.alone:,} labels."
    )
    if not found.is_own:
        yield (
            "The agreement of this judge with annotators is unknown until there are enough labels. These"
            " correlations are typical: GPT-3.5 had .59 on the pairs of PandaLM, and one annotator .90"
            " with the others."
        )
    elif found.labels < _ROUGH_BELOW:
        yield f"The correlation is estimated from {found.labels:,} labels: these numbers are rough."
