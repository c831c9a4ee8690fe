"""What is tried of a model, on which items, and which settings are chosen: the cheapest of the best."""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from pathlib import Path
from statistics import fmean

import numpy as np

from engine.analysis.perturbations import SHORT_WORDING
from engine.calibration.fitting import LEAST_FOR_FITTING, ChosenRegularisation, Views, chosen
from engine.calibration.learning import Nats
from engine.calibration.run_calibration import CalibrationInputs
from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress
from engine.core.formatting import counted, short_name
from engine.core.items import HumanLabel, Method, Order
from engine.core.numeric import FloatArray
from engine.core.rubric import DEFAULT_WORDING, Rubric
from engine.data.dataset import Dataset
from engine.data.label_origins import in_drawn_order
from engine.data.submission import Columns
from engine.metrics.intervals import OverInstructions
from engine.metrics.matching import Matched, match, system_of_run
from engine.results.run_results import RunResults
from engine.settings.rows import DEFAULT_METHODS, EXAMPLE_KINDS, ExampleKind
from engine.settings.run_setup import RunSetup

LEAST = 30
"""Labelled instructions: of fewer nothing is chosen that would hold elsewhere."""
_EXAMPLES = (8, 24)  # instructions, at least and at most
_SHARE_OF_EXAMPLES = 8  # one in this many
_SHARE_TO_CHOOSE_BY = 0.6  # of the others
_SHARE_LOOKED_AT_FIRST = 1 / 3  # of those
_LEAST_LOOKED_AT = 12  # of fewer nothing is given up


@dataclass(frozen=True)
class DataSplit:
    """The ids of the items of each part. `examples`: to be shown, if any. `first`, `rest`: to choose by;
    `first` before anything is given up. `held_out`: to say what the chosen settings are worth.
    """

    examples: tuple[str, ...]
    first: tuple[str, ...]
    rest: tuple[str, ...]
    held_out: tuple[str, ...]

    @property
    def to_choose_by(self) -> tuple[str, ...]:
        return (*self.first, *self.rest)

    @property
    def judged(self) -> tuple[str, ...]:
        return (*self.to_choose_by, *self.held_out)


