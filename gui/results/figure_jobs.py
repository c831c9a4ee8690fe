"""Jobs that draw figures, for the window and for files.

All are for the worker thread DRAWING, as matplotlib is not made for two threads at once.

Knows: which figures there are, and when there is nothing to draw. Does not know: windows, painting.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from engine.core.formatting import words
from engine.core.items import PREFERENCES, HumanLabel, Preference, labels_beside
from gui.widgets.figure_view import Box, DrawnFigure, FigureMark
from gui.widgets.label_mark import LABEL_WORDS
from gui.workspace.threads import Job, JobControl

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from engine.metrics.evaluation import Evaluation
    from engine.metrics.matching import Pair

TITLES = {
    "accuracy": "Accuracy and baselines",
    "labels": "How often each label was given",
    "confusion": "Human labels and the judge's",
    "reliability": "Reliability of the probabilities",
    "orders": "The second order only if uncertain",
}


def draw(evaluation: "Evaluation", dark: bool) -> Job[Sequence[DrawnFigure]]:
    """All figures of an evaluation in the colours of the window; reports each Drawn."""

    def work(control: JobControl) -> Sequence[DrawnFigure]:
        from engine.report.drawing import as_svg
        from engine.report.html_report import figures_of

        drawn = []
        for name, found in figures_of(evaluation).items():
            control.cancel.raise_if_requested()
            figure, said = found.draw(dark), found.in_words
            spots = spots_of(name, figure, evaluation)
            drawn.append(DrawnFigure(name, as_svg(figure, said), said, spots, found.numbers))
            control.report(drawn[-1])
        return drawn

    return work


def spots_of(name: str, figure: "Figure", evaluation: "Evaluation") -> list[FigureMark]:
    """The places of a figure that was drawn; none where it does not count items by their labels."""
    spots = []
    for axes, (criterion, measures) in zip(figure.axes, evaluation.labels.items(), strict=False):
        given = labels_beside(measures.human)
        ids = _ids_by_labels(evaluation.matched.pairs[criterion])
        for (human, label), box in _PLACES[name](axes, given) if name in _PLACES else ():
            found = frozenset().union(
                *(some for (gold, own), some in ids.items() if human in (ANY, gold) and label in (ANY, own))
            )
            parts = [
                f"{who} {LABEL_WORDS[which]}"
                for who, which in (("human", human), ("judge", label))
                if which != ANY
            ]
            if found:
                spots.append(FigureMark(box, criterion, f"{', '.join(parts)}, on {words(criterion)}", found))
    return spots


ANY: Literal["any"] = "any"
_Wanted = HumanLabel | Literal["any"] | None  # None: unscored
_Labels = tuple[_Wanted, _Wanted]  # of annotators and of the judge


def _ids_by_labels(pairs: "Sequence[Pair]") -> Mapping[tuple[HumanLabel | None, Preference | None], set[str]]:
    """The ids of items by the label of annotators and that of the judge."""
    ids: dict[tuple[HumanLabel | None, Preference | None], set[str]] = {}
    for pair in pairs:
        ids.setdefault((pair.gold.label, pair.prediction.preference), set()).add(pair.item.id)
    return ids


def _cells(axes: "Axes", rows: Sequence[HumanLabel]) -> Iterator[tuple[_Labels, Box]]:
    """The cells of a matrix: annotators' labels down, the judge's across, perhaps a last one for unscored."""
    left, top, right, bottom = _frame(axes)
    columns = (*PREFERENCES, None)[: round(max(axes.get_xlim()))]
    wide, high = (right - left) / len(columns), (bottom - top) / len(rows)
    for row, human in enumerate(rows):
        for column, label in enumerate(columns):
            x, y = left + column * wide, top + row * high
            yield (human, label), (x, y, x + wide, y + high)


def _bars(axes: "Axes", labels: Sequence[HumanLabel]) -> Iterator[tuple[_Labels, Box]]:
    """For each label the bars of annotators and of the judge, side by side; also the room above a low one."""
    left, top, right, bottom = _frame(axes)
    low, high = axes.get_xlim()
    unit = (right - left) / (high - low)
    for place, label in enumerate((*labels, None)):
        middle = left + (place - low) * unit
        if label is not None:
            yield (label, ANY), (middle - 0.4 * unit, top, middle, bottom)
        yield (ANY, label), (middle, top, middle + 0.4 * unit, bottom)


def _frame(axes: "Axes") -> Box:
    place = axes.get_position()
    return place.x0, 1 - place.y1, place.x1, 1 - place.y0


_PLACES: Mapping[str, Callable[["Axes", Sequence[HumanLabel]], Iterator[tuple[_Labels, Box]]]] = {
    "confusion": _cells,
    "labels": _bars,
}


def figure_bytes(evaluation: "Evaluation", name: str, form: str) -> Job[bytes]:
    """One figure in the light colours, as `png` or `svg`."""

    def work(_control: JobControl) -> bytes:
        from engine.report.html_report import figures_of

        return figures_of(evaluation)[name].as_bytes(form)

    return work


def save_figures(evaluation: "Evaluation", folder: Path, name: str) -> Job[Path]:
    """Write all figures as PNG and SVG into a new folder `name`; where that exists, `name-2` and so on."""

    def work(control: JobControl) -> Path:
        from engine.report.html_report import figures_of
        from engine.system.files import write_whole

        target = _new_folder(folder, name)
        for figure_name, figure in figures_of(evaluation).items():
            for form in ("png", "svg"):
                control.cancel.raise_if_requested()
                write_whole(target / f"{figure_name}.{form}", figure.as_bytes(form))
        return target

    return work


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
