"""A new dataset from prompts: which models respond, how, and where the responses are kept; then their pairs.

Knows: what is asked. Does not know: how responses are written, who judges them.
"""

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QListWidgetItem, QPushButton, QWidget

from engine.core.formatting import short_name
from engine.settings.rows import KvType
from gui.judge import generation_jobs
from gui.judge.generation_jobs import GenerationAsked, WrittenResponses
from gui.models import model_jobs
from gui.models.model_jobs import Candidate, ModelRequest
from gui.widgets import labels
from gui.widgets.actions import ReadingOrder, timer
from gui.widgets.fields import DoubleSpinBox, SpinBox
from gui.widgets.files import DATASETS, FileChoice, ask_folder, let_choose_several
from gui.widgets.foreign_text import OneLine, one_line, set_tip, tip
from gui.widgets.views import ListView
from gui.workspace.task_panel import TaskDialog, TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

_WHAT = (
    "Each chosen model writes a response to each prompt, with its own chat template. One model is loaded at a"
    " time. What is complete is kept: after a stop, the same choice resumes."
)
_FEWEST, _MOST = 2, 8  # models
_LINES_OF_MODELS = 5
_REST_MS = 350  # of no change before a plan is made
_SIZE = (140, 46)  # characters, lines
_MODELS = "Models (*.gguf)"


