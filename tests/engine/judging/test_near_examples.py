"""Runs that show each item the labelled examples nearest to it: counted, resumed, shortened as others are."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.events import CancelToken, followed
from engine.core.items import Item, Method, Order
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.item_prompt import (
    OnePrompt,
    PromptFacts,
    question_of_run,
    question_of_setup,
    shown_prompts,
)
from engine.judging.plan import RunPlan
from engine.judging.prepare import prepare_run
from engine.llama.model import common_prefix
from engine.prompt.examples import ExamplePool, choose_examples
from engine.prompt.tokens import PromptSizer
from engine.settings.rows import ExampleKind, JudgeSettings, Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset, demo_model
from tests.engine.judging.runs import counted, counts_and_resumes, judged_until
from tests.judged import with_texts
from tests.steps import plan_with, template_of, there

DEMO = load_dataset(demo_dataset())
LABELS = JudgeSettings(mode=Mode.LABELS, context=4096)
EXPLAIN = JudgeSettings(context=4096, max_explanation_tokens=6)


def near(shots: int, dataset: Dataset = DEMO) -> ExamplePool:
    return choose_examples(dataset, ELOQUENT, shots, ExampleKind.NEAR)


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Five items; the first two and the next two answer one instruction each, which the demo has, too."""
    items = [DEMO[place] for place in range(5)]
    asked = [items[place].instruction for place in (0, 0, 2, 2, 4)]
    lines = ["id\tinstruction\toutput_a\toutput_b"]
    for item, instruction in zip(items, asked, strict=True):
        lines.append("\t".join([item.id, instruction, item.output_a, item.output_b]))
    path = tmp_path_factory.mktemp("series") / "series.tsv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return load_dataset(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        (None, LABELS),
        (None, replace(LABELS, orders=(Order.AB,), methods=(Method.LABEL_TOKENS, Method.POINTWISE_YES_NO))),
        (None, replace(EXPLAIN, items_at_once=2)),
        ("mamba", replace(EXPLAIN, context=8192, items_at_once=2)),
    ],
    ids=["labels", "two ways in one order", "two at once", "recurrent, two at once"],
)
def test_a_plan_counts_what_is_read_and_a_resumed_run_is_the_unbroken_one(
    small_model: Callable[[str], Path],
    tmp_path: Path,
    series: Dataset,
    family: str | None,
    settings: JudgeSettings,
) -> None:
    model = small_model(family) if family else demo_model()
    plan = replace(plan_with(model, series, settings), examples=near(1))
    assert all(item.raw_predictions for item in counts_and_resumes(plan, tmp_path))


def test_neighbours_of_one_instruction_share_their_examples(series: Dataset, tmp_path: Path) -> None:
    """They are read once for both, as the instruction is."""
    plan = replace(plan_with(demo_model(), series.head(2), LABELS), examples=near(2))
    items, _ = judged_until(plan, tmp_path / "runs.sqlite")
    assert items[1].tokens_read < 0.7 * items[0].tokens_read


def test_the_nearest_are_another_run_than_the_same_for_all(tmp_path: Path) -> None:
    plan = plan_with(demo_model(), DEMO.head(1), LABELS)
    same = replace(plan, examples=choose_examples(DEMO, ELOQUENT, 2))
    own = replace(plan, examples=near(2))
    assert len({each.identity().key for each in (plan, same, own)}) == 3
    raw_predictions = [
        [item.raw_predictions for item in judged_until(each, tmp_path / f"{number}.sqlite")[0]]
        for number, each in enumerate((plan, same, own))
    ]
    assert raw_predictions[1] != raw_predictions[2]
    assert raw_predictions[0] != raw_predictions[2]


