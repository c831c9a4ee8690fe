"""Jobs that draw the figures of a run, and write it to files: submissions, all data, the report.

Those that draw are for the worker thread DRAWING, as matplotlib is not made for two threads at once.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from engine.annotations.records import LAST, LabelSource
from engine.core.codec import plain
from engine.core.errors import SetupError
from engine.core.events import followed
from engine.core.formatting import short_name, words
from engine.core.health import NOT_LOOKED_AT, Health
from engine.core.items import HumanLabel, labels_beside
from engine.core.tables import Picture, Sheet
from engine.system.files import check_targets, write_json, write_whole
from engine.system.paths import PathKind, found_at, is_there
from gui.results.run_weights import WeightsChoice
from gui.results.score_jobs import Basis, Scores, weighed, with_annotators
from gui.widgets.label_mark import LABEL_WORDS
from gui.workspace.figures import Box, DrawnFigure, FigureMark, FigureSource
from gui.workspace.open_run import measured_mark
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from engine.data.dataset import Dataset
    from engine.data.slices import Slicing
    from engine.metrics.accuracy import LabelMeasures
    from engine.metrics.evaluation import Evaluation
    from engine.report.drawing import ReportFigure
    from engine.results.run_results import RunResults

TITLES = {
    "accuracy": "Accuracy and baselines",
    "labels": "How often each label was given",
    "confusion": "Human labels and the judge's",
    "reliability": "Reliability of the probabilities",
    "orders": "The second order only if uncertain",
}


@job
def draw(control: JobControl, evaluation: "Evaluation", dark: bool) -> Sequence[DrawnFigure]:
    """All figures of an evaluation in the colours of the window; reports each Drawn."""
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


def spots_of(name: str, figure: "Figure", evaluation: "Evaluation") -> list[FigureMark]:
    """The places of a figure that was drawn; none where it does not count items by their labels."""
    spots = []
    for axes, (criterion, measures) in zip(figure.axes, evaluation.labels.items(), strict=False):
        ids: dict[tuple[HumanLabel | None, HumanLabel | None], set[str]] = defaultdict(set)
        for pair in evaluation.matched.pairs[criterion]:
            ids[pair.gold.label, pair.prediction.preference].add(pair.item.id)
        for (human, label), box in _PLACES[name](axes, measures) if name in _PLACES else ():
            found = frozenset().union(
                *(some for (gold, own), some in ids.items() if human in (ANY, gold) and label in (ANY, own))
            )
            sides = (("human", human), ("judge", label))
            parts = [f"{who} {LABEL_WORDS[which]}" for who, which in sides if which != ANY]
            if found:
                spots.append(FigureMark(box, criterion, f"{', '.join(parts)}, on {words(criterion)}", found))
    return spots


ANY: Literal["any"] = "any"
_Wanted = HumanLabel | Literal["any"] | None  # None: unscored
_Labels = tuple[_Wanted, _Wanted]  # of annotators and of the judge


def _cells(axes: "Axes", measures: "LabelMeasures") -> Iterator[tuple[_Labels, Box]]:
    """The cells of a matrix: annotators' labels down, the judge's across, perhaps a last one for unscored."""
    left, top, right, bottom = _frame(axes)
    rows = labels_beside(measures.human)
    columns = (*labels_beside(measures.predicted), None)[: round(max(axes.get_xlim()))]
    wide, high = (right - left) / len(columns), (bottom - top) / len(rows)
    for (row, human), (column, label) in product(enumerate(rows), enumerate(columns)):
        x, y = left + column * wide, top + row * high
        yield (human, label), (x, y, x + wide, y + high)


def _bars(axes: "Axes", measures: "LabelMeasures") -> Iterator[tuple[_Labels, Box]]:
    """For each label the bars of annotators and of the judge, side by side; also the room above a low one."""
    left, top, right, bottom = _frame(axes)
    low, high = axes.get_xlim()
    unit = (right - left) / (high - low)
    for place, label in enumerate((*labels_beside({*measures.human, *measures.predicted}), None)):
        middle = left + (place - low) * unit
        if label is not None:
            yield (label, ANY), (middle - 0.4 * unit, top, middle, bottom)
        yield (ANY, label), (middle, top, middle + 0.4 * unit, bottom)


def _frame(axes: "Axes") -> Box:
    place = axes.get_position()
    return place.x0, 1 - place.y1, place.x1, 1 - place.y0


_PLACES: Mapping[str, Callable[["Axes", "LabelMeasures"], Iterator[tuple[_Labels, Box]]]] = {
    "confusion": _cells,
    "labels": _bars,
}


def figure_source(key: str, make: "Callable[[], ReportFigure]", sheet: Sheet, file_name: str) -> FigureSource:
    """A figure of a report, read as the pictures of its sheet say."""
    parts = (part for section in sheet.sections for part in section.parts)
    notes = [part.note for part in parts if isinstance(part, Picture)]
    return FigureSource(partial(_drawn, key, make), partial(figure_bytes, make), " ".join(notes), file_name)


@job
def _drawn(_control: JobControl, key: str, make: "Callable[[], ReportFigure]", dark: bool) -> DrawnFigure:
    figure = make()
    return DrawnFigure(key, figure.as_bytes("svg", dark), figure.in_words, table=figure.numbers)


@job
def figure_bytes(_control: JobControl, make: "Callable[[], ReportFigure]", form: str) -> bytes:
    """In the light colours, as `png` or `svg`."""
    return make().as_bytes(form)


def figure_of(evaluation: "Evaluation", name: str) -> "ReportFigure":
    from engine.report.html_report import figures_of

    return figures_of(evaluation)[name]


def _new_folder(folder: Path, name: str) -> Path:
    """A new folder `name`; where that exists, `name-2` and so on."""
    for number in count(1):
        target = folder / (name if number == 1 else f"{name}-{number}")
        try:
            target.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            problem = f"The folder {target} cannot be made: {error.strerror}."
            raise SetupError(problem, "Choose another folder.") from error
        return target
    raise AssertionError("numbers do not end")


class Form(StrEnum):
    LABELS = "labels"
    EXPLAINED = "explained"
    DATASET = "dataset"
    CSV = "csv"
    JSON = "json"
    REPORT = "report"
    FIGURES = "figures"

    @property
    def has_human_labels(self) -> bool:
        return self in (Form.CSV, Form.REPORT, Form.FIGURES)

    @property
    def has_weights(self) -> bool:
        return self in (Form.JSON, Form.REPORT)


@dataclass(frozen=True)
class Written:
    path: Path
    what: str  # of which run, decided how
    gaps: Sequence[str] = ()  # sentences on what it lacks
    checked: Sequence[str] = ()  # what a check against the run's dataset says
    health: Health = NOT_LOOKED_AT  # of the judge
    whole: bool = True  # nothing that belongs there is missing

    @property
    def role(self) -> str:
        return "problem" if self.health.doubted else "done" if self.whole else "note"

    @property
    def text(self) -> str:
        """All that is to be known of it, the gravest first."""
        grave = filter(None, [self.health.in_short])
        return "\n".join([f"Written: {self.path.name}", *grave, *self.gaps, *self.checked, self.what])


@dataclass(frozen=True)
class Exported:
    whole: "RunResults"  # with the effective labels
    source: LabelSource  # whose labels are exported
    dataset: "Dataset | None"  # the items that it judged
    gold: "Dataset | None"  # the human labels that it is compared with, because of `gold_from`
    request: WeightsChoice
    known: Sequence[Scores]  # what was measured, of this run or another
    in_use: Mapping[str, Path]  # files that must stay, by the words for them
    health: Health
    gold_from: str
    slicing: "Slicing | None"  # by what the page divides the items
    with_stale: bool = False  # a submission has explanations of other labels than the effective ones, too
    with_judge: bool = False  # a dataset has the judge's labels where nobody gave one
    with_curve: bool = False  # a report has the learning curve
    accepted: bool = False  # only labels that may stand

    @property
    def results(self) -> "RunResults":
        """With the labels that are exported. SetupError where it is not known which may stand."""
        from engine.results.trust import accepted_only

        found = self.whole.by(self.source)
        return accepted_only(found) if self.accepted else found

    @property
    def calibration_in_words(self) -> str:
        made = self.whole.calibration
        return "none" if made is None else f"as fitted on {made.dataset} ({made.hash[:12]})"

    @property
    def gold_in_words(self) -> str:
        return "none" if self.gold is None else f"{short_name(self.gold.name)}, {self.gold_from}"

    def in_words(self, form: Form) -> str:
        run, identity = self.whole.run, self.whole.run.identity
        by = "" if run.submitted else f" by {short_name(identity.model_name)}"
        weights = f"; weights: {self.request.in_words}" if form.has_weights else ""
        labels = f"; human labels: {self.gold_in_words}" if form.has_human_labels else ""
        of = f"{run.title} of {short_name(identity.dataset_path.name)}{by}"
        return f"{of}; calibration: {self.calibration_in_words}{weights}{labels}."

    def evaluation(self, results: "RunResults") -> "Evaluation":
        """All that can be measured without a model. SetupError where the labels do not fit."""
        from engine.metrics.evaluation import evaluate
        from engine.metrics.matching import match, system_of_run

        assert self.gold is not None  # the window asks for labels before
        mark = measured_mark(results, self.gold)
        for scores in self.known:
            if scores.mark == mark and scores.explained and scores.evaluation is not None:
                return with_annotators(scores, results).evaluation or scores.evaluation
        return evaluate(match(system_of_run(results), self.gold, partial=True))


@job
def export(_control: JobControl, form: Form, what: Exported, path: Path) -> Written:
    """A run as a submission or all data; the human labels of a CSV are those that it is compared with."""
    from engine.data.submission import write_submission
    from engine.results.exports import as_json, write_results_csv
    from engine.results.run_results import submission_of

    check_targets({"the export": path}, what.in_use)
    results = what.results
    if form is Form.CSV:
        write_results_csv(path, results, what.dataset, what.gold)
    elif form is Form.JSON:
        write_json(path, {**as_json(results, what.dataset), "weighted_judge": _weights_json(what.request)})
    else:
        submission = submission_of(results, what.with_stale)
        write_submission(path, submission if form is Form.EXPLAINED else submission.labels_only())
    checked, answers = _checked(what, path) if form in (Form.LABELS, Form.EXPLAINED) else ([], True)
    return _written(form, what, path, checked, answers)


@job
def export_dataset(_control: JobControl, what: Exported, path: Path) -> Written:
    """Write the run's dataset with the human labels as human labels. Raises SetupError."""
    from engine.data.submission import write_dataset
    from engine.results.run_dataset import labelled_dataset, written_otherwise

    assert what.dataset is not None  # the window asks for it before
    check_targets({"the export": path}, what.in_use)
    made = labelled_dataset(what.results, what.dataset, what.with_judge)
    write_dataset(path, made.columns)
    otherwise = written_otherwise(path, made, what.dataset)
    return Written(path, what.in_words(Form.DATASET), made.sentences, otherwise, whole=not otherwise)


