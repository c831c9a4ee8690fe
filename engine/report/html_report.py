"""One HTML file that says what a judge is worth: how it was made, tables, figures, the largest disagreements.

The page has no script and loads nothing. Every text that goes into it is escaped by the template engine, and
what could reorder or hide text (control characters, marks of direction) is written out.

Knows: what a report says, and in which words. Does not know: how anything is measured or drawn, terminals.
"""

import base64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from matplotlib.figure import Figure

from engine.analysis.audit_run import Audit
from engine.calibration.learning import LearningCurve
from engine.calibration.order_margin import MarginReport, groups_by_instruction, margin_report
from engine.calibration.scaling import ReliabilityBin, reliability
from engine.core import VERSION
from engine.core.errors import EngineBug, SetupError
from engine.core.formatting import capitalised, number, percent, visible, words
from engine.core.items import HUMAN_LABELS, PREFERENCES, Preference, agreeing, labels_beside
from engine.core.tables import Estimate, Facts, Picture, Section, Sheet, Table
from engine.metrics.accuracy import LabelMeasures
from engine.metrics.evaluation import Disagreement, Evaluation, largest_disagreements
from engine.metrics.matching import Matched, Pair
from engine.metrics.slices import SlicedMeasures
from engine.models.model_file import ModelFile
from engine.ranking.weighted_judge import WINNERS
from engine.ranking.weighted_scoring import WeightedScoring
from engine.report.audit import audit_of_copies, with_audit
from engine.report.calibration import margin_sentences
from engine.report.evaluation import BASELINE, evaluation_sheet
from engine.report.figure_style import as_svg
from engine.report.figures import FIGURE_NAMES, all_figures, figure_table
from engine.report.learning import LEARNING_FIGURE, learning_section
from engine.report.ranking import RANKING_FIGURE
from engine.report.ranking_sections import ReportedRanking, reported_ranking
from engine.report.run import judged_model, run_facts
from engine.report.slices import slice_sections
from engine.report.topic_figures import learning_figure, learning_in_words, ranking_figure, ranking_in_words
from engine.report.weighted_scoring import weighted_scoring_section
from engine.results.run_results import RunResults
from engine.results.second_order import KEEP, learned_from

_TEMPLATE = "report_template.html"
_UNKNOWN = "not known"
DEFAULT_WEIGHTS = "default"
"""The source of weights that the user did not choose: the rubric."""
_WITH_A_TABLE = ("accuracy", "labels")
REPORT_FIGURES = (*FIGURE_NAMES, LEARNING_FIGURE, RANKING_FIGURE)
"""The names of all figures that a report may have."""


@dataclass(frozen=True)
class Report:
    """What a report is made of.

    `bins`: the reliability by criterion, empty for a submission, which has no probabilities. `model`: the
    model file of a run as it is now, None where it is gone or another. `weights_from`: where the weights and
    the tie threshold of `weighted_scoring` come from, for display. `slices`: the measures by slice, for each
    division. `ranking`: of the candidates, where the dataset names them. `curve`: what more labels bring,
    where that was asked. `audited`: the audit by perturbations, where the run judged any.
    """

    evaluation: Evaluation
    bins: Mapping[str, Sequence[ReliabilityBin]]
    weighted_scoring: WeightedScoring | None = None
    model: ModelFile | None = None
    weights_from: str = DEFAULT_WEIGHTS
    slices: Sequence[SlicedMeasures] = ()
    orders: MarginReport | None = None
    ranking: ReportedRanking | None = None
    curve: LearningCurve | None = None
    audited: Audit | None = None

    @property
    def results(self) -> RunResults | None:
        """The run that is reported on; None for a submission."""
        return self.evaluation.matched.system.results

    def figures(self) -> dict[str, Figure]:
        """The figures of the report, by name."""
        figures = all_figures(self.evaluation, self.bins, self.weighted_scoring, self.orders)
        if self.curve:
            figures[LEARNING_FIGURE] = learning_figure(self.curve, self.evaluation.name)
        if self.ranking:
            figures[RANKING_FIGURE] = ranking_figure(self.ranking.ranking, self.ranking.title)
        return figures

    def in_words(self, figure: str) -> str:
        """What a figure of that name shows, for those who do not see it."""
        if figure == LEARNING_FIGURE and self.curve:
            return learning_in_words(self.curve)
        if figure == RANKING_FIGURE and self.ranking:
            return ranking_in_words(self.ranking.ranking)
        if figure == "margins" and self.weighted_scoring:
            return _margins_inwords(self.weighted_scoring)
        return figure_in_words(figure, self.evaluation, self.bins, self.orders)

    def numbers(self, figure: str) -> Table | None:
        """The numbers of a figure of that name, None where a table next to it has them."""
        if figure in _WITH_A_TABLE:
            return None
        return figure_table(figure, self.evaluation, self.bins, self.orders)


