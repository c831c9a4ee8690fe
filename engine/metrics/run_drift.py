"""What changed between two runs that models judged, on the items and criteria that both have; without what
annotators overrode: it is asked whether a judge still says the same. Light, for judging prints it.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import sub
from pathlib import Path

from engine.core.column_map import ColumnMap
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken
from engine.core.judgments import AnyJudgment
from engine.data.dataset import Dataset
from engine.metrics.drift import Columns, Drift, EarlierItem, Opinion, drift
from engine.metrics.guidelines import Clause, GuidelineDrift, clauses_that_differ
from engine.metrics.intervals import FEW, OverInstructions, difference, holm, share
from engine.results.calibration import Calibration, judge_of_run
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults, load_results, results_read_again
from engine.settings.identity import (
    CLUSTER,
    COMPUTED_ON,
    CONTINUED,
    DRIVER,
    GPU_LAYERS,
    StoredRun,
    refuse_unasked,
)
from engine.store.run_store import RunStore

_REQUEST = "be compared with another"
_CLUSTER = "computers of a cluster"


def run_drift(
    then: RunResults,
    now: RunResults,
    dataset: Dataset,
    gold: Dataset | None = None,
    again: tuple[RunResults | None, RunResults | None] = (None, None),
) -> Drift:
    """What changed between two runs, decided as `decided_alike` says. `dataset`: holds the items. `gold`:
    where human labels of them are; None for those of the dataset. `again`: each of the two as it was read
    once more, in another batch shape. SetupError where no model judged a run, and where both share no item or
    criterion.
    """
    for each in (then, now):
        refuse_unasked(each.run, _REQUEST)
    before, after, decided = decided_alike(then.model_alone(), now.model_alone())
    shared = _shared_criteria(then.run, now.run)
    columns = _columns(before, after, dataset, gold or dataset, again)
    if not columns[shared[0]]:
        raise _no_shared_item(then.run, now.run)
    drawn = any(each.run.identity.judge_settings.reasons for each in (then, now))
    elsewhere = computed_elsewhere(then.run, now.run)
    found = drift(columns, then.run.title, now.run.title, drawn=drawn, decided=decided, elsewhere=elsewhere)
    names = dict.fromkeys((*before.judgments, *after.judgments))
    clauses = clauses_that_differ(then.run.identity.asked, now.run.identity.asked)
    return replace(
        found,
        left_out=tuple(name for name in names if name not in shared),
        guidelines=guideline_drift(columns, clauses) if clauses else (),
    )


def guideline_drift(columns: Columns, clauses: Sequence[Clause]) -> tuple[GuidelineDrift, ...]:
    """How far labels moved between two wordings, beside how far the judge differs between its own orders: of
    all criteria, for one whose own wording is the same shows what else moves labels.
    """
    found = []
    for name, column in columns.items():
        known = [
            (each.instruction, float(each.changed), (each.then.flipped + each.now.flipped) / 2)
            for each in column
            if each.then.flipped is not None and each.now.flipped is not None
        ]
        if known:
            groups, moved, noise = map(list, zip(*known, strict=True))
            sides = [{each.then.label, each.now.label} for each in column if each.changed]
            own = [each for each in clauses if each.criterion in (None, name)]
            moves = [sum(each.about is None or each.about in side for side in sides) for each in own]
            beyond = list(map(sub, moved, noise))
            over = OverInstructions.of_one(beyond, groups)
            p_value = over.p_value if over and over.instructions >= FEW else None
            estimates = share(moved, groups), share(noise, groups), difference(beyond, groups)
            found.append(GuidelineDrift(name, tuple(zip(own, moves, strict=True)), *estimates, p_value))
    tested = [place for place, one in enumerate(found) if one.p_value is not None]
    for place, p_value in zip(tested, holm([found[each].p_value or 0.0 for each in tested]), strict=True):
        found[place] = replace(found[place], p_value=p_value)
    return tuple(found)


def stored_drift(
    store: RunStore,
    then: int,
    now: int,
    path: Path | None = None,
    cancel: CancelToken | None = None,
    *,
    gold: Dataset | None = None,
    columns: ColumnMap | None = None,
) -> Drift:
    """The same of two stored runs; `path`: where the dataset of one of them is, None for where it was;
    `columns`: by which it is read. SetupError also where no dataset is there or holds the items; Cancelled.
    """
    runs = [store.run(number) for number in (then, now)]
    for run in runs:
        refuse_unasked(run, _REQUEST)
    _shared_criteria(*runs)
    if now not in store.shared_items(then):
        raise _no_shared_item(*runs)
    before, after = (load_results(store, number) for number in (then, now))
    again = results_read_again(store, before), results_read_again(store, after)
    try:
        dataset = dataset_of_run(runs[0], path, cancel, columns)
    except SetupError as missing:
        try:  # the later run may be of a part of the file that was kept, or of the file where it is now
            dataset = dataset_of_run(runs[1], path, cancel, columns)
        except SetupError:
            raise missing from None
    return run_drift(before, after, dataset, gold, again)


def computed_elsewhere(then: StoredRun, now: StoredRun) -> str:
    """A sentence on what computed two runs, where that was not the same, or several; else empty."""
    first, second = _computed_by(then), _computed_by(now)
    if first == second and len(first) == 1 and _CLUSTER not in first:
        return ""
    those, these = (" and ".join(sorted(each)) for each in (first, second))
    return (
        f"{then.title} was computed by {those}, {now.title} by {these}: each rounds differently, which"
        " reading in another batch shape on one of them does not measure."
    )


def _computed_by(run: StoredRun) -> set[str]:
    if CLUSTER in run.manifest:
        return {_CLUSTER}
    found = set()
    for session in (run.manifest, *run.manifest.get(CONTINUED, [])):
        title = session.get(COMPUTED_ON)
        layers, driver = session.get(GPU_LAYERS), session.get(DRIVER)
        found.add(f"{title} ({layers} layers, driver {driver})" if title else "the processor")
    return found


def _no_shared_item(then: StoredRun, now: StoredRun) -> SetupError:
    return SetupError(
        f"{then.title} and {now.title} share no item with the same texts.", Hint(Step.CHOOSE_RUN)
    )


def _shared_criteria(then: StoredRun, now: StoredRun) -> list[str]:
    """The criteria that both runs have, in the order of the earlier. SetupError where there is none."""
    shared = [name for name in then.identity.criteria if name in now.identity.criteria]
    if not shared:
        asked = "; ".join(f"{run.title}: {', '.join(run.identity.criteria)}" for run in (then, now))
        raise SetupError(f"The two runs share no criterion ({asked}).", Hint(Step.CHOOSE_RUN))
    return shared


def decided_alike(then: RunResults, now: RunResults) -> tuple[RunResults, RunResults, str]:
    """Both by the earlier run's calibration if it fits the later, else as read; a sentence on that."""
    calibration = then.calibration
    if calibration is None:
        said = f"Both use raw predictions, without the calibration of {now.run.called}."
        return then, now.calibrated(None), said if now.calibration else ""
    if why_not := _does_not_fit(calibration, now):
        said = f"Both use raw predictions: the calibration of {then.run.called} {why_not}"
        return then.calibrated(None), now.calibrated(None), f"{said} {now.run.called}."
    return then, now.calibrated(calibration), f"Both use the calibration of {then.run.called}."


