"""An earlier run whose items are judged again, by its setup where none is given: a regression check measures
what changed since, an escalation has another model judge what may not stand, and puts both together as a run.
Does not know: how a run is judged, how drift is measured, how a threshold is found.
"""

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from engine.calibration.cascade import make_cascade
from engine.core.errors import Given, Hint, SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress, Note
from engine.core.formatting import counted, duration, words
from engine.core.rubric import Rubric, rubric_for_labels
from engine.core.tables import Facts
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn_by_instruction
from engine.data.rubrics.files import find_rubric
from engine.judging.forecast import Forecast, forecast
from engine.judging.plan import RunPlan
from engine.judging.work import read_again
from engine.metrics.drift import Drift
from engine.metrics.run_drift import run_drift
from engine.models.checked_model import in_use
from engine.operations.judge_request import JudgeRequest, Orders
from engine.operations.opening import check_store
from engine.results.run_dataset import dataset_of_run, load_as_judged
from engine.results.run_results import RunResults, load_results, results_read_again
from engine.results.trust import KeptThreshold, KeptTrust, escalated, kept_trust
from engine.settings.identity import StoredRun, checked_name, refuse_unasked
from engine.settings.rows import CPU
from engine.settings.run_setup import RunSetup
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

DEFAULT_ITEMS = 50
"""Of a regression check."""


@dataclass(frozen=True)
class EarlierRun:
    """Some `items` of a run, whose results are `then`."""

    then: RunResults
    items: Dataset

    @property
    def run(self) -> StoredRun:
        return self.then.run

    @property
    def default(self) -> RunSetup:
        """The setup of the run, for these items."""
        return replace(
            RunSetup.as_in(self.run),
            dataset_path=self.items.path,
            columns=self.items.columns,
            items=None,
            sample=None,
            ids=tuple(self.items.ids),
            device=self.run.identity.device or CPU,
        )

    @property
    def orders(self) -> Orders:
        default = self.default
        return Orders(default.both_orders, default.second_order_below)

    def criteria_of(self, rubric: Rubric) -> tuple[str, ...]:
        """The criteria of a rubric that the earlier run has, too. SetupError if there are none."""
        known = self.run.identity.criteria
        if shared := tuple(name for name in rubric.names if name in known):
            return shared
        other = ", or a rubric that has criteria of these names."
        raise SetupError(
            f"{self.run.title} has the criteria {', '.join(known)}, and none of them is requested now"
            f" ({', '.join(rubric.names)}).",
            Hint("Name one of its criteria with ", Given("criteria"), other),
        )


def earlier_run(
    request: JudgeRequest, named: str, run_id: int, cancel: CancelToken
) -> tuple[RunResults, Dataset]:
    """The run that the value `named` of a request names, and all items that it judged. SetupError for a run
    of no model, without items, or whose dataset is gone or another.
    """
    with RunStore(check_store(request.store)) as store:
        run = store.run(run_id)
        refuse_unasked(run, "be judged again")
        then = load_results(store, run.id)
    path = request.dataset or run.identity.dataset_path
    if request.dataset is None and not has_store(path):
        raise SetupError(
            f"{run.title}: its dataset {path} is missing.",
            Hint("Put it back, or name its file together with ", Given(named, run.id)),
        )
    if request.columns is not None and request.rubric is not None:
        request.columns_for(find_rubric(request.rubric))
    judged = dataset_of_run(run, path, cancel, request.columns).only(then.content_hashes)
    if not len(judged):
        raise SetupError(f"{run.title} has judged no item yet.", "Name another run.")
    return then, judged


@dataclass(frozen=True)
class RegressionCheck(EarlierRun):
    """`gold`: labels of the items, if in another file."""

    gold: Dataset | None = None