def gather(
    evaluation: Evaluation,
    weighted_scoring: WeightedScoring | None = None,
    weights_from: str = DEFAULT_WEIGHTS,
    slices: Sequence[SlicedMeasures] = (),
    curve: LearningCurve | None = None,
) -> Report:
    """All that the report of an evaluation needs; looks at the model file of its run. `curve`: if it is to
    have one.
    """
    results = evaluation.matched.system.results
    model = judged_model(results.run) if results else None
    matched = evaluation.matched
    bins, orders = reliability_of(matched), order_report_of(matched)
    ranking = reported_ranking(matched)
    audited = audit_of_copies(results, matched.dataset) if results else None
    return Report(
        evaluation, bins, weighted_scoring, model, weights_from, slices, orders, ranking, curve, audited
    )


def reliability_of(matched: Matched) -> dict[str, Sequence[ReliabilityBin]]:
    """How often the model was right by its confidence, for each criterion with judgments of its own."""
    found: dict[str, Sequence[ReliabilityBin]] = {}
    for criterion, pairs in matched.pairs.items():
        known = [
            (pair.judgment.probabilities, HUMAN_LABELS.index(pair.gold.label))
            for pair in pairs
            if pair.judgment and pair.gold.label
        ]
        if known:
            probabilities, labels = zip(*known, strict=True)
            found[criterion] = reliability(np.array(probabilities), np.array(labels))
    return found


def order_report_of(matched: Matched) -> MarginReport | None:
    """The curve of a run that read all its items in both orders, calibrated too where it is; else None."""
    results = matched.system.results
    if results is None or not results.run.by_a_model:
        return None
    with suppress(SetupError):  # it cannot tell
        read = learned_from(results.run, results.judged, calibration=results.calibration)
        return margin_report(read, groups_by_instruction(read.ids, matched.dataset.groups), KEEP)
    return None


def report_html(report: Report, drawn: Mapping[str, bytes] | None = None) -> str:
    """The whole page; `drawn`: the figures of the report as SVG, drawn here unless given."""
    evaluation = report.evaluation
    if drawn is None:
        drawn = {name: as_svg(figure, report.in_words(name)) for name, figure in report.figures().items()}
    return _template().render(
        version=VERSION,
        name=evaluation.name,
        dataset=evaluation.matched.dataset.name,
        notice=_notice(report),
        is_run=report.results is not None,
        sections=report_sheet(report).sections,
        figures={name: _embedded(svg, report.in_words(name)) for name, svg in drawn.items()},
        tables={name: report.numbers(name) for name in drawn},
        overridden=bool(evaluation.matched.system.overrides),
        disagreements=[_shown(disagreement) for disagreement in largest_disagreements(evaluation)],
        made=_how_it_was_made(report),
    )


def report_sheet(report: Report) -> Sheet:
    """The sheet of its evaluation, and below it what a report alone shows."""
    more = [
        *(report.ranking.sections if report.ranking else ()),
        *slice_sections(report.slices),
        *([_RELIABILITY] if report.bins else ()),
        *([_ORDERS] if report.orders else ()),
        *([learning_section(report.curve)] if report.curve else ()),
        *(
            [
                weighted_scoring_section(
                    report.weighted_scoring, report.evaluation.matched.system, report.weights_from
                )
            ]
            if report.weighted_scoring
            else ()
        ),
    ]
    return with_audit(evaluation_sheet(report.evaluation, more=more), report.audited)


_RELIABILITY = Section(
    "reliability",
    "Reliability of its probabilities",
    [Picture("reliability")],
    "Each point is a group of judgments with similar confidence, the probability of the judge's own"
    " label; the number is their count. On the dashed line, accuracy equals confidence. Below it the"
    " judge is overconfident, above it underconfident. Points with few judgments mean little.",
)
_ORDERS = Section(
    "orders",
    "Whether the second order is needed",
    [Picture("orders")],
    "Items that are certain after the first order need no second one. Each point is a margin threshold:"
    " an item is also read in the second order if the margin between its two likeliest labels is below"
    " it on any criterion. The diamond is the smallest threshold that keeps enough of the labels of"
    " every criterion.",
)


def _template() -> Template:
    # Beside this module, also in a PyInstaller bundle that holds the template as data.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).resolve().parent, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written_out,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["sentence"] = capitalised
    return environment.get_template(_TEMPLATE)


