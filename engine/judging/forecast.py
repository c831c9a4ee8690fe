"""What a run will take, before it starts: tokens, items that do not fit, what is judged already, time."""

import time
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter
from pathlib import Path

import numpy as np

from engine.core.errors import Hint, Setting, SetupError
from engine.core.events import CancelToken, MeasureProgress, followed
from engine.core.formatting import duration
from engine.core.items import Method
from engine.judging.plan import RunPlan, check_context, worked_alike
from engine.judging.run import make_item_judge
from engine.llama.speed import ModelSpeed
from engine.models.opening import OpenModelFactory, open_template, remembered_speed
from engine.prompt.tokens import PromptSizer, SizedItem, most_of_one_prompt
from engine.results.calibration import judge_of_run
from engine.results.second_order import LEAST_ITEMS, both_orders, orders_read
from engine.settings.identity import Effort, StoredRun
from engine.settings.rows import SMALLEST_CONTEXT, JudgeSettings, KvType
from engine.store.opening import has_store
from engine.store.run_store import RunStore

_ITEMS_AT_ONCE = 50  # between two reports
_TOLD_BY = 1000  # items of an earlier run, at most: more make it no surer
# llama.cpp makes a context of whole steps of 256 tokens.
_CONTEXT_STEP = 256
_TIMED_ITEMS = 4  # of two, the explanations may be a quarter longer or shorter than usual
_LONG = 120.0  # seconds after which fewer must do
DEFAULT_TEXT = 50  # tokens of an explanation, as a guess
_LEAST_FITTED, _DEFAULT_RATIO, _MOST_RATIO = 20, 8.0, 60.0  # the default one: measured on two cores


@dataclass(frozen=True)
class Rate:
    seconds_per_token: float  # that is read; one that is written takes `ratio` times as long
    tokens_per_text: float  # of one explanation or reasoning on average
    ratio: float = 1.0
    run_id: int | None = None  # that it comes from; None where it was measured now, or of the file alone
    of_file: bool = False


@dataclass(frozen=True)
class SecondShare:
    """The share (0 to 1) of items that are read in both orders; `run_id`: of the run that tells."""

    share: float = 1.0
    run_id: int | None = None


@dataclass(frozen=True)
class Forecast:
    """What a run will take. Items that do not fit are not in its tokens; one to shorten fills the context."""

    items: int
    criteria: int
    orders: int
    settings: JudgeSettings
    tokens_to_read: int
    tokens_to_write_at_most: int
    too_long: tuple[str, ...]  # ids that do not fit, or may not be shown, and will be unscored
    shortened: tuple[str, ...]  # ids; some may still be unscored, where their instruction alone is too long
    largest: tuple[str, int]  # the id that takes most room, and its tokens
    context_that_fits_all: int | None  # in steps of 256; None where the model was not trained with so much
    template_note: str
    judged: int  # items that the store holds of this run, whose number is `run_id`
    run_id: int | None
    tokens_left_to_read: int
    texts_left: int  # explanations and reasoning
    rate: Rate | None = None  # at which what is left may be done
    second: SecondShare | None = None  # None for a run that judges all items alike
    tokens_by_method: Mapping[Method, int] = field(default_factory=dict)  # what questions add to the items

    @property
    def complete(self) -> bool:
        return self.judged == self.items

    @property
    def unfinished(self) -> bool:
        return 0 < self.judged < self.items

    @property
    def seconds(self) -> float | None:
        """For what is left, without opening the model: seconds per token x (tokens left to read + ratio x
        texts left x tokens for each, as many as before but at most as many as are allowed now).
        """
        if self.rate is None:
            return 0.0 if self.complete else None
        text = min(self.rate.tokens_per_text, self.settings.longest_text)
        return self.rate.seconds_per_token * (
            self.tokens_left_to_read + self.rate.ratio * text * self.texts_left
        )

    @property
    def untimed(self) -> bool:
        """Whether nothing tells the time, or the speed of the model file alone."""
        return not self.complete and (self.rate is None or self.rate.of_file)

    @property
    def stored(self) -> str:
        """How much of this very run the store holds, as a clause."""
        if not self.complete:
            far = f"{self.judged:,} of {self.items:,} items are judged"
            return f"{far} in run {self.run_id}, which is resumed"
        items = "the item is" if self.items == 1 else f"all {self.items:,} items are"
        return f"{items} judged in run {self.run_id}"

    @property
    def time_in_words(self) -> str:
        """How long what is left will take, as a clause."""
        if self.complete:
            return "nothing is left to judge"
        if len(self.too_long) == self.items:
            return "no item fits: there is nothing to judge"
        if self.seconds is None:
            return "not known before a run with this model and these settings"
        left = " for the rest" if self.unfinished else ""
        return f"about {duration(self.seconds)}{left}, at the speed of {self.time_estimate}"

    @property
    def time_estimate(self) -> str:
        if self.rate is None or not self.rate.of_file:
            run = self.rate.run_id if self.rate else None
            return f"run {run}" if run else "some items of typical length"
        text = min(default_text(self.settings), self.settings.longest_text)
        what = "thoughts" if self.settings.reasons else "explanations"
        guess = f", with {what} of {text} tokens" if self.texts_left else ""
        return f"this model file when it was measured here{guess}"

    @property
    def judgments(self) -> int:
        return self.items * self.criteria

    @property
    def raw_predictions(self) -> int:
        """Judgments times orders and methods; of a second order the share of items that is counted."""
        methods = len(self.settings.methods)
        if self.second is not None:
            return (self.judgments + round(self.items * self.second.share) * self.criteria) * methods
        return self.judgments * self.orders * methods


