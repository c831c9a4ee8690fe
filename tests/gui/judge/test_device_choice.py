"""What computes, as chosen, tried and told on the Judge page: no GPU is here, others are remembered."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.core.errors import DeviceFailed, ProcessEnded
from engine.core.events import CancelToken, RunEnded
from engine.llama.speed import DeviceFinding, DeviceTrial, ModelSpeed
from engine.models import devices as loading
from engine.models.checked_model import checked_model
from engine.models.devices import remembered_trial
from engine.models.model_file import read_model_file
from engine.models.opening import machine_on, remember_speed
from engine.models.templates import model_memory
from engine.settings.identity import DEVICE_LEFT
from engine.settings.rows import CPU, Device, DeviceKind
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.judge.judge_page import JudgePage
from gui.models.device_choice import NONE_FOUND, NOT_TRIED, DeviceChoice, outcome
from gui.models.model_jobs import blamed
from gui.models.model_table import SPEED, about
from gui.runs.queue import Queued, QueueState, RunQueue
from gui.workspace.workspace import Workspace
from tests.gui.judge.pages import (
    LABELS,
    cut_off,
    new_page,
    open_dataset,
    plan_of,
    remember_unfinished,
    run_to_the_end,
    says,
    wait_for_plan,
)
from tests.gui.labels import text_of
from tests.gui.steps import click

GONE = Device("Vulkan7", "A card <b>that</b> was sold", "Vulkan", DeviceKind.GPU, 8 << 30, "00000001")
BROKEN = Device("Vulkan8", "An old one", "Vulkan", DeviceKind.INTEGRATED)
SLOW = ModelSpeed(reading=100, writing_one=10, writing_ten=40, prompt=512, cores=0.9, threads=1)
FAST = ModelSpeed(reading=9000, writing_one=900, writing_ten=8000, prompt=512, cores=0.1, threads=0)
TRIAL = DeviceTrial(SLOW, (DeviceFinding(GONE, 0.01, 0.02, FAST), DeviceFinding(BROKEN, reason="it hangs")))


@pytest.fixture(scope="module")
def no_gpu() -> None:
    """Skips on a computer with one."""
    if loading.found_devices(CancelToken()):
        pytest.skip("this computer has a GPU that llama.cpp can use")


def demo_hash() -> str:
    return checked_model(read_model_file(demo_model()), CancelToken()).hash


@pytest.fixture
def remembered() -> DeviceTrial:
    """The demo model was tried with a fast card, which is gone by now, and with one that hung."""
    file_hash = demo_hash()
    with model_memory() as memory:
        memory.remember("devices", loading._key(file_hash), TRIAL)
    on_card = machine_on(GONE, LABELS.threads, None, read_model_file(demo_model()))
    remember_speed(file_hash, on_card, FAST)
    return TRIAL


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> JudgePage:
    page = new_page(qtbot, workspace, LABELS)
    page.settings.fold.set_open(True)
    open_dataset(qtbot, page, demo_gold, items=2)
    return page


def choice_of(page: JudgePage) -> DeviceChoice:
    return page.settings.advanced.device


def offered(page: JudgePage) -> list[str]:
    field = choice_of(page).field
    return [field.itemText(row) for row in range(field.count())]


def try_the_gpu(qtbot: QtBot, page: JudgePage) -> None:
    with qtbot.waitSignal(choice_of(page).tried):
        click(page.settings, "Try the GPU")


def test_nothing_looks_for_a_gpu_before_a_person_asks(
    qtbot: QtBot, workspace: Workspace, demo_gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []

    def looked(*_: object, **__: object) -> tuple[int, bytes]:
        started.append(1)
        return 1, b""

    monkeypatch.setattr(loading, "run_child", looked)
    page = new_page(qtbot, workspace, LABELS)
    page.settings.fold.set_open(True)
    open_dataset(qtbot, page, demo_gold, items=2)
    qtbot.waitUntil(lambda: page.picker.candidate is not None)
    assert NOT_TRIED in text_of(choice_of(page))
    assert offered(page) == ["Automatic", "Processor only (CPU)"]
    assert "the processor\nComputes on" in text_of(page.plan_panel)
    assert not started


@pytest.mark.slow
@pytest.mark.apart
def test_where_there_is_no_gpu_that_is_said_plainly(qtbot: QtBot, no_gpu: None, page: JudgePage) -> None:
    try_the_gpu(qtbot, page)
    assert choice_of(page).outcome.text() == NONE_FOUND
    assert not choice_of(page).line.isVisible()
    assert offered(page) == ["Automatic", "Processor only (CPU)"]
    assert remembered_trial(demo_hash()) is None
    wait_for_plan(qtbot, page)
    assert "the processor\nComputes on" in text_of(page.plan_panel)


def test_it_is_tried_with_the_keyboard_and_can_be_stopped(qtbot: QtBot, page: JudgePage) -> None:
    choice = choice_of(page)
    choice.button.setFocus()
    QTest.keyClick(choice.button, Qt.Key.Key_Space)
    assert choice.line.isVisible()
    click(choice, "Cancel")
    qtbot.waitUntil(lambda: not choice.line.isVisible())
    assert choice.outcome.isVisible()
    assert choice.button.hasFocus() or not page.isActiveWindow()


@pytest.mark.slow
def test_a_remembered_trial_is_shown_with_speeds(
    qtbot: QtBot, remembered: DeviceTrial, page: JudgePage
) -> None:
    def speed() -> str:
        return str(page.picker.table.index(0, SPEED).data())

    says(qtbot, choice_of(page), "Tried with demo-judge")
    said = choice_of(page).outcome.text()
    assert "• The processor reads 100 and writes 40." in said
    assert f"• {GONE.title} gives the processor's results, and reads 9,000 and writes 8,000." in said
    assert f"• {BROKEN.title} cannot be used: it hangs." in said
    assert said.endswith(f"Automatic takes {GONE.title}: it is the fastest.")
    assert offered(page)[2:] == [GONE.title, BROKEN.title]
    qtbot.waitUntil(lambda: speed() == "9,000")
    assert f"with {GONE.title}" in about(page.picker.table.candidate(0))
    field = choice_of(page).field
    field.setCurrentIndex(field.findData(CPU))
    qtbot.waitUntil(lambda: speed() == "")
    with qtbot.waitSignal(page.picker.measured):
        page.picker.doing.measure_chosen()
    assert speed() not in ("", "9,000")
    assert "with the processor" in about(page.picker.table.candidate(0))
    field.setCurrentText(GONE.title)
    qtbot.waitUntil(lambda: speed() == "9,000")
    field.setCurrentText(BROKEN.title)
    qtbot.waitUntil(lambda: speed() == "")


@pytest.mark.slow
def test_automatic_leaves_a_device_that_is_gone(
    qtbot: QtBot, remembered: DeviceTrial, page: JudgePage
) -> None:
    said = text_of(page.plan_panel)
    assert f"the processor. {GONE.title} was the fastest with this model." in said
    assert said.count("was the fastest") == 1
    assert run_to_the_end(qtbot, page) == RunEnded(1, 2, 2, stopped=False)
    with RunStore(page.workspace.store_path) as store:
        assert "device" not in store.run(1).identity.settings
    assert "was the fastest" in text_of(page.run_panel)


@pytest.mark.slow
def test_a_chosen_device_is_kept_and_not_lost_where_it_is_gone(
    qtbot: QtBot, no_gpu: None, remembered: DeviceTrial, page: JudgePage
) -> None:
    qtbot.waitUntil(lambda: len(offered(page)) == 4)
    choice_of(page).field.setCurrentText(GONE.title)
    assert page.setup().device == GONE.key
    words = f"No device is called '{GONE.key}'. On this computer, besides the processor: none."
    says(qtbot, page.plan_panel, words)
    assert "“Compute on”: cpu" in text_of(page.plan_panel)
    again = new_page(qtbot, page.workspace)
    assert again.setup().device == GONE.key
    qtbot.waitUntil(lambda: choice_of(again).field.currentText() == GONE.title)
    try_the_gpu(qtbot, page)  # looks again
    assert offered(page)[2:] == [f"Not found now: {GONE.key}"]
    assert choice_of(page).request == GONE.key
    assert "The chosen device was not found" in choice_of(page).outcome.text()


def test_layers_count_where_a_gpu_may_compute(qtbot: QtBot, workspace: Workspace) -> None:
    page = new_page(qtbot, workspace)
    layers = page.settings.advanced.default.by_name["gpu_layers"]
    assert layers.isEnabled()
    for request, enabled in ((" CPU", False), (GONE.key, True), (None, True), (CPU, False)):
        page.settings.show_setup(replace(LABELS, device=request))
        assert layers.isEnabled() is enabled
    assert page.setup().device == CPU
    page.settings.show_setup(replace(LABELS, device="Vulkan: my card"))
    assert choice_of(page).field.currentText() == "Not looked for yet: Vulkan: my card"
    assert page.setup().device == "Vulkan: my card"


def choice_after(qtbot: QtBot, workspace: Workspace, *findings: DeviceFinding) -> DeviceChoice:
    """The choice of a device, alone, of a model that was tried with these."""
    with model_memory() as memory:
        memory.remember("devices", loading._key(demo_hash()), DeviceTrial(SLOW, findings))
    choice = DeviceChoice(workspace, lambda: 1)
    qtbot.addWidget(choice)
    choice.set_model(demo_model())
    qtbot.waitUntil(lambda: choice.field.count() == 2 + len(findings))
    choice.field.setCurrentIndex(1 + len(findings))
    return choice


def test_two_devices_of_one_description_are_chosen_by_names_which_widen_nothing(
    qtbot: QtBot, workspace: Workspace
) -> None:
    other = DeviceFinding(replace(GONE, name="Vulkan9"), 0.01, 0.02, SLOW)
    assert choice_after(qtbot, workspace, TRIAL.findings[0], other).request == "Vulkan9"
    widths = set()
    for letters in (1, 255):
        found = DeviceFinding(replace(GONE, description="n" * letters), reason="x" * letters)
        choice = choice_after(qtbot, workspace, found)
        widths.add(choice.minimumSizeHint().width())
        choice.choose("m" * letters)
        widths.add(choice.minimumSizeHint().width())
    assert len(widths) == 1


def test_what_cannot_be_used_is_not_taken() -> None:
    slower = DeviceFinding(GONE, 0.01, 0.02, replace(SLOW, reading=50))
    wrong = DeviceFinding(GONE, 0.5, 0.9, FAST, "it computes nonsense")
    for finding, end in ((slower, "it is the fastest."), (wrong, "no GPU can be used.")):
        said = outcome(DeviceTrial(SLOW, (finding,)), "m", None)
        assert said.endswith(f"Automatic takes the processor: {end}")
    gone = outcome(TRIAL, "m", ())
    assert "Now it is not found, or has another driver." in gone
    assert gone.endswith("Automatic takes the processor until it is tried again.")


# Runs


@pytest.fixture
def begun(workspace: Workspace, demo_gold: Path) -> RunSetup:
    """Run 1, of 4 items, was begun on a device that is gone, and judged two of them; how it is resumed."""
    setup = replace(LABELS, dataset_path=demo_gold, items=4)
    cut_off(replace(plan_of(setup), began_on=GONE.key), workspace.store_path)
    return replace(setup, resumes=1)


@pytest.mark.slow
def test_a_run_of_a_device_that_is_gone_goes_on(qtbot: QtBot, workspace: Workspace, begun: RunSetup) -> None:
    remember_unfinished(workspace, 1, replace(begun, resumes=None))
    page = new_page(qtbot, workspace)
    with qtbot.waitSignal(page.control.ended) as ended:
        click(page.banner, "Resume")
    assert ended.args[0] == RunEnded(1, 4, 4, stopped=False)
    said = text_of(page.run_panel)
    assert f"{GONE.key} failed: it is not found on this computer. The processor continues" in said
    assert "Run 1 is complete: 4 of 4 items are judged" in said
    assert page.run_panel._computing.property("role") == "warning"
    assert page.control.progress.judged_before == 2


@pytest.mark.slow
def test_it_is_resumed_by_the_queue_too(qtbot: QtBot, workspace: Workspace, begun: RunSetup) -> None:
    page = new_page(qtbot, workspace)
    queue = RunQueue(page.control, workspace)
    queue.add(begun)
    with qtbot.waitSignal(queue.ended):
        queue.start()
    (entry,) = queue.entries
    assert entry.state is QueueState.DONE
    assert "4 items, continued on the processor without the GPU" in entry.said


def test_a_run_that_has_left_its_device_says_so(qtbot: QtBot, workspace: Workspace, begun: RunSetup) -> None:
    left = f"{GONE.title}, after 2 of 4 items: it broke down"
    with RunStore(workspace.store_path) as store, store.hold(1) as run:
        store.describe(1, {**run.manifest, DEVICE_LEFT: left})
    page = new_page(qtbot, workspace)
    with qtbot.waitSignal(page.control.ended):
        page.control.start(begun)
    said = f"A GPU failed in this run: {left}. The processor"
    assert f"{said} continues." in text_of(page.run_panel)
    with RunStore(workspace.store_path) as store:
        assert store.run(1).device_left_in_words == f"{said} judged the rest."


@pytest.mark.slow
def test_a_device_that_fails_in_a_run_is_left_for_good(
    qtbot: QtBot, remembered: DeviceTrial, page: JudgePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there when it is looked for, and gone when the model is to be loaded there."""
    monkeypatch.setattr(loading, "found_devices", lambda _cancel: [GONE])
    page.plan_panel.make()
    says(qtbot, page.plan_panel, f"{GONE.title}\nComputes on")
    assert run_to_the_end(qtbot, page) == RunEnded(1, 2, 2, stopped=False)
    note = f"{GONE.title} failed: it is no longer found on this computer. The processor continues"
    assert note in text_of(page.run_panel)
    assert (page.control.progress.judged_before, page.control.progress.judged) == (0, 2)
    with RunStore(page.workspace.store_path) as store:
        run = store.run(1)
    assert run.device_left
    assert run.identity.settings["device"] == GONE.key
    assert "all 2 items are judged in run 1" in text_of(page.plan_panel)


def test_a_driver_that_ends_the_process_is_blamed_for_it() -> None:
    broke = ProcessEnded("The process that runs the model crashed (SIGSEGV).", "Go on.", True)

    def work(device: Device | None, error: ProcessEnded) -> None:
        with blamed(device):
            raise error

    with pytest.raises(DeviceFailed, match=r"sold .*: the process that runs the model crashed"):
        work(GONE, broke)
    for device, error in ((None, broke), (GONE, ProcessEnded("It was ended from outside.", "Go on."))):
        with pytest.raises(ProcessEnded) as caught:
            work(device, error)
        assert caught.value is error


def test_the_queue_names_a_device_that_was_chosen() -> None:
    hows = [Queued(replace(LABELS, device=device)).how for device in (CPU, GONE.key, None)]
    assert ["processor only" in how for how in hows] == [True, False, False]
    assert [f"on {GONE.key}" in how for how in hows] == [False, True, False]
