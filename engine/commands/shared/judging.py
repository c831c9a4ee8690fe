"""What the commands that judge share: a plan's items in words, the run on this computer, its progress.

Knows: which process judges, what is shown meanwhile. Does not know: arguments, what a run is used for.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.commands.shared.console import printable, tell
from engine.commands.shared.progress import RunProgressBar
from engine.commands.shared.remedies import OPTIONS
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import FilesRead, MeasureProgress, Preparing, RunEnded, RunEvent
from engine.core.formatting import counted
from engine.core.remedies import Hint
from engine.core.rubric import Rubric, default_criterion
from engine.core.until import StoppingRule
from engine.judge.on_device import judging_by
from engine.judge.plan import RunPlan
from engine.judge.prepare import PreparedRun
from engine.judge.work import judge_plan, read_again
from engine.loading.checked_model import in_use
from engine.rank.until_sure import until_significant
from engine.system.apart import InProcessWorker, SubprocessWorker
from engine.system.awake import Awake, KeepAwake, can_stay_awake


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