def forecast(
    plan: RunPlan, store_path: Path | None, cancel: CancelToken, fresh: bool = False
) -> Generator[MeasureProgress, None, Forecast]:
    """Count what a plan will take, with the model's tokenizer alone. Each item is tokenized as the run will
    do it. The time is that of a run of the same identity, else of the newest one with the same model, mode
    and cache that reasoned or did not as this one, and used as many threads and GPU layers; else that of the
    model file where it was measured. `fresh`: count as for a new run. SetupError where no item fits next to
    the stem, ModelFileError, StoreError, Cancelled.
    """
    plan.model.check_unchanged()
    known = _known(plan, store_path, fresh)
    with open_template(plan.model.path, cancel) as (model, template):
        check_context(plan.settings, plan.model, model)
        made_of = (template, plan.rubric, plan.settings, plan.examples, cancel.raise_if_requested)
        trained_context = model.trained_context  # a model that is closed has none: that would crash
        # What is shortened is counted by its prompts.
        most = max(most_of_one_prompt(plan.settings.context), trained_context)
        most_looked_at = None if plan.settings.shorten else most
        sizer = PromptSizer(*made_of, keeps_state=model.keeps_state, most=most_looked_at)
        whole, left, left_items = _ReadingCost(sizer), _ReadingCost(sizer), 0
        by_method: Counter[Method] = Counter()
        largest, too_long, shortened = ("", 0), list[str](), list[str]()
        for position, item in enumerate(plan.dataset):
            if position % _ITEMS_AT_ONCE == 0:
                yield MeasureProgress(position, len(plan.dataset))
            sized = sizer.sized(item, item, position in plan.dataset.series)
            largest = max(largest, (item.id, sized.cells), key=itemgetter(1))
            if not sizer.fits(sized):
                if sized.refused or not plan.settings.shorten:
                    too_long.append(item.id)
                    continue
                shortened.append(item.id)
            whole.add(position, sized)
            by_method += sizer.tokens_by_method(sized)
            if position not in known.positions:
                left.add(position, sized)
                left_items += 1
        yield MeasureProgress(len(plan.dataset), len(plan.dataset))
    settings, items, criteria = plan.settings, len(plan.dataset), len(plan.rubric.criteria)
    fits_all = max(-(-largest[1] // _CONTEXT_STEP) * _CONTEXT_STEP, SMALLEST_CONTEXT)
    judged, share = known.run.judged if known.run else 0, known.second.share
    return Forecast(
        items=items,
        criteria=criteria,
        orders=len(settings.orders),
        settings=settings,
        tokens_to_read=len(sizer.stem) + whole.tokens(share),
        tokens_to_write_at_most=(items - len(too_long)) * settings.most_written(criteria),
        too_long=tuple(too_long),
        shortened=tuple(shortened),
        largest=largest,
        context_that_fits_all=fits_all if fits_all <= trained_context else None,
        template_note=template.frame.note,
        judged=judged,
        run_id=known.run.id if known.run else None,
        tokens_left_to_read=len(sizer.stem) + left.tokens(share) if judged < items else 0,
        texts_left=left_items * settings.texts(criteria),
        rate=known.rate,
        second=known.second if settings.may_read_one_order else None,
        tokens_by_method=by_method,
    )


def time_some_items(plan: RunPlan, opener: OpenModelFactory) -> Rate:
    """Judge some items of typical length that fit, four where there are this many, or two where these take
    minutes, and store nothing. SetupError where no item fits, Cancelled, and what `opener` raises.
    """
    with opener() as opened:
        judge = make_item_judge(plan, opened)
        began = time.monotonic()
        letters = plan.dataset.letters
        # Of about the mean length: by its first two items alone, the rest of a run was up to 42 % off.
        nearest = np.argsort(np.abs(letters - letters.mean()), kind="stable").tolist()
        placed = ((position, plan.dataset[position]) for position in nearest)
        # As many together as the run takes.
        for group in iter(lambda: list(islice(placed, plan.settings.items_at_once)), []):
            followed(judge.judge(group))
            enough = 1 if time.monotonic() - began > _LONG else _TIMED_ITEMS
            if judge.time_estimate.items >= enough:
                break
    time_estimate = judge.time_estimate
    reading = time_estimate.seconds_per_token_read
    if reading is None:
        raise SetupError(
            f"{plan.dataset.name}: no item fits a context of {plan.settings.context:,} tokens.",
            Hint("Use a larger ", Setting.CONTEXT, ", or ", Setting.SHORTEN, "."),
        )
    writing = time_estimate.seconds_writing / max(time_estimate.tokens_written, 1)
    return Rate(reading, time_estimate.tokens_per_text(0), writing / max(reading, 1e-12))


@dataclass(frozen=True)
class _Known:
    run: StoredRun | None = None
    positions: frozenset[int] = frozenset()
    rate: Rate | None = None
    second: SecondShare = field(default_factory=SecondShare)


def _known(plan: RunPlan, store_path: Path | None, fresh: bool) -> _Known:
    if store_path is None or not has_store(store_path):
        return _Known(rate=file_rate(plan))
    with RunStore(store_path) as store:
        run = store.find(plan.identity().key)
        runs = [*([run] if run else []), *reversed(store.runs())]
        rate = _stored_rate(plan, store, runs) or file_rate(plan)
        second = _second_share(plan, store, runs)
        if run is None or fresh:
            return _Known(rate=rate, second=second)
        return _Known(run, frozenset(store.positions(run.id)), rate, second)


def _stored_rate(plan: RunPlan, store: RunStore, runs: Iterable[StoredRun]) -> Rate | None:
    now = plan.settings
    for run in runs:
        if run.identity.model_hash != plan.model.hash or not worked_alike(run.manifest, plan.machine):
            continue
        before = run.identity.judge_settings
        alike = (before.mode, before.kv_type, before.reasons) == (now.mode, now.kv_type, now.reasons)
        if alike and (efforts := store.efforts(run.id)):
            return rate_of(efforts, before.texts(len(run.identity.criteria)), run.id)
    return None


def _second_share(plan: RunPlan, store: RunStore, runs: Iterable[StoredRun]) -> SecondShare:
    """The share that the first of these runs tells that is of the same judge."""
    below = plan.settings.second_order_below
    if below is None:
        return SecondShare()
    names, mine = set(plan.rubric.names), judge_of_run(plan.identity())
    for run in runs:
        criteria, was_below = set(run.identity.criteria), run.identity.second_order_below
        if not run.by_a_model or not names <= criteria:
            continue
        other = judge_of_run(run.identity)
        asked_alike = all(other.asked_of(name) == asked for name, asked in mine.asked.items())
        bare, other_bare = (replace(judge, model_name="", asked={}) for judge in (mine, other))
        if not asked_alike or bare != other_bare:
            continue
        judged = list(islice(store.judged(run.id), _TOLD_BY))
        # Which items were read in both orders, or would be with this margin.
        twice: list[bool] = []
        if was_below is None:
            calibrations = plan.calibration.criteria if plan.calibration else {}
            twice = both_orders(judged, plan.rubric.names, calibrations).read(below).tolist()
        elif was_below == below and criteria == names:
            twice = [orders > 1 for item in judged if (orders := orders_read(item))]
        if len(twice) >= LEAST_ITEMS:
            return SecondShare(sum(twice) / len(twice), run.id)
    return SecondShare()


def file_rate(plan: RunPlan) -> Rate | None:
    """The rate of a plan's model file, where it was measured with as many threads and GPU layers."""
    speed = remembered_speed(plan.model.hash, plan.machine) if plan.settings.kv_type is KvType.F16 else None
    return None if speed is None else rate_of_speed(speed, plan.settings, len(plan.rubric.criteria))


def rate_of_speed(speed: ModelSpeed, settings: JudgeSettings, criteria: int) -> Rate:
    """The rate of a run by the speed of its model file, wherever that was measured."""
    if not settings.longest_text:
        return Rate(1 / speed.reading, 0, of_file=True)
    writing = speed.writing(criteria * settings.items_at_once)
    return Rate(1 / speed.reading, default_text(settings), speed.reading / writing, of_file=True)


def default_text(settings: JudgeSettings) -> int:
    """Tokens of an explanation or reasoning sample, where only the speed of a model's file is known: of
    reasoning the most, for many models do not come to its end.
    """
    return settings.max_reasoning_tokens if settings.reasons else DEFAULT_TEXT


def rate_of(efforts: Sequence[Effort], texts: int, run_id: int) -> Rate:
    """The rate of items with what each of them took, and this many texts of each. Their seconds are what they
    read and what they wrote, each times its own seconds per token. The ratio of the two is fitted; whatever
    it is off, all items together take the seconds that they took.
    """
    table = np.array([[each.seconds, each.tokens_read, each.tokens_generated] for each in efforts])
    seconds, read, written = table.sum(axis=0)
    weight = _DEFAULT_RATIO if written else 1.0
    if written and len(table) >= _LEAST_FITTED:
        (by_read, by_written), *_ = np.linalg.lstsq(table[:, 1:], table[:, 0])
        # Outside of this the items vary too little to tell reading from writing.
        if by_read > 0 and 1 <= by_written / by_read <= _MOST_RATIO:
            weight = float(by_written / by_read)
    return Rate(seconds / (read + weight * written), written / (len(efforts) * max(texts, 1)), weight, run_id)


@dataclass
class _ReadingCost:
    """Counts the tokens that a run reads of items in their order; the instruction of neighbours once."""

    sizer: PromptSizer
    first: int = 0
    second: int = 0
    held: tuple[int, ...] = ()
    group: int = -1
    cells: int = 0

    def add(self, position: int, sized: SizedItem) -> None:
        settings, shared = self.sizer.settings, self.sizer.shared_cells
        if settings.explains:
            # Of what the items of another batch begin with, nothing is held.
            group, own = position // settings.items_at_once, sized.cells - shared
            if group != self.group or self.cells + own > settings.context:
                self.group, self.cells, self.held = group, shared, ()
            self.cells += own
        first, second = self.sizer.tokens_by_order(sized, self.held)
        self.first, self.second, self.held = self.first + first, self.second + second, sized.apart

    def tokens(self, share: float) -> int:
        """All of them; `share` (0 to 1) of the items is read in the second order."""
        return self.first + round(share * self.second)
