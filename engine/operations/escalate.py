"""Escalation: what may not stand of a run is judged by another model, and both are put together as one run.
Does not know: how a run is judged, how a threshold is found.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from engine.calibration.cascade import Thresholds, escalated_items, make_cascade
from engine.core.errors import Given, Hint, SetupError
from engine.core.events import CancelToken, MeasureProgress, Note
from engine.core.formatting import counted, duration, words
from engine.core.tables import Facts
from engine.data.dataset import Dataset
from engine.judging.forecast import Forecast, forecast
from engine.judging.plan import RunPlan
from engine.operations.earlier_run import EarlierRun, earlier_run
from engine.operations.judge_request import JudgeRequest
from engine.results.run_results import RunResults, load_results
from engine.results.trust import KeptThreshold, kept_trust
from engine.settings.identity import checked_name
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore


@dataclass(frozen=True)
class Escalation(EarlierRun):
    """`items`: those of which not every label may stand by the `thresholds`; `whole`: all that the run
    judged. `then`: without labels of annotators. `name`: of the cascade.
    """

    whole: Dataset
    thresholds: Thresholds
    name: str

    @property
    def default(self) -> RunSetup:
        return replace(super().default, device=None)  # the other model may well be for a GPU

    def kept_with(self, second: RunResults, store: RunStore) -> RunResults:
        """The cascade of both runs, stored; one made of the same stays. RunBusyError, StoreError."""
        made = make_cascade(self.then, second, self.thresholds, self.whole)
        return load_results(store, made.keep(store, self.name).id)

    def remarks(self, plan: RunPlan) -> Iterator[Note]:
        own, other = self.then.calibration is not None, plan.calibration is not None
        if own != other:
            one, not_other = ("", " not") if own else ("not ", "")
            yield Note(
                f"{self.run.title} is {one}calibrated, and the other judge is{not_other}: their confidences"
                " are not alike. Once both are calibrated, the same request puts them together again."
            )

    def cost(
        self, plan: RunPlan, found: Forecast, store: Path, cancel: CancelToken
    ) -> Generator[MeasureProgress, None, Facts]:
        """What each judge alone takes and the cascade; `found`: of the plan, with its time."""
        everything = replace(plan, dataset=self.whole, chosen=False, sample=None)
        alone = yield from forecast(everything, store, cancel, fresh=True)
        items, efforts = len(self.whole), self.then.judged
        read, seconds = sum(each.tokens_read for each in efforts), sum(each.seconds for each in efforts)
        part, all_of_it = (_anew(each, found) for each in (found, alone))
        together = None if part is None else seconds + part
        labels = [
            f"{each.labels:,} on {words(name)}" for name, each in self.thresholds.items() if each.labels
        ]
        return Facts(
            [
                (f"{self.run.called} alone", _cost(items, read, seconds)),
                (f"{plan.model.name} alone", _cost(items, alone.tokens_to_read, all_of_it)),
                ("in turn", _cost(items, read + found.tokens_to_read, together)),
                *([("labels of what may stand", ", ".join(labels))] if labels else []),
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
    # An annotator's label in the run changes nothing: the same command is to resume, and a cascade is tested
    # by labels that its judges did not take.
    then = then.model_alone()
    run = then.run
    names = run.identity.asked.only(request.criteria or run.identity.criteria).names
    if request.below is None:
        kept = kept_trust(then).criteria
        thresholds = {name: kept.get(name, KeptThreshold(confidence=None)) for name in names}
    else:
        thresholds = _given(request.below, names)
    ids = frozenset(escalated_items(then, thresholds))
    if not ids:
        raise SetupError(
            f"All labels of {run.called} may stand: there is nothing to escalate.",
            Hint("Use another threshold: ", Given("below"), "."),
        )
    name = checked_name(request.name or "", "the cascade")
    return Escalation(then, whole.only(ids), whole, thresholds, name)


def _given(text: str, names: Sequence[str]) -> dict[str, KeptThreshold]:
    """By criterion the confidence that was given. SetupError for what is none, and for one without."""
    pairs = (
        [each.partition("=")[::2] for each in text.split(",")] if "=" in text else [(n, text) for n in names]
    )
    found: dict[str, KeptThreshold] = {}
    for name, number in pairs:
        with suppress(ValueError):
            if name.strip() in names and 0 <= (confidence := float(number)) <= 1:
                found[name.strip()] = KeptThreshold(confidence=confidence)
    if set(found) != set(names) or len(pairs) > len(names):
        raise SetupError(
            Hint(Given("below"), f" is {text!r}."),
            Hint(
                "Give a confidence from 0 to 1, or one for each criterion: ",
                Given("below", ",".join(f"{name}=0.9" for name in names)),
            ),
        )
    return {name: found[name] for name in names}
