"""A run over a cluster is the run of one computer: its files, its store, its going on, its errors."""

import re
import time
from pathlib import Path

import pytest

from engine.settings.identity import CLUSTER
from engine.store.run_store import RunStore
from tests.cluster.asking import DEMO, ITEMS, items_in, judge_arguments, judged, over, what_counts
from tests.cluster.running import LocalCluster, free_port
from tests.commands import interrupt, run, start, wait_until
from tests.small_models import real_model

pytestmark = pytest.mark.usefixtures("demo_tried")


def test_the_files_are_those_of_one_computer(cluster: LocalCluster, alone: Path, tmp_path: Path) -> None:
    done = judged(tmp_path, *over(cluster))
    assert done.returncode == 0, done.stderr
    assert "2 workers" in done.stderr
    assert what_counts(tmp_path) == what_counts(alone)
    with RunStore(tmp_path / "runs.sqlite") as store:
        (kind,) = store.run(1).manifest[CLUSTER]
    assert kind["judged"] == f"0-{ITEMS - 1}"
    assert "llama.cpp" in kind["llama_cpp"]


def test_workers_choose_the_same_nearest_examples(cluster: LocalCluster, tmp_path: Path) -> None:
    near = ["--examples", DEMO, "--few-shot", 2, "--few-shot-selection", "nearest"]
    near += ["--items", 6, "--mode", "labels"]
    for name, where in (("one", []), ("many", over(cluster))):
        (tmp_path / name).mkdir()
        done = judged(tmp_path / name, *near, *where)
        assert done.returncode == 0, done.stderr
    assert what_counts(tmp_path / "many") == what_counts(tmp_path / "one")


@pytest.mark.parametrize("first_over_cluster", [True, False])
def test_a_run_goes_on_elsewhere(
    cluster: LocalCluster, alone: Path, tmp_path: Path, first_over_cluster: bool
) -> None:
    first, then = (over(cluster), []) if first_over_cluster else ([], over(cluster))
    child = start(*judge_arguments(tmp_path, *first))
    wait_until(lambda: 0 < items_in(tmp_path / "runs.sqlite") < ITEMS, child)
    child.kill()
    child.communicate()
    kept = items_in(tmp_path / "runs.sqlite")
    assert 0 < kept < ITEMS
    done = judged(tmp_path, *then)
    assert done.returncode == 0, done.stderr
    assert f"{kept} of {ITEMS} items are judged already" in done.stderr
    assert what_counts(tmp_path) == what_counts(alone)


def test_ctrl_c_ends_after_what_workers_judge(cluster: LocalCluster, alone: Path, tmp_path: Path) -> None:
    child = start(*judge_arguments(tmp_path, *over(cluster), "--task-items", 2))
    wait_until(lambda: items_in(tmp_path / "runs.sqlite") > 0, child)
    interrupt(child)
    _out, err = child.communicate(timeout=60)
    assert child.returncode == 1
    # The second one may still be opening the model.
    judges = "(1 worker judges|2 workers judge)"
    said = rf"The run stops after the items that {judges} now\. Press Ctrl-C again to stop now\."
    assert re.search(said, err), err
    assert "The same command resumes it." in err
    assert judged(tmp_path, *over(cluster)).returncode == 0
    assert what_counts(tmp_path) == what_counts(alone)


def test_the_plan_shows_workers_speeds_and_time(cluster: LocalCluster, tmp_path: Path) -> None:
    done = run("judge", DEMO, "--model", "demo", "--store", tmp_path / "s.sqlite", "--plan", *over(cluster))
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "tls://127.0.0.1" in line]
    assert len(lines) == 2
    assert re.search(r"^Time: about \d+", done.stdout, re.MULTILINE)


def test_other_certificates_are_refused(cluster: LocalCluster, tmp_path: Path) -> None:
    others = tmp_path / "others"
    assert run("cluster", "certificates", others).returncode == 0
    done = judged(tmp_path, "--cluster", cluster.address, "--certificates", others)
    assert done.returncode == 2
    assert "it may have other certificates, or none" in done.stderr


def test_a_plain_connection_to_an_encrypted_scheduler_is_refused(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    done = judged(tmp_path, "--cluster", cluster.address.replace("tls", "tcp"))
    assert done.returncode == 2
    assert "it may have other certificates, or none" in done.stderr


def test_where_no_scheduler_is_it_is_said(tmp_path: Path) -> None:
    began = time.monotonic()
    done = judged(tmp_path, "--cluster", f"127.0.0.1:{free_port()}")
    assert done.returncode == 2
    assert "no scheduler answers there" in done.stderr
    assert time.monotonic() - began < 30


def test_what_is_quick_to_refuse_is_refused_before_a_scheduler_is_asked(tmp_path: Path) -> None:
    done = judged(tmp_path, "--cluster", f"127.0.0.1:{free_port()}", "--model", "no-such-model")
    assert done.returncode == 2
    assert "no-such-model: there is no such file here" in done.stderr


def test_a_real_vocabulary_judges_alike(tmp_path: Path, shared_data: Path, certificates: Path) -> None:
    model = real_model(shared_data, "phi-3.5", tmp_path / "real.gguf")
    options = ["--max-explanation-tokens", 4]
    for name in ("alone", "over"):
        (tmp_path / name).mkdir()
    with LocalCluster(tmp_path, certificates) as cluster:
        cluster.scheduler()
        for _ in range(2):
            cluster.worker("--model", str(model))
        for name, where in (("alone", ["--threads", 1]), ("over", over(cluster))):
            done = run(*judge_arguments(tmp_path / name, *options, *where, model=model))
            assert done.returncode in (0, 1), done.stderr
    assert what_counts(tmp_path / "over") == what_counts(tmp_path / "alone")
