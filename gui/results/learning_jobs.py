"""Jobs of a learning curve: calibration quality of the open run by number of labels, and its figure.

Knows: which section shows a curve. Does not know: windows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from engine.core.sheets import Picture, Section, Sentences, Sheet, Tone
from gui.kit.figure_view import DrawnFigure
from gui.work.framed_picture import FigureSource
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.calibrate.learning import LearningCurve
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults

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
        from engine.calibrate.learning import run_curve
        from engine.calibrate.run_calibration import Wishes
        from engine.core.events import followed
        from engine.measure.matching import match
        from engine.measure.systems import system_of_run
        from engine.report.learning_sections import learning_section

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
        from engine.report.figure_style import as_svg
        from engine.report.learning_figure import learning_figure, learning_in_words
        from engine.report.learning_sections import point_table

        said = learning_in_words(learned.curve)
        svg = as_svg(learning_figure(learned.curve, learned.title, dark), said)
        return DrawnFigure(CURVE_FIGURE, svg, said, table=point_table(learned.curve))

    return work


def _figure_bytes(learned: Learned, form: str) -> Job[bytes]:
    """The figure in the light colours, as `png` or `svg`."""

    def work(_control: JobControl) -> bytes:
        from engine.report.figure_style import as_png, as_svg
        from engine.report.learning_figure import learning_figure, learning_in_words

        figure = learning_figure(learned.curve, learned.title)
        return as_svg(figure, learning_in_words(learned.curve)) if form == "svg" else as_png(figure)

    return work
