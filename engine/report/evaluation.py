"""All that is shown of a run or a submission: the sheet, in short in sentences, as methods for a paper."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from engine.core import VERSION
from engine.core.errors import Hint
from engine.core.formatting import capitalised, counted, interval, listed, percent, words
from engine.core.items import labels_beside
from engine.core.tables import Column, Kind, Partial, Ranked, Row, Section, Sentences, Sheet, Table, Tone
from engine.data.dataset import Dataset
from engine.metrics.accuracy import UNSCORED, LabelMeasures
from engine.metrics.annotator_agreement import agreement_of_annotators
from engine.metrics.evaluation import Evaluation, wordless_in_words
from engine.metrics.explanations import ExplanationMeasures
from engine.metrics.matching import System
from engine.report import columns, methods
from engine.report.accuracy import BASELINE, accuracy_section, beyond_chance_section, label_section
from engine.report.annotators import annotator_sections
from engine.report.run import labels_given_section, method_sections
from engine.report.trust import methods_of_kept

_EXPLANATIONS = (
    Column("criterion", "explanations", Kind.NAME, "The criterion whose explanations are measured."),
    Column("items", "items", Kind.COUNT, "How many items have a human explanation here."),
    replace(columns.ROUGE_L, kind=Kind.RANKED),
    Column("typical", "most typical", Kind.NUMBER).means(
        "The score of always repeating one human explanation, the most typical one of the most frequent"
        " label, × 100. A judge below it explains less like annotators than a fixed sentence does."
    ),
    replace(columns.BERTSCORE, kind=Kind.RANKED),
    replace(columns.AGREEMENT, kind=Kind.PARTIAL),
    Column(
        "p_yes", "P(yes)", Kind.NUMBER, "The mean probability of the judge model's “yes, they agree”, × 100."
    ),
    replace(columns.ANSWER_MASS, digits=2),
    Column("words", "words", Kind.NUMBER, "The mean length of the judge's explanations, in words."),
    Column("human_words", "human words", Kind.NUMBER, "The mean length of the human explanations, in words."),
    Column("missing", "missing", Kind.COUNT).means(
        "Items with a human explanation but none of the judge; they count 0."
    ),
)


_PLAIN = ("p_yes", "answer_mass", "words", "human_words")  # fields that are a column each


def evaluation_sheet(
    evaluation: Evaluation, word: Callable[[Hint], str] = str, more: Iterable[Section] = ()
) -> Sheet:
    """What a judge is worth against human labels; `more`: what is known of it besides."""
    matched = evaluation.matched
    system = matched.system
    sections = [
        _in_short_section(system, [*matched.left_out, *matched.caveats], in_short(evaluation), word),
        accuracy_section(evaluation),
        label_section(evaluation),
        beyond_chance_section(evaluation),
        *method_sections(system.results, matched.dataset),
        *annotator_sections(evaluation.annotators),
        *([explanation_section(evaluation)] if evaluation.explanations else ()),
        *more,
    ]
    held = f"{evaluation.name} against the human labels of {matched.dataset.name}"
    return Sheet(f"{held}: {matched.items_in_words}", sections)


def run_sheet(
    system: System,
    doubts: Iterable[str],
    said: Iterable[str],
    word: Callable[[Hint], str] = str,
    own: Dataset | None = None,
) -> Sheet:
    """What a run says by itself, without human labels. `own`: its dataset, for intervals."""
    results = system.results
    assert results is not None
    by_hand = results.run.by_hand
    agreement = agreement_of_annotators(results, gold=own if by_hand else None, own=own)
    sections = [
        _in_short_section(system, doubts, said, word),
        labels_given_section(results),
        *method_sections(results),
        *annotator_sections(agreement, judge=not by_hand),
    ]
    return Sheet(results.run.title, sections)


def _in_short_section(
    system: System, doubts: Iterable[str], said: Iterable[str], word: Callable[[Hint], str]
) -> Section:
    """Whether the judge judged at all, what else must not be missed, and what is `said` of it."""
    health, run = system.health, system.results.run if system.results else None
    doubts = [*(health.sentences(word) if health.doubted else ()), *doubts]
    asked = run.identity.methods_in_words if run else ""
    healthy = [] if health.doubted or (run and run.by_hand) else health.sentences(word)
    sentences = [*healthy, *([f"Elicitation: {asked}."] if asked else ()), *said]
    parts = [*([Sentences(doubts, Tone.CAVEAT)] if doubts else ()), Sentences(sentences)]
    return Section("in_short", "In short", parts, help=("Does the model judge?",))


def in_short(evaluation: Evaluation) -> Iterator[str]:
    measures = list(evaluation.labels.values())
    ends = f" (95 % interval {interval(evaluation.interval, 100)})" if evaluation.interval else ""
    yield (
        f"Mean accuracy over {counted(len(measures), 'criterion', 'criteria')}:"
        f" {percent(evaluation.accuracy)}{ends}. The best baseline of each criterion reaches"
        f" {percent(evaluation.baseline)} on these items."
    )
    if (by_instruction := evaluation.accuracy_by_instruction) is not None:
        ends = f" ({interval(by_instruction.ends, 100)})" if by_instruction.ends else ""
        yield (
            "Some instructions have more pairs than others. With each instruction counted once, the mean"
            f" accuracy is {percent(by_instruction.value)}{ends}."
        )
    results = evaluation.matched.system.results
    if results is not None and results.one_labels:
        yield results.one_label_sentence
    yield from _verdicts(measures)
    pairs = [] if results is None else [*chain.from_iterable(evaluation.matched.pairs.values())]
    flips = [pair.judgment.flipped for pair in pairs if pair.judgment]
    known = [flipped for flipped in flips if flipped is not None]
    if 0 < len(known) < len(flips):
        found = _of(sum(known), len(known), "judgments")
        yield (
            f"Position-inconsistent: {found} that were read in both orders. It is not known for the"
            f" {len(flips) - len(known):,} others, which the first order left certain."
        )
    elif results is not None and results.run.panel:
        differ = [pair.judgment.judges_differ for pair in pairs if pair.judgment]
        if several := [each for each in differ if each is not None]:
            found = _of(sum(several), len(several), "judgments")
            some = " decided by more than one judge" if len(several) < len(differ) else ""
            yield f"The judges of the jury disagree: {found}{some}."
        if results.judges_missing_sentence:
            yield results.judges_missing_sentence
    elif known:
        yield f"Position-inconsistent: {_of(sum(known), len(known), 'judgments')}."
    else:
        yield "Position-inconsistent: not known, because items were read in one order or none."
    moved = [pair.judgment.place_decides for pair in pairs if pair.judgment]
    if any(moved):
        found = _of(moved.count(True), sum(each is not None for each in moved), "judgments")
        yield (
            f"After calibration, the label depends on which response is A: {found}. The calibration does"
            " not treat A and B alike."
        )
    unscored, labelled = (sum(getattr(one, name) for one in measures) for name in ("unscored", "items"))
    yield f"Unscored: {_of(unscored, labelled, 'judgments')}; each counts as wrong."


def _verdicts(measures: Sequence[LabelMeasures]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for measure in measures:
        held_against = f"{words(measure.criterion)} ({BASELINE[measure.rival]})"
        groups.setdefault(measure.better, []).append(held_against)
    if groups.keys() == {"yes"}:
        yield (
            "On every criterion the judge is significantly better than the best baseline (the whole 95 %"
            f" interval of the difference is above 0): {', '.join(groups['yes'])}."
        )
        return
    for verdict, sentence in (
        ("no", "The judge does NOT beat the best baseline on: {}."),
        (
            "not significant",
            "Better on these items, but not significantly (the 95 % interval of the difference includes"
            " 0): {}.",
        ),
        ("yes", "Significantly better (the whole 95 % interval of the difference is above 0): {}."),
        ("-", "Not compared with baselines (this needs at least 10 different instructions): {}."),
    ):
        if verdict in groups:
            yield sentence.format(", ".join(groups[verdict]))


def _of(part: int, whole: int, what: str) -> str:
    return f"{part:,} of {whole:,} {what} ({percent(part / whole)})"


def explanation_section(evaluation: Evaluation, warnings: Sequence[str] = ()) -> Section:
    """The explanations against human ones, as far as they are measured; `warnings`: of models that did."""
    wordless = wordless_in_words(evaluation.explanations.values())
    said = [*warnings, *([wordless] if wordless else ())]
    doubts = [Sentences(said, Tone.CAVEAT)] if said else []
    return Section(
        "explanations",
        "Explanations",
        [*doubts, *([explanation_table(evaluation)] if evaluation.explanations else [])],
        "Compared with human explanations; all × 100 except items, words and missing. Brackets: the 95 %"
        " interval. “Most typical”: a baseline that always repeats the most typical human explanation."
        " “-”: not measured here.",
        help=("ROUGE-L", "Agreement"),
        spelt_out=True,
    )


def explanation_table(evaluation: Evaluation) -> Table:
    measures = list(evaluation.explanations.values())
    of = evaluation.explanation_mean
    ends = evaluation.explanation_interval
    means: Row = [
        "mean",
        "",
        Ranked(of("rouge_l"), ends=ends("rouge_l")),
        of("typical"),
        Ranked(of("bertscore"), ends=ends("bertscore")),
        Partial(of("agreement"), ends=ends("agreement")),
        *map(of, _PLAIN),
        sum(measure.unexplained for measure in measures),
    ]
    return Table(_EXPLANATIONS, [*map(_explanation_row, measures), means])


def _explanation_row(measure: ExplanationMeasures) -> Row:
    ends = measure.intervals
    return [
        *(words(measure.criterion), measure.items),
        Ranked(measure.rouge_l, ends=ends.get("rouge_l")),
        measure.typical,
        Ranked(measure.bertscore, ends=ends.get("bertscore")),
        Partial(measure.agreement, measure.unmeasured, ends.get("agreement")),
        *(getattr(measure, name) for name in _PLAIN),
        measure.unexplained,
    ]


_MEASURES = f"Tiebreak {VERSION}, docs/measures.md"
_OF_LABELS = f"{_MEASURES}, Labels"
_NUMBERS = (
    methods.Statement(
        "Accuracy is the share of human labels that the judge also gives; a human label that is only"
        f" “tie” agrees with both kinds of ties. Its 95 % interval is that of {methods.KORN_GRAUBARD.said}"
        " over instructions.",
        _OF_LABELS,
        (methods.KORN_GRAUBARD,),
    ),
    methods.Statement(
        "It is compared with the best of four baselines that do not read the responses: the most"
        " frequent human label of these items, always A, the longer response, and a random label. The"
        f" judge beats the baseline if it is significantly better than each of them"
        f" ({methods.BERGER.short}). Kappa is Cohen's ({methods.COHEN.short}), with unscored as a label of"
        " its own; macro-F1 is the mean over the labels that occur. Their intervals are by the jackknife over"
        f" instructions, as those of Gwet's AC1 ({methods.GWET.short}).",
        f"{_MEASURES}, Baselines",
        (methods.BERGER, methods.COHEN, methods.GWET),
    ),
)


def evaluation_methods(
    evaluation: Evaluation,
    encoder: str | None = None,
    judge_model: str | None = None,
    more: Iterable[methods.Statement] = (),
) -> Sequence[methods.Statement]:
    """What is to be said of it; `encoder`, `judge_model`: of BERTScore and agreement, where measured."""
    said = [
        *_data(evaluation),
        *methods.labels_of_system(evaluation.matched.system, None),
        *methods_of_kept(evaluation.matched.system.results),
        _unscored(evaluation),
        _confusion(evaluation),
        *_NUMBERS,
    ]
    if evaluation.explanations:
        said.append(_explanation_methods(evaluation, encoder, judge_model))
    return [*said, *more, methods.COMPUTED]


def _data(evaluation: Evaluation) -> Iterator[methods.Statement]:
    matched = evaluation.matched
    dataset = matched.dataset
    items = matched.labelled_items
    labels = sum(map(len, matched.pairs.values()))
    criteria = ", ".join(f"{words(name)} ({len(pairs):,})" for name, pairs in matched.pairs.items())
    several = any(pair.gold.annotators for pairs in matched.pairs.values() for pair in pairs)
    majority = " If several annotators labelled an item, their majority label counts." if several else ""
    yield methods.Statement(
        f"{capitalised(evaluation.name)} was compared with {counted(labels, 'human label', 'human labels')}"
        f" of {counted(len(items), 'item', 'items')}, pairs of responses to"
        f" {counted(len({item.group for item in items}), 'instruction', 'instructions')}, on"
        f" {counted(len(matched.pairs), 'criterion', 'criteria')}: {criteria}.{majority}",
        f"{dataset.path.name}, the columns of human labels; SHA-256 of its texts {dataset.hash}",
    )
    if known := [*matched.left_out, *matched.caveats]:
        yield methods.Statement(
            " ".join(each if each.endswith((".", "!", "?")) else f"{each}." for each in known),
            f"{dataset.path.name}, {evaluation.name}",
        )


def _unscored(evaluation: Evaluation) -> methods.Statement:
    lacking = {name: one.unscored for name, one in evaluation.labels.items() if one.unscored}
    of = counted(sum(one.items for one in evaluation.labels.values()), "human label", "human labels")
    if not lacking:
        return methods.Statement(f"The judge has a label for each of the {of}: none is unscored.", _OF_LABELS)
    each = ", ".join(f"{words(name)} ({count:,})" for name, count in lacking.items())
    are = "is" if sum(lacking.values()) == 1 else "are"
    return methods.Statement(
        f"Of the {of} {sum(lacking.values()):,} {are} unscored by the judge and count as wrong: {each}.",
        _OF_LABELS,
    )


def _confusion(evaluation: Evaluation) -> methods.Statement:
    """Which labels the judge gave for each human one."""
    rows = []
    for name, found in evaluation.labels.items():
        given = [*map(words, labels_beside(found.predicted)), UNSCORED]
        met = {
            human: ", ".join(f"{count:,} {label}" for label, count in zip(given, row, strict=True) if count)
            for human, row in found.confusion.items()
        }
        each = "; ".join(f"human {words(human)}: {told}" for human, told in met.items() if told)
        rows.append(f"{words(name)} ({each})")
    return methods.Statement(f"Labels of the judge by human label: {', '.join(rows)}.", _OF_LABELS)


def _explanation_methods(
    evaluation: Evaluation, encoder: str | None, judge_model: str | None
) -> methods.Statement:
    found = evaluation.explanations.values()
    of, lacking, unmeasured = (
        sum(getattr(one, name) for one in found) for name in ("items", "unexplained", "unmeasured")
    )
    by_words = any(one.rouge_l is not None for one in found)
    taken: list[tuple[str, methods.Reference | None]] = (
        [(f"ROUGE-L ({methods.LIN.short})", methods.LIN)] if by_words else []
    )
    if encoder is not None:
        taken.append((f"BERTScore ({methods.ZHANG.short}) by the encoder {encoder}", methods.ZHANG))
    if judge_model is not None:
        taken.append((f"whether the judge model {judge_model} rates them as agreeing", None))
    named = listed([name for name, _ in taken], shown=str)
    held = [f"Explanations are compared with human ones by {named}."] if taken else []
    lacks = [f"The judge explains {of - lacking:,} of {of:,}; the others count 0."] if lacking else []
    if unmeasured:
        lacks.append(
            f"The judge model could not rate {unmeasured:,} of them; these are omitted from the agreement."
        )
    return methods.Statement(
        " ".join(filter(None, (*held, *lacks, wordless_in_words(found)))),
        f"{_MEASURES}, Explanations",
        tuple(work for _, work in taken if work is not None),
    )
