"""Which columns of a foreign file are those of a dataset, what its labels mean, its first rows read so."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal

from engine.core import column_map
from engine.core.errors import EngineError
from engine.core.formatting import clipped, counted, quoted, visible, without_middle, words
from engine.core.items import BACKGROUND, HUMAN_LABELS, written_label
from engine.core.rubric import DEFAULT_WORDING, OVERALL, Rubric, default_criterion
from gui.dataset import dataset_jobs
from gui.dataset.dataset_jobs import FirstItems, Foreign
from gui.widgets import labels
from gui.widgets.actions import MenuButton, ReadingOrder, timer
from gui.widgets.fields import ComboBox, Fold
from gui.widgets.foreign_text import one_line, plain_label, set_tip
from gui.widgets.label_mark import LABEL_WORDS, MEANINGS
from gui.widgets.labels import STRETCH
from gui.widgets.notice import problem_of
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.page import PageSplitter
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

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
        super().__init__(editable=True, insertPolicy=QtWidgets.QComboBox.InsertPolicy.NoInsert)
        self.target = target
        self._nothing = _NUMBERED if target == "id" else NOTHING
        labels.narrow(self)
        what = "Choose a column of the file, or write a source"
        labels.name(self, f"Column of the file for {words(target)}", what)
        self.offer([(self._nothing, ""), *((one_line(offer), offer) for offer in offers)])
        completer = QtWidgets.QCompleter(self.model(), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)
        self.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.view().setMinimumWidth(self.fontMetrics().averageCharWidth() * _WIDEST_LIST)
        self.currentTextChanged.connect(self._tell)

    @property
    def source(self) -> str:
        text, here = self.currentText(), self.currentIndex()
        if self.itemText(here) == text:  # long names may begin alike
            return str(self.itemData(here))
        place = self.findText(text, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchCaseSensitive)
        return str(self.itemData(place)) if place >= 0 else text.strip()

    def show_source(self, source: str) -> None:
        place = self.findData(source)
        with QSignalBlocker(self):
            if place >= 0:
                self.setCurrentIndex(place)
            else:
                self.setEditText(source)
            if (line := self.lineEdit()) is not None:
                line.setCursorPosition(0)
        set_tip(self, source)

    def _tell(self) -> None:
        set_tip(self, self.source)
        self.changed.emit()


class AnnotatorsButton(MenuButton):
    """Chooses the columns of several annotators for a label's field; its menu stays open meanwhile."""

    def __init__(self, field: SourceField, columns: Sequence[str]) -> None:
        super().__init__("Several…")
        self._field, self._columns = field, columns
        labels.name(
            self, f"Several annotators for {words(field.target)}", "Choose a column for each annotator"
        )
        self._menu.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self._menu.clear()
        chosen = self._chosen()
        for column in self._columns[:_MOST_IN_A_MENU]:
            box = QtWidgets.QCheckBox(one_line(clipped(column)).replace("&", "&&"))
            box.setChecked(column in chosen)
            box.toggled.connect(lambda on, of=column: self._choose(of, on))
            entry = QtWidgets.QWidgetAction(self._menu)
            entry.setDefaultWidget(box)
            self._menu.addAction(entry)

    def _chosen(self) -> list[str]:
        source = self._field.source
        if source in self._columns:
            return [source]
        return [one for one in column_map.annotators_of(source) if one]

    def _choose(self, column: str, on: bool) -> None:
        others = [one for one in self._chosen() if one != column]
        self._field.show_source(column_map.of_annotators([*others, column] if on else others))
        self._field.changed.emit()


class SourceFields(QtWidgets.QWidget):
    """A field for each of some columns of ours, each with the confidence of the guess.

    `of_labels`: the columns that annotators are chosen of.
    """

    changed = Signal()

    def __init__(self, targets: Mapping[str, str], offers: Sequence[str], of_labels: Sequence[str]) -> None:
        super().__init__()
        self.by_target = {target: SourceField(target, offers) for target in targets}
        self._captions = {target: labels.label(title, wrap=False) for target, title in targets.items()}
        self._confidence = {target: labels.hint("") for target in targets}
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, self.fontMetrics().averageCharWidth() * _CAPTION)
        for row, (target, caption) in enumerate(self._captions.items()):
            field, confidence = self.by_target[target], self._confidence[target]
            caption.setBuddy(field)
            confidence.setWordWrap(False)
            for place, widget in enumerate((caption, field, confidence)):
                grid.addWidget(widget, row, place)
            if target.endswith("_preference") and len(of_labels) > 1:
                grid.addWidget(AnnotatorsButton(field, of_labels), row, 3)
            field.changed.connect(partial(confidence.setText, ""))
            field.changed.connect(self.changed)

    def show_titles(self, titles: Mapping[str, str]) -> None:
        for target, title in titles.items():
            self._captions[target].setText(title)

    def show_sources(
        self, sources: Mapping[str, str], confidence: Mapping[str, column_map.Confidence]
    ) -> None:
        for target, field in self.by_target.items():
            field.show_source(sources.get(target, ""))
            sure = confidence.get(target)
            self._confidence[target].setText(sure.value if sure else "")

    @property
    def sources(self) -> dict[str, str]:
        """What is chosen, by column of ours; empty where nothing is."""
        return {target: field.source for target, field in self.by_target.items()}


