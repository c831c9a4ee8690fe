"""The rubric that the window works with, and what reads a file of items, whose columns may be asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, SignalInstance

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, EngineError, SetupError
from engine.core.rubric import ELOQUENT, Rubric, rubric_for_labels
from engine.settings.identity import StoredRun
from gui.workspace import file_jobs
from gui.workspace.state import State
from gui.workspace.threads import EngineThreads, LatestTask, ThreadName

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

CURRENT = "rubric"
"""Where the state keeps it."""
_RUBRICS = "rubrics"  # of the files that were opened
_OF_DATASETS = "rubric/of datasets"
_MOST_CHOSEN = 50  # datasets for which a rubric was chosen


class CurrentRubric(QObject):
    """Of the current dataset the one that a person chose for it, else the one that was chosen last."""

    # kept whole, not by the name of its file: that may be changed or gone by tomorrow
    changed = Signal()

    def __init__(self, state: State, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._dataset: Path | None = None
        self.rubric, self.path = _rubric(state.record(CURRENT))

    @property
    def opened(self) -> list[Path]:
        return self._state.recent(_RUBRICS)

    @property
    def is_chosen(self) -> bool:
        """Whether a person chose one for the current dataset."""
        return str(self._dataset) in self._state.record(_OF_DATASETS)

    def choose(self, rubric: Rubric, path: Path | None = None, dataset: Path | None = None) -> None:
        """A person wants it, for the current dataset or for another one."""
        kept = {"rubric": rubric.as_json(), "path": str(path) if path is not None else ""}
        self._state.set_record(CURRENT, kept)
        if (of := dataset or self._dataset) is not None:
            own, all_chosen = self._state.record(_OF_DATASETS), self._state.record_of_all(_OF_DATASETS)
            for chosen in (own, all_chosen):
                chosen[str(of)] = kept
            latest = list(all_chosen.items())[-_MOST_CHOSEN:]
            self._state.set_record(_OF_DATASETS, dict(latest), own)
        self.use(rubric, path)

    def use(self, rubric: Rubric, path: Path | None = None) -> None:
        if (rubric, path) != (self.rubric, self.path):
            self.rubric, self.path = rubric, path
            self.changed.emit()

    def turn_to(self, dataset: Path | None) -> None:
        """Another dataset is current, or none."""
        before, self._dataset = self._dataset, dataset.absolute() if dataset is not None else None
        if self._dataset not in (None, before):
            kept = self._state.record(_OF_DATASETS).get(str(self._dataset))
            self.use(*_rubric(kept or self._state.record(CURRENT)))

    def ask(self, rubric: Rubric, dataset: Path | None = None) -> None:
        """Work with what a setup or a run asks; some criteria of the current rubric leave it as it is."""
        if not rubric.is_part_of(self.rubric):
            self.choose(rubric, dataset=dataset)

    def remember(self, path: Path) -> None:
        self._state.add_recent(_RUBRICS, path)

    def forget(self, path: Path) -> None:
        self._state.remove_recent(_RUBRICS, path)


def _rubric(kept: object) -> tuple[Rubric, Path | None]:
    values = kept if isinstance(kept, dict) else {}
    path = values.get("path")
    try:
        rubric = Rubric.of_json(values["rubric"]) if isinstance(values.get("rubric"), dict) else ELOQUENT
    except (KeyError, TypeError, ValueError, AttributeError, SetupError):
        rubric = ELOQUENT
    return rubric, Path(path) if isinstance(path, str) and path else None


@dataclass(frozen=True)
class ColumnsRequest:
    """A file whose columns the user is to say. `columns`: by which it was read so far; `unknown`: label
    values without a meaning then. `problem`: why it could not be read, empty where nobody has chosen yet.
    `remember`: whether they are kept, unless the user says otherwise. `read` is told the path, what was
    chosen, and whether to keep it; `left`: that nothing was.
    """

    path: Path
    read: Callable[[Path, ColumnMap, bool], None]
    columns: ColumnMap | None = None
    unknown: Sequence[str] = ()
    problem: str = ""
    left: Callable[[], None] = lambda: None
    remember: bool = True
    rubric: Rubric = ELOQUENT

    @classmethod
    def of(
        cls, error: ColumnsError, read: Callable[[Path, ColumnMap, bool], None], **more: Any
    ) -> "ColumnsRequest":
        problem = "" if error.foreign else error.problem
        return cls(error.path, read, unknown=error.unknown, problem=problem, **more)


class DatasetReader(QObject):
    """Reads one file at a time; a new one takes the place of the one before. Where its columns must be asked
    for, `put_off` is emitted, then `request` a ColumnsRequest, and it goes on once the user has answered.
    `left`: nobody answered; `failed` follows where the columns are known.
    """

    finished = Signal(object)  # the Dataset
    failed = Signal(object)  # an EngineError
    put_off = Signal()
    left = Signal()

    def __init__(
        self,
        threads: EngineThreads,
        request: SignalInstance,
        current: CurrentRubric,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._request = request
        self._current, self._rubric = current, current.rubric
        self._columns: ColumnMap | None = None
        self._labelled, self._keeps = False, True
        self._reading = LatestTask(threads, ThreadName.FILES, self, self._take, self._fail)

    @property
    def busy(self) -> bool:
        return self._reading.busy

    def read(
        self,
        path: Path,
        columns: ColumnMap | None = None,
        remember: bool | None = None,
        judged: "Sequence[StoredRun]" = (),
        moved: bool = False,
        *,
        rubric: Rubric | None = None,
    ) -> None:
        """Read a file; see file_jobs.load. Labels are on the criteria that the `judged` runs asked."""
        asked = [run.identity.asked for run in judged]
        rubric = rubric or (rubric_for_labels(asked) if asked else self._current.rubric)
        self._columns, self._labelled, self._keeps = columns, False, remember is not False
        self._rubric = rubric
        self._reading.start(file_jobs.load(path, columns, remember, judged, moved=moved, rubric=rubric))

    def read_labels(self, path: Path, judged: "Sequence[StoredRun]" = ()) -> None:
        self.read(path, judged=judged)
        self._labelled = True

    def drop(self) -> None:
        self._reading.drop()

    def _take(self, dataset: "Dataset") -> None:
        columns = dataset.columns
        if not self._labelled or columns is None or dataset.criteria:
            self.finished.emit(dataset)
            return
        problem = f"{dataset.name}: no column is chosen for human labels."
        self.put_off.emit()
        asked: dict[str, Any] = {"columns": columns, "remember": self._keeps, "rubric": self._rubric}
        left = partial(self.finished.emit, dataset)
        self._request.emit(ColumnsRequest(dataset.path, self._read_by, problem=problem, left=left, **asked))

    def _read_by(self, path: Path, columns: ColumnMap, remember: bool) -> None:
        labelled = self._labelled
        self.read(path, columns, remember, rubric=self._rubric)
        self._labelled = labelled

    def _fail(self, error: EngineError) -> None:
        if not isinstance(error, ColumnsError):
            self.failed.emit(error)
            return

        def leave() -> None:
            self.left.emit()
            if not error.foreign:
                self.failed.emit(error)

        self.put_off.emit()
        asked = {"columns": self._columns, "remember": self._keeps, "rubric": self._rubric}
        self._request.emit(ColumnsRequest.of(error, self._read_by, left=leave, **asked))
