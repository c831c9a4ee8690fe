"""What the model is asked, beside the fields in which it is written."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.core.events import CancelToken
from engine.core.items import Method, Order
from engine.core.prompt_text import Source
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.item_prompt import PromptFacts, question_of_setup, shown_prompts
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_model
from gui.judge.prompt_jobs import KINDS
from gui.judge.rubric_dialog import PreviewPanel
from gui.judge.rubric_edit import EditedRubric, RubricDraft
from gui.workspace.threads import EngineThreads

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture
def demo(demo_gold: Path) -> Dataset:
    return load_dataset(demo_gold)


def made(
    qtbot: QtBot, threads: EngineThreads, dataset: Dataset | None = None, model: Path | None = None
) -> PreviewPanel:
    panel = PreviewPanel(RubricDraft(EditedRubric.of(ELOQUENT)), threads, dataset, model)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.pane.prompt is not None)  # at once, whatever the model takes
    qtbot.waitUntil(lambda: not panel._making.busy, timeout=60_000)
    return panel


def inks(panel: PreviewPanel) -> set[Source]:
    assert panel.pane.prompt is not None
    return {span.source for span in panel.pane.prompt.spans}


def text(panel: PreviewPanel) -> str:
    return panel.pane.toPlainText()


def test_it_is_what_a_run_with_this_model_asks(qtbot: QtBot, threads: EngineThreads, demo: Dataset) -> None:
    panel = made(qtbot, threads, demo, demo_model())
    setup = RunSetup(demo.path, demo_model())
    question = question_of_setup(setup, demo[0], CancelToken())
    asked = [
        one
        for one in shown_prompts(question, ("relevance", Order.AB), CancelToken())
        if not isinstance(one, PromptFacts)
    ]
    first = next(one for one in asked if (one.criterion, one.order) == ("relevance", Order.AB))
    assert panel.pane.prompt is not None
    assert panel.pane.prompt.as_read == first.preview.text
    assert f": {len(first.preview.tokens):,} tokens." in panel.said.text()
    assert Source.CONTROL in inks(panel)
    panel.order.setCurrentIndex(panel.order.findData(Order.BA.value))
    panel.make()
    second = next(one for one in asked if (one.criterion, one.order) == ("relevance", Order.BA))
    qtbot.waitUntil(
        lambda: panel.pane.prompt is not None and panel.pane.prompt.as_read == second.preview.text
    )


def test_without_a_model_the_text_alone_is_shown_with_whose_it_is(
    qtbot: QtBot, threads: EngineThreads
) -> None:
    panel = made(qtbot, threads)
    assert {Source.OWN, Source.INSTRUCTION, Source.RESPONSE_A, Source.RESPONSE_B} <= inks(panel)
    assert Source.CONTROL not in inks(panel)
    assert "a sample item" in panel.said.text()
    assert "without a model's chat format" in panel.said.text()
    assert text(panel).endswith("Verdict:")


def test_a_model_that_cannot_be_read_leaves_the_text_and_says_why(
    qtbot: QtBot, threads: EngineThreads, tmp_path: Path
) -> None:
    panel = made(qtbot, threads, model=tmp_path / "gone.gguf")
    assert "gone.gguf" in panel.note.text()
    assert "[Instruction]" in text(panel)


def test_it_follows_what_is_written_a_moment_later(
    qtbot: QtBot, threads: EngineThreads, demo: Dataset
) -> None:
    panel = made(qtbot, threads, demo, demo_model())
    draft = panel._draft
    rubric = draft.rubric
    draft.write(rubric.with_part("verdict", "Urteil:"))
    qtbot.waitUntil(lambda: text(panel).endswith("Urteil:"))
    draft.write(draft.rubric.with_part("system", "Nothing."))  # which lacks its mark
    qtbot.waitUntil(lambda: "shown with their defaults" in panel.note.text())
    assert "You compare two responses" in text(panel)
    draft.choose(3)
    qtbot.waitUntil(lambda: "Criterion: safety." in text(panel))
    panel.item.setValue(2)
    qtbot.waitUntil(lambda: demo[1].instruction[:30] in text(panel))


def test_every_question_of_a_criterion_can_be_seen(
    qtbot: QtBot, threads: EngineThreads, demo: Dataset
) -> None:
    panel = made(qtbot, threads, demo, demo_model())
    for kind, asked, ends in (
        (None, "", "Verdict: A\nExplanation:"),
        (Method.PERMUTED_LABELS, "For this question alone", "Verdict:"),
        (Method.POINTWISE_YES_NO, "yes or no", "Answer:"),
        (Method.POINTWISE_GRADE, "from 1 (very bad)", "Grade:"),
    ):
        panel.kind.setCurrentIndex(panel.kind.findText(KINDS[kind]))
        panel.make()
        qtbot.waitUntil(lambda: not panel._making.busy)
        assert text(panel).endswith(ends)
        assert asked in text(panel)
        assert "tokens." in panel.said.text()
