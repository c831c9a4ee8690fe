"""Workers, schedulers and askers that are killed, silent, odd or without the model: nothing judged is lost."""

import random
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from engine.cluster.addresses import address_of
from engine.cluster.cluster_run import ClusterRun, run_over_cluster
from engine.cluster.patience import Patience
from engine.core.cancel import CancelToken
from engine.core.events import ClusterNews, RunEnded
from engine.core.rubric import ELOQUENT
from engine.core.settings import JudgeSettings
from engine.data.dataset import load_dataset
from engine.gguf.judge_file import read_model_file
from engine.judge.plan import RunPlan
from engine.loading.checked_model import checked_model
from engine.loading.opening import machine_settings
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.bench.cluster import kills
from tests.cluster.asking import DEMO, ITEMS, items_in, judge_arguments, judged, over, what_counts
from tests.cluster.odd_worker import BUILD
from tests.cluster.running import LocalCluster, cluster_of_two, wait_for
from tests.commands import run, start, wait_until

pytestmark = pytest.mark.usefixtures("demo_tried")


def test_a_lost_scheduler_is_said_within_seconds_and_the_run_goes_on(alone: Path, tmp_path: Path) -> None:
    with cluster_of_two(tmp_path) as cluster:
        scheduler = cluster.parts[0]
        child = start(*judge_arguments(tmp_path, *over(cluster)))
        wait_until(lambda: items_in(tmp_path / "runs.sqlite") > 0, child)
        scheduler.kill()
        began = time.monotonic()
        _out, err = child.communicate(timeout=60)
        assert child.returncode == 2, err
        assert "the scheduler is gone. What was judged is kept." in err
        assert time.monotonic() - began < 30
        kept = items_in(tmp_path / "runs.sqlite")
        cluster.again(scheduler)
        done = judged(tmp_path, *over(cluster))
        assert done.returncode == 0, done.stderr
        assert kept < ITEMS
    assert what_counts(tmp_path) == what_counts(alone)


def test_a_model_that_a_worker_lacks_is_named(
    tmp_path: Path, small_model: Callable[[str], Path], certificates: Path
) -> None:
    with LocalCluster(tmp_path, certificates) as cluster:
        cluster.scheduler()
        cluster.worker()
        out = ["--out", tmp_path / "o.tsv", "--store", tmp_path / "s.sqlite", "--mode", "labels"]
        model = small_model("headers")
        child = start("judge", DEMO, "--model", model, "--items", 2, *out, *over(cluster))
        wait_until(lambda: child.poll() is not None or items_in(tmp_path / "s.sqlite") == 0, child)
        time.sleep(6)
        child.send_signal(signal.SIGTERM)
        _out, err = child.communicate(timeout=30)
        assert "is not used: There is no model with the content of" in err
        cluster.worker("--model", str(model))
        done = run("judge", DEMO, "--model", model, "--items", 2, *out, *over(cluster))
        assert done.returncode == 0, done.stderr


def test_whoever_is_killed_at_random_the_files_are_those_of_one_computer(tmp_path: Path) -> None:
    kills(tmp_path, number=4, seed=random.SystemRandom().randrange(1000), items=90)


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be stopped for a while there")
def test_what_a_silent_worker_has_is_given_to_another(tmp_path: Path) -> None:
    settings = JudgeSettings(context=4096, items_at_once=2)
    model = checked_model(read_model_file(demo_model()), CancelToken())
    plan = RunPlan(load_dataset(DEMO).head(ITEMS), ELOQUENT, settings, machine_settings(1), model)
    with cluster_of_two(tmp_path) as cluster, RunStore(tmp_path / "runs.sqlite") as store:
        silent = cluster.parts[-1].judging()
        assert silent is not None
        connection = import_module("engine.cluster.hands").Connection(address_of(cluster.address), tmp_path)
        asked = ClusterRun(connection, items=2, patience=Patience(least=3, first=6))
        news, ended = [], None
        for event in run_over_cluster(plan, store, asked, CancelToken()):
            if items_in(tmp_path / "runs.sqlite") and silent.status() != "stopped":
                silent.suspend()
            if isinstance(event, ClusterNews):
                news.append(event.said)
            ended = event
        silent.resume()
    assert isinstance(ended, RunEnded)
    assert not ended.stopped
    assert len([said for said in news if "has said nothing of item" in said]) == 1, news


def test_another_build_judges_only_where_that_is_wished(tmp_path: Path, certificates: Path) -> None:
    with LocalCluster(tmp_path, certificates) as cluster:
        cluster.scheduler()
        odd = cluster.start_module("tests.cluster.odd_worker", cluster.address, str(certificates))
        wait_for(lambda: "Working for" in odd.said(), odd)
        refused = judged(tmp_path, *over(cluster))
        assert refused.returncode == 2
        assert f"judges with {BUILD}, here it is" in refused.stderr
        assert "--mixed-builds" in refused.stderr
        cluster.worker()
        done = judged(tmp_path, *over(cluster), "--mixed-builds", "--task-items", 2)
        assert done.returncode == 0, done.stderr
        assert "differ in the build of llama.cpp, so the last digits" in done.stderr
    with RunStore(tmp_path / "runs.sqlite") as store:
        text = str(store.run(1).manifest_in_short["cluster"])
    assert BUILD in text
