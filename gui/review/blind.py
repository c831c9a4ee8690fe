"""Blind labelling: what the model and others said is hidden until an annotator has given their own label.

The one place that says whether a judgment may be shown. Who shows anything of a judgment (a label, a
probability, an explanation, an uncertainty, another annotator's label, the human label) asks `shows`, also
for tips and accessible names; a search, too, finds nothing else.

Knows: who labels, which labels they have given. Does not know: what is shown where.
"""

from typing import TYPE_CHECKING

from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from gui.workspace.open_run import Opened

if TYPE_CHECKING:
    from engine.analysis.review_order import ReviewRow

HIDDEN = "Hidden until you give your own label: A, B, G or X."


class Blind:
    """Whether this annotator labels blind, `on`, and what they may see."""

    def __init__(self, opened: Opened, on: bool = False) -> None:
        self._opened, self.on = opened, on
        self.given: set[JudgmentKey] = set()  # labels of this annotator that are not stored yet

    def shows(self, key: JudgmentKey) -> bool:
        return not self.on or self.labelled(key)

    def labelled(self, key: JudgmentKey) -> bool:
        return self.own(key) is not None or key in self.given

    @property
    def seen(self) -> frozenset[JudgmentKey] | None:
        """The judgments that may be shown, for a job; None for all."""
        run = self._opened.run
        labels = run.results.reviews.labels.get(self._opened.author, {}) if run else {}
        return frozenset({*labels, *self.given}) if self.on else None

    def own(self, key: JudgmentKey) -> Preference | None:
        run = self._opened.run
        labels = run.results.reviews.labels.get(self._opened.author, {}) if run else {}
        return labels.get(key)

    def give(self, key: JudgmentKey) -> None:
        """This annotator gives their label now: it is on its way to the store."""
        self.given.add(key)

    def adjudicate(self) -> None:
        """What was on its way and is stored now is the store's to say."""
        self.given = {key for key in self.given if self.own(key) is None}

    def forget(self) -> None:
        """Nothing is on its way any more."""
        self.given.clear()

    def forget_item(self, item_id: str) -> None:
        self.given = {key for key in self.given if key.item_id != item_id}

    def row(self, row: "ReviewRow") -> "ReviewRow":
        """A row as it may be shown: one that is hidden says nothing but its item and criterion."""
        return row if self.shows(row.key) else row.blank
