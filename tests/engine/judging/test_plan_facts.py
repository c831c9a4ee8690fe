"""What a plan says: the same facts for the command line and the window."""

from dataclasses import replace

import pytest

from engine.core.items import Method
from engine.judging.forecast import Forecast, Rate, SecondShare
from engine.judging.work import plan_facts
from engine.models.model_file import read_model_file
from engine.settings.rows import JudgeSettings
from engine.system.computer import Memory
from engine.system.paths import demo_model

PLAN = Forecast(
    items=20,
    criteria=5,
    orders=2,
    settings=JudgeSettings(context=4096),
    tokens_to_read=7162,
    tokens_to_write_at_most=12_000,
    too_long=(),
    shortened=(),
    largest=("9", 964),
    context_that_fits_all=1024,
    template_note="",
    judged=0,
    run_id=None,
    tokens_left_to_read=7162,
    texts_left=100,
)
BEGUN = replace(PLAN, judged=12, run_id=3)
UNCERTAIN = replace(PLAN.settings, second_order_below=0.5)


def facts(forecast: Forecast, memory: Memory | None = None) -> dict[str, str]:
    return dict(plan_facts(forecast, read_model_file(demo_model()), memory).pairs)


def test_a_plan_says_readings_tokens_and_the_memory_that_it_needs() -> None:
    found = facts(PLAN, Memory(available=8 << 30, total=16 << 30))
    assert list(found) == ["raw predictions", "too long", "tokens", "memory"]
    assert found["raw predictions"] == "20 items x 5 criteria x both orders = 200"
    assert found["tokens"] == "7,162 to read, at most 12,000 to write"
    assert found["memory"].startswith("about ")
    assert found["memory"].endswith(" MiB with 4,096 tokens of context; 8.0 GiB are free")
    assert facts(PLAN)["memory"].endswith(" of context")  # others judge: what is free here counts for nothing
    assert facts(replace(PLAN, tokens_to_write_at_most=0))["tokens"] == "7,162 to read"


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (
            SecondShare(1.0, None),
            "20 items x 5 criteria x both orders if uncertain = 200 at most; no run tells how many items"
            " have a margin below 0.5",
        ),
        (
            SecondShare(0.25, 7),
            "about 125: 20 items x 5 criteria, and the second order for 25.0 % of the items, as in run 7",
        ),
    ],
)
def test_a_second_order_in_doubt_is_counted_by_a_run_where_one_tells(second: SecondShare, said: str) -> None:
    assert facts(replace(PLAN, settings=UNCERTAIN, second=second))["raw predictions"] == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "none: every item fits. The largest, 9, needs 964 tokens of context."),
        (
            {"too_long": ("9",), "shortened": ("4", "5")},
            "1 of 20 items will be unscored: 9. 2 of 20 items will be shortened: 4, 5. The largest, 9, needs"
            " 964 tokens of context; 1,024 are enough.",
        ),
        (
            {"too_long": ("9",), "context_that_fits_all": None},
            "1 of 20 items will be unscored: 9. The largest, 9, needs 964 tokens of context; the model was"
            " trained with less.",
        ),
    ],
)
def test_what_is_too_long_is_named_with_the_context_that_it_needs(
    changes: dict[str, tuple[str, ...] | None], said: str
) -> None:
    assert facts(replace(PLAN, **changes))["too long"] == said  # type: ignore[arg-type]


def test_ways_are_told_where_there_are_several() -> None:
    settings = replace(
        PLAN.settings,
        methods=(Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT),
        reasoning_samples=2,
        max_reasoning_tokens=64,
    )
    asked = replace(PLAN, settings=settings, tokens_by_method={Method.LABEL_TOKENS: 1500}, too_long=("9",))
    assert facts(asked)["elicitation methods"] == (
        "tokens that their questions add to the items: label tokens 1,500, chain of thought 0; at most 380"
        " reasoning samples of 64"
        " tokens"
    )


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (BEGUN, "12 of 20 items are judged in run 3, which is resumed"),
        (replace(BEGUN, judged=20), "all 20 items are judged in run 3"),
        (replace(BEGUN, items=1, judged=1), "the item is judged in run 3"),
    ],
)
def test_what_the_store_holds_of_the_run_is_told(plan: Forecast, said: str) -> None:
    assert facts(plan)["in the store"] == said


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (PLAN, "not known before a run with this model and these settings"),
        (replace(BEGUN, judged=20), "nothing is left to judge"),
        (replace(PLAN, too_long=tuple(map(str, range(20)))), "no item fits: there is nothing to judge"),
        (PLAN.with_rate(Rate(0.01, 0, run_id=7)), "about 72 s, at the speed of run 7"),
        (
            BEGUN.with_rate(Rate(0.01, 0)),
            "about 72 s for the rest, at the speed of some items of typical length",
        ),
    ],
)
def test_the_time_is_told_with_what_it_is_reckoned_from(plan: Forecast, said: str) -> None:
    assert plan.time_in_words == said
