"""`judge --escalate`: what a second model judges, what is put together, killed and begun again; a plan."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.annotations.records import new_override
from engine.core.items import Preference
from engine.data.submission import read_submission
from engine.results.run_results import RunResults, submission_of
from engine.results.trust import KeptThreshold, KeptTrust
from engine.store.run_store import RunStore
from tests.commands import ended, facts, printed, refusal, run_here, start, wait_until
from tests.steps import results_of

CRITERIA = ("relevance", "naturalness", "truthfulness", "safety", "overall_quality")
BELOW = 0.9


@pytest.fixture
def words(demo_copy: Path, tried_model: Callable[[str], Path]) -> list[object]:
    """What escalates run 1 of `demo_copy` to a model with random weights."""
    machine = ["--mode", "labels", "--threads", 1, "--store", demo_copy]
    return ["judge", "--escalate", 1, "--model", tried_model("chatml"), *machine]


def stored(store: Path, run_id: int) -> RunResults:
    return results_of(store, run_id)


def keep(store: Path, **confidence: float | None) -> None:
    """Thresholds with run 1, as `trust --keep` does; none of a criterion: nothing of it may stand."""
    criteria = {name: KeptThreshold(confidence=each) for name, each in confidence.items()}
    made = KeptTrust(target=0.85, risk=0.1, dataset="gold.tsv", calibration=None, criteria=criteria)
    with RunStore(store) as opened:
        made.keep(opened, 1)


def test_only_what_may_not_stand_is_judged_again_and_both_are_one_run(
    words: list[object], demo_copy: Path, demo_gold: Path, tmp_path: Path
) -> None:
    with RunStore(demo_copy) as store:  # which changes nothing
        store.annotate(1, new_override("1", "safety", Preference.BOTH_BAD, None, author="Ada"))
    keep(demo_copy, **dict.fromkeys(CRITERIA, BELOW))
    out, again = tmp_path / "out.tsv", tmp_path / "again.tsv"
    done = ended(*words, "--out", out, "--name", "together")
    assert re.search(  # the whole dataset, though the second model judged a part
        "^Cascade 3 “together”: [^ ]+, demo-judge, else [^ ]+, together: run 1, else run 2 below 0.9",
        done.stdout,
        re.MULTILINE,
    )
    first, second, both = (stored(demo_copy, run_id) for run_id in (1, 2, 3))
    first = first.model_alone()
    sure = {
        each.key: max(first.probabilities(each) or (0.0,))
        for name in CRITERIA
        for each in first.judgments[name]
    }
    reached = {key.item_id for key, own in sure.items() if own < BELOW}
    assert 0 < len(reached) < len(first.judged)
    assert {item.item_id for item in second.judged} == reached
    own = {each.key: second.label(each) for name in CRITERIA for each in second.judgments[name]}
    for name in CRITERIA:
        for before, now in zip(first.judgments[name], both.judgments[name], strict=True):
            stands = sure[now.key] >= BELOW
            assert both.label(now) is (first.label(before) if stands else own[now.key])
    assert read_submission(out).rows == submission_of(both).rows
    # The same command judges nothing more, and finds what it made.
    ended(*words, "--out", again)
    assert again.read_bytes() == out.read_bytes()
    with RunStore(demo_copy) as store:
        assert [run.name for run in store.runs()] == ["", "escalated from run 1", "together"]
    said = printed("trust", 3, "--gold", demo_gold, "--target", 0.5, "--store", demo_copy)
    assert "cascade 3" in said
    assert "may stand" in said


def test_a_killed_escalation_goes_on_to_the_same_submission(
    words: list[object], demo_copy: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole.sqlite", tmp_path / "out.tsv"
    whole.write_bytes(demo_copy.read_bytes())
    ended(*words[:-1], whole, "--below", 1, "--out", tmp_path / "whole.tsv")

    def judged() -> int:
        with closing(sqlite3.connect(demo_copy)) as db:
            return int(db.execute("SELECT count(*) FROM judged_item WHERE run_id = 2").fetchone()[0])

    child = start(*words, "--below", 1, "--out", out)
    wait_until(lambda: judged() >= 2, child)
    child.kill()
    child.communicate()
    with RunStore(demo_copy) as store:
        assert [run.complete for run in store.runs()] == [True, False]
    ended(*words, "--below", 1, "--out", out)
    assert out.read_bytes() == (tmp_path / "whole.tsv").read_bytes()


def test_a_plan_says_what_each_model_costs(words: list[object], demo_copy: Path) -> None:
    keep(demo_copy, **dict.fromkeys(CRITERIA, BELOW))
    done = printed(*words, "--plan")
    plan = facts(done)
    small, large = (said for name, said in plan.items() if name.endswith(" only"))
    together = plan["cascade"]
    read = [int(each.split(", ", 1)[1].split(" ")[0].replace(",", "")) for each in (small, large, together)]
    assert all(each.startswith("30 items, ") for each in (small, large, together))
    part = int(plan["tokens"].split(" ")[0].replace(",", ""))
    assert read[2] == read[0] + part
    assert part < read[1]
    with RunStore(demo_copy) as store:
        assert len(store.runs()) == 1


def test_below_may_be_by_criterion_and_only_some_criteria_be_put_together(
    words: list[object], demo_copy: Path, tmp_path: Path
) -> None:
    some = ["--criteria", "safety,truthfulness", "--below", "safety=0.5,truthfulness=.9"]
    done = run_here(*words, *some, "--out", tmp_path / "out.tsv")
    assert "below 0.9 on truthfulness, below 0.5 on safety" in done.stdout
    assert list(stored(demo_copy, 3).judgments) == ["truthfulness", "safety"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], "Which labels of run 1 may stand is not known"),
        (["--below", "0"], "All labels of run 1 may stand"),
        (["--below", "much"], "--below is 'much'"),
        (["--below", "safety=.8"], "--below is 'safety=.8'"),
        (["--below", "nan"], "--below is 'nan'"),
        (["--below", ".8", "--items", 3], "--items would choose other items"),
        (["--below", ".8", "--regression-check", 1], "--regression-check would choose other items"),
    ],
)
def test_what_cannot_be_escalated_says_why(
    words: list[object], tmp_path: Path, options: list[object], found: str
) -> None:
    assert found in refusal(*words, *options, "--out", tmp_path / "out.tsv")


def test_below_is_for_a_run(demo_gold: Path, tmp_path: Path) -> None:
    said = refusal("judge", demo_gold, "--model", "demo", "--below", 0.8, "--out", tmp_path / "out.tsv")
    assert "Name it: --escalate" in said