class LabelFields(QtWidgets.QWidget):
    """A line for each value of the file's label columns, with what it means."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.boxes: dict[str, ComboBox] = {}  # by the value
        self._meant: Mapping[str, str] = {}
        self._chosen: dict[str, str | None] = {}  # what the user said of values
        self._lines: list[QtWidgets.QWidget] = []
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnMinimumWidth(0, self.fontMetrics().averageCharWidth() * _CAPTION)

    @property
    def labels(self) -> dict[str, str]:
        """What each value means; those that are not said yet are left out."""
        chosen = {value: box.currentData() for value, box in self.boxes.items()}
        return {value: label for value, label in chosen.items() if label is not None}

    @property
    def unsaid(self) -> list[str]:
        """The values of which nobody has said what they mean."""
        return [value for value, box in self.boxes.items() if box.currentData() is None]

    def show_values(self, values: Mapping[str, int], meant: Mapping[str, str]) -> bool:
        """Show these values with how often they occur; True where they or their meanings are new.

        What the user said of a value stays; the others are what they seem to mean now.
        """
        if values.keys() == self.boxes.keys() and meant == self._meant:
            return False
        self._meant = dict(meant)
        said: dict[str, str | None] = {**meant, **self._chosen}
        labels.take_out(self._grid, self._lines)
        self.boxes, self._lines = {}, []
        ordered = sorted(values, key=_by_size)
        if len(ordered) > 2 and not any(_by_size(value)[0] for value in ordered):
            self._ask_direction(ordered)
        for row, value in enumerate(ordered, start=1):
            count = values[value]
            box = ComboBox()
            labels.name(box, f"What the label {one_line(value)} means")
            box.offer([(_UNKNOWN, None), *MEANINGS], said.get(value, value))
            box.currentIndexChanged.connect(lambda _index, of=value: self._choose(of))
            caption: QtWidgets.QLabel = plain_label(one_line(value))
            set_tip(caption, value)
            caption.setMaximumWidth(self.fontMetrics().averageCharWidth() * 24)
            often = labels.hint(counted(count, "time", "times") if count else "further on", wrap=False)
            for column, part in enumerate((caption, box, often)):
                self._grid.addWidget(part, row, column)
                self._lines.append(part)
            self.boxes[value] = box
        return True

    def _choose(self, value: str) -> None:
        self._chosen[value] = self.boxes[value].currentData()
        self.changed.emit()

    def _ask_direction(self, scale: Sequence[str]) -> None:
        """One choice for all values of a scale: which end means that A is better; the middle is a tie."""
        box = ComboBox()
        labels.name(box, "Which end of the scale means that response A is better")
        box.addItems(["Which end is A?", f"{scale[0]} is A", f"{scale[-1]} is A"])
        box.activated.connect(lambda index: self._choose_all(scale[::-1] if index == 2 else scale, index))
        for column, part in enumerate((plain_label("Scale"), box)):
            self._grid.addWidget(part, 0, column)
            self._lines.append(part)

    def _choose_all(self, from_a: Sequence[str], index: int) -> None:
        if not index:
            return
        middle = (float(from_a[0]) + float(from_a[-1])) / 2
        side = float(from_a[0]) - middle
        for value in from_a:
            off = (float(value) - middle) * side
            label = HUMAN_LABELS[0] if off > 0 else HUMAN_LABELS[1] if off < 0 else HUMAN_LABELS[-1]
            self._chosen[value] = label.value
            with QSignalBlocker(box := self.boxes[value]):
                box.choose(label.value)
        self.changed.emit()


def _by_size(value: str) -> tuple[bool, float, str]:
    """Numbers by their size; after these the words."""
    try:
        return False, float(value), ""
    except ValueError:
        return True, 0.0, value.casefold()


_REST_MS = 200  # of no change before the rows are read again
_LONGEST_TEXT = 600  # characters of one text in the preview
_MOST_PROBLEMS = 4
_SIZE = (180, 44)  # characters, lines
_FORM = 62  # characters
_SHARE_OF_SCREEN = 0.94

_BACKGROUND = {name: getattr(DEFAULT_WORDING, name) for name in BACKGROUND}
_ITEM = {"id": "Id", "system": "System prompt", "instruction": "Instruction", **_BACKGROUND}
_OUTPUTS = {"output_a": "Response A", "output_b": "Response B"}
_RANKED = {"chosen": "Chosen response", "rejected": "Rejected response"}
_SEVERAL = {"output": "Responses", "score": "Scores", "candidate": "Candidates", "group": "Rows of one item"}
_OF_ROWS = {"annotator": "Annotator", "omit": "Does not count"}
_CANDIDATES = {"candidate_a": "Candidate A", "candidate_b": "Candidate B"}
_OF_RANKED = {"candidate_a": "Chosen: candidate", "candidate_b": "Rejected: candidate"}
_OF_KIND: Sequence[Mapping[str, str]] = (_OUTPUTS, _RANKED, _SEVERAL)
_KINDS = ("Response A and response B", "A chosen and a rejected response", "Responses with scores")
_SEVERAL_KIND = _OF_KIND.index(_SEVERAL)
_TOO_MANY = "Too many values to name: choose another column, or write a comparison (1.5>score)."
_LONGEST_NAME = 24  # characters of a criterion beside its field
_WHAT = (
    "The columns of this file have other names than a dataset's. Choose the columns of the instruction"
    " and the two responses. Guesses are filled in."
)
_HOW = (
    "A source may also be written: a+b joins columns, list[0].key is a place in a nested value, list[].key"
    " that of each entry, @reply and the like a part of a dialogue, @before:x the text before a mark x, a>b"
    " compares two scores, a|b are the labels of several annotators."
)


class ColumnsDialog(ReadingOrder, labels.Dialog):
    """`chosen`: the path, the ColumnMap, and whether it is to be remembered."""

    chosen = Signal(object, object, bool)

    def __init__(
        self, workspace: Workspace, request: ColumnsRequest, parent: QtWidgets.QWidget | None = None
    ) -> None:
        title = f"Columns of {one_line(request.path.name)}"[:120]
        super().__init__(title, parent, *_SIZE, _SHARE_OF_SCREEN)
        self.request = request
        self._main, self._others = _label_columns(request.rubric)
        self._foreign: Foreign | None = None
        self.fields: dict[str, SourceFields] = {}
        self.labels = LabelFields()
        self.items = QtWidgets.QPlainTextEdit()
        self.problem = plain_label("")
        self.remember = QtWidgets.QCheckBox("&Remember for files with these columns")
        self.remember.setChecked(request.remember)
        self.skip = QtWidgets.QCheckBox("&Leave out rows that cannot be read")
        self.skip.setChecked(bool(request.columns and request.columns.skip_bad_rows))
        self.buttons, self.open_button = labels.cancel_or(self, "&Open", self._choose)
        self._lay_out()
        self._rest = timer(self, _REST_MS, self._read)
        self.skip.toggled.connect(self._rest.start)
        self._looking = TaskPanel(workspace.threads, ThreadName.FILES, self, self._take, failed=self._refuse)
        self._reading = TaskPanel(workspace.threads, ThreadName.FILES, self, self._show, failed=self._refuse)
        self._say("Looking into the file …", "hint")
        self._looking.start(dataset_jobs.look_into(request.path, request.rubric))

    @property
    def columns(self) -> column_map.ColumnMap:
        sources = {target: source for part in self.fields.values() for target, source in part.sources.items()}
        own = self._foreign.columns if self._foreign else ()
        left_out = {*_OUTPUTS, *_RANKED, *_SEVERAL} - {*_OF_KIND[self.kind.currentIndex()]}
        if self.kind.currentIndex() == _SEVERAL_KIND:
            left_out |= {*_CANDIDATES}
        named = {
            target: source
            for target, source in sources.items()
            if target not in left_out and (source or (target in own and target not in column_map.IF_NAMED))
        }
        if self.request.columns and (records := self.request.columns.source_of.get(column_map.RECORDS)):
            named[column_map.RECORDS] = records
        labels = {value: label for value, label in self.labels.labels.items() if value != label}
        made = column_map.ColumnMap.of(named, labels)
        return replace(made, skip_bad_rows=self.skip.isChecked())

    # Making

    def _lay_out(self) -> None:
        self.items.setReadOnly(True)
        self.items.setTabChangesFocus(True)
        labels.name(self.items, "The first items as they would be read")
        self._form = QtWidgets.QWidget()
        self._column = labels.in_column(on=self._form, margins=None, spacing=8)
        area = labels.DownScroll(self._form)
        right = labels.as_column(
            labels.heading("The first items, read so"), (self.items, STRETCH), self.problem
        )
        across = PageSplitter(Qt.Orientation.Horizontal, area, right)
        self.open_button.setEnabled(False)
        last = labels.in_row(self.remember, (self.skip, STRETCH), self.buttons)
        again = [self._why_again()] if self.request.problem else []
        labels.in_column(labels.hint(_WHAT), *again, (across, STRETCH), last, on=self, margins=None)
        letter = self.fontMetrics().averageCharWidth()
        self._form.setMinimumWidth(letter * _FORM)  # the area is never narrower than its form
        across.setSizes([letter * _SIZE[0] * 5 // 11, letter * _SIZE[0] * 6 // 11])

    def _why_again(self) -> QtWidgets.QWidget:
        first, *more = self.request.problem.splitlines()
        text = plain_label(visible("\n".join(map(one_line, (first, *_first_lines(more, "  "))))))
        labels.set_role(text, "warning")
        return text

    def _make_fields(self, foreign: Foreign) -> None:
        self.kind = ComboBox()
        self.kind.addItems(_KINDS)
        labels.name(self.kind, "What the file has of each item")
        parts = {
            "item": _ITEM,
            "outputs": _OUTPUTS,
            "ranked": _RANKED,
            "several": _SEVERAL,
            "candidates": _CANDIDATES,
            "overall": self._main,
            "rows": _OF_ROWS,
            "others": self._others,
        }
        for part, targets in parts.items():
            self.fields[part] = SourceFields(targets, foreign.offers, foreign.of_labels)
        self._drawn = labels.hint(
            "It is drawn at random which of the two is A, so that the better one has no fixed position."
        )
        self._values = labels.heading("What the labels mean")
        self._too_many = labels.label(_TOO_MANY, "warning")
        self._fold = Fold("Other criteria", self.fields["others"])
        self._fold.setVisible(bool(self._others))
        for widget in (
            *(labels.heading("Columns"), self.fields["item"], self.kind),
            *(self.fields[part] for part in ("outputs", "ranked", "several")),
            self._drawn,
            *(self.fields[part] for part in ("candidates", "overall", "rows")),
            *(self._values, self.labels, self._too_many, self._fold, labels.hint(_HOW)),
        ):
            self._column.addWidget(widget)
        self._column.addStretch(1)

    # What is chosen

    def _take(self, foreign: Foreign) -> None:
        """Show what the file holds, and what was chosen before or is guessed."""
        self._foreign = foreign
        self._make_fields(foreign)
        columns = self.request.columns or foreign.map
        own = {name: name for name in foreign.columns if name not in column_map.IF_NAMED}
        sources = own | columns.source_of
        chosen = [any(columns.source_of.get(name) for name in targets) for targets in (_RANKED, ("output",))]
        self.kind.setCurrentIndex(chosen.index(True) + 1 if any(chosen) else 0)
        for part in self.fields.values():
            part.show_sources(sources, {} if self.request.columns else foreign.confidence)
            part.changed.connect(self._rest.start)
        others = any(self.fields["others"].sources.values())
        self._fold.set_open(others or OVERALL not in self.request.rubric.names)
        self.kind.currentIndexChanged.connect(self._show_kind)
        self.kind.currentIndexChanged.connect(self._rest.start)
        self.labels.changed.connect(self._rest.start)
        self._said: Mapping[str, str] = columns.meaning_of
        self._said_of = self._label_sources
        self._show_kind()
        self.fields["item"].by_target["instruction"].setFocus()
        self._read()

    @property
    def _label_sources(self) -> dict[str, str]:
        chosen = self.columns.source_of
        return {target: source for target, source in chosen.items() if target.endswith("_preference")}

    def _show_kind(self) -> None:
        shown = self.kind.currentIndex()
        for at, part in enumerate(("outputs", "ranked", "several")):
            self.fields[part].setVisible(at == shown)
        self._drawn.setVisible(shown > 0)
        self.fields["candidates"].setVisible(shown != _SEVERAL_KIND)
        self.fields["candidates"].show_titles(_OF_RANKED if shown == 1 else _CANDIDATES)

    def _read(self) -> None:
        if self._foreign is not None:
            self._reading.start(dataset_jobs.preview(self._foreign, self.columns, self.request.rubric))

    def _show(self, preview: FirstItems) -> None:
        """Show the first rows; where label values are new, read once more by what they seem to mean."""
        found = preview.values or {}
        values = {**found, **{value: 0 for value in self.request.unknown if value not in found}}
        # In other label columns than those of the map the same values may mean other things.
        said = self._said if self._label_sources == self._said_of else {}
        are_new = self.labels.show_values(values, {**preview.meant, **said})
        self._values.setVisible(bool(values) or preview.values is None)
        if are_new:
            self.labels.setVisible(bool(values))
            self._read()
            return
        self._too_many.setVisible(preview.values is None)
        titles = {**_ITEM, **_OUTPUTS, **_CANDIDATES, **self._main, **self._others}
        numbered = enumerate(preview.items, start=1)
        items = (f"Item {number}\n{_in_words(item, titles)}" for number, item in numbered)
        self.items.setPlainText(visible("\n\n".join(items)))
        unsaid = [f"unknown label {quoted(value)}: choose its meaning." for value in self.labels.unsaid]
        problems = [*unsaid, *preview.problems]
        if problems:
            self._say("\n".join(_first_lines(problems)), "warning")
        elif preview.doubts:
            self._say("Is it read right?\n" + "\n".join(preview.doubts[:_MOST_PROBLEMS]), "warning")
        else:
            fine = "These rows can be read. The other rows are checked when the file is opened."
            self._say(fine, "hint")
        self.open_button.setEnabled(not problems)

    def _refuse(self, error: EngineError) -> None:
        self._say("\n".join(problem_of(error)), "warning")
        self.open_button.setEnabled(False)

    def _say(self, text: str, role: str) -> None:
        self.problem.setText(visible(text))
        labels.set_role(self.problem, role)

    def _choose(self) -> None:
        if self._foreign is None or not self.open_button.isEnabled():
            return
        self.chosen.emit(self.request.path, self.columns, self.remember.isChecked())
        self.accept()


class ColumnAsker(QObject):
    """The one place that opens the dialog, whatever the file is for: it follows the workspace's requests.

    `dialog`: the one that was opened last.
    """

    def __init__(self, workspace: Workspace, widget: QtWidgets.QWidget) -> None:
        """`widget`: in the window that a dialog stands before."""
        super().__init__(widget)
        self._workspace = workspace
        self._widget = widget
        self.dialog: ColumnsDialog | None = None
        workspace.columns_wanted.connect(self.ask)

    def ask(self, request: ColumnsRequest) -> None:
        dialog = ColumnsDialog(self._workspace, request, self._widget.window())
        dialog.chosen.connect(request.read)
        dialog.rejected.connect(request.left)
        self.dialog = dialog
        labels.open_dialog(dialog)


def _first_lines(lines: Sequence[str], indent: str = "") -> list[str]:
    more = [f"{indent}and {len(lines) - _MOST_PROBLEMS:,} more."] if len(lines) > _MOST_PROBLEMS else []
    return [*lines[:_MOST_PROBLEMS], *more]


def _label_columns(rubric: Rubric) -> tuple[dict[str, str], dict[str, str]]:
    """Our columns of labels and explanations with their titles: those of the overall criterion, where a
    rubric has none of its last one; and those of all others.
    """
    main = default_criterion(rubric.names)
    title = "Overall label" if main == OVERALL else _titled(main)[f"{main}_preference"]
    overall = {f"{main}_preference": title, f"{main}_explanation": "Explanation"}
    others = [name for name in rubric.names if name != main]
    return overall, {column: title for name in others for column, title in _titled(name).items()}


def _titled(criterion: str) -> dict[str, str]:
    title = one_line(without_middle(words(criterion).capitalize(), _LONGEST_NAME))
    return {f"{criterion}_preference": title, f"{criterion}_explanation": f"{title}, explanation"}


def _in_words(item: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """An item as lines: its texts, then its labels."""
    lines = []
    for column, title in titles.items():
        text = item.get(column, "")
        if text or column in (*_OUTPUTS, "id", "instruction"):
            cut = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} …"
            if column.endswith("_preference"):
                cut = _label_in_words(text)
            lines.append(f"{title}: {cut}")
        given = column_map.annotators_among(item, column)
        said = [f"{clipped(who)} {_label_in_words(item[of])}" for who, of in given.items() if item[of]]
        lines += [f"    {', '.join(said)}"] if said else []
    return "\n".join(lines)


def _label_in_words(text: str) -> str:
    return LABEL_WORDS[written_label(text)] if text in HUMAN_LABELS else text
