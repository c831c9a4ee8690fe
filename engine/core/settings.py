"""The settings of a run: frozen, checked when made, saved with it.

Knows: what can be chosen, and what is sensible. Does not know: how it is used.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, get_args

from engine.core.errors import SetupError
from engine.core.items import Order, Way

DEFAULT_CONTEXT = 8192
USUAL_SHOTS = 3  # labelled examples in a prompt
SMALLEST_CONTEXT = 256
LOWEST_TEMPERATURE = 0.01  # below it sampling is greedy, and numbers overflow
MOST_THREADS = 512  # GGML_MAX_N_THREADS; more end the process
MOST_THOUGHTS = 1000  # of a criterion and order; each is written out, token by token
ITEMS_AT_ONCE = 2  # measured: 4 % faster than 1; 4 or 8 add nothing, and lose more at a stop

USUAL_MARGIN = 0.5  # where nothing is learned; how it was chosen: docs/measures.md


class Mode(StrEnum):
    """What a run makes: labels alone, or labels and explanations."""

    LABELS = "labels"
    EXPLAIN = "explain"


class ExampleChoice(StrEnum):
    """Which labelled examples an item is shown: the same as all items, or the nearest to it."""

    FIXED = "fixed"
    NEAR = "near"


class KvType(StrEnum):
    """What the numbers of the KV cache are kept in: 16 bits, or 8.5 for half the room and rounder results."""

    F16 = "f16"
    Q8_0 = "q8_0"


USUAL_WAYS = (Way.LETTERS,)
_OF_THOUGHTS = ("thoughts", "max_thought_tokens", "thought_temperature")
_OF_EXPLANATIONS = ("max_explanation_tokens", "max_explanation_sentences", "temperature", "items_at_once")


@dataclass(frozen=True)
class JudgeSettings:
    """What decides the results of a run, apart from dataset, model and prompts.

    `context`: tokens that fit the model's cache at once. `max_explanation_tokens`: 1 or more.
    `max_explanation_sentences`: 1 or more, None for any number, and for repeated ones, as runs once had it.
    `temperature`: 0 is greedy. `seed`: any integer, used where the temperature is not 0.
    `shorten`: leave out the middle of long responses where an item does not fit.
    `items_at_once`: items whose explanations are written together; part of what makes a repeat exact.
    `kv_type`: what the model's cache is kept in. `second_order_below`: read BA only of items that AB leaves
    open: where the margin of AB (0 to 1: its likeliest label's probability minus the second's) is below this
    on any criterion; None to read it of all. `ways`: in which ways the model is asked, each once.
    `thoughts`: how many it writes for each criterion and order where it is asked to think, of at most
    `max_thought_tokens` each, drawn at `thought_temperature`.
    """

    mode: Mode = Mode.EXPLAIN
    orders: tuple[Order, ...] = (Order.AB, Order.BA)
    context: int = DEFAULT_CONTEXT
    max_explanation_tokens: int = 120
    max_explanation_sentences: int | None = 3
    temperature: float = 0.0
    seed: int = 0
    shorten: bool = False
    items_at_once: int = 1
    kv_type: KvType = KvType.F16
    second_order_below: float | None = None
    ways: tuple[Way, ...] = USUAL_WAYS
    thoughts: int = 1
    max_thought_tokens: int = 512
    thought_temperature: float = 0.6

    def __post_init__(self) -> None:
        _at_least("context", self.context, SMALLEST_CONTEXT)
        _at_least("explanation length", self.max_explanation_tokens, 1)
        if self.max_explanation_sentences is not None:
            _at_least("number of sentences", self.max_explanation_sentences, 1)
        _at_least("items at once", self.items_at_once, 1)
        if self.temperature != 0 and not LOWEST_TEMPERATURE <= self.temperature < math.inf:
            raise SetupError(
                f"The temperature is {self.temperature}.",
                f"Use 0 (greedy), or {LOWEST_TEMPERATURE} or more.",
            )
        if abs(self.seed) >= 1 << 63:
            raise SetupError(f"The seed has {len(str(abs(self.seed)))} digits.", "Use 18 or fewer.")
        if Order.AB not in self.orders:
            raise SetupError("The orders leave out AB.", "Use AB alone, or AB and BA.")
        if self.second_order_below is not None:
            if Order.BA not in self.orders:
                raise SetupError("There is a margin for the second order, and one order only.", "Use both.")
            check_margin(self.second_order_below)
        if not self.ways or len(set(self.ways)) < len(self.ways):
            raise SetupError(
                f"The ways of asking are {', '.join(self.ways) or 'none'}.",
                f"Name each once: some of {', '.join(Way)}.",
            )
        _at_least("number of thoughts", self.thoughts, 1)
        if self.thoughts > MOST_THOUGHTS:
            raise SetupError(
                f"The number of thoughts is {self.thoughts:,}.", f"Use {MOST_THOUGHTS} or fewer."
            )
        _at_least("length of a thought", self.max_thought_tokens, 1)

    @property
    def orders_as_read(self) -> tuple[Order, ...]:
        """BA first, so that AB, which the explanations continue, can stay in the cache; AB first where it
        decides whether BA is read.
        """
        last = Order.BA if self.may_read_one_order else Order.AB
        return tuple(sorted(self.orders, key=lambda order: order is last))

    @property
    def may_read_one_order(self) -> bool:
        """True where the second order is read of some items only."""
        return self.second_order_below is not None

    @property
    def thinks(self) -> bool:
        """True where the model writes thoughts."""
        return Way.THINKING in self.ways

    @property
    def explains(self) -> bool:
        """True where explanations are written."""
        return self.mode is Mode.EXPLAIN

    def texts(self, criteria: int) -> int:
        """How many texts are written for an item with so many criteria: explanations, and thoughts in all
        orders.
        """
        thoughts = self.thoughts * len(self.orders) if self.thinks else 0
        return criteria * (self.explains + thoughts)

    def most_written(self, criteria: int) -> int:
        """How many tokens they have together at most."""
        thoughts = self.thoughts * len(self.orders) * self.max_thought_tokens if self.thinks else 0
        return criteria * (self.explains * self.max_explanation_tokens + thoughts)

    @property
    def longest_text(self) -> int:
        """How many tokens any of them may have."""
        thought = self.max_thought_tokens if self.thinks else 0
        return max(thought, self.max_explanation_tokens if self.explains else 0)

    def as_json(self) -> dict[str, Any]:
        """The settings that count, as plain values, for the store and for a run's identity.

        Without explanations none of theirs counts, and without a temperature no seed. A cache in f16 is not
        named, nor that there is no limit of sentences, nor that all items are read in all orders, nor letters
        as the only way of asking: runs from before there was a choice are the same runs.
        """
        values = asdict(self)
        if not self.explains:
            for name in _OF_EXPLANATIONS:
                del values[name]
        elif self.max_explanation_sentences is None:
            del values["max_explanation_sentences"]
        if not self.thinks and (not self.explains or self.temperature == 0):
            del values["seed"]
        if self.kv_type is KvType.F16:
            del values["kv_type"]
        if self.second_order_below is None:
            del values["second_order_below"]
        if self.ways == USUAL_WAYS:
            del values["ways"]
        if not self.thinks:
            for name in _OF_THOUGHTS:
                del values[name]
        return values


def settings_of(values: Mapping[str, Any]) -> JudgeSettings:
    """The settings that `as_json` gave; what else is in `values` is passed over.

    What it left out, because it does not count, is as usual. KeyError, TypeError, ValueError or SetupError
    for values that are none.
    """
    known = {
        setting.name: values[setting.name] for setting in fields(JudgeSettings) if setting.name in values
    }
    for setting in fields(JudgeSettings):
        if setting.name in known and not _is_of_kind(setting.type, known[setting.name]):
            raise ValueError(f"{setting.name} is {known[setting.name]!r}")
    known["mode"] = Mode(values["mode"])
    if known["mode"] is Mode.EXPLAIN:
        known.setdefault("max_explanation_sentences", None)
    known["orders"] = tuple(map(Order, values["orders"]))
    known["ways"] = tuple(map(Way, values.get("ways", USUAL_WAYS)))
    known["kv_type"] = KvType(values.get("kv_type", KvType.F16))
    return JudgeSettings(**known)


def _is_of_kind(kind: Any, value: object) -> bool:
    """Whether a plain value is a number, a flag or nothing where a setting is one; others are made of it."""
    kinds = get_args(kind) or (kind,)
    if not {bool, int, float} & set(kinds):
        return True
    return type(value) in kinds or (float in kinds and type(value) is int)


def ways_in_words(ways: Collection[str], thoughts: int = 1) -> str:
    """In which ways a run asks: `letters, absolute`, `letters, thinking (4 thoughts)`."""
    several = f" ({thoughts:,} thoughts)" if Way.THINKING in ways and thoughts > 1 else ""
    return f"{', '.join(ways)}{several}"


CPU = "cpu"
"""What a person says for: no device, the processor alone."""


class DeviceKind(StrEnum):
    """How a device is built in, by which one can guess what it is good for."""

    GPU = "graphics card"
    INTEGRATED = "integrated graphics"
    OTHER = "other device"


@dataclass(frozen=True)
class Device:
    """What llama.cpp can compute with beside the processor, as it was found on this computer.

    `name`: llama.cpp's, which may be another one's after a restart: `Vulkan0`. `description`: its maker's.
    `backend`: the part of llama.cpp that speaks to it: `Vulkan`. `memory`: bytes in all, 0 where that is not
    told. `driver`: the version of its driver, empty where that is not told.
    """

    name: str
    description: str
    backend: str
    kind: DeviceKind
    memory: int = 0
    driver: str = ""

    @property
    def key(self) -> str:
        """What it is called in the identity of a run: `Vulkan: Intel(R) Iris(R) Xe Graphics`."""
        return f"{self.backend}: {self.description}"

    @property
    def title(self) -> str:
        """What it is called for people: `Intel(R) Iris(R) Xe Graphics (integrated graphics, Vulkan)`."""
        return f"{self.description} ({self.kind.value}, {self.backend})"

    def is_still(self, other: "Device") -> bool:
        """Whether another one, found at another time, is this with the same driver."""
        return (self.key, self.driver) == (other.key, other.driver)

    def is_called(self, words: str) -> bool:
        """Whether words are its whole name or key, small or capital."""
        return words.casefold() in (self.name.casefold(), self.key.casefold())

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> "Device":
        """What `as_json` gave. KeyError, TypeError or ValueError for anything else."""
        texts = {name: values[name] for name in ("name", "description", "backend", "driver")}
        if not all(isinstance(text, str) for text in texts.values()):
            raise TypeError(f"{values!r} is no device")
        return cls(**texts, kind=DeviceKind(values["kind"]), memory=int(values["memory"]))


@dataclass(frozen=True)
class MachineSettings:
    """How the computer works: speed, and results by rounding only.

    `adapts`: whether fewer than `threads` are used while other programs want the processor. `device`: what
    computes, with so many of the model's layers on it; None for the processor alone.
    """

    threads: int
    gpu_layers: int = 0
    adapts: bool = False
    device: Device | None = None

    def __post_init__(self) -> None:
        _at_least("number of threads", self.threads, 1)
        _at_least("number of GPU layers", self.gpu_layers, 0)
        if self.threads > MOST_THREADS:
            raise SetupError(f"The number of threads is {self.threads}.", f"Use {MOST_THREADS} or fewer.")


def default_context(trained: int) -> int:
    """Tokens of context for a model trained with so many."""
    return min(DEFAULT_CONTEXT, trained)


def check_margin(margin: float) -> None:
    """SetupError for what is no margin below which a second order is read."""
    if not 0 < margin <= 1:
        raise SetupError(
            f"The margin is {margin}.",
            "Use more than 0 and at most 1: 1 reads the second order of nearly all items.",
        )


def _at_least(what: str, value: int, least: int) -> None:
    if value < least:
        raise SetupError(f"The {what} is {value}.", f"Use {least} or more.")
