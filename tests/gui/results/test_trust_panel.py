"""The tab Trust of the Results page: which labels may stand, kept with the run, and the ways to Review."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from engine.analysis.trust import TrustRequest, trust_of
from engine.annotations.records import Filters, ListOrder, new_override
from engine.core.events import CancelToken
from engine.core.items import Preference
from engine.data.dataset import load_dataset
from engine.metrics import trust
from engine.metrics.matching import system_of_run
from engine.results.completeness import open_submission
from engine.results.trust import CONFIDENCES, kept_trust
from engine.store.run_store import RunStore
from gui.results import calibration_panel
from gui.results.calibration_panel import TrustPanel
from gui.results.results_page import ResultsPage
from tests.gui.results.steps import Save, click, open_labels, open_run, wanted_after


@pytest.fixture
def panel(opened: ResultsPage) -> TrustPanel:
    opened.tabs.setCurrentWidget(opened.tabs.widget(4))
    return opened.trust


def find_out(qtbot: QtBot, panel: TrustPanel) -> str:
    QTest.keyClick(panel.find_button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not panel._finding.busy)
    return panel.said.text()


def rounded(kept: object) -> str:
    """On Windows a thread's last digit may be another one's."""
    return re.sub(r"\d\.\d+", lambda found: f"{float(found[0]):.12g}", repr(kept))


def test_what_may_stand_is_found_shown_kept_and_the_rest_listed(
    qtbot: QtBot, panel: TrustPanel, demo_gold: Path
) -> None:
    space = panel._workspace
    assert not panel.keep_button.isEnabled()
    assert not panel.list_button.isEnabled()
    panel.target.setValue(60)
    said = find_out(qtbot, panel)
    run = space.run
    asked = trust.Promise(0.6, 0.1)
    by_engine = trust_of(
        TrustRequest([system_of_run(run.results)], load_dataset(demo_gold), asked), CancelToken()
    )
    assert rounded(panel.found.kept) == rounded(by_engine.kept)
    assert panel.found.stands
    assert (panel.label_button.isEnabled(), panel.label_button.text()) == (False, "Label at ra&ndom")
    assert re.match(r"Labels that may stand: [\d.]+ % on ", said)
    assert panel.sheet.section("thresholds") is not None
    qtbot.waitUntil(panel.picture.view.isVisible)
    with qtbot.waitSignal(space.run_changed):
        click(panel.keep_button)
    assert kept_trust(space.run.results) == panel.found.kept
    assert panel.kept.text().startswith("Kept with run 1: at least 60.0 % of these labels agree with people")
    assert panel.said.text() == said  # what was found stays with what is kept of it
    assert wanted_after(qtbot, panel._workspace, panel.list_button.click).filters == Filters(escalated=True)


def first_alone(labels: Path, count: int, save: Save) -> Path:
    """The items with the labels of the first ones alone."""
    head, *rows = labels.read_bytes().splitlines(keepends=True)
    bare = [row.rsplit(b"\t", 2)[0] + b"\t\t\n" for row in rows[count:]]
    return save(f"{count}.tsv", b"".join([head, *rows[:count], *bare]))


def test_too_few_labels_are_said_on_the_tab_and_the_way_to_more_is_offered(
    qtbot: QtBot, opened: ResultsPage, panel: TrustPanel, few_labels: Path, save: Save
) -> None:
    open_labels(qtbot, opened, first_alone(few_labels, 4, save))
    with qtbot.assertNotEmitted(opened.workspace.problem):
        said = find_out(qtbot, panel)
    assert "on fewer than 10 instructions: too few for an estimate." in said
    assert "on the page Review, in the order “Random sample”, from the top." in said
    assert panel.found is None
    wanted = wanted_after(qtbot, panel._workspace, panel.label_button.click)
    assert (wanted.order, wanted.filters) == (ListOrder.RANDOM, Filters())
    assert "Label the first 30 from the top" in wanted.words


def test_labels_that_count_are_not_asked_for_again(
    qtbot: QtBot, opened: ResultsPage, panel: TrustPanel, few_labels: Path, save: Save
) -> None:
    path = first_alone(few_labels, 20, save)
    open_labels(qtbot, opened, path)
    find_out(qtbot, panel)
    wanted = wanted_after(qtbot, panel._workspace, panel.label_button.click)
    assert wanted.filters == Filters(labelled=frozenset(load_dataset(path).ids[:20]))


def test_what_was_found_goes_with_its_wishes_and_its_labels(
    qtbot: QtBot, opened: ResultsPage, panel: TrustPanel, few_labels: Path
) -> None:
    for change in (panel.again.click, panel.jointly.click, lambda: panel.by.setCurrentIndex(2)):
        find_out(qtbot, panel)
        assert panel.found is not None
        change()
        assert panel.found is None
        assert panel.sheet.section("thresholds") is None
    find_out(qtbot, panel)
    open_labels(qtbot, opened, few_labels)
    assert panel.found is None
    find_out(qtbot, panel)
    with RunStore(opened.workspace.store_path) as store:
        store.annotate(1, new_override("1", "safety", Preference.A, None, "Ben"))
    with qtbot.waitSignal(opened.workspace.run_changed):  # as an import lets it be read
        opened.workspace.read_run_again()
    assert panel.found is None


def test_a_submission_has_no_confidence(
    qtbot: QtBot, page: ResultsPage, demo_store: Path, demo_gold: Path
) -> None:
    page.tabs.setCurrentWidget(page.tabs.widget(4))
    with RunStore(page.workspace.store_path) as store:
        path = demo_store.with_name("submission.tsv")
        run = open_submission(path, load_dataset(demo_gold), store).id
    open_run(qtbot, page, run)
    assert "labels and no confidence" in page.trust.said.text()
    assert not page.trust.find_button.isEnabled()


def test_its_letters_are_its_own_and_its_defaults_the_commands(panel: TrustPanel) -> None:
    page = panel.window()
    shown = [each.text() for each in page.findChildren(QAbstractButton) if each.isVisible()]
    assert isinstance(page, ResultsPage)
    shown += [page.tabs.tabText(place) for place in range(page.tabs.count())]
    letters = [found[1].casefold() for text in shown if (found := re.search(r"&(\w)", text))]
    assert len(letters) >= 11
    assert len(set(letters) | set("fvrh")) == len(letters) + 4  # and those of the menus
    assert (calibration_panel.TARGET / 100, calibration_panel.RISK / 100) == (trust.TARGET, trust.RISK)
    assert tuple(calibration_panel.MEASURES) == CONFIDENCES
