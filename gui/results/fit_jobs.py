"""Jobs of calibration: fit, load and save one, decide a run with it, measure its learning curve; which labels
may stand by how confident the judge is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import SetupError
from engine.core.events import followed
from engine.core.formatting import counted, percent, words
from engine.core.tables import Section, Sentences, Sheet, Tone
from engine.settings.identity import TRUST
from engine.system.files import check_targets
from gui.results.export_jobs import figure_source
from gui.widgets.notice import problem_of
from gui.workspace.figures import FigureSource
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.results.calibration import Calibration
    from engine.results.run_results import RunResults
    from engine.results.trust import KeptTrust


@dataclass(frozen=True)
class Proposal:
    calibration: "Calibration"
    source: str
    sheet: Sheet  # what it is worth, and does to the run's labels
    one_label: bool  # whether it gives one label to everything
    fitted: Section | None = None  # its numbers; None for one from a file


@job
def fit(control: JobControl, results: "RunResults", gold: "Dataset", wishes: Mapping[str, bool]) -> Proposal:
    """Fit a calibration to the run's own raw predictions and these labels, as `calibrating` reports."""
    from engine.calibration.run_calibration import Wishes
    from engine.metrics.matching import system_of_run
    from engine.operations.measuring import fit_calibration
    from engine.report import calibration as reports
    from engine.report.run import changes_section

    # Raw predictions are the model's: human overrides take no part.
    system = system_of_run(results.model_alone())
    fitting = fit_calibration(system, gold, Wishes(**wishes), control.cancel, partial=True)
    matched, made = followed(fitting, control.progress)
    one_label = made.one_label_sentence(results)
    changes = changes_section(results, results.calibrated(made.calibration))
    said = [one_label, *matched.labels_in_words, *reports.calibration_warnings(made)]
    sections = (reports.quality_section(made), *reports.sources_section(made), changes)
    sheet = Sheet("", [reports.in_short_section(made), *_sheet(said, *sections).sections])
    source = f"fitted on {matched.dataset.name}"
    return Proposal(made.calibration, source, sheet, bool(one_label), reports.parameter_section(made))


@job
def load(_control: JobControl, results: "RunResults", path: Path) -> Proposal:
    """SetupError where it is none, or made for another judge."""
    from engine.report.run import changes_section
    from engine.results.calibration import load_calibration

    calibration = load_calibration(path)
    lacking = calibration.check_run(results.run, results.judged)
    source = f"from {path.name}, fitted on {calibration.dataset}"
    after = results.calibrated(calibration)
    sheet = _sheet([lacking, after.one_label_sentence], changes_section(results, after))
    return Proposal(calibration, source, sheet, bool(after.one_label_sentence))


def _sheet(doubts: Sequence[str], *sections: Section, title: str = "") -> Sheet:
    said = [*filter(None, doubts)]
    before = [Section("doubts", "", [Sentences(said, Tone.CAVEAT)])] if said else []
    return Sheet(title, [*before, *sections])


@job
def apply(_control: JobControl, store_path: Path, run_id: int, calibration: "Calibration | None") -> None:
    """Decide a run with a calibration from now on, with none for None. Raises RunBusyError, StoreError."""
    from engine.store.run_store import RunStore

    with RunStore(store_path) as store, store.hold(run_id):
        store.calibrate(run_id, calibration.as_json() if calibration else None)


@job
def save(_control: JobControl, calibration: "Calibration", path: Path, in_use: Mapping[str, Path]) -> Path:
    """Write a calibration to a file, over none that is in use. Raises SetupError."""
    from engine.results.calibration import save_calibration

    check_targets({"the calibration": path}, in_use)
    save_calibration(path, calibration)
    return path


CURVE_FIGURE = "learning"


@dataclass(frozen=True, eq=False)
class Learned:
    sheet: Sheet
    figure: FigureSource


