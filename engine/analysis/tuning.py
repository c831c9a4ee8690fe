"""The search for the best settings of a model on a labelled dataset, within a time, and what these are worth.
Each prompt is judged by an ordinary run of the store, so that nothing is judged again.
"""

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from pathlib import Path

import numpy as np

from engine.analysis.recipe import Recipe
from engine.analysis.tuning_choice import (
    BOTH,
    DEFAULT_TRIED,
    NO_TIME,
    BesideLabels,
    DataSplit,
    ItemCost,
    PartOfItems,
    Prompt,
    RatedSettings,
    SettingsChoice,
    SettingsRun,
    TriedSettings,
    choose,
    columns_of_examples,
    looks_at,
    nats_of,
    parts_of,
    prompts_of,
    scored_items,
)
from engine.calibration.fitting import LEAST_FOR_FITTING, Views, fitted
from engine.calibration.learning import Nats
from engine.calibration.run_calibration import calibrating
from engine.core.errors import SetupError
from engine.core.events import (
    CancelToken,
    FilesRead,
    MeasureProgress,
    Preparing,
    Reports,
    RunEnded,
    RunEvent,
    TuningStage,
    followed,
)
from engine.core.formatting import counted, duration
from engine.core.items import Method, Order, digest
from engine.core.numeric import FloatArray
from engine.core.rubric import Rubric, default_criterion
from engine.core.tables import Estimate
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import write_dataset
from engine.judging.forecast import forecast
from engine.judging.plan import RunPlan
from engine.judging.prepare import prepare_run
from engine.metrics.intervals import OverInstructions, mean_difference, mean_share
from engine.results.calibration import judge_of_run
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.files import make_folder

GAIN_TO_SEE = 0.03
"""Of the share of labels that are right: a gain of which it is said how many labels would show it."""
_CERTAINLY_SEEN = ((1.96 + 0.84) / 1.96) ** 2  # times as many show it in 80 of 100 cases, not in half


@dataclass(frozen=True)
class Gain:
    """By how much something is better than something else on the same items, in the mean over criteria:
    `nats`: by how much the log-loss is lower; `right`: of the share of labels that are right, -1 to 1.
    """

    nats: Nats
    right: Estimate

    @property
    def significantly_better(self) -> bool:
        return self.nats.significantly_above or (self.right.ends is not None and self.right.ends[0] > 0)


@dataclass(frozen=True)
class HeldOut:
    """Chosen settings on `items` of this many `instructions` that took no part, fitted to those that did.
    `criteria`: with labels enough of both; `unscored`: judgments that could not be made there, and take no
    part. `log_loss`: nats; `right`: the share of labels that are right; `frequent`: that of the label which
    is most frequent where it was fitted. `over_frequent`, `over_default`: the gain over the class prior, and
    over the default settings fitted in the same way; None where these were chosen, or judged too few.
    `needed`: this many held-out instructions would show GAIN_TO_SEE over the most frequent label in four of
    five cases.
    """

    items: int
    instructions: int
    criteria: tuple[str, ...]
    unscored: int
    log_loss: float
    right: Estimate
    frequent: Estimate
    over_frequent: Gain
    over_default: Gain | None
    needed: int

    @property
    def beats_frequent(self) -> bool:
        return self.over_frequent.significantly_better


@dataclass(frozen=True)
class TriedRun:
    """Settings, and the results of a run in which they can be looked at."""

    tried: TriedSettings
    results: RunResults

    @property
    def judged(self) -> frozenset[str]:
        return frozenset(item.item_id for item in self.results.judged)

    def beside(self, gold: Dataset, ids: frozenset[str]) -> BesideLabels:
        return BesideLabels.of(self.tried, self.results, gold, ids)


@dataclass
class _Reported:
    """By criterion, what is said of each held-out item: its loss, whether it is right."""

    losses: dict[str, FloatArray] = field(default_factory=dict)
    right: dict[str, FloatArray] = field(default_factory=dict)

    def add(self, name: str, views: Views, after: FloatArray, read: FloatArray) -> None:
        """What is said `after` of some items as they are; of equals that which is likelier as `read`."""
        self.losses[name] = views.losses(after)
        self.right[name] = np.asarray(views.right(after, read))


@dataclass
class _Compared:
    """What rivals say of the same held-out items, and what the frequencies of the labels do."""

    rivals: list[_Reported]
    frequent: _Reported
    groups: dict[str, Sequence[str]]
    items: frozenset[str]


