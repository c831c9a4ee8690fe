"""Measures a cluster on this computer: kills at random moments, what handing out costs, 100,000 items.

    python -m bench.cluster kills [NUMBER]
    python -m bench.cluster overhead [ITEMS]
    python -m bench.cluster simulated [ITEMS] [WORKERS] [SECONDS]

It needs requirements-cluster.txt.
"""

import asyncio
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import psutil

from engine.cluster.answers import PlacedItem
from engine.cluster.certificates import address_of, make_certificates
from engine.cluster.cluster_run import ClusterRun, run_over_cluster
from engine.cluster.worker_model import ModelOnWorker, WorkerOptions
from engine.core.events import CancelToken, ItemJudged, followed
from engine.core.items import Order
from engine.core.judgments import JudgedItem, RawPrediction
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.plan import RunPlan, format_hash
from engine.llama.model import LlamaModel, Vocabulary
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file
from engine.models.opening import machine_settings
from engine.models.templates import chat_template
from engine.settings.rows import JudgeSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.cluster.asking import judge_arguments, over, what_counts
from tests.cluster.running import LocalCluster, Part, cluster_of_two
from tests.commands import ROOT, run, start

DEMO = ROOT / "examples" / "demo.tsv"


# Kills


def kills(folder: Path, number: int = 30, seed: int = 1, items: int = 240) -> None:
    """Kill workers, the asking command and the scheduler at random moments, and compare what comes out."""
    alone = folder / "alone"
    alone.mkdir()
    assert run(*judge_arguments(alone, "--threads", "1", items=items)).returncode == 0
    with cluster_of_two(folder, make_certificates(folder / "certificates").key.parent) as cluster:
        judge_and_kill(cluster, alone, folder, random.Random(seed), number, items)


def judge_and_kill(
    cluster: LocalCluster, alone: Path, folder: Path, chance: random.Random, number: int, items: int
) -> None:
    """Judge until so many were killed, and hold each run against that in `alone`."""
    killed, runs = dict.fromkeys(("worker", "watcher", "asker", "scheduler"), 0), 0
    while sum(killed.values()) < number:
        runs += 1
        own = folder / f"run-{runs}"
        own.mkdir()
        arguments = judge_arguments(own, *over(cluster), items=items)
        while not _complete(_asked(cluster, arguments, number, killed, chance)):
            pass
        same = what_counts(own) == what_counts(alone)
        print(f"run {runs}: {killed}, {'equal' if same else 'DIFFERENT'}", flush=True)
        assert same


def _asked(
    cluster: LocalCluster, arguments: list[object], number: int, killed: dict[str, int], chance: random.Random
) -> subprocess.CompletedProcess[str]:
    """One command that asks, until it ends or is killed; who is killed is started again."""
    child = start(*arguments)
    while True:
        try:
            out, err = child.communicate(timeout=chance.uniform(0.3, 5.0))
            return subprocess.CompletedProcess([], child.returncode, out, err)
        except subprocess.TimeoutExpired:
            if sum(killed.values()) >= number:
                continue
        whom = chance.choice(("worker", "worker", "watcher", "asker", "scheduler"))
        workers = [part for part in cluster.parts if part.arguments[0] == "worker"]
        if whom == "worker":
            judging = chance.choice(workers).judging()
            if judging is None:
                continue
            judging.kill()
        elif whom == "watcher":
            _again(cluster, chance.choice(workers))
        elif whom == "scheduler":
            _again(cluster, next(part for part in cluster.parts if part.arguments[0] == "scheduler"))
        else:
            child.kill()
        killed[whom] += 1


def _again(cluster: LocalCluster, part: Part) -> None:
    part.kill()
    cluster.again(part)


def _complete(done: subprocess.CompletedProcess[str]) -> bool:
    if done.returncode not in (0, -9):
        print("    it said:", done.stderr.strip().splitlines()[-2:], flush=True)
        assert done.returncode == 2, done.stderr  # the scheduler was gone
    return done.returncode == 0


# Overhead


def overhead(folder: Path, items: int = 240) -> None:
    """The share of their time in which two workers judge; and wall time against one process alone."""
    certificates = make_certificates(folder / "certificates").key.parent
    plan = _plan(DEMO, items, Mode.EXPLAIN)
    with cluster_of_two(folder, certificates) as cluster:
        for task_items in (2, 8, 16):
            store = folder / f"{task_items}.sqlite"
            share, wall = _share_at_work(plan, cluster, store, task_items, workers=2)
            print(f"tasks of {task_items:2} items: {wall:.1f} s, at work {share:.3f} of the time", flush=True)


def _share_at_work(
    plan: RunPlan, cluster: LocalCluster, store_path: Path, task_items: int, workers: int
) -> tuple[float, float]:
    """From the first answer to the last: seconds at work with items, as a share of those of all workers."""
    asked = _over(cluster, task_items)
    arrived: list[tuple[float, float]] = []
    with RunStore(store_path) as store:

        def take(event: object) -> None:
            if isinstance(event, ItemJudged):
                arrived.append((time.monotonic(), event.judged.seconds))

        followed(run_over_cluster(plan, store, asked, CancelToken()), take)
    # What each worker had judged when its first answers came counts from there on.
    first = workers * task_items
    wall = arrived[-1][0] - arrived[first - 1][0]
    return sum(seconds for _, seconds in arrived[first:]) / (workers * wall), wall


def _over(cluster: LocalCluster, task_items: int) -> ClusterRun:
    import_module("engine.cluster.dask_setup").set_up_dask()
    module = import_module("engine.cluster.connection")
    address = address_of(cluster.address)
    return ClusterRun(module.Connection(address, cluster.certificates or Path()), task_items)


