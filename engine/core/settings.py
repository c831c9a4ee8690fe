"""The settings of a run: frozen, checked when made, saved with it.

Knows: what can be chosen, and what is sensible. Does not know: how it is used.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from engine.core.errors import SetupError
from engine.core.items import Order, Way
from engine.core.remedies import Setting
from engine.core.setting_row import SettingRow

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


class ExampleKind(StrEnum):
    """Which labelled examples an item is shown: the same as all items, or the nearest to it."""

    FIXED = "fixed"
    NEAR = "near"


class KvType(StrEnum):
    """What the numbers of the KV cache are kept in: 16 bits, or 8.5 for half the room and rounder results."""

    F16 = "f16"
    Q8_0 = "q8_0"


USUAL_WAYS = (Way.LETTERS,)


@dataclass(frozen=True, kw_only=True)
class ChosenSettings:
    """What a person chooses of a judge's settings: as it was asked for, so nothing is refused yet.

    The rows of SETTINGS say what each means. `second_order_below`: read BA only of items that AB leaves open:
    where the margin of AB (0 to 1: its likeliest label's probability minus the second's) is below this on any
    criterion; None to read it of all. `temperature`: 0 is greedy. `seed`: any integer.
    """

    mode: Mode = Mode.EXPLAIN
    second_order_below: float | None = None
    ways: tuple[Way, ...] = USUAL_WAYS
    thoughts: int = 1
    max_thought_tokens: int = 512
    shorten: bool = False
    max_explanation_tokens: int = 120
    temperature: float = 0.0
    seed: int = 0
    kv_type: KvType = KvType.F16

    @property
    def chosen(self) -> dict[str, Any]:
        """These choices by name, for another record that has them, too."""
        return {choice.name: getattr(self, choice.name) for choice in fields(ChosenSettings)}

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

    @property
    def samples(self) -> bool:
        """True where any text is drawn, and is not the likeliest."""
        return self.thinks or (self.explains and self.temperature != 0)


@dataclass(frozen=True)
class JudgeSettings(ChosenSettings):
    """What decides the results of a run, apart from dataset, model and prompts: all of it is its identity.

    `context`: tokens that fit the model's cache at once. `max_explanation_sentences`: None for any number,
    and for repeated ones, as runs once had it. `items_at_once`: items whose explanations are written
    together; part of what makes a repeat exact. SetupError for settings that cannot be.
    """

    orders: tuple[Order, ...] = (Order.AB, Order.BA)
    context: int = DEFAULT_CONTEXT
    max_explanation_sentences: int | None = 3
    items_at_once: int = 1
    thought_temperature: float = 0.6

    def __post_init__(self) -> None:
        for row in rows_of(JudgeSettings):
            row.check(getattr(self, row.name))
        if self.may_read_one_order and Order.BA not in self.orders:
            raise SetupError("There is a margin for the second order, and one order only.", "Use both.")

    @property
    def orders_as_read(self) -> tuple[Order, ...]:
        """BA first, so that AB, which the explanations continue, can stay in the cache; AB first where it
        decides whether BA is read.
        """
        last = Order.BA if self.may_read_one_order else Order.AB
        return tuple(sorted(self.orders, key=lambda order: order is last))

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
        """The settings that count and that their rows do not leave unsaid, as plain values, for the store and
        for a run's identity.
        """
        values = ((row, getattr(self, row.name)) for row in rows_of(JudgeSettings))
        return {row.name: value for row, value in values if row.counts(self) and value != row.unsaid}


def settings_of(values: Mapping[str, Any]) -> JudgeSettings:
    """The settings that `as_json` gave; what else is in `values` is passed over.

    What it left out, because it does not count, is as usual. KeyError, TypeError, ValueError or SetupError
    for values that are none.
    """
    rows = rows_of(JudgeSettings)
    known = {row.name: row.of_json(values[row.name]) for row in rows if row.name in values}
    settings = JudgeSettings(mode=known.pop("mode"), orders=known.pop("orders"), **known)
    unsaid = {row.name: row.unsaid for row in rows if row.unsaid is not ... and row.counts(settings)}
    return replace(settings, **{name: value for name, value in unsaid.items() if name not in known})


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
        for row in rows_of(MachineSettings):
            row.check(getattr(self, row.name))


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


def _check_temperature(temperature: float) -> None:
    if temperature != 0 and not LOWEST_TEMPERATURE <= temperature < math.inf:
        raise SetupError(
            f"The temperature is {temperature}.", f"Use 0 (greedy), or {LOWEST_TEMPERATURE} or more."
        )


def _check_seed(seed: int) -> None:
    if abs(seed) >= 1 << 63:  # of 64 bits, as what is read of JSON
        raise SetupError(f"The seed has {len(str(abs(seed)))} digits.", "Use 18 or fewer.")


def _check_orders(orders: Collection[Order]) -> None:
    if Order.AB not in orders:
        raise SetupError("The orders leave out AB.", "Use AB alone, or AB and BA.")


def _check_ways(ways: Collection[Way]) -> None:
    if not ways or len(set(ways)) < len(ways):
        raise SetupError(
            f"The ways of asking are {', '.join(ways) or 'none'}.",
            f"Name each once: some of {', '.join(Way)}.",
        )


# A table: what is said of a setting stands together, not one word to a line.
# fmt: off
SETTINGS = (
    SettingRow(
        "mode", Mode, "mode", label="Make", title="What the run makes",
        choices={Mode.EXPLAIN: "Labels and explanations", Mode.LABELS: "Labels alone (much faster)"},
        help="labels alone (no text is generated), or labels and explanations (default)",
    ),
    SettingRow("orders", Order, "orders", several=True, refuse=_check_orders),
    SettingRow(
        "context", int, Setting.CONTEXT, least=SMALLEST_CONTEXT,
        title="Tokens of context", offered=(0, 2**24), step=1024, instead=0, special="Automatic",
        tip=f"Tokens that the model can hold at once. Automatic: {DEFAULT_CONTEXT:,}, or what the model was"
        " trained with.",
        help=f"tokens the model can hold ({DEFAULT_CONTEXT}, or what it was trained with)",
    ),
    SettingRow(
        "max_explanation_tokens", int, Setting.EXPLANATION_TOKENS, unit="tokens", least=1, when="explains",
        title="Longest explanation, in tokens", offered=(1, 4096),
        help="the longest explanation (%(default)s)",
    ),
    SettingRow(
        "max_explanation_sentences", int, "sentences of an explanation", things=True, least=1,
        when="explains", unsaid=None,
    ),
    SettingRow(
        "temperature", float, "temperature", refuse=_check_temperature, when="explains", metavar="T",
        title="Temperature of explanations", offered=(0, 5), step=0.1, special="0 (likeliest words)",
        tip="0 takes the likeliest words; more than 0 samples. Labels are never sampled.",
        help="sample explanations; 0 takes the likeliest words (default). Labels are never sampled",
    ),
    SettingRow(
        "seed", int, "seed", refuse=_check_seed, when="samples", title="Seed for a temperature above 0",
        help="for what is drawn: items, and explanations with a temperature above 0 (%(default)s)",
    ),
    SettingRow(
        "shorten", bool, Setting.SHORTEN, label="Shorten responses that do not fit",
        tip="Leaves out the middle of long responses instead of leaving the item unscored; it is recorded.",
        help="leave out the middle of responses that do not fit",
    ),
    SettingRow("items_at_once", int, "items at once", things=True, least=1, when="explains"),
    SettingRow(
        "kv_type", KvType, Setting.KV_TYPE, unsaid=KvType.F16, title="What the model's cache is kept in",
        choices={KvType.F16: "f16: exact", KvType.Q8_0: "q8_0: half the memory, rounder results"},
        help="what the model's cache is kept in: f16 (default), or q8_0, which takes about half the memory",
    ),
    SettingRow(
        "second_order_below", float, "margin of doubt", refuse=check_margin, when="may_read_one_order",
        unsaid=None, offered=(0.01, 1), step=0.05, instead=USUAL_MARGIN,
        title="Margin below which the second order is read",
        tip="An item is in doubt where the likeliest label leads the next by less than this on one criterion"
        " or more. Which margin is right for a model, the command “orders” tells from a run in both orders.",
    ),
    SettingRow("ways", Way, Setting.WAYS, several=True, refuse=_check_ways, unsaid=USUAL_WAYS),
    SettingRow(
        "thoughts", int, "thoughts", things=True, least=1, most=MOST_THOUGHTS, when="thinks",
        title="Thoughts for each criterion and order", offered=(1, 64),
        help="with `thinking`: thoughts for each criterion and order (%(default)s)",
    ),
    SettingRow(
        "max_thought_tokens", int, "longest thought", unit="tokens", least=1, when="thinks",
        title="The most tokens of a thought", offered=(1, 2**17), step=128,
        help="with `thinking`: the longest thought (%(default)s)",
    ),
    SettingRow("thought_temperature", float, "temperature of thoughts", when="thinks"),
    SettingRow(
        "shots", int, Setting.SHOTS, least=1, when="shows_examples",
        title="How many labelled examples the model is shown", offered=(1, 32),
    ),
    SettingRow(
        "example_choice", ExampleKind, Setting.CHOICE, when="shows_examples", label="Examples are",
        choices={ExampleKind.FIXED: "the same for all items", ExampleKind.NEAR: "nearest by words"},
        title="Which labelled examples an item is shown",
        tip="The same for all items: those that show different labels, the shortest first; they are read once"
        " for the whole run. Nearest by words: for each item those with the instructions most like its own;"
        " they are read with each item, so the run takes longer.",
    ),
    SettingRow(
        "threads", int, "threads", things=True, least=1, most=MOST_THREADS, title="Processor cores to use",
        offered=(0, MOST_THREADS), instead=0, special="Automatic",
        tip="Automatic: the physical cores, fewer while other programs need them, one for a very small"
        " model.",
        help="processor cores to use (the physical ones, fewer while other programs need them)",
    ),
    SettingRow(
        "gpu_layers", int, Setting.GPU_LAYERS, things=True, least=0, when="may_use_gpu",
        title="Layers of the model on the GPU",
        offered=(-1, 9999), instead=-1, special="Automatic",  # for 0 is a choice
        tip="Where a GPU computes: so many layers of the model are on it, the others stay with the processor."
        " Automatic: as many as its memory holds.",
        help="layers of the model on the GPU (as many as its memory holds)",
    ),
)
# fmt: on
"""All settings, in the order in which they are told: those of a judge, then a setup's own."""
OF_EXPLANATIONS = ("max_explanation_tokens", "temperature", "seed")
"""What a person chooses of explanations, in the order of options and fields."""


def row_of(name: str) -> SettingRow:
    """The row of a setting. KeyError for no setting."""
    return _BY_NAME[name]


def rows_of(record: type) -> tuple[SettingRow, ...]:
    """The rows of the settings that a record holds."""
    held = {each.name for each in fields(record)}
    return tuple(row for row in SETTINGS if row.name in held)


_BY_NAME = {row.name: row for row in SETTINGS}
