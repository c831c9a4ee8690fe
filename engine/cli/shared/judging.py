"""`runs rewrite`: regenerate the stale explanations of a run for its effective labels.

Progress bars on stderr for runs and model measures: what is done, the rate, the time left.

What the commands that judge share: a plan's items in words, the run on this computer, its progress.

`judge --plan`: the forecast of a run, printed before anything is judged.
"""

import argparse
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar

from tqdm import tqdm

from engine.cli.shared.console import (
    DONE,
    INCOMPLETE,
    interruptible,
    printable,
    printed_section,
    raw_stderr,
    tell,
)
from engine.cli.shared.data_arguments import items_of_run, model_file
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.outputs import health_lines
from engine.cli.shared.setting_arguments import examples_of
from engine.core.errors import Hint, SetupError
from engine.core.events import (
    CancelToken,
    ClusterNews,
    ClusterUnderWay,
    DeviceLeft,
    FilesRead,
    HealthSeen,
    ItemJudged,
    JudgeEvent,
    MeasureProgress,
    ModelOpened,
    Preparing,
    Resolved,
    RunEnded,
    RunEvent,
    RunFollower,
    RunProgress,
    RunStarted,
    TokensEvaluated,
    followed,
)
from engine.core.formatting import clipped, counted, duration, listed
from engine.core.health import Health
from engine.core.rubric import Rubric, default_criterion
from engine.core.tables import Section
from engine.judging.forecast import Forecast, forecast
from engine.judging.plan import RunPlan, open_model
from engine.judging.prepare import PreparedRun
from engine.judging.run import Rewritten, rewrite_explanations, rewriting_plan
from engine.judging.work import judge_plan, judging_by, plan_facts, read_again, time_plan
from engine.models.checked_model import CheckedModel, checked_model, in_use
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.models.opening import machine_settings
from engine.ranking.stopping import until_significant
from engine.results.run_results import load_results
from engine.settings.identity import StoredRun, refuse_unasked
from engine.settings.sampling import StoppingRule
from engine.store.run_store import RunStore
from engine.system.computer import Awake, KeepAwake, available_memory, can_stay_awake
from engine.system.paths import is_there
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

_BAR = "{n_fmt}/{total_fmt} items |{bar:24}| {elapsed} elapsed{postfix}"
_MEASURE_BAR = "{n_fmt}/{total_fmt} |{bar:24}| {elapsed} elapsed, {remaining} left"
_SECONDS_ON_SCREEN, _SECONDS_IN_A_LOG = 0.2, 30.0
_WORTH_TELLING = 2.0  # seconds of work; losing less is better than waiting

Result = TypeVar("Result")


def show_measure(
    title: str, measure: Generator[MeasureProgress | JudgeEvent | Preparing, None, Result]
) -> Result:
    """Run a long measure to its end with a progress bar on stderr; its result."""
    bar: tqdm[NoReturn] | None = None

    def show(event: MeasureProgress | JudgeEvent | Preparing) -> None:
        nonlocal bar
        if isinstance(event, MeasureProgress):
            if bar is None:
                bar = _bar(event.total, event.done, f"{title}: {_MEASURE_BAR}")
            bar.update(event.done - bar.n)
        elif bar is not None:
            bar.update(0)  # the elapsed time is refreshed

    try:
        return followed(measure, show)
    finally:
        if bar is not None:
            bar.close()


def _bar(total: int, initial: int, shape: str) -> "tqdm[NoReturn]":
    return tqdm(
        total=total,
        initial=initial,
        file=raw_stderr(),
        bar_format=shape,
        mininterval=_SECONDS_ON_SCREEN if _is_seen() else _SECONDS_IN_A_LOG,
    )


def _is_seen() -> bool:
    """Whether someone sees stderr now: in a terminal, or in a notebook, which reports to be none."""
    return raw_stderr().isatty() or "ipykernel" in sys.modules


