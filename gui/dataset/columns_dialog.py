"""Which columns of a foreign file are those of a dataset: chosen, with its first rows as they would be read.

Knows: what is asked. Does not know: how columns are guessed, how a file is read.
"""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from engine.core.column_map import RANKED, ColumnMap, annotators_among
from engine.core.errors import EngineError
from engine.core.formatting import clipped, quoted, visible, without_middle, words
from engine.core.items import HUMAN_LABELS, written_label
from engine.core.rubric import OVERALL, Rubric, default_criterion
from gui.dataset import dataset_jobs
from gui.dataset.column_fields import LabelFields, SourceFields
from gui.dataset.dataset_jobs import FirstItems, Foreign
from gui.widgets.actions import ReadingOrder
from gui.widgets.fields import ComboBox, Fold
from gui.widgets.foreign_text import one_line, plain_label
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import (
    STRETCH,
    DownScroll,
    as_column,
    heading,
    hint,
    in_column,
    in_row,
    label,
    make_room,
    name,
    set_role,
)
from gui.widgets.notice import problem_of
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.page import two_parts
from gui.workspace.threads import LatestTask, ThreadName
from gui.workspace.workspace import Workspace

_REST_MS = 200  # of no change before the rows are read again
_LONGEST_TEXT = 600  # characters of one text in the preview
_MOST_PROBLEMS = 4
_SIZE = (180, 44)  # characters, lines
_FORM = 62  # characters
_SHARE_OF_SCREEN = 0.94

_ITEM = {"id": "Id", "instruction": "Instruction"}
_OUTPUTS = {"output_a": "Response A", "output_b": "Response B"}
_RANKED = {"chosen": "Chosen response", "rejected": "Rejected response"}
_CANDIDATES = {"candidate_a": "Candidate A", "candidate_b": "Candidate B"}
_OF_RANKED = {"candidate_a": "Chosen: candidate", "candidate_b": "Rejected: candidate"}
_LONGEST_NAME = 24  # characters of a criterion beside its field
_WHAT = (
    "The columns of this file have other names than a dataset's. Choose the columns of the instruction"
    " and the two responses. Guesses are filled in."
)
_HOW = (
    "A source may also be written: a+b joins columns, list[0].key is a place in a nested value, @reply and"
    " the like a part of a dialogue, @before:x the text before a mark x, a>b compares two scores, a|b are"
    " the labels of several annotators."
)


