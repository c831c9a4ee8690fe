"""A comparison of systems as tables and as plain values for JSON; what was published of the task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from engine.core.formatting import best_of, counted, listed, number, words
from engine.core.items import digest
from engine.core.tables import Column, Estimate, Kind, Ranked, Row, Section, Sentences, Sheet, Table
from engine.metrics.comparison import LEAST_SYSTEMS, Comparison, about_the_task
from engine.metrics.evaluation import Evaluation, SlicedMeasures, mean_of, official_json
from engine.metrics.intervals import SIGNIFICANT
from engine.metrics.matching import Matched
from engine.metrics.run_drift import run_drift
from engine.ranking.weighted_scoring import SlicedWeightedScoring
from engine.report.accuracy import BASELINE
from engine.report.columns import AGREEMENT, BERTSCORE, CRITERION, KAPPA, ROUGE_L
from engine.report.drift import guidelines_section
from engine.report.rankings import RankingsBeside

MEASURED_ON = "the task's private test set"
"""The source of the published results: they are shown next to our own figures, and never ranked with them."""


@dataclass(frozen=True)
class PublishedResult:
    """One system, in percent. `accuracy`: by criterion; `mean_accuracy` as published. `explanations`: the
    means over the criteria of ROUGE-L, BERTScore and LLM agreement, empty where none were submitted.
    """

    name: str
    accuracy: Mapping[str, float]
    mean_accuracy: float
    explanations: Mapping[str, float]
    remark: str = ""


_CRITERIA = ("relevance", "naturalness", "truthfulness", "safety", "overall_quality")
_EXPLAINED = ("rouge_l", "bertscore", "agreement")


def _result(
    name: str, accuracy: tuple[float, ...], mean: float, explained: tuple[float, ...] = (), remark: str = ""
) -> PublishedResult:
    explanations = dict(zip(_EXPLAINED, explained, strict=False))
    return PublishedResult(name, dict(zip(_CRITERIA, accuracy, strict=True)), mean, explanations, remark)


PUBLISHED = (
    _result("VerbaNexAI", (45.91, 30.29, 75.16, 94.15, 39.42), 56.99, (20.04, 87.00, 33.04)),
    _result("FHS", (51.12, 44.39, 80.53, 83.33, 10.10), 53.89, remark="late submission"),
    _result("UTK", (39.98, 33.01, 38.62, 48.96, 33.01), 38.72, (9.0, 83.46, 18.38)),
    _result(
        "baseline Llama-3.1-8B",
        (33.81, 29.17, 17.95, 17.95, 49.60),
        29.70,
        (8.40, 83.13, 24.27),
        remark="the organisers' baseline",
    ),
)
"""Of the ELOQUENT 2025 Preference Prediction task. Source: its overview in the CLEF 2025 working notes."""
_ITEMS_OF_TASK = 99
_TEXTS_OF_TASK = "e1060ed9485a00d3c9e8c3582593a75f63d6a2c9761ca8590d28c116f02c54d5"
"""Identifies the task's development set, whatever its ids, labels, order and line ends: the digest of
its texts."""

_TITLES = {
    "accuracy": "accuracy (%)",
    "rouge_l": "ROUGE-L x 100",
    "bertscore": "BERTScore F1 x 100",
    "agreement": "LLM agreement (%)",
}
_MEASURE = Column(
    "measure", "measure", Kind.NAME, "The measure, on one criterion or as the mean over the criteria."
)
_BASELINE = Column("trivial", "best baseline", Kind.TEXT).means(
    "The accuracy of the best baseline (named in brackets) on the same items. A system that does not"
    " beat it is not useful here."
)
_BORDA = Column("sub_task", "Borda count", Kind.NAME).means(
    "For each measure, the number of systems that this one beats; a tie counts half."
)
_P_VALUE = Column("p_value", "p", Kind.NUMBER, "", digits=4, least=0.0001)
_BOTH = (
    Column("systems", "systems", Kind.TEXT, "The two systems that are compared."),
    CRITERION,
    Column("same", "same label", Kind.SHARE, "The share of equal labels where either system has one."),
    replace(KAPPA, kind=Kind.MEASURE, digits=3),
    Column("only_one_right", "only one right", Kind.PAIR).means(
        "Items on which only the first system, or only the second, gives the human label."
    ),
    Column("difference", "difference", Kind.ESTIMATE).means(
        "The accuracy of the first system minus that of the second, in percentage points, with its 95 %"
        " interval over instructions."
    ),
    _P_VALUE.means(
        "The probability of a difference at least this large if both systems are equally accurate:"
        " Student's t over instructions."
    ),
    replace(_P_VALUE, key="corrected", title="p, Holm").means(
        "p, corrected by Holm's method for all tests in this table: below .05 by chance in one of"
        " twenty such tables."
    ),
)
_PUBLISHED = (
    Column("system", "published, 2025", Kind.TEXT, "A system of the task, and a remark on it."),
    *(
        Column(name, words(name), Kind.NUMBER, f"The accuracy on {words(name)}, in percent.")
        for name in _CRITERIA
    ),
    Column("mean", "mean", Kind.NUMBER, "The mean accuracy over the criteria, in percent."),
    ROUGE_L,
    BERTSCORE,
    AGREEMENT,
)


def comparison_sheet(comparison: Comparison, matched: Sequence[Matched]) -> Sheet:
    first = matched[0]
    described = [f"{one.system.name}: {one.system.description}" for one in matched]
    chosen = best_of("systems", comparison.choice)
    published = Section(
        "published",
        "Published systems",
        [published_table()],
        f"In percent, for reference only: measured on {MEASURED_ON}, not ranked.",
    )
    sections = (
        Section("systems", "", [Sentences([_in_short(comparison)]), Sentences(described)]),
        Section(
            "measures",
            _on_items(comparison, first),
            [measure_table(comparison), *(Sentences(said) for said in (chosen, comparison.wordless) if said)],
            "Round brackets: the 95 % interval. Square brackets: the rank; 1 is the best, and tied"
            " systems share their mean rank.",
        ),
        Section("borda", "Borda counts", [borda_table(comparison)], _BORDA.meaning),
        Section(
            "agreement",
            "Agreement",
            [agreement_table(comparison)],
            "Only one right: items on which only the one system, or only the other, gives the human"
            " label. p: the probability of a difference at least this large if both are equally"
            " accurate; Holm: corrected for all tests.",
        ),
        *([published] if of_the_task(matched) else ()),
        *_wording_sections(matched),
    )
    return Sheet("Comparison", sections)


def _wording_sections(matched: Sequence[Matched]) -> Iterator[Section]:
    """What another wording changed, where two runs of one judge are compared that were asked differently."""
    found = [one.system.results for one in matched if one.system.results is not None]
    if not len(found) == len(matched) == LEAST_SYSTEMS:
        return
    then, now = sorted(found, key=lambda each: each.run.created)
    old, new = then.run.identity, now.run.identity
    by_models = then.run.by_a_model and now.run.by_a_model
    if by_models and old.model_hash == new.model_hash and old.asked != new.asked:
        drift = run_drift(then, now, matched[0].dataset)
        if drift.guidelines:
            yield guidelines_section(drift)


def _in_short(comparison: Comparison) -> str:
    """Which system to use, if any, by the mean accuracy over the criteria."""
    accuracies = [each.values for each in comparison.measures if each.name == "accuracy"]
    means = {
        name: mean_of(values) or 0.0
        for name, values in zip(comparison.systems, zip(*accuracies, strict=True), strict=True)
    }
    best = max(means, key=means.__getitem__)
    baseline = 100 * (mean_of([share for _, share in comparison.baseline.values()]) or 0.0)
    if means[best] <= baseline:
        return (
            f"Use none of these yet: {best} has the highest accuracy, {number(means[best])} %, and baselines"
            f" that read nothing reach {number(baseline)} %."
        )
    whole = None if len(accuracies) > 1 else comparison.agreements[0].criterion
    rivals = [
        pair.other if pair.one == best else pair.one
        for pair in comparison.agreements
        if pair.criterion == whole and best in (pair.one, pair.other)
        if pair.corrected is None or pair.corrected >= SIGNIFICANT
    ]
    if rivals:
        return (
            f"{best} has the highest accuracy, {number(means[best])} %, but {listed(rivals)} may be as good:"
            " label more items to find out, or choose by speed."
        )
    others = ", ".join(f"{name} {number(mean)} %" for name, mean in means.items() if name != best)
    return f"Use {best}: its accuracy, {number(means[best])} %, is significantly higher ({others})."


def of_the_task(matched: Sequence[Matched]) -> bool:
    """Whether systems answer the task's questions on items of its development set."""
    items = matched[0].whole or matched[0].dataset
    if len(items) != _ITEMS_OF_TASK or not any(about_the_task(one.system) for one in matched):
        return False
    texts = (text for item in items for text in (item.instruction, item.output_a, item.output_b))
    return digest(sorted(" ".join(text.split()) for text in texts)) == _TEXTS_OF_TASK


