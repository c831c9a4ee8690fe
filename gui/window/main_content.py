"""What fills the frame: pages, menus, dialogs. Imported after the window's first picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent
from PySide6.QtWidgets import QDialog, QMenu, QMenuBar, QMessageBox

from engine.core.column_map import ColumnMap
from engine.core.errors import EngineError, FileKind, SetupError, WrongKindError
from engine.core.formatting import short_name
from engine.core.items import Item
from engine.core.judgments import JudgmentKey
from engine.settings.identity import how_to_complete
from engine.system.paths import data_folder, demo_dataset, log_folder, text_of_path
from gui.compare.compare_page import ComparePage
from gui.compare.ranking_page import RankingPage
from gui.dataset.dataset_page import DatasetPage
from gui.judge.judge_page import JudgePage
from gui.judge.prompt_jobs import Subject, masses_of
from gui.judge.prompts_dialog import PromptsDialog
from gui.judge.rubric_choice import RubricChoice
from gui.judge.run_control import UNFINISHED, RunControl
from gui.results.results_page import ResultsPage
from gui.results.run_weights import FITS, OF_RUNS, SAVED
from gui.review.annotation_exchange import AnnotationExchange
from gui.review.progress import IN_STATE as DRAFTS
from gui.review.review_page import ReviewPage
from gui.runs.queue import QUEUE
from gui.runs.run_desk import RunDesk
from gui.widgets.action_table import MENUS, OF_MENUS, Rows, Submenu, When
from gui.widgets.actions import add_entry
from gui.widgets.files import show_folder
from gui.widgets.foreign_text import one_line
from gui.widgets.glossary import show_help
from gui.widgets.labels import button, open_dialog
from gui.widgets.notice import IN_THE_WINDOW, Message, question
from gui.widgets.theme import ThemeChoice, colours, dressed_at_once
from gui.window import dialogs
from gui.window.frame import MainWindow, icon, window_icon
from gui.window.head import DatasetChoice, Does, HeadLine
from gui.window.openers import DatasetOpener, SubmissionOpener
from gui.window.prompt_dialog import PromptDialog, PromptRequest
from gui.window.submission_jobs import Answered
from gui.workspace.annotations import WAITING_WORDS
from gui.workspace.open_run import about_run
from gui.workspace.page import Page
from gui.workspace.rewriter import Rewriter
from gui.workspace.state import ANSWERS, AUTHOR, BLIND, HIDDEN_SHARE, PageName
from gui.workspace.store_jobs import SeenStore, look_at_store
from gui.workspace.threads import EngineThreads, ThreadName
from gui.workspace.workspace import Workspace

_AS_SET = "as the Judge page is set"


class MainContent(QObject):
    """Made once for a frame; `begin` opens what was open last."""

    def __init__(self, frame: MainWindow, store_path: Path | None = None) -> None:
        super().__init__(frame)
        self.frame = frame
        self.threads = EngineThreads(frame)
        self.workspace = space = Workspace(self.threads, frame.state, store_path, frame)
        self.notices = frame.notices
        self.run_control = RunControl(space, frame)
        self.rewriter = Rewriter(space)
        with dressed_at_once():
            self.dataset = DatasetPage(space)
            self.judge = JudgePage(space, self.run_control)
            self.results = ResultsPage(space, self.rewriter)
            self.review = ReviewPage(space, self.rewriter)
            self.compare = ComparePage(space)
            self.ranking = RankingPage(space)
            self.runs = RunDesk(space, self.judge, frame)
            self.submissions = SubmissionOpener(space, frame)
            self.annotation_exchange = AnnotationExchange(space, frame)
            self.datasets = DatasetOpener(frame, self.dataset, self.compare)
            self.rubric = RubricChoice(space, self.judge.setup)
            self._places = self._make_places()
            self.diagnostics = dialogs.DiagnosticsCopier(space)
            does = self._actions()
            self.head = HeadLine(space, does, self.rubric, self.review.reviewer.who)
            self.menus = Menus(frame.menuBar(), {**does, "show_head": self.head.take_keys}, self.head.dataset)
            frame.setWindowIcon(window_icon())
            frame.fill(self.pages, self.head)
        self._came_from = PageName.RESULTS  # the page that listed items in Review
        self._back = button("", lambda: self.frame.show_page(self._came_from))
        self._back.hide()
        self.review.header.insertWidget(2, self._back)
        self._follow_look()
        self._connect()

    @property
    def pages(self) -> tuple[Page, ...]:
        return (self.dataset, self.judge, self.results, self.review, self.compare, self.ranking)

    def begin(self, *files: Path) -> None:
        state = self.frame.state
        last = state.text("last/dataset")
        dataset = Path(last) if last else demo_dataset()
        if files:
            self.submissions.open_files(files, otherwise=dataset)
        else:
            self.workspace.open_last(dataset)
        # By a job: a folder of a network may let whoever asks for a file wait. What fails, the runs say too.
        self.threads.start(ThreadName.STORE, look_at_store(self.workspace.store_path), self._take_store)
        self.workspace.refresh_runs()
        self._turn_to(self.frame.page)

    def end(self, at_once: bool = False) -> bool:
        """End the threads; False where one does not end. `at_once`: the program ends with them."""
        ended = self.threads.stop(at_once)
        self.workspace.close()
        return ended

    def _take_store(self, seen: SeenStore | None) -> None:
        if seen is not None:
            self.workspace.open_last_run()
        if seen is not None and seen.refusal is not None:
            said = (
                f"{seen.refusal.problem} Runs can be read, measured and exported, but no run can be"
                " judged, and no label or note can be stored."
            )
            self.notices.add(Message(said, IN_THE_WINDOW.of(seen.refusal.hint)))

    def tell_of_fault(self, log: Path) -> None:
        said = f"A bug ended Tiebreak last time. Details are in {text_of_path(log)}"
        kept = "Everything judged or labelled until then is saved. Please report the log."
        steps = {"Open the log folder": lambda: self._open_folder(log.parent)}
        self.notices.add(Message(said, kept, "problem", steps=steps))

    def run(self) -> None:
        self.frame.show_page(PageName.JUDGE)
        self.judge.run()

    # Making

    def _make_places(self) -> Mapping[FileKind, tuple[str, Callable[[Path], object]]]:
        def at(page: PageName, do: Callable[[Path], object]) -> Callable[[Path], object]:
            def open_there(path: Path) -> None:
                self.frame.show_page(page)
                do(path)

            return open_there

        def add(path: Path) -> None:
            self.compare.choosing.add_files([path])

        judge, calibration, exchange = self.judge, self.results.load_calibration, self.annotation_exchange
        return {
            FileKind.DATASET: ("Open as dataset", self.datasets.open),
            FileKind.RUN_DATA: ("Open as dataset", self.datasets.open),
            FileKind.SUBMISSION: ("Open as submission", self.submissions.open),
            FileKind.VERDICTS: ("Add on Compare", at(PageName.COMPARE, add)),
            FileKind.CALIBRATION: ("Load as calibration", at(PageName.RESULTS, calibration)),
            FileKind.RECIPE: ("Use as judge configuration", at(PageName.JUDGE, judge.use_recipe)),
            FileKind.RUBRIC: ("Open as rubric", self.rubric.open_named),
            FileKind.MODEL: ("Choose as model", at(PageName.JUDGE, judge.choose_model)),
            FileKind.LABELS_OF_ANNOTATORS: ("Import annotations", lambda path: exchange.count([path])),
        }

    def open_kind(self, path: Path, kind: FileKind) -> None:
        self.notices.withdraw(path)
        if kind in self._places:
            self._places[kind][1](path)
        else:
            self.workspace.problem.emit(WrongKindError(path, kind, FileKind.DATASET))

    def show_problem(self, error: EngineError) -> None:
        said = replace(Message.of(error), about=error)
        if isinstance(error, WrongKindError) and error.kind in self._places:
            words, _ = self._places[error.kind]
            steps = {words: partial(self.open_kind, error.path, error.kind)}
            said = replace(said, steps=steps, about=error.path)
        self.notices.add(said)

    def _show_prompts(self) -> None:
        dialog = PromptsDialog(self.workspace, self.frame)
        dialog.made.connect(self.datasets.make_pairs)
        open_dialog(dialog)

    def _show_self_test(self) -> None:
        dialog = dialogs.SelfTestDialog(self.workspace, self.frame)
        dialog.diagnostics_wanted.connect(self.diagnostics.copy)
        self._show(dialog)

    def _actions(self) -> Mapping[str, Callable[[], object]]:
        frame, across, down = self.frame, Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        return {
            "open_dataset": self.datasets.ask,
            "new_from_outputs": self.datasets.make_pairs,
            "new_from_prompts": self._show_prompts,
            "open_submission": self.submissions.ask,
            "open_demo": partial(self.datasets.open, demo_dataset()),
            **self.results.exports,
            "export_mine": self.annotation_exchange.export_mine,
            "export_all": self.annotation_exchange.export_all,
            "export_sheet": self.annotation_exchange.export_sheet,
            "assign_items": self.annotation_exchange.assign,
            "check_submission": self._show_check,
            "import_annotations": self.annotation_exchange.add,
            "undo_last": self.review.undo_last,
            "redo_last": partial(self.review.undo_last, again=True),
            "show_runs": self.runs.show_runs,
            "show_settings": self._show_settings,
            "quit": frame.close,
            **{f"show_{page}": partial(frame.show_page, page) for page in PageName},
            "show_notices": frame.notices.take_keys,
            **{f"theme_{choice}": partial(frame.set_theme, choice) for choice in ThemeChoice},
            "larger_text": partial(frame.step_text_size, 1),
            "smaller_text": partial(frame.step_text_size, -1),
            "normal_text": partial(frame.set_text_size, 100),
            "wider_part": partial(frame.resize_part, across, True),
            "narrower_part": partial(frame.resize_part, across, False),
            "higher_part": partial(frame.resize_part, down, True),
            "lower_part": partial(frame.resize_part, down, False),
            "wider_column": partial(frame.resize_column, True),
            "narrower_column": partial(frame.resize_column, False),
            "run": self.run,
            "stop": self.run_control.stop,
            "add_to_queue": self.runs.add_to_queue,
            "start_queue": self.runs.start_queue,
            "label_by_hand": self.workspace.label_by_hand,
            "show_help": lambda: show_help(frame),
            "show_keys": lambda: self._show(dialogs.KeysDialog(frame.page, frame)),
            "show_self_test": self._show_self_test,
            "copy_diagnostics": self.diagnostics.copy,
            "open_data_folder": lambda: self._open_folder(data_folder()),
            "open_log_folder": lambda: self._open_folder(log_folder()),
            "show_about": lambda: self._show(dialogs.AboutDialog(frame)),
        }

    def _connect(self) -> None:
        space, control = self.workspace, self.run_control
        self.frame.page_turned.connect(self._turn_to)
        self.head.left.connect(lambda: self._page(self.frame.page).take_focus())
        self.frame.page_entered.connect(lambda name: self._page(name).take_focus())
        self.frame.files_dropped.connect(partial(self.submissions.open_files, show_dataset=True))
        self.frame.look_changed.connect(self._follow_look)
        self.frame.about_to_close.connect(self._consider_closing)
        space.problem.connect(self.show_problem)
        space.failures.over.connect(self.notices.withdraw)
        space.notice.connect(self.notices.add)
        space.state.trouble.connect(self.show_problem)
        space.words.waiting.connect(self.notices.add)
        space.words.all_stored.connect(partial(self.notices.withdraw, WAITING_WORDS))
        space.words.all_stored.connect(partial(self.frame.show_note, "All your annotations are stored."))
        space.run_changed.connect(self._follow_open_run)
        space.runs_deleted.connect(self._withdraw_notices)
        self.runs.queue.ended.connect(
            lambda summary: self.notices.add(Message(summary, about=QUEUE, quiet=True))
        )
        space.note.connect(self.frame.show_note)
        self.review.prompt_wanted.connect(self._show_prompt_of_run)
        self.review.reviewer.who.assigning.connect(self.annotation_exchange.assign)
        self.dataset.prompt_wanted.connect(self._show_prompt)
        self.submissions.opened.connect(self._tell_findings)
        self.submissions.met.connect(self.open_kind)
        space.page_wanted.connect(self._go)
        space.items_wanted.connect(self._show_choice)
        space.dataset_changed.connect(self._tell_dataset)
        # Its problems are listed there.
        space.dataset_failed.connect(lambda _error: self.frame.show_page(PageName.DATASET))
        self.results.can_export_changed.connect(partial(self.menus.enable, When.RUN_OPEN))
        control.started.connect(self._follow_run)
        # The button that began it has no keys any more.
        control.started.connect(lambda: self.frame.announcer.say("The run begins."))
        control.progressed.connect(self._follow_run)
        control.ended.connect(self._end_run)

    # Pages

    def _page(self, name: PageName) -> Page:
        return next(page for page in self.pages if page.NAME is name)

    def _go(self, name: PageName) -> None:
        came_from = self.frame.page
        self.frame.show_page(name)
        if name is PageName.REVIEW is not came_from:
            self._came_from = came_from
            self._back.setText(f"Back to {came_from}")
            self._back.show()

    def _turn_to(self, name: PageName) -> None:
        self._back.hide()
        self.workspace.reviewing = name is PageName.REVIEW
        self._page(name).entered()

    def _show_choice(self, dataset: Path, ids: Sequence[str], columns: ColumnMap | None) -> None:
        self.judge.choose_items(dataset, ids, columns)
        self.frame.show_page(PageName.JUDGE)

    def _tell_dataset(self) -> None:
        dataset = self.workspace.dataset
        name = one_line(short_name(dataset.name)) if dataset else ""
        self.runs.watch.set_name(f"{name} - Tiebreak" if name else "Tiebreak")
        if name:
            self.frame.announcer.say(f"{name} is open.")

    def _follow_look(self) -> None:
        for page in self.pages:
            page.follow_look()
        rail = self.frame.rail
        colour = colours(rail.palette()).text
        for row, page in enumerate(self.pages):
            rail.item(row).setIcon(icon(page.NAME.lower(), colour))
        self.menus.check_theme(self.frame.theme)

    # Dialogs and folders

    def _show(self, dialog: QDialog) -> None:
        # it must not live on in the window until that closes
        dialog.exec()
        dialog.deleteLater()

    def _show_settings(self) -> None:
        dialog = dialogs.SettingsDialog(self.workspace, self.frame)
        dialog.look_changed.connect(self.frame.apply_look)
        dialog.power_changed.connect(self.runs.watch.follow_settings)
        dialog.forget_wanted.connect(self._forget)
        self._show(dialog)

    def _forget(self) -> None:
        own = (AUTHOR, BLIND, ANSWERS, HIDDEN_SHARE)
        self.workspace.state.forget_all_but(UNFINISHED, QUEUE, DRAFTS, OF_RUNS, SAVED, FITS, *own)
        self.frame.apply_look()
        self.frame.show_note("Recent files, layout and settings are forgotten; runs and your name are kept.")

    def _show_check(self) -> None:
        run = self.workspace.run
        if run is None:
            return
        dialog = dialogs.CheckDialog(self.workspace, run, self.frame)
        path = run.results.run.identity.model_path
        dialog.other_wanted.connect(lambda: self.submissions.ask_dataset(path))
        open_dialog(dialog)

    def _show_prompt(self, item: Item) -> None:
        """What the model that is chosen on the Judge page would be shown."""
        self._open_prompt(PromptRequest(Subject(item, self.judge.setup()), "", chosen_on=_AS_SET))

    def _show_prompt_of_run(self, item: Item, criterion: str) -> None:
        run, setup, blind = self.workspace.run, self.judge.setup(), self.review.reviewer.blind
        if run is None:
            return
        stored = run.results.run
        judged = next((one for one in run.results.judged if one.item_id == item.id), None)
        self._open_prompt(
            PromptRequest(
                Subject(item, setup, stored if stored.by_a_model else None),
                criterion,
                may_see=lambda name: blind.shows(JudgmentKey(item.id, name)),
                chosen_on="" if stored.by_a_model else _AS_SET,
                masses=masses_of(judged.raw_predictions if judged is not None and stored.by_a_model else {}),
            )
        )

    def _open_prompt(self, wanted: PromptRequest) -> None:
        open_dialog(PromptDialog(self.workspace, wanted, self.frame))

    def _tell_findings(self, opened: Answered) -> None:
        """What is wrong with a submission just opened; which items it answers, the status bar says."""
        run = opened.run
        lines = [*opened.findings, *filter(None, [how_to_complete(opened.results.left)])]
        if opened.path.absolute() != run.identity.model_path:
            known = short_name(run.identity.model_name)
            lines.insert(0, f"It is identical to {known}, which was opened before, and has that name.")
        if lines:
            self.notices.add(Message("\n".join([f"Found in {short_name(opened.path.name)}:", *lines])))

    def _open_folder(self, path: Path) -> None:
        try:
            shown = show_folder(path)
        except SetupError as error:
            self.show_problem(error)
        else:
            if not shown:
                self.frame.show_note(f"The folder is {path}")

    # Runs, and closing during one

    def _follow_open_run(self) -> None:
        if self.workspace.run is not None:
            self.notices.withdraw(about_run(self.workspace.run.id))

    def _withdraw_notices(self, run_ids: Sequence[int]) -> None:
        for run_id in run_ids:
            self.notices.withdraw(about_run(run_id))

    def _follow_run(self) -> None:
        progress, running = self.run_control.progress, self.run_control.running
        self.menus.follow_run(running)
        if progress is not None and running:
            self.notices.withdraw(about_run(progress.run_id))  # it goes on
            health = self.run_control.health
            uncertainty = health.in_short if health is not None else ""
            text = f"Judging: {progress.judged:,} of {progress.items:,} items. {uncertainty}".rstrip(". ")
            self.frame.show_run_state("Stopping …" if self.run_control.stopping else text, bool(uncertainty))

    def _end_run(self, _how: object) -> None:
        self.frame.show_run_state("")
        self.menus.follow_run(False)
        if self.frame.closing:
            # Not at once: the run may end in the middle of the question whether to close.
            QTimer.singleShot(0, self.frame.close)

    def _consider_closing(self, event: QCloseEvent) -> None:
        if self.judge.searching and not self.frame.closing:
            title = "The search for the best settings is running"
            kept = "Judged items are saved, and the search can be resumed."
            if not self._may_stop(title, "Stop it and close Tiebreak?", kept, "Go on"):
                event.ignore()
                return
        if not self.run_control.running:
            for page in self.pages:
                page.keep_layout()
            return
        event.ignore()
        if self.frame.closing:
            return
        progress = self.run_control.progress
        so_far = f"{progress.judged:,} of {progress.items:,} items are judged. " if progress else ""
        queue = " So can the queue." if self.runs.queue.going else ""
        kept = f"{so_far}Judged items are saved, and the run can be resumed next time.{queue}"
        if self._may_stop("A run is under way", "Stop the run and close Tiebreak?", kept, "Keep judging"):
            self._close_after_run()

    def _close_after_run(self) -> None:
        self.frame.closing = True
        if self.run_control.running:
            self.run_control.stop()
            self.frame.show_note("The run stops; the window closes then.")
        else:  # it ended while the question was asked
            QTimer.singleShot(0, self.frame.close)

    def _may_stop(self, title: str, asked: str, kept: str, otherwise: str) -> bool:
        box = question(self.frame, title, asked, kept)
        stop = box.addButton("Stop and close", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(otherwise, QMessageBox.ButtonRole.RejectRole)
        self._show(box)
        return box.clickedButton() is stop


class Menus(QObject):
    """Fills the menus of a bar. `does`: by the entries' names."""

    def __init__(self, bar: QMenuBar, does: Does, datasets: DatasetChoice) -> None:
        super().__init__(bar)
        self._does = does
        self._entries: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        for entry, rows in zip(bar.actions(), MENUS.values(), strict=True):
            self._fill(cast(QMenu, entry.menu()), rows)
        recent = self._menus["recent"]
        recent.setToolTipsVisible(True)
        recent.aboutToShow.connect(partial(datasets.offer_recent, recent))
        for choice in ThemeChoice:
            self._entries[f"theme_{choice}"].setCheckable(True)
        self.enable(When.RUN_OPEN, False)
        self.enable(When.JUDGING, False)

    def _fill(self, menu: QMenu, rows: Rows) -> None:
        for row in rows:
            if row is None:
                menu.addSeparator()
            elif isinstance(row, Submenu):
                self._menus[row.name] = menu.addMenu(row.title)
                self._fill(self._menus[row.name], row.rows)
            else:
                self._entries[row.name] = add_entry(menu, row.text, self._does[row.name], row.sequences)

    def enable(self, when: When, possible: bool) -> None:
        for name, entry in self._entries.items():
            if OF_MENUS[name].when is when:
                entry.setEnabled(possible)

    def follow_run(self, running: bool) -> None:
        self.enable(When.IDLE, not running)
        self.enable(When.JUDGING, running)

    def check_theme(self, chosen: ThemeChoice) -> None:
        for choice in ThemeChoice:
            self._entries[f"theme_{choice}"].setChecked(choice is chosen)
