"""Jobs that plan, time and judge runs.

Knows: which calls of the engine do it, and in which order. Does not know: windows.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.cancel import CancelToken
from engine.core.events import ItemJudged, RunEnded, RunEvent, RunStarted, TokensEvaluated, followed
from engine.core.judgments import JudgedItem, Judgment, Unscored
from engine.core.rubric import ELOQUENT
from engine.core.run_setup import RunSetup
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun
    from engine.data.dataset import Dataset
    from engine.gguf.judge_file import ModelFile
    from engine.gguf.memory import Fit, MemoryEstimate
    from engine.judge.forecast import Forecast
    from engine.judge.plan import RunPlan
    from engine.store.run_store import RunStore
    from engine.system.computer import Memory

_TELL_TOKENS_SECONDS = 0.1


@dataclass(frozen=True)
class Preparing:
    """What is done before the first item."""

    what: str


@dataclass(frozen=True)
class ItemDecided:
    """One item is in the store; `judgments` as its readings decide them now, in the order of the rubric."""

    judged: JudgedItem
    judgments: tuple[Judgment | Unscored, ...]


@dataclass(frozen=True)
class Planned:
    """What a run would take. `context`: the one that is used where the setup leaves the choice."""

    setup: RunSetup
    forecast: "Forecast"
    model: "ModelFile"
    context: int
    memory: "Memory"
    estimate: "MemoryEstimate"
    fit: "Fit"
    notices: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """True where the store holds this very run, whole."""
        return self.forecast.run_id is not None and self.forecast.judged == self.forecast.items

    @property
    def unfinished(self) -> bool:
        """True where the store holds some of this very run."""
        return self.forecast.run_id is not None and 0 < self.forecast.judged < self.forecast.items


def plan(setup: RunSetup, store_path: Path, at_hand: "Dataset | None") -> Job[Planned]:
    """What a run would take; tells Preparing and MeasureProgress. `at_hand`: the dataset that is open."""

    def work(control: JobControl) -> Planned:
        from engine.gguf.memory import memory_fit, memory_needed
        from engine.judge.forecast import forecast
        from engine.system.computer import available_memory

        prepared = _prepare(setup, at_hand, control)
        store = store_path if store_path.exists() else None
        counting = forecast(prepared.plan, store, control.cancel, setup.fresh)
        counted = followed(counting, control.report)
        settings = prepared.plan.settings
        estimate = memory_needed(prepared.model, settings.context, kv_type=settings.kv_type)
        memory = available_memory()
        return Planned(
            setup=setup,
            forecast=counted,
            model=prepared.model,
            context=settings.context,
            memory=memory,
            estimate=estimate,
            fit=memory_fit(estimate, *memory),
            notices=tuple(note for note in (*prepared.notices, counted.template_note) if note),
        )

    return work


def time_first(planned: Planned, at_hand: "Dataset | None") -> "Job[Forecast]":
    """The forecast with the time that the first items took, judged now and stored nowhere."""

    def work(control: JobControl) -> "Forecast":
        from engine.judge.forecast import time_first_items
        from engine.judge.plan import open_model

        made = _prepare(planned.setup, at_hand, control).plan
        control.report(Preparing("Judging the first items"))
        rate = time_first_items(made, lambda: open_model(made, control.cancel))
        return planned.forecast.with_rate(rate)

    return work


def judge(setup: RunSetup, store_path: Path, at_hand: "Dataset | None") -> Job[RunEnded]:
    """Judge what the store does not hold yet.

    Tells Preparing and the events of the run, with ItemDecided for ItemJudged, and tokens at most ten times
    a second. SetupError where a run to resume is not that of the setup any more.
    """

    def work(control: JobControl) -> RunEnded:
        from engine.judge.plan import check_resumed, open_model
        from engine.judge.run import run_judging
        from engine.store.run_store import RunStore

        resumed = _resumed(setup, store_path)
        made = _prepare(setup, at_hand, control, resumed).plan
        if resumed is not None:
            check_resumed(made, resumed)
        control.report(Preparing("Loading the model"))
        with RunStore(store_path) as store:
            events = run_judging(
                made, store, lambda: open_model(made, control.cancel), setup.fresh, setup.resumes
            )
            for event in _for_the_window(events, made, store):
                control.report(event)
                if isinstance(event, RunEnded):
                    ended = event
        return ended

    return work


def _resumed(setup: RunSetup, store_path: Path) -> "StoredRun | None":
    """The run to go on with, None where the setup names none. StoreError where the store does not hold it."""
    from engine.store.run_store import RunStore

    if setup.resumes is None:
        return None
    with RunStore(store_path) as store:
        return store.run(setup.resumes)


def _for_the_window(
    events: Iterator[RunEvent], made: "RunPlan", store: "RunStore"
) -> "Iterator[RunEvent | ItemDecided]":
    """The events as the window wants them: fewer of tokens, items with what is decided of them."""
    from engine.decisions.calibration import calibration_of
    from engine.decisions.decision import decide

    tokens, last = 0, time.monotonic()
    calibrations = made.calibration.criteria if made.calibration else {}
    for event in events:
        if isinstance(event, TokensEvaluated):
            tokens += event.tokens
            if time.monotonic() - last < _TELL_TOKENS_SECONDS:
                continue
            yield TokensEvaluated(tokens)
            tokens, last = 0, time.monotonic()
        elif isinstance(event, ItemJudged):
            decided = (decide(event.judged, name, calibrations.get(name)) for name in made.rubric.names)
            yield ItemDecided(event.judged, tuple(decided))
        else:
            if isinstance(event, RunStarted) and not calibrations:
                kept = store.run(event.run_id).calibration
                calibrations = calibration_of(kept).criteria if kept is not None else {}
            yield event


@dataclass(frozen=True)
class _Prepared:
    plan: "RunPlan"
    model: "ModelFile"
    notices: tuple[str, ...]


def _prepare(
    setup: RunSetup, at_hand: "Dataset | None", control: JobControl, resumed: "StoredRun | None" = None
) -> _Prepared:
    """The plan of a setup. SetupError where something chosen cannot be used, Cancelled."""
    control.report(Preparing("Reading the files"))
    from engine.decisions.calibration import load_calibration
    from engine.gguf.judge_file import read_model_file
    from engine.judge import prepare
    from engine.judge.plan import RunPlan
    from engine.loading.checked_model import checked_model

    rubric = ELOQUENT.only(setup.criteria)
    model = read_model_file(setup.model_path)
    settings = prepare.judge_settings(
        model,
        mode=setup.mode,
        both_orders=setup.both_orders,
        context=setup.context or None,
        max_explanation_tokens=setup.max_explanation_tokens,
        temperature=setup.temperature,
        seed=setup.seed,
        shorten=setup.shorten,
        kv_type=setup.kv_type,
    )
    dataset = _dataset(setup, at_hand, control.cancel, resumed.identity.dataset_hash if resumed else None)
    notices = prepare.plan_notices(dataset, model, settings)
    pool = (
        {"examples": prepare.example_pool(setup.examples_path, setup.shots, rubric, control.cancel)}
        if setup.examples_path
        else {}
    )
    control.report(Preparing("Checking the model file"))
    made = RunPlan(
        dataset=dataset,
        rubric=rubric,
        settings=settings,
        machine=prepare.machine_settings(setup.threads or None, setup.gpu_layers),
        model=checked_model(model, control.cancel),
        calibration=load_calibration(setup.calibration_path) if setup.calibration_path else None,
        **pool,
    )
    return _Prepared(made, model, tuple(notices))


def _dataset(
    setup: RunSetup, at_hand: "Dataset | None", cancel: CancelToken, wanted: str | None
) -> "Dataset":
    """The items of a setup. Of `wanted`, a hash, they are read again where those at hand are others."""
    from engine.data.dataset import load_dataset

    if at_hand is not None and at_hand.path.absolute() == setup.dataset_path.absolute():
        chosen = _first(at_hand, setup.items)
        if wanted in (None, chosen.hash):
            return chosen
    return _first(load_dataset(setup.dataset_path, cancel=cancel), setup.items)


def _first(dataset: "Dataset", items: int | None) -> "Dataset":
    return dataset if items is None or items >= len(dataset) else dataset.head(items)
