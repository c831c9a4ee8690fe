"""A run over a cluster is the run of one computer: its files, its store, its going on, its errors."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.run_records import CLUSTER
from engine.store.run_store import RunStore
from tests.cluster.running import LocalCluster, cluster_of_two, free_port
from tests.commands import ROOT, interrupt, run, start, wait_until
from tests.small_models import real_model

ITEMS = 30
DEMO = ROOT / "examples" / "demo.tsv"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demo run that one computer judged."""
    folder = tmp_path_factory.mktemp("alone")
    assert judged(folder, "--threads", 1).returncode == 0
    return folder


def judged(folder: Path, *arguments: object, items: int = ITEMS) -> subprocess.CompletedProcess[str]:
    return run(*judge_arguments(folder, *arguments, items=items))


def judge_arguments(folder: Path, *arguments: object, items: int = ITEMS) -> list[object]:
    out = ["--out", folder / "out.tsv", "--json", folder / "out.json", "--store", folder / "runs.sqlite"]
    return ["judge", DEMO, "--model", "demo", "--items", items, *out, *arguments]


def over(cluster: LocalCluster) -> list[object]:
    return ["--cluster", cluster.address, *cluster.connection]


def what_counts(folder: Path) -> tuple[bytes, str]:
    """The submission and the JSON of a run, without how long it took and which computers judged."""
    made = json.loads((folder / "out.json").read_bytes())
    made["run"] = {name: value for name, value in made["run"].items() if name not in ("created", "made_with")}
    text = json.dumps(made, ensure_ascii=False)
    return (folder / "out.tsv").read_bytes(), re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', text)


def test_the_files_are_those_of_one_computer(cluster: LocalCluster, alone: Path, tmp_path: Path) -> None:
    done = judged(tmp_path, *over(cluster))
    assert done.returncode == 0, done.stderr
    assert "2 workers" in done.stderr
    assert what_counts(tmp_path) == what_counts(alone)
    with RunStore(tmp_path / "runs.sqlite") as store:
        (kind,) = store.run(1).manifest[CLUSTER]
    assert kind["judged"] == f"0-{ITEMS - 1}"
    assert "llama.cpp" in kind["llama_cpp"]


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


def items_in(store_path: Path) -> int:
    if not store_path.exists():
        return 0
    with RunStore(store_path) as store:
        return sum(found.judged for found in store.runs())


def test_ctrl_c_ends_after_what_workers_judge(cluster: LocalCluster, alone: Path, tmp_path: Path) -> None:
    child = start(*judge_arguments(tmp_path, *over(cluster), "--task-items", 2))
    wait_until(lambda: items_in(tmp_path / "runs.sqlite") > 0, child)
    interrupt(child)
    _out, err = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "The run stops after what 2 workers judge now. Press Ctrl-C again to stop now." in err
    assert "The same command goes on from there." in err
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
    assert "no scheduler answers there" in done.stderr


def test_a_plain_connection_to_an_encrypted_scheduler_is_refused(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    done = judged(tmp_path, "--cluster", cluster.address.replace("tls", "tcp"))
    assert done.returncode == 2
    assert "no scheduler answers there" in done.stderr


def test_where_no_scheduler_is_it_is_said(tmp_path: Path) -> None:
    began = time.monotonic()
    done = judged(tmp_path, "--cluster", f"127.0.0.1:{free_port()}")
    assert done.returncode == 2
    assert "no scheduler answers there" in done.stderr
    assert time.monotonic() - began < 30


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


def test_a_real_vocabulary_judges_alike(tmp_path: Path, shared_data: Path, certificates: Path) -> None:
    model = real_model(shared_data, "qwen2.5", tmp_path / "real.gguf")
    options = ["--items", ITEMS, "--max-explanation-tokens", 8]
    for name in ("alone", "over"):
        (tmp_path / name).mkdir()
    with LocalCluster(tmp_path, certificates) as cluster:
        cluster.scheduler()
        for _ in range(2):
            cluster.worker("--model", str(model))
        for name, where in (("alone", ["--threads", 1]), ("over", over(cluster))):
            out = judge_arguments(tmp_path / name, *options, *where)
            out[out.index("demo")] = model
            done = run(*out)
            assert done.returncode in (0, 1), done.stderr
    assert what_counts(tmp_path / "over") == what_counts(tmp_path / "alone")


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
