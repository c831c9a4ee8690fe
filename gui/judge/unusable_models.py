"""The model files and folders that were found and cannot be used, folded away: each reason once.

Knows: candidates without a model. Does not know: how files are found, which one is chosen.
"""

from collections.abc import Iterable

from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.core.errors import ModelFileError
from engine.core.formatting import capitalised, counted
from gui.judge.model_jobs import Candidate
from gui.judge.model_table import about
from gui.kit.fold import Fold
from gui.kit.foreign_text import OneLine, plain_label, tip
from gui.kit.labels import set_role
from gui.kit.notice import problem_of

_MOST_NAMED = 20  # files with one reason
_GAP = 6  # pixels above the next reason


class UnusableModels(Fold):
    """Hidden while there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._list = QWidget()
        self._rows = QVBoxLayout(self._list)
        self._rows.setContentsMargins(22, 0, 0, 4)
        self._rows.setSpacing(3)
        self._shown: list[Candidate] = []
        super().__init__("", self._list, parent)
        self.opened.connect(self._fill)
        self.hide()

    def show_candidates(self, candidates: Iterable[Candidate]) -> None:
        """List those that cannot be used."""
        shown = [candidate for candidate in candidates if not candidate.usable]
        if shown != self._shown:
            self._shown = shown
            self.set_title(f"{counted(len(shown), 'file', 'files')} that cannot be used")
            self.setVisible(bool(shown))
            if self.open:
                self._fill()

    def _fill(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        groups: dict[str, list[Candidate]] = {}
        for candidate in self._shown:
            groups.setdefault(_reason(candidate), []).append(candidate)
        for reason, candidates in groups.items():
            why = plain_label(reason)
            set_role(why, "hint")
            if self._rows.count():
                self._rows.addSpacing(_GAP)
            self._rows.addWidget(why)
            for candidate in candidates[:_MOST_NAMED]:
                self._rows.addWidget(_file(candidate))
            more = candidates[_MOST_NAMED:]
            if more:
                rest = OneLine(f"and {len(more):,} more")
                rest.setToolTip(tip("\n".join(str(candidate.path) for candidate in more)))
                self._rows.addWidget(rest)


def _reason(candidate: Candidate) -> str:
    """Why it cannot be used, and the next step."""
    error = candidate.found.error
    if error is None:
        return ""
    _problem, remedy = problem_of(ModelFileError(error.problem, error.remedy))
    return f"{capitalised(candidate.found.reason)} {remedy}"


def _file(candidate: Candidate) -> OneLine:
    """Its name and where it lies; the path is in the tool tip."""
    line = OneLine(f"{candidate.name} ({candidate.found.folder})", role="")
    line.setToolTip(tip(about(candidate)))
    line.setAccessibleName(candidate.name)
    return line