def planned(
    check: RegressionCheck, plan: RunPlan, request: JudgeRequest
) -> Generator[Note, None, tuple[RunPlan, bool]]:
    """The plan with the calibration of the earlier run if it fits, and a default name; whether it is new."""
    try:
        plan = replace(plan, calibration=check.then.calibration)
    except SetupError:
        yield Note(f"The calibration of {check.run.called} is of another judge: it is not used here.")
    with RunStore(request.store) as store:
        found = store.find(plan.identity().key)
    # The earlier run is what is checked, even with the same key: so only a check that started after it and
    # was stopped is resumed.
    anew = found is None or found.id <= check.run.id or found.complete
    if request.name is None and anew:
        plan = replace(plan, name=f"regression check of run {check.run.id}")
    return plan, anew


def drift_since(
    check: RegressionCheck, plan: RunPlan, store_path: Path, run_id: int, cancel: CancelToken, *, apart: bool
) -> Generator[MeasureProgress | Note, None, Drift]:
    """The drift from the earlier run to the run that judged its items again. If any probability changed, the
    items are first read once more in another batch shape, to measure the effect of rounding.
    """
    with RunStore(store_path) as store:
        now = load_results(store, run_id)
    found = run_drift(check.then, now, check.items, check.gold)
    if not found.may_be_rounding:
        return found
    try:
        # A GPU driver may crash the process that uses it.
        worker = (SubprocessWorker if apart or plan.machine.device else InProcessWorker)(read_again, cancel)
        with worker, in_use(plan.model):
            yield from worker.do(plan, store_path, run_id)
    except (Cancelled, SetupError) as error:
        why = "It was stopped." if isinstance(error, Cancelled) else error.problem
        yield Note(f"The effect of rounding on probabilities is not measured. {why}")
    with RunStore(store_path) as store:
        again = (None, results_read_again(store, now))
    return run_drift(check.then, now, check.items, check.gold, again)


def regression_check_of(
    request: JudgeRequest, cancel: CancelToken
) -> Generator[Note, None, RegressionCheck | None]:
    """The requested check. SetupError for a run of no model, too few items, a dataset gone or other."""
    if request.regression_check is None:
        return None
    then, judged = earlier_run(request, "regression_check", request.regression_check, cancel)
    run = then.run
    if run.identity.examples and request.examples is None:
        same = (Given("few_shot"), " and ", Given("few_shot_selection"))
        raise SetupError(
            f"{run.title} was shown labelled examples, and the store does not have their file.",
            Hint("Name it: ", Given("examples"), " (with the same ", *same, ")"),
        )
    if request.items is not None and request.items > len(judged):
        found = f"{run.called} judged {counted(len(judged), 'item', 'items')}."
        raise SetupError(
            Hint(Given("items"), f" is {request.items:,}: {found}"), f"Use {len(judged):,} or fewer."
        )
    if request.items is None and len(judged) < DEFAULT_ITEMS:
        yield Note(f"All {len(judged):,} items that {run.called} judged are judged again.")
    count = request.items or min(DEFAULT_ITEMS, len(judged))
    items = drawn_by_instruction(judged, count, request.seed)
    gold = None if request.gold is None else _gold(request.gold, run, items, cancel)
    return RegressionCheck(then, items, gold)


def _gold(path: Path, run: StoredRun, items: Dataset, cancel: CancelToken) -> Dataset:
    """A file of human labels. SetupError if it has no label of these items on a criterion of the run."""
    gold = load_as_judged(path, [run], cancel, moved=True, rubric=rubric_for_labels([run.identity.asked]))
    hashes = {item.id: item.content_hash for item in items}
    given = [each for item in gold.same_items(hashes) for each in item.gold.items()]
    if not any(name in run.identity.criteria and each.label is not None for name, each in given):
        raise SetupError(
            f"{gold.name} has no human label of the {len(items):,} items that are judged again.",
            "Name a dataset with the same ids and texts, and labels of the criteria of the run.",
        )
    return gold


