"""Fields of the dialog of columns: which of a file's columns one of ours is, what a label value means.

Knows: how a source and a meaning are chosen. Does not know: files, what a source reads.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QCompleter, QGridLayout, QLabel, QWidget, QWidgetAction

from engine.core.column_map import NO_LABEL, Confidence, annotators_of, of_annotators
from engine.core.formatting import clipped, counted, words
from engine.core.items import HUMAN_LABELS
from gui.widgets.actions import MenuButton
from gui.widgets.fields import ComboBox
from gui.widgets.foreign_text import one_line, plain_label, set_tip
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import hint, label, name, narrow, take_out

NOTHING = "(none)"
_NUMBERED = "(number of the row)"
_UNKNOWN = "?"
_WIDEST_LIST = 60  # characters
_CAPTION = 17
_MOST_IN_A_MENU = 20  # what stands on a screen


class SourceField(ComboBox):
    """The columns of a file and what lies in them, to choose from or to write."""

    changed = Signal()

    def __init__(self, target: str, offers: Sequence[str]) -> None:
        super().__init__()
        self.target = target
        self._nothing = _NUMBERED if target == "id" else NOTHING
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        narrow(self)
        name(
            self, f"Column of the file for {words(target)}", "Choose a column of the file, or write a source"
        )
        self.addItem(self._nothing, "")
        for offer in offers:
            self.addItem(one_line(offer), offer)
        completer = QCompleter(self.model(), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)
        self.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.view().setMinimumWidth(self.fontMetrics().averageCharWidth() * _WIDEST_LIST)
        self.currentTextChanged.connect(self._tell)

    @property
    def source(self) -> str:
        """What is chosen or written; empty for nothing."""
        text, here = self.currentText(), self.currentIndex()
        if self.itemText(here) == text:  # long names may begin alike
            return str(self.itemData(here))
        place = self.findText(text, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchCaseSensitive)
        return str(self.itemData(place)) if place >= 0 else text.strip()

    def show_source(self, source: str) -> None:
        """Show a source, one of the list or another."""
        place = self.findData(source)
        with QSignalBlocker(self):
            if place >= 0:
                self.setCurrentIndex(place)
            else:
                self.setEditText(source)
            if (line := self.lineEdit()) is not None:
                line.setCursorPosition(0)
        set_tip(self, source)

    @Slot()
    def _tell(self) -> None:
        set_tip(self, self.source)
        self.changed.emit()


class AnnotatorsButton(MenuButton):
    """Chooses the columns of several annotators for a label's field; its menu stays open meanwhile."""

    def __init__(self, field: SourceField, columns: Sequence[str]) -> None:
        super().__init__("Several…")
        self._field, self._columns = field, columns
        name(self, f"Several annotators for {words(field.target)}", "Choose a column for each annotator")
        self._menu.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self._menu.clear()
        chosen = self._chosen()
        for column in self._columns[:_MOST_IN_A_MENU]:
            box = QCheckBox(one_line(clipped(column)).replace("&", "&&"))
            box.setChecked(column in chosen)
            box.toggled.connect(lambda on, of=column: self._choose(of, on))
            entry = QWidgetAction(self._menu)
            entry.setDefaultWidget(box)
            self._menu.addAction(entry)

    def _chosen(self) -> list[str]:
        source = self._field.source
        return [source] if source in self._columns else [one for one in annotators_of(source) if one]

    def _choose(self, column: str, on: bool) -> None:
        others = [one for one in self._chosen() if one != column]
        self._field.show_source(of_annotators([*others, column] if on else others))
        self._field.changed.emit()


