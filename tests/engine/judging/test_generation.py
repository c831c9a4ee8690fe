"""Responses of a candidate model, by the real llama.cpp: the same bytes whatever happens meanwhile."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress, followed
from engine.data.outputs import CandidatePrompt
from engine.judging.generation import (
    GenerationPlan,
    GenerationSettings,
    finished,
    size_by_vocabulary,
    write_responses,
)
from engine.settings.rows import MachineSettings
from engine.system.paths import demo_model
from tests.steps import untried

PROMPTS = tuple(CandidatePrompt(f"p{number}", f"What is {number} plus {number}?") for number in range(7))


def plan_of(folder: Path, model: Path | None = None, **settings: float | bool) -> GenerationPlan:
    asked = GenerationSettings(**{"max_tokens": 12, "at_once": 3, **settings})  # type: ignore[arg-type]
    return GenerationPlan(
        untried(model or demo_model()), PROMPTS, asked, MachineSettings(1), folder / "out.jsonl"
    )


def rows(plan: GenerationPlan) -> list[dict[str, object]]:
    return [json.loads(line) for line in plan.out.read_bytes().splitlines()]


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_what_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path, temperature: float) -> None:
    whole, stopped = (
        plan_of(tmp_path / name, temperature=temperature, top_p=0.9) for name in ("whole", "stopped")
    )
    for plan in (whole, stopped):
        plan.out.parent.mkdir()
    followed(write_responses(CancelToken(), whole))
    cancel = CancelToken()

    def stop(event: object) -> None:
        if isinstance(event, MeasureProgress) and event.done == 3:
            cancel.cancel()

    with pytest.raises(Cancelled):
        followed(write_responses(cancel, stopped), stop)
    assert not stopped.out.exists()
    with stopped.part.open("ab") as part:
        part.write(b'{"id": "p3", "outp')  # as it is where the computer goes off while it writes
    begun: list[int] = []
    written = followed(
        write_responses(CancelToken(), stopped),
        lambda event: begun.append(event.done) if isinstance(event, MeasureProgress) else None,
    )
    assert begun[0] == 3  # nothing that was complete is written again
    assert stopped.out.read_bytes() == whole.out.read_bytes()
    assert (written.count, stopped.part.exists()) == (7, False)
    assert finished(stopped) == written


def test_each_row_says_what_it_was_written_by(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    written = followed(write_responses(CancelToken(), plan))
    assert [row["id"] for row in rows(plan)] == [prompt.id for prompt in PROMPTS]
    first = rows(plan)[0]
    assert first["generator"] == plan.model.name
    noted = first["generated_with"]
    assert isinstance(noted, dict)
    assert (noted["model_sha256"], noted["temperature"], "seed" in noted) == (plan.model.hash, 0, False)
    assert set(written.cut) == {row["id"] for row in rows(plan) if row["cut"]}
    assert sum(int(str(row["tokens"])) for row in rows(plan)) == written.tokens


def test_another_request_does_not_go_on_nor_overwrite(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    followed(write_responses(CancelToken(), plan))
    with pytest.raises(SetupError, match="there already"):
        finished(replace(plan, settings=replace(plan.settings, max_tokens=13)))
    plan.out.rename(plan.part)
    with pytest.raises(SetupError, match="begun with other"):
        followed(write_responses(CancelToken(), plan))


def test_a_seed_samples_and_each_prompt_has_its_own(tmp_path: Path) -> None:
    texts = []
    for number, seed in enumerate((1, 1, 2)):
        plan = plan_of(tmp_path / str(number), temperature=1.5, seed=seed)
        plan.out.parent.mkdir()
        followed(write_responses(CancelToken(), plan))
        texts.append([row["output"] for row in rows(plan)])
    assert texts[0] == texts[1] != texts[2]


def test_a_prompt_without_room_for_a_response_is_named_before(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    plan = replace(plan, prompts=(*PROMPTS, CandidatePrompt("long", "word " * 20_000)))
    with pytest.raises(SetupError, match="after the prompts long"):
        size_by_vocabulary(plan, CancelToken())


def test_the_system_message_is_read_only_where_a_prompt_has_one(
    small_model: Callable[[str], Path], tmp_path: Path
) -> None:
    plan = plan_of(tmp_path, small_model("chatml"))
    asked = replace(
        plan, prompts=(CandidatePrompt("plain", "Hi"), CandidatePrompt("told", "Hi", system="Be brief."))
    )
    plain, told = size_by_vocabulary(asked, CancelToken()).asked
    assert len(plain.tokens) < len(told.tokens)


def test_control_tokens_that_a_model_writes_are_shown_and_named(
    small_model: Callable[[str], Path], tmp_path: Path
) -> None:
    plan = plan_of(tmp_path, small_model("chatml"), temperature=9.0, max_tokens=200)
    written = followed(write_responses(CancelToken(), plan))
    holds = {row["id"] for row in rows(plan) if "<|im_start|>" in str(row["output"])}
    assert holds
    assert holds <= set(written.marked)
