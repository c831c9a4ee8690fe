"""`judge --plan`: what a run will take, printed before anything is judged.

Knows: how a forecast is printed.
"""

from pathlib import Path

from engine.commands.shared.console import DONE, printable, tell
from engine.commands.shared.progress import show_measure
from engine.core.cancel import CancelToken
from engine.core.events import followed
from engine.core.formatting import duration, listed, percent
from engine.core.settings import USUAL_WAYS
from engine.judge.forecast import Forecast, forecast
from engine.judge.plan import RunPlan
from engine.judge.work import time_plan
from engine.system.apart import Apart, Here


def show_forecast(plan: RunPlan, part: str, store: Path, fresh: bool, cancel: CancelToken) -> int:
    """Count what a plan will take and print it; the exit code. Nothing is judged for good.

    `part`: what the plan judges, in words.
    Where neither the store nor a measure of its file knows a rate of this model, some items are judged for
    one and dropped.
    """
    counted = show_counted(plan, part, store, fresh, cancel)
    if counted.seconds is None and len(counted.too_long) < counted.items:
        tell("No run in the store tells the speed of this model: judging some items for it ...")
        with (Apart if plan.machine.device else Here)(time_plan, cancel) as worker:
            counted = counted.with_rate(followed(worker.do(plan), lambda _event: None))
    print(f"\n{_time(counted)}")
    return DONE


def show_counted(plan: RunPlan, part: str, store: Path, fresh: bool, cancel: CancelToken) -> Forecast:
    """Count what a plan will take and print it, without the time."""
    counted = show_measure("Counting", forecast(plan, store, cancel, fresh))
    if counted.template_note:
        tell(counted.template_note)
    print(f"\n{printable(plan.model.name)} on {part}:\n")
    facts = _facts(counted)
    width = max(map(len, facts))
    print("\n".join(f"{name.ljust(width)}  {printable(value)}" for name, value in facts.items()))
    return counted


def _facts(counted: Forecast) -> dict[str, str]:
    item_id, cells = counted.largest
    fits_all = counted.context_that_fits_all
    judged = f" in run {counted.run_id}" if counted.run_id else ""
    return {
        "judgments": f"{counted.judgments:,} ({counted.criteria} criteria)",
        "readings": f"{counted.readings:,} ({_orders(counted)})",
        **_ways(counted),
        "tokens to read": f"{counted.tokens_to_read:,}",
        "tokens to write": f"{counted.tokens_to_write_at_most:,} at most",
        "context": f"{counted.settings.context:,} tokens",
        "largest item": f"{item_id} with {cells:,} tokens",
        "context that fits all": f"{fits_all:,}" if fits_all else "more than the model was trained with",
        "too long, unscored": _ids(counted.too_long),
        "too long, shortened": _ids(counted.shortened),
        "judged already": f"{counted.judged:,} of {counted.items:,}{judged}",
    }


def _ways(counted: Forecast) -> dict[str, str]:
    """What each way costs, where there are several."""
    if counted.settings.ways == USUAL_WAYS:
        return {}
    settings, tokens = counted.settings, counted.tokens_by_way
    said = [f"{way} {tokens.get(way, 0):,}" for way in settings.ways]
    thoughts = f"; thoughts of at most {settings.max_thought_tokens:,} tokens" if settings.thinks else ""
    return {"of it by way": f"{', '.join(said)}{thoughts}"}


def _orders(counted: Forecast) -> str:
    second = counted.second
    if second is None:
        return "both orders" if counted.orders > 1 else "one order"
    below = counted.settings.second_order_below
    if second.run_id is None:
        return f"both orders of every item at most: no run tells how many have a margin below {below:g}"
    return f"both orders of about {percent(second.share)} of the items, as run {second.run_id} tells"


def _ids(ids: tuple[str, ...]) -> str:
    return f"{len(ids):,}: {listed(ids)}" if ids else "none"


def _time(counted: Forecast) -> str:
    if counted.judged == counted.items:
        return "Nothing is left to judge."
    if counted.seconds is None:
        return "No item fits: there is nothing to judge."
    return f"Time: about {duration(counted.seconds)}, if it goes as fast as {counted.pace}."
