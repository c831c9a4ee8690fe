"""Measures that need a model, chosen in their dialog."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.system.paths import demo_model
from gui.results.results_page import ResultsPage
from gui.results.score_jobs import ModelMeasure
from gui.results.scores_panel import MeasureModelDialog
from tests.commands import ROOT
from tests.gui.results.steps import Save, click, open_run, table_of

ENCODER = ROOT / "tests" / "encoders" / "roberta.gguf"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "file", "column"),
    [
        (ModelMeasure.BERTSCORE, ENCODER, 4),
        pytest.param(ModelMeasure.AGREEMENT, demo_model(), 5, marks=pytest.mark.apart),
    ],
)
def test_a_model_fills_its_column(
    qtbot: QtBot,
    page: ResultsPage,
    demo_tried: None,
    save: Save,
    demo_gold: Path,
    measure: ModelMeasure,
    file: Path,
    column: int,
) -> None:
    few = save("few.tsv", b"\n".join(demo_gold.read_bytes().split(b"\n")[:2]))
    page.workspace.open_gold(few)
    qtbot.waitUntil(lambda: page.workspace.has_chosen_gold, timeout=10_000)
    opened = open_run(qtbot, page, 1)
    click(opened.scores.model_buttons[measure])
    dialog = opened.findChild(MeasureModelDialog)
    assert isinstance(dialog, MeasureModelDialog)
    dialog.choose(file)
    qtbot.waitUntil(dialog.start.isEnabled, timeout=10_000)
    click(dialog.start)
    table = table_of(opened, "explanations")
    qtbot.waitUntil(lambda: table.index(0, column).data() not in {"-", None}, timeout=60_000)
    assert opened.workspace.state.recent(
        "encoders" if measure is ModelMeasure.BERTSCORE else "agreement-models"
    )


def test_a_file_that_cannot_measure_is_refused_in_the_dialog(
    qtbot: QtBot, opened: ResultsPage, save: Save
) -> None:
    dialog = MeasureModelDialog(ModelMeasure.BERTSCORE, opened.workspace)
    qtbot.addWidget(dialog)
    dialog.choose(save("<b>x.gguf", b"not a model"))
    qtbot.waitUntil(lambda: "<b>x.gguf" in dialog.status.text(), timeout=10_000)
    assert not dialog.start.isEnabled()
