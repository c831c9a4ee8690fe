"""Workers, schedulers and askers that are killed, silent, odd or without the model: nothing is lost."""

import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from bench.cluster import judge_and_kill
from engine.cluster.certificates import address_of
from engine.cluster.cluster_run import ClusterRun, run_over_cluster
from engine.cluster.task_queue import Patience
from engine.core.events import CancelToken, ClusterNews, RunEnded
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.plan import RunPlan
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file
from engine.models.opening import machine_settings
from engine.settings.rows import JudgeSettings
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.cluster.asking import DEMO, ITEMS, items_in, judge_arguments, judged, over, what_counts
from tests.cluster.running import LocalCluster, Part, wait_for
from tests.commands import run, start, wait_until

pytestmark = pytest.mark.usefixtures("demo_tried")


def lying(cluster: LocalCluster, lie: str) -> Part:
    part = cluster.start_module("bench.hostile.lying_worker", cluster.address, lie, *cluster.connection[1:])
    wait_for(lambda: "Working for" in part.said(), part)
    return part


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be stopped for a while there")
def test_what_a_silent_worker_has_is_given_to_another(
    cluster: LocalCluster, certificates: Path, tmp_path: Path
) -> None:
    settings = JudgeSettings(context=4096, items_at_once=2)
    model = checked_model(read_model_file(demo_model()), CancelToken())
    plan = RunPlan(load_dataset(DEMO).head(ITEMS), ELOQUENT, settings, machine_settings(1), model)
    import_module("engine.cluster.dask_setup").set_up_dask()
    connection = import_module("engine.cluster.connection").Connection(
        address_of(cluster.address), certificates
    )
    asked = ClusterRun(connection, items=2, patience=Patience(least=6, first=60))
    news, ended, silent = [], None, cluster.parts[-1].judging()
    assert silent is not None, "the workers were started last"
    with RunStore(tmp_path / "runs.sqlite") as store:
        for event in run_over_cluster(plan, store, asked, CancelToken()):
            if items_in(tmp_path / "runs.sqlite") and silent.status() != "stopped":
                silent.suspend()
            if isinstance(event, ClusterNews):
                news.append(event.said)
            ended = event
    silent.kill()
    assert isinstance(ended, RunEnded)
    assert not ended.stopped
    assert any("has not answered on item" in said for said in news), news


def test_a_model_that_no_worker_has_is_named(
    cluster: LocalCluster, tmp_path: Path, small_model: Callable[[str], Path]
) -> None:
    model = small_model("headers")
    asked = judge_arguments(tmp_path, *over(cluster), "--mode", "labels", items=2, model=model)
    refused = run(*asked)
    assert refused.returncode == 2
    assert "No worker can judge this run. tls://127.0.0.1:" in refused.stderr
    assert "There is no model with the content of" in refused.stderr
    assert "cluster worker ADDRESS --model FILE" in refused.stderr
    another = cluster.worker("--model", str(model))
    done = run(*asked)
    assert done.returncode == 0, done.stderr
    cluster.stop(another)


def test_another_build_judges_only_where_that_is_wished(
    cluster: LocalCluster, alone: Path, tmp_path: Path
) -> None:
    odd = lying(cluster, "another build")
    done = judged(tmp_path, *over(cluster))
    assert done.returncode == 0, done.stderr
    assert "judges with llama.cpp of another day, here it is" in done.stderr
    assert "--mixed-builds" in done.stderr
    assert what_counts(tmp_path) == what_counts(alone)
    mixed = judged(tmp_path, *over(cluster), "--mixed-builds", "--task-items", 2, "--fresh")
    assert mixed.returncode == 0, mixed.stderr
    assert "differ in the build of llama.cpp, so the last digits" in mixed.stderr
    with RunStore(tmp_path / "runs.sqlite") as store:
        assert "llama.cpp of another day" in str(store.run(2).manifest_in_short["cluster"])
    cluster.stop(odd)


def test_a_lost_scheduler_is_said_within_seconds_and_the_run_goes_on(
    cluster: LocalCluster, alone: Path, tmp_path: Path
) -> None:
    scheduler = cluster.parts[0]
    child = start(*judge_arguments(tmp_path, *over(cluster), "--task-items", 2))
    wait_until(lambda: items_in(tmp_path / "runs.sqlite") > 0, child)
    scheduler.kill()
    began = time.monotonic()
    _out, err = child.communicate(timeout=60)
    assert child.returncode == 2, err
    assert "the scheduler is gone. What came back is stored." in err
    assert time.monotonic() - began < 30
    assert items_in(tmp_path / "runs.sqlite") < ITEMS
    cluster.again(scheduler)
    done = judged(tmp_path, *over(cluster))
    assert done.returncode == 0, done.stderr
    assert what_counts(tmp_path) == what_counts(alone)


def test_whoever_is_killed_at_random_the_files_are_those_of_one_computer(
    cluster: LocalCluster, alone: Path, tmp_path: Path
) -> None:
    judge_and_kill(cluster, alone, tmp_path, random.Random(), 3, ITEMS)


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ("other items", "another item"),
        ("seconds of 10**400", "impossible seconds"),
        ("not wanted, for ever", ""),
    ],
)
def test_what_a_lying_worker_has_is_given_to_another(
    cluster: LocalCluster, alone: Path, tmp_path: Path, lie: str, said: str
) -> None:
    liar = lying(cluster, lie)
    done = judged(tmp_path, *over(cluster), "--task-items", 2)
    cluster.stop(liar)
    assert done.returncode == 0, done.stderr
    assert what_counts(tmp_path) == what_counts(alone)
    assert f"is not used: It answers with {said}" in done.stderr or not said


def test_a_worker_of_an_impossible_speed_is_named_in_the_plan(cluster: LocalCluster, tmp_path: Path) -> None:
    liar = lying(cluster, "speeds of 10**400")
    planned = judged(tmp_path, *over(cluster), "--plan")
    cluster.stop(liar)
    assert planned.returncode == 0, planned.stderr
    assert "Its answer cannot be used (reading: Number out of range)" in planned.stdout


def test_a_killed_worker_leaves_nothing_once_another_starts(tmp_path: Path, private_home: Path) -> None:
    cache = private_home / "tiebreak" / "cache"

    def kept() -> set[str]:
        return {path.name for path in cache.glob("cluster-*")}

    with LocalCluster(tmp_path) as cluster:
        cluster.scheduler()
        worker = cluster.worker()
        of_killed, judging = kept(), worker.judging()
        assert of_killed
        worker.kill()
        if judging is not None:
            judging.kill()
        again = cluster.again(worker)
        wait_for(lambda: "Working for" in again.said(), again)
        assert kept()
        assert not of_killed & kept()
    assert not kept()
