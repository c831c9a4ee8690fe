"""Which criteria of a rubric are asked: a box for each.

Knows: names and questions. Does not know: where the rubric is from.
"""

from collections.abc import Collection

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from engine.core.formatting import without_middle, words
from engine.core.rubric import Rubric
from gui.kit.emptying import take_out
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import one_line, tip
from gui.kit.labels import name

_LONGEST_NAME = 24  # letters
_NO_MNEMONIC = str.maketrans({"&": "&&"})


class CriteriaBoxes(QWidget):
    """`changed`: a person has ticked one, or taken its tick away."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes: dict[str, QCheckBox] = {}
        self._flow = FlowLayout(self, gap=8)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of those that are ticked, in the rubric's order."""
        return tuple(criterion for criterion, box in self.boxes.items() if box.isChecked())

    def show_rubric(self, rubric: Rubric, chosen: Collection[str]) -> None:
        """A box for each criterion; `chosen`: the names of those to be ticked."""
        take_out(self._flow, self.boxes.values())
        self.boxes = {}
        for criterion in rubric.criteria:
            shown = one_line(words(criterion.name))
            text = without_middle(shown, _LONGEST_NAME)
            box = QCheckBox((text[:1].upper() + text[1:]).translate(_NO_MNEMONIC))
            name(box, f"Judge {shown}", criterion.question)
            box.setToolTip(tip(f"{shown}: {criterion.question}"))
            box.setChecked(criterion.name in chosen)
            box.toggled.connect(self.changed)
            self._flow.addWidget(box)
            self.boxes[criterion.name] = box
