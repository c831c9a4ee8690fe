"""What a run would take, as facts: the plan of the command line and of the window.

Knows: how a plan is worded. Does not know: how it is counted, where it is shown.
"""

from collections.abc import Iterator

from engine.core.formatting import amount, counted, listed, percent
from engine.core.settings import DEFAULT_METHODS
from engine.core.sheets import Facts
from engine.gguf.judge_file import ModelFile
from engine.gguf.memory import memory_needed
from engine.judge.forecast import Forecast
from engine.system.computer import Memory


def plan_facts(forecast: Forecast, model: ModelFile, memory: Memory | None) -> Facts:
    """All but the time, which may be known later than the rest: `Forecast.time_in_words`.

    `memory`: of this computer, None where others judge.
    """
    return Facts(tuple(_pairs(forecast, model, memory)))


def _pairs(forecast: Forecast, model: ModelFile, memory: Memory | None) -> Iterator[tuple[str, str]]:
    if forecast.judged:
        yield "in the store", forecast.stored
    yield "raw predictions", _raw_predictions(forecast)
    yield "too long", _too_long(forecast)
    most = forecast.tokens_to_write_at_most
    yield "tokens", f"{forecast.tokens_to_read:,} to read{f', at most {most:,} to write' if most else ''}"
    if forecast.settings.methods != DEFAULT_METHODS:
        yield "elicitation methods", _methods(forecast)
    settings = forecast.settings
    needed = memory_needed(model, settings.context, kv_type=settings.kv_type)
    free = f"; {amount(memory.available)} are free" if memory is not None else ""
    yield "memory", f"about {amount(needed.total)} with {settings.context:,} tokens of context{free}"


def _raw_predictions(forecast: Forecast) -> str:
    items = counted(forecast.items, "item", "items")
    each = f"{items} x {counted(forecast.criteria, 'criterion', 'criteria')}"
    methods = len(forecast.settings.methods)
    each += f" x {methods} methods" if methods > 1 else ""
    second = forecast.second
    if second is None:
        return (
            f"{each} x {'both orders' if forecast.orders > 1 else 'one order'} = {forecast.raw_predictions:,}"
        )
    if second.run_id is None:
        below = forecast.settings.second_order_below
        why = f"at most; no run tells how many items have a margin below {below:g}"
        return f"{each} x both orders if uncertain = {forecast.raw_predictions:,} {why}"
    share = f"the second order for {percent(second.share)} of the items, as in run {second.run_id}"
    return f"about {forecast.raw_predictions:,}: {each}, and {share}"


def _too_long(forecast: Forecast) -> str:
    item_id, tokens = forecast.largest
    if not forecast.too_long and not forecast.shortened:
        return f"none: every item fits. The largest, {item_id}, needs {tokens:,} tokens of context."
    said = [
        f"{len(ids):,} of {counted(forecast.items, 'item', 'items')} will be {what}: {listed(ids)}."
        for what, ids in (("unscored", forecast.too_long), ("shortened", forecast.shortened))
        if ids
    ]
    fits_all = forecast.context_that_fits_all
    enough = f"{fits_all:,} are enough" if fits_all else "the model was trained with less"
    return f"{' '.join(said)} The largest, {item_id}, needs {tokens:,} tokens of context; {enough}."


def _methods(forecast: Forecast) -> str:
    """What each method adds; there is a choice to be made by that."""
    settings, tokens = forecast.settings, forecast.tokens_by_method
    of_each = ", ".join(f"{method.title} {tokens.get(method, 0):,}" for method in settings.methods)
    added = f"tokens that their questions add to the items: {of_each}"
    if not settings.reasons:
        return added
    items = forecast.items - len(forecast.too_long)
    reasoning_samples = items * forecast.criteria * forecast.orders * settings.reasoning_samples
    return (
        f"{added}; at most {reasoning_samples:,} reasoning samples of {settings.max_reasoning_tokens:,}"
        " tokens"
    )
