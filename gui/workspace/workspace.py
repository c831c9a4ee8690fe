"""What all pages share: the dataset, the run that is looked at, and how to change them: by jobs, told by
signals. Long because dataset, run and annotations change together.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

from engine.annotations import records
from engine.annotations.effective import AnnotatorStep
from engine.core.column_map import ColumnMap
from engine.core.errors import EngineError, SetupError
from engine.core.formatting import capitalised, short_name
from engine.core.health import Health
from engine.core.items import Preference
from engine.core.judgments import JudgedItem, JudgmentKey, Origin
from engine.settings.identity import AnyRun, DamagedRun, StoredRun
from engine.settings.run_lists import of_what
from engine.system.paths import account_name, default_store
from gui.widgets.files import FileChoice
from gui.widgets.notice import Message
from gui.workspace import file_jobs, store_jobs
from gui.workspace.annotations import AnnotationWatch, StoredAnnotations, brought_up
from gui.workspace.dataset_reader import CurrentRubric, DatasetReader
from gui.workspace.garbage import run_closed
from gui.workspace.open_run import OpenRun, UnderWay, about_run, not_stored
from gui.workspace.state import AUTHOR, BegunWork, PageName, State
from gui.workspace.threads import EngineThreads, Failures, LatestTask, ThreadName

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

LONGEST_NAME = 255  # characters of the user's name
_COLUMNS = "last/columns"  # by which the last dataset was read
_OPENING = "a run is opened"
_MOST_TOLD = 40  # items; of more than these a page is told once


class Workspace(QObject):
    dataset_changed = Signal()  # another one is current, or none, or it was read again
    dataset_loading = Signal(object)  # file_jobs.Loading, the rows so far; None at the end
    dataset_failed = Signal(object)  # an EngineError: shown on the Dataset page
    run_wanted = Signal(int)  # another run is to be opened: what is measured of the open one can end
    run_changed = Signal()  # another run is open, or it was read again
    overrides_changed = Signal(object)  # a JudgmentKey
    sample_drawn = Signal(int)  # the random sample of the open run is by another seed now
    reviewed = Signal(str)  # item id: its annotations has changed, be it an override, a mark or a label
    noted = Signal(str)  # content hash of an item
    taken_back = Signal(str)  # item id: this annotator requested to take a step back, or to do it again
    author_leaves = Signal()  # another one is about to label
    author_changed = Signal()
    blind_changed = Signal()  # whether annotations of others are hidden from the annotator
    runs_changed = Signal()  # the list of all runs
    run_called = Signal()  # the open run has another name, whoever gave it
    runs_deleted = Signal(object)  # the numbers of runs that are gone for good
    judging_changed = Signal()  # a run has begun, goes on or has ended; see `judging`
    offer_changed = Signal()  # a run that has ended here is to be offered, or no more; see `offered`
    gold_changed = Signal()  # the human labels of the open run
    submission_wanted = Signal()  # the user is to be asked for a submission file to open
    review_wanted = Signal(object)  # a JudgmentKey: show this judgment
    listing_wanted = Signal(object)  # a WantedItems: list just these in Review
    items_wanted = Signal(object, object, object)  # path of a dataset, ids, its columns: judge these alone
    columns_wanted = Signal(object)  # a ColumnsWish: the user is to be asked for the columns of a file
    page_wanted = Signal(object)  # PageName
    unsaid = Signal(object)  # an annotation: it will not be stored, as `problem` reported
    problem = Signal(object)  # an EngineError that the window must show
    notice = Signal(object)  # a Message: what the user must see, whichever page is open
    note = Signal(str)  # a sentence for the status bar

    def __init__(
        self,
        threads: EngineThreads,
        state: State,
        store_path: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.threads = threads
        self.state = state
        self.store_path = store_path or default_store()
        self.rubric = CurrentRubric(state, self)
        self.rubric.changed.connect(self._read_by_rubric)
        self.dataset: Dataset | None = None
        self.run: OpenRun | None = None
        self.runs: Sequence[StoredRun] = ()
        self.damaged_runs: Sequence[DamagedRun] = ()
        self.judging: UnderWay | None = None
        self.reviewing = False  # whether Review is the page that is shown
        self.offered: int | None = None  # a run that has ended here, while another one stayed open
        self._stays = False  # what is open, when a run ends
        self._by_itself = False  # whether what is being opened is a run that has ended
        self._run_leads = False  # whether the run was wanted last, and the dataset follows it
        self._seeks_run = False  # whether the dataset was opened since the list of its runs came
        self.in_use: dict[str, Path] = {}  # further files that a page works with, by the words for them
        self._gold_of: dict[Path | None, Dataset] = {}  # chosen by the user, by the dataset of the run
        self._gold_for: Path | None = None  # that is being read
        self._wanted_run: int | None = None  # that is being opened
        self._looked_at: dict[int, None] = {}  # the ids of runs that were open here, the last one last
        self._to_review: tuple[int, JudgmentKey | records.WantedItems] | None = None  # once that run is open
        self.acts: list[tuple[int, str, datetime]] = []  # of this window: see Opened
        self._changes = self._changes_seen = 0  # of what annotators say, by this window; at its last asking
        self.failures = Failures(self)
        self.failures.told.connect(self.problem)
        self._make_tasks()
        self.begun = BegunWork(state)
        self.words = StoredAnnotations(threads, self.store_path, self)
        self.words.stored.connect(self._take_words)
        self.words.failed.connect(self.problem)
        self.watch = AnnotationWatch(threads, self.store_path, self)
        self.watch.found.connect(self._take_others)
        self.run_changed.connect(lambda: self.watch.follow(self.run.id if self.run else None))

    def _make_tasks(self) -> None:
        threads = self.threads
        take, fail = self._take_dataset, self._tell_bad_dataset
        self._loading = LatestTask(threads, ThreadName.FILES, self, take, fail)
        self._loading.progress.connect(self.dataset_loading)
        self._loading.cancelled.connect(lambda: self.dataset_loading.emit(None))
        self._gold_reader = self.reader(self)
        self._gold_reader.finished.connect(self._take_gold)
        self.failures.follow(self._gold_reader)
        self._gold_reader.put_off.connect(self.gold_changed)
        self._opening = LatestTask(threads, ThreadName.MEASURE, self, self._take_run, self._tell_no_run)
        self._listing = LatestTask(threads, ThreadName.STORE, self, self._take_runs)
        self._labels = LatestTask(threads, ThreadName.FILES, self, self._take_labels_by_hand)
        self._beginning = LatestTask(threads, ThreadName.STORE, self, self._review_begun)
        for task in (self._listing, self._labels, self._beginning):
            self.failures.follow(task)

    # Datasets

    @property
    def loading(self) -> bool:
        return self._loading.busy

    def open_dataset(
        self, path: Path, columns: ColumnMap | None = None, remember: bool | None = None
    ) -> None:
        self._stays, self._run_leads = True, False
        self._read(path, columns, remember)

    def _read(self, path: Path, columns: ColumnMap | None, remember: bool | None = None) -> None:
        self._being_read, self._read_by = (path, columns, remember), self.rubric.rubric
        self._loading.start(file_jobs.load(path, columns, remember, rubric=self.rubric.rubric))
        self.dataset_loading.emit(file_jobs.Loading(path, 0))

    def _read_by_rubric(self) -> None:
        if self._loading.busy:
            if self._read_by != self.rubric.rubric:
                self._read(*self._being_read)
        elif self.dataset is not None and self.dataset.rubric.names != self.rubric.rubric.names:
            self._read(self.dataset.path, self.dataset.columns)

    def open_last(self, path: Path) -> None:
        """Read the dataset of last time by the columns of last time, also where these are not remembered; the
        run of last time will lead.
        """
        self._run_leads = self.state.number("last/run", 0) > 0
        last = path.absolute() == Path(self.state.text("last/dataset"))
        self._read(path, ColumnMap.of_json(self.state.record(_COLUMNS)) if last else None)

    def reader(self, parent: QObject) -> DatasetReader:
        def tell(dataset: "Dataset") -> None:
            if dataset.read_as:
                said = f"{short_name(dataset.name)}: {dataset.read_as}"
                self.notice.emit(Message(said, about=dataset.path))

        reader = DatasetReader(self.threads, self.columns_wanted, self.rubric, parent)
        reader.finished.connect(tell)
        return reader

    def cancel_loading(self) -> None:
        self._loading.cancel()

    @property
    def gold(self) -> "Dataset | None":
        return self._gold_of.get(self._judged_file) or self.own_gold

    @property
    def own_gold(self) -> "Dataset | None":
        judged = self.run.dataset if self.run else None
        return judged if judged is not None and judged.criteria else None

    @property
    def gold_from(self) -> str:
        if self.has_chosen_gold:
            return "chosen on Results"
        gold = self.own_gold
        return "the run's own" if gold and gold.path == self._judged_file else "which holds the run's items"

    @property
    def has_chosen_gold(self) -> bool:
        return self._judged_file in self._gold_of

    @property
    def _judged_file(self) -> Path | None:
        return self.run.results.run.identity.dataset_path if self.run else None

    def open_gold(self, path: Path) -> None:
        self._stays = True
        self._gold_for = self._judged_file
        self._gold_reader.read_labels(path, [self.run.results.run] if self.run else ())

    def use_labels_of(self, run_id: int) -> None:
        """Compare the open run with the labels that annotators gave in another one."""
        self._stays = True
        self._gold_reader.drop()
        self._read_labels_of(run_id)

    def _read_labels_of(self, run_id: int) -> None:
        self._gold_for = self._judged_file
        self._labels.start(store_jobs.labels_of_run(self.store_path, run_id))

    @property
    def labelled_by_hand(self) -> StoredRun | None:
        """The newest labels by hand of the open run's dataset that it is not compared with yet."""
        other = [run for run in self.runs if run.by_hand and not run.archived and self.run is not None]
        same = [run for run in other if run.identity.dataset_path == self._judged_file]
        found = max(same, key=lambda run: run.id, default=None)
        return None if found == self._labelled_in else found

    @property
    def _labelled_in(self) -> StoredRun | None:
        """The labels by hand that were chosen for the open run."""
        gold = self._gold_of.get(self._judged_file)
        named = (run for run in self.runs if run.by_hand and gold and gold.name == capitalised(run.in_short))
        return next(named, None)

    def use_own_labels(self) -> None:
        self._stays = True
        self._gold_reader.drop()
        self._labels.drop()
        self._gold_of.pop(self._judged_file, None)
        self.gold_changed.emit()

    def is_of_dataset(self, run: StoredRun, items: "Dataset | None" = None) -> bool:
        """Whether a run is of the current dataset, its file or that of its `items`; where there is none, any
        run is.
        """
        if items is None and self.run is not None and self.run.id == run.id:
            items = self.run.dataset
        files = (run.identity.dataset_path.absolute(), items.path.absolute() if items else None)
        return self._here is None or self._here in files

    @property
    def _here(self) -> Path | None:
        """The file of the current dataset, or the one that is being read."""
        if self._loading.busy:
            return self._being_read[0].absolute()
        return self.dataset.path.absolute() if self.dataset is not None else None

    def _take_dataset(self, dataset: "Dataset") -> None:
        self.dataset_loading.emit(None)
        self._show_dataset(dataset)
        if not (self._run_leads and self._opening.busy):
            self._follow_dataset()

    def _show_dataset(self, dataset: "Dataset | None") -> None:
        self.dataset = dataset
        self.rubric.turn_to(dataset.path if dataset is not None else None)
        if dataset is not None:
            self.state.add_recent("datasets", dataset.path)
            self.state.set_text("last/dataset", str(dataset.path.absolute()))
            self.state.set_record(_COLUMNS, dataset.columns.as_json() if dataset.columns else {})
        self.dataset_changed.emit()
        self._read_by_rubric()

    def _follow_dataset(self) -> None:
        """Leave the run of another dataset; one whose items are missing, or unlabelled, may be of this."""
        run, now = self.run, self.dataset
        if run is not None and now is not None and not self.is_of_dataset(run.results.run):
            if run.dataset is None or (now.criteria and not run.dataset.criteria):
                self._open(run.id)
                return
            self._close_run()
        if self.run is None:
            self._seeks_run = True
            self.refresh_runs()

    def _seek_run(self) -> None:
        """Look at the run of the dataset that was looked at last, else at its newest."""
        if not self._seeks_run or self.dataset is None or self._run_leads:
            return
        self._seeks_run = False
        own = [run.id for run in self.runs if self.is_of_dataset(run) and not run.archived]
        looked_at = (self.state.number("last/run", 0), *self._looked_at)
        if own and self.run is None and not self._opening.busy:
            self._open([own[0], *(each for each in looked_at if each in own)][-1])

    def _tell_bad_dataset(self, error: EngineError) -> None:
        self.dataset_loading.emit(None)
        if self.dataset is None:  # the one of last time is gone: the next start need not say so again
            self.state.set_text("last/dataset", "")
        self._follow_dataset()
        self.dataset_failed.emit(error)

    def _take_gold(self, dataset: "Dataset") -> None:
        self._labels.drop()  # which were read again meanwhile
        self._gold_of[self._gold_for] = dataset
        self.gold_changed.emit()

    def _take_labels_by_hand(self, dataset: "Dataset") -> None:
        known = self._gold_of.get(self._gold_for)
        if known is None or known.name != dataset.name or not known.table.equals(dataset.table):
            self._take_gold(dataset)

    # Runs

    def refresh_runs(self) -> None:
        self._listing.start(store_jobs.list_runs(self.store_path))

    def open_run(self, run_id: int, current: "Dataset | None" = None) -> None:
        """Look at a run, as the user chose, and at its dataset; its items from its file, else out of
        `current` or the open dataset.
        """
        self._stays = self._run_leads = True
        self._open(run_id, current)

    def _open(self, run_id: int, current: "Dataset | None" = None, by_itself: bool = False) -> None:
        self._wanted_run, self._by_itself = run_id, by_itself
        self._changes_seen = self._changes
        if self.run is None or self.run.id != run_id:
            self.note.emit(f"Opening {self._called(run_id)} …")
            self.run_wanted.emit(run_id)
        self._opening.start(store_jobs.open_run(self.store_path, run_id, current or self.dataset))

    def label_by_hand(self) -> None:
        """Let annotators label the open dataset without a judge: a run of its own, shown on Review."""
        if self.dataset is not None:
            self._stays = True
            self._beginning.start(store_jobs.begin_by_hand(self.store_path, self.dataset, self.rubric.rubric))

    def _review_begun(self, run_id: int) -> None:
        self.refresh_runs()
        self.open_run(run_id)
        self.page_wanted.emit(PageName.REVIEW)

    def open_last_run(self) -> None:
        last = self.state.number("last/run", 0)
        if last and self._run_leads and self.run is None and not self._opening.busy:
            self._open(last)

    def forget_runs(self, run_ids: Sequence[int]) -> None:
        if self.offered in run_ids:
            self._offer(None)
        if self._wanted_run in run_ids:
            self._opening.drop()
            self.state.set_number("last/run", 0)
        if self.run is not None and self.run.id in run_ids:
            self._close_run()
        self.runs_deleted.emit(run_ids)

    def _close_run(self) -> None:
        self.run = None
        self.run_changed.emit()
        run_closed()

    def read_run_again(self) -> None:
        if self._opening.busy and self._wanted_run is not None:
            self._open(self._wanted_run, by_itself=self._by_itself)
        elif self.run is not None:
            self._open(self.run.id)

    def tell_begun(self) -> None:
        """The user starts a run or a queue: it is shown at its end, if they choose nothing until then."""
        self._stays = False

    def stay(self) -> None:
        self._stays = True

    def tell_ended(self, run_id: int, how: str, health: Health) -> None:
        """A run that was started here has ended, `how` in words; the one place that says whether it is shown
        now. It is, unless the user chose something else since, or works with the open run. Then nothing moves
        under their hands, and the run is offered by name.
        """
        shown = self.run.id if self.run is not None else None
        looked_at = self._wanted_run if self._opening.busy else shown
        if looked_at == run_id or not self._at_work:
            self.note.emit(f"Run {run_id} {how}.")
            self._run_leads = True
            self._open(run_id, by_itself=shown != run_id)
            return
        run = next((run for run in self.runs if run.id == run_id), None)
        ended = f"{run.title} {how} {of_what(run)}" if run is not None else f"Run {run_id} {how}"
        open_one = "what is open" if looked_at is None else self._called(looked_at)
        self._offer(run_id)
        self.notice.emit(
            Message(
                f"{ended}. {health.in_short}".rstrip(),
                f"Results, Review, Ranking and exports still show {open_one}.",
                "problem" if health.doubted else "note",
                steps={f"Show run {run_id}": lambda: self.show_run(run_id)},
                about=about_run(run_id),
                quiet=True,
            )
        )

    @property
    def _at_work(self) -> bool:
        open_ones = (QApplication.activeModalWidget(), QApplication.activePopupWidget())
        return self._stays or (self.reviewing and self.run is not None) or any(open_ones)

    def show_in_review(self, what: JudgmentKey | records.WantedItems) -> None:
        self.page_wanted.emit(PageName.REVIEW)
        (self.listing_wanted if isinstance(what, records.WantedItems) else self.review_wanted).emit(what)

    def list_in_review(
        self, filters: records.Filters, words: str, order: records.ListOrder | None = None
    ) -> None:
        """List items of the open run; `words`: what they have in common."""
        if self.run is not None:
            self.show_in_review(records.WantedItems(self.run.id, filters, words, order))

    def open_in_review(
        self, run_id: int, what: JudgmentKey | records.WantedItems, anew: bool = False
    ) -> None:
        if self.run is not None and self.run.id == run_id and not anew:
            self.show_in_review(what)
        else:
            self._to_review = run_id, what
            self.open_run(run_id)

    def show_run(self, run_id: int) -> None:
        self.open_run(run_id)
        self.page_wanted.emit(PageName.RESULTS)

    def _offer(self, run_id: int | None) -> None:
        if run_id != self.offered:
            self.offered = run_id
            self.offer_changed.emit()

    def _called(self, run_id: int | None) -> str:
        return next((f"{run.called} {of_what(run)}" for run in self.runs if run.id == run_id), "the run")

    @property
    def judges_open_run(self) -> bool:
        return self.run is not None and self.judging is not None and self.run.id == self.judging.run_id

    def tell_judging(self, judging: UnderWay | None) -> None:
        if judging != self.judging:
            self.judging = judging
            if judging is not None and judging.run_id == self.offered:
                self._offer(None)  # it goes on
            self.judging_changed.emit()

    def _take_runs(self, found: Sequence[AnyRun]) -> None:
        gone = {run.id for run in self.runs} - {run.id for run in found}
        if self.run is not None and self.run.id in gone:
            self.note.emit(f"{self.run.results.run.title} was deleted in another window.")
            self.forget_runs([self.run.id])
        if self.offered is not None and self.offered in gone:
            self.forget_runs([self.offered])
        self.damaged_runs = [run for run in found if isinstance(run, DamagedRun)]
        self.runs = [run for run in found if not isinstance(run, DamagedRun)]
        stored = next((run for run in self.runs if self.run is not None and run.id == self.run.id), None)
        if self.run is not None and stored is not None and stored.said != self.run.results.run.said:
            called, said = self.run.results.run.called, replace(self.run.results.run, **stored.said)
            self.run = replace(self.run, results=replace(self.run.results, run=said))
            if stored.called != called:
                self.run_called.emit()
        self.runs_changed.emit()
        self._seek_run()

    def _take_run(self, opened: OpenRun) -> None:
        self.failures.end(_OPENING)
        results, before = opened.results, self.run
        shown = before.id if before is not None else None
        if self._by_itself and shown != results.run.id and self._at_work:
            self._wanted_run = shown
            self._offer(results.run.id)  # they began while it was read
            return
        fits = self._here is not None and self.is_of_dataset(results.run, opened.dataset)
        if not fits and not self._follow_run(opened):
            return
        if before is not None and before.id == results.run.id and self._changes > self._changes_seen:
            # The user has said something since it was read.
            results = results.with_annotators(before.results.reviews, before.results.notes)
        self.run = replace(opened, results=results, whole=None)  # kept as the dataset alone
        if before is None or before.id != self.run.id:
            self.note.emit(self.run.in_words)
        self.state.set_number("last/run", results.run.id)
        self._looked_at.pop(results.run.id, None)
        self._looked_at[results.run.id] = None
        if self.offered == results.run.id:
            self._offer(None)
        self.run_changed.emit()
        if before is not None:
            run_closed()
        if (labelled := self._labelled_in) is not None:  # annotators may have given more since
            self._read_labels_of(labelled.id)
        wanted, self._to_review = self._to_review, None
        if wanted is not None and wanted[0] == results.run.id:
            self.show_in_review(wanted[1])

    def _follow_run(self, opened: OpenRun) -> bool:
        """Turn to the dataset of a run that was read; False where the dataset was wanted after it."""
        if not self._run_leads and self._here is not None:
            if self.run is not None:
                self._close_run()
            self._seeks_run = True
            self._seek_run()
            return False
        self._loading.drop()
        self.dataset_loading.emit(None)
        if opened.whole is not self.dataset:
            self._show_dataset(opened.whole)
        return True

    def _tell_no_run(self, error: EngineError) -> None:
        self._to_review = None
        if self.run is None:  # the one of last time is gone: the next start need not say so again
            self.state.set_number("last/run", 0)
            self._run_leads = False
            self._follow_dataset()
        self.failures.fail(_OPENING, error)

    # What annotators say

    @property
    def author(self) -> str:
        return self.state.text(AUTHOR) or account_name()

    @property
    def knows_author(self) -> bool:
        return bool(self.state.text(AUTHOR))

    def set_author(self, name: str) -> None:
        name = "".join(letter for letter in name if letter.isprintable()).strip()
        if name != self.state.text(AUTHOR):
            self.author_leaves.emit()
            self.state.set_text(AUTHOR, name)
            self.author_changed.emit()

    def override(
        self,
        key: JudgmentKey,
        preference: Preference | None,
        explanation: str | None,
        origin: Origin | None = None,
    ) -> None:
        self.say(records.new_override(*key, preference, explanation, self.author, origin=origin))

    def steps(self, item: JudgedItem) -> list[AnnotatorStep]:
        """What this annotator did with an item of the open run, stored or waiting, the oldest first."""
        run = self.run
        if run is None:
            return []
        return self.words.with_waiting(run.results.steps(item, self.author), item, self.author, run.id)

    def take_back(self, undo: records.Undo) -> None:
        if self.say(undo):
            self.taken_back.emit(undo.item_id)

    def draw_sample_by(self, run_id: int, seed: int) -> None:
        def take(_stored: object) -> None:
            run = self.run
            if run is not None and run.id == run_id:
                stored = replace(run.results.run, review_seed=seed)
                self.run = replace(run, results=replace(run.results, run=stored))
                self.sample_drawn.emit(seed)
            self.note.emit(f"The random sample of run {run_id} is drawn by seed {seed} now.")

        job = store_jobs.in_store(self.store_path, lambda store: store.draw_sample_by(run_id, seed))
        self.failures.follow(self.threads.start(ThreadName.STORE, job, take, must_end=True), "sample drawn")

    def note_item(self, content_hash: str, text: str, tags: Sequence[str]) -> bool:
        return bool(self.say(records.new_note(content_hash, text, tags, self.author)))

    def call_run(self, run_id: int, name: str | None = None, note: str | None = None) -> None:
        self.words.say(records.Said(records.RunWords(name, note), records.now(), run_id, self._made(run_id)))

    def say(self, what: records.AnyWord, run_id: int | None = None, over: Sequence[str] = ()) -> str:
        """Put on the disk what the user says, of the open run where no other is named; its name. Empty where
        it is not said: the user is told, and `unsaid` whoever takes it for said.
        """
        run_id = run_id or (self.run.id if self.run else None)
        self._stays = True
        before = None  # the last annotation of the same item, of all that this window knows
        if self.run is not None:
            places, stored = self.run.results.last_said(records.place_of(what))
            times = (stored, self.words.last_said(places))
            before = max((at for at in times if at is not None), default=None)
        said = records.Said(what, records.now(before), over=tuple(over))
        if not _is(what, records.AnnotationKind.NOTE):
            if run_id is None:
                return ""
            said = replace(said, run_id=run_id, made=self._made(run_id))
        try:
            name = self.words.say(said)
        except SetupError as error:
            self._tell_unsaid(what, error)
            return ""
        if not _is(what, records.AnnotationKind.DRAFT) and not isinstance(what, records.Undo):
            self.acts.append((run_id or 0, records.place_of(what), said.at))
        return name

    def files_in_use(self, widget: QWidget) -> dict[str, Path]:
        """Each file that is open, or chosen in a widget's window, by words: none is written over."""
        found = {"run store": self.store_path, **self.in_use}
        top = widget
        while (above := top.parentWidget()) is not None:  # a dialog has a window below
            top = above
        for choice in top.findChildren(FileChoice):
            if choice.path is not None:
                found[f"chosen file of {choice.what}"] = choice.path
        if self.dataset is not None:
            found["open dataset"] = self.dataset.path
        if self.gold is not None:
            found["dataset with the human labels"] = self.gold.path
        if self.run is not None:
            run = self.run.results.run
            found[f"dataset of {run.called}"] = run.identity.dataset_path
            what = "submission that is open" if run.submitted else f"model of {run.called}"
            if not run.panel and not run.by_hand:
                found[what] = run.identity.model_path
        return found

    def close(self) -> None:
        self.words.close()
        self.begun.close()

    def _made(self, run_id: int) -> datetime | None:
        known = (*self.runs, *([self.run.results.run] if self.run is not None else []))
        return next((run.created for run in known if run.id == run_id), None)

    def _tell_unsaid(self, what: records.AnyWord, error: SetupError) -> None:
        is_draft = _is(what, records.AnnotationKind.DRAFT)
        if isinstance(what, records.Annotation) and what.kind is records.AnnotationKind.OVERRIDE:
            error = not_stored(error, what.item_id, what.criterion)
        elif isinstance(what, tuple | records.Undo):
            error = not_stored(error, records.place_of(what))
        self.failures.fail(_subject(what), error)
        if not is_draft:
            self.unsaid.emit(what)

    def _take_words(self, stored: store_jobs.Stored) -> None:
        if (run := self.run) is not None:
            results = run.results
            reviews, notes = stored.reviews.get(run.id, results.reviews), {**results.notes, **stored.notes}
            self.run = replace(run, results=results.with_annotators(reviews, notes))
        for said in stored.words:
            self._tell_word(said)
        for refused, error in stored.refused:
            if refused is None:
                self.problem.emit(error)
            elif not _is(refused.what, records.AnnotationKind.DRAFT):  # of a run that is gone
                self._tell_unsaid(refused.what, error)
        if any(isinstance(said.what, records.RunWords) for said in stored.words):
            self.refresh_runs()

    def _take_others(self, found: store_jobs.FoundWords) -> None:
        if (changed := brought_up(self.run, found)) is not None:
            self._changes += 1
            self.run, since = changed
            if len(since.items) > _MOST_TOLD:
                self.run_changed.emit()
            else:
                for key in sorted(since.keys):
                    self.overrides_changed.emit(key)
                for item_id in sorted(since.items):
                    self.reviewed.emit(item_id)
            for content_hash in sorted(since.noted):
                self.noted.emit(content_hash)

    def _tell_word(self, said: records.Said) -> None:
        what = said.what
        self.failures.end(_subject(what))
        if _is(what, records.AnnotationKind.NOTE):
            self._changes += 1
            self.noted.emit(records.place_of(what))
        elif self.run is not None and self.run.id == said.run_id:
            self._changes += 1
            if isinstance(what, records.Annotation) and what.kind is records.AnnotationKind.OVERRIDE:
                self.overrides_changed.emit(what.key)
            elif isinstance(what, records.Undo):
                for word in self.run.results.reviews.words_of(what.item_id):
                    is_of_step = (word.author, word.created) == (what.author, what.step)
                    if is_of_step and word.kind is records.AnnotationKind.OVERRIDE:
                        self.overrides_changed.emit(word.key)
                self.noted.emit(what.content_hash)
            if not _is(what, records.AnnotationKind.DRAFT) and records.place_of(what):
                self.reviewed.emit(records.place_of(what))


def _subject(what: records.AnyWord) -> tuple[object, ...]:
    """What an annotation is about: once another about the same is stored, the failure is over."""
    said = what[0] if isinstance(what, tuple) else what
    names = ("content_hash", "item_id", *(() if isinstance(what, tuple) else ("criterion",)))
    return _is(what, records.AnnotationKind.DRAFT), *(getattr(said, name, None) for name in names)


def _is(what: records.AnyWord, kind: records.AnnotationKind) -> bool:
    return isinstance(what, records.Annotation) and what.kind is kind
