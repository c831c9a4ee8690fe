"""The rubric that the window works with.

It is kept whole, not by the name of its file alone: that may be changed or gone by tomorrow, and what a
person has chosen must still be there.

Knows: which rubric is chosen, and which file it is from. Does not know: files of rubrics, what is asked.
"""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine.core.errors import SetupError
from engine.core.rubric import ELOQUENT, Rubric
from gui.work.state import State

CURRENT = "rubric"
"""Where the state keeps it."""
_RUBRICS = "rubrics"  # of the files that were opened


class CurrentRubric(QObject):
    """`path`: the file that the rubric is from; None for one that comes with the program, or is of a run."""

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
        """The files that were chosen by the user, the newest first."""
        return self._state.recent(_RUBRICS)

    def choose(self, rubric: Rubric, path: Path | None = None) -> None:
        """Work with a rubric from now on."""
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
        """Offer a file from now on."""
        self._state.add_recent(_RUBRICS, path)

    def forget(self, path: Path) -> None:
        """Offer a file no more."""
        self._state.remove_recent(_RUBRICS, path)


def _rubric(kept: object) -> Rubric:
    """What was kept; the task's where nothing was, or it is damaged."""
    try:
        return Rubric.of_json(kept) if isinstance(kept, dict) else ELOQUENT
    except (KeyError, TypeError, ValueError, AttributeError, SetupError):
        return ELOQUENT