# All items of an instruction are in one part. A seed draws the instructions, as it does in the runs: so
# whatever is judged of a part, however early it ended, is a random sample of it.
def parts_of(
    dataset: Dataset, criteria: Collection[str], seed: int, most: int | None, own_examples: bool
) -> DataSplit:
    """The parts of the items that have a label on one of the criteria, of which `most` are judged.
    `own_examples`: whether examples are to be held out. SetupError for fewer than LEAST instructions.
    """
    labelled = {item_id for name in criteria for item_id in dataset.labels(name)}
    by_instruction: dict[str, list[str]] = {}
    for item_id, instruction in dataset.groups.items():
        if item_id in labelled:
            by_instruction.setdefault(instruction, []).append(item_id)
    drawn = in_drawn_order(by_instruction, seed)
    if len(drawn) < LEAST:
        raise SetupError(
            f"{dataset.name} has human labels for {counted(len(drawn), 'instruction', 'instructions')};"
            f" selecting and evaluating settings needs {LEAST}.",
            "Label more items, or use a dataset with more labels.",
        )
    least, largest = _EXAMPLES
    aside = min(max(len(drawn) // _SHARE_OF_EXAMPLES, least), largest)
    shown = aside if own_examples and len(drawn) >= LEAST + aside else 0
    items = accumulate(len(by_instruction[instruction]) for instruction in drawn[shown:])
    asked = drawn[shown : shown + sum(most is None or count <= most for count in items)]
    if len(asked) < LEAST:
        raise SetupError(
            f"{counted(len(asked), 'instruction', 'instructions')} would be judged: too few to select"
            " settings.",
            f"Judge items of at least {LEAST} different instructions.",
        )
    chosen_by = round(_SHARE_TO_CHOOSE_BY * len(asked))
    first = max(round(_SHARE_LOOKED_AT_FIRST * chosen_by), _LEAST_LOOKED_AT)

    def ids(instructions: Sequence[str]) -> tuple[str, ...]:
        return tuple(item_id for instruction in instructions for item_id in by_instruction[instruction])

    return DataSplit(
        ids(drawn[:shown]), ids(asked[:first]), ids(asked[first:chosen_by]), ids(asked[chosen_by:])
    )


def columns_of_examples(dataset: Dataset, parts: DataSplit) -> Columns:
    """The examples with their labels and explanations, as columns of a file."""
    shown = dataset.only(frozenset(parts.examples))
    return {name: shown.texts(name).to_pylist() for name in (*shown.table.column_names, *shown.background)}


class PartOfItems:
    """Judge some items, as long as there is time: an Inquiry (engine/judging/plan.py)."""

    width: float | None = None
    leaves_out = False
    is_tuning = True
    questions: Sequence[object] = ()
    open: Sequence[object] = ()

    def __init__(self, ids: Collection[str], seed: int, criterion: str, seconds: float) -> None:
        """`seconds`: from now on."""
        self.seed = seed
        self.criterion = criterion
        self._left = set(ids)
        self._end = time.monotonic() + seconds

    @property
    def is_answered(self) -> bool:
        return not self._left or time.monotonic() >= self._end

    def wants(self, item_id: str) -> bool:
        return item_id in self._left and not self.is_answered

    def add(self, labels: Mapping[str, HumanLabel | None]) -> Sequence[str]:
        self._left -= labels.keys()
        return ()


BOTH = (Order.AB, Order.BA)
# Without reasoning, which takes many times as long as all of them.
DEFAULT_TRIED = (Method.LABEL_TOKENS, Method.PERMUTED_LABELS, Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE)


@dataclass(frozen=True)
class Prompt:
    """A prompt that is tried. `words`: what is other than default, for users; `shots`: of examples."""

    words: str
    rubric: Rubric
    shots: int = 0
    choice: ExampleKind = ExampleKind.FIXED

    def in_setup(self, setup: RunSetup, examples: Path | None) -> RunSetup:
        """The run of a setup with this prompt; `examples`: the file that they are taken from."""
        made = replace(setup, rubric=self.rubric, examples_path=examples if self.shots else None)
        if not self.shots or examples != setup.examples_path:  # others than the setup's have our own columns
            made = replace(made, example_columns=None)
        return replace(made, shots=self.shots, example_choice=self.choice) if self.shots else made


@dataclass(frozen=True)
class TriedSettings:
    prompt: Prompt
    methods: tuple[Method, ...] = DEFAULT_METHODS
    orders: tuple[Order, ...] = BOTH

    @property
    def in_words(self) -> str:
        orders = "both orders" if len(self.orders) > 1 else "one order"
        return f"{' and '.join(method.title for method in self.methods)}, {orders}, {self.prompt.words}"

    def in_setup(self, setup: RunSetup, examples: Path | None) -> RunSetup:
        made = self.prompt.in_setup(setup, examples)
        return replace(made, methods=self.methods, both_orders=len(self.orders) > 1, second_order_below=None)


def prompts_of(setup: RunSetup, rubrics: Sequence[Rubric], with_examples: bool) -> list[Prompt]:
    """The prompts to be tried, that of the setup without examples first; `rubrics`: other wordings."""
    found = [Prompt("no examples", setup.rubric)]
    if setup.rubric.wording == DEFAULT_WORDING:
        found.append(Prompt("short wording", replace(setup.rubric, wording=SHORT_WORDING)))
    found += [Prompt(f"wording of {short_name(rubric.name)}", rubric) for rubric in rubrics]
    if with_examples:
        found += [
            Prompt(f"{setup.shots} {how} examples", setup.rubric, setup.shots, choice)
            for how, choice in EXAMPLE_KINDS.items()
        ]
    return found


def looks_at(prompt: Prompt, methods: Sequence[Method]) -> Iterator[TriedSettings]:
    """How raw predictions can be looked at: each method alone, label tokens with each other method, all
    together; each in one order and in both.
    """
    alone, letters = [(method,) for method in methods], Method.LABEL_TOKENS
    others = [method for method in methods if method is not letters] if letters in methods else []
    for some in dict.fromkeys([*alone, *((letters, method) for method in others), tuple(methods)]):
        yield TriedSettings(prompt, some, (Order.AB,))
        yield TriedSettings(prompt, some)


NO_TIME = "no time was left for it"
"""Why a prompt took no part, as a clause."""
_AS_GOOD = 1e-12  # nats
_MOST_LACKING = 0.1  # of a prompt's items, without a judgment, more than of the first prompt's
_LEAST_JUDGED = 0.8  # of the items that the first prompt judged; with fewer, all would be compared on few


@dataclass(frozen=True)
class ItemCost:
    tokens: float
    seconds: float


@dataclass(frozen=True)
class BesideLabels:
    """A run of a prompt next to human labels, looked at as some settings say; `matched`: in all orders."""

    tried: TriedSettings
    matched: Matched

    @classmethod
    def of(
        cls, tried: TriedSettings, results: RunResults, gold: Dataset, ids: frozenset[str]
    ) -> "BesideLabels":
        asked = results.as_asked(tried.methods, BOTH).model_alone().only(ids)
        return cls(tried, match(system_of_run(asked), gold.only(ids), partial=True))

    @property
    def criteria(self) -> tuple[str, ...]:
        return tuple(self.matched.pairs)

    def scored(self, criterion: str) -> frozenset[str]:
        """The ids of the items with a judgment and a label on a criterion."""
        return frozenset(pair.item.id for pair in self.matched.pairs[criterion] if pair.judgment is not None)

    def views(self, criterion: str, ids: frozenset[str]) -> Views:
        """These items, all of which are scored, as what is calibrated sees them."""
        results = self.matched.system.results
        assert results is not None  # it is of a run
        pairs = [pair for pair in self.matched.pairs[criterion] if pair.item.id in ids]
        labelled = CalibrationInputs(results, alike=True, lengths=False).labelled(criterion, pairs)
        first = labelled.in_first_order() if self.tried.orders != BOTH else None
        return first or labelled.views()


@dataclass(frozen=True)
class RatedSettings:
    """What a look is worth on the items that settings are chosen by. `log_loss`: nats, cross-validated, the
    mean over the criteria. `behind`: the best one's is so much less, with its standard `error`.
    """

    look: TriedSettings
    cost: ItemCost
    log_loss: float
    behind: float
    error: float

    @property
    def as_good(self) -> bool:
        return self.behind <= self.error + _AS_GOOD


@dataclass(frozen=True)
class SettingsRun:
    """The results of a prompt's run on the items that are looked at; and what each look at it costs."""

    prompt: Prompt
    results: RunResults
    costs: Mapping[TriedSettings, ItemCost]


@dataclass(frozen=True)
class SettingsChoice:
    """All that were compared, the best first, on how many `items`; the one that is `chosen`.
    `over_frequencies`: by how much the log-loss of the best is below that of the frequencies of the labels.
    `left_out`: prompts that took no part, and why. `uncompared`: how many looks there was no time for.
    """

    standings: tuple[RatedSettings, ...]
    items: int
    chosen: RatedSettings
    over_frequencies: Nats
    left_out: Mapping[Prompt, str]
    uncompared: int = 0


# A run asks in all methods and both orders; what it would have said in some of them is known from its raw
# predictions. Each is measured as it would be used: calibrated, on the log-loss of items without whose fold
# it was fitted. A and B are alike to all of them: one order too is read as it would be with the responses in
# the other places, so none of them gains by what places mean in the data.
def choose(
    seen: Sequence[SettingsRun],
    gold: Dataset,
    criteria: Sequence[str],
    cancel: CancelToken,
    time_left: Callable[[], float] = lambda: inf,
) -> Generator[MeasureProgress, None, SettingsChoice]:
    """Compare all looks at these runs on the items that each of them judged, or as many, but one, as there is
    time for (`time_left`: seconds); the first prompt takes part whatever it lacks. Cancelled.
    """
    judged = {each.prompt: scored_items(each.results, criteria) for each in seen}
    left_out = {each.prompt: why for each in seen[1:] if (why := _why_left_out(each, seen[0], judged))}
    compared = [each for each in seen if each.prompt not in left_out]
    shared = frozenset.intersection(*(judged[each.prompt] for each in compared))
    of_each = [[(look, cost, each.results) for look, cost in each.costs.items()] for each in compared]
    # In turn: where the time ends, each prompt was looked at as often as the others.
    looks = [look for together in zip(*of_each, strict=True) for look in together]
    found: dict[TriedSettings, dict[str, ChosenRegularisation]] = {}
    groups: dict[str, Sequence[str]] = {}
    for done, (look, _, results) in enumerate(looks):
        yield MeasureProgress(done, len(looks))
        beside = BesideLabels.of(look, results, gold, shared)
        known = {name: beside.views(name, shared) for name in criteria if name in beside.criteria}
        enough = {name: views for name, views in known.items() if views.instructions >= LEAST_FOR_FITTING}
        losses: dict[str, ChosenRegularisation] = {}
        for name, views in (enough or known).items():
            if found and time_left() <= 0:
                break
            losses[name] = chosen(views, cancel)
        if len(losses) < len(enough or known):
            break
        found[look] = losses
        groups = {name: tuple(map(str, known[name].groups)) for name in losses}
    yield MeasureProgress(len(found), len(looks))
    there = {look.prompt for look in found}
    left_out |= {each.prompt: NO_TIME for each in compared if each.prompt not in there}
    costs = {look: cost for look, cost, _ in looks}
    standings, over = _standings(costs, found, groups)
    as_good = [each for each in standings if each.as_good]
    cheapest = min(as_good, key=lambda each: (each.cost.tokens, each.log_loss))
    uncompared = len(looks) - len(found)
    return SettingsChoice(tuple(standings), len(shared), cheapest, over, left_out, uncompared)


def _why_left_out(seen: SettingsRun, first: SettingsRun, judged: Mapping[Prompt, frozenset[str]]) -> str:
    """Why a prompt takes no part, as a clause; empty where it does."""
    unscored, of_first = (len(each.results.judged) - len(judged[each.prompt]) for each in (seen, first))
    if unscored - of_first > _MOST_LACKING * len(seen.results.judged):
        return f"it left {counted(unscored, 'item', 'items')} without a judgment"
    if len(seen.results.judged) < _LEAST_JUDGED * len(first.results.judged):
        few = counted(len(seen.results.judged), "item", "items")
        return f"there was time for {few} of {len(first.results.judged):,} alone"
    return ""


def scored_items(results: RunResults, criteria: Sequence[str]) -> frozenset[str]:
    return frozenset(
        item.item_id for item in results.judged if all(name not in item.unscored for name in criteria)
    )


def _standings(
    costs: Mapping[TriedSettings, ItemCost],
    found: Mapping[TriedSettings, Mapping[str, ChosenRegularisation]],
    groups: Mapping[str, Sequence[str]],
) -> tuple[list[RatedSettings], Nats]:
    """All, the best first; by how much that one is below the frequencies."""
    means = {look: fmean(float(own.losses.mean()) for own in of.values()) for look, of in found.items()}
    best = found[min(means, key=lambda look: (means[look], costs[look].tokens))]
    rated = []
    for look, own in found.items():
        more = {name: own[name].losses - best[name].losses for name in own}
        behind = OverInstructions.of_enough(more, groups)
        rated.append(RatedSettings(look, costs[look], means[look], behind.mean, behind.standard_error))
    less = {name: np.round(own.frequencies - own.losses, 12) for name, own in best.items()}
    standings = sorted(rated, key=lambda each: (each.log_loss, each.cost.tokens))
    return standings, nats_of(less, groups)


def nats_of(less: Mapping[str, FloatArray], groups: Mapping[str, Sequence[str]]) -> Nats:
    over = OverInstructions.of_enough(less, groups)
    return Nats(over.mean, over.mean_interval())
