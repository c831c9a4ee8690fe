"""The settings of a run: frozen, checked when made, saved with it.

One row of the table of settings: the texts of a setting, and how its values are read and checked.
"""

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from engine.core.errors import Setting, SetupError
from engine.core.formatting import capitalised
from engine.core.items import Method, Order

LARGEST = 2**31 - 1  # what a field of the window can hold; a remembered number above it is damaged


@dataclass(frozen=True)
class SettingRow:
    """A setting; the record that holds it defines its default.

    `name`: of the field in that record. `kind`: bool, int, float or an enumeration; `several`: a tuple of it.
    `stored`: what stores and files call it, where that is another name: it was chosen before, and stays.
    `called`: what users call it, a Setting where hints name it. `unit`: what its number counts; `things`: it
    is the number of what it is called. `least`, `most`: what a number may be. `refuse`: raises SetupError
    where that is not all to be checked. `when`: the property of a setup that tells whether it counts; empty
    where it always does. `unsaid`: what the identity of a run omits, so that runs from before there was a
    choice are the same runs; ... for nothing. `label`, `title`, `tip`: of its field in the window: the text
    next to it (its name by default), its accessible name (the label by default), its tool tip. `choices`: in
    words. `offered`, `step`: what a field of numbers offers; `instead`: what it shows for None; `special`:
    what its least number means, in words. `help`, `metavar`: of its option; without help it has none, or one
    made by hand.
    """

    name: str
    kind: type
    called: Setting | str
    stored: str = ""
    several: bool = False
    unit: str = ""
    things: bool = False
    least: int | None = None
    most: int | None = None
    refuse: Callable[[Any], None] | None = None
    when: str = ""
    unsaid: Any = ...
    label: str = ""
    title: str = ""
    tip: str = ""
    choices: Mapping[StrEnum, str] = field(default_factory=dict)
    offered: tuple[float, float] = (0, LARGEST)
    step: float = 1
    instead: float | None = None
    special: str = ""
    help: str = ""
    metavar: str = "N"

    @property
    def words(self) -> str:
        """What it is called, within a sentence: `longest explanation`, `threads`."""
        return self.called.value if isinstance(self.called, Setting) else self.called

    @property
    def noun(self) -> str:
        """The same where a single thing is spoken of: `longest explanation`, `number of threads`."""
        return f"number of {self.words}" if self.things else self.words

    @property
    def fact(self) -> str:
        """The same before its value: `longest explanation, tokens`, `threads`."""
        return f"{self.words}, {self.unit}" if self.unit else self.words

    @property
    def field_label(self) -> str:
        """The label of its field in the window."""
        return self.label or capitalised(self.words)

    @property
    def key(self) -> str:
        """What the identity of a run, and every file, calls it."""
        return self.stored or self.name

    @property
    def option(self) -> str:
        """What it is called on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def counts(self, setup: object) -> bool:
        """Whether it changes anything in this setup, or with these settings."""
        return not self.when or bool(getattr(setup, self.when))

    def check(self, value: Any) -> None:
        """SetupError for a value that cannot be; None is none."""
        if value is None:
            return
        if self.refuse is not None:
            self.refuse(value)
        if self.least is not None and value < self.least:
            raise SetupError(f"The {self.noun} is {value}.", f"Use {self.least} or more.")
        if self.most is not None and value > self.most:
            raise SetupError(f"The {self.noun} is {value}.", f"Use {self.most} or fewer.")

    def of_json(self, value: Any) -> Any:
        """A value out of JSON. TypeError or ValueError for one of another kind."""
        if value is None and self.unsaid is None:
            return None
        if self.several:
            return tuple(map(self.kind, value))
        if issubclass(self.kind, StrEnum):
            return self.kind(value)
        if type(value) is not self.kind and (type(value), self.kind) != (int, float):
            raise ValueError(f"{self.key} is {value!r}")
        return value

    def remembered(self, value: object, default: Any) -> Any:
        """A value out of JSON that may be damaged, or `default` in its place."""
        with suppress(TypeError, ValueError, SetupError):
            known = self.of_json(value)
            self.check(known)
            if self.kind not in (int, float):
                return known
            if abs(known) <= LARGEST:
                return self.kind(known)
        return default


DEFAULT_CONTEXT = 8192
DEFAULT_SHOTS = 3  # labelled examples in a prompt
SMALLEST_CONTEXT = 256
LOWEST_TEMPERATURE = 0.01  # below it sampling is greedy, and numbers overflow
MOST_THREADS = 512  # GGML_MAX_N_THREADS; more end the process
MOST_REASONING_SAMPLES = 1000  # of a criterion and order; each is written out, token by token
ITEMS_AT_ONCE = 2  # measured: 4 % faster than 1; 4 or 8 add nothing, and lose more at a stop

DEFAULT_MARGIN = 0.5  # where nothing is learned; how it was chosen: docs/measures.md


class Mode(StrEnum):
    """What a run makes: labels alone, or labels and explanations."""

    LABELS = "labels"
    EXPLAIN = "explain"


class ExampleKind(StrEnum):
    """Which labelled examples an item is shown: the same as all items, or the nearest to it."""

    FIXED = "fixed"
    NEAR = "near"


class KvType(StrEnum):
    """What the numbers of the KV cache are stored in: 16 bits, or 8.5 for half the room and rounder
    results.
    """

    F16 = "f16"
    Q8_0 = "q8_0"


DEFAULT_METHODS = (Method.LABEL_TOKENS,)


@dataclass(frozen=True, kw_only=True)
class ChosenSettings:
    """What the user chooses of a judge's settings: as it was asked for, so nothing is refused yet.

    The rows of SETTINGS say what each means. `second_order_below`: read BA only of items that AB leaves open:
    where the margin of AB (0 to 1: its likeliest label's probability minus the second's) is below this on any
    criterion; None to read it of all. `temperature`: 0 is greedy. `seed`: any integer.
    """

    mode: Mode = Mode.EXPLAIN
    second_order_below: float | None = None
    methods: tuple[Method, ...] = DEFAULT_METHODS
    reasoning_samples: int = 1
    max_reasoning_tokens: int = 512
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
    def reasons(self) -> bool:
        """True where the model writes reasoning samples."""
        return Method.CHAIN_OF_THOUGHT in self.methods

    @property
    def explains(self) -> bool:
        """True where explanations are written."""
        return self.mode is Mode.EXPLAIN

    @property
    def samples(self) -> bool:
        """True where any text is drawn, and is not the likeliest."""
        return self.reasons or (self.explains and self.temperature != 0)


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
    reasoning_temperature: float = 0.6

    def __post_init__(self) -> None:
        for row in rows_of(JudgeSettings):
            row.check(getattr(self, row.name))
        if self.may_read_one_order and Order.BA not in self.orders:
            raise SetupError(
                "There is a margin threshold for the second order, but only one order is judged.",
                "Use both orders.",
            )

    @property
    def orders_as_read(self) -> tuple[Order, ...]:
        """BA first, so that AB, which the explanations continue, can stay in the cache; AB first where it
        decides whether BA is read.
        """
        last = Order.BA if self.may_read_one_order else Order.AB
        return tuple(sorted(self.orders, key=lambda order: order is last))

    def texts(self, criteria: int) -> int:
        """How many texts are written for an item with this many criteria: explanations, and reasoning samples
        in all orders.
        """
        reasoning_samples = self.reasoning_samples * len(self.orders) if self.reasons else 0
        return criteria * (self.explains + reasoning_samples)

    def most_written(self, criteria: int) -> int:
        """How many tokens they have together at most."""
        reasoning_samples = (
            self.reasoning_samples * len(self.orders) * self.max_reasoning_tokens if self.reasons else 0
        )
        return criteria * (self.explains * self.max_explanation_tokens + reasoning_samples)

    @property
    def longest_text(self) -> int:
        """How many tokens any of them may have."""
        thought = self.max_reasoning_tokens if self.reasons else 0
        return max(thought, self.max_explanation_tokens if self.explains else 0)

    def as_json(self) -> dict[str, Any]:
        """The settings that count and that their rows do not leave unsaid, as plain values, for the store and
        for a run's identity.
        """
        values = ((row, getattr(self, row.name)) for row in rows_of(JudgeSettings))
        return {row.key: value for row, value in values if row.counts(self) and value != row.unsaid}


def settings_of(values: Mapping[str, Any]) -> JudgeSettings:
    """The settings that `as_json` gave; what else is in `values` is passed over.

    What it omitted, because it does not count, is the default. KeyError, TypeError, ValueError or SetupError
    for values that are none.
    """
    rows = rows_of(JudgeSettings)
    known = {row.name: row.of_json(values[row.key]) for row in rows if row.key in values}
    settings = JudgeSettings(mode=known.pop("mode"), orders=known.pop("orders"), **known)
    unsaid = {row.name: row.unsaid for row in rows if row.unsaid is not ... and row.counts(settings)}
    return replace(settings, **{name: value for name, value in unsaid.items() if name not in known})


def methods_in_words(methods: Collection[str], reasoning_samples: int = 1) -> str:
    """The methods of a run: `label tokens, pointwise yes/no`, `chain of thought (4 reasoning samples)`."""
    several = (
        f" ({reasoning_samples:,} reasoning samples)"
        if Method.CHAIN_OF_THOUGHT in methods and reasoning_samples > 1
        else ""
    )
    return f"{', '.join(Method(each).title for each in methods)}{several}"


CPU = "cpu"
"""What the user says for: no device, the processor alone."""


class DeviceKind(StrEnum):
    """How a device is built in, by which one can guess what it is good for."""

    GPU = "graphics card"
    INTEGRATED = "integrated graphics"
    OTHER = "other device"


@dataclass(frozen=True)
class Device:
    """What llama.cpp can compute with besides the processor, as it was found on this computer.

    `name`: llama.cpp's, which may be another one's after a restart: `Vulkan0`. `description`: its maker's.
    `backend`: the part of llama.cpp that speaks to it: `Vulkan`. `memory`: bytes in all, 0 where that is not
    told. `driver`: the version of its driver, empty where that is not reported.
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
        """What it is called for users: `Intel(R) Iris(R) Xe Graphics (integrated graphics, Vulkan)`."""
        return f"{self.description} ({self.kind.value}, {self.backend})"

    def is_still(self, other: "Device") -> bool:
        """Whether another one, found at another time, is this with the same driver."""
        return (self.key, self.driver) == (other.key, other.driver)

    def is_called(self, words: str) -> bool:
        """Whether words are its whole name or key, small or capital."""
        return words.casefold() in (self.name.casefold(), self.key.casefold())


