"""Whether settings that labels have chosen are worth what is said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np

from bench.coverage.claims import Promise, at_most, simulated
from bench.coverage.heads import SKEWS
from bench.coverage.readings import CRITERION
from engine.analysis import tuning_choice
from engine.analysis.tuning import HeldOut, TriedRun, held_out
from engine.core.events import CancelToken, followed
from engine.core.items import PREFERENCES, Method, Order
from engine.core.judgments import JudgedItem, RawPrediction
from engine.core.numeric import FloatArray, IntArray, log_softmax
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset
from engine.results.decision import SWAPPED
from engine.results.run_results import RunResults
from engine.settings.identity import RunIdentity, StoredRun
from tests.judged import text_table

NO_EXAMPLES = tuning_choice.Prompt("no examples", ELOQUENT.only((CRITERION,)))
WITH_EXAMPLES = tuning_choice.Prompt("3 fixed examples", ELOQUENT.only((CRITERION,)), shots=3)
_METHODS = (Method.LABEL_TOKENS, Method.POINTWISE_YES_NO)
_LABELS = len(PREFERENCES)
_MOST_FALSE = 0.05
_COSTS, _LEAST = 10, 10  # each world fits some hundred times


@dataclass(frozen=True)
class Known:
    """By way, by how many standard deviations of noise the right label's log-probability is higher."""

    prompt: tuning_choice.Prompt
    signals: Mapping[Method, float]


def found_settings(
    random: np.random.Generator, items: int, skew: Sequence[float], judges: Sequence[Known]
) -> tuple[tuning_choice.SettingsChoice, HeldOut]:
    labels = random.choice(_LABELS, items, p=np.array(skew) / sum(skew))
    gold = labelled(labels)
    parts = tuning_choice.parts_of(
        gold, (CRITERION,), seed=int(random.integers(1 << 30)), most=None, own_examples=False
    )
    runs = {known.prompt: drawn_run(random, gold, labels, known) for known in judges}
    seen = [
        tuning_choice.SettingsRun(
            prompt, run.only(frozenset(parts.to_choose_by)), _costs(prompt, run.methods)
        )
        for prompt, run in runs.items()
    ]
    choice = followed(tuning_choice.choose(seen, gold, (CRITERION,), CancelToken()), lambda _: None)
    return choice, worth_of(choice, runs, gold, parts)


def worth_of(
    choice: tuning_choice.SettingsChoice,
    runs: Mapping[tuning_choice.Prompt, RunResults],
    gold: Dataset,
    parts: tuning_choice.DataSplit,
) -> HeldOut:
    look, default = choice.chosen.look, tuning_choice.TriedSettings(NO_EXAMPLES)
    chosen, rival = (TriedRun(each, runs[each.prompt]) for each in (look, default))
    return held_out(chosen, None if look == default else rival, gold, parts, CancelToken())


def labelled(labels: IntArray) -> Dataset:
    """A dataset of so many instructions with these labels, as places in PREFERENCES."""
    count = len(labels)
    columns = {
        "id": [str(place) for place in range(count)],
        "instruction": [f"question {place}" for place in range(count)],
        "output_a": ["a"] * count,
        "output_b": ["b"] * count,
        f"{CRITERION}_preference": [PREFERENCES[label].value for label in labels],
    }
    return Dataset(Path("gold.tsv"), text_table(columns))