class RunProgressBar:
    """Shows each event of one run; use it in a `with` block."""

    def __init__(self) -> None:
        self._follower = RunFollower()
        self._bar: tqdm[NoReturn] | None = None
        self._warned = False

    def __enter__(self) -> "RunProgressBar":
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def loss_of_a_stop(self) -> str:
        """What a stop would lose, and when it would lose nothing; empty if it is little."""
        progress, cluster = self._follower.progress, self._follower.cluster
        if cluster is not None:
            judges = counted(cluster.workers, "worker judges", "workers judge")
            return f"The run stops after the items that {judges} now." if cluster.items else ""
        group = progress.group if progress is not None else None
        if group is None or group.seconds < _WORTH_TELLING:
            return ""
        return f"{group.ending_in_words} {group.loss_in_words}"

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        self._follower.follow(event)
        if isinstance(event, RunStarted):
            self._greet(event)
        elif isinstance(event, ModelOpened):
            self._start(event)
        elif isinstance(event, TokensEvaluated | ClusterUnderWay):
            self._refresh()
        elif isinstance(event, HealthSeen):
            self._warn(event.health)
        elif isinstance(event, Resolved):
            self._say(f"Resolved: {event.said}.")
        elif isinstance(event, ClusterNews):
            self._say(event.said if event.hint is None else f"{event.said} {OPTIONS.of(event.hint)}")
        elif isinstance(event, DeviceLeft):
            self._say(event.in_words)
        elif isinstance(event, ItemJudged) and self._bar is not None:
            self._bar.update()

    def _say(self, text: str) -> None:
        """Print above the bar, if there is one."""
        if self._bar is None:
            tell(printable(text))
        else:
            # To the bar's own stream: only there does tqdm clear the bar first.
            self._bar.write(printable(text), file=raw_stderr())

    def _greet(self, event: RunStarted) -> None:
        if event.judged == event.items:
            tell(f"Run {event.run_id} is complete in the store: nothing is judged again.")
        elif event.judged:
            tell(f"Run {event.run_id} is resumed: {event.judged} of {event.items} items are judged already.")

    def _start(self, event: ModelOpened) -> None:
        if event.note:
            tell(event.note)
        if (progress := self._follower.progress) is not None:
            self._bar = _bar(progress.items, progress.judged, _BAR)

    def _warn(self, health: Health) -> None:
        """Warn once, early; at the end the run's own report warns."""
        far = self._follower.progress
        goes_on = far is not None and far.judged < far.items
        if health.doubted and not self._warned and self._bar is not None and goes_on:
            self._warned = True
            self._bar.write(health_lines(health), file=raw_stderr())

    def _refresh(self) -> None:
        progress = self._follower.progress
        if self._bar is not None and progress is not None:
            self._bar.set_postfix_str(", ".join(self._how_far(progress)), refresh=False)
            self._bar.update(0)

    def _how_far(self, progress: RunProgress) -> Iterator[str]:
        """The time left, the current item, the speed: as far as they are known."""
        cluster, group = self._follower.cluster, progress.group
        if progress.left is not None:
            yield f"about {duration(progress.left)} left"
        if cluster is not None:
            yield counted(cluster.workers, "worker", "workers")
        elif group is not None and group.writing:
            yield "writing"
        elif group is not None:
            yield f"item {clipped(printable(group.item_id))}: {group.done:,} of {group.total:,}"
        yield f"{progress.tokens:,} tokens, {progress.tokens_per_second or 0:,.0f}/s"
        if progress.unscored:
            yield f"{progress.unscored} unscored"


def part_in_words(made: PreparedRun) -> str:
    """The items of a plan: `240 items of demo.tsv`, `5 of 240 items of demo.tsv`."""
    items, dataset, sample = made.items_in_file, made.plan.dataset, made.plan.sample
    part = f"{len(dataset):,} of " if len(dataset) < items else ""
    how = f" {printable(sample.how)}" if sample is not None else ""
    return f"{part}{counted(items, 'item', 'items')} of {printable(dataset.name)}{how}"


def tell_notices(event: FilesRead | Preparing, word: Callable[[Hint | str], str] = OPTIONS.of) -> None:
    """Report the notices on the files that were read; `word`: renders a hint."""
    if not isinstance(event, FilesRead):
        return
    if event.model_notice:
        tell(f"{printable(event.model)}: {printable(event.model_notice)}")
    for notice in event.notices:
        tell(word(notice))


def named_criteria(text: str | None, rubric: Rubric) -> tuple[str, ...]:
    """The criteria named in a comma-separated list; None: all of the rubric. SetupError for an empty name,
    and for one that the rubric lacks.
    """
    if text is None:
        return rubric.names
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise SetupError(
            f"--criteria: cannot read {text!r}.",
            f"Write some of {','.join(rubric.names)}, separated by commas.",
        )
    rubric.only(names)
    return names


def asking(made: PreparedRun, until: StoppingRule | None) -> PreparedRun:
    """The same run with a stopping rule. SetupError if the dataset does not allow it."""
    if until is None:
        return made
    plan = made.plan
    question_plan = until_significant(plan.dataset, default_criterion(plan.rubric.names), until)
    return replace(made, plan=replace(plan, question_plan=question_plan))


def judged_here(
    plan: RunPlan, store: Path, fresh: bool, cancel: CancelToken, *, apart: bool = False
) -> Iterable[RunEvent]:
    """The run, judged on this computer; `apart`: in a process of its own, whose crash affects no other."""
    # A GPU driver may crash the process that uses it.
    worker = partial(
        SubprocessWorker if apart or plan.machine.device else InProcessWorker, judge_plan, cancel
    )
    return judging_by(worker(), worker, plan, store, fresh=fresh)