@dataclass(frozen=True)
class Escalation(EarlierRun):
    """`items`: those of which not every label may stand, as `kept` says by criterion; `whole`: all that the
    run judged. `then`: on these criteria, without labels of annotators. `name`: of the cascade.
    """

    whole: Dataset
    kept: KeptTrust
    name: str

    @property
    def default(self) -> RunSetup:
        return replace(super().default, device=None)  # the other model may well be for a GPU

    def kept_with(self, second: RunResults, store: RunStore) -> RunResults:
        """The cascade of both runs, stored; one made of the same stays. RunBusyError, StoreError."""
        made = make_cascade(self.then, second, self.kept, self.whole)
        return load_results(store, made.keep(store, self.name).id)

    def cost(
        self, plan: RunPlan, found: Forecast, store: Path, cancel: CancelToken
    ) -> Generator[MeasureProgress, None, Facts]:
        """What each model takes by itself, and the cascade; `found`: of the plan, with its time."""
        everything = replace(plan, dataset=self.whole, chosen=False, sample=None)
        alone = yield from forecast(everything, store, cancel, fresh=True)
        items, efforts = len(self.whole), self.then.judged
        read, seconds = sum(each.tokens_read for each in efforts), sum(each.seconds for each in efforts)
        part, all_of_it = (_anew(each, found) for each in (found, alone))
        together = None if part is None else seconds + part
        criteria = self.kept.criteria.items()
        labels = ", ".join(f"{each.labels:,} on {words(name)}" for name, each in criteria if each.labels)
        return Facts(
            [
                (f"{self.run.called} only", _cost(items, read, seconds)),
                (f"{plan.model.name} only", _cost(items, alone.tokens_to_read, all_of_it)),
                ("cascade", _cost(items, read + found.tokens_to_read, together)),
                *([("labels of what may stand", labels)] if labels else []),
            ]
        )


def _anew(found: Forecast, timed: Forecast) -> float | None:
    """The seconds of all items of a forecast, at the rate of another."""
    texts = (found.items - len(found.too_long)) * found.settings.texts(found.criteria)
    of_all = replace(found, judged=0, tokens_left_to_read=found.tokens_to_read, texts_left=texts)
    return replace(of_all, rate=timed.rate).seconds


def _cost(items: int, tokens: int, seconds: float | None) -> str:
    time = "time not known" if seconds is None else duration(seconds)
    return f"{counted(items, 'item', 'items')}, {tokens:,} tokens to read, {time}"


def escalation_of(request: JudgeRequest, cancel: CancelToken) -> Escalation | None:
    """The requested escalation. SetupError for a run of no model, unknown or outdated thresholds, a dataset
    gone or other, and where all labels may stand.
    """
    if request.escalate is None:
        return None
    then, whole = earlier_run(request, "escalate", request.escalate, cancel)
    run = then.run
    names = run.identity.asked.only(request.criteria or run.identity.criteria).names
    # Annotators' labels change nothing: the same request is to resume, and by labels that its judges did not
    # take a cascade is tested.
    then = replace(then.model_alone(), judgments={name: then.judgments[name] for name in names})
    kept = kept_trust(then) if request.below is None else _given(request.below, names)
    by_name = {name: kept.criteria.get(name, KeptThreshold(confidence=None)) for name in names}
    kept = structs.replace(kept, criteria=by_name)
    ids = frozenset(escalated(then, kept))
    if not ids:
        raise SetupError(
            f"All labels of {run.called} may stand: there is nothing to escalate.",
            Hint("Use another threshold: ", Given("below"), "."),
        )
    return Escalation(then, whole.only(ids), whole, kept, checked_name(request.name or "", "the cascade"))


def _given(text: str, names: Sequence[str]) -> KeptTrust:
    """By criterion the confidence that was given. SetupError for what is none, and for one without."""
    parts = text.split(",") if "=" in text else [f"{name}={text}" for name in names]
    given = dict(each.partition("=")[::2] for each in parts)
    found: dict[str, KeptThreshold] = {}
    for name, number in given.items():
        with suppress(ValueError):
            if 0 <= (confidence := float(number)) <= 1:
                found[name.strip()] = KeptThreshold(confidence=confidence)
    if set(found) != set(names) or len(found) < len(given):
        each = ",".join(f"{name}=0.9" for name in names)
        how = Hint("Give a confidence from 0 to 1, or one for each criterion: ", Given("below", each))
        raise SetupError(Hint(Given("below"), f" is {text!r}."), how)
    return KeptTrust(target=0.0, risk=1.0, dataset="", calibration=None, criteria=found)
