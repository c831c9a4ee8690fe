"""The rubric that the window works with, and what reads a file of items for whoever needs one: where it has
other columns than a dataset, the user is asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, EngineError, SetupError
from engine.core.rubric import ELOQUENT, Rubric, rubric_for_labels
from gui.workspace import file_jobs
from gui.workspace.state import State
from gui.workspace.threads import EngineThreads, LatestTask, ThreadName

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.settings.identity import StoredRun

CURRENT = "rubric"
"""Where the state keeps it."""
_RUBRICS = "rubrics"  # of the files that were opened


class CurrentRubric(QObject):
    """`path`: the file that the rubric is from; None for one that comes with the program, or is of a run.

    It is kept whole, not by the name of its file alone: that may be changed or gone by tomorrow, and what a
    person has chosen must still be there.
    """

    changed = Signal()

    def __init__(self, state: State, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        kept = state.record(CURRENT)
        self.rubric = _rubric(kept.get("rubric"))
        path = kept.get("path")
        self.path = Path(path) if isinstance(path, str) and path else None

    @property
    def opened(self) -> list[Path]:
        return self._state.recent(_RUBRICS)

    def choose(self, rubric: Rubric, path: Path | None = None) -> None:
        if (rubric, path) == (self.rubric, self.path):
            return
        self.rubric, self.path = rubric, path
        self._state.set_record(
            CURRENT, {"rubric": rubric.as_json(), "path": str(path) if path is not None else ""}
        )
        self.changed.emit()

    def ask(self, rubric: Rubric) -> None:
        """Work with what a setup or a run asks; where that is the current rubric, or some of its criteria,
        this stays.
        """
        if not rubric.is_part_of(self.rubric):
            self.choose(rubric)

    def remember(self, path: Path) -> None:
        self._state.add_recent(_RUBRICS, path)

    def forget(self, path: Path) -> None:
        self._state.remove_recent(_RUBRICS, path)


def _rubric(kept: object) -> Rubric:
    """What was kept; the task's where nothing was, or it is damaged."""
    try:
        return Rubric.of_json(kept) if isinstance(kept, dict) else ELOQUENT
    except (KeyError, TypeError, ValueError, AttributeError, SetupError):
        return ELOQUENT


@dataclass(frozen=True)
class ColumnsRequest:
    """A file whose columns the user is to say.

    `columns`: by which it was read so far, None for what is remembered or guessed. `unknown`: label values
    that had no meaning then. `problem`: why it could not be read, empty where nobody has chosen yet.
    `remember`: whether they are to be remembered, unless the user says otherwise. `rubric`: whose criteria
    its labels are on.
    `read`: is told the path, what was chosen, and whether it is to be remembered; `left`: that nothing was.
    """

    path: Path
    read: Callable[[Path, ColumnMap, bool], None]
    columns: ColumnMap | None = None
    unknown: Sequence[str] = ()
    problem: str = ""
    left: Callable[[], None] = lambda: None
    remember: bool = True
    rubric: Rubric = ELOQUENT


def columns_request(
    error: ColumnsError,
    read: Callable[[Path, ColumnMap, bool], None],
    columns: ColumnMap | None,
    left: Callable[[], None],
    remember: bool = True,
    *,
    rubric: Rubric,
) -> ColumnsRequest:
    """What to ask after a file could not be read, by `columns` where somebody had chosen some."""
    problem = "" if error.foreign else error.problem
    return ColumnsRequest(error.path, read, columns, error.unknown, problem, left, remember, rubric)


class DatasetReader(QObject):
    """Reads one file at a time; a new one takes the place of the one before.

    Where it cannot be read by the columns that it has, `request` tells of a ColumnsWish: `put_off` is emitted
    before, and the reading goes on once the user has answered. `left`: nobody answered; `failed` follows
    where the columns are known and something in the file is wrong. Who needs human labels is asked also where
    no column of a foreign file is said to hold any.
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
        """`request`: emitted with a ColumnsWish. `current`: whose criteria labels are on, but for runs."""
        super().__init__(parent)
        self._request = request
        self._current, self._rubric = current, current.rubric
        self._columns: ColumnMap | None = None
        self._labelled, self._keeps = False, True
        self._reading = LatestTask(threads, ThreadName.FILES, self)
        self._reading.finished.connect(self._take)
        self._reading.failed.connect(self._fail)

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
    ) -> None:
        """Read a file; see file_jobs.load. Labels are on the criteria that the `judged` runs asked."""
        asked = [run.identity.asked for run in judged]
        rubric = rubric_for_labels(asked) if asked else self._current.rubric
        self._read(path, columns, remember, judged=judged, moved=moved, rubric=rubric)

    def _read(
        self,
        path: Path,
        columns: ColumnMap | None,
        remember: bool | None,
        *,
        judged: "Sequence[StoredRun]" = (),
        moved: bool = False,
        rubric: Rubric,
    ) -> None:
        self._columns, self._labelled, self._keeps = columns, False, remember is not False
        self._rubric = rubric
        self._reading.start(file_jobs.load(path, columns, remember, judged, moved=moved, rubric=rubric))

    def read_labels(self, path: Path, judged: "Sequence[StoredRun]" = ()) -> None:
        """Read a file for its human labels."""
        self.read(path, judged=judged)
        self._labelled = True

    def drop(self) -> None:
        self._reading.drop()

    @Slot(object)
    def _take(self, dataset: "Dataset") -> None:
        columns = dataset.columns
        if not self._labelled or columns is None or dataset.criteria:
            self.finished.emit(dataset)
            return
        problem = f"{dataset.name}: no column is chosen for human labels."
        self.put_off.emit()
        self._request.emit(
            ColumnsRequest(
                dataset.path,
                self._read_by,
                columns,
                problem=problem,
                left=lambda: self.finished.emit(dataset),
                remember=self._keeps,
                rubric=self._rubric,
            )
        )

    def _read_by(self, path: Path, columns: ColumnMap, remember: bool) -> None:
        labelled = self._labelled
        self._read(path, columns, remember, rubric=self._rubric)
        self._labelled = labelled

    @Slot(object)
    def _fail(self, error: EngineError) -> None:
        if not isinstance(error, ColumnsError):
            self.failed.emit(error)
            return

        def leave() -> None:
            self.left.emit()
            if not error.foreign:
                self.failed.emit(error)

        self.put_off.emit()
        request = columns_request(
            error, self._read_by, self._columns, leave, self._keeps, rubric=self._rubric
        )
        self._request.emit(request)
