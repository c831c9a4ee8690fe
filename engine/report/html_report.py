"""One HTML file that says what a judge is worth: how it was made, tables, figures, the largest disagreements.
It has no script and loads nothing; texts are escaped, and what could reorder or hide text is written out.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from engine.calibration.learning import LearningCurve, MarginReport
from engine.calibration.scaling import ReliabilityBin
from engine.core import VERSION
from engine.core.formatting import capitalised, percent, visible, words
from engine.core.items import PREFERENCES
from engine.core.tables import Facts, Section, Sheet
from engine.metrics.evaluation import Disagreement, Evaluation, SlicedMeasures, largest_disagreements
from engine.models.model_file import ModelFile
from engine.ranking.labelled_part import corrected_shares
from engine.ranking.weighted_scoring import WeightedScoring
from engine.report import calibration, orders, ranking, trust
from engine.report.accuracy import accuracy_figures
from engine.report.audit import audit_of_copies, with_audit
from engine.report.correction import share_sections
from engine.report.drawing import ReportFigure
from engine.report.evaluation import evaluation_sheet
from engine.report.rankings import ReportedRanking, reported_ranking
from engine.report.run import judged_model, run_facts
from engine.report.slices import slice_sections
from engine.report.weighted_scoring import margin_report_figure, weighted_scoring_section
from engine.results.run_results import RunResults
from engine.results.trust import KeptTrust, valid_trust

_TEMPLATE = "report_template.html"
_UNKNOWN = "not known"
DEFAULT_WEIGHTS = "default"
"""The source of weights that the user did not choose: the rubric."""
_WITH_A_TABLE = ("accuracy", "labels", calibration.LEARNING_FIGURE, ranking.RANKING_FIGURE)
FIGURE_NAMES = ("accuracy", "labels", "confusion", "reliability", "margins", "orders")
REPORT_FIGURES = (*FIGURE_NAMES, calibration.LEARNING_FIGURE, trust.TRUST_FIGURE, ranking.RANKING_FIGURE)
"""The names of all figures that a report may have."""


def evaluation_figures(
    evaluation: Evaluation,
    bins: Mapping[str, Sequence[ReliabilityBin]],
    orders_read: MarginReport | None = None,
    weighted_scoring: WeightedScoring | None = None,
) -> dict[str, ReportFigure]:
    """Every figure of an evaluation that there is something to show in, in the order of FIGURE_NAMES."""
    figures, name = accuracy_figures(evaluation), evaluation.name
    if bins:
        figures["reliability"] = calibration.reliability_report(bins, name)
    if weighted_scoring and weighted_scoring.margins:
        figures["margins"] = margin_report_figure(weighted_scoring, name)
    if orders_read:
        figures["orders"] = orders.order_report_figure(orders_read, name)
    return figures


def figures_of(evaluation: Evaluation) -> dict[str, ReportFigure]:
    """The same with what its run alone tells of reliability and orders."""
    found = Report(evaluation)
    return evaluation_figures(evaluation, found.bins, found.orders)


@dataclass(frozen=True)
class Report:
    """What a report is made of: what was asked for, and what its evaluation alone tells.

    `weights_from`: where the weights and the tie threshold of `weighted_scoring` come from. `slices`: the
    measures by slice, for each division. `curve`: what more labels bring.
    """

    evaluation: Evaluation
    weighted_scoring: WeightedScoring | None = None
    weights_from: str = DEFAULT_WEIGHTS
    slices: Sequence[SlicedMeasures] = ()
    curve: LearningCurve | None = None

    @property
    def results(self) -> RunResults | None:
        return self.evaluation.matched.system.results

    @cached_property
    def bins(self) -> Mapping[str, Sequence[ReliabilityBin]]:
        """The reliability by criterion, empty for a submission."""
        return calibration.reliability_of(self.evaluation.matched)

    @cached_property
    def model(self) -> ModelFile | None:
        """The model file of a run as it is now, None where it is gone or another."""
        return judged_model(self.results.run) if self.results else None

    @cached_property
    def orders(self) -> MarginReport | None:
        return orders.order_report_of(self.evaluation.matched)

    @cached_property
    def ranking(self) -> ReportedRanking | None:
        return reported_ranking(self.evaluation.matched)

    @cached_property
    def trust(self) -> KeptTrust | None:
        """Which labels of a run may stand, where that is kept with it."""
        return valid_trust(self.results) if self.results else None

    @cached_property
    def figures(self) -> dict[str, ReportFigure]:
        found = evaluation_figures(self.evaluation, self.bins, self.orders, self.weighted_scoring)
        if self.curve:
            name = self.evaluation.name
            found[calibration.LEARNING_FIGURE] = calibration.learning_report_figure(self.curve, name)
        if self.trust:
            found[trust.TRUST_FIGURE] = trust.trust_report_figure(self.trust, self.evaluation.name)
        if self.ranking:
            figure = ranking.ranking_report_figure(self.ranking.ranking, self.ranking.title)
            found[ranking.RANKING_FIGURE] = figure
        return found


def report_html(report: Report, drawn: Mapping[str, bytes] | None = None) -> str:
    """The whole page; `drawn`: the figures of the report as SVG, drawn here unless given."""
    evaluation, figures, notice = report.evaluation, report.figures, ""
    if report.results is not None and report.model is not None and report.model.notice:
        # Under the name that the model has in the report.
        notice = f"{report.results.run.identity.model_name}: {report.model.notice}"
    if drawn is None:
        drawn = {name: figure.as_bytes("svg") for name, figure in figures.items()}
    note = f"{'' if report.results else _UNKNOWN_MAKING}{_SAME_AGAIN}"
    return _template().render(
        version=VERSION,
        name=evaluation.name,
        dataset=evaluation.matched.dataset.name,
        notice=notice,
        is_run=report.results is not None,
        sections=report_sheet(report).sections,
        figures={
            name: {
                "src": f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}",
                "alt": figures[name].in_words,
            }
            for name, svg in drawn.items()
        },
        tables={name: None if name in _WITH_A_TABLE else figures[name].numbers for name in drawn},
        overridden=bool(evaluation.matched.system.overrides),
        disagreements=[_shown(disagreement) for disagreement in largest_disagreements(evaluation)],
        made=Section("made", "How it was made", [Facts(list(_facts(report)))], note),
    )


def report_sheet(report: Report) -> Sheet:
    matched, results = report.evaluation.matched, report.results
    divisions = [each.division for each in report.slices]
    more = [
        *(report.ranking.sections if report.ranking else ()),
        *share_sections(corrected_shares(matched.system, matched.dataset, divisions)),
        *slice_sections(report.slices),
        *([calibration.RELIABILITY_SECTION] if report.bins else ()),
        *([orders.ORDERS_SECTION] if report.orders else ()),
        *([calibration.learning_section(report.curve)] if report.curve else ()),
        *([trust.kept_section(report.trust)] if report.trust else ()),
    ]
    if report.weighted_scoring:
        more.append(weighted_scoring_section(report.weighted_scoring, matched.system, report.weights_from))
    audited = audit_of_copies(results, matched.dataset) if results else None
    return with_audit(evaluation_sheet(report.evaluation, more=more), audited)


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
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _shown(disagreement: Disagreement) -> dict[str, Any]:
    judgment = disagreement.pair.judgment
    own = disagreement.pair.prediction.explanation or ""
    if judgment is not None:  # the judge's own, also where an annotator wrote another
        own = judgment.explanation.text if judgment.explanation else ""
    probabilities = zip(PREFERENCES, judgment.probabilities, strict=True) if judgment else ()
    return {
        "criterion": words(disagreement.criterion),
        "item": disagreement.pair.item,
        "human": disagreement.human,
        "predicted": disagreement.predicted,
        "lead": None if disagreement.lead is None else f"{100 * disagreement.lead:.1f}",
        "probabilities": [(label, percent(probability)) for label, probability in probabilities],
        "explanations": [("Human", disagreement.pair.gold.explanation or ""), ("The judge", own)],
        "stale": judgment is not None and judgment.stale,
    }


_UNKNOWN_MAKING = "A submission file does not record the model and settings it was made with. "
_SAME_AGAIN = (
    "The same dataset, model, settings and build of llama.cpp on the same computer give the same labels and"
    " probabilities. Quantisation is read from the model file, if it still exists."
)


def _facts(report: Report) -> Iterator[tuple[str, str]]:
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
    for candidate, made_with in gold.candidates.items():
        if made_with:
            yield f"responses of {candidate}", made_with
    yield "human labels", str(gold.path)
    yield "human labels, texts' SHA-256", gold.hash
    yield "report by", f"Tiebreak {VERSION}"