class PromptsDialog(ReadingOrder, TaskDialog):
    """`made`: the files of responses, of which pairs are to be made."""

    made = Signal(object)

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__("New dataset from prompts", "&Write responses", "&Make pairs…", parent)
        self._workspace = workspace
        self.written: WrittenResponses | None = None
        self.folder: Path | None = None
        self.prompts = FileChoice("prompts", DATASETS)
        self.models = ListView()
        self.add_button = QPushButton("&Add model files…")
        self.folder_button = QPushButton("&Folder…")
        self._kept_in = OneLine(role="")
        self.max_tokens = SpinBox(minimum=1, maximum=100_000, value=512)
        self.temperature = DoubleSpinBox(minimum=0, maximum=10, singleStep=0.1, value=0)
        self.seed = SpinBox(maximum=2**31 - 1, value=1)
        self.reasons = QCheckBox("Let models that can &reason do so first; it is kept aside")
        self.reasons.setChecked(True)
        threads, model, fail = workspace.threads, ThreadName.MODEL, self.notice
        self.task = TaskPanel(
            threads, model, self, self._take, failed=fail, changed=self._enable, stopped=self._plan_anew
        )
        self._planned: GenerationAsked | None = None
        self._planning = TaskPanel(threads, model, self, self.sheet.show_sheet, failed=fail)
        self._rest = timer(self, _REST_MS, self._plan)
        self._listing = TaskPanel(threads, ThreadName.FILES, self, follow=self._list, failed=fail)
        self._choice = self._asked()
        self.lay_out(self._choice, *_SIZE)
        self.act_button.clicked.connect(self.write)
        self.use_button.clicked.connect(self._use)
        self.models.itemChanged.connect(self._follow)
        self.prompts.changed.connect(self._take_prompts)
        self.add_button.clicked.connect(self._ask_models)
        self.folder_button.clicked.connect(self._ask_folder)
        for number in (self.max_tokens, self.temperature, self.seed):
            number.valueChanged.connect(self._follow)
        self.reasons.toggled.connect(self._follow)
        self._listing.start(model_jobs.find((), (), ModelRequest(None, KvType.F16)))
        self._enable()

    @property
    def chosen(self) -> tuple[Path, ...]:
        """The files of the ticked models, in the order of the list."""
        return tuple(
            entry.data(Qt.ItemDataRole.UserRole)
            for entry in self._entries()
            if entry.checkState() is Qt.CheckState.Checked
        )

    @property
    def asked(self) -> GenerationAsked | None:
        """None while a part of it is not chosen."""
        if self.prompts.path is None or self.folder is None or not _FEWEST <= len(self.chosen) <= _MOST:
            return None
        numbers = ("max_tokens", "temperature", "seed")
        how = {name: getattr(self, name).value() for name in numbers} | {"reasons": self.reasons.isChecked()}
        return GenerationAsked(self.prompts.path, self.chosen, self.folder, how)

    def write(self) -> None:
        if (asked := self.asked) is not None:
            self.written = None
            self._rest.stop()
            self._planning.drop()
            self.begin(generation_jobs.write(asked), "Writing responses …")

    def _follow(self) -> None:
        """Plan what is asked now, a moment after the last change."""
        if (asked := self.asked) != self._planned:
            self._planned, self.written = asked, None
            self._planning.drop()
            self.notice.dismiss()
            self.outcome.hide()
            self.sheet.show_sheet(None)
            self._rest.start()
        self._enable()

    def _plan_anew(self) -> None:
        self._planned = None
        self._follow()

    def _plan(self) -> None:
        if self._planned is not None:
            self._planning.begin(generation_jobs.plan(self._planned), "A plan follows …")

    def _entries(self) -> Iterator[QListWidgetItem]:
        return (self.models.item(row) for row in range(self.models.count()))

    def _asked(self) -> QWidget:
        labels.name(self.models, "Models that write responses", "Space ticks a model")
        self.models.setFixedHeight(self.fontMetrics().height() * (_LINES_OF_MODELS + 1))
        labels.name(self.max_tokens, "The most tokens of a response")
        labels.name(self.temperature, "Temperature", "0 takes the likeliest token each time")
        labels.name(self.seed, "Seed of sampled responses")
        prompts, tokens, heat, seed, kept = (
            labels.label(f"{text}:", wrap=False)
            for text in ("Prompts", "Tokens of a response, at most", "Temperature", "Seed", "Kept in")
        )
        how = (tokens, self.max_tokens, heat, self.temperature, seed, self.seed, labels.STRETCH)
        return labels.panel(
            labels.hint(_WHAT),
            labels.in_row(prompts, (self.prompts, labels.STRETCH)),
            self.models,
            labels.in_row(self.add_button, labels.STRETCH),
            labels.in_row(*how),
            self.reasons,
            labels.in_row(kept, (self._kept_in, labels.STRETCH), self.folder_button),
            self._planning.line,
        )

    def _list(self, event: object) -> None:
        if isinstance(event, Candidate) and event.found.model is not None:
            self._add(event.found.path, event.name)

    def _add(self, path: Path, name: str, ticked: bool = False) -> None:
        if any(entry.data(Qt.ItemDataRole.UserRole) == path for entry in self._entries()):
            return
        entry = QListWidgetItem(one_line(name), self.models)
        entry.setData(Qt.ItemDataRole.UserRole, path)
        entry.setToolTip(tip(str(path)))
        entry.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)

    def _ask_models(self) -> None:
        def take(paths: list[Path]) -> None:
            for path in paths:
                self._add(path.absolute(), path.stem, ticked=True)

        let_choose_several(self, "Models", "", _MODELS, take)

    def _take_prompts(self) -> None:
        if self.prompts.path is not None and self.folder is None:
            self._keep_in(self.prompts.path.with_name(f"{short_name(self.prompts.path.stem)}-responses"))
        self._follow()

    def _ask_folder(self) -> None:
        start = self.folder or self._workspace.state.export_folder(Path.home())
        if (chosen := ask_folder(self, "Keep the responses in", start)) is not None:
            self._keep_in(chosen)
            self._follow()

    def _keep_in(self, folder: Path) -> None:
        self.folder = folder
        self._kept_in.setText(one_line(str(folder)))
        set_tip(self._kept_in, str(folder))

    def _enable(self) -> None:
        busy, several = self.task.busy, _FEWEST <= len(self.chosen) <= _MOST
        self._choice.setEnabled(not busy)
        self.seed.setEnabled(self.temperature.value() > 0)
        self.act_button.setEnabled(not busy and self.asked is not None)
        missing = "" if self.prompts.path else "Choose a file of prompts"
        set_tip(self.act_button, missing if several else f"Tick {_FEWEST} to {_MOST} models")
        self.use_button.setVisible(self.written is not None)

    def _take(self, written: WrittenResponses) -> None:
        self.written = written
        self.show_outcome("The responses are written.", written.sheet)
        self._enable()

    def _use(self) -> None:
        if self.written is not None:
            self.made.emit(self.written.paths)
            self.accept()
