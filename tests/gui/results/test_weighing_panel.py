"""The weighted judge: decisions follow the sliders, weights are fitted and remembered."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from engine.core.judgments import CriterionCalibration
from engine.core.rubric import Criterion, Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.metrics.matching import system_of_run
from engine.ranking.weighted_scoring import scored_pairs_of, weigh
from engine.results.calibration import Calibration, judge_of_run
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from gui.results.run_weights import FITS, OF_RUNS, SAVED, WeightsChoice, default_request
from gui.results.score_jobs import MARGIN_BINS, Basis, Scores, fit, measure_labels, weighed
from gui.results.weighted_scoring_panel import WeightControl, WeightedScoringPanel
from gui.workspace.threads import EngineThreads, ThreadName
from gui.workspace.workspace import Workspace
from tests.gui.jobs import done
from tests.gui.results.steps import wanted_after


@pytest.fixture
def gold(demo_gold: Path) -> Dataset:
    return load_dataset(demo_gold)


def scores_of(store_path: Path, gold: Dataset | None) -> Scores:
    with RunStore(store_path) as store:
        return done(measure_labels(load_results(store, 1), gold))


def show(panel: WeightedScoringPanel, scores: Scores) -> None:
    panel.show_run(scores.system, scores.gold)


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace, demo_store: Path, gold: Dataset) -> WeightedScoringPanel:
    made = WeightedScoringPanel(workspace)
    qtbot.addWidget(made)
    made.resize(1100, 600)
    made.show()
    show(made, scores_of(demo_store, gold))
    qtbot.waitUntil(lambda: "comparisons" in made.summary.text())
    return made


def rates(panel: WeightedScoringPanel) -> str:
    return panel.rates.accessibleName()


def test_win_rates_are_those_of_the_engine(panel: WeightedScoringPanel, demo_store: Path) -> None:
    with RunStore(demo_store) as store:
        system = system_of_run(load_results(store, 1))
    request = panel.request
    expected = weigh(
        scored_pairs_of(system, list(request.weights)), request.weights, request.tie_threshold
    ).result
    assert f"A wins {100 * expected['win_rate_a']:.1f} %" in rates(panel)
    assert "comparisons by margin" in panel.margins.accessibleName()


def test_decisions_follow_a_slider_the_last_of_many_changes_counts_and_without_any_weight_it_says_so(
    qtbot: QtBot, panel: WeightedScoringPanel
) -> None:
    slider, field = panel.threshold.slider, panel.threshold.field
    slider.setFocus()
    for _ in range(10):
        QTest.keyClick(slider, Qt.Key.Key_PageUp)
    assert field.value() == 10.0
    qtbot.waitUntil(lambda: "tie 100.0 %" in rates(panel))
    for tenths in range(100, -1, -1):
        slider.setValue(tenths)
    qtbot.waitUntil(lambda: "tie 100.0 %" not in rates(panel))
    for value in (9.99, 10.0):
        field.setValue(value)
    qtbot.waitUntil(lambda: "tie 100.0 %" in rates(panel))
    for control in panel.controls.values():
        control.slider.setValue(0)
    qtbot.waitUntil(lambda: "All weights are 0" in panel.summary.text())
    QTest.mouseClick(panel.equal_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "comparisons" in panel.summary.text())


def test_fitted_weights_come_with_what_they_are_worth_and_too_few_labels_for_all_are_refused(
    qtbot: QtBot, panel: WeightedScoringPanel
) -> None:
    with qtbot.waitSignal(panel._workspace.problem) as told:
        QTest.mouseClick(panel.fit_button, Qt.MouseButton.LeftButton)
    assert "10 for each are 60, so 30 are missing" in str(told.args[0])
    for criterion in ("naturalness", "truthfulness", "overall_quality"):
        panel.controls[criterion].field.setValue(0)  # takes no part: 30 items are enough for two
    before = panel.request
    QTest.mouseClick(panel.fit_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(panel.apply_button.isVisible)
    assert panel.request == before
    assert "Nothing has changed yet: press “Apply to run 1”" in panel._proposed_line.text()
    QTest.mouseClick(panel.apply_button, Qt.MouseButton.LeftButton)
    assert panel.apply_button.isHidden()
    assert max(panel.request.weights.values()) == 10.0
    assert panel.request.weights["naturalness"] == 0
    assert "cross-validated on 30 items" in panel._fit_table.as_text()
    assert "95 % range" in panel._weight_table.as_text()
    assert "these labels do not determine it" in panel._fit_note.text()
    assert "95 % ranges: relevance " in panel.source.text()


def test_without_labels_the_runs_own_dataset_gives_the_intervals_and_nothing_can_be_fitted(
    qtbot: QtBot, panel: WeightedScoringPanel, demo_store: Path
) -> None:
    with_labels = rates(panel)
    assert " to " in with_labels
    show(panel, scores_of(demo_store, None))
    qtbot.waitUntil(panel._agreement_view.isHidden)
    assert rates(panel) == with_labels
    assert not panel.fit_button.isEnabled()


def test_readings_that_carry_nothing_are_named_or_refused(
    qtbot: QtBot, panel: WeightedScoringPanel, demo_store: Path, gold: Dataset
) -> None:
    scores = scores_of(demo_store, gold)
    names = scores.system.criteria

    def calibrated(*criteria: str) -> Scores:
        frequencies = CriterionCalibration(0.0, (0.3, 0.1, -0.2, -0.2), None, 30)
        judge = judge_of_run(scores.results.run.identity)
        calibration = Calibration(judge, "gold.tsv", "d" * 64, dict.fromkeys(criteria, frequencies), {})
        return replace(scores, system=system_of_run(scores.results.calibrated(calibration)))

    assert panel.caveats.isHidden()
    show(panel, calibrated("safety"))
    qtbot.waitUntil(panel.caveats.isVisible)
    assert "on safety the scores are the same for all 30 items" in panel.caveats.text()
    show(panel, calibrated(*names))
    qtbot.waitUntil(lambda: "no criterion is informative" in panel.summary.text())
    assert rates(panel) == "Win rates: none"


def test_fitted_weights_know_the_items_of_their_fit_also_saved_and_changed(
    qtbot: QtBot, panel: WeightedScoringPanel, workspace: Workspace, demo_store: Path, gold: Dataset
) -> None:
    two = WeightsChoice({"relevance": 1.0, "safety": 1.0}, 0.5, "")
    panel._propose(done(fit(Basis(scores_of(demo_store, gold).system, gold), two)))
    panel.apply_fit()
    qtbot.waitUntil(lambda: panel.caveats.text() != "")
    said = "30 of these 30 items took part in the fit of the weights"
    assert panel.caveats.text().startswith(f"{said}. On these the weights look better")
    panel.save_as("fitted")
    panel.controls["safety"].field.setValue(0.5)
    qtbot.waitUntil(lambda: panel.caveats.text().startswith(f"{said} that these were set from."))
    again = WeightedScoringPanel(workspace)
    qtbot.addWidget(again)
    show(again, scores_of(demo_store, gold.only(gold.ids[:10])))
    qtbot.waitUntil(lambda: again.caveats.text().startswith("10 of these 10 items took part in the fit"))
    show(again, other_run(scores_of(demo_store, gold)))
    qtbot.waitUntil(lambda: again.caveats.text() == "")
    again.apply_saved("fitted")
    qtbot.waitUntil(lambda: again.caveats.text().startswith(f"{said}."))
    again.weights.remove("fitted")
    assert len(workspace.state.record(FITS)) == 1  # runs still have it


def test_weights_of_another_run_are_not_set_and_overrides_need_not_wait_for_any(
    qtbot: QtBot, panel: WeightedScoringPanel, threads: EngineThreads, demo_store: Path, gold: Dataset
) -> None:
    before = panel.request
    panel.fit_weights()
    assert not threads.busy(ThreadName.STORE)
    show(panel, scores_of(demo_store, gold))
    qtbot.waitUntil(lambda: not any(map(threads.busy, ThreadName)))
    qtbot.waitUntil(lambda: "comparisons" in panel.summary.text())
    assert panel.request == before
    assert panel.fit_button.text() == "Fi&t weights to human labels"


def other_run(scores: Scores) -> Scores:
    results = scores.results
    run = replace(results.run, id=2, created=results.run.created + timedelta(days=1))
    return replace(scores, system=system_of_run(replace(results, run=run)))


def test_weights_belong_to_their_run_not_to_one_of_its_number_in_a_new_store(
    qtbot: QtBot, panel: WeightedScoringPanel, workspace: Workspace, demo_store: Path, gold: Dataset
) -> None:
    scores, default = scores_of(demo_store, gold), panel.request
    panel.controls["safety"].field.setValue(3.25)
    panel.threshold.field.setValue(1.5)
    assert panel.request.source == "set by hand"
    run = scores.results.run
    assert panel.weights.of(run).weights["safety"] == 3.25
    assert panel.weights.of(replace(run, created=run.created + timedelta(seconds=1))).source == "default"
    show(panel, other_run(scores))
    assert panel.request == default
    assert "default" in panel.source.text()
    again = WeightedScoringPanel(workspace)
    qtbot.addWidget(again)
    show(again, scores)
    assert (again.request.weights["safety"], again.request.tie_threshold) == (3.25, 1.5)
    assert again.request.source == "set by hand"
    again.controls["safety"].field.setValue(1)
    again.threshold.field.setValue(default.tie_threshold)
    assert again.request == default


def test_saved_weights_are_applied_on_purpose_and_replaced_only_once_that_is_said(
    qtbot: QtBot, panel: WeightedScoringPanel, demo_store: Path, gold: Dataset
) -> None:
    panel.controls["safety"].field.setValue(5)
    QTest.mouseClick(panel.saved.save_button, Qt.MouseButton.LeftButton)
    dialog = panel.saved.dialog
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.warning.text() == "Give the weights a name."
    QTest.keyClicks(dialog.field, "safety  first ")
    assert dialog.save.text() == "Save"
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert panel.request.source == "saved as “safety first”"
    panel.saved._ask_for_name()
    QTest.keyClicks(panel.saved.dialog.field, "safety first")
    assert panel.saved.dialog.save.text() == "Replace"
    assert "will be replaced" in panel.saved.dialog.warning.text()
    panel.saved.dialog.reject()
    show(panel, other_run(scores_of(demo_store, gold)))
    assert panel.request.source == "default"
    panel.saved.fill()
    before = rates(panel)
    panel.saved.menu.actions()[0].trigger()
    assert (panel.request.weights["safety"], panel.request.source) == (5, "saved as “safety first”")
    qtbot.waitUntil(lambda: rates(panel) != before)
    panel.controls["safety"].field.setValue(4)
    assert panel.request.source == "set by hand"
    assert panel.weights.saved["safety first"].weights["safety"] == 5


def test_a_long_name_does_not_widen_the_menu_from_which_it_is_removed(panel: WeightedScoringPanel) -> None:
    panel.save_as("<b>" + "x" * 300)
    panel.saved.fill()
    entry, *_, last = panel.saved.menu.actions()
    assert len(entry.text()) < 60
    assert "&lt;b&gt;" in entry.toolTip()
    remove = last.menu()
    assert isinstance(remove, QMenu)
    remove.actions()[0].trigger()
    assert panel.weights.saved == {}


@pytest.mark.parametrize(
    "kept", ["10", "[]", '{"safety": "many", "tie_threshold": null, "relevance": 1e999}', '{"weights": 7}']
)
def test_a_damaged_memory_is_as_if_there_were_none(
    panel: WeightedScoringPanel, workspace: Workspace, demo_store: Path, kept: str
) -> None:
    run = scores_of(demo_store, None).results.run
    key = f"{run.id} {run.created.isoformat()}"
    workspace.state.set_text(OF_RUNS, f'{{"{key}": {kept}}}')
    assert set(panel.weights.of(run).weights.values()) == {1.0}
    workspace.state.set_text(SAVED, f'{{"it": {kept}}}')
    for name in panel.weights.saved:
        panel.apply_saved(name)
        assert set(panel.request.weights.values()) == {1.0}


# The way to Review


def decided(panel: WeightedScoringPanel) -> list[dict[str, Any]]:
    basis = panel._basis
    return list(weighed(basis, panel.request).result["results"])


def test_a_click_on_the_bar_lists_the_items_of_a_winner(qtbot: QtBot, panel: WeightedScoringPanel) -> None:
    right = QPoint(panel.rates.width() - 2, panel.rates.height() - 2)
    for act in (
        lambda: QTest.mouseClick(panel.rates, Qt.MouseButton.LeftButton, pos=right),
        panel.items_button.menu().actions()[2].trigger,
    ):
        wanted = wanted_after(qtbot, panel._workspace, act)
        assert set(wanted.filters.ids or ()) == {
            found["id"] for found in decided(panel) if found["winner"] == "B"
        }
        assert (wanted.run_id, wanted.words) == (1, "B wins by weighted scoring")


def test_a_click_on_a_bar_of_margins_lists_its_items(qtbot: QtBot, panel: WeightedScoringPanel) -> None:
    place, menu = panel.margins._place(), panel._margins_menu
    menu.aboutToShow.emit()
    entries = {action.text().partition(" points")[0]: action for action in menu.actions()}
    seen: set[str] = set()
    for number in range(MARGIN_BINS):
        low, high = number / 2, (number + 1) / 2
        ids = {found["id"] for found in decided(panel) if low <= found["margin"] < high}
        across = place.left() + (number + 0.5) * place.width() / MARGIN_BINS
        spot = QPoint(int(across), int(place.center().y()))
        click = partial(QTest.mouseClick, panel.margins, Qt.MouseButton.LeftButton, pos=spot)
        if not ids:
            click()
            assert not panel._finding.busy
            continue
        for act in (click, entries.pop(f"{low:g} to {high:g}").trigger):
            assert set(wanted_after(qtbot, panel._workspace, act).filters.ids or ()) == ids
        seen |= ids
    assert len(seen) == len(decided(panel))


@pytest.mark.parametrize(
    ("weights", "threshold", "shown"),
    [
        ((1.0, 2.5), 0.3, WeightsChoice({"a": 1.0, "b": 2.5}, 0.3)),
        ((50, 20), 1.0, WeightsChoice({"a": 10.0, "b": 4.0}, 1.0)),  # any scale: what a slider reaches
        ((0.05, 0.025), 12.0, WeightsChoice({"a": 10.0, "b": 5.0}, 10.0)),
        ((0, 0), 0, WeightsChoice({"a": 0.0, "b": 0.0}, 0.0)),
    ],
)
def test_a_run_begins_with_the_weights_of_its_own_rubric(
    weights: tuple[float, float], threshold: float, shown: WeightsChoice
) -> None:
    criteria = tuple(Criterion(name, "Which?", weight) for name, weight in zip("ab", weights, strict=True))
    assert default_request(Rubric("own", criteria, threshold)) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.004, "0.004"), (0.00312, "0.0031"), (10 / 3, "3.33"), (0.5, "0.50"), (0.0, "0.00"), (12.0, "10.00")],
)
def test_a_fitted_number_is_kept_as_it_is_and_shown_with_the_digits_that_it_needs(
    qtbot: QtBot, value: float, shown: str
) -> None:
    control = WeightControl("Tie threshold", 10.0)
    for part in (control.field, control.slider):
        qtbot.addWidget(part)
    changes: list[float] = []
    control.changed.connect(lambda: changes.append(control.value))
    control.set_value(value)
    assert (control.value, control.field.text()) == (min(value, 10.0), shown)
    qtbot.keyClick(control.field, Qt.Key.Key_Return)
    assert changes == []
    control.field.selectAll()
    qtbot.keyClicks(control.field, "0.0025")
    qtbot.keyClick(control.field, Qt.Key.Key_Return)
    assert (control.value, changes[-1], control.field.text()) == (0.0025, 0.0025, "0.0025")
