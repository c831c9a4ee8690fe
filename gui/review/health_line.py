"""Says beside the title of the review that the judge of the open run is not to be trusted; else nothing.

Knows: the open run, the health of a judge. Does not know: how health is measured.
"""

from engine.core.health import NOT_LOOKED_AT, HealthVerdict
from gui.kit.foreign_text import OneLine, tip
from gui.kit.labels import set_role
from gui.kit.remedies import IN_THE_WINDOW
from gui.reading.glossary import MORE_BY_F1
from gui.work.places import OpenRun

_WORDS = {
    HealthVerdict.LOOK: ("⚠ The model may not judge as it should", "warning"),
    HealthVerdict.DOES_NOT_JUDGE: ("⚠ The model does not judge", "bad"),
    HealthVerdict.TOO_FEW: ("⚠ Few items, and what they show speaks against the model", "warning"),
}


class HealthLine(OneLine):
    """A line whose tool tip holds the signs."""

    def __init__(self) -> None:
        super().__init__()
        self.hide()

    def look_at(self, run: OpenRun | None) -> None:
        """Show the health of a run."""
        health = run.health if run is not None else NOT_LOOKED_AT
        text, role = _WORDS[health.verdict] if health.doubted else ("", "hint")
        set_role(self, role)
        self.setText(text)
        said = "\n".join([*health.sentences(IN_THE_WINDOW.of), MORE_BY_F1])
        self.setToolTip(tip(said))
        self.setAccessibleDescription(said)
        self.setVisible(bool(text))