# Against always giving the most frequent label each response stands in its own place: A and B are alike to
# what is calibrated, not to that. Settings are compared with each other in both places, as they are
# calibrated.
def held_out(
    chosen: TriedRun, default: TriedRun | None, gold: Dataset, parts: DataSplit, cancel: CancelToken
) -> HeldOut | None:
    """What `chosen` is worth, next to the `default` settings where these are others, on held-out items; None
    where too few were judged. Cancelled.
    """
    alone = _compared([chosen], gold, parts, cancel, as_they_are=True)
    if alone is None:
        return None
    both = None if default is None else _compared([chosen, default], gold, parts, cancel, as_they_are=False)
    (told,), groups = alone.rivals, alone.groups
    over = _gain(told, alone.frequent, groups)
    loss = OverInstructions.of_enough(told.losses, groups)
    beside = chosen.beside(gold, chosen.judged & set(parts.held_out))
    ends = over.right.ends
    assert ends is not None  # there are several instructions
    # As wide an interval as now goes with one over the square root of the number of instructions.
    width = (ends[1] - ends[0]) / 2 / GAIN_TO_SEE
    return HeldOut(
        items=len(alone.items),
        instructions=loss.instructions,
        criteria=tuple(groups),
        unscored=sum(len(pairs) - len(beside.scored(name)) for name, pairs in beside.matched.pairs.items()),
        log_loss=loss.mean,
        right=mean_share(told.right, groups),
        frequent=mean_share(alone.frequent.right, groups),
        over_frequent=over,
        over_default=None if both is None else _gain(both.rivals[0], both.rivals[1], both.groups),
        needed=ceil(loss.instructions * width**2 * _CERTAINLY_SEEN),
    )


def _compared(
    rivals: Sequence[TriedRun], gold: Dataset, parts: DataSplit, cancel: CancelToken, *, as_they_are: bool
) -> _Compared | None:
    """On the items that all rivals judged; None for too few. `as_they_are`: A and B never exchanged."""
    judged = frozenset.intersection(*(rival.judged for rival in rivals))
    known, asked = judged & set(parts.to_choose_by), judged & set(parts.held_out)
    if not known or not asked:
        return None
    sides = [[rival.beside(gold, ids) for rival in rivals] for ids in (known, asked)]
    found = _Compared([_Reported() for _ in rivals], _Reported(), {}, asked)
    for name in (name for name in sides[0][0].criteria if name in sides[1][0].criteria):
        scored = [frozenset.intersection(*(each.scored(name) for each in side)) for side in sides]
        if not all(scored):
            continue
        for place, rival in enumerate(found.rivals):
            learned, seen = (side[place].views(name, ids) for side, ids in zip(sides, scored, strict=True))
            if min(learned.instructions, seen.instructions) < LEAST_FOR_FITTING:
                break
            after = seen.decided(fitted(learned, cancel))
            if as_they_are:
                learned, seen, after = learned.as_they_are, seen.as_they_are, after[:1]
            rival.add(name, seen, after, seen.log_probs)
            if place == 0:
                guess = np.broadcast_to(learned.frequencies, seen.log_probs.shape)
                found.frequent.add(name, seen, guess, guess)
                found.groups[name] = tuple(map(str, seen.groups))
    return found if found.groups else None


def _gain(one: _Reported, other: _Reported, groups: Mapping[str, Sequence[str]]) -> Gain:
    less = {name: np.round(other.losses[name] - one.losses[name], 12) for name in groups}
    right = {name: one.right[name] - other.right[name] for name in groups}
    return Gain(nats_of(less, groups), mean_difference(right, groups))


@dataclass(frozen=True)
class GivenUp:
    """A prompt that was tried no further after so many `items`, this many nats `behind` the best on them;
    `why`: a clause.
    """

    prompt: Prompt
    items: int
    behind: float | None
    why: str


@dataclass(frozen=True)
class TuningResult:
    """`criteria`: those that were asked; `runs`: by prompt. `held_out`: None for too few items.
    `own_examples`: whether the examples of the recipe were held out for it. `seconds`: of work in all;
    `out_of_time`: whether the time ended something.
    """

    choice: SettingsChoice
    held_out: HeldOut | None
    criteria: tuple[str, ...]
    recipe: Recipe
    own_examples: bool
    given_up: tuple[GivenUp, ...]
    runs: Mapping[Prompt, int]
    seconds: float
    out_of_time: bool


TuneEvent = TuningStage | FilesRead | Preparing | MeasureProgress | RunEvent


