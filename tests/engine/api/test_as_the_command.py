"""What `judge` can be told, a Judge and its runs can: no option is forgotten, and each means the same."""

import argparse
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pandas as pd
import pytest

import tiebreak
from engine.api.refused import with_notices
from engine.core.events import CancelToken
from engine.operations.judge import prepare
from engine.settings.rows import Surface, rows_on
from main import parser_of
from tests.commands import printed

pytestmark = pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")
ELSEWHERE = {
    **{"dataset": "data", "out": "run.submission", "json": "run.json", "plan": "judge.plan"},
    **dict.fromkeys(("columns", "labels", "save_columns", "skip_bad_rows"), "tiebreak.read"),
    **dict.fromkeys(("cluster", "task_items", "mixed_builds", "certificates", "plain_tcp"), "the command"),
}
"""Options of `judge` that are no parameters of a Judge or of its runs, and what there is instead."""


OPTION = {"methods": "method"}
"""Options by the names of parameters that have other ones."""


def options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {action.dest: action for action in parser._actions if action.dest != "help"}


def annotations() -> dict[str, Any]:
    """Of the parameters of a Judge and of its runs, by name."""
    of_run = inspect.signature(tiebreak.Judge.run).parameters
    return {
        **{each.name: each.type for each in fields(tiebreak.Judge)},
        **{name: of_run[name].annotation for name in of_run if name not in {"self", "data", "progress"}},
    }


def test_every_option_of_judge_is_a_parameter() -> None:
    options, parameters = set(options_of(parser_of("judge"))), set(annotations())
    parameters = {OPTION.get(name, name) for name in parameters}
    assert options - parameters == set(ELSEWHERE)
    assert parameters <= options


def test_every_setting_that_a_person_chooses_is_a_parameter() -> None:
    offered = {row.name for row in rows_on(Surface.API)}
    assert offered == {row.name for row in rows_on(Surface.JUDGE) if row.help}
    assert offered <= {each.name for each in fields(tiebreak.Judge)}


def choices(annotation: Any) -> list[str] | None:
    found = [each for each in (annotation, *get_args(annotation)) if get_origin(each) is Literal]
    return list(get_args(found[0])) if found else None


def test_a_parameter_takes_the_words_of_its_option() -> None:
    options = options_of(parser_of("judge"))
    for name, annotation in annotations().items():
        assert (choices(annotation) or None) == (options[OPTION.get(name, name)].choices or None), name


def test_the_tools_and_models_of_the_commands_are_those_of_a_run() -> None:
    actions = next(action for action in parser_of("runs")._actions if isinstance(action.choices, dict))
    assert isinstance(actions.choices, dict)
    known = options_of(actions.choices["export"])["tool"].choices
    of_export = inspect.signature(tiebreak.Run.export).parameters
    assert choices(of_export["tool"].annotation) == list(known or ())
    needs_models = {"encoder", "judge_model", "threads"}
    assert needs_models <= set(inspect.signature(tiebreak.Run.evaluate).parameters)
    assert needs_models <= set(options_of(parser_of("evaluate")))


@contextmanager
def notices() -> Iterator[list[str]]:
    said: list[str] = []
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        yield said
    said += [str(each.message) for each in met]


@pytest.fixture
def comparisons(demo_gold: Path) -> pd.DataFrame:
    """Items of which `good` wrote each better response; of ties it wrote A."""
    rows = tiebreak.read(demo_gold)
    is_b = rows["overall_quality_preference"] == "B"
    named: Mapping[str, Any] = {
        "candidate_a": is_b.map({True: "poor", False: "good"}),
        "candidate_b": is_b.map({True: "good", False: "poor"}),
    }
    return rows.assign(**named)


@pytest.mark.slow
def test_it_stops_once_it_is_sure_and_goes_on_as_the_command_does(
    judge: tiebreak.Judge, comparisons: pd.DataFrame, tmp_path: Path
) -> None:
    asked = replace(judge, criteria="overall_quality")
    with notices() as said:
        run = asked.run(comparisons, until="significant", progress=False)
    assert not run.complete
    assert any("the run stopped there" in text and "poor is worse than good" in text for text in said)
    assert not any("not judged yet" in text for text in said)
    path, out = tmp_path / "contests.parquet", tmp_path / "out.tsv"
    comparisons.to_parquet(path)
    words: list[object] = ["--model", "demo", "--mode", "labels", "--criteria", "overall_quality"]
    words += ["--context", 4096, "--threads", 1, "--store", judge.store]
    printed("judge", path, *words, "--until", "significant", "--out", out)
    assert out.read_bytes() == run.submission(tmp_path / "by_call.tsv").read_bytes()
    with pytest.raises(tiebreak.Refused, match="'soon' is no stopping rule"):
        asked.run(comparisons, until="soon", progress=False)  # type: ignore[arg-type]
    assert asked.run(comparisons, until=0.2, progress=False).complete
    assert tiebreak.Run(1, judge.store).complete