@job
def learn(control: JobControl, results: "RunResults", gold: "Dataset", wishes: Mapping[str, bool]) -> Learned:
    """The curve of the run's own raw predictions by these labels, as `run_curve` reports and raises."""
    from engine.calibration.learning import run_curve
    from engine.calibration.run_calibration import Wishes
    from engine.metrics.matching import match, system_of_run
    from engine.report.calibration import learning_report_figure, learning_section

    # Raw predictions are the model's: human overrides take no part.
    matched = match(system_of_run(results.model_alone()), gold, partial=True)
    curve = followed(run_curve(matched, control.cancel, Wishes(**wishes)), control.report)
    name = f"{matched.system.name}, by labels of {matched.dataset.name}"
    sheet = _sheet(matched.labels_in_words, learning_section(curve), title=name)
    draw = partial(learning_report_figure, curve, name)
    return Learned(sheet, figure_source(CURVE_FIGURE, draw, sheet, f"{results.run.stem}-{CURVE_FIGURE}"))


TRUST_FIGURE = "trust"


@dataclass(frozen=True, eq=False)
class FoundTrust:
    """`stands`: whether any label may. `more`: labels that would let one stand where none may, 0 for unknown.
    `labelled`: the ids of the items that need no label for a larger sample.
    """

    in_short: str
    stands: bool
    more: int
    labelled: frozenset[str]
    kept: "KeptTrust"
    sheet: Sheet
    figure: FigureSource


@job
def find_trust(
    control: JobControl, /, results: "RunResults", items: "Dataset", by: str, *how: bool, **promise: Any
) -> FoundTrust:
    """By labels of annotators on the run and those of `items`. `by`: one of CONFIDENCES; `how`: `jointly` and
    `forecasts` of TrustRequest; `promise`: what Promise takes. SetupError where no label counts.
    """
    from engine.analysis.trust import TrustRequest, trust_of
    from engine.metrics.matching import match_items, system_of_run
    from engine.metrics.trust import Promise
    from engine.report.trust import trust_report_figure, trust_sections
    from engine.results.trust import confidences

    matched = match_items(system_of_run(results), items, partial=True)
    system = matched.system
    request = TrustRequest([system], items, Promise(**promise), confidences(by), *how)
    found = trust_of(request, control.cancel)
    known = {name: each.trust for name, each in found.criteria.items() if each.trust}
    labelled = frozenset.intersection(*(found.criteria[name].labelled for name in known))
    shares = [f"{percent(each.accepted)} on {words(name)}" for name, each in known.items() if each.taken]
    more = 0 if shares else min(filter(None, (each.more_labels for each in known.values())), default=0)
    said = f"about {counted(more, 'more label', 'more labels')} could be enough" if more else "see why below"
    said = f"Labels that may stand: {', '.join(shares)}." if shares else f"Trust no label yet: {said}."
    # Of what the run has not come to, nothing is said: it is known.
    sheet = _sheet(replace(matched, missing=()).left_out, *trust_sections(found))
    draw = partial(trust_report_figure, found.kept, f"{system.name}, by labels of {items.name}")
    figure = figure_source(TRUST_FIGURE, draw, sheet, f"{results.run.stem}-{TRUST_FIGURE}")
    return FoundTrust(said, bool(shares), more, labelled, found.kept, sheet, figure)


@job
def keep_trust(_control: JobControl, store_path: Path, run_id: int, kept: "KeptTrust") -> None:
    """RunBusyError, StoreError."""
    from engine.store.run_store import RunStore

    with RunStore(store_path) as store:
        kept.keep(store, run_id)


def kept_in_words(results: "RunResults") -> tuple[str, bool]:
    """Which labels may stand by what is kept with a run, or why that does not hold; whether it does."""
    from engine.results.trust import kept_trust

    if TRUST not in results.run.manifest:
        return "", False
    try:
        kept = kept_trust(results)
    except SetupError as error:
        return " ".join(problem_of(error)), False
    known = {name: each.accepted for name, each in kept.criteria.items() if each.confidence is not None}
    shares = ", ".join(f"{percent(share)} on {words(name)}" for name, share in known.items()) or "no label"
    return f"Kept with {results.run.called}: {kept.in_words}. May stand: {shares}.", True
