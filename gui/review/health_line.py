"""Says beside the title of the review that the judge of the open run is not to be trusted; else nothing.

Knows: the open run, the health of a judge. Does not know: how health is measured.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from engine.core.health import Health, HealthVerdict
from gui.kit.foreign_text import tip
from gui.kit.labels import OneLine, set_role
from gui.kit.remedies import IN_THE_WINDOW
from gui.review.review_jobs import judge_health
from gui.work.lanes import Lane, LatestTask
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.decisions.run_results import RunResults

_WORDS = {
    HealthVerdict.LOOK: ("⚠ The model may not judge as it should", "warning"),
    HealthVerdict.DOES_NOT_JUDGE: ("⚠ The model does not judge", "bad"),
}


class HealthLine(OneLine):
    """A line whose tool tip holds the signs."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._judged: object = None
        self._looking = LatestTask(workspace.threads, Lane.MEASURE, self)
        self._looking.finished.connect(self._take)
        self._looking.failed.connect(workspace.problem)
        self.hide()

    def look_at(self, results: "RunResults | None") -> None:
        """Show the health of a run, once it is known; what people override changes nothing of it."""
        judged = results.judgments if results is not None else None
        if judged is self._judged:
            return
        self._judged = judged
        self._looking.drop()
        self.hide()
        if results is not None and results.judged:
            self._looking.start(judge_health(results))

    @Slot(object)
    def _take(self, health: Health) -> None:
        text, role = _WORDS.get(health.verdict, ("", "hint"))
        set_role(self, role)
        self.setText(text)
        said = "\n".join(health.sentences(IN_THE_WINDOW.of))
        self.setToolTip(tip(said))
        self.setAccessibleDescription(said)
        self.setVisible(bool(text))
