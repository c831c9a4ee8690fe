"""A judge in Python: its arguments, its runs, which are those of the command, and how they end."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest

import tiebreak
from engine.api.refused import with_notices
from engine.core.errors import ProcessEnded
from engine.core.events import CancelToken, followed
from engine.core.judgments import JudgedItem
from engine.judging.work import judge_plan
from engine.operations.judge import prepare
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from engine.system.subprocess_worker import SubprocessWorker
from tests import apart_works, commands

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")

# What a script does that is stopped, or ended, while it judges.
SCRIPT = """
import sys, warnings
import tiebreak
warnings.simplefilter("ignore")
judge = tiebreak.Judge(mode="labels", threads=1, context=4096, store=sys.argv[1])
try:
    judge.run(tiebreak.demo_dataset(), progress=False)
except KeyboardInterrupt as stopped:
    print(stopped)
    print("it lives:", tiebreak.runs(sys.argv[1]))
"""
LATEST = 120  # seconds: others use the computer, too


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mode": "label"}, "mode is 'label'.\nUse 'labels' or 'explain'."),
        ({"orders": "two"}, "orders is 'two'."),
        ({"kv_type": "q4"}, "kv_type is 'q4'."),
        ({"few_shot_selection": "far"}, "few_shot_selection is 'far'."),
        ({"methods": "letter"}, "There is no method 'letter'."),
        ({"methods": []}, "methods is []."),
        ({"criteria": "safety,"}, "criteria is 'safety,'."),
        ({"context": 10}, "The context is 10."),
        ({"context": "4096"}, "context is '4096'.\nUse a whole number."),
        ({"reasoning_samples": 1.5}, "reasoning_samples is 1.5.\nUse a whole number."),
        ({"temperature": 0.001}, "The temperature is 0.001."),
        ({"margin_threshold": 2}, "The margin threshold is 2.0."),
        ({"shorten": "no"}, "shorten is 'no'."),
        ({"threads": True}, "threads is True."),
        ({"threads": np.bool_(True)}, f"threads is {np.bool_(True)!r}."),
        ({"mode": np.array(["labels", "explain"])}, "mode is array("),
        ({"criteria": 5}, "criteria is 5.\nUse a list of names"),
        ({"criteria": ["safety", 5]}, "criteria is ['safety', 5]."),
        ({"examples": 5}, "examples is 5.\nUse a path"),
        ({"store": 5}, "store is 5."),
        ({"model": 5}, "model is 5."),
        ({"rubric": b"eloquent"}, "rubric is b'eloquent'."),
        ({"device": 5}, "device is 5.\nUse a text."),
    ],
)
def test_what_cannot_be_is_refused_at_once(given: dict[str, Any], said: str) -> None:
    with pytest.raises(tiebreak.Refused) as met:
        tiebreak.Judge(**given)
    assert said in str(met.value)


def test_a_judge_tells_what_was_given_and_cannot_be_changed() -> None:
    judge = tiebreak.Judge("smollm2", methods="label-tokens, permuted-labels", seed=3, criteria=["safety"])
    methods = "methods=('label-tokens', 'permuted-labels')"
    assert repr(judge) == f"Judge('smollm2', seed=3, criteria=('safety',), {methods})"
    assert replace(judge, seed=None) != judge
    assert hash(judge) == hash(replace(judge))
    with pytest.raises(FrozenInstanceError):
        judge.seed = 4  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "no-such-model"}, "no-such-model: there is no such file here"),
        ({"model": "nothing/here.gguf"}, "here.gguf"),
        ({"criteria": "humour"}, "Unknown criterion: humour."),
        ({"rubric": "no-such-rubric"}, "no-such-rubric"),
        ({"orders": "one", "margin_threshold": 0.5}, "has no effect with"),
        ({"few_shot": 2}, "has nothing to show"),
        ({"recipe": "nothing.json"}, "nothing.json"),
    ],
)
def test_what_is_not_there_is_refused_once_it_is_wanted(
    judge: tiebreak.Judge, demo_gold: Path, given: dict[str, Any], said: str
) -> None:
    asked = replace(judge, **given)
    with pytest.raises(tiebreak.Refused) as met:
        asked.run(demo_gold, progress=False)
    assert said in met.value.problem
    assert met.value.hint


def test_items_are_chosen_in_one_way(judge: tiebreak.Judge, demo_gold: Path) -> None:
    with pytest.raises(tiebreak.Refused, match="items and sample both choose the items"):
        judge.run(demo_gold, items=2, sample=2)
    with pytest.raises(tiebreak.Refused, match="lacks 1 chosen item: nobody"):
        judge.run(demo_gold, ids=["nobody"])
    with pytest.raises(tiebreak.Refused, match="ids is empty"):
        judge.run(demo_gold, ids=[])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ids": 5}, "ids is 5."),
        ({"ids": pd.DataFrame({"id": ["1"]})}, "ids is of the type DataFrame."),
        ({"ids": ["1", b"\xff"]}, "ids: byte 0xff"),
        ({"name": 5}, "name is 5."),
        ({"note": ["a"]}, "note is ['a']."),
    ],
)
def test_what_a_run_cannot_be_given_is_refused(
    judge: tiebreak.Judge, demo_gold: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(tiebreak.Refused) as met:
        judge.run(demo_gold, progress=False, **given)
    assert met.value.problem.startswith(said)


@pytest.mark.slow
def test_paths_may_begin_with_the_folder_of_the_user(
    judge: tiebreak.Judge, demo_gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.tsv").write_bytes(demo_gold.read_bytes())
    (tmp_path / "ids.txt").write_text(f"{tiebreak.read('~/items.tsv')['id'][1]}\n", encoding="utf-8")
    (tmp_path / "model.gguf").write_bytes(demo_model().read_bytes())
    asked = replace(judge, model="~/model.gguf", store="~/own.sqlite")
    run = asked.run("~/items.tsv", ids="~/ids.txt", progress=False)
    assert run == tiebreak.Run(1, tmp_path / "own.sqlite") == tiebreak.runs("~/own.sqlite")[0]
    assert run.dataset == tmp_path / "items.tsv"
    assert run.submission("~/said.tsv") == tmp_path / "said.tsv"
    assert len(run.evaluate("~/items.tsv", partial=True)) > 1
    assert not (tmp_path / "~").exists()


def judged(store: Path, run_id: int = 1) -> dict[str, JudgedItem]:
    with RunStore(store) as opened:
        return {item.item_id: item for item in opened.judged(run_id)}


def test_a_frame_gives_the_bytes_of_the_command_and_goes_on_with_its_run(
    judge: tiebreak.Judge, demo_gold: Path, tmp_path: Path
) -> None:
    store, out = Path(str(judge.store)), tmp_path / "by_command.tsv"
    words = ("judge", demo_gold, "--model", "demo", "--mode", "labels", "--context", 4096, "--threads", 1)
    ended = commands.run_here(*words, "--out", out, "--store", store, "--items", 6)
    assert ended.returncode == 0, ended.stderr
    frame = tiebreak.read(demo_gold).head(6)
    run = judge.run(frame, progress=False)
    assert run == tiebreak.Run(1, store)
    assert run.submission(tmp_path / "by_frame.tsv").read_bytes() == out.read_bytes()
    anew = judge.run(frame, progress=False, fresh=True)
    assert anew.id == 2
    assert anew.submission(tmp_path / "anew.tsv").read_bytes() == out.read_bytes()


@pytest.mark.slow
def test_the_command_goes_on_with_the_run_of_a_frame(
    judge: tiebreak.Judge, demo_gold: Path, tmp_path: Path
) -> None:
    run = judge.run(tiebreak.read(demo_gold).head(3), name="mine", note="by hand", progress=False)
    assert (run.name, run.complete) == ("mine", True)
    assert run.dataset.parent == tmp_path / "frames"
    before = judged(Path(str(judge.store)))
    words = ("judge", run.dataset, "--model", "demo", "--mode", "labels", "--context", 4096, "--threads", 1)
    ended = commands.run_here(*words, "--out", tmp_path / "out.tsv", "--store", judge.store)
    assert ended.returncode == 0, ended.stderr
    assert "complete in the store" in ended.stderr
    assert judged(Path(str(judge.store))) == before
    assert [each.id for each in tiebreak.runs(judge.store)] == [1]


@pytest.mark.slow
def test_ids_and_samples_are_judged_alone(judge: tiebreak.Judge, demo_gold: Path, tmp_path: Path) -> None:
    frame = tiebreak.read(demo_gold)
    by_list = judge.run(frame, ids=[5, "3"], progress=False)
    assert by_list.labels.index.tolist() == ["3", "5"]
    listed = tmp_path / "ids.txt"
    listed.write_text("5\n3\n", encoding="utf-8")
    assert judge.run(demo_gold, ids=listed, progress=False) == by_list
    assert len(judge.run(frame, sample=2, progress=False).labels) == 2


@pytest.mark.slow
def test_a_plan_says_what_a_run_takes_and_keeps_nothing(judge: tiebreak.Judge, demo_gold: Path) -> None:
    plan = judge.plan(tiebreak.read(demo_gold), items=4)
    assert plan.items == 4
    assert plan.tokens > 0
    assert plan.seconds is not None
    assert {"judges", "raw predictions", "tokens", "memory", "time"} <= set(plan.facts["fact"])
    assert repr(plan).startswith("<Plan: 4 items, ")
    assert not has_store(Path(str(judge.store)))
    assert not Path(str(judge.store)).with_name("frames").exists()


@pytest.mark.slow
def test_what_a_person_should_know_is_warned_of_and_the_bar_is_shown(
    judge: tiebreak.Judge, demo_gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = tiebreak.read(demo_gold).head(2)
    with pytest.warns(tiebreak.Notice) as warned:
        judge.run(frame.assign(remark="x"))
    said = [str(each.message) for each in warned]
    assert any("It knows only the small world" in text for text in said)
    assert "the frame: 1 other column is stored: 'remark'." in said
    assert {each.filename for each in warned} == {__file__}
    assert "2/2 items" in capsys.readouterr().err
    with pytest.warns(tiebreak.Notice):
        judge.run(frame, progress=False, fresh=True)
    assert not capsys.readouterr().err


@pytest.mark.slow
def test_without_a_stderr_a_run_is_judged_too(
    judge: tiebreak.Judge,
    demo_gold: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stderr", None)  # as in a service, and by pythonw
    assert replace(judge, criteria="safety").run(demo_gold, items=1, keep_awake="yes").complete
    assert not capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows needs no program for it")
def test_that_the_computer_cannot_be_kept_awake_is_told(
    judge: tiebreak.Judge,
    demo_gold: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    judge = replace(judge, criteria="safety")
    judge.run(demo_gold, items=1, progress=False, keep_awake="yes")
    assert "The computer may go to sleep" in capsys.readouterr().err
    judge.run(demo_gold, items=1, progress=False)
    assert "sleep" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_calibration_decides_the_next_run(judge: tiebreak.Judge, demo_gold: Path, tmp_path: Path) -> None:
    run = judge.run(demo_gold, progress=False)
    path = run.calibrate().save(tmp_path / "calibration.json")
    calibrated = replace(judge, calibration=path).run(demo_gold, progress=False)
    assert calibrated == run  # labels alone: it reads the same
    assert calibrated.judgments["place_decides"].notna().all()
    with pytest.raises(tiebreak.Refused, match="was made for elicitation methods label tokens"):
        replace(judge, calibration=path, methods="permuted-labels").run(demo_gold, progress=False)


@pytest.mark.slow
def test_off_the_main_thread_a_run_is_judged_too(judge: tiebreak.Judge, demo_gold: Path) -> None:
    met: list[object] = []
    thread = threading.Thread(target=lambda: met.append(judge.run(demo_gold, items=2, progress=False)))
    thread.start()
    thread.join(LATEST)
    assert met == [tiebreak.Run(1, Path(str(judge.store)))]


@pytest.mark.slow
def test_what_another_thread_judges_is_judged_by_this_program(judge: tiebreak.Judge, demo_gold: Path) -> None:
    store = Path(str(judge.store))
    cancel = CancelToken()
    made = with_notices(prepare(judge._request(demo_gold), CancelToken()))
    with SubprocessWorker(judge_plan, cancel) as worker:
        going = worker.do(made.plan, store, False, None)
        while not (has_store(store) and runs_of(store)):
            next(going)
        with pytest.raises(tiebreak.Refused, match="Run 1 is being judged by this program already"):
            judge.run(demo_gold, progress=False)
        cancel.cancel()
        followed(going)


@pytest.mark.slow
def test_a_model_that_breaks_down_is_refused_and_this_process_lives(
    judge: tiebreak.Judge, demo_gold: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    frame = tiebreak.read(demo_gold).head(5)
    with monkeypatch.context() as patch:
        patch.setattr("engine.operations.judge.judge_plan", apart_works.break_down_under_way)
        with pytest.raises(tiebreak.Refused, match="crashed") as met:
            judge.run(frame, progress=False)
    assert isinstance(met.value.__cause__, ProcessEnded)
    assert "All results so far are stored." in met.value.hint
    caplog.clear()  # the crash is logged
    kept = judged(Path(str(judge.store)))
    assert len(kept) >= 2
    run = judge.run(frame, progress=False)
    assert run.complete
    now = judged(Path(str(judge.store)))
    assert {item_id: now[item_id] for item_id in kept} == kept


def script(store: Path) -> subprocess.Popen[str]:
    return commands.start_python("-c", SCRIPT, store, cwd=ROOT)


def started(store: Path) -> subprocess.Popen[str]:
    child = script(store)

    def some_are_judged() -> bool:
        return has_store(store) and any(run.judged >= 3 for run in runs_of(store))

    commands.wait_until(some_are_judged, child)
    return child


def runs_of(store: Path) -> list[Any]:
    with RunStore(store) as opened:
        return opened.runs()


@pytest.mark.slow
def test_a_stop_says_how_far_the_run_came_and_it_goes_on(judge: tiebreak.Judge, tmp_path: Path) -> None:
    store = tmp_path / "stopped.sqlite"
    child = started(store)
    commands.interrupt(child)
    out, err = child.communicate(timeout=LATEST)
    assert child.returncode == 0, err
    far = len(judged(store))
    assert f"Run 1 stopped: {far} of 240 items are judged and stored." in out
    assert "The same call resumes it." in out
    assert f"it lives: [<Run 1: {far} of 240 items of demo.tsv by demo-judge>]" in out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_what_is_ended_from_outside_goes_on_without_judging_anything_twice(
    judge: tiebreak.Judge, tmp_path: Path
) -> None:
    store = tmp_path / "ended.sqlite"
    child = started(store)
    works = psutil.Process(child.pid).children(recursive=True)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    child.communicate()
    psutil.wait_procs(works, timeout=LATEST)  # the model's process meets the end of its input
    kept = judged(store)
    assert 3 <= len(kept) < 240
    goes_on(store, len(kept))
    now = judged(store)
    assert len(now) > len(kept)
    assert {item_id: now[item_id] for item_id in kept} == kept


def goes_on(store: Path, before: int) -> None:
    """The same call once more, until some more is judged: all of it would take long."""
    child = script(store)
    commands.wait_until(lambda: runs_of(store)[0].judged > before, child)
    commands.interrupt(child)
    out, err = child.communicate(timeout=LATEST)
    assert "Run 1 stopped" in out, err