class SourceFields(QWidget):
    """A field for each of some columns of ours, each with the confidence of the guess.

    `of_labels`: the columns that annotators are chosen of.
    """

    changed = Signal()

    def __init__(
        self,
        targets: Mapping[str, str],
        offers: Sequence[str],
        of_labels: Sequence[str],
    ) -> None:
        super().__init__()
        self._fields = {target: SourceField(target, offers) for target in targets}
        self._captions = {target: label(title, wrap=False) for target, title in targets.items()}
        self._confidence = {target: hint("") for target in targets}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, self.fontMetrics().averageCharWidth() * _CAPTION)
        for row, (target, caption) in enumerate(self._captions.items()):
            caption.setBuddy(self._fields[target])
            self._confidence[target].setWordWrap(False)
            grid.addWidget(caption, row, 0)
            grid.addWidget(self._fields[target], row, 1)
            grid.addWidget(self._confidence[target], row, 2)
            if target.endswith("_preference") and len(of_labels) > 1:
                grid.addWidget(AnnotatorsButton(self._fields[target], of_labels), row, 3)
            self._fields[target].changed.connect(lambda of=target: self._take(of))

    def field(self, target: str) -> SourceField:
        """The field of one column of ours."""
        return self._fields[target]

    def show_titles(self, titles: Mapping[str, str]) -> None:
        """Call the columns otherwise."""
        for target, title in titles.items():
            self._captions[target].setText(title)

    def show_sources(self, sources: Mapping[str, str], confidence: Mapping[str, Confidence]) -> None:
        """Show what was guessed, or was chosen before."""
        for target, field in self._fields.items():
            field.show_source(sources.get(target, ""))
            sure = confidence.get(target)
            self._confidence[target].setText(sure.value if sure else "")

    @property
    def sources(self) -> dict[str, str]:
        """What is chosen, by column of ours; empty where nothing is."""
        return {target: field.source for target, field in self._fields.items()}

    @property
    def any_chosen(self) -> bool:
        """True where one of them is chosen."""
        return any(self.sources.values())

    def _take(self, target: str) -> None:
        self._confidence[target].setText("")
        self.changed.emit()


class LabelFields(QWidget):
    """A line for each value of the file's label columns, with what it means."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._boxes: dict[str, QComboBox] = {}
        self._meant: Mapping[str, str] = {}
        self._chosen: dict[str, str | None] = {}  # what the user said of values
        self._lines: list[QWidget] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnMinimumWidth(0, self.fontMetrics().averageCharWidth() * _CAPTION)

    @property
    def labels(self) -> dict[str, str]:
        """What each value means; those that are not said yet are left out."""
        chosen = {value: box.currentData() for value, box in self._boxes.items()}
        return {value: label for value, label in chosen.items() if label is not None}

    @property
    def unsaid(self) -> list[str]:
        """The values of which nobody has said what they mean."""
        return [value for value, box in self._boxes.items() if box.currentData() is None]

    def show_values(self, values: Mapping[str, int], meant: Mapping[str, str]) -> bool:
        """Show these values with how often they occur; True where they or their meanings are new.

        What the user said of a value stays; the others are what they seem to mean now.
        """
        if list(values) == list(self._boxes) and meant == self._meant:
            return False
        self._meant = dict(meant)
        said: dict[str, str | None] = {**meant, **self._chosen}
        take_out(self._grid, self._lines)
        self._boxes, self._lines = {}, []
        for row, (value, count) in enumerate(values.items()):
            box = _meanings(value, said.get(value, value))
            box.currentIndexChanged.connect(lambda _index, of=value: self._choose(of))
            caption: QLabel = plain_label(one_line(value))
            set_tip(caption, value)
            caption.setMaximumWidth(self.fontMetrics().averageCharWidth() * 24)
            often = hint(counted(count, "time", "times") if count else "further on", wrap=False)
            for column, part in enumerate((caption, box, often)):
                self._grid.addWidget(part, row, column)
                self._lines.append(part)
            self._boxes[value] = box
        return True

    def _choose(self, value: str) -> None:
        self._chosen[value] = self._boxes[value].currentData()
        self.changed.emit()

    def box(self, value: str) -> QComboBox:
        """The field of one value."""
        return self._boxes[value]


def _meanings(value: str, meaning: str | None) -> QComboBox:
    box = ComboBox()
    name(box, f"What the label {one_line(value)} means")
    box.addItem(_UNKNOWN, None)
    for human in HUMAN_LABELS:
        box.addItem(LABEL_WORDS[human], human.value)
    box.addItem("no label", NO_LABEL)
    place = box.findData(meaning)
    box.setCurrentIndex(max(place, 0))
    return box