_UNTIL = (0.4, 0.65, 1.0)  # shares of the time by which each stage is to end
_COMPARED_BY = (0.5, 0.8)  # the same of what the first and the second stage are compared for
# What comes after the last stage, fits for the held-out items and the nested ones of the calibration, takes
# about as long as comparing this many looks.
_LOOKS_OF_OUTCOME = 12
_MOST_KEPT = 2  # prompts that are tried further next to the default one
_STAGES = 4
_ITEMS_COUNTED = 12  # for what a look costs
_DIGITS = 8  # of a hash, in the name of a file

EXAMPLES_FOLDER = "examples"
"""Beside the run store, where examples are that were held out."""
JudgePlan = Callable[[RunPlan], Iterable[RunEvent]]
"""Judges a plan, into the store; the last event is RunEnded."""


@dataclass(frozen=True)
class TuneRequest:
    """`run`: dataset, model, criteria and machine; of its settings methods, orders, and examples without a
    file are tried. `seconds`: for all of it. `items`: this many are judged at most. `rubrics`: more wordings
    of the same criteria.
    """

    run: RunSetup
    seconds: float
    items: int | None = None
    seed: int = 0
    methods: tuple[Method, ...] = DEFAULT_TRIED
    rubrics: tuple[Rubric, ...] = ()


# First all prompts read some items; those that are behind are given up; the others read the rest of the items
# to choose by; what is chosen is tested on items that took no part.
def tuning(
    request: TuneRequest,
    store_path: Path,
    judge: JudgePlan,
    cancel: CancelToken,
    current: Dataset | None = None,
) -> Generator[TuneEvent, None, TuningResult]:
    """Find the best settings; `current`: the dataset, where it is open. The same request resumes what its
    runs have judged. Examples that are held out are written next to the run store. SetupError where there are
    too few labels, nothing can be judged, or the time is too short; Cancelled.
    """
    yield Preparing("Reading the files")
    run = request.run
    dataset = current or load_dataset(run.dataset_path, run.rubric, cancel, columns=run.columns)
    search = _Search(request, dataset, store_path, judge, cancel)
    yield from search.prepare()
    yield TuningStage("Trying all prompts on some items", 1, _STAGES)
    yield from search.judge(search.prompts, search.parts.first, _UNTIL[0])
    kept = yield from search.kept()
    yield TuningStage("Judging the other selection items", 2, _STAGES)
    yield from search.judge(kept, search.parts.to_choose_by, _UNTIL[1])
    yield TuningStage("Comparing", 3, _STAGES)
    choice = yield from search.choice(kept, search.parts.to_choose_by)
    yield TuningStage("Judging held-out items", 4, _STAGES)
    finalists = list(dict.fromkeys([choice.chosen.look.prompt, search.prompts[0]]))
    yield from search.judge(finalists, search.parts.judged, _UNTIL[2])
    return (yield from search.outcome(choice))