def _on_items(comparison: Comparison, first: Matched) -> str:
    part, gold = f": {first.part}" if first.part else "", first.dataset.name
    whole = comparison.items if part else len(first.whole or first.dataset)
    of_all = counted(whole, "item", "items")
    some = f"{comparison.items:,} of " if comparison.items < whole else ""
    labelled = len(first.labelled_items)
    if labelled == comparison.items:
        return f"On {some}{of_all} with the human labels of {gold}{part}"
    answered = f", of {comparison.items:,} answered by all systems" if some else ""
    return f"On the {labelled:,} of {of_all} of {gold} that have human labels{answered}{part}"


def measure_table(comparison: Comparison) -> Table:
    rows: list[Row] = []
    best: list[Sequence[float | None]] = []
    for name in dict.fromkeys(measure.name for measure in comparison.measures):
        measures = [measure for measure in comparison.measures if measure.name == name]
        for measure in measures:
            baseline = ""
            if name == "accuracy":
                rival, share = comparison.baseline[measure.criterion]
                baseline = f"{number(100 * share)} ({BASELINE[rival]})"
            values = map(Ranked, measure.values, measure.ranks, measure.intervals)
            rows.append([f"{_TITLES[name]}, {words(measure.criterion)}", *values, baseline])
        best += [[None if rank is None else -rank for rank in measure.ranks] for measure in measures]
        means = [mean_of(column) for column in zip(*(measure.values for measure in measures), strict=True)]
        ends = comparison.mean_intervals.get(name, (None,) * len(means))
        ranked = [Ranked(mean, ends=of_mean) for mean, of_mean in zip(means, ends, strict=True)]
        rows.append([f"{_TITLES[name]}, mean", *ranked, ""])
        # Equal to twelve digits is equal, as where ranks are made.
        best.append([None if value is None else round(value, 12) for value in means])
    return Table((_MEASURE, *_systems(comparison, Kind.RANKED), _BASELINE), rows, _best(best))