def test_what_all_prompts_begin_with_holds_no_example() -> None:
    """Also where whatever stands for any item would be shown the same ones."""
    plain = [item for item in DEMO if not {"a", "z"} & set(item.instruction.casefold().split())]
    pool = choose_examples(plain, ELOQUENT, 2, ExampleKind.NEAR)
    with template_of(demo_model()) as (_, template):
        sizer = PromptSizer(template, ELOQUENT, LABELS, pool, lambda: None)
        trunks = [sizer.sized(item, item).tokens[Order.AB].trunk for item in DEMO.head(5)]
    assert {trunk[: len(sizer.stem)] for trunk in trunks} == {sizer.stem}
    assert len(sizer.stem) in range(common_prefix(trunks) - 3, common_prefix(trunks) + 1)


LONG = Item("long", "Which is longest?", "a" * 3000, "b" * 3000, DEMO[0].gold)


def test_an_item_whose_examples_are_too_long_is_unscored_and_says_why(tmp_path: Path) -> None:
    """The others are judged: what fills the context is no part of what all prompts begin with."""
    pool = near(1)
    first = DEMO[0]
    long = replace(LONG, instruction=f"{first.instruction} {first.instruction}")
    plan = plan_with(demo_model(), DEMO.head(3), replace(LABELS, context=1024))
    plan = replace(plan, examples=replace(pool, ranked=(long, *pool.ranked)))
    now = counted(plan)
    items, tokens = judged_until(plan, tmp_path / "runs.sqlite")
    assert [bool(item.unscored) for item in items] == [True, False, False]
    assert "tokens with its labelled examples, the context holds 1,024" in items[0].unscored["safety"]
    assert (now.too_long, now.tokens_to_read) == ((first.id,), tokens)


def test_an_item_is_shortened_beside_its_examples(tmp_path: Path) -> None:
    long = with_texts(DEMO.head(1), output_a=" ".join([DEMO[0].output_a] * 30))
    settings = replace(LABELS, context=1024, shorten=True)
    plan = replace(plan_with(demo_model(), long, settings), examples=near(2))
    items, _ = judged_until(plan, tmp_path / "runs.sqlite")
    assert items[0].raw_predictions
    assert there(items[0].shortening).left_out_b == 0
    assert counted(plan).shortened == (DEMO.ids[0],)


def setup(**changes: object) -> RunSetup:
    default = RunSetup(
        demo_dataset(),
        demo_model(),
        items=2,
        mode=Mode.LABELS,
        examples_path=demo_dataset(),
        shots=2,
        example_choice=ExampleKind.NEAR,
        threads=1,
    )
    return replace(default, **changes)  # type: ignore[arg-type]


def prepared(asked: RunSetup) -> RunPlan:
    return followed(prepare_run(asked, CancelToken())).plan


@pytest.mark.usefixtures("demo_tried")
def test_a_stored_run_shows_again_what_it_showed(tmp_path: Path) -> None:
    plan = prepared(setup())
    assert plan.examples == near(2)
    judged_until(plan, tmp_path / "runs.sqlite")
    with RunStore(tmp_path / "runs.sqlite") as store:
        run = store.run(1)
    item = DEMO[1]
    asked = question_of_run(run, setup(), item, CancelToken())
    assert asked.notes == ()
    prompts = [
        list(shown_prompts(question, ("safety", Order.BA), CancelToken()))
        for question in (asked, question_of_setup(setup(), item, CancelToken()))
    ]
    assert prompts[0] == prompts[1]
    facts, one, *_ = prompts[0]
    assert isinstance(facts, PromptFacts)
    assert isinstance(one, OnePrompt)
    shown = [near(2).for_item(item)[0], near(1).for_item(item)[0], item]
    places = [one.preview.text.index(each.instruction) for each in shown]
    assert places == sorted(places)
    # The stem holds no example: each item has its own.
    assert one.preview.tokens[one.preview.stem].start <= places[0]
    other = question_of_run(run, setup(example_choice=ExampleKind.FIXED), item, CancelToken())
    assert ["number and selection of examples" in note for note in other.notes] == [True]
