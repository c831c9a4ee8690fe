"""Escalation: what may not stand of a run is judged by another model, and both are put together as one run.
Does not know: how a run is judged, how a threshold is found.
"""

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from engine.calibration.cascade import make_cascade
from engine.core.errors import Given, Hint, SetupError
from engine.core.events import CancelToken, MeasureProgress
from engine.core.formatting import counted, duration, words
from engine.core.tables import Facts
from engine.data.dataset import Dataset
from engine.judging.forecast import Forecast, forecast
from engine.judging.plan import RunPlan
from engine.operations.earlier_run import EarlierRun, earlier_run
from engine.operations.judge_request import JudgeRequest
from engine.results.run_results import RunResults, load_results
from engine.results.trust import KeptThreshold, KeptTrust, escalated, kept_trust
from engine.settings.identity import checked_name
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore


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
