"""The Ranking page: by whose labels it ranks, what it shows, the way to Review, where it cannot rank."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from engine.annotations.records import ListOrder
from engine.core.items import Preference
from engine.core.judgments import Origin
from engine.data.dataset import load_dataset
from engine.data.label_origins import in_drawn_order
from engine.results.completeness import open_submission
from engine.settings.sampling import DEFAULT_SEED
from engine.store.run_store import RunStore
from gui.compare.ranking_page import WEIGHTED, RankingPage, RankingSource
from gui.widgets.theme import ThemeChoice, apply_theme
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.open_run import UnderWay
from gui.workspace.state import PageName
from gui.workspace.workspace import Workspace
from tests.gui.compare.steps import (
    CANDIDATES,
    OVERALL,
    at_rest,
    comparisons_file,
    label,
    open_dataset,
    open_run,
    order,
    ranked,
    run_of,
    table_of,
)
from tests.gui.labels import shown_text, text_of
from tests.gui.steps import pick, shown


@pytest.fixture(scope="module")
def comparisons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return comparisons_file(tmp_path_factory.mktemp("ranking") / "contests.jsonl")


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> RankingPage:
    made = shown(qtbot, RankingPage(workspace))
    made.entered()
    return made


@pytest.fixture
def by_annotators(qtbot: QtBot, page: RankingPage, comparisons: Path) -> RankingPage:
    open_dataset(qtbot, page, comparisons)
    ranked(qtbot, page)
    return page


@pytest.fixture
def by_run(qtbot: QtBot, page: RankingPage, comparisons: Path, tmp_path: Path) -> RankingPage:
    run_of(tmp_path, comparisons)
    open_run(qtbot, page, 1)
    return page


def choose(qtbot: QtBot, page: RankingPage, criterion: str) -> None:
    """Rank by another criterion, as a person chooses it."""
    pick(page.choice.criterion, criterion)
    ranked(qtbot, page)


def rank_by_gold(qtbot: QtBot, page: RankingPage) -> None:
    page.choice.by.setCurrentIndex(page.choice.by.findData(RankingSource.GOLD))
    ranked(qtbot, page)


def rate(page: RankingPage) -> float:
    """What the first candidate won, 0 to 1."""
    return page.ranked.ranking.rates.candidates[CANDIDATES[0]].rate.value


def view_of(page: RankingPage, key: str) -> QTableView:
    model = table_of(page, key)
    return next(view for view in page.findChildren(QTableView) if view.model() is model)


def test_a_dataset_is_ranked_by_its_human_labels_at_once_but_not_while_the_page_is_hidden(
    qtbot: QtBot, by_annotators: RankingPage, tmp_path: Path
) -> None:
    page = by_annotators
    assert page.choice.chosen is RankingSource.DATASET
    assert page.title.text().startswith("contests.jsonl by human labels, overall quality: 3 candidates in 90")
    assert order(page)[0] == CANDIDATES[0]
    assert "of 3 pairs of candidates are significantly different." in shown_text(page.sheet)
    assert page.picture.view.isVisible()
    assert page.picture.view.accessibleName().startswith("Points with 95 % intervals of the win rate against")
    assert not page.choice.whose.isVisible()  # nobody labels a dataset's labels again
    page.hide()
    page.workspace.open_dataset(comparisons_file(tmp_path / "other.jsonl", 20))
    qtbot.waitSignal(page.workspace.dataset_changed).wait()
    assert page._stale
    assert not page._ranking.busy
    assert page.ranked is None  # nor does it hold what is closed
    page.show()
    page.entered()
    ranked(qtbot, page)
    assert "other.jsonl" in page.title.text()


@pytest.mark.slow
def test_a_run_is_ranked_by_each_criterion_by_weights_by_people(qtbot: QtBot, by_run: RankingPage) -> None:
    page = by_run
    assert page.choice.chosen is RankingSource.RUN
    assert (order(page)[0], page.choice.criterion.currentData()) == (CANDIDATES[0], OVERALL)
    choose(qtbot, page, "relevance")
    assert order(page)[-1] == CANDIDATES[0]
    assert page.doubts.text().startswith("The model may not judge properly.")  # it wrote no explanations
    choose(qtbot, page, WEIGHTED)
    assert "weighted judge" in page.title.text()
    rank_by_gold(qtbot, page)
    assert "by human labels" in page.title.text()
    assert page.choice.criterion.findData(WEIGHTED) < 0


def test_a_judge_that_hardly_understands_is_called_none_above_its_ranking(
    qtbot: QtBot, page: RankingPage, comparisons: Path, tmp_path: Path
) -> None:
    run_of(tmp_path, comparisons, mass=0.1)
    open_run(qtbot, page, 1)
    doubts = page.doubts.text()
    assert page.doubts.isVisible()
    assert doubts.startswith("The model does not judge: do not use its labels.")
    assert "What to do: " in doubts
    rank_by_gold(qtbot, page)
    assert page.doubts.isHidden()  # people do


@pytest.mark.slow
def test_an_override_counts_and_the_judge_alone_can_be_chosen(qtbot: QtBot, by_run: RankingPage) -> None:
    page = by_run
    run = page.workspace.run
    own = run.results.judgments[OVERALL][0]
    other = Preference.B if run.results.label(own) is Preference.A else Preference.A
    before = rate(page)
    with qtbot.waitSignal(page.workspace.reviewed):
        page.workspace.override(own.key, other, None)
    ranked(qtbot, page)
    assert rate(page) != before
    assert "1 label of these items is a human override; the scores include it" in page.notes.text()
    page.choice.whose.box.setCurrentIndex(page.choice.whose.box.findText("Judge only"))
    ranked(qtbot, page)
    assert rate(page) == before


@pytest.mark.slow
def test_of_a_run_under_way_rank_reads_what_is_judged_by_now(qtbot: QtBot, by_run: RankingPage) -> None:
    page, space = by_run, by_run.workspace
    space.tell_judging(UnderWay(space.run.id, 2, 90))
    with qtbot.waitSignal(space.run_changed):
        page.rank_button.click()
    ranked(qtbot, page)
    assert "This run is not finished" in page.notes.text()
    space.tell_judging(None)
    page.rank_button.click()
    ranked(qtbot, page)
    assert "under way" not in page.notes.text()


def test_enter_on_a_cell_lists_the_items_of_both_in_review(qtbot: QtBot, by_run: RankingPage) -> None:
    page = by_run
    view = view_of(page, "pairs")
    names = order(page)
    view.setFocus()
    view.setCurrentIndex(view.model().index(0, 1 + names.index("poor")))
    assert not view.selectedIndexes()  # whose colour would be that of another value
    with (
        qtbot.waitSignal(page.workspace.listing_wanted) as listed,
        qtbot.waitSignal(page.workspace.page_wanted) as turned,
    ):
        QTest.keyClick(view, Qt.Key.Key_Return)
    wanted = listed.args[0]
    assert turned.args[0] is PageName.REVIEW
    assert [wanted.words, wanted.filters.criterion] == ["great against poor", OVERALL]
    dataset = load_dataset(page.workspace.run.results.run.identity.dataset_path)
    sides = zip(*(dataset.texts(f"candidate_{side}").to_pylist() for side in "ab"), strict=True)
    met = {item for item, pair in zip(dataset.ids, sides, strict=True) if set(pair) == {"great", "poor"}}
    assert wanted.filters.ids == met


@pytest.mark.slow
def test_a_row_leads_to_a_run_of_the_same_dataset_and_without_one_it_is_said(
    qtbot: QtBot, by_annotators: RankingPage, comparisons: Path, tmp_path: Path
) -> None:
    page = by_annotators
    view = view_of(page, "candidates")
    with qtbot.waitSignal(page.workspace.note) as note:
        view.activated.emit(view.model().index(1, 0))
    assert "Review lists the items of a run" in note.args[0]
    run_of(tmp_path, comparisons)
    open_run(qtbot, page, 1)
    rank_by_gold(qtbot, page)
    with qtbot.waitSignal(page.workspace.listing_wanted) as wanted:
        view.activated.emit(view.model().index(0, 0))
    assert wanted.args[0].words == f"with a response of {CANDIDATES[0]}"
    assert len(wanted.args[0].filters.ids) == 90


def test_without_names_of_candidates_or_without_labels_it_says_what_to_do(
    qtbot: QtBot, page: RankingPage, comparisons: Path, tmp_path: Path
) -> None:
    at_rest(qtbot, page)
    assert "Nothing to rank yet" in shown_text(page.stack)
    assert not page.rank_button.isEnabled()
    open_dataset(qtbot, page, comparisons_file(tmp_path / "unnamed.jsonl", 20, named=False))
    assert page.ranked is None
    said = page._why.text()
    assert "does not name the models that wrote its responses" in said
    assert "candidate_a and candidate_b" in said
    with qtbot.waitSignal(page.workspace.columns_wanted) as wanted:
        page.columns_button.click()
    request = wanted.args[0]
    assert isinstance(request, ColumnsRequest)
    assert request.path.name == "unnamed.jsonl"
    open_dataset(qtbot, page, comparisons)
    ranked(qtbot, page)
    assert not page.columns_button.isVisible()
    open_dataset(qtbot, page, comparisons_file(tmp_path / "bare.jsonl", 10, labelled=False))
    assert "bare.jsonl has no human labels to rank by" in page._why.text()
    with qtbot.waitSignal(page.workspace.page_wanted) as wanted:
        page.judge_button.click()
    assert wanted.args[0] is PageName.JUDGE


def test_candidates_that_look_like_ids_are_ranked_once_the_user_says_that_they_are_models(
    qtbot: QtBot, page: RankingPage, tmp_path: Path
) -> None:
    path = comparisons_file(tmp_path / "ids.jsonl", 15)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    names = [{"candidate_a": f"a{row['id']}", "candidate_b": f"b{row['id']}"} for row in rows]
    path.write_text(
        "".join(f"{json.dumps(row | pair)}\n" for row, pair in zip(rows, names, strict=True)), "utf-8"
    )
    open_dataset(qtbot, page, path)
    assert page.ranked is None
    assert "30 different candidates are named in 15 items" in page._why.text()
    assert "look like ids, not like names of models" in page._why.text()
    assert page.columns_button.isVisible()
    page.all_button.click()
    ranked(qtbot, page)
    assert len(order(page)) == 30


def test_a_ranking_can_be_stopped_and_details_of_a_fault_copied_until_it_ranks_again(
    qtbot: QtBot,
    by_annotators: RankingPage,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    page = by_annotators
    page.rank()
    assert page._ranking.line.isVisible()
    page._ranking.line.cancelled.emit()
    at_rest(qtbot, page)
    if page.ranked is None:  # it may have been faster
        assert "Ranking was stopped" in page._why.text()
    QTest.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    ranked(qtbot, page)
    assert not page._ranking.line.isVisible()
    failures = page.workspace.failures
    with monkeypatch.context() as patched, qtbot.waitSignal(failures.told) as told:
        patched.setattr("engine.ranking.ranking.win_rates", lambda _comparisons: 1 / 0)
        page.rank_button.click()
    assert "This is a bug in Tiebreak" in page._why.text()
    caplog.clear()
    with qtbot.waitSignal(failures.over) as over:
        page.rank_button.click()
    assert over.args == told.args
    ranked(qtbot, page)


@pytest.mark.slow
def test_it_is_saved_as_json_and_its_picture_saved_copied_and_drawn_in_the_colours_of_the_window(
    qtbot: QtBot, qapp: QApplication, by_annotators: RankingPage, tmp_path: Path
) -> None:
    page = by_annotators
    with qtbot.waitSignal(page.workspace.notice):
        page.save(tmp_path / "ranking.json")
    saved = json.loads((tmp_path / "ranking.json").read_text("utf-8"))
    assert [each["name"] for each in saved["candidates"]] == order(page)
    assert saved["ranked"] == "contests.jsonl by human labels, overall quality"
    with qtbot.waitSignal(page.workspace.notice):
        page.picture.files.save("ranking", tmp_path / "ranking.svg")
    assert (tmp_path / "ranking.svg").read_bytes().startswith(b"<?xml")
    with qtbot.waitSignal(page.workspace.note):
        page.picture.files.copy("ranking")
    assert QGuiApplication.clipboard().image().width() > 500
    light = page.picture.view.grab().toImage()
    apply_theme(qapp, ThemeChoice.DARK, 100, 9)
    page.follow_look()
    at_rest(qtbot, page)
    assert page.picture.view.grab().toImage() != light
    apply_theme(qapp, ThemeChoice.LIGHT, 100, 9)


def test_an_opened_submission_is_ranked_as_a_run_is(
    qtbot: QtBot, page: RankingPage, comparisons: Path, tmp_path: Path
) -> None:
    dataset = load_dataset(comparisons)
    rows = "".join(f"{item_id}\tA\n" for item_id in dataset.ids[:-1])
    (tmp_path / "team.tsv").write_text(f"id\t{OVERALL}_preference\n{rows}", "utf-8")
    with RunStore(page.workspace.store_path) as store:
        open_submission(tmp_path / "team.tsv", dataset, store)
    open_run(qtbot, page, 1)
    assert "team.tsv" in page.title.text()
    assert "1 item has no label here and is omitted." in shown_text(page.sheet)
    assert f"The response in position A won {100:.1f} %" in shown_text(page.sheet)


@pytest.mark.slow
def test_labels_of_a_random_sample_correct_the_ranking(
    qtbot: QtBot, page: RankingPage, tmp_path: Path
) -> None:
    path = comparisons_file(tmp_path / "bare.jsonl", labelled=False)
    system = run_of(tmp_path, path)
    open_run(qtbot, page, 1)
    said = shown_text(page.sheet)
    assert "To detect a difference of 3 points you need about" in said
    assert "Corrected by human labels" not in said
    with qtbot.waitSignal(page.workspace.listing_wanted) as wanted:
        page.label_button.click()
    assert (wanted.args[0].order, wanted.args[0].filters.criterion) == (ListOrder.RANDOM, OVERALL)
    label(qtbot, page, system, 30, Origin.RANDOM)
    assert "Corrected by human labels" in shown_text(page.sheet)
    with qtbot.waitSignal(page.workspace.notice):
        page.save(tmp_path / "ranking.json")
    saved = json.loads((tmp_path / "ranking.json").read_text("utf-8"))
    assert saved["by_labels"]["labelled"] == 30
    choose(qtbot, page, WEIGHTED)
    assert not page.label_button.isVisible()


@pytest.mark.slow
def test_labels_of_picked_items_correct_nothing(qtbot: QtBot, page: RankingPage, tmp_path: Path) -> None:
    system = run_of(tmp_path, comparisons_file(tmp_path / "bare.jsonl", labelled=False))
    open_run(qtbot, page, 1)
    label(qtbot, page, system, 30, Origin.UNCERTAINTY)
    assert (
        "Not corrected. There are 30 labels of annotators, all of them of items that were selected"
        in shown_text(page.sheet)
    )
    assert page.label_button.isVisible()
    with qtbot.waitSignal(page.workspace.listing_wanted) as wanted:
        page.label_button.click()
    drawn = in_drawn_order([each.item_id for each in system.results.judged], DEFAULT_SEED)
    assert wanted.args[0].filters.labelled == set(drawn[:30])
    assert wanted.args[0].words.startswith("without a label yet")


def test_a_run_that_stopped_by_itself_says_what_is_clear(
    qtbot: QtBot, page: RankingPage, comparisons: Path, tmp_path: Path
) -> None:
    stopped = run_of(tmp_path, comparisons, until={"seed": 3, "width": 0.5})
    open_run(qtbot, page, stopped.results.run.id)
    assert "This run stopped at a significant result" in text_of(page)
    page.save(tmp_path / "ranking.json")
    qtbot.waitUntil((tmp_path / "ranking.json").exists)
    caveats = json.loads((tmp_path / "ranking.json").read_text("utf-8"))["caveats"]
    assert caveats[0].startswith("This run stopped at a significant result")
    table = table_of(page, "until")
    assert [table.index(row, 0).data() for row in range(table.rowCount())] == sorted(CANDIDATES)
    assert {table.index(row, 1).data() for row in range(table.rowCount())} == {"all"}
    rank_by_gold(qtbot, page)
    assert page.sheet.section("until") is None
