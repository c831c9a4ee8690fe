"""What an evaluation says, in sentences: for a reader in a hurry, and for one who does not see the figures.

Knows: the words for measures. Does not know: how they are computed, HTML, windows, terminals.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from engine.calibrate.cross_validation import ReliabilityBin
from engine.calibrate.order_margin import MarginReport
from engine.core.formatting import counted, percent, words
from engine.core.items import PREFERENCES, agreeing
from engine.core.remedies import Remedy
from engine.core.sheets import Section, Sentences, Tone
from engine.measure.evaluation import Evaluation
from engine.measure.label_measures import LabelMeasures
from engine.measure.matching import Matched
from engine.measure.systems import System
from engine.report.measure_tables import TRIVIAL, accuracy_table
from engine.report.order_tables import margin_sentences


def in_short_section(
    system: System, caveats: Iterable[str], said: Iterable[str], word: Callable[[Remedy], str] = str
) -> Section:
    """What a reader in a hurry needs: whether the judge judged at all, what else must not be missed, and what
    is `said` of it; remedies are worded by whoever shows them.
    """
    health, run = system.health, system.results.run if system.results else None
    doubts = [*(health.sentences(word) if health.doubted else ()), *caveats]
    asked = run.identity.ways_in_words if run else ""
    headline = [] if health.doubted else [health.headline]
    sentences = [*headline, *([f"The model was asked by {asked}."] if asked else ()), *said]
    parts = [*([Sentences(doubts, Tone.CAVEAT)] if doubts else ()), Sentences(sentences)]
    return Section("in_short", "In short", parts, help=("Does the model judge?",))


def in_short(evaluation: Evaluation) -> Iterator[str]:
    """The sentences that a reader in a hurry needs."""
    measures = list(evaluation.labels.values())
    yield (
        f"Mean accuracy over {counted(len(measures), 'criterion', 'criteria')}:"
        f" {percent(evaluation.accuracy)}. The best of the trivial judges, on each criterion, reaches"
        f" {percent(evaluation.trivial)}."
    )
    results = evaluation.matched.system.results
    if results is not None and results.one_labels:
        yield results.one_label_sentence
    yield from verdicts(measures)
    pairs = [pair for pairs in evaluation.matched.pairs.values() for pair in pairs]
    flips = [pair.judgment.flipped for pair in pairs if pair.judgment]
    known = [flipped for flipped in flips if flipped is not None]
    if 0 < len(known) < len(flips):
        found = _of(sum(known), len(known), "judgments")
        yield (
            f"Flipped by the order of the responses: {found} that were read in both orders. Of the"
            f" {len(flips) - len(known):,} others, which the first order left in no doubt, it is not known."
        )
    elif known:
        yield f"Flipped by the order of the responses: {_of(sum(known), len(known), 'judgments')}."
    else:
        yield "Flipped by the order of the responses: not known, there is one order or none."
    unscored, labelled = (
        sum(measure.unscored for measure in measures),
        sum(measure.items for measure in measures),
    )
    yield f"Unscored: {_of(unscored, labelled, 'judgments')}; each counts as wrong."


def caveats(matched: Matched) -> Iterator[str]:
    """What keeps the numbers from being the whole truth."""
    yield from (*matched.left_out, *matched.caveats)


def verdicts(measures: Sequence[LabelMeasures]) -> Iterator[str]:
    """For which criteria the judge beats the best of the trivial judges, said plainly."""
    groups: dict[str, list[str]] = {}
    for measure in measures:
        held_against = f"{words(measure.criterion)} ({TRIVIAL[measure.rival]})"
        groups.setdefault(measure.better, []).append(held_against)
    if groups.keys() == {"yes"}:
        yield (
            "On every criterion the judge is better than the best of the trivial judges, with the whole 95 %"
            f" interval of the difference above 0: {', '.join(groups['yes'])}."
        )
        return
    for verdict, sentence in (
        ("no", "The judge is NOT better than the best of the trivial judges on: {}."),
        (
            "not surely",
            "Better on these items, but not surely: the 95 % interval of the difference includes 0: {}.",
        ),
        ("yes", "Better, with the whole 95 % interval of the difference above 0: {}."),
        ("-", "Not held against trivial judges, for which a single instruction is too little: {}."),
    ):
        if verdict in groups:
            yield sentence.format(", ".join(groups[verdict]))


def figure_in_words(
    name: str,
    evaluation: Evaluation,
    bins: Mapping[str, Sequence[ReliabilityBin]],
    orders: MarginReport | None = None,
) -> str:
    """What a figure shows, for those who do not see it."""
    match name:
        case "accuracy":
            shown = [
                f"{words(measure.criterion)} {percent(measure.accuracy)},"
                f" best trivial judge {percent(measure.rival_accuracy)} ({TRIVIAL[measure.rival]})"
                for measure in evaluation.labels.values()
            ]
            said = f"Bars of the accuracy by criterion beside trivial judges. {'; '.join(shown)}."
            return f"{said} {accuracy_table(evaluation).note}".rstrip()
        case "labels":
            return "Bars of how often people and the judge gave each label; the table above has the numbers."
        case "confusion":
            shown = [_confusion_inwords(measure) for measure in evaluation.labels.values()]
            return f"Matrices of human labels and the judge's labels. {'; '.join(shown)}."
        case "reliability":
            shown = [f"{words(name)}: {_bins_inwords(found)}" for name, found in bins.items()]
            return f"How often the judge was right, by how sure it was. {'; '.join(shown)}."
        case "orders" if orders:
            said = " ".join(margin_sentences(orders))
            return f"How many labels stay where fewer items are read in both orders. {said}"
        case _:
            return "Histogram of the weighted judge's margins by winner; the table above has the sums."


def _confusion_inwords(measures: LabelMeasures) -> str:
    parts = [
        f"{label} {sum(row[PREFERENCES.index(right)] for right in agreeing(label)):,} of {sum(row):,}"
        for label, row in measures.confusion.items()
        if sum(row)
    ]
    return f"{words(measures.criterion)}: agreed on {', '.join(parts)}"


def _bins_inwords(bins: Sequence[ReliabilityBin]) -> str:
    return ", ".join(
        f"{bin_.count:,} at {percent(bin_.confidence)} were {percent(bin_.accuracy)} right" for bin_ in bins
    )


def _of(part: int, whole: int, what: str) -> str:
    return f"{part:,} of {whole:,} {what} ({percent(part / whole)})"