def borda_table(comparison: Comparison) -> Table:
    """The Borda counts of labels and of explanations; these only where two systems or more explain."""
    counts = {"labels": comparison.borda_labels}
    if comparison.borda_explanations:
        counts["explanations"] = comparison.borda_explanations
    points = [[known.get(name) for name in comparison.systems] for known in counts.values()]
    rows = [[title, *values] for title, values in zip(counts, points, strict=True)]
    return Table((_BORDA, *_systems(comparison, Kind.SHORTEST)), rows, _best(points))


def _systems(comparison: Comparison, kind: Kind) -> list[Column]:
    """A column for each system, which may have a name too long to be shown whole as a title."""
    return [
        Column(f"system_{place}", name, kind, meaning=name, foreign=True)
        for place, name in enumerate(comparison.systems, start=1)
    ]


def agreement_table(comparison: Comparison) -> Table:
    rows = [
        [
            f"{pair.one} / {pair.other}",
            words(pair.criterion) if pair.criterion else "all criteria",
            pair.same,
            None if pair.kappa is None else Estimate(pair.kappa, pair.kappa_interval),
            (pair.only_one, pair.only_other),
            Estimate(pair.difference, pair.interval),
            pair.p_value,
            pair.corrected,
        ]
        for pair in comparison.agreements
    ]
    return Table(_BOTH, rows)


def published_table() -> Table:
    rows = [
        [
            f"{result.name} ({result.remark})" if result.remark else result.name,
            *(result.accuracy[name] for name in _CRITERIA),
            result.mean_accuracy,
            *(result.explanations.get(name) for name in _EXPLAINED),
        ]
        for result in PUBLISHED
    ]
    return Table(_PUBLISHED, rows)


def comparison_json(
    comparison: Comparison,
    evaluations: Sequence[Evaluation],
    *,
    judge_name: str | None = None,
    slices: Sequence[Sequence[SlicedMeasures]] = (),
    wins: Sequence[Mapping[str, SlicedWeightedScoring]] = (),
    beside: RankingsBeside | None = None,
) -> Mapping[str, Any]:
    """All of a comparison with every difference, and each system's own scores.

    `judge_name`: the model that was asked for agreement. `slices`: those of each system. `wins`: for each
    division what the weighted judge decides on its slices, by system. `beside`: both rankings.
    """
    known = [(found.name, own) for found, own in zip(evaluations, slices, strict=False) if own]
    of_each = {name: [measured.as_json() for measured in divisions] for name, divisions in known}
    weighed = [{name: each.as_json() for name, each in by_system.items()} for by_system in wins]
    published = {"measured_on": MEASURED_ON, "results": [asdict(result) for result in PUBLISHED]}
    # The key "trivial" is older than the name of the field.
    compared = {"trivial" if name == "baseline" else name: each for name, each in asdict(comparison).items()}
    return {
        **compared,
        **({"published": published} if of_the_task([found.matched for found in evaluations]) else {}),
        "scores": {found.name: official_json(found, judge_name) for found in evaluations},
        **({"slices": of_each} if of_each else {}),
        **({"wins": weighed} if weighed else {}),
        **({"side_by_side": beside.as_json()} if beside else {}),
    }


def _best(rows: Sequence[Sequence[float | None]]) -> frozenset[tuple[int, int]]:
    """Row and column of each row's highest values, titles being column 0; none where all are equal."""
    found = set()
    for row, values in enumerate(rows):
        known = [value for value in values if value is not None]
        if len(set(known)) > 1:
            found |= {(row, column) for column, value in enumerate(values, 1) if value == max(known)}
    return frozenset(found)
