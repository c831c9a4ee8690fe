"""`judge --plan`: the forecast of a run, printed before anything is judged.

Knows: how a forecast is printed. Does not know: its content.
"""

from pathlib import Path

from engine.commands.shared.console import DONE, tell
from engine.commands.shared.printed_sheet import printed_section
from engine.commands.shared.progress import show_measure
from engine.core.cancel import CancelToken
from engine.core.events import followed
from engine.core.sheets import Section
from engine.judge.forecast import Forecast, forecast
from engine.judge.plan_facts import plan_facts
from engine.judge.prepare import PreparedRun
from engine.judge.work import time_plan
from engine.system.apart import InProcessWorker, SubprocessWorker
from engine.system.computer import available_memory


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
