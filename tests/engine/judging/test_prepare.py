"""The way from a run as it was asked for to its plan, with real files and the demo model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken, FilesRead, Preparing, followed
from engine.core.items import Method, Order
from engine.core.rubric import ELOQUENT, Criterion, Rubric
from engine.data.dataset import load_dataset
from engine.judging.prepare import PreparedRun, prepare_run
from engine.models.checked_model import CheckedModel
from engine.models.model_file import read_model_file
from engine.settings.identity import StoredRun
from engine.settings.rows import (
    DEFAULT_CONTEXT,
    ITEMS_AT_ONCE,
    Device,
    DeviceKind,
    JudgeSettings,
    KvType,
    MachineSettings,
    Mode,
    default_context,
)
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import ItemSample
from engine.store.run_store import RunStore
from engine.system.computer import default_threads
from engine.system.paths import demo_dataset, demo_model
from tests.able import needs_links
from tests.engine.judging.runs import SAMPLE, SETTINGS, MakePlan
from tests.foreign_gold import COLUMNS, foreign_gold
from tests.published_shapes import BAD, GOOD, llm_bar

pytestmark = pytest.mark.usefixtures("demo_tried")

SETUP = RunSetup(demo_dataset(), demo_model(), items=4)


def prepared(setup: RunSetup, **given: Any) -> PreparedRun:
    return followed(prepare_run(setup, CancelToken(), **given))


def key_of(setup: RunSetup, **given: Any) -> str:
    return prepared(setup, **given).plan.identity().key


@contextmanager
def begun(setup: RunSetup, folder: Path) -> Iterator[StoredRun]:
    """The run of a setup, of which nothing is judged yet."""
    with RunStore(folder / "runs.sqlite") as store, store.begin(prepared(setup).plan.identity()) as run:
        yield run


@pytest.mark.slow
def test_what_is_not_chosen_is_as_usual() -> None:
    plan = prepared(RunSetup(demo_dataset(), demo_model())).plan
    trained = read_model_file(demo_model()).trained_context
    assert plan.settings == JudgeSettings(context=default_context(trained), items_at_once=ITEMS_AT_ONCE)
    assert plan.settings.context <= DEFAULT_CONTEXT
    assert plan.rubric == ELOQUENT
    assert plan.machine.threads == default_threads()
    assert (plan.examples.shots, plan.calibration) == (0, None)
    assert len(plan.dataset) == len(load_dataset(demo_dataset()))


def test_a_foreign_dataset_is_read_by_the_columns_of_the_setup(tmp_path: Path) -> None:
    """Also where the same file is at hand, read by others."""
    path = llm_bar(tmp_path)
    sources = {"instruction": "input", "output_a": "output_1", "output_b": "output_2"}
    swapped = {**sources, "output_a": "output_2", "output_b": "output_1"}
    current = load_dataset(path, columns=ColumnMap.of(sources))
    for columns in (sources, swapped):
        setup = RunSetup(path, demo_model(), columns=ColumnMap.of(columns))
        plan = prepared(setup, current=current).plan
        assert plan.dataset[0].output_a == (GOOD[0] if columns is sources else BAD[0])
    assert prepared(RunSetup(path, demo_model()), current=current).plan.dataset.hash == current.hash
    # A run goes on by the columns that it was judged with.
    setup, own = RunSetup(path, demo_model()), ColumnMap.of(swapped)
    with begun(replace(setup, columns=own), tmp_path) as run, RunStore(tmp_path / "runs.sqlite") as store:
        store.describe(run.id, {"columns": own.as_json()})
        plan = prepared(setup, resumed=store.run(run.id)).plan
        assert (plan.identity().key, plan.dataset.columns) == (run.identity.key, own)


def test_labelled_examples_are_read_by_their_own_columns(tmp_path: Path, demo_gold: Path) -> None:
    setup = replace(SETUP, examples_path=foreign_gold(demo_gold, tmp_path), criteria=("overall_quality",))
    with pytest.raises(SetupError, match="no column 'id'") as caught:
        prepared(setup)
    assert "check EXAMPLES --save-columns" in OPTIONS.of(caught.value.hint)
    shown = prepared(replace(setup, shots=3, example_columns=COLUMNS)).plan.examples
    assert shown.shots == 3


def test_what_is_chosen_is_in_the_plan() -> None:
    chosen = RunSetup(
        dataset_path=demo_dataset(),
        model_path=demo_model(),
        items=3,
        mode=Mode.LABELS,
        both_orders=False,
        criteria=("safety", "relevance"),
        examples_path=demo_dataset(),
        shots=2,
        shorten=True,
        context=2048,
        max_explanation_tokens=9,
        temperature=0.5,
        seed=3,
        kv_type=KvType.Q8_0,
        threads=2,
        gpu_layers=0,
    )
    plan = prepared(chosen).plan
    assert plan.settings == JudgeSettings(
        mode=Mode.LABELS,
        orders=(Order.AB,),
        context=2048,
        max_explanation_tokens=9,
        temperature=0.5,
        seed=3,
        shorten=True,
        kv_type=KvType.Q8_0,
    )
    assert (plan.rubric.names, len(plan.dataset)) == (("relevance", "safety"), 3)
    assert (plan.examples.shots, plan.machine.threads, plan.machine.gpu_layers) == (2, 2, 0)


def test_a_run_goes_on_with_its_own_questions(tmp_path: Path) -> None:
    mine = Rubric("mine", (Criterion("safety", "Which does less harm?"), Criterion("tact", "Which?")))
    setup = replace(SETUP, rubric=mine, criteria=("tact", "safety"))
    with begun(setup, tmp_path) as run:
        criteria = (Criterion("safety", "Which is safer?"), mine.criteria[1])
        again = replace(setup, rubric=replace(mine, criteria=criteria))
        assert key_of(again) != run.identity.key
        assert key_of(again, resumed=run) == run.identity.key
    # A rubric with the task's questions makes the task's run.
    alike = replace(ELOQUENT, name="mine", tie_threshold=2.0)
    plans = [prepared(each).plan.identity() for each in (SETUP, replace(SETUP, rubric=alike))]
    assert plans[0].key == plans[1].key
    assert [plan.rubric for plan in plans] == [None, alike]


def test_notices_are_told_before_the_model_is_checked(tmp_path: Path) -> None:
    odd = tmp_path / "odd.tsv"
    odd.write_text("id\tinstruction\toutput_a\toutput_b\tmood\n1\tHi\tHello\t\tgood\n", encoding="utf-8")
    received: list[FilesRead | Preparing] = []
    work = prepare_run(replace(SETUP, dataset_path=odd), CancelToken())
    made = followed(work, received.append)
    read, checking = received
    assert isinstance(read, FilesRead)
    assert checking == Preparing("Checking the model file")
    assert "odd.tsv: 1 response is empty." in read.notices
    assert read.notices == made.notices
    assert (read.model, read.model_notice) == (made.model.name, made.model.notice)


def test_a_model_without_a_chat_template_is_noticed(small_model: Callable[[str], Path]) -> None:
    assert prepared(SETUP).notices == ()
    (notice,) = prepared(replace(SETUP, model_path=small_model("no_template"))).notices
    assert "no_template: no chat template: plain text is used" in str(notice)


@pytest.mark.parametrize("items", [None, 4, 10_000])
def test_the_dataset_at_hand_is_taken_where_it_is_the_file(items: int | None, tmp_path: Path) -> None:
    current = load_dataset(demo_dataset())
    setup = replace(SETUP, items=items)
    taken = prepared(setup, current=current).plan
    assert taken.identity() == prepared(setup).plan.identity()
    assert (taken.dataset is current) == (items != 4)
    copy = replace(current, path=tmp_path / "copy.tsv")
    assert prepared(setup, current=copy).plan.dataset.path == demo_dataset()


CHOSEN = replace(SETUP, items=None, ids=("20", "3", "17"))


@pytest.mark.parametrize("current", [False, True])
def test_chosen_items_are_judged_in_the_order_of_their_file(current: bool) -> None:
    made = prepared(CHOSEN, current=load_dataset(demo_dataset()) if current else None)
    assert made.plan.dataset.ids == ["3", "17", "20"]
    assert made.plan.identity().chosen == ("3", "17", "20")
    assert made.items_in_file == 240
    others = (replace(CHOSEN, ids=("3", "17")), SETUP)
    assert made.plan.identity().key not in map(key_of, others)
    with pytest.raises(SetupError, match=r"demo\.tsv lacks 2 chosen items: 1000, x") as caught:
        prepared(replace(CHOSEN, ids=("3", "x", "1000")))
    assert str(caught.value.hint) == "Choose the items again."


@pytest.mark.parametrize("count", [4, 240])
def test_the_first_items_are_one_run_however_they_are_asked_for(count: int) -> None:
    ids = tuple(load_dataset(demo_dataset()).ids[:count])
    chosen = prepared(replace(SETUP, items=None, ids=ids)).plan
    assert chosen.identity() == prepared(replace(SETUP, items=count)).plan.identity()
    everything = prepared(replace(DRAWN, sample=ItemSample(240))).plan.identity()
    assert everything == prepared(replace(SETUP, items=None)).plan.identity()  # all items are no sample


def test_a_run_of_chosen_items_goes_on_where_its_file_holds_no_others_by_now(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    path.write_bytes(demo_dataset().read_bytes())
    setup = replace(CHOSEN, dataset_path=path)
    with begun(setup, tmp_path) as run:
        lines = demo_dataset().read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[number] for number in (0, 3, 17, 20)))
        assert key_of(setup, resumed=run) == run.identity.key


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"mode": Mode.LABELS, "both_orders": False, "context": 2048, "criteria": ("safety",)},
        {"second_order_below": 0.25, "shorten": True, "kv_type": KvType.Q8_0, "max_explanation_tokens": 40},
        {
            "methods": (Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT),
            "reasoning_samples": 3,
            "max_reasoning_tokens": 64,
            "seed": 7,
        },
        {"items": None, "ids": ("3", "17"), "temperature": 0.5, "seed": 9},
    ],
)
def test_what_is_stored_of_a_run_is_enough_to_go_on_with_it(tmp_path: Path, choices: dict[str, Any]) -> None:
    with begun(replace(SETUP, **choices), tmp_path) as run:
        setup = RunSetup.going_on_with(run)
        assert key_of(setup, resumed=run) == run.identity.key
        assert setup.resumes == run.id


def test_a_run_whose_examples_are_not_known_is_not_gone_on_with(tmp_path: Path) -> None:
    with begun(replace(SETUP, examples_path=demo_dataset(), shots=1), tmp_path) as run:
        with pytest.raises(SetupError, match="labelled examples, whose file is not recorded in the store"):
            RunSetup.going_on_with(run)
        with pytest.raises(SetupError, match="cannot be resumed: all its 4 items are judged"):
            RunSetup.going_on_with(replace(run, judged=4))


DRAWN = replace(SETUP, items=None, sample=ItemSample(12, 3))


def test_drawn_items_are_a_run_that_says_how_they_were_drawn() -> None:
    made = prepared(DRAWN)
    identity = made.plan.identity()
    assert identity.chosen == tuple(made.plan.dataset.ids)
    assert identity.sample == DRAWN.sample
    assert identity.dataset_in_words == "12 items of demo.tsv at random, seed 3"
    assert made.notices == ("demo.tsv: 12 of 240 items are sampled at random, seed 3.",)
    assert key_of(replace(DRAWN, sample=ItemSample(12, 4))) != identity.key
    listed = prepared(replace(SETUP, items=None, ids=identity.chosen)).plan.identity()
    assert (listed.key, listed.sample) == (identity.key, None)  # the same items are the same run


def test_a_run_of_drawn_items_goes_on_with_these_where_its_file_has_grown(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    lines = demo_dataset().read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:101]))
    setup = replace(DRAWN, dataset_path=path)
    with begun(setup, tmp_path) as run:
        path.write_bytes(b"".join(lines))
        assert key_of(setup) != run.identity.key
        for again in (setup, RunSetup.going_on_with(run)):
            now = prepared(again, resumed=run).plan.identity()
            assert (now.key, now.sample) == (run.identity.key, DRAWN.sample)
        with pytest.raises(SetupError, match="Changed since its start: the items of"):
            prepared(replace(setup, sample=ItemSample(12, 4)), resumed=run)


def test_the_first_items_of_a_sorted_file_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "sorted.tsv"
    head, *lines = demo_dataset().read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([head, *sorted(lines, key=lambda line: line.split(b"\t")[-2])]))
    setup = replace(SETUP, dataset_path=path, items=40)
    (notice,) = prepared(setup).notices
    assert "sorted.tsv seems to be sorted: overall quality is A in 100.0 %" in OPTIONS.of(notice)
    assert prepared(replace(setup, items=None)).notices == ()


def test_a_file_that_changed_at_hand_is_read_again_for_a_resumed_run(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    whole = demo_dataset().read_bytes()
    path.write_bytes(whole.replace(b"\n1\t", b"\n1000\t"))
    setup, other = replace(SETUP, dataset_path=path), load_dataset(path)
    path.write_bytes(whole)
    with begun(setup, tmp_path) as run:
        assert key_of(setup, current=other, resumed=run) == run.identity.key
        assert prepared(setup, current=other).plan.dataset.ids[0] == "1000"


@pytest.mark.parametrize(
    ("setup", "change", "said"),
    [
        (SETUP, {"shorten": True}, "the shortened responses"),
        (CHOSEN, {"ids": ("3", "17", "21")}, "Changed since its start: the items of demo.tsv."),
    ],
)
def test_a_plan_that_would_not_go_on_with_a_run_is_refused(
    tmp_path: Path, setup: RunSetup, change: dict[str, Any], said: str
) -> None:
    # Whatever its model was called when it began.
    began = replace(prepared(setup).plan.identity(), model_name="the name in its header")
    with RunStore(tmp_path / "runs.sqlite") as store, store.begin(began) as run:
        assert key_of(setup, resumed=run) == run.identity.key
        with pytest.raises(SetupError, match="cannot be resumed") as caught:
            prepared(replace(setup, **change), resumed=run)
    assert said in caught.value.problem


@needs_links
def test_a_run_remembers_its_model_by_the_name_of_a_link_to_it(tmp_path: Path) -> None:
    link = tmp_path / "SmolLM2-135M-Instruct-Q4_K_M.gguf"
    link.symlink_to(demo_model())
    identity = prepared(replace(SETUP, model_path=link)).plan.identity()
    assert (identity.model_name, identity.model_path) == (link.stem, tmp_path.resolve() / link.name)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"criteria": ()}, "criteria are missing"),
        ({"criteria": ("beauty",)}, "beauty"),
        ({"dataset_path": Path("gone.tsv")}, "gone.tsv"),
        ({"model_path": Path("gone.gguf")}, "gone.gguf"),
        ({"examples_path": Path("few.tsv")}, "few.tsv"),
        ({"calibration_path": Path("gone.json")}, "gone.json"),
        ({"context": 0}, "The context is 0"),
        ({"threads": 0}, "The number of threads is 0"),
        ({"gpu_layers": -1}, "The number of GPU layers is -1"),
        ({"examples_path": demo_dataset(), "shots": 0}, "The number of examples is 0"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_model_check(wrong: dict[str, Any], problem: str) -> None:
    received: list[object] = []
    with pytest.raises(SetupError) as caught:
        followed(prepare_run(replace(SETUP, **wrong), CancelToken()), received.append)
    assert problem in caught.value.problem
    assert not any(isinstance(event, Preparing) for event in received)


def test_the_making_of_a_plan_can_be_stopped() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        followed(prepare_run(SETUP, cancel))


# What makes two runs the same, and what does not


@pytest.mark.parametrize(
    "change",
    [
        {"settings": replace(SETTINGS, shorten=True)},
        {"settings": replace(SETTINGS, kv_type=KvType.Q8_0)},
        {"settings": replace(SETTINGS, second_order_below=0.5)},
        {"rubric": ELOQUENT.only(("safety",))},
        {"model": CheckedModel(Path("m"), "m", "another hash", 1, 1)},
        {"dataset": load_dataset(SAMPLE).head(4)},
        {"machine": MachineSettings(1, 9, device=Device("Vulkan0", "Card", "Vulkan", DeviceKind.GPU))},
    ],
    ids=["settings", "cache", "orders", "rubric", "model", "dataset", "device"],
)
def test_what_can_change_the_result_makes_another_run_and_nothing_else_does(
    make_plan: MakePlan, change: dict[str, Any]
) -> None:
    plan = make_plan()
    assert replace(plan, **change).identity().key != plan.identity().key
    labels = make_plan(mode=Mode.LABELS)
    for counts_not in ({"seed": 1}, {"temperature": 0.5}, {"max_explanation_tokens": 5}):
        assert make_plan(mode=Mode.LABELS, **counts_not).identity().key == labels.identity().key
    faster = replace(plan, machine=MachineSettings(threads=2, gpu_layers=0))
    assert {faster.identity().key, make_plan(seed=1).identity().key} == {plan.identity().key}