def _plan(path: Path, items: int, mode: Mode) -> RunPlan:
    cancel = CancelToken()
    settings = JudgeSettings(mode=mode, context=4096, items_at_once=2 if mode is Mode.EXPLAIN else 1)
    model = checked_model(read_model_file(demo_model()), cancel)
    return RunPlan(load_dataset(path).head(items), ELOQUENT, settings, machine_settings(1), model)


# Many items


class SimulatedModel(ModelOnWorker):
    """Answers as a model would, after some time for each item."""

    def __init__(self, template: str, seconds: float) -> None:
        self._template, self._seconds = template, seconds

    def prepare(self, _work: object) -> str:
        return self._template

    def knows(self, _key: str) -> bool:
        return True

    def do(
        self, groups: Sequence[Sequence[PlacedItem]], _wanted: Callable[[], bool]
    ) -> list[list[JudgedItem]]:
        time.sleep(self._seconds * sum(map(len, groups)))
        return [[self._judged(each) for each in group] for group in groups]

    def _judged(self, asked: PlacedItem) -> JudgedItem:
        both = tuple(RawPrediction(order, (-0.1, -3.0, -4.0, -5.0)) for order in (Order.BA, Order.AB))
        raw_predictions = dict.fromkeys(ELOQUENT.names, both)
        item = asked.item
        return JudgedItem(asked.position, item.id, item.content_hash, raw_predictions, seconds=self._seconds)

    def close(self) -> None:
        return


def simulated(folder: Path, items: int = 100_000, workers: int = 10, seconds: float = 0.0) -> None:
    """Have workers that only wait judge many items; the memory of the scheduler, and the time for an item."""
    path = folder / "many.tsv"
    _write_many(path, items)
    plan = _plan(path, items, Mode.LABELS)
    with LocalCluster(folder, make_certificates(folder / "certificates").key.parent) as cluster:
        scheduler = psutil.Process(cluster.scheduler().process.pid)
        before = scheduler.memory_info().rss
        module = [sys.executable, "-m", "bench.cluster", "serve", cluster.address, str(folder)]
        told = [str(workers), str(seconds), _template_of(plan)]
        with subprocess.Popen(
            [*module, *told], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}
        ) as serving:
            most, judged = before, 0
            began, cpu = time.monotonic(), _cpu(scheduler)
            with RunStore(folder / "many.sqlite") as store:
                for event in run_over_cluster(plan, store, _over(cluster, 8), CancelToken()):
                    if not isinstance(event, ItemJudged):
                        continue
                    judged += 1
                    if judged == 1:
                        began, cpu = time.monotonic(), _cpu(scheduler)
                    if judged % 1000 == 0:
                        most = max(most, scheduler.memory_info().rss)
                    if judged % 20_000 == 0:
                        print(f"{judged:,}: scheduler {most >> 20} MiB", flush=True)
            wall = time.monotonic() - began
            serving.terminate()
        print(
            f"{items:,} items, {workers} workers, {seconds} s each: {1000 * wall / items:.2f} ms an item,"
            f" of them {1000 * (_cpu(scheduler) - cpu) / items:.2f} ms of the scheduler's processor;"
            f" scheduler {before >> 20} MiB before, {most >> 20} MiB at most; this process"
            f" {psutil.Process().memory_info().rss >> 20} MiB;"
            f" at work {seconds * items / (workers * wall):.3f} of the time"
        )


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _template_of(plan: RunPlan) -> str:
    with LlamaModel(plan.model.path, vocabulary_only=True, cancel=CancelToken()) as model:
        template = chat_template(model.chat_template, Vocabulary(model), CancelToken())
        return format_hash(template, plan.settings)


def _write_many(path: Path, items: int) -> None:
    with DEMO.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    names = ["id", "instruction", "output_a", "output_b"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter="\t", extrasaction="ignore")
        writer.writeheader()
        for number in range(items):
            writer.writerow(rows[number % len(rows)] | {"id": f"item-{number}"})


def serve(address: str, folder: Path, workers: int, seconds: float, template: str) -> None:
    import_module("engine.cluster.dask_setup").set_up_dask()
    service = import_module("engine.cluster.service")
    plugin_module = import_module("engine.cluster.worker_plugin")

    class SimulatedPlugin(plugin_module.JudgingPlugin):  # type: ignore[name-defined, misc]
        def made_model(self, _cancel: CancelToken) -> SimulatedModel:
            return SimulatedModel(template, seconds)

    async def main() -> None:
        security = import_module("engine.cluster.dask_setup").security_for(
            address_of(address), folder / "certificates"
        )
        made = [
            service.PlainWorker(
                address,
                nthreads=1,
                host="127.0.0.1",
                security=security,
                memory_limit=None,
                local_directory=str(folder),
                plugins=(SimulatedPlugin(WorkerOptions()),),
            )
            for _ in range(workers)
        ]
        await asyncio.gather(*made)
        await asyncio.gather(*(each.finished() for each in made))

    asyncio.run(main())


def main(words: list[str]) -> None:
    if words[:1] == ["serve"]:
        serve(words[1], Path(words[2]), int(words[3]), float(words[4]), words[5])
        return
    measures: dict[str, Callable[..., None]] = {"kills": kills, "overhead": overhead, "simulated": simulated}
    try:
        numbers = [float(word) if "." in word else int(word) for word in words[1:]]
        measure = measures[words[0]]
    except (IndexError, KeyError, ValueError):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TIEBREAK_HOME"] = str(Path(folder) / "home")
        measure(Path(folder), *numbers)


if __name__ == "__main__":
    main(sys.argv[1:])