def _written_out(value: object) -> object:
    """What goes into the page: text with its invisible characters made visible, not yet escaped."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return visible(value)


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
                f"{words(measure.criterion)} {Estimate(measure.accuracy, measure.interval)} %, best"
                f" baseline {percent(measure.rival_accuracy)} ({BASELINE[measure.rival]})"
                for measure in evaluation.labels.values()
            ]
            return f"Bars of the accuracy by criterion, with baselines. {'; '.join(shown)}."
        case "labels":
            shown = [_labels_inwords(measure) for measure in evaluation.labels.values()]
            return f"Bars of how often each label is the human one and the judge's. {'; '.join(shown)}."
        case "confusion":
            shown = [_confusion_inwords(measure) for measure in evaluation.labels.values()]
            return f"Matrices of human labels and the judge's labels. {'; '.join(shown)}."
        case "reliability":
            shown = [f"{words(name)}: {_bins_inwords(found)}" for name, found in bins.items()]
            return f"Accuracy by confidence. {'; '.join(shown)}."
        case "orders" if orders:
            said = " ".join(margin_sentences(orders))
            return f"Share of labels kept if fewer items are read in both orders. {said}"
        case _:
            raise EngineBug(f"An evaluation has no figure {name}")


def _margins_inwords(weighted_scoring: WeightedScoring) -> str:
    decided = Counter(decision["winner"] for decision in weighted_scoring.result["results"])
    winners = ", ".join(f"{who} {decided[who]:,}" for who in WINNERS)
    return (
        f"Histogram of the weighted judge's margins, a tie up to {weighted_scoring.tie_threshold:g}, by"
        f" winner: {winners}. The largest margin is {number(max(weighted_scoring.margins))}."
    )


def _labels_inwords(measures: LabelMeasures) -> str:
    labels = labels_beside(measures.human)
    parts = [
        f"{words(label)} {measures.human.get(label, 0):,}"
        + (f" and {measures.predicted.get(label, 0):,}" if isinstance(label, Preference) else "")
        for label in labels
    ]
    unscored = f", unscored {measures.unscored:,}" if measures.unscored else ""
    return f"{words(measures.criterion)}: {', '.join(parts)}{unscored}"


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


def _embedded(svg: bytes, alt: str) -> dict[str, str]:
    data = base64.b64encode(svg).decode("ascii")
    return {"src": f"data:image/svg+xml;base64,{data}", "alt": alt}


def _shown(disagreement: Disagreement) -> dict[str, Any]:
    """What the template shows of a disagreement, next to its texts."""
    judgment = disagreement.pair.judgment
    probabilities = zip(PREFERENCES, judgment.probabilities, strict=True) if judgment else ()
    return {
        "criterion": words(disagreement.criterion),
        "item": disagreement.pair.item,
        "human": disagreement.human,
        "predicted": disagreement.predicted,
        "lead": None if disagreement.lead is None else f"{100 * disagreement.lead:.1f}",
        "probabilities": [(label, percent(probability)) for label, probability in probabilities],
        "explanations": [
            ("Human", disagreement.pair.gold.explanation or ""),
            ("The judge", _judges_explanation(disagreement.pair)),
        ],
        "stale": judgment is not None and judgment.stale,
    }


def _judges_explanation(pair: Pair) -> str:
    """The judge's own, also where an annotator wrote another."""
    if pair.judgment is None:
        return pair.prediction.explanation or ""
    return pair.judgment.explanation.text if pair.judgment.explanation else ""


def _notice(report: Report) -> str:
    """What the model says to its users, under the name that it has in the report; empty for nothing."""
    if report.results is None or report.model is None or not report.model.notice:
        return ""
    return f"{report.results.run.identity.model_name}: {report.model.notice}"


def _how_it_was_made(report: Report) -> Section:
    unknown = "A submission file does not record the model and settings it was made with."
    same = (
        "The same dataset, model, settings and build of llama.cpp on the same computer give the same labels"
        " and probabilities. Quantisation is read from the model file, if it still exists."
    )
    return Section(
        "made",
        "How it was made",
        [Facts(list(_facts(report)))],
        same if report.results else f"{unknown} {same}",
    )


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    """Names and values of all that the numbers depend on."""
    gold = report.evaluation.matched.dataset
    if report.results:
        run = report.results.run
        yield from run_facts(report.results, questions=True).pairs
        if run.by_a_model:
            yield "model, quantisation", report.model.quantisation if report.model else _UNKNOWN
    else:
        path = report.evaluation.matched.system.submission.path
        yield "submission", str(path or report.evaluation.name)
    if report.weighted_scoring:
        yield "weights and tie threshold", report.weights_from
    if report.evaluation.matched.part:
        yield "slice", report.evaluation.matched.part
    yield "human labels", str(gold.path)
    yield "human labels, texts' SHA-256", gold.hash
    yield "report by", f"Tiebreak {VERSION}"
