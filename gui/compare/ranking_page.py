"""The page Ranking: which candidate, a model that wrote responses, is better, by whose labels."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from engine.annotations.records import Filters, ListOrder, WantedItems
from engine.core.errors import DoubtfulCandidates, EngineError, SetupError
from engine.core.events import MeasureProgress, Preparing
from engine.core.formatting import capitalised, duration, short_name, visible, words
from engine.core.rubric import OVERALL, default_criterion
from engine.core.tables import ItemsBehind
from gui.compare import compare_jobs
from gui.compare.compare_jobs import RankedCandidates, RankRequest, rank_candidates, save_ranking
from gui.results.run_weights import RunWeights
from gui.widgets import labels
from gui.widgets.actions import timer
from gui.widgets.fields import ComboBox, FlowLayout, narrow_box
from gui.widgets.files import ask_target
from gui.widgets.foreign_text import OneLine, one_line, plain_label, set_tip
from gui.widgets.notice import problem_of
from gui.widgets.text_views import SheetView
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.figures import FramedPicture
from gui.workspace.page import Page, SourceBox
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskPanel, write_file
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

WEIGHTED = "weighted"
_OF_WEIGHTED = "The winners by all criteria, with the weights set on Results, under “Weighted scoring”"


class RankingSource(StrEnum):
    RUN = "run"  # of the open run
    GOLD = "gold"  # the human labels that it is compared with
    DATASET = "dataset"  # the human labels of the open dataset


class RankChoice(QWidget):
    """Offers what is open; `beside`: what stands in the same row, or where there is no room, in the next."""

    changed = Signal()  # something else is to be ranked, or the same by other labels

    def __init__(self, workspace: Workspace, beside: QWidget) -> None:
        super().__init__()
        self._workspace = workspace
        self._run_id: int | None = None  # of which labels were offered last
        self._wanted = OVERALL  # the criterion that was chosen last
        self._whole: dict[ComboBox, dict[str, str]] = {}
        self.by = narrow_box("Labels to rank by", letters=28)
        self.criterion = narrow_box("Criterion to rank by", letters=16)
        self.whose = SourceBox()
        FlowLayout(self.by, self.criterion, self.whose, beside, on=self)
        self.by.currentIndexChanged.connect(self._offer_criteria)
        self.criterion.currentIndexChanged.connect(self._tell)
        self.criterion.activated.connect(self._keep_criterion)
        self.whose.changed.connect(self.changed)
        opened = (workspace.run_changed, workspace.dataset_changed, workspace.gold_changed)
        for signal in (*opened, workspace.run_called):
            signal.connect(self.offer)
        workspace.reviewed.connect(self._follow_annotators)
        self.offer()

    @property
    def dataset(self) -> "Dataset | None":
        """What is to name the candidates; None where nothing is open, or a run without its items."""
        return self._naming(self._datasets.get(self.chosen)) if self.chosen else None

    @property
    def chosen(self) -> RankingSource | None:
        return RankingSource(self.by.currentData()) if self.by.count() else None

    @property
    def request(self) -> RankRequest | None:
        dataset, run = self.dataset, self._workspace.run
        criterion = self.criterion.currentData()
        if dataset is None or criterion is None:
            return None
        if self.chosen is not RankingSource.RUN or run is None:
            return RankRequest(dataset, criterion)
        results = run.results.by(self.whose.source)
        if criterion != WEIGHTED:
            return RankRequest(dataset, criterion, results)
        return RankRequest(dataset, None, results, RunWeights(self._workspace.state).of(results.run))

    @property
    def _datasets(self) -> "dict[RankingSource, Dataset | None]":
        space, found = self._workspace, {}
        gold = space.gold if space.run is not None else None
        if space.run is not None:
            found[RankingSource.RUN] = space.run.dataset or gold
        if gold is not None:
            found[RankingSource.GOLD] = gold
        opened = space.dataset
        if opened is not None and opened.criteria and (gold is None or gold.path != opened.path):
            found[RankingSource.DATASET] = opened
        return found

    def _naming(self, dataset: "Dataset | None") -> "Dataset | None":
        # The same items as they were read last, where only then their candidates were named.
        opened = self._workspace.dataset
        if dataset is None or dataset.names_candidates or opened is None:
            return dataset
        return opened if opened.path == dataset.path and opened.names_candidates else dataset

    def offer(self) -> None:
        """Offer what is open now; what is chosen stays where it can, and a run that was just opened is."""
        run, before = self._workspace.run, self.chosen
        is_new = run is not None and run.id != self._run_id
        self._run_id = run.id if run is not None else None
        entries: list[tuple[str, str, str]] = []
        for by, dataset in self._datasets.items():
            if by is RankingSource.RUN and run is not None:
                stored = run.results.run
                entries.append((one_line(f"Labels of {stored.called}"), by, f"Labels of {stored.title}"))
            elif dataset is not None:
                text = one_line(f"Human labels of {short_name(dataset.name)}")
                entries.append((text, by, f"Human labels of {dataset.path}"))
        self._offer(self.by, entries, RankingSource.RUN if is_new else before)
        self._follow_annotators()
        self._offer_criteria()

    def _offer_criteria(self) -> None:
        chosen, run, dataset = self.chosen, self._workspace.run, self.dataset
        names: tuple[str, ...] = dataset.criteria if dataset is not None else ()
        if chosen is RankingSource.RUN and run is not None:
            names = run.results.run.identity.criteria
        entries = [(one_line(capitalised(words(each))), each, each) for each in names]
        if chosen is RankingSource.RUN:
            entries.append(("Weighted scoring", WEIGHTED, _OF_WEIGHTED))
        wanted = self._wanted in (value for _, value, _ in entries)
        self._offer(
            self.criterion, entries, self._wanted if wanted or not names else default_criterion(names)
        )
        self.whose.setVisible(chosen is RankingSource.RUN)
        self._tell()

    def _keep_criterion(self) -> None:
        self._wanted = str(self.criterion.currentData())

    def _follow_annotators(self) -> None:
        self.whose.offer_of(self._workspace.run)
        self.changed.emit()  # what they say may rank it otherwise

    def _tell(self) -> None:
        for box, whole in self._whole.items():
            set_tip(box, whole.get(box.currentData(), ""))
        self.changed.emit()

    def _offer(self, box: ComboBox, entries: Sequence[tuple[str, str, str]], chosen: str | None) -> None:
        """Each with what its tip says, which is that of the closed list where it is chosen."""
        box.offer(entries, chosen)
        self._whole[box] = {value: what for _, value, what in entries}


_DEBOUNCE_MS = 300
_WHAT = (
    "Which candidate is better: a candidate is a model that wrote responses. Win rates, Bradley-Terry scores"
    " with 95 % intervals, which candidates differ significantly, pairwise win rates, and length bias, by the"
    " labels of a run or human labels. The dataset names the candidates in its columns candidate_a"
    " and candidate_b."
)
_HOW = (
    "Double-click or press Enter on a row, or on a cell of the pairwise table, to list its items in"
    " Review. The tool tip of a cell has its interval; bold: significantly better."
)
_NOTHING = "Nothing to rank yet"
_JUDGE = "Open a dataset that has human labels, or judge it and open its run."
_NO_ITEMS = "The dataset of {run} is missing or has changed: open it on the Dataset page."
_UNDER_WAY = "This run is not finished: Rank uses the items judged so far."
_JUDGING = "{name} is being judged: choose its run at the head of the window."
_SAMPLE = "in the order of the random sample: labels given from the top correct the ranking"
_UNLABELLED = f"without a label yet, {_SAMPLE}"
_ONLY_RUNS = "Review lists the items of a run: judge this dataset, or choose one of its runs above."
_AT_RANDOM = (
    "Label a random sample in Review",
    "Lists the run's unlabelled items in the order of a random sample: labels given from its"
    " top correct the judge",
)


class RankingPage(Page):
    NAME = PageName.RANKING

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.ranked: RankedCandidates | None = None
        self._request: RankRequest | None = None  # that is being ranked, or was last
        self._part, self._begun = "", 0.0  # what is done now, and when it began
        self._doubted: RankRequest | None = None  # whose candidates look like ids
        self._many: Path | None = None  # the dataset whose candidates are all meant
        self._stale = True
        threads, lane, take, follow = workspace.threads, ThreadName.MEASURE, self._take, self._follow
        fail, stop = self._fail, self._tell_stopped
        self._ranking = TaskPanel(threads, lane, self, take, follow=follow, failed=fail, stopped=stop)
        self._later = timer(self, 0, self._rank_if_stale)
        self.label_button = labels.button("&Label at random", self._label_at_random, *_AT_RANDOM)
        self.choice = RankChoice(workspace, beside=self.label_button)
        self.picture = FramedPicture(workspace, "ranking", "Uncertainty of the order")
        self.sheet = SheetView(above={"pairs": self.picture})
        self._build()
        self._connect()
        self._show_state()

    def entered(self) -> None:
        self.workspace.refresh_runs()
        now, last = self.choice.request, self._request
        self._stale = self._stale or (now is not None and last is not None and now.weights != last.weights)
        self._rank_if_stale()

    def rank_anew(self) -> None:
        """Rank what is chosen, once more where it was; of a run under way all that is judged by now."""
        if self.workspace.judges_open_run:
            self.workspace.read_run_again()  # of which it is told, and ranks
        else:
            self.rank()

    def rank(self) -> None:
        self._stale = False
        if (request := self.choice.request) is None:
            self._ranking.drop()
            self._show(None)
        else:
            self._request = request = replace(request, many=request.dataset.path == self._many)
            self._ranking.begin(rank_candidates(request), "Ranking …")
            self._show_state()

    def save(self, path: Path) -> None:
        if self.ranked is not None:
            job = save_ranking(self.ranked, path, self.workspace.files_in_use(self))
            write_file(self.workspace, job, "ranking saved")

    # Making

    def _build(self) -> None:
        asked, what = self._ask_where_to_save, "Every rate, pair and interval"
        self.save_button = labels.button("&Save as JSON…", asked, "Save the ranking as JSON", what)
        self.rank_button = labels.main_button("Ran&k", self.rank_anew, "Rank the candidates", "Ctrl+Enter")
        for part in (self.save_button, self.rank_button):
            self.header.addWidget(part)
        self.title = OneLine(role="heading")
        self.doubts, self.notes = plain_label(role="bad"), plain_label(role="warning")
        found = labels.column(self.title, self.doubts, self.notes, labels.hint(_HOW), self.sheet)
        self.stack = labels.stack(self._empty(), labels.scrolling(found, "Ranking"))
        content = labels.as_column(self.choice, self._ranking.line, (self.stack, labels.STRETCH))
        self.body.addWidget(content, 1)

    def _empty(self) -> QWidget:
        self._empty_title, self._why = labels.heading(_NOTHING), plain_label()
        named = "Choose the columns that name the candidate models"
        self.columns_button = labels.main_button(
            "Choose &columns…", self._ask_columns, "Choose columns", named
        )
        self.judge_button = self.way_to_judge()
        what = "Rank all candidates, though their names look like ids"
        self.all_button = labels.button("Rank them &all", self._rank_all, what)
        row = (self.columns_button, self.all_button, self.judge_button)
        buttons = ((each, Qt.AlignmentFlag.AlignLeft) for each in row)
        return labels.panel(self._empty_title, self._why, *buttons, labels.hint(_WHAT), labels.STRETCH)

    def _connect(self) -> None:
        self.choice.changed.connect(self._rank_soon)
        for signal in (self.workspace.run_changed, self.workspace.dataset_changed):
            signal.connect(self._let_go)
        self.sheet.listed.connect(self._list_behind)
        self.add_keys(rank=self.rank_anew)

    # What happens

    def _rank_soon(self) -> None:
        # Rank again once the changes end; where the page is hidden, when it is entered.
        self._stale = True
        if self.isVisible():
            self._later.start(0 if self.ranked is None else _DEBOUNCE_MS)

    def _let_go(self) -> None:
        # Nothing is held of a run or a dataset that is closed while nobody looks.
        if not self.isVisible() and (self.ranked is not None or self._request is not None):
            self._ranking.drop()
            self._request = None
            self._show(None)

    def _rank_if_stale(self) -> None:
        if self._stale:
            self.rank()

    def _follow(self, event: MeasureProgress | Preparing) -> None:
        if isinstance(event, Preparing):
            self._part, self._begun = event.what, monotonic()
            self._ranking.line.go_on(f"Ranking, {event.what} …")
            return
        left = (monotonic() - self._begun) * (event.total - event.done) / max(event.done, 1)
        text = f"Ranking, {self._part}: {event.done:,} of {event.total:,}"
        text += f", about {duration(left)} left" if left >= 1 else ""
        self._ranking.line.go_on(text, event.done, event.total)
        if event.done == event.total:  # another part may follow, such as the correction by labels
            self._begun = monotonic()

    def _take(self, ranked: RankedCandidates) -> None:
        self.workspace.failures.end(self)
        self._show(ranked)

    def _tell_stopped(self) -> None:
        self._show(None, "Ranking was stopped. Press Rank to begin again.")

    def _fail(self, error: EngineError) -> None:
        self._doubted = self._request if isinstance(error, DoubtfulCandidates) else None
        self._show(None, "\n".join(problem_of(error)))
        if not isinstance(error, SetupError):
            self.workspace.failures.fail(self, error)  # where its details can be copied

    def _show(self, ranked: RankedCandidates | None, why: str = "") -> None:
        self.ranked = ranked
        self.sheet.show_sheet(ranked.sheet if ranked else None)
        self.picture.show_source(compare_jobs.figure_of(ranked) if ranked is not None else None)
        if ranked is not None:
            self.title.setText(ranked.sheet.title)
            labels.show_text(self.doubts, "\n".join(ranked.doubts))
            goes_on = ranked.request.results is not None and self.workspace.judges_open_run
            labels.show_text(self.notes, "\n".join([*([_UNDER_WAY] if goes_on else []), *ranked.notes]))
        self._show_state(why)

    def _show_state(self, why: str = "") -> None:
        ranked, dataset = self.ranked is not None, self.choice.dataset
        self.stack.setCurrentIndex(1 if ranked else 0)
        self.save_button.setEnabled(ranked)
        # Whether labels of a random sample would make the ranking by a judge more precise, or right.
        corrected = self.ranked.corrected if self.ranked is not None else None
        self.label_button.setVisible(corrected is not None and corrected.more_would_help)
        self.rank_button.setEnabled(self.choice.request is not None)
        under_way = not why and self.choice.request is not None
        self._empty_title.setText("No ranking" if why else "Ranking …" if under_way else _NOTHING)
        self._why.setText(visible(why or self._lacking()))
        unnamed = bool(why) and dataset is not None and not dataset.names_candidates
        doubted = bool(why) and self._doubted is not None
        self.columns_button.setVisible(unnamed or doubted)
        self.all_button.setVisible(doubted)
        self.judge_button.setVisible(self.workspace.run is None and not under_way)

    def _lacking(self) -> str:
        run, opened = self.workspace.run, self.workspace.dataset
        if run is not None and self.choice.chosen is RankingSource.RUN and self.choice.dataset is None:
            return _NO_ITEMS.format(run=run.results.run.called)
        if run is None and self.workspace.judging is not None:
            return _JUDGING.format(name=short_name(opened.name) if opened is not None else "The dataset")
        if run is None and opened is not None and not opened.criteria:
            return f"{short_name(opened.name)} has no human labels to rank by. Judge it, then open its run."
        return "" if self.choice.request is not None else _JUDGE

    def _rank_all(self) -> None:
        self._many = self._doubted.dataset.path if self._doubted is not None else None
        self.rank()

    def _ask_columns(self) -> None:
        dataset = self.choice.dataset
        if dataset is not None:
            rubric, open_by = self.workspace.rubric.rubric, self.workspace.open_dataset
            request = ColumnsRequest(dataset.path, open_by, dataset.columns, rubric=rubric)
            self.workspace.columns_wanted.emit(request)

    def _ask_where_to_save(self) -> None:
        if self.ranked is None:
            return
        request, state = self.ranked.request, self.workspace.state
        of = request.results.run.stem if request.results is not None else request.dataset.path.stem
        path = ask_target(self, "Save ranking", state.export_folder() / f"{of}-ranking.json", "JSON (*.json)")
        if path is not None:
            state.keep_export_folder(path.parent)
            self.save(path)

    # The way to Review

    def _label_at_random(self) -> None:
        ranked = self.ranked
        if ranked is not None and ranked.request.results is not None and ranked.corrected is not None:
            run_id, labelled = ranked.request.results.run.id, ranked.corrected.labelled
            filters = Filters(criterion=ranked.request.criterion, labelled=labelled)
            wanted = WantedItems(run_id, filters, _UNLABELLED if labelled else _SAMPLE, ListOrder.RANDOM)
            self.workspace.open_in_review(run_id, wanted)

    def _list_behind(self, behind: ItemsBehind) -> None:
        run, ranked = self.workspace.run, self.ranked
        if ranked is None:
            return
        results = ranked.request.results
        if results is None and run is not None:
            own = run.results.run.identity.dataset_path == ranked.request.dataset.path
            results = run.results if own else None
        if results is None:
            self.workspace.note.emit(_ONLY_RUNS)
            return
        stored = results.run
        criterion = ranked.request.criterion if ranked.request.criterion in stored.identity.criteria else None
        filters = Filters(ids=behind.ids, criterion=criterion)
        self.workspace.open_in_review(stored.id, WantedItems(stored.id, filters, behind.words))