class ColumnsDialog(ReadingOrder, QDialog):
    """`chosen`: the path, the ColumnMap, and whether it is to be remembered."""

    chosen = Signal(object, object, bool)

    def __init__(
        self,
        workspace: Workspace,
        request: ColumnsRequest,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        path, self._path, self._before, self._unknown = (
            request.path,
            request.path,
            request.columns,
            request.unknown,
        )
        self._refused, self._rubric = request.problem, request.rubric
        self._main, self._others = _label_columns(request.rubric)
        self._foreign: Foreign | None = None
        self._preview: FirstItems | None = None
        self.setWindowTitle(f"Columns of {one_line(path.name)}"[:120])
        self.fields: dict[str, SourceFields] = {}
        self.labels = LabelFields()
        self.items = QPlainTextEdit()
        self.problem = plain_label("")
        self.remember = QCheckBox("&Remember for files with these columns")
        self.remember.setChecked(request.remember)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.open_button = self.buttons.addButton("&Open", QDialogButtonBox.ButtonRole.AcceptRole)
        self._lay_out()
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._read)
        self._looking = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._looking.finished.connect(self._take)
        self._looking.failed.connect(self._refuse)
        self._reading = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._reading.finished.connect(self._show)
        self._reading.failed.connect(self._refuse)
        self.finished.connect(self._looking.drop)
        self.finished.connect(self._reading.drop)
        self._say("Looking into the file …", "hint")
        self._looking.start(dataset_jobs.look_into(path, request.rubric))

    @property
    def columns(self) -> ColumnMap:
        """What is chosen now."""
        sources = {target: source for part in self.fields.values() for target, source in part.sources.items()}
        own = self._foreign.columns if self._foreign else ()
        left_out = _OUTPUTS if self.is_ranked else _RANKED
        named = {
            target: source
            for target, source in sources.items()
            if target not in left_out and (source or target in own)
        }
        labels = {value: label for value, label in self.labels.labels.items() if value != label}
        return ColumnMap.of(named, labels)

    @property
    def is_ranked(self) -> bool:
        """True where the file says which response was chosen."""
        return bool(self.kind.currentData())

    # Making

    def _lay_out(self) -> None:
        self.items.setReadOnly(True)
        self.items.setTabChangesFocus(True)
        name(self.items, "The first items as they would be read")
        self._form = QWidget()
        self._column = in_column(on=self._form, margins=None, spacing=8)
        area = DownScroll(self._form)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        right = as_column(heading("The first items, read so"), (self.items, STRETCH), self.problem)
        across = two_parts(Qt.Orientation.Horizontal, area, right)
        self.open_button.setEnabled(False)
        self.buttons.accepted.connect(self._choose)
        self.buttons.rejected.connect(self.reject)
        last = in_row((self.remember, STRETCH), self.buttons)
        again = [self._why_again()] if self._refused else []
        in_column(hint(_WHAT), *again, (across, STRETCH), last, on=self, margins=None)
        letter = self.fontMetrics().averageCharWidth()
        area.setMinimumWidth(letter * _FORM)
        across.setSizes([letter * _SIZE[0] * 5 // 11, letter * _SIZE[0] * 6 // 11])
        make_room(self, *_SIZE, _SHARE_OF_SCREEN)

    def _why_again(self) -> QWidget:
        """Why the file could not be read the last time."""
        first, *more = self._refused.splitlines()
        shown = [first, *more[:_MOST_PROBLEMS]]
        if len(more) > _MOST_PROBLEMS:
            shown.append(f"  and {len(more) - _MOST_PROBLEMS:,} more.")
        text = plain_label(visible("\n".join(map(one_line, shown))))
        set_role(text, "warning")
        return text

    def _make_fields(self, foreign: Foreign) -> None:
        self.kind = ComboBox()
        self.kind.addItem("Response A and response B", False)
        self.kind.addItem("A chosen and a rejected response", True)
        name(self.kind, "What the file has of each item")
        parts = {
            "item": _ITEM,
            "outputs": _OUTPUTS,
            "ranked": _RANKED,
            "candidates": _CANDIDATES,
            "overall": self._main,
            "others": self._others,
        }
        self.fields = {
            part: SourceFields(targets, foreign.offers, foreign.of_labels) for part, targets in parts.items()
        }
        self._drawn = hint(
            "It is drawn at random which of the two is A, so that the better one has no fixed position."
        )
        self._values = heading("What the labels mean")
        self._too_many = label("", "warning")
        self._fold = Fold("Other criteria", self.fields["others"])
        self._fold.setVisible(bool(self._others))
        for widget in (
            heading("Columns"),
            self.fields["item"],
            self.kind,
            self.fields["outputs"],
            self.fields["ranked"],
            self._drawn,
            self.fields["candidates"],
            self.fields["overall"],
            self._values,
            self.labels,
            self._too_many,
            self._fold,
            hint(_HOW),
        ):
            self._column.addWidget(widget)
        self._column.addStretch(1)

    # What is chosen

    @Slot(object)
    def _take(self, foreign: Foreign) -> None:
        """Show what the file holds, and what was chosen before or is guessed."""
        self._foreign = foreign
        self._make_fields(foreign)
        columns = self._before or foreign.map
        sources = {name: name for name in foreign.columns} | columns.source_of
        self.kind.setCurrentIndex(int(any(columns.source_of.get(name) for name in RANKED)))
        for part in self.fields.values():
            part.show_sources(sources, {} if self._before else foreign.confidence)
            part.changed.connect(self._rest.start)
        self._fold.set_open(self.fields["others"].any_chosen or OVERALL not in self._rubric.names)
        self.kind.currentIndexChanged.connect(self._change_kind)
        self.labels.changed.connect(self._rest.start)
        self._said: Mapping[str, str] = columns.meaning_of
        self._said_of = self._label_sources
        self._show_kind()
        self.fields["item"].field("instruction").setFocus()
        self._read()

    @property
    def _label_sources(self) -> dict[str, str]:
        chosen = self.columns.source_of
        return {target: source for target, source in chosen.items() if target.endswith("_preference")}

    @Slot()
    def _change_kind(self) -> None:
        self._show_kind()
        self._rest.start()

    def _show_kind(self) -> None:
        self.fields["outputs"].setVisible(not self.is_ranked)
        self.fields["ranked"].setVisible(self.is_ranked)
        self._drawn.setVisible(self.is_ranked)
        self.fields["candidates"].show_titles(_OF_RANKED if self.is_ranked else _CANDIDATES)

    @Slot()
    def _read(self) -> None:
        if self._foreign is not None:
            self._reading.start(dataset_jobs.preview(self._foreign, self.columns, self._rubric))

    @Slot(object)
    def _show(self, preview: FirstItems) -> None:
        """Show the first rows; where label values are new, read once more by what they seem to mean."""
        found = preview.values or {}
        values = {**found, **{value: 0 for value in self._unknown if value not in found}}
        # In other label columns than those of the map the same values may mean other things.
        said = self._said if self._label_sources == self._said_of else {}
        are_new = self.labels.show_values(values, {**preview.meant, **said})
        self._values.setVisible(bool(values) or preview.values is None)
        if are_new:
            self.labels.setVisible(bool(values))
            self._read()
            return
        self._too_many.setVisible(preview.values is None)
        self._too_many.setText(
            "Too many values to name: choose another column, or write a comparison (1.5>score)."
        )
        titles = {**_ITEM, **_OUTPUTS, **_CANDIDATES, **self._main, **self._others}
        items = (
            f"Item {number}\n{_in_words(item, titles)}" for number, item in enumerate(preview.items, start=1)
        )
        self.items.setPlainText(visible("\n\n".join(items)))
        self._show_problems(preview)

    def _show_problems(self, preview: FirstItems) -> None:
        unsaid = [f"unknown label {quoted(value)}: choose its meaning." for value in self.labels.unsaid]
        problems = [*unsaid, *preview.problems]
        found = problems[:_MOST_PROBLEMS]
        if len(problems) > _MOST_PROBLEMS:
            found.append(f"and {len(problems) - _MOST_PROBLEMS:,} more.")
        fine = "These rows can be read. The other rows are checked when the file is opened."
        self._say("\n".join(found) or fine, "warning" if found else "hint")
        self.open_button.setEnabled(not found)

    @Slot(object)
    def _refuse(self, error: EngineError) -> None:
        self._say("\n".join(problem_of(error)), "warning")
        self.open_button.setEnabled(False)

    def _say(self, text: str, role: str) -> None:
        self.problem.setText(visible(text))
        set_role(self.problem, role)

    @Slot()
    def _choose(self) -> None:
        if self._foreign is None or not self.open_button.isEnabled():
            return
        self.chosen.emit(self._path, self.columns, self.remember.isChecked())
        self.accept()


class ColumnAsker(QObject):
    """The one place that opens the dialog, whatever the file is for: it follows the workspace's requests.

    `dialog`: the one that was opened last.
    """

    def __init__(self, workspace: Workspace, widget: QWidget) -> None:
        """`widget`: in the window that a dialog stands before."""
        super().__init__(widget)
        self._workspace = workspace
        self._widget = widget
        self.dialog: ColumnsDialog | None = None
        workspace.columns_wanted.connect(self.ask)

    @Slot(object)
    def ask(self, request: ColumnsRequest) -> None:
        """Open the dialog."""
        dialog = ColumnsDialog(self._workspace, request, self._widget.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(request.read)
        dialog.rejected.connect(request.left)
        self.dialog = dialog
        dialog.open()


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
        if text or column in _ITEM or column in _OUTPUTS:
            cut = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} …"
            if column.endswith("_preference"):
                cut = _label_in_words(text)
            lines.append(f"{title}: {cut}")
        given = annotators_among(item, column)
        said = [f"{clipped(who)} {_label_in_words(item[of])}" for who, of in given.items() if item[of]]
        lines += [f"    {', '.join(said)}"] if said else []
    return "\n".join(lines)


def _label_in_words(text: str) -> str:
    return LABEL_WORDS[written_label(text)] if text in HUMAN_LABELS else text
