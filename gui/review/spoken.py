"""What a screen reader is told of a review: the item that keys lead to, what becomes of its labels.

Knows: what is shown. Does not know: keys, where the focus is.
"""

from PySide6.QtCore import Slot

from engine.core.formatting import words
from engine.core.judgments import JudgmentKey
from gui.kit.announcer import LONGEST, Announcer
from gui.kit.foreign_text import one_line
from gui.kit.label_mark import LABEL_WORDS
from gui.people.blind import HIDDEN
from gui.review.session import ReviewedJudgment


class ReviewAnnouncements(Announcer):
    """Told of each item and judgment that is shown; says what is new of it."""

    _item_id: str | None = None
    # A judgment, and which label and explanation were shown of it last.
    _told: tuple[JudgmentKey, str, str | None] | None = None

    def show_item(self, item_id: str, instruction: str) -> None:
        """Say which item is open now, with the beginning of its instruction."""
        if item_id != self._item_id:
            self._item_id = item_id
            begun = one_line(instruction[:LONGEST])
            self.say(
                f"Item {one_line(item_id)}: {begun}" if begun else f"Item {one_line(item_id)}", at_once=True
            )

    @Slot(object)
    def show_judgment(self, shown: ReviewedJudgment) -> None:
        """Say the label where it, or the open criterion, is another one, and the explanation where that alone
        is; of a new item its label is said alone.
        """
        key, label = shown.judgment.key, HIDDEN if shown.hidden else LABEL_WORDS[shown.label]
        before, self._told = self._told, (key, label, shown.explanation)
        if before is None or before[0].item_id != key.item_id:
            return
        if before[:2] != (key, label):
            self.say(f"{words(key.criterion).capitalize()}: {label}")
        elif before != self._told:
            self.say(f"Explanation: {one_line((shown.explanation or 'none')[:LONGEST])}")
