"""The dialogs of the menus: settings, keys, about, check of a submission, self-test; and the diagnostics."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, Signal, SignalInstance, qVersion
from PySide6.QtGui import QGuiApplication

from engine.core import VERSION
from engine.core.errors import EngineError
from engine.core.formatting import capitalised, counted, short_name, visible
from engine.system.computer import KeepAwake
from engine.system.paths import text_of_path, third_party_licences
from gui.review.judgment_desk import AFTER_LABEL, NEXT_ITEM
from gui.runs.run_desk import KEEP_AWAKE, kept_awake
from gui.widgets import labels
from gui.widgets.action_table import PAGES, keys_of
from gui.widgets.actions import ReadingOrder
from gui.widgets.fields import ComboBox
from gui.widgets.foreign_text import plain_label
from gui.widgets.label_mark import Pill
from gui.widgets.notice import IN_THE_WINDOW, Notice, problem_of
from gui.widgets.theme import TEXT_SIZES, ThemeChoice, is_dark
from gui.window import submission_jobs
from gui.window.submission_jobs import tell
from gui.workspace.open_run import OpenRun
from gui.workspace.state import ANSWERS, BLIND, HIDDEN_SHARE, MOST_OF_QT, NEXT_CRITERION, State
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import LONGEST_NAME, Workspace

if TYPE_CHECKING:
    from engine.operations.self_test import Check


class CheckDialog(labels.Dialog):
    """Checks a run when it opens; `other_wanted`: another dataset is to be answered."""

    other_wanted = Signal()

    def __init__(self, workspace: Workspace, run: OpenRun, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("Check the submission", parent, 90, 20)
        stored = run.results.run
        self._what = plain_label(
            run.results.joined_in_words
            if stored.submitted
            else f"{stored.title} has judged {stored.judged:,} of the {stored.identity.items:,} items of"
            f" {short_name(stored.identity.dataset_path.name)}."
        )
        self.outcome = plain_label("Checking …", "heading")
        self.list = QtWidgets.QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        labels.name(self.list, "What was found")
        self.list.hide()
        against = labels.hint(
            "Checks what an export would hold now, with all overrides: columns and their"
            " order, missing and unknown ids, empty cells."
        )
        buttons, role = labels.close_button(self), QtWidgets.QDialogButtonBox.ButtonRole.ActionRole
        self.copy = labels.button("&Copy all", self._copy)
        buttons.addButton(self.copy, role)
        what = "Open the submission with another dataset that it answers"
        self.other = labels.button("&Other dataset…", self.accept, "Other dataset", what)
        self.other.clicked.connect(self.other_wanted)
        self.other.setVisible(stored.submitted and not stored.by_hand)
        buttons.addButton(self.other, role)
        layout = labels.in_column(
            self._what, self.outcome, self.list, against, buttons, on=self, margins=None
        )
        layout.setStretchFactor(self.list, 1)
        self._check = TaskPanel(workspace.threads, ThreadName.MEASURE, self, self._show, failed=self._tell)
        if run.dataset is None:
            self.outcome.setText("Its dataset is not loaded, so nothing can be checked.")
        else:
            self._check.start(submission_jobs.find_gaps(run.results, run.dataset))

    @property
    def text(self) -> str:
        return "\n".join([self._what.text(), self.outcome.text(), *self.list.toPlainText().splitlines()])

    def _show(self, findings: list[str]) -> None:
        self.list.setVisible(bool(findings))
        self.list.setPlainText(visible("\n".join(findings)))
        found = counted(len(findings), "finding", "findings")
        self.outcome.setText(
            f"{found}: an official scorer may refuse it." if findings else "No problems: it is complete."
        )
        labels.set_role(self.outcome, "warning" if findings else "good")

    def _tell(self, error: EngineError) -> None:
        self.outcome.setText(visible("\n".join(problem_of(error))))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        self.copy.setText("Copied")


PACKAGES = (
    *("llama-cpp-python", "PySide6-Essentials", "pandas", "pyarrow"),
    *("numpy", "scikit-learn", "matplotlib", "rouge-score"),
)


def package_versions() -> list[str]:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # a bundle may come without the records of its packages
            found.append(package)
    return found


class AboutDialog(labels.Dialog):
    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("About Tiebreak", parent, 64)
        layout = labels.in_column(
            labels.BigLabel(1.45, f"Tiebreak {VERSION}"),
            labels.label(
                "Judges pairs of LLM responses with a local GGUF model, and shows how far its judgments can"
                " be trusted. No part of it uses the network: no telemetry, no update check, no download."
            ),
            labels.hint(f"Qt {qVersion()}, {', '.join(package_versions())}"),
            labels.hint("Licence: MIT."),
            on=self,
            margins=None,
            spacing=10,
        )
        if licences := third_party_licences():
            layout.addWidget(labels.hint(f"Licences of its parts: {licences}"))
        layout.addWidget(labels.close_button(self))


def _grid_area(accessible: str, gap: int) -> tuple[QtWidgets.QScrollArea, QtWidgets.QGridLayout]:
    """Rows of two columns that are scrolled."""
    content = QtWidgets.QWidget()
    content.setProperty("role", "content")
    grid = QtWidgets.QGridLayout(content)
    grid.setColumnStretch(1, 1)
    grid.setHorizontalSpacing(gap)
    return labels.scrolling(content, accessible), grid


class KeysDialog(labels.Dialog):
    def __init__(self, page: str, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("Keys", parent, 72, 34)
        area, grid = _grid_area("All keys", 24)
        for place in (page, "Everywhere", *(other for other in PAGES if other != page)):
            grid.addWidget(labels.heading(place), grid.rowCount(), 0, 1, 2)
            for action, what in keys_of(place):
                row = grid.rowCount()
                grid.addWidget(labels.label(action.native_keys, wrap=False), row, 0)
                grid.addWidget(labels.label(what, "hint"), row, 1)
        labels.in_column(area, labels.close_button(self), on=self, margins=None)


_THEMES = {ThemeChoice.SYSTEM: "As the system", ThemeChoice.LIGHT: "Light", ThemeChoice.DARK: "Dark"}
_ANSWERS = {"": "All other labels stay hidden", "on": "The other labels are shown (training)"}
_SHARES = {0: "Labels of the judge and others are shown"} | {
    share: f"Hidden on a random {share} % of the items until you label them" for share in (10, 20, 33, 50)
}
_AWAKE = {
    KeepAwake.MAINS: "The computer stays awake on mains",
    KeepAwake.YES: "The computer stays awake, also on its battery",
    KeepAwake.NO: "The computer may go to sleep",
}


class SettingsDialog(ReadingOrder, labels.Dialog):
    look_changed = Signal()
    forget_wanted = Signal()
    power_changed = Signal()  # when the computer shall stay awake

    def __init__(self, workspace: Workspace, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("Settings", parent, 84, 22)
        self._workspace = workspace
        self._state = state = workspace.state
        self._form = QtWidgets.QFormLayout(verticalSpacing=5)
        self._author = QtWidgets.QLineEdit(maxLength=LONGEST_NAME)
        labels.name(self._author, "Your name", "Stored with every label and note that you give")
        self._author.editingFinished.connect(self._keep_author)
        self._form.addRow("Your name, for labels", self._author)
        self._theme = self._choice("Theme", _THEMES, "theme", self.look_changed)
        sizes = {str(percent): f"{percent} %" for percent in TEXT_SIZES}
        self._size = self._choice("Text size", sizes, "text_size", self.look_changed)
        self._awake = self._choice("While judging", _AWAKE, KEEP_AWAKE, self.power_changed)
        labels.name(self._awake, "Keep the computer awake while judging", "The screen may go dark meanwhile")
        after = {wanted: capitalised(words) for wanted, words in AFTER_LABEL.items()}
        self._after_label = self._choice("After a label", after, NEXT_CRITERION)
        labels.name(self._after_label, "After you give a label", "What Review opens after you give a label")
        self._answers = self._choice("After a blind label", _ANSWERS, ANSWERS, workspace.blind_changed)
        shares = {str(share): words for share, words in _SHARES.items()}
        self._share = self._choice("On Review", shares, HIDDEN_SHARE, workspace.blind_changed)
        labels.name(self._share, "Labels shown on Review", "Measures how far the judge's labels move yours")
        for what, path in (("Run store", workspace.store_path), ("These settings", state.path)):
            shown = labels.label(text_of_path(path), "hint")
            shown.setAccessibleName(text_of_path(path))
            self._form.addRow(what, shown)
        forgets = "Forget recent files, layout and settings"
        forget = labels.button(
            forgets, self.forget_wanted.emit, what="Runs, their judgments and your name are kept"
        )
        forget.clicked.connect(self._show)
        of_runs = "The settings of a run are on the Judge page and are stored with each run."
        inside = labels.as_column(self._form, forget, labels.hint(of_runs), labels.STRETCH)
        scrolled = labels.DownScroll(inside), labels.STRETCH
        labels.in_column(scrolled, labels.close_button(self), on=self, margins=None)
        self.finished.connect(self._keep_author)
        self._show()

    def _choice(
        self, what: str, choices: Mapping[Any, str], key: str, changed: SignalInstance | None = None
    ) -> ComboBox:
        def keep() -> None:
            self._state.set_text(key, str(box.currentData()))
            if changed is not None:
                changed.emit()

        box = ComboBox()
        labels.name(box, what)
        box.offer([(words, str(choice)) for choice, words in choices.items()])
        box.activated.connect(keep)
        self._form.addRow(what, box)
        return box

    def _show(self) -> None:
        self._author.setText(self._workspace.author)
        kept = {
            self._theme: self._state.text("theme", ThemeChoice.SYSTEM),
            self._size: str(self._state.number("text_size", 100, MOST_OF_QT)),
            self._awake: kept_awake(self._state).value,
            self._after_label: self._state.text(NEXT_CRITERION),
            self._answers: self._state.text(ANSWERS),
            self._share: str(self._state.number(HIDDEN_SHARE, 0, 100)),
        }
        for box, value in kept.items():
            box.choose(value)

    def _keep_author(self) -> None:
        if self._author.isModified():
            self._workspace.set_author(self._author.text())


_Pairs = Sequence[tuple[str, str]]


class DiagnosticsCopier(QObject):
    """Gathers them where nobody waits, then copies them and says so."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        failures = workspace.failures
        self._telling = TaskPanel(workspace.threads, ThreadName.FILES, self, self._take, failed=failures)

    def copy(self) -> None:
        space = self._workspace
        space.note.emit("Gathering the diagnostics …")
        self._telling.start(tell(_screen(), _settings(space.state), space.store_path))

    def _take(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._workspace.note.emit("The diagnostics are on the clipboard; they contain none of your texts.")


def _screen() -> _Pairs:
    screen = QGuiApplication.primaryScreen()
    size, room = screen.size(), screen.availableSize()
    of_screen = (
        f"{size.width()} x {size.height()} ({room.width()} x {room.height()} free), scale"
        f" {screen.devicePixelRatio():g}, {screen.logicalDotsPerInch():.0f} dpi, one of"
        f" {len(QGuiApplication.screens())}"
    )
    of_window = (
        f"Qt {qVersion()} on {QGuiApplication.platformName()}, style {QtWidgets.QApplication.style().name()},"
        f" {'dark' if is_dark(QGuiApplication.palette()) else 'light'} colours"
    )
    return ("screen", of_screen), ("window", of_window)


def _settings(state: State) -> _Pairs:
    """Those that were changed; whatever stands in the file, only words of the window are told."""
    theme, text_size = state.text("theme"), state.number("text_size", 100, MOST_OF_QT)
    after_label = state.text(NEXT_CRITERION)
    changed = {
        "theme": theme if theme in (ThemeChoice.LIGHT, ThemeChoice.DARK) else "",
        "text size": f"{text_size} %" if text_size != 100 else "",
        "awake while judging": "" if kept_awake(state) is KeepAwake.MAINS else kept_awake(state).value,
        "next after a label": {"on": "criterion", NEXT_ITEM: "item"}.get(after_label, ""),
        "blind": "on" if state.text(BLIND) == "on" else "",
        "answers while blind": "on" if state.text(ANSWERS) == "on" else "",
        "labels hidden, %": str(state.number(HIDDEN_SHARE, 0, 100) or ""),
    }
    return [(name, value) for name, value in changed.items() if value]


class SelfTestDialog(labels.Dialog):
    diagnostics_wanted = Signal()

    def __init__(self, workspace: Workspace, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("Self-test", parent, 96, 30)
        self._lines: list[str] = []
        self._failed = 0
        self._area, self._grid = _grid_area("Checks", 14)
        self._notice = Notice()
        self._outcome = labels.hint("")
        buttons = labels.close_button(self)
        action = QtWidgets.QDialogButtonBox.ButtonRole.ActionRole
        copy = buttons.addButton("Copy all", action)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText("\n".join(self._lines)))
        diagnostics = buttons.addButton("Copy diagnostics", action)
        told = "Versions, computer, settings and the last bug, for a report; none of your texts"
        labels.describe(diagnostics, told)
        diagnostics.clicked.connect(self.diagnostics_wanted)
        self._test = TaskPanel(
            workspace.threads, ThreadName.MODEL, self, self._end, failed=self._notice, follow=self._add
        )
        self._test.cancelled.connect(lambda: self._outcome.setText("Stopped."))
        labels.in_column(
            self._area, self._test.line, self._notice, self._outcome, buttons, on=self, margins=None
        )
        self._test.begin(submission_jobs.check_all(), "Testing …")

    @property
    def outcome(self) -> str:
        return self._outcome.text()

    def _add(self, check: "Check") -> None:
        row = self._grid.rowCount()
        self._failed += not check.passed
        pill = Pill("passed", "good") if check.passed else Pill("failed", "bad")
        self._grid.addWidget(pill, row, 0)
        found = f"{check.found}\n{IN_THE_WINDOW.of(check.hint)}" if check.hint else check.found
        self._grid.addWidget(labels.label(f"{check.name}: {found}"), row, 1)
        self._lines.append(f"{'passed' if check.passed else 'FAILED'}  {check.name}: {found}")
        self._test.line.go_on(f"{len(self._lines)} checks done …")

    def _end(self, _result: object) -> None:
        self._outcome.setText(
            f"{self._failed} of {len(self._lines)} checks failed." if self._failed else "All checks passed."
        )
