"""What the judge of a stored run said of its items when it read them once more, in another batch shape.

Kept next to the run, as numbers: how far rounding moves what it says.

Knows: the order of these numbers. Does not know: how items are read, what is made of the difference.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from engine.core.items import digest
from engine.core.judgments import JudgedItem, RawPrediction
from engine.core.run_records import StoredRun
from engine.decisions.run_results import RunResults
from engine.store.run_store import RunStore
from engine.store.run_table import key_with_run

_NO_NUMBER = 1.0  # no log-probability; JSON has no infinity


def keep_read_again(store: RunStore, results: RunResults, again: Sequence[JudgedItem]) -> None:
    """Keep what was read of the items of a run, `again` in their order; orders and methods that the run did
    not read of an item are omitted, and items that were shortened otherwise, as without room for
    explanations.
    """
    numbers: list[float] = []
    for item, other in zip(results.judged, again, strict=True):
        for name, reading in _raw_predictions(item, results.run):
            raw_predictions = (
                other.raw_predictions.get(name, ()) if item.shortening == other.shortening else ()
            )
            said = {(each.method, each.order): each.log_probs for each in raw_predictions}
            log_probs = said.get((reading.method, reading.order), (-math.inf,) * len(reading.log_probs))
            numbers += (each if math.isfinite(each) else _NO_NUMBER for each in log_probs)
    store.remember({_key(results.run): numbers})


def results_read_again(store: RunStore, results: RunResults) -> RunResults | None:
    """The same run as it was read again, decided as `results` are; None where it was not, or not this."""
    key = _key(results.run)
    numbers = list(store.recall([key]).get(key, ()))
    sizes = [
        len(reading.log_probs)
        for item in results.judged
        for _, reading in _raw_predictions(item, results.run)
    ]
    if not numbers or len(numbers) != sum(sizes):
        return None
    rest = iter(-math.inf if number == _NO_NUMBER else number for number in numbers)
    judged = tuple(replace(item, raw_predictions=_with(item, results.run, rest)) for item in results.judged)
    return replace(results, judged=judged).calibrated(results.calibration)


def _with(
    item: JudgedItem, run: StoredRun, numbers: Iterator[float]
) -> Mapping[str, tuple[RawPrediction, ...]]:
    """The raw predictions of an item with the next of these numbers in the place of theirs."""
    raw_predictions: dict[str, list[RawPrediction]] = {}
    for name, reading in _raw_predictions(item, run):
        a, b, both_good, both_bad = (next(numbers) for _ in reading.log_probs)
        raw_predictions.setdefault(name, []).append(replace(reading, log_probs=(a, b, both_good, both_bad)))
    return {name: tuple(own) for name, own in raw_predictions.items()}


def _raw_predictions(item: JudgedItem, run: StoredRun) -> Iterator[tuple[str, RawPrediction]]:
    for name in run.identity.criteria:
        for reading in item.raw_predictions.get(name, ()):
            yield name, reading


def _key(run: StoredRun) -> str:
    return f"{key_with_run(run.id)}read again, {digest([run.identity.key, run.created.isoformat()])}"