def read_again_here(
    plan: RunPlan, store: Path, run_id: int, cancel: CancelToken, *, apart: bool = False
) -> Generator[MeasureProgress, None, None]:
    """The items of a run, read once more on this computer in another batch shape, and stored; `apart`: as for
    judging.
    """
    worker = (SubprocessWorker if apart or plan.machine.device else InProcessWorker)(read_again, cancel)
    with worker, in_use(plan.model):
        yield from worker.do(plan, store, run_id)


def tell_stopped(ended: RunEnded, fresh: bool) -> None:
    """Report the progress of a stopped run, and how to resume it; `fresh`: whether it was started anew."""
    command = f"command{' without --fresh' if fresh else ''}"
    tell(stopped_in_words(ended, command))


def stopped_in_words(ended: RunEnded, same: str) -> str:
    """The progress of a stopped run, and that the `same` command or call resumes it."""
    return (
        f"Run {ended.run_id} stopped: {ended.judged} of {ended.items} items are judged and stored.\n"
        f"The same {same} resumes it."
    )


def shown_to_its_end(events: Iterable[RunEvent], progress: RunProgressBar, keep_awake: KeepAwake) -> RunEnded:
    """Show progress, and keep the computer awake, until the run ends; its last event."""
    if keep_awake is KeepAwake.YES and not can_stay_awake():
        tell("The computer may go to sleep: no program to keep it awake was found.")
    with progress, Awake(keep_awake) as awake:
        for event in events:
            awake.refresh()
            progress.show(event)
            if isinstance(event, RunEnded):
                ended = event
    return ended


def show_forecast(made: PreparedRun, part: str, store: Path, fresh: bool, cancel: CancelToken) -> int:
    """Compute and print the forecast of a plan; the exit code. No judgment is stored.

    `part`: what the plan judges, in words.
    If neither the store nor a measurement of the file knows the speed of this model, some items are judged
    for it and dropped.
    """
    plan = made.plan
    counted = show_counted(made, part, store, fresh, cancel)
    if counted.seconds is None and len(counted.too_long) < counted.items:
        tell("No run in the store shows the speed of this model: judging some items to measure it ...")
        with (SubprocessWorker if plan.machine.device else InProcessWorker)(time_plan, cancel) as worker:
            counted = counted.with_rate(followed(worker.do(plan), lambda _event: None))
    print(f"\nTime: {counted.time_in_words}.")
    return DONE


def show_counted(
    made: PreparedRun, part: str, store: Path, fresh: bool, cancel: CancelToken, *, here: bool = True
) -> Forecast:
    """Compute and print the forecast without the time; `here`: whether this computer judges."""
    plan = made.plan
    counted = show_measure("Counting", forecast(plan, store, cancel, fresh))
    if counted.template_note:
        tell(counted.template_note)
    facts = plan_facts(counted, made.model, available_memory() if here else None)
    print(f"\n{printed_section(Section('plan', f'{plan.model.name} on {part}', [facts]))}")
    return counted


def rewrite(store: RunStore, options: argparse.Namespace) -> int:
    """Regenerate stale explanations, and print the result; the exit code."""
    results = load_results(store, options.id)
    if not results.stale:
        print(f"No explanation of run {options.id} is stale.")
        return DONE
    with interruptible() as cancel:
        plan = _plan(results.run, options, cancel)
        work = rewrite_explanations(plan, store, options.id, lambda: open_model(plan, cancel))
        return _tell(options.id, show_measure("explanations", work))


def _plan(run: StoredRun, options: argparse.Namespace, cancel: CancelToken) -> RunPlan:
    refuse_unasked(run, "have its explanations regenerated")
    dataset = items_of_run(options, run, options.dataset, cancel)
    examples = examples_of(options, run.identity.asked, cancel)
    model = _model(run, options.model, cancel)
    machine = machine_settings(options.threads)
    return rewriting_plan(run, dataset, model, machine, examples)


def _model(run: StoredRun, word: str | None, cancel: CancelToken) -> CheckedModel:
    path = model_file(word) if word else run.identity.model_path
    if not is_there(path):
        raise SetupError(
            f"Run {run.id} was judged by {printable(run.identity.model_name)}; {path} is missing.",
            "Put the model back, or name its file with --model.",
        )
    described, settings = read_model_file(path), run.identity.judge_settings
    if warning := check_memory(described, settings.context, kv_type=settings.kv_type):
        tell(warning)
    return checked_model(described, cancel)


def _tell(run_id: int, made: Rewritten) -> int:
    print(f"Run {run_id}: {made.written:,} of {made.stale:,} stale explanations are regenerated.")
    if made.wordless:
        tell(f"For {made.wordless:,} of them the model wrote nothing: the old ones are kept.")
    if made.too_long:
        items = counted(len(made.too_long), "item does", "items do")
        tell(f"{items} not fit the context: {listed(made.too_long)}.")
    if made.stopped:
        tell("Stopped: all new explanations are stored. The same command resumes.")
    return DONE if made.written == made.stale else INCOMPLETE
