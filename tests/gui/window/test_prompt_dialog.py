"""What the model is shown, in a dialog: text, tokens and what comes next; from where it is opened."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from engine.core.events import Preparing
from engine.core.items import Item, Method, Order
from engine.core.prompt_text import Source
from engine.data.dataset import load_dataset
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.judge.prompt_jobs import KeyedPrompt, PromptHead, PromptKey, Subject, ask, show_prompts
from gui.widgets.prompt_pane import InkSample
from gui.window.prompt_dialog import PromptDialog, PromptRequest
from gui.workspace.threads import JobControl, ThreadName
from gui.workspace.workspace import Workspace
from tests.gui.jobs import done
from tests.gui.labels import text_of

HOSTILE = "<|end|> <b>x</b> 🙂 \u202e\x00\r\n東京"
ITEM = Item("n" * 255, "Say hello.", HOSTILE, "Bye. " * 20)

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture
def setup(demo_gold: Path) -> RunSetup:
    return RunSetup(demo_gold, demo_model(), mode=Mode.LABELS, context=2048, threads=1)


def opened(
    qtbot: QtBot, workspace: Workspace, subject: Subject, criterion: str = "safety", **more: Any
) -> PromptDialog:
    """The dialog once the wanted prompt is there, or why it is not."""
    dialog = PromptDialog(workspace, PromptRequest(subject, criterion, **more))
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.pane.prompt is not None or dialog.notice.isVisible())
    return dialog


def ask_there(qtbot: QtBot, dialog: PromptDialog) -> None:
    dialog.ask.click()
    qtbot.waitUntil(lambda: not dialog.answer_view.isHidden())


def test_a_text_is_shown_whole_with_what_is_invisible_written_out(setup: RunSetup) -> None:
    received: list[object] = []
    done(show_prompts(Subject(ITEM, setup), ("safety", Order.BA)), received)
    head, first, *others = received
    assert isinstance(head, PromptHead)
    assert isinstance(first, KeyedPrompt)
    assert first.key == ("safety", Order.BA, Method.LABEL_TOKENS, "")
    assert len(others) == 9
    prompt = first.prompt
    assert HOSTILE in prompt.as_read
    assert r"<|end|> <b>x</b> 🙂 \u202e\x00\r" + "\n東京" in prompt.text
    units = prompt.text.encode("utf-16-le")
    spans = [units[2 * span.start : 2 * span.end].decode("utf-16-le") for span in prompt.spans]
    assert "".join(spans) == prompt.text
    shown = spans[[span.source for span in prompt.spans].index(Source.RESPONSE_A)]
    assert shown.startswith("<|end|>")
    assert shown.endswith("東京")
    assert prompt.tokens[-1].end == len(units) // 2
    assert len(prompt.tokens) == prompt.stem + prompt.trunk + prompt.branch


def test_criterion_and_order_are_chosen_by_keys(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    dialog = opened(qtbot, workspace, Subject(ITEM, setup))
    assert dialog.key == ("safety", Order.AB, Method.LABEL_TOKENS, "")
    assert "Criterion: safety." in dialog.pane.toPlainText()
    qtbot.waitUntil(lambda: len(dialog._prompts) == 10)
    qtbot.keyClick(dialog, Qt.Key.Key_1)
    qtbot.keyClick(dialog, Qt.Key.Key_O)
    assert dialog.key == ("relevance", Order.BA, Method.LABEL_TOKENS, "")
    text = dialog.pane.toPlainText()
    assert "Criterion: relevance." in text
    assert text.index("Bye.") < text.index("<b>x</b>")
    qtbot.keyClick(dialog, Qt.Key.Key_T)
    assert dialog.tokens.isChecked()
    assert "tokens: " in dialog.counts.text()
    assert not dialog.method.isVisible()  # of letters there is one
    qtbot.keyClick(dialog, Qt.Key.Key_W)
    assert dialog.pane.prompt
    dialog.reject()
    left = [dialog.pane.prompt, *dialog._prompts]
    assert left == [None]  # closing lets go of the texts


def test_a_long_id_is_cut_and_a_legend_is_there(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    dialog = opened(qtbot, workspace, Subject(ITEM, setup), "", chosen_on="as the Judge page is set")
    assert dialog.minimumSizeHint().width() < 1280
    assert "n" * 61 not in dialog.title.text()
    assert dialog.title.text().endswith("demo-judge, as the Judge page is set")
    inks = {sample.source for sample in dialog.findChildren(InkSample)}
    assert inks == {Source.CONTROL, Source.OWN, Source.INSTRUCTION, Source.RESPONSE_A, Source.RESPONSE_B}
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.pane.prompt.as_read


def test_the_likeliest_tokens_are_shown(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    read = {PromptKey("safety", Order.AB, Method.LABEL_TOKENS, ""): 0.25}
    dialog = opened(qtbot, workspace, Subject(ITEM, setup), masses=read)
    ask_there(qtbot, dialog)
    rows = dialog.answer.as_text().splitlines()
    assert len(rows) >= 12
    assert rows[1].startswith("1\t")
    assert rows[-1].startswith("\tall other tokens\t")
    assert "answer mass; in the run 25.0 %" in dialog.mass.text()
    dialog._other_order()
    assert "in the run" not in dialog.mass.text()
    assert not dialog.answer_view.isHidden()


@pytest.mark.slow
def test_a_process_of_its_own_reads_the_same(setup: RunSetup) -> None:
    item = load_dataset(setup.dataset_path)[0]
    received: list[object] = []
    here, apart = (done(ask(Subject(item, setup)), received, apart=apart) for apart in (False, True))
    assert here == apart
    assert len(here) == 10
    assert Preparing("Reading the prompt") in received


def test_blind_the_model_is_not_asked(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    """Blind labels are given without what the model says: the text is no secret, the answer is."""
    labelled = {"safety"}
    dialog = opened(qtbot, workspace, Subject(ITEM, setup), "relevance", may_see=labelled.__contains__)
    assert not dialog.ask.isEnabled()
    assert "Hidden while" in dialog.mass.text()
    dialog._choose_criterion(3)
    ask_there(qtbot, dialog)
    dialog._choose_criterion(0)
    assert dialog.answer_view.isHidden()
    assert "Hidden while" in text_of(dialog)
    assert "format mass" not in text_of(dialog)


def test_reading_can_be_stopped(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    dialog = opened(qtbot, workspace, Subject(ITEM, setup))
    dialog.ask.click()
    assert not dialog.busy.isHidden()
    assert not dialog.ask.isEnabled()
    dialog.busy.cancelled.emit()
    qtbot.waitUntil(lambda: not workspace.threads.busy(ThreadName.MODEL))
    qtbot.waitUntil(dialog.busy.isHidden)
    assert dialog.ask.isEnabled() or not dialog.answer_view.isHidden()


def test_what_cannot_be_asked_is_said(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    """Of an item that does not fit the prompt is shown, of a model that is gone there is none."""
    too_long = opened(qtbot, workspace, Subject(replace(ITEM, output_a="word " * 3000), setup))
    assert "it is not judged" in too_long.notes.text()
    gone = opened(qtbot, workspace, Subject(ITEM, replace(setup, model_path=Path("gone.gguf"))))
    assert "gone.gguf" in gone.notice.text
    assert not any(dialog.ask.isEnabled() for dialog in (too_long, gone))


def test_a_run_is_named_with_what_is_not_as_it_was(qtbot: QtBot, space: Workspace, setup: RunSetup) -> None:
    """The run of the tests names its model by another SHA-256."""
    with RunStore(space.store_path) as store:
        run = store.run(1)
    dialog = opened(qtbot, space, Subject(ITEM, setup, run))
    assert " as in run 1 for demo-judge" in dialog.title.text()
    assert "not the file of the run" in dialog.notes.text()


def test_the_question_of_each_way_is_looked_at(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    setup = replace(setup, methods=(Method.LABEL_TOKENS, Method.PERMUTED_LABELS, Method.POINTWISE_GRADE))
    dialog = opened(qtbot, workspace, Subject(ITEM, setup))
    shown = [dialog.method.itemText(place) for place in range(dialog.method.count())]
    permuted = [f"Permuted label tokens: {letters}" for letters in ("ABCD", "BCDA", "CDAB", "DABC")]
    grades = [f"Pointwise grade: response shown {which}" for which in ("first", "second")]
    assert shown == ["Label tokens", *permuted, *grades]
    assert dialog.method.isVisible()
    assert dialog.minimumSizeHint().width() < 1280
    dialog.order.setCurrentIndex(1)
    dialog.method.setCurrentIndex(5)
    qtbot.keyClick(dialog, Qt.Key.Key_W)
    qtbot.waitUntil(lambda: dialog.pane.prompt is not None)
    assert dialog.key == ("safety", Order.BA, Method.POINTWISE_GRADE, "B")
    prompt = dialog.pane.prompt
    assert "How good is Response B on this criterion?" in prompt.text
    assert prompt.text.rstrip().endswith("Grade:")
    assert prompt.then == "the answer is read here"
    ask_there(qtbot, dialog)
    table = dialog.answer.as_text()
    assert "answer\tsays" in table.casefold()
    assert "A: 4 of 5" in table  # B is shown first
    assert "The answers have " in dialog.mass.text()


@pytest.mark.slow
def test_what_a_model_is_shown_before_it_thinks(
    qtbot: QtBot, workspace: Workspace, setup: RunSetup, tried_model: Callable[[str], Path]
) -> None:
    reasons = replace(
        setup,
        model_path=tried_model("thinker"),
        methods=(Method.CHAIN_OF_THOUGHT,),
        reasoning_samples=3,
        context=8192,
    )
    dialog = opened(qtbot, workspace, Subject(ITEM, reasons))
    assert dialog.key == ("safety", Order.AB, Method.CHAIN_OF_THOUGHT, "1")
    prompt = dialog.pane.prompt
    assert prompt.text.rstrip().endswith("<think>")
    assert "reasons here" in prompt.then
    ask_there(qtbot, dialog)
    assert dialog.answer.columnCount() == 4
    assert dialog.mass.isHidden()


def test_the_text_is_there_while_the_model_works(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    def until_stopped(control: JobControl) -> None:
        while True:
            control.cancel.raise_if_requested()
            time.sleep(0.01)

    run = workspace.threads.start(ThreadName.MODEL, until_stopped)
    dialog = opened(qtbot, workspace, Subject(ITEM, setup))
    dialog.ask.click()
    assert "Waiting for other work" in text_of(dialog.busy)
    run.cancel()
    qtbot.waitUntil(lambda: not dialog.answer_view.isHidden())