@job
def export_report(control: JobControl, what: Exported, path: Path) -> Written:
    """Write the HTML report of a run, with the weighted judge as it is set. Raises SetupError."""
    from engine.calibration.learning import run_curve
    from engine.metrics.evaluation import measure_slices
    from engine.report.html_report import Report, report_html

    check_targets({"the export": path}, what.in_use)
    evaluation = what.evaluation(what.results)
    try:
        weighted_scoring = weighed(Basis(evaluation.matched.system, what.gold), what.request)
    except SetupError:
        weighted_scoring = None  # all weights are 0
    slices = [measure_slices(evaluation.matched, what.slicing)] if what.slicing else []
    measuring = run_curve(evaluation.matched, control.cancel)
    curve = followed(measuring, control.report) if what.with_curve else None
    report = Report(evaluation, weighted_scoring, what.request.source, slices, curve)
    write_whole(path, report_html(report).encode("utf-8"))
    return _written(Form.REPORT, what, path)


@job
def export_figures(control: JobControl, what: Exported, folder: Path) -> Written:
    """Write all figures as PNG and SVG into a new folder of the run's name. Raises SetupError."""
    from engine.report.html_report import figures_of

    found = figures_of(what.evaluation(what.results))
    target = _new_folder(folder, f"{what.whole.run.stem}-figures")
    for name, figure in found.items():
        for form in ("png", "svg"):
            control.cancel.raise_if_requested()
            write_whole(target / f"{name}.{form}", figure.as_bytes(form))
    return _written(Form.FIGURES, what, target)


