"""Every error of the engine whose remedy names a setting or a step, raised for real."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.judgments import CriterionCalibration
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.forecast import forecast, time_some_items
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import rewriting_plan
from engine.llama.context import SMALLER_CONTEXT, SessionShape
from engine.llama.library import library_version
from engine.llama.model import LlamaModel, cannot_compute
from engine.llama.session import LlamaSession
from engine.metrics.matching import match, open_system
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.prompt.examples import ExamplePool, choose_examples
from engine.results.calibration import Calibration, JudgeIdentity, load_calibration
from engine.results.run_dataset import dataset_of_run, labelled_dataset
from engine.settings.rows import JudgeSettings, KvType, Mode
from engine.store.run_store import RunStore
from engine.system.computer import Memory
from engine.system.paths import demo_dataset, demo_model
from tests.judged import SURE_A, A, calibrate_run, dataset, judged_run, matched, stored_run, system
from tests.steps import plan_with

JUDGE = JudgeIdentity("a model", "a" * 64, "1", ("AB", "BA"), "")
OTHER_JUDGE = JudgeIdentity("another model", "b" * 64, "1", ("AB", "BA"), "")


@dataclass(frozen=True)
class Bench:
    """Where something can be refused. `folder`: empty. `small_model`: as the fixture of that name."""

    folder: Path
    small_model: Callable[[str], Path]

    @property
    def store(self) -> Path:
        """A run store that is not there yet."""
        return self.folder / "runs.sqlite"

    def file(self, name: str, text: str) -> Path:
        """A file with this text."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


def refusal(bench: Bench, name: str) -> SetupError:
    """The error of a name in REFUSALS."""
    try:
        REFUSALS[name](bench)
    except SetupError as error:
        return error
    raise AssertionError(f"{name}: nothing was refused")


def _plan(context: int, path: Path | None = None, examples: ExamplePool | None = None) -> RunPlan:
    settings = JudgeSettings(mode=Mode.LABELS, context=context)
    return replace(plan_with(path or demo_model(), _demo(), settings), examples=examples or ExamplePool())


def _demo() -> Dataset:
    return load_dataset(demo_dataset()).head(3)


def _session(bench: Bench, shape: SessionShape) -> None:
    with LlamaModel(bench.small_model("headers")) as model:
        LlamaSession(model, shape, threads=1, cancel=CancelToken())


def _no_memory(bench: Bench) -> None:
    with LlamaModel(bench.small_model("headers")) as model:
        raise cannot_compute(model, -2, SMALLER_CONTEXT)


def _memory(path: Path, kv_type: KvType = KvType.F16) -> None:
    check_memory(read_model_file(path), 1024, Memory(0, 0), kv_type)


def _counted(plan: RunPlan) -> None:
    for _progress in forecast(plan, None, CancelToken()):
        pass


def _timed(_bench: Bench) -> None:
    plan = _plan(context=256)
    time_some_items(plan, partial(open_model, plan, CancelToken()))


def _rewritten(bench: Bench, shown: ExamplePool, now: ExamplePool) -> None:
    plan = _plan(4096, examples=shown)
    with RunStore(bench.store) as store:
        with store.begin(plan.identity()) as run:
            store.describe(run.id, {"llama_cpp": library_version()})
        rewriting_plan(store.run(run.id), plan.dataset, plan.model, plan.machine, now)


def _newer_store(bench: Bench) -> None:
    with RunStore(bench.store) as store:
        store._file._db.execute("PRAGMA user_version = 999")
    RunStore(bench.store)


def _moved_dataset(bench: Bench) -> None:
    run = judged_run(bench.folder, dataset({"safety": [A]}), {"safety": [SURE_A]})
    dataset_of_run(run.run, bench.folder / "gone.tsv")


def _incomplete_run(bench: Bench) -> None:
    run = stored_run(bench.folder, dataset({"safety": [A]}), {"safety": [SURE_A]}, items=2)
    match(run, dataset({"safety": [A, A]}))


def _other_texts(bench: Bench) -> None:
    run = stored_run(bench.folder, dataset({"safety": [A]}), {"safety": [SURE_A]})
    match(run, dataset({"safety": [A]}, outputs=[("other", "texts")]))


def _unlabelled_run(bench: Bench) -> None:
    gold = dataset({"safety": [A]})
    labelled_dataset(judged_run(bench.folder, gold, {"safety": [SURE_A]}), gold)


def _one_example() -> ExamplePool:
    return choose_examples(_demo(), ELOQUENT, 1)


REFUSALS: Mapping[str, Callable[[Bench], object]] = {
    "cache of a session": lambda bench: _session(bench, SessionShape(1024, 1, 1, KvType.Q8_0)),
    "room of a session": lambda bench: _session(bench, SessionShape(4096, 60, 5)),
    "memory of a batch": _no_memory,
    "cache by the header": lambda bench: _memory(bench.small_model("headers"), KvType.Q8_0),
    "memory": lambda bench: _memory(bench.small_model("headers")),
    "memory, rounder": lambda _bench: _memory(demo_model()),
    "no examples": lambda _bench: choose_examples(_demo(), ELOQUENT, 0),
    "too few examples": lambda _bench: choose_examples(_demo(), ELOQUENT, 32),
    "stem": lambda bench: _counted(_plan(256, bench.small_model("bytes"))),
    "trained context": lambda bench: _counted(_plan(2048, bench.small_model("short_context"))),
    "no item fits": _timed,
    "newer store": _newer_store,
    "no store": lambda bench: RunStore(bench.file("notes.txt", "my notes " * 500)),
    "store in a file": lambda bench: RunStore(bench.file("notes.txt", "") / "runs.sqlite"),
    "store of a run": lambda bench: open_system("3", bench.store),
    "other judge": lambda _bench: Calibration(JUDGE, "", "", {}, {}).check_fits(OTHER_JUDGE),
    "no calibration": lambda bench: load_calibration(bench.file("other.json", json.dumps({}))),
    "impossible calibration": lambda _bench: CriterionCalibration(-1, (0, 0, 0, 0), None, 1),
    "moved dataset": _moved_dataset,
    "unlabelled run": _unlabelled_run,
    "examples too many": lambda bench: _rewritten(bench, ExamplePool(), _one_example()),
    "examples missing": lambda bench: _rewritten(bench, _one_example(), ExamplePool()),
    "other ids": lambda _bench: match(system({"safety": [A]}), dataset({"safety": [A, A]})),
    "incomplete run": _incomplete_run,
    "other texts": _other_texts,
    "submission calibrated": lambda _bench: calibrate_run(matched([A], [A])),
}
