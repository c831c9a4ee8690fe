"""The seed that a run's random sample is drawn by: a button beside the order of the list, and its dialog.

Knows: seeds, how many labels were given in samples of them. Does not know: lists, where a seed is kept.
"""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from engine.core.formatting import counted
from engine.core.item_sample import DEFAULT_SEED, LARGEST_SEED
from gui.kit.fields import SpinBox
from gui.kit.labels import heading, hint, label, name
from gui.kit.layouts import STRETCH, in_column, in_row, ok_and_cancel
from gui.work.workspace import Workspace

_WHAT = (
    "Another seed draws another sample: the items come in another order. The seed is stored with the"
    " run, the same for all annotators."
)


class SeedButton(QPushButton):
    """Asks for another seed for the open run, and lets the workspace keep it."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.dialog: SeedDialog | None = None
        self.setProperty("compact", True)
        self.show_seed(DEFAULT_SEED)
        self.clicked.connect(self.ask)

    def show_seed(self, seed: int) -> None:
        """Say by which seed the sample is drawn now."""
        self.setText(f"Seed {seed}…")
        name(self, f"Seed of the random sample: {seed}", "Draw another random sample of the run")

    @Slot()
    def ask(self) -> None:
        """Ask for a seed."""
        run = self._workspace.run
        if run is None or self.dialog is not None:
            return
        results = run.results
        self.dialog = SeedDialog(results.run.review_seed, results.reviews.labels_by_seed, self.window())
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.chosen.connect(lambda seed, run_id=run.id: self._workspace.draw_sample_by(run_id, seed))
        self.dialog.finished.connect(self._forget)
        self.dialog.open()

    @Slot()
    def _forget(self) -> None:
        self.dialog = None


class SeedDialog(QDialog):
    """Asks for a seed; `chosen` is emitted where it is another one than before."""

    chosen = Signal(int)

    def __init__(self, seed: int, labels: Mapping[int, int], parent: QWidget | None = None) -> None:
        """`labels`: by seed, how many labels were given in samples of it."""
        super().__init__(parent)
        self.setWindowTitle("Random sample")
        self._before = seed
        self.field = SpinBox()
        self.field.setRange(0, LARGEST_SEED)
        self.field.setValue(min(seed, LARGEST_SEED))  # a store may hold more than the field can
        self.field.selectAll()
        name(self.field, "Seed of the random sample")
        self.said = hint(_kept_in_words(seed, labels))
        in_column(
            heading("Seed of the random sample"),
            in_row(label("Seed", wrap=False), self.field, STRETCH),
            hint(_WHAT),
            self.said,
            ok_and_cancel(self),
            on=self,
            margins=None,
            spacing=10,
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 64)

    def accept(self) -> None:
        """Close; the seed that stands there is wanted."""
        seed = self.field.value()
        if seed != self._before:
            self.chosen.emit(seed)
        super().accept()


def _kept_in_words(seed: int, labels: Mapping[int, int]) -> str:
    """What becomes of the labels of the samples that there are."""
    if not labels:
        return f"No label was given in the sample of seed {seed} yet."
    given = [f"{counted(number, 'label', 'labels')} by seed {of}" for of, number in sorted(labels.items())]
    return (
        f"Labels given in a random sample so far: {', '.join(given)}. They keep their origin and"
        " stay in the random sample, together with those of the new seed."
    )