@dataclass(frozen=True)
class MachineSettings:
    """How the computer works: speed, and results by rounding only.

    `adapts`: whether fewer than `threads` are used while other programs want the processor. `device`: what
    computes, with this many of the model's layers on it; None for the processor alone.
    """

    threads: int
    gpu_layers: int = 0
    adapts: bool = False
    device: Device | None = None

    def __post_init__(self) -> None:
        for row in rows_of(MachineSettings):
            row.check(getattr(self, row.name))


def default_context(trained: int) -> int:
    """Tokens of context for a model trained with this many."""
    return min(DEFAULT_CONTEXT, trained)


def check_margin(margin: float) -> None:
    """SetupError for what is no margin below which a second order is read."""
    if not 0 < margin <= 1:
        raise SetupError(
            f"The margin threshold is {margin}.",
            "Use more than 0 and at most 1: 1 judges nearly all items in both orders.",
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
        raise SetupError("The orders lack AB.", "Use AB alone, or AB and BA.")


def _check_methods(methods: Collection[Method]) -> None:
    if not methods or len(set(methods)) < len(methods):
        raise SetupError(
            f"The elicitation methods are {', '.join(each.title for each in methods) or 'none'}.",
            f"Name each once: some of {', '.join(each.title for each in Method)}.",
        )


# A table: what is said of a setting stands together, not one word to a line.
# fmt: off
SETTINGS = (
    SettingRow(
        "mode", Mode, "mode", label="Make", title="What the run makes",
        choices={Mode.EXPLAIN: "Labels and explanations", Mode.LABELS: "Labels only (much faster)"},
        help="labels only (no text is generated), or labels and explanations (default)",
    ),
    SettingRow("orders", Order, "orders", several=True, refuse=_check_orders),
    SettingRow(
        "context", int, Setting.CONTEXT, least=SMALLEST_CONTEXT,
        title="Context length, in tokens", offered=(0, 2**24), step=1024, instead=0, special="Automatic",
        tip=f"Context length in tokens. Automatic: {DEFAULT_CONTEXT:,}, or less if the model was trained with"
        " less.",
        help=f"context length in tokens ({DEFAULT_CONTEXT}, or what the model was trained with)",
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
        title="Temperature of explanations", offered=(0, 5), step=0.1, special="0 (greedy)",
        tip="0 decodes greedily; above 0 the explanations are sampled. Labels are never sampled.",
        help="sample explanations; 0 decodes greedily (default). Labels are never sampled",
    ),
    SettingRow(
        "seed", int, "seed", refuse=_check_seed, when="samples", title="Seed for a temperature above 0",
        help="seed of the item sample, and of explanations with a temperature above 0 (%(default)s)",
    ),
    SettingRow(
        "shorten", bool, Setting.SHORTEN, label="Shorten responses that do not fit",
        tip="Omits the middle of long responses instead of leaving the item unscored; this is recorded.",
        help="omit the middle of responses that do not fit",
    ),
    SettingRow("items_at_once", int, "items at once", things=True, least=1, when="explains"),
    SettingRow(
        "kv_type", KvType, Setting.KV_TYPE, unsaid=KvType.F16, title="KV-cache type",
        choices={KvType.F16: "f16: exact", KvType.Q8_0: "q8_0: half the memory, less precise"},
        help="KV-cache type: f16 (default), or q8_0, which takes about half the memory",
    ),
    SettingRow(
        "second_order_below", float, "margin threshold", refuse=check_margin, when="may_read_one_order",
        unsaid=None, offered=(0.01, 1), step=0.05, instead=DEFAULT_MARGIN,
        title="Margin below which the second order is judged",
        tip="An item is uncertain if the margin between its two likeliest labels is below this on any"
        " criterion. The command “orders” finds the right threshold for a model from a run in both orders.",
    ),
    SettingRow(
        "methods", Method, Setting.METHODS, several=True, refuse=_check_methods, unsaid=DEFAULT_METHODS,
        stored="ways",
    ),
    SettingRow(
        "reasoning_samples", int, "reasoning samples", stored="thoughts", things=True,
        least=1, most=MOST_REASONING_SAMPLES, when="reasons",
        title="Reasoning samples for each criterion and order", offered=(1, 64),
        help="with chain-of-thought: reasoning samples for each criterion and order (%(default)s)",
    ),
    SettingRow(
        "max_reasoning_tokens", int, "longest reasoning", stored="max_thought_tokens", unit="tokens",
        least=1, when="reasons",
        title="Longest reasoning, in tokens", offered=(1, 2**17), step=128,
        help="with chain-of-thought: the longest reasoning (%(default)s)",
    ),
    SettingRow(
        "reasoning_temperature", float, "temperature of the reasoning", stored="thought_temperature",
        when="reasons",
    ),
    SettingRow(
        "shots", int, Setting.SHOTS, least=1, when="shows_examples",
        title="Number of labelled examples in the prompt (few-shot k)", offered=(1, 32),
    ),
    SettingRow(
        "example_choice", ExampleKind, Setting.CHOICE, when="shows_examples", label="Examples are",
        choices={ExampleKind.FIXED: "the same for all items", ExampleKind.NEAR: "nearest neighbours"},
        title="Selection of the labelled examples",
        tip="The same for all items: those with different labels, the shortest first; they are read once for"
        " the whole run. Nearest neighbours: for each item those with the most similar instructions, by their"
        " words; they are read with each item, so the run takes longer.",
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
        tip="The number of the model's layers on the GPU; the processor computes the others. Automatic: as"
        " many as fit its memory.",
        help="layers of the model on the GPU (as many as fit its memory)",
    ),
)
# fmt: on
"""All settings, in the order in which they are reported: those of a judge, then a setup's own."""
OF_EXPLANATIONS = ("max_explanation_tokens", "temperature", "seed")
"""What the user chooses of explanations, in the order of options and fields."""


def row_of(name: str) -> SettingRow:
    """The row of a setting. KeyError for no setting."""
    return _BY_NAME[name]


def rows_of(record: type) -> tuple[SettingRow, ...]:
    """The rows of the settings that a record holds."""
    held = {each.name for each in fields(record)}
    return tuple(row for row in SETTINGS if row.name in held)


_BY_NAME = {row.name: row for row in SETTINGS}
