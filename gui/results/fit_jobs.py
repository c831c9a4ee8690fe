"""Jobs of a learning curve: calibration quality of the open run by number of labels, and its figure.

Jobs of calibration: fit, load and save one, and decide a run with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.tables import Picture, Section, Sentences, Sheet, Tone
from gui.widgets.figure_view import DrawnFigure
from gui.workspace.figures import FigureSource
from gui.workspace.threads import Job, JobControl

if TYPE_CHECKING:
    from engine.calibration.learning import LearningCurve
    from engine.data.dataset import Dataset
    from engine.results.calibration import Calibration
    from engine.results.run_results import RunResults


@dataclass(frozen=True)
class Proposal:
    """A calibration that a run could be decided with.

    `source`: where it comes from, for display. `sheet`: what it is worth, and what it does to the labels of
    the run. `one_label`: whether it gives one label to everything. `fitted`: its numbers; None for one from a
    file.
    """

    calibration: "Calibration"
    source: str
    sheet: Sheet
    one_label: bool
    fitted: Section | None = None


def fit(results: "RunResults", gold: "Dataset", wishes: Mapping[str, bool]) -> Job[Proposal]:
    """Fit a calibration to the run's own raw predictions and these labels, as `calibrating` with these
    requests, whose MeasureProgress it reports. Raises SetupError.
    """

    def work(control: JobControl) -> Proposal:
        from engine.calibration.run_calibration import Wishes, calibrating
        from engine.core.events import followed
        from engine.metrics.matching import match, system_of_run
        from engine.report.calibration import (
            calibration_warnings,
            parameter_section,
            quality_section,
            sources_section,
        )
        from engine.report.run import changes_section

        # Raw predictions are the model's: human overrides takes no part.
        matched = match(system_of_run(results.model_alone()), gold, partial=True)
        made = followed(calibrating(matched, control.cancel, Wishes(**wishes)), control.report)
        one_label = made.one_label_sentence(results)
        changes = changes_section(results, results.calibrated(made.calibration))
        said = [one_label, *matched.labels_in_words, *calibration_warnings(made)]
        sheet = _sheet(said, quality_section(made), *sources_section(made), changes)
        source = f"fitted on {matched.dataset.name}"
        return Proposal(made.calibration, source, sheet, bool(one_label), parameter_section(made))

    return work


def load(results: "RunResults", path: Path) -> Job[Proposal]:
    """A calibration out of a file. SetupError where it is none, or made for another judge."""

    def work(_control: JobControl) -> Proposal:
        from engine.report.run import changes_section
        from engine.results.calibration import load_calibration

        calibration = load_calibration(path)
        lacking = calibration.check_run(results.run, results.judged)
        source = f"from {path.name}, fitted on {calibration.dataset}"
        after = results.calibrated(calibration)
        one_label = after.one_label_sentence
        sheet = _sheet([lacking, one_label], changes_section(results, after))
        return Proposal(calibration, source, sheet, bool(one_label))

    return work


def _sheet(doubts: Sequence[str], *sections: Section) -> Sheet:
    said = [*filter(None, doubts)]
    before = [Section("doubts", "", [Sentences(said, Tone.CAVEAT)])] if said else []
    return Sheet("", [*before, *sections])


def apply(store_path: Path, run_id: int, calibration: "Calibration | None") -> Job[None]:
    """Decide a run with a calibration from now on, with none for None. Raises RunBusyError, StoreError."""

    def work(_control: JobControl) -> None:
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, store.hold(run_id):
            store.calibrate(run_id, calibration.as_json() if calibration else None)

    return work


def save(calibration: "Calibration", path: Path, in_use: Mapping[str, Path]) -> Job[Path]:
    """Write a calibration to a file, over none that is in use. Raises SetupError."""

    def work(_control: JobControl) -> Path:
        from engine.results.calibration import save_calibration
        from engine.system.files import check_targets

        check_targets({"the calibration": path}, in_use)
        save_calibration(path, calibration)
        return path

    return work


CURVE_FIGURE = "learning"


@dataclass(frozen=True, eq=False)
class Learned:
    """A curve of a run, `title`: as its figure names it, and the sheet that says it. `file_name`: of its
    figure.
    """

    curve: "LearningCurve"
    title: str
    sheet: Sheet
    file_name: str

    @property
    def figure(self) -> FigureSource:
        """Its figure."""
        parts = (part for section in self.sheet.sections for part in section.parts)
        notes = [part.note for part in parts if isinstance(part, Picture)]
        shown, saved = partial(_draw, self), partial(_figure_bytes, self)
        return FigureSource(shown, saved, " ".join(notes), self.file_name)


def learn(results: "RunResults", gold: "Dataset", wishes: Mapping[str, bool]) -> Job[Learned]:
    """The curve of the run's own raw predictions by these labels, as `run_curve` with these requests, whose
    MeasureProgress it reports. SetupError for too few labels.
    """

    def work(control: JobControl) -> Learned:
        from engine.calibration.learning import run_curve
        from engine.calibration.run_calibration import Wishes
        from engine.core.events import followed
        from engine.metrics.matching import match, system_of_run
        from engine.report.learning import learning_section

        # Raw predictions are the model's: human overrides takes no part.
        matched = match(system_of_run(results.model_alone()), gold, partial=True)
        curve = followed(run_curve(matched, control.cancel, Wishes(**wishes)), control.report)
        said = matched.labels_in_words
        doubts = [Section("doubts", "", [Sentences(said, Tone.CAVEAT)])] if said else []
        name = f"{matched.system.name}, by labels of {matched.dataset.name}"
        sheet = Sheet(name, [*doubts, learning_section(curve)])
        return Learned(curve, name, sheet, f"{results.run.stem}-{CURVE_FIGURE}")

    return work


def _draw(learned: Learned, dark: bool) -> Job[DrawnFigure]:
    """The figure in the colours of the window."""

    def work(_control: JobControl) -> DrawnFigure:
        from engine.report.learning import learning_report_figure

        figure = learning_report_figure(learned.curve, learned.title)
        return DrawnFigure(CURVE_FIGURE, figure.as_bytes("svg", dark), figure.in_words, table=figure.numbers)

    return work


def _figure_bytes(learned: Learned, form: str) -> Job[bytes]:
    """The figure in the light colours, as `png` or `svg`."""

    def work(_control: JobControl) -> bytes:
        from engine.report.learning import learning_report_figure

        return learning_report_figure(learned.curve, learned.title).as_bytes(form)

    return work
