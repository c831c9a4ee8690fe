"""Of how many items a planned run will read the second order, by what earlier runs say.

Knows: which runs can tell. Does not know: tokens, how a plan is shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from engine.core.judgments import JudgedItem
from engine.core.run_records import StoredRun
from engine.decisions.calibration import judge_of_run
from engine.decisions.second_order import LEAST_ITEMS, both_orders, orders_read
from engine.judge.plan import RunPlan
from engine.store.run_store import RunStore

_LOOKED_AT = 1000  # items of a run: more make it no surer


@dataclass(frozen=True)
class SecondShare:
    """The share (0 to 1) of items that are read in both orders; `run_id`: of the run that tells, None where
    none does, and all are counted.
    """

    share: float = 1.0
    run_id: int | None = None


def second_share(plan: RunPlan, store: RunStore, runs: Iterable[StoredRun]) -> SecondShare:
    """The share that the first of these runs tells that is of the same judge."""
    below = plan.settings.second_order_below
    if below is None:
        return SecondShare()
    for run in runs:
        if not _is_alike(plan, run):
            continue
        judged = list(islice(store.judged(run.id), _LOOKED_AT))
        known = _read_twice(judged, run, plan.rubric.names, below)
        if len(known) >= LEAST_ITEMS:
            return SecondShare(sum(known) / len(known), run.id)
    return SecondShare()


def _is_alike(plan: RunPlan, run: StoredRun) -> bool:
    if run.submitted or not set(plan.rubric.names) <= set(run.identity.criteria):
        return False
    mine, other = judge_of_run(plan.identity()), judge_of_run(run.identity)
    same_questions = all(other.asked_of(name) == asked for name, asked in mine.asked.items())
    return same_questions and replace(mine, model_name="", asked={}) == replace(
        other, model_name="", asked={}
    )


def _read_twice(
    judged: Sequence[JudgedItem], run: StoredRun, criteria: Sequence[str], below: float
) -> list[bool]:
    """Which items of a run were read in both orders, or would be with this margin; empty for not known."""
    was_below = run.identity.settings.get("second_order_below")
    if was_below is None:
        return list(map(bool, both_orders(judged, criteria).read(below).tolist()))
    if was_below != below or set(run.identity.criteria) != set(criteria):
        return []
    return [orders > 1 for item in judged if (orders := orders_read(item))]
