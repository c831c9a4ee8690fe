"""Jobs that draw figures, for the window and for files.

All are for the lane DRAWING, as matplotlib is not made for two threads at once.

Knows: which figures there are, and when there is nothing to draw. Does not know: windows, painting.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gui.work.lanes import Job, JobControl, Lane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from engine.measure.evaluation import Evaluation

DRAWING = Lane.FILES
"""Not the lane of measures: a figure need not wait until all explanations are measured."""

TITLES = {
    "accuracy": "Accuracy against trivial judges",
    "labels": "Labels given by people and by the judge",
    "confusion": "Human labels and the judge's",
    "reliability": "Reliability of the probabilities",
}


@dataclass(frozen=True)
class Drawn:
    """A figure. `svg`: as it is shown; `in_words`: for those who do not see it."""

    name: str
    svg: bytes
    in_words: str


def draw(evaluation: "Evaluation", dark: bool) -> Job[Sequence[Drawn]]:
    """All figures of an evaluation in the colours of the window; reports each Drawn."""

    def work(control: JobControl) -> Sequence[Drawn]:
        from engine.report.figure_style import as_svg
        from engine.report.figures import all_figures
        from engine.report.findings import figure_in_words
        from engine.report.html_report import reliability_of

        bins = reliability_of(evaluation.matched)
        drawn = []
        for name, figure in all_figures(evaluation, bins, dark=dark).items():
            control.cancel.raise_if_requested()
            svg = _without_empty_glyphs(as_svg(figure))
            drawn.append(Drawn(name, svg, figure_in_words(name, evaluation, bins)))
            control.report(drawn[-1])
        return drawn

    return work


def _without_empty_glyphs(svg: bytes) -> bytes:
    """The same picture without the glyph of the space, of whose empty path Qt complains at each use."""
    for name in re.findall(rb'<path id="([\w-]+)" transform="[^"]*"/>', svg):
        svg = re.sub(rb'<use xlink:href="#' + name + rb'"[^>]*/>', b"", svg)
    return re.sub(rb'<path id="[\w-]+" transform="[^"]*"/>', b"", svg)


def figure_bytes(evaluation: "Evaluation", name: str, form: str) -> Job[bytes]:
    """One figure in the light colours, as `png` or `svg`."""

    def work(_control: JobControl) -> bytes:
        return _bytes(_light(evaluation)[name], form)

    return work


def save_figure(evaluation: "Evaluation", name: str, path: Path, in_use: Mapping[str, Path]) -> Job[Path]:
    """Write one figure in the light colours, in the form that the suffix of the path says; over no file in
    use. Raises SetupError.
    """

    def work(_control: JobControl) -> Path:
        from engine.system.files import check_targets, write_whole

        check_targets({"the figure": path}, in_use)
        write_whole(path, _bytes(_light(evaluation)[name], path.suffix.lower().lstrip(".")))
        return path

    return work


def save_figures(evaluation: "Evaluation", folder: Path, name: str) -> Job[Path]:
    """Write all figures as PNG and SVG into a new folder `name`; where that exists, `name-2` and so on."""

    def work(control: JobControl) -> Path:
        from engine.system.files import write_whole

        target = _new_folder(folder, name)
        for figure_name, figure in _light(evaluation).items():
            for form in ("png", "svg"):
                control.cancel.raise_if_requested()
                write_whole(target / f"{figure_name}.{form}", _bytes(figure, form))
        return target

    return work


def _light(evaluation: "Evaluation") -> "dict[str, Figure]":
    from engine.report.figures import all_figures
    from engine.report.html_report import reliability_of

    return all_figures(evaluation, reliability_of(evaluation.matched))


def _bytes(figure: "Figure", form: str) -> bytes:
    from engine.report.figure_style import as_png, as_svg

    return as_svg(figure) if form == "svg" else as_png(figure)


def _new_folder(folder: Path, name: str) -> Path:
    from engine.core.errors import SetupError

    number = 1
    while True:
        target = folder / (name if number == 1 else f"{name}-{number}")
        try:
            target.mkdir()
        except FileExistsError:
            number += 1
        except OSError as error:
            raise SetupError(
                f"The folder {target} cannot be made: {error.strerror}.", "Choose another folder."
            ) from error
        else:
            return target