def _does_not_fit(calibration: Calibration, other: RunResults) -> str:
    """Why it cannot decide another run, before the name of that; empty where it can."""
    try:
        calibration.check_fits(judge_of_run(other.run.identity))
    except SetupError:
        return "is of another judge than"
    try:
        calibration.check_run(other.run, other.judged)
    except SetupError:
        return "uses what is not known of"
    return ""


def _columns(
    then: RunResults, now: RunResults, dataset: Dataset, gold: Dataset, again: Sequence[RunResults | None]
) -> dict[str, list[EarlierItem]]:
    """The items that both judged with the same texts, in the order of the dataset."""
    hashes = dict(then.content_hashes.items() & now.content_hashes.items())
    items = list(dataset.same_items(hashes))
    labelled = {item.id: item.gold for item in gold.same_items(hashes)}
    twice = zip((then, now), again, strict=True)
    runs = [then, now, *(each and each.model_alone().calibrated(own.calibration) for own, each in twice)]
    both = [each and (each, each.calibrated(None) if each.calibration else each) for each in runs]
    columns = {}
    for name in _shared_criteria(then.run, now.run):
        said = [_opinions(each[0].judgments[name], each[1].judgments[name]) if each else {} for each in both]
        again_then, again_now = (
            {item_id: each for item_id, each in one.items() if each.label is not None} for one in said[2:]
        )
        columns[name] = [
            EarlierItem(
                item.group,
                said[0][item.id],
                said[1][item.id],
                human.label if (human := labelled.get(item.id, {}).get(name)) else None,
                again_then.get(item.id),
                again_now.get(item.id),
            )
            for item in items
        ]
    return columns


def _opinions(judgments: Sequence[AnyJudgment], read: Sequence[AnyJudgment]) -> dict[str, Opinion]:
    """What is said of each item, by its id; `read`: the same without a calibration."""
    pairs = zip(judgments, read, strict=True)
    return {judgment.item_id: Opinion.of(judgment, as_read) for judgment, as_read in pairs}