class _Search:
    def __init__(
        self, request: TuneRequest, dataset: Dataset, store_path: Path, judge: JudgePlan, cancel: CancelToken
    ) -> None:
        run = request.run
        self._request = request
        self._dataset = dataset
        self._store_path = store_path
        self._judge = judge
        self._cancel = cancel
        self.criteria = tuple(name for name in run.criteria if name in dataset.criteria)
        own = run.examples_path is None
        self.parts: DataSplit = parts_of(dataset, self.criteria, request.seed, request.items, own)
        self.prompts = prompts_of(run, request.rubrics, with_examples=bool(self.parts.examples) or not own)
        self._examples = run.examples_path
        if self.parts.examples:  # another file for other ones
            content = digest(dict(columns_of_examples(dataset, self.parts)))[:_DIGITS]
            self._examples = store_path.absolute().parent / EXAMPLES_FOLDER / f"examples-{content}.tsv"
        self._plans: dict[Prompt, RunPlan] = {}
        self._costs: dict[Prompt, Mapping[TriedSettings, float]] = {}
        self.given_up: list[GivenUp] = []
        self._began = time.monotonic()
        self._before = 0.0
        self._out_of_time = False
        self._for_outcome = 0.0  # seconds

    # Preparing

    def prepare(self) -> Generator[FilesRead | Preparing | MeasureProgress, None, None]:
        """Write the examples, make a plan for each prompt, count what each takes."""
        if self.parts.examples and self._examples is not None:
            make_folder(self._examples.parent)
            write_dataset(self._examples, columns_of_examples(self._dataset, self.parts))
        for place, prompt in enumerate(self.prompts):
            setup = prompt.in_setup(self._request.run, self._examples)
            methods, name = self._request.methods, f"Settings tried: {prompt.words}"
            asked = {"methods": methods, "ids": self.parts.judged, "criteria": self.criteria}
            setup = setup.whole(**asked, name=name, note=None)
            prepared = Reports(prepare_run(setup, self._cancel, self._dataset))
            for event in prepared:
                if place == 0 or isinstance(event, Preparing):
                    yield event
            self._plans[prompt] = prepared.result.plan
            yield Preparing(f"Counting: {prompt.words}")
            self._costs[prompt] = self._tokens(prompt)
        with RunStore(self._store_path) as store:
            runs = filter(None, (self._run_of(store, prompt) for prompt in self.prompts))
            self._before = sum(effort.seconds for run in runs for effort in store.efforts(run.id))

    def _tokens(self, prompt: Prompt) -> Mapping[TriedSettings, float]:
        """What the model reads of an item of typical length for each look at a prompt."""
        plan, methods = self._plans[prompt], self._request.methods
        some = replace(plan, dataset=plan.dataset.at(range(min(_ITEMS_COUNTED, len(plan.dataset)))))
        found = followed(forecast(some, None, self._cancel))
        items = max(found.items - len(found.too_long), 1)
        of_methods = {method: found.tokens_by_method.get(method, 0) for method in methods}
        shared = found.tokens_to_read - sum(of_methods.values())
        per_order = {
            look: (shared + sum(map(of_methods.__getitem__, look.methods))) / len(Order) / items
            for look in looks_at(prompt, methods)
        }
        return {look: tokens * len(look.orders) for look, tokens in per_order.items()}

    # Judging

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _left(self, until: float) -> float:
        """Seconds up to a share of the time."""
        return until * self._request.seconds - self._elapsed

    def judge(
        self, prompts: Sequence[Prompt], ids: Sequence[str], until: float
    ) -> Generator[RunEvent, None, None]:
        """Judge what is left of items by each of these prompts, `until` a share of the time. Cancelled."""
        for place, prompt in enumerate(prompts):
            left = self._left(until) - self._for_outcome
            # The first has what it needs of it, the others as much as each other.
            left /= len(prompts) - place if place else 1
            if left <= 0:
                continue
            part = PartOfItems(ids, self._request.seed, default_criterion(self.criteria), left)
            plan = replace(self._plans[prompt], question_plan=part)
            for event in self._judge(plan):
                yield event
                if isinstance(event, RunEnded) and event.stopped:
                    self._cancel.cancel()
            self._cancel.raise_if_requested()
        missing = {prompt: len(ids) - self._judged(prompt, ids) for prompt in prompts}
        self._out_of_time = self._out_of_time or any(missing.values())

    def _run_of(self, store: RunStore, prompt: Prompt) -> StoredRun | None:
        return store.find(self._plans[prompt].identity().key)

    def _judged(self, prompt: Prompt, ids: Sequence[str]) -> int:
        with RunStore(self._store_path) as store:
            run = self._run_of(store, prompt)
            places = store.positions(run.id) if run is not None else set[int]()
        known = self._plans[prompt].dataset.ids
        return len({known[place] for place in places} & set(ids))

    def _results(self, prompt: Prompt) -> RunResults | None:
        with RunStore(self._store_path) as store:
            run = self._run_of(store, prompt)
            return None if run is None else load_results(store, run.id)

    # Choosing

    def kept(self) -> Generator[MeasureProgress, None, list[Prompt]]:
        """The prompts that are tried further: the first, and others within one standard error of the best."""
        seen = self._seen(self.prompts, self.parts.first)
        default, there = self.prompts[0], {each.prompt for each in seen}
        self.given_up += [
            GivenUp(prompt, 0, None, NO_TIME) for prompt in self.prompts[1:] if prompt not in there
        ]
        if default not in there or len(seen) == 1:
            return [default]
        choice = yield from self._compared(seen, _COMPARED_BY[0])
        best: dict[Prompt, RatedSettings] = {}
        for standing in choice.standings:  # the best first
            best.setdefault(standing.look.prompt, standing)
        good = [prompt for prompt, standing in best.items() if prompt is not default and standing.as_good]
        kept = [default, *good[:_MOST_KEPT]]
        for prompt, standing in best.items():
            if prompt not in kept:
                as_good = f"{_MOST_KEPT} others were as good or better"
                why = as_good if standing.as_good else "others were better"
                self.given_up.append(GivenUp(prompt, choice.items, standing.behind, why))
        self.given_up += [GivenUp(prompt, 0, None, why) for prompt, why in choice.left_out.items()]
        return kept

    def choice(
        self, prompts: Sequence[Prompt], ids: Sequence[str]
    ) -> Generator[MeasureProgress, None, SettingsChoice]:
        """What is chosen of these prompts by items that they judged. SetupError for too few."""
        seen = self._seen(prompts, ids)
        if prompts[0] not in {each.prompt for each in seen}:
            raise SetupError(
                f"In {duration(self._elapsed)} {counted(self._judged(prompts[0], ids), 'item', 'items')} of"
                f" {self._dataset.name} were judged, and too few of them have a judgment for the selection.",
                "Give it more time: it is resumed from there. If items do not fit, use a larger context.",
            )
        began = self._elapsed
        choice = yield from self._compared(seen, _COMPARED_BY[1])
        of_a_look = (self._elapsed - began) / len(choice.standings)
        # Half of what is left is for judging in any case: else nobody knew what was chosen is worth.
        self._for_outcome = max(0.0, min(_LOOKS_OF_OUTCOME * of_a_look, self._left(_UNTIL[2]) / 2))
        self.given_up += [GivenUp(prompt, 0, None, why) for prompt, why in choice.left_out.items()]
        return choice

    def _compared(
        self, seen: Sequence[SettingsRun], until: float
    ) -> Generator[MeasureProgress, None, SettingsChoice]:
        left = partial(self._left, until)
        return (yield from choose(seen, self._dataset, self.criteria, self._cancel, left))

    def _seen(self, prompts: Sequence[Prompt], ids: Sequence[str]) -> list[SettingsRun]:
        """What there is to compare: prompts by which enough items have a judgment."""
        found = []
        instructions = self._dataset.groups
        for prompt in prompts:
            if (results := self._results(prompt)) is None:
                continue
            some = results.only(frozenset(ids))
            asked = {instructions[item_id] for item_id in scored_items(some, self.criteria)}
            if len(asked) >= LEAST_FOR_FITTING:
                tokens = sum(item.tokens_read for item in some.judged)
                each = sum(item.seconds for item in some.judged) / max(tokens, 1)
                costs = {look: ItemCost(count, each * count) for look, count in self._costs[prompt].items()}
                found.append(SettingsRun(prompt, some, costs))
        return found

    # The outcome

    def outcome(self, choice: SettingsChoice) -> Generator[MeasureProgress, None, TuningResult]:
        """What was chosen, calibrated on all that was judged, and what it is worth where it took no part."""
        look, default = choice.chosen.look, TriedSettings(self.prompts[0])
        chosen = self._tried(look)
        asked = Method.LABEL_TOKENS in self._request.methods and default != look
        rival = self._tried(default) if asked else None
        worth = held_out(chosen, rival, self._dataset, self.parts, self._cancel)
        whole = chosen.beside(self._dataset, frozenset(self.parts.judged))
        made = yield from calibrating(whole.matched, self._cancel)
        calibration = made.calibration
        if look.orders != BOTH:
            identity = chosen.results.as_asked(look.methods, look.orders).run.identity
            calibration = calibration.in_one_order(judge_of_run(identity))
        examples = self._examples.absolute() if look.prompt.shots and self._examples is not None else None
        judge = replace(look.in_setup(self._request.run, examples), criteria=self.criteria)
        with RunStore(self._store_path) as store:
            runs = {prompt: run.id for prompt in self.prompts if (run := self._run_of(store, prompt))}
        return TuningResult(
            choice=choice,
            held_out=worth,
            criteria=self.criteria,
            recipe=Recipe(judge, calibration, measured=_measured(worth)),
            own_examples=examples is not None and bool(self.parts.examples),
            given_up=tuple(self.given_up),
            runs=runs,
            seconds=self._before + self._elapsed,
            out_of_time=self._out_of_time,
        )

    def _tried(self, look: TriedSettings) -> TriedRun:
        results = self._results(look.prompt)
        assert results is not None  # it was compared
        return TriedRun(look, results.model_alone())


def _measured(worth: HeldOut | None) -> dict[str, object] | None:
    if worth is None:
        return None
    over = worth.over_frequent
    return {
        "items": worth.items,
        "instructions": worth.instructions,
        "accuracy": worth.right.value,
        "accuracy_interval": worth.right.ends,
        "most_frequent_label": worth.frequent.value,
        "gain": over.right.value,
        "gain_interval": over.right.ends,
        "log_loss": worth.log_loss,
        "log_loss_gain": over.nats.as_json(),
    }