@pytest.mark.slow
def test_items_of_an_earlier_run_are_judged_again_and_what_changed_is_told(
    judge: tiebreak.Judge, demo_gold: Path
) -> None:
    frame = tiebreak.read(demo_gold)
    of_two = replace(judge, criteria=["safety", "relevance"])
    first = of_two.run(frame.filter(regex="^(id|instruction|output_.)$"), items=8, progress=False)
    again = tiebreak.Judge(None, threads=1, store=judge.store)
    with notices() as said:
        run = again.run(regression_check=1, items=5, gold=frame.head(8), progress=False)
    assert (run.id, run.name, len(run.labels)) == (2, "regression check of run 1", 5)
    assert list(run.labels) == ["relevance", "safety"]
    assert not any("human label" in text for text in said)
    drift = first.drift(run)
    assert drift["drift"]["changed"].fillna(0).sum() == 0
    assert drift["drift"].equals(first.drift(2, gold=frame)["drift"])
    assert drift["accuracy_then_and_now"]["items"].tolist()[:2] == [5, 5]
    assert run.evaluate()["items"].tolist()[:-1] == [5, 5]
    of_one = replace(again, criteria="relevance").run(regression_check=1, items=5, progress=False)
    assert first.drift(of_one)["drift"]["distance_again"].notna().all()  # how far rounding goes
    assert again.plan(regression_check=1, items=3).items == 3
    with pytest.raises(tiebreak.Refused, match=r"^gold names human labels for a regression check"):
        of_two.run(frame, gold=frame)
    with pytest.raises(tiebreak.Refused, match="The data are of the type NoneType"):
        of_two.run()
    with pytest.raises(tiebreak.Refused, match="no run 9"):
        again.run(regression_check=9)


@pytest.mark.slow
def test_what_may_not_stand_is_judged_by_another_judge_and_both_are_one_run(
    judge: tiebreak.Judge, demo_gold: Path, small_model: Callable[[str], Path], tmp_path: Path
) -> None:
    first = replace(judge, criteria="truthfulness,safety").run(demo_gold, progress=False)
    other = tiebreak.Judge(small_model("chatml"), threads=1, store=judge.store)
    plan = other.plan(escalate=1, below=0.9)
    assert plan.facts["fact"].tolist()[-3:][::2] == ["run 1 only", "cascade"]
    by_criterion = {"truthfulness": 0.9, "safety": 0}
    cascade = other.run(escalate=1, below=by_criterion, progress=False, name="both")
    assert (cascade.id, cascade.name, len(cascade.labels)) == (3, "both", len(first.labels))
    assert tiebreak.Run(2, judge.store).complete
    assert cascade.labels["safety"].equals(first.labels["safety"])
    assert plan.items == len(tiebreak.Run(2, judge.store).labels)
    out = tmp_path / "by_command.tsv"
    words = ("--escalate", 1, "--below", "truthfulness=0.9,safety=0", "--model", small_model("chatml"))
    printed("judge", *words, "--threads", 1, "--store", judge.store, "--out", out)
    assert out.read_bytes() == cascade.submission(tmp_path / "by_call.tsv").read_bytes()
    with pytest.raises(tiebreak.Refused, match="below is"):
        other.run(escalate=1, below=2)


@pytest.mark.slow
def test_a_sample_is_drawn_evenly_and_a_margin_is_learned(judge: tiebreak.Judge, demo_gold: Path) -> None:
    asked = replace(judge, criteria="safety")
    run = asked.run(demo_gold, sample=20, sample_by="safety_preference", progress=False)
    by_label = tiebreak.read(demo_gold).set_index("id")["safety_preference"]
    assert by_label[run.labels.index].value_counts().tolist() == [6, 6, 6, 2]
    assert asked.plan(demo_gold, sample=4, sample_by="safety_preference").items == 4
    with pytest.raises(tiebreak.Refused, match="needs the number of items"):
        asked.run(demo_gold, sample_by="safety_preference")
    learned = replace(asked, orders="uncertain", margin_threshold_from=1)
    with notices() as said:
        learned.run(demo_gold, items=2, progress=False)
    assert any("learned from 20 items of run 1" in text for text in said)


def test_the_longest_thought_is_that_of_the_judge(judge: tiebreak.Judge, demo_gold: Path) -> None:
    reasons = replace(judge, methods="chain-of-thought", max_reasoning_tokens=7)
    made = with_notices(prepare(reasons._request(demo_gold), CancelToken()))
    assert made.plan.settings.max_reasoning_tokens == 7
