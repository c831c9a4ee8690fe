"""Measures slice by slice, and what is to be said of many slices."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.core.formatting import SLICES_NOTE, best_of, clipped, counted, listed, percent, visible, words
from engine.core.tables import Column, Estimate, Kind, Part, Row, Section, Sentences, Table
from engine.metrics.evaluation import MEAN, Evaluation, SlicedMeasures, SliceMeasures, lead
from engine.metrics.intervals import FEW, SIGNIFICANT, cost_of_choosing
from engine.metrics.matching import Matched
from engine.metrics.mix import Mix
from engine.ranking.weighted_judge import WINNERS
from engine.ranking.weighted_scoring import SlicedWeightedScoring, SliceScoring
from engine.report import columns

_ITEMS = Column("items", "items", Kind.COUNT, "The number of items of this slice that the judge answers.")
_LABELLED = replace(
    columns.LABELS, title="labelled", meaning="The number of items of this slice with a human label."
)
_MEAN = replace(columns.ACCURACY, meaning="The mean accuracy over the criteria.")
_KAPPA = replace(columns.KAPPA, meaning=f"{columns.KAPPA.meaning} Here the mean over the criteria.")
_TIES = Column("ties", "ties", Kind.SHARE, "The share of the judge's labels that prefer neither response.")
_HUMAN_TIES = Column(
    "human_ties", "human ties", Kind.SHARE, "The share of human labels that prefer neither response."
)
_NOTE = Column("note", "", Kind.NAME, "Whether there are enough labelled items.")
_WINS = tuple(
    Column(name, title, Kind.ESTIMATE, f"The share of comparisons with “{title}”, in percent.")
    for name, title in zip(WINNERS, ("A wins", "B wins", "tie"), strict=True)
)
_HELD = (
    Column("labelled", "labelled", Kind.COUNT, "How many of them have a human overall label."),
    Column(
        "agreement", "human agreement", Kind.ESTIMATE, "How often its winner is the human one, in percent."
    ),
)
_MIX = (
    columns.CRITERION,
    Column("accuracy", "these items", Kind.ESTIMATE, "The accuracy on these items, in percent."),
    Column("mixed", "stated mix", Kind.ESTIMATE).means(
        "The mean of the accuracies on the slices, weighted by the stated shares, in percent, with its 95 %"
        " interval over instructions. The shares are constants; slices without a share do not count."
    ),
)
_SLICES_NOTE = (
    f"{SLICES_NOTE} Accuracies by criterion are in percent, with their 95 % interval. In a slice by the"
    " human label, the accuracy on that criterion is the recall of this label, and the most frequent"
    " label is always right."
)


def slice_sections(found: Sequence[SlicedMeasures]) -> list[Section]:
    """Each division; below the last one what is to be said of many slices."""
    sections = []
    for measured in found:
        whole, by_criterion = slice_table(measured), criterion_slice_table(measured)
        parts: list[Part] = [Sentences([slices_in_short(measured)]), whole]
        parts += [by_criterion] if len(by_criterion.columns) > 1 else []
        parts += [Sentences(said)] if (said := slices_in_words(measured)) else []
        title = f"By {measured.division.words}"
        note = _SLICES_NOTE if measured is found[-1] else ""
        sections.append(Section(f"slices by {measured.division.words}", title, parts, note))
    return sections


def mix_section(evaluation: Evaluation, mix: Mix, mixed: Mapping[str, Estimate]) -> Section:
    """The accuracies for a stated mix next to those on the items as they are."""
    found = evaluation.labels.items()
    own = {name: Estimate(measures.accuracy, measures.interval) for name, measures in found}
    own[MEAN] = Estimate(evaluation.accuracy, evaluation.interval)
    rows: list[Row] = [[words(name), own[name], rate] for name, rate in mixed.items()]
    stated = ", ".join(f"{percent(share)} {visible(key)}" for key, share in mix.shares.items())
    return Section("mix", f"For a stated mix by {mix.division.words}", [Table(_MIX, rows)], f"{stated}.")


def slices_in_short(measured: SlicedMeasures) -> str:
    """Whether the judge is worse on a slice than on another, and what to do then."""
    if not any(found.measures for found in measured.slices):
        return "Without human labels the slices show what the judge does, not how often it is right."
    known = [(found.over, _name(found)) for found in measured.slices if found.over and not found.few]
    if len(known) < 2:
        return f"To compare slices, label items of {FEW} instructions or more on two of them."
    (worst, of_worst), (best, of_best) = (choose(known, key=lambda one: one[0].mean) for choose in (min, max))
    # By Bonferroni: each of as many slices is tested.
    if worst.share_interval(len(known)).high >= best.share_interval(len(known)).low:
        return f"No slice stands out: differences between these {len(known)} may be chance. Go by all items."
    return (
        f"Read the items of “{of_worst}” first: the judge is right on {percent(worst.mean)} of their labels,"
        f" on “{of_best}” on {percent(best.mean)}, which is more than chance."
    )


def compared_slices_in_short(matched: Sequence[Matched], measured: Sequence[SlicedMeasures]) -> str:
    """Which of two systems is better on which slice; of more, which one is on most."""
    names = [one.system.name for one in matched]
    enough = [place for place, found in enumerate(measured[0].slices) if found.labelled and not found.few]
    if len(names) > 2:
        rows = ([of_system.slices[place].accuracy or 0.0 for of_system in measured] for place in enough)
        best = Counter(names[row.index(max(row))] for row in rows)
        counts = ", ".join(f"{name} on {count:,}" for name, count in best.most_common())
        return f"The highest accuracy on {counted(len(enough), 'slice', 'slices')}: {counts or 'nobody'}."
    leads = [
        (known.over, _name(found))
        for found in (measured[0].slices[place] for place in enough)
        if (known := lead(matched[0], matched[1], found.part)) and known.over
    ]
    clear = [(over.mean > 0, name) for over, name in leads if over.p_value * len(leads) < SIGNIFICANT]
    ahead = [[name for is_first, name in clear if is_first is first] for first in (True, False)]
    named = [listed(on, shown=lambda name: f"“{name}”") for on in ahead]
    said = [f"{who} is better on {on}" for who, on in zip(names, named, strict=True) if on]
    return f"{'; '.join(said) or 'On no slice is either significantly better: choose by all items'}."


def slices_in_words(measured: SlicedMeasures) -> list[str]:
    """What is to be known of single slices, and of the one on which the judge is best."""
    choice = cost_of_choosing(found.over for found in measured.slices)
    return [*slice_caveats(measured), *best_of(f"slices with {FEW} instructions or more", choice)]


def compared_slices_in_words(matched: Sequence[Matched], measured: Sequence[SlicedMeasures]) -> list[str]:
    """The same of several systems; of two also of the slice on which the first leads by most."""
    said = slice_caveats(measured[0])
    for one, of_system in zip(matched, measured, strict=True):
        choice = cost_of_choosing(found.over for found in of_system.slices)
        said += best_of(f"slices of {one.system.name} with {FEW} instructions or more", choice)
    if len(matched) == 2:
        leads = (lead(matched[0], matched[1], found.part) for found in measured[0].slices)
        choice = cost_of_choosing(led and led.over for led in leads)
        said += best_of(f"differences on slices with {FEW} instructions or more", choice, by="difference")
    return said


def slice_caveats(found: SlicedMeasures | SlicedWeightedScoring) -> list[str]:
    return [one.part.caveat for one in found.slices if one.part.caveat]


def slice_table(measured: SlicedMeasures) -> Table:
    """A row for each slice; without human labels the columns that need them are omitted."""
    labelled = any(found.measures for found in measured.slices)
    shown: tuple[Column, ...] = (_TIES, columns.FLIPPED)
    if labelled:
        of_labels = _MEAN, columns.SHARE_INTERVAL, columns.MOST_FREQUENT, _KAPPA
        shown = (*of_labels, _TIES, _HUMAN_TIES, columns.FLIPPED)
    if any(0 < twice < scored for twice, scored in (found.in_both_orders for found in measured.slices)):
        shown = columns.with_both_orders(shown)
    rows: list[Row] = []
    for found in measured.slices:
        first, values = (_name(found), found.items), columns.cells(found, shown)
        rows.append([*first, found.labelled, *values, _few(found)] if labelled else [*first, *values])
    more = (_LABELLED, *shown, _NOTE) if labelled else shown
    return Table((_first(measured.division.words), _ITEMS, *more), rows)


def criterion_slice_table(measured: SlicedMeasures) -> Table:
    names = dict.fromkeys(name for found in measured.slices for name in found.measures)
    by_criterion = [
        Column(name, words(name), Kind.ESTIMATE).means(
            f"Accuracy on {words(name)} in percent, and its 95 % interval. {columns.SHARE_INTERVAL.meaning}"
        )
        for name in names
    ]
    rows: list[Row] = [
        [
            _name(found),
            *(
                Estimate(known.accuracy, known.interval) if (known := found.measures.get(name)) else None
                for name in names
            ),
        ]
        for found in measured.slices
    ]
    return Table((_first(measured.division.words), *by_criterion), rows)


def compared_slice_table(matched: Sequence[Matched], measured: Sequence[SlicedMeasures]) -> Table:
    """The mean accuracy of several systems on each slice; of two systems the difference too."""
    first = measured[0]
    named = [(f"system_{place}", one.system.name) for place, one in enumerate(matched, start=1)]
    of_systems = [
        Column(key, name, Kind.ESTIMATE, f"{name}: accuracy in percent.", foreign=True) for key, name in named
    ]
    two = len(matched) == 2
    if two:
        meaning = (
            "The accuracy of the first system minus that of the second, in percentage points; not"
            " significant if the interval includes 0."
        )
        of_systems.append(Column("lead", "difference", Kind.ESTIMATE, meaning))
    rows: list[Row] = []
    for place, found in enumerate(first.slices):
        own = [of_system.slices[place] for of_system in measured]
        values = [None if one.accuracy is None else Estimate(one.accuracy, one.interval) for one in own]
        if two:
            known = lead(matched[0], matched[1], found.part)
            values.append(known and Estimate(known.value, known.interval))
        rows.append([_name(found), found.labelled, *values, _few(found)])
    return Table((_first(first.division.words), _LABELLED, *of_systems, _NOTE), rows)


def compared_win_table(measured: SlicedMeasures, weighed: Mapping[str, SlicedWeightedScoring]) -> Table:
    """How often A and B win by the weighted judge: on each measured slice a row for each system by name."""
    system = Column("system", "system", Kind.TEXT, "The system whose scores are weighted.")
    rates = {
        name: {one.part.key: one.rates for one in of_system.slices} for name, of_system in weighed.items()
    }
    rows: list[Row] = []
    for of_slice in measured.slices:
        for name in weighed:
            found = rates[name].get(of_slice.part.key, {})
            values = (found.get(winner) for winner in WINNERS)
            rows.append([_name(of_slice), name, *(value and Estimate(*value) for value in values)])
    return Table((_first(measured.division.words), system, *_WINS), rows)


def weighed_slice_table(weighed: SlicedWeightedScoring) -> Table:
    """The win rates of the weighted judge on each slice; how often the winner is that of the human label."""
    held = any(found.agreement for found in weighed.slices)
    rows: list[Row] = []
    for found in weighed.slices:
        won = (Estimate(*found.rates[name]) for name in WINNERS)
        said: Row = (0, None)
        if found.agreement:
            said = (found.agreement.items, Estimate(found.agreement.accuracy, found.interval))
        rows.append([_name(found), found.items, *won, *(said if held else ()), _few(found)])
    more = _HELD if held else ()
    return Table((_first(weighed.division.words), _ITEMS, *_WINS, *more, _NOTE), rows)


def _first(title: str) -> Column:
    return Column("slice", visible(title), Kind.TEXT, "The slice of this row.")


def _name(found: SliceMeasures | SliceScoring) -> str:
    return clipped(visible(found.part.name))


def _few(found: SliceMeasures | SliceScoring) -> str:
    return f"under {FEW} instructions: too few" if found.instructions < FEW else ""