@job
def look_at_target(_control: JobControl, form: Form, path: Path, in_use: Mapping[str, Path]) -> bool:
    """Whether something would be replaced there. SetupError where it cannot be written, or must not."""
    if form is Form.FIGURES:
        if found_at(path) is not PathKind.FOLDER:
            raise SetupError(f"There is no folder {path}.", "Choose one that is there.")
        return False
    check_targets({"the export": path}, in_use)
    return is_there(path)


def _written(
    form: Form, what: Exported, path: Path, checked: Sequence[str] = (), answers_all: bool = True
) -> Written:
    """Of a file that was written what is missing, what is not the model's, and what the user left out."""
    from engine.results.completeness import IncompleteKind, gaps, incomplete
    from engine.results.trust import accepted_in_words

    results = what.whole.by(what.source)
    said = [incomplete(results)] if results.left else []
    without = form in (Form.LABELS, Form.FIGURES)
    unshown = (IncompleteKind.UNEXPLAINED, IncompleteKind.STALE) if without else ()
    said += [gap.sentence for gap in gaps(results) if gap.kind not in unshown]
    said += accepted_in_words(what.results) if what.accepted else ()
    if what.source != LAST:
        said.append(f"Labels chosen on the Results page: {what.source.in_words}.")
    return Written(path, what.in_words(form), said, checked, what.health, answers_all and not results.left)


def _weights_json(request: WeightsChoice) -> dict[str, object]:
    fit = {"fit": plain(request.fit)} if request.fit else {}
    weights, threshold = dict(request.weights), request.tie_threshold
    return {"weights": weights, "tie_threshold": threshold, "from": request.source, **fit}


def _checked(what: Exported, path: Path) -> tuple[list[str], bool]:
    """What a submission answers of the dataset as it lies there now, and whether that is all its items."""
    from engine.data.submission import check_submission, read_submission
    from engine.results.run_dataset import load_as_judged

    file = what.whole.run.identity.dataset_path
    try:
        dataset = load_as_judged(file, [what.whole.run])
    except SetupError:
        if what.dataset is None:
            gone = f"against {short_name(file.name)}, which is missing or cannot be read"
            return [f"It could not be checked {gone}."], False
        dataset = what.dataset
    against = f"Checked against {short_name(dataset.name)}:"
    problems = check_submission(read_submission(path), dataset)
    if problems:
        return [f"{against} {problem}" for problem in problems], False
    return [f"{against} it answers all {len(dataset):,} items completely."], True
