"""The prompt of the current criterion, beside the fields in which it is written.

Knows: what the user wants to see of it. Does not know: how prompts are made.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QWidget

from engine.core.errors import EngineError
from engine.core.formatting import short_name, visible
from engine.core.items import Item, Method, Order
from gui.judge import prompt_jobs
from gui.judge.prompt_jobs import KINDS, SAMPLE_ITEM, PreviewedPrompt, PreviewRequest
from gui.judge.rubric_edit import RubricDraft
from gui.widgets.fields import ComboBox, SpinBox
from gui.widgets.foreign_text import OneLine, one_line
from gui.widgets.labels import STRETCH, heading, hint, in_column, in_row, label, name, narrow, show_text
from gui.widgets.notice import problem_of
from gui.widgets.prompt_pane import PromptView, ShownPrompt
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, ThreadName

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_REST_MS = 250  # of no change before the prompt is made again
_ORDERS = {Order.AB: "A first", Order.BA: "B first"}
_MOST = 10**9


class PreviewPanel(QWidget):
    """Follows a draft a moment after each change, and scrolls to what has changed."""

    def __init__(
        self,
        draft: RubricDraft,
        threads: EngineThreads,
        dataset: "Dataset | None",
        model: Path | None,
    ) -> None:
        """`dataset`: whose items are asked about, None for a sample; `model`: in whose chat format."""
        super().__init__()
        self._draft, self._dataset, self._model = draft, dataset, model
        self._shown_of: tuple[int, Method | None, Order] | None = None
        self._make_choices()
        self.of = OneLine(role="heading")
        self.view = PromptView()
        self.pane = self.view.pane
        self.said = hint("")
        self.note = label("", "warning")
        self.note.hide()
        self._lay_out()
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self.make)
        self._making = TaskPanel(
            threads, ThreadName.FILES, self, self._take, follow=self._take, failed=self._fail
        )
        draft.changed.connect(self._make_soon)
        draft.place_changed.connect(self.make)
        self.make()

    @property
    def request(self) -> PreviewRequest:
        """What is wanted now."""
        return PreviewRequest(
            self._draft.rubric.sound(self._draft.place),
            self._item(),
            Order(self.order.currentData()),
            Method(self.kind.currentData()) if self.kind.currentData() else None,
            self._model,
        )

    def drop(self) -> None:
        """Make nothing more."""
        self._rest.stop()
        self._making.drop()

    @Slot()
    def make(self) -> None:
        """Make the prompt anew, now."""
        self._rest.stop()
        criterion = self._draft.criterion
        of = f"What the model is asked: {criterion.title}" if criterion is not None else "No criterion"
        self.of.setText(one_line(of))
        self._making.start(prompt_jobs.preview(self.request, at_once=self.pane.prompt is None))

    @Slot()
    def _make_soon(self) -> None:
        self._rest.start()

    def _item(self) -> Item:
        return SAMPLE_ITEM if self._dataset is None else self._dataset[self.item.value() - 1]

    def _make_choices(self) -> None:
        self.kind, self.order, self.item = ComboBox(), ComboBox(), SpinBox()
        for kind, text in KINDS.items():
            self.kind.addItem(text, kind.value if kind else "")
        for order, text in _ORDERS.items():
            self.order.addItem(text, order.value)
        narrow(self.kind)
        name(self.kind, "Question", "Which question of the criterion is shown")
        name(self.order, "Order of the responses")
        count = len(self._dataset) if self._dataset is not None else 1
        self.item.setRange(1, min(count, _MOST))
        self.item.setPrefix("Item ")
        self.item.setGroupSeparatorShown(True)
        name(self.item, "Item of the dataset that is asked about")
        self.item.setVisible(self._dataset is not None)
        self.kind.activated.connect(self.make)
        self.order.activated.connect(self.make)
        self.item.valueChanged.connect(self._make_soon)

    def _lay_out(self) -> None:
        above = in_row((self.kind, STRETCH), self.order, self.item)
        where = (
            f"Of {short_name(self._dataset.name)}"
            if self._dataset is not None
            else "Of a sample item: no dataset is open"
        )
        parts = (self.of, (self.view, STRETCH), self.said, self.note)
        in_column(heading("Preview"), above, *parts, on=self)
        self._where = where

    @Slot(object)
    def _take(self, made: PreviewedPrompt) -> None:
        before = self.pane.prompt
        same = (self._draft.place, self.request.kind, self.request.order)
        self.view.show_prompt(made.prompt)
        if before is None or self._shown_of != same:
            self.pane.show_verdict()
        elif (place := _first_difference(before, made.prompt)) is not None:
            self.pane.show_place(place)
        self._shown_of = same
        self.said.setText(visible(f"{self._where}{self._format(made)}"))
        self._tell(made.note)

    def _format(self, made: PreviewedPrompt) -> str:
        if made.tokens is None or self._model is None:
            return "; only the text, without a model's chat format."
        return f", as {short_name(self._model.name)} gets it: {made.tokens:,} tokens."

    @Slot(object)
    def _fail(self, error: EngineError) -> None:
        self._tell(" ".join(problem_of(error)))

    def _tell(self, note: str) -> None:
        wrong = "Invalid fields are shown with their defaults, or empty." if self._draft.problems else ""
        show_text(self.note, " ".join(filter(None, (wrong, note))))


def _first_difference(before: ShownPrompt, now: ShownPrompt) -> int | None:
    """The first character that has changed, in Qt's positions; None where nothing has."""
    if before.text == now.text:
        return None
    shorter = min(len(before.text), len(now.text))
    place = next((place for place in range(shorter) if before.text[place] != now.text[place]), shorter)
    return len(now.text[:place].encode("utf-16-le")) // 2