def drawn_run(random: np.random.Generator, gold: Dataset, labels: IntArray, known: Known) -> RunResults:
    """A run in both orders whose readings know so much, with noise in part shared, and a taste."""
    right = np.eye(_LABELS)[labels]
    read: dict[tuple[Method, Order], FloatArray] = {}
    for method, signal in known.signals.items():
        shared = random.normal(0, 0.8, right.shape)
        taste = random.normal(0, 1, _LABELS)
        for order in Order:
            # For what is shown first, and not for the item's own A.
            liked = taste if order is Order.AB else taste[SWAPPED]
            rows = log_softmax(1.5 * (signal * right + shared + random.normal(0, 0.6, right.shape)) + liked)
            read[method, order] = rows if order is Order.AB else rows[:, SWAPPED]
    judged = [
        JudgedItem(
            position=place,
            item_id=item.id,
            content_hash=item.content_hash,
            raw_predictions={
                CRITERION: tuple(
                    RawPrediction(order, tuple(rows[place].tolist()), method)
                    for (method, order), rows in read.items()
                )
            },
            seconds=1.0,
            tokens_read=100,
            lengths=item.lengths,
        )
        for place, item in enumerate(gold)
    ]
    identity = RunIdentity(
        key=known.prompt.words,
        dataset_path=gold.path,
        dataset_hash=gold.hash,
        items=len(gold),
        model_path=Path("model.gguf"),
        model_name="a model",
        model_hash="f" * 64,
        prompt_version="1",
        criteria=(CRITERION,),
        settings={
            "mode": "labels",
            "orders": [order.value for order in Order],
            "ways": [method.value for method in known.signals],
            "examples": "",
        },
    )
    run = StoredRun(1, datetime(2026, 1, 1, tzinfo=UTC), identity, len(gold))
    return RunResults(run, tuple(judged), {}).calibrated(None)


def _costs(
    prompt: tuning_choice.Prompt, methods: Sequence[Method]
) -> dict[tuning_choice.TriedSettings, tuning_choice.ItemCost]:
    costs = {}
    for look in tuning_choice.looks_at(prompt, methods):
        tokens = 100.0 * len(look.orders) * (len(look.methods) + prompt.shots)
        costs[look] = tuning_choice.ItemCost(tokens, tokens / 100)
    return costs


@simulated(
    "settings: nothing known",
    at_most("settings: beats the most frequent", 0.025, _MOST_FALSE),
    product(SKEWS, (40, 100)),
    "labels as on {0}, {1} of them",
    _COSTS,
    _LEAST,
)
def _is_said_to_beat(random: np.random.Generator, name: str, items: int) -> bool:
    """The most frequent label, where nothing knows anything."""
    nothing = [Known(prompt, dict.fromkeys(_METHODS, 0.0)) for prompt in (NO_EXAMPLES, WITH_EXAMPLES)]
    return found_settings(random, items, SKEWS[name], nothing)[1].beats_frequent


_BY_DEFAULT = {"even labels": (0.25,) * _LABELS, "A is usual": (0.62, 0.08, 0.15, 0.15)}


@simulated(
    "settings: all as good",
    at_most("settings: better than the usual", 0.025, _MOST_FALSE),
    product((0.5, 1.5), (40, 100), _BY_DEFAULT),
    "signal {0:g}, {1} labels, {2}",
    _COSTS,
    _LEAST,
    seeds=100,
)
def _is_said_to_be_better(random: np.random.Generator, signal: float, items: int, name: str) -> bool:
    """No prompt knows more than the usual one. There is one method: two know more than one."""
    judges = [Known(prompt, {Method.LABEL_TOKENS: signal}) for prompt in (NO_EXAMPLES, WITH_EXAMPLES)]
    over_default = found_settings(random, items, _BY_DEFAULT[name], judges)[1].over_default
    return over_default is not None and over_default.significantly_better


@simulated(
    "settings: one knows",
    Promise("settings: what knows is found", 0.95, 0.95),
    [(method, prompt.words, prompt) for prompt, method in product((NO_EXAMPLES, WITH_EXAMPLES), _METHODS)],
    "{0} with {1}, 100 labels",
    _COSTS,
    _LEAST,
    seeds=200,
)
def _is_found(random: np.random.Generator, method: Method, _words: str, prompt: tuning_choice.Prompt) -> bool:
    """It knows much more than all else: it is chosen, and said to beat the most frequent label."""
    judges = [
        Known(each, {every: 2.5 if (each, every) == (prompt, method) else 0.2 for every in _METHODS})
        for each in (NO_EXAMPLES, WITH_EXAMPLES)
    ]
    choice, worth = found_settings(random, 100, (0.25,) * _LABELS, judges)
    look = choice.chosen.look
    return look.prompt == prompt and method in look.methods and worth.beats_frequent
