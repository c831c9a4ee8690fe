"""The one table of settings: what each is called, where it is offered, what its values may be, who keeps it.
Options, fields of the window, judge configurations, lists, stores, the API and the docs are made of its rows.
Long because a setting is added in one place.
"""

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from enum import Flag, StrEnum, auto
from typing import Any

from engine.core.errors import Setting, SetupError
from engine.core.formatting import capitalised, counted
from engine.core.items import BACKGROUND, Method, Order

LARGEST = 2**31 - 1  # what a field of the window can hold; a remembered number above it is damaged


class Group(StrEnum):
    """Where the option of a setting is among those of a command, and its field on the Judge page."""

    OUTPUT = auto()
    METHODS = auto()
    EXAMPLES = auto()
    ORDERS = auto()
    ITEMS = auto()
    COMPUTER = auto()
    GPU = auto()
    EXPLANATIONS = auto()
    DISPLAY = auto()  # what is shown of judgments that are made: no run keeps it


JUDGED_BY = tuple(group for group in Group if group not in {Group.COMPUTER, Group.GPU})
"""What decides how items are judged; the rest is of this computer."""


class Surface(Flag):
    NONE = 0
    JUDGE = auto()
    TUNE = auto()
    AUDIT = auto()
    PROMPT = auto()
    API = auto()
    WINDOW = auto()
    RUN = JUDGE | API | WINDOW  # whatever judges a dataset


@dataclass(frozen=True, kw_only=True)
class SettingRow:
    """A setting. The record that holds it defines its default."""

    name: str  # of the field in that record, and of the parameter; the option is made of it
    kind: type  # bool, int, float or an enumeration
    several: bool = False  # its value is a tuple of that kind
    called: Setting | str  # for users; a Setting where hints name it
    group: Group
    surfaces: Surface = Surface.RUN
    stored: str = ""
    """What stores and files call it, where that is another name: it was chosen before, and stays."""
    in_recipe: bool = False
    """It belongs to a judge: a judge configuration keeps it, and no option changes it then."""
    counts_when: str = ""
    """The property of a setup that tells whether it changes anything; empty where it always does."""
    unsaid: Any = ...
    """What a run's identity omits, so that runs from before there was a choice resume; ... for nothing."""
    neutral: Any = ...
    """Its value where raw predictions of all items are compared; ... for the user's choice."""
    phrase: str | Callable[[Any], str] = ""
    """In lists of runs: a format of its value if that is not the default, or a function of all settings."""

    unit: str = ""  # what its number counts
    things: bool = False  # it is the number of what it is called
    least: int | None = None
    most: int | None = None
    refuse: Callable[[Any], None] | None = None
    """Raises SetupError where `least` and `most` are not all to be checked."""

    label: str = ""  # next to its field in the window; by default its name
    title: str = ""  # the accessible name of the field; by default the label
    tip: str = ""
    choices: Mapping[StrEnum, str] = field(default_factory=dict)  # its values in words
    offered: tuple[float, float] = (0, LARGEST)  # the range of its field
    step: float = 1
    instead: float | None = None  # what the field shows for None
    special: str = ""  # what the least number of the field means, in words

    help: str = ""  # of its option; without help it has none, or one made by hand
    brief: str = ""
    """The same for `prompt`, which follows `judge`; `{shorten}` stands for the option of that setting."""
    docs: str = ""  # the same on the page of commands, in Markdown, where there is more to say
    metavar: str = "N"

    @property
    def words(self) -> str:
        """Its name within a sentence: `longest explanation`, `threads`."""
        return self.called.value if isinstance(self.called, Setting) else self.called

    @property
    def noun(self) -> str:
        """Where a single thing is spoken of: `longest explanation`, `number of threads`."""
        return f"number of {self.words}" if self.things else self.words

    @property
    def fact(self) -> str:
        """Before its value: `longest explanation, tokens`, `threads`."""
        return f"{self.words}, {self.unit}" if self.unit else self.words

    @property
    def field_label(self) -> str:
        return self.label or capitalised(self.words)

    @property
    def key(self) -> str:
        """Its name in the identity of a run, and in every file."""
        return self.stored or self.name

    @property
    def option(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    def counts(self, setup: object) -> bool:
        return not self.counts_when or bool(getattr(setup, self.counts_when))

    def said_of(self, settings: object) -> bool:
        if self.group is Group.DISPLAY:
            return False
        return self.counts(settings) and getattr(settings, self.name) != self.unsaid

    def check(self, value: Any) -> None:
        if value is None:
            return
        if self.refuse is not None:
            self.refuse(value)
        if self.least is not None and value < self.least:
            raise SetupError(f"The {self.noun} is {value}.", f"Use {self.least} or more.")
        if self.most is not None and value > self.most:
            raise SetupError(f"The {self.noun} is {value}.", f"Use {self.most} or fewer.")

    def of_json(self, value: Any) -> Any:
        """TypeError or ValueError for a value of another kind."""
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

    def phrase_in(self, settings: Any) -> str:
        """What a list of runs says of it; empty where it does not count, or is the default."""
        if not self.phrase or not self.counts(settings):
            return ""
        if callable(self.phrase):
            return self.phrase(settings)
        value = getattr(settings, self.name)
        return "" if value == getattr(type(settings), self.name) else self.phrase.format(value)


DEFAULT_CONTEXT = 8192
DEFAULT_SHOTS = 3  # labelled examples in a prompt
SMALLEST_CONTEXT = 256
LOWEST_TEMPERATURE = 0.01  # below it sampling is greedy, and numbers overflow
MOST_THREADS = 512  # GGML_MAX_N_THREADS; more end the process
MOST_REASONING_SAMPLES = 1000  # of a criterion and order; each is written out, token by token
ITEMS_AT_ONCE = 2  # measured: 4 % faster than 1; 4 or 8 add nothing, and lose more at a stop

DEFAULT_MARGIN = 0.5  # where nothing is learned; how it was chosen: docs/measures.md


class Mode(StrEnum):
    LABELS = "labels"
    EXPLAIN = "explain"


class ExampleKind(StrEnum):
    """Which labelled examples an item is shown: the same as all items, or the nearest to it."""

    FIXED = "fixed"
    NEAR = "near"


EXAMPLE_KINDS = {"fixed": ExampleKind.FIXED, "nearest": ExampleKind.NEAR}
"""By the words that a user writes."""


class KvType(StrEnum):
    """The numbers of the KV cache: in 16 bits, or in 8.5 for half the room and rounder results."""

    F16 = "f16"
    Q8_0 = "q8_0"


DEFAULT_METHODS = (Method.LABEL_TOKENS,)


@dataclass(frozen=True, kw_only=True)
class ChosenSettings:
    """What the user chooses of a judge's settings: as it was asked for, so nothing is refused yet."""

    mode: Mode = Mode.EXPLAIN
    second_order_below: float | None = None
    """Read BA only of items where on any criterion the margin of AB (its likeliest label's probability minus
    the second's, 0 to 1) is below this; None to read it of all.
    """
    methods: tuple[Method, ...] = DEFAULT_METHODS
    reasoning_samples: int = 1
    max_reasoning_tokens: int = 512
    shorten: bool = False
    show_context: bool = False
    show_reference: bool = False
    max_explanation_tokens: int = 120
    temperature: float = 0.0
    seed: int = 0
    kv_type: KvType = KvType.F16

    @property
    def chosen(self) -> dict[str, Any]:
        return {choice.name: getattr(self, choice.name) for choice in fields(ChosenSettings)}

    @property
    def shows(self) -> tuple[str, ...]:
        """Which texts of BACKGROUND the prompts show, of items that have them."""
        return tuple(name for name in BACKGROUND if getattr(self, f"show_{name}"))

    @property
    def may_read_one_order(self) -> bool:
        return self.second_order_below is not None

    @property
    def reasons(self) -> bool:
        return Method.CHAIN_OF_THOUGHT in self.methods

    @property
    def explains(self) -> bool:
        return self.mode is Mode.EXPLAIN

    @property
    def samples(self) -> bool:
        return self.reasons or (self.explains and self.temperature != 0)


@dataclass(frozen=True)
class JudgeSettings(ChosenSettings):
    """What decides the results of a run, besides dataset, model and prompts. SetupError if impossible."""

    orders: tuple[Order, ...] = (Order.AB, Order.BA)
    context: int = DEFAULT_CONTEXT  # tokens that fit the model's cache at once
    max_explanation_sentences: int | None = 3
    """None for any number, and for repeated ones, as runs once had it."""
    items_at_once: int = 1  # whose explanations are written together; part of what makes a repeat exact
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
        # BA first, so that AB, which the explanations continue, can stay in the cache; AB first where it
        # decides whether BA is read.
        last = Order.BA if self.may_read_one_order else Order.AB
        return tuple(sorted(self.orders, key=lambda order: order is last))

    @property
    def _reasoning_texts(self) -> int:
        """Of a criterion, in all orders."""
        return self.reasoning_samples * len(self.orders) if self.reasons else 0

    def texts(self, criteria: int) -> int:
        """Written for an item: explanations, and reasoning samples in all orders."""
        return criteria * (self.explains + self._reasoning_texts)

    def most_written(self, criteria: int) -> int:
        reasoning = self._reasoning_texts * self.max_reasoning_tokens
        return criteria * (self.explains * self.max_explanation_tokens + reasoning)

    @property
    def longest_text(self) -> int:
        thought = self.max_reasoning_tokens if self.reasons else 0
        return max(thought, self.max_explanation_tokens if self.explains else 0)

    def as_json(self) -> dict[str, Any]:
        """The settings that are kept, as plain values, for the store and for a run's identity."""
        return {row.key: getattr(self, row.name) for row in rows_of(JudgeSettings) if row.said_of(self)}


def settings_of(values: Mapping[str, Any]) -> JudgeSettings:
    """What `as_json` gave; KeyError, TypeError, ValueError or SetupError for anything else."""
    rows = rows_of(JudgeSettings)
    known = {row.name: row.of_json(values[row.key]) for row in rows if row.key in values}
    # What was omitted, because it does not count, is the default.
    settings = JudgeSettings(mode=known.pop("mode"), orders=known.pop("orders"), **known)
    unsaid = {row.name: row.unsaid for row in rows if row.unsaid is not ... and row.counts(settings)}
    return replace(settings, **{name: value for name, value in unsaid.items() if name not in known})


def settings_in_words(settings: ChosenSettings) -> str:
    """What distinguishes the settings of a run or of a setup from the default: `labels only, one order`."""
    phrases = (row.phrase_in(settings) for row in SETTINGS if hasattr(settings, row.name))
    return ", ".join(filter(None, phrases))


def methods_in_words(methods: Collection[str], reasoning_samples: int = 1) -> str:
    """The methods of a run: `label tokens, pointwise yes/no`, `chain of thought (4 reasoning samples)`."""
    said = ", ".join(Method(each).title for each in methods)
    several = Method.CHAIN_OF_THOUGHT in methods and reasoning_samples > 1
    return f"{said} ({reasoning_samples:,} reasoning samples)" if several else said


CPU = "cpu"  # what the user says for: no device, the processor alone


class DeviceKind(StrEnum):
    GPU = "graphics card"
    INTEGRATED = "integrated graphics"
    OTHER = "other device"


@dataclass(frozen=True)
class Device:
    """What llama.cpp can compute with besides the processor, as it was found on this computer."""

    name: str  # llama.cpp's, which may be another one's after a restart: `Vulkan0`
    description: str  # its maker's
    backend: str  # the part of llama.cpp that speaks to it: `Vulkan`
    kind: DeviceKind
    memory: int = 0  # bytes in all, 0 where that is not told
    driver: str = ""  # its version, empty where that is not reported

    @property
    def key(self) -> str:
        """What it is called in the identity of a run: `Vulkan: Intel(R) Iris(R) Xe Graphics`."""
        return f"{self.backend}: {self.description}"

    @property
    def title(self) -> str:
        """What it is called for users: `Intel(R) Iris(R) Xe Graphics (integrated graphics, Vulkan)`."""
        return f"{self.description} ({self.kind.value}, {self.backend})"

    def is_still(self, other: "Device") -> bool:
        return (self.key, self.driver) == (other.key, other.driver)

    def is_called(self, words: str) -> bool:
        return words.casefold() in (self.name.casefold(), self.key.casefold())


@dataclass(frozen=True)
class MachineSettings:
    threads: int
    gpu_layers: int = 0
    adapts: bool = False  # fewer than `threads` are used while other programs want the processor
    device: Device | None = None
    """What computes, with `gpu_layers` of the model's layers on it; None for the processor alone."""

    def __post_init__(self) -> None:
        for row in rows_of(MachineSettings):
            row.check(getattr(self, row.name))


def default_context(trained: int) -> int:
    return min(DEFAULT_CONTEXT, trained)


def check_margin(margin: float) -> None:
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


def _context_in_words(settings: Any) -> str:
    # A run keeps what came out for its model, chosen or not.
    is_chosen = not isinstance(settings, JudgeSettings) and settings.context is not None
    return f"context {settings.context:,}" if is_chosen else ""


def _methods_in_words(settings: ChosenSettings) -> str:
    if settings.methods == DEFAULT_METHODS:
        return ""
    return f"method: {methods_in_words(settings.methods, settings.reasoning_samples)}"


def _examples_in_words(setup: Any) -> str:
    near = ", the nearest" if setup.example_choice is ExampleKind.NEAR else ""
    return f"{counted(setup.shots, 'example', 'examples')}{near}"


# A table: what is said of a setting stands together, not one word to a line.
# fmt: off
SETTINGS = (
    SettingRow(
        name="mode", kind=Mode, called="mode", group=Group.OUTPUT, surfaces=Surface.RUN | Surface.PROMPT,
        neutral=Mode.LABELS, phrase=lambda settings: "" if settings.explains else "labels only",
        label="Make", title="What the run makes",
        choices={Mode.EXPLAIN: "Labels and explanations", Mode.LABELS: "Labels only (much faster)"},
        help="labels only (no text is generated), or labels and explanations (default)",
        brief="matters with {shorten}",
        docs="labels only; no text is generated, which is several times as fast. Default: `explain`",
    ),
    SettingRow(
        name="orders", kind=Order, several=True, called="orders", group=Group.ORDERS, surfaces=Surface.NONE,
        phrase=lambda settings: "one order" if len(settings.orders) == 1 else "", refuse=_check_orders,
    ),
    SettingRow(
        name="context", kind=int, called=Setting.CONTEXT, group=Group.COMPUTER, surfaces=~Surface.NONE,
        phrase=_context_in_words, least=SMALLEST_CONTEXT,
        title="Context length, in tokens", offered=(0, 2**24), step=1024, instead=0, special="Automatic",
        tip=f"Context length in tokens. Automatic: {DEFAULT_CONTEXT:,}, or less if the model was trained with"
        " less.",
        help=f"context length in tokens ({DEFAULT_CONTEXT}, or what the model was trained with)",
        brief="tokens of context",
        docs=f"context size in tokens ({DEFAULT_CONTEXT:,}, or the trained context if that is less)",
    ),
    SettingRow(
        name="max_explanation_tokens", kind=int, called=Setting.EXPLANATION_TOKENS, unit="tokens", least=1,
        group=Group.EXPLANATIONS, counts_when="explains",
        title="Longest explanation, in tokens", offered=(1, 4096),
        help="the longest explanation (%(default)s)",
        docs="maximum length of an explanation (%(default)s); a truncated one ends with its last complete"
        " sentence",
    ),
    SettingRow(
        name="max_explanation_sentences", kind=int, called="sentences of an explanation", things=True,
        least=1, group=Group.EXPLANATIONS, surfaces=Surface.NONE, counts_when="explains", unsaid=None,
    ),
    SettingRow(
        name="temperature", kind=float, called="temperature", metavar="T", refuse=_check_temperature,
        group=Group.EXPLANATIONS, counts_when="explains", phrase="temperature {:g}",
        title="Temperature of explanations", offered=(0, 5), step=0.1, special="0 (greedy)",
        tip="0 decodes greedily; above 0 the explanations are sampled. Labels are never sampled.",
        help="sample explanations; 0 decodes greedily (default). Labels are never sampled",
        docs="sample the explanations instead of greedy decoding; labels are never sampled",
    ),
    SettingRow(
        name="seed", kind=int, called="seed", refuse=_check_seed, group=Group.EXPLANATIONS,
        counts_when="samples", title="Seed for a temperature above 0",
        help="seed of the item sample, and of explanations with a temperature above 0 (%(default)s)",
        docs="random seed: of a sample of the items, of their order in a run that stops when significant, of"
        " explanations with a temperature (%(default)s)",
    ),
    SettingRow(
        name="shorten", kind=bool, called=Setting.SHORTEN, group=Group.ITEMS,
        surfaces=Surface.RUN | Surface.AUDIT | Surface.PROMPT, label="Shorten responses that do not fit",
        tip="Omits the middle of long responses instead of leaving the item unscored; this is recorded.",
        help="omit the middle of responses that do not fit", brief="as in judge",
        docs="omit the middle of long responses if an item does not fit; recorded with the item",
    ),
    SettingRow(
        name="show_context", kind=bool, called="context shown", group=Group.ITEMS,
        surfaces=Surface.RUN | Surface.TUNE | Surface.AUDIT | Surface.PROMPT, in_recipe=True, unsaid=False,
        phrase="context shown", label="Show the context",
        tip="The column “context” of the dataset, such as the passages that a response was to use, stands in"
        " the prompt after the instruction.",
        help="show the judge the context of an item, its column context", brief="as in judge",
        docs="show the judge the [context](how-it-judges.md#context-and-reference-answer) of an item, the"
        " dataset's column `context`. This is another run than one without it",
    ),
    SettingRow(
        name="show_reference", kind=bool, called="reference answer shown", group=Group.ITEMS,
        surfaces=Surface.RUN | Surface.TUNE | Surface.AUDIT | Surface.PROMPT, in_recipe=True, unsaid=False,
        phrase="reference answer shown", label="Show the reference answer",
        tip="The column “reference” of the dataset, a correct answer to compare with, stands in the prompt"
        " before the responses.",
        help="show the judge the reference answer of an item, its column reference", brief="as in judge",
        docs="show the judge the [reference answer](how-it-judges.md#context-and-reference-answer) of an"
        " item, the dataset's column `reference`. This is another run than one without it",
    ),
    SettingRow(
        name="items_at_once", kind=int, called="items at once", things=True, least=1,
        group=Group.EXPLANATIONS, surfaces=Surface.NONE, counts_when="explains",
    ),
    SettingRow(
        name="kv_type", kind=KvType, called=Setting.KV_TYPE, group=Group.COMPUTER, surfaces=~Surface.NONE,
        in_recipe=True, unsaid=KvType.F16, phrase="KV cache {}", title="KV-cache type",
        choices={KvType.F16: "f16: exact", KvType.Q8_0: "q8_0: half the memory, less precise"},
        help="KV-cache type: f16 (default), or q8_0, which takes about half the memory",
        brief="KV-cache type",
        docs="KV-cache type: `q8_0` takes about half the memory of `f16` (default), with slightly rounded"
        " results, and is another run. Not for models whose attention-head size is not a multiple of 32",
    ),
    SettingRow(
        name="second_order_below", kind=float, called="margin threshold", refuse=check_margin,
        group=Group.ORDERS, surfaces=Surface.WINDOW, counts_when="may_read_one_order", unsaid=None,
        neutral=None, phrase="second order below a margin of {:g}",
        title="Margin below which the second order is judged",
        offered=(0.01, 1), step=0.05, instead=DEFAULT_MARGIN,
        tip="An item is uncertain if the margin between its two likeliest labels is below this on any"
        " criterion. The command “orders” finds the right threshold for a model from a run in both orders.",
    ),
    SettingRow(
        name="methods", kind=Method, several=True, called=Setting.METHODS, stored="ways",
        group=Group.METHODS, surfaces=Surface.NONE, in_recipe=True, unsaid=DEFAULT_METHODS,
        phrase=_methods_in_words, refuse=_check_methods,
    ),
    SettingRow(
        name="reasoning_samples", kind=int, called="reasoning samples", things=True, stored="thoughts",
        group=Group.METHODS, in_recipe=True, counts_when="reasons", least=1, most=MOST_REASONING_SAMPLES,
        title="Reasoning samples for each criterion and order", offered=(1, 64),
        help="with chain-of-thought: reasoning samples for each criterion and order (%(default)s)",
        docs="with `chain-of-thought`: reasoning samples per criterion and order (%(default)s)",
    ),
    SettingRow(
        name="max_reasoning_tokens", kind=int, called="longest reasoning", unit="tokens",
        stored="max_thought_tokens", group=Group.METHODS, in_recipe=True, counts_when="reasons", least=1,
        title="Longest reasoning, in tokens", offered=(1, 2**17), step=128,
        help="with chain-of-thought: the longest reasoning (%(default)s)",
        docs="with `chain-of-thought`: maximum length of a reasoning sample in tokens (%(default)s)",
    ),
    SettingRow(
        name="reasoning_temperature", kind=float, called="temperature of the reasoning",
        stored="thought_temperature", group=Group.METHODS, surfaces=Surface.NONE, counts_when="reasons",
    ),
    SettingRow(
        name="shots", kind=int, called=Setting.SHOTS, least=1, group=Group.EXAMPLES, surfaces=Surface.WINDOW,
        in_recipe=True, counts_when="shows_examples", phrase=_examples_in_words,
        title="Number of labelled examples in the prompt (few-shot k)", offered=(1, 32),
    ),
    SettingRow(
        name="example_choice", kind=ExampleKind, called=Setting.CHOICE, group=Group.EXAMPLES,
        surfaces=Surface.WINDOW, in_recipe=True, counts_when="shows_examples", label="Examples are",
        choices={ExampleKind.FIXED: "the same for all items", ExampleKind.NEAR: "nearest neighbours"},
        title="Selection of the labelled examples",
        tip="The same for all items: those with different labels, the shortest first; they are read once for"
        " the whole run. Nearest neighbours: for each item those with the most similar instructions, by their"
        " words; they are read with each item, so the run takes longer.",
    ),
    SettingRow(
        name="threads", kind=int, called="threads", things=True, least=1, most=MOST_THREADS,
        group=Group.COMPUTER, surfaces=Surface.RUN | Surface.TUNE | Surface.AUDIT,
        title="Processor cores to use", offered=(0, MOST_THREADS), instead=0, special="Automatic",
        tip="Automatic: the physical cores, fewer while other programs need them, one for a very small"
        " model.",
        help="processor cores to use (the physical ones, fewer while other programs need them)",
        docs="processor cores (default: the physical ones, fewer while other programs need them and no GPU is"
        " used, one for a very small model)",
    ),
    SettingRow(
        name="gpu_layers", kind=int, called=Setting.GPU_LAYERS, things=True, least=0, group=Group.GPU,
        surfaces=Surface.RUN | Surface.TUNE | Surface.AUDIT, counts_when="may_use_gpu",
        title="Layers of the model on the GPU",
        offered=(-1, 9999), instead=-1, special="Automatic",  # for 0 is a choice
        tip="The number of the model's layers on the GPU; the processor computes the others. Automatic: as"
        " many as fit its memory.",
        help="layers of the model on the GPU (as many as fit its memory)",
        docs="number of the model's layers on the GPU (default: as many as fit its memory)",
    ),
)
# fmt: on
"""All settings, in the order in which they are reported: those of a judge, then a setup's own."""


def row_of(name: str) -> SettingRow:
    return _BY_NAME[name]


def rows_of(record: type) -> tuple[SettingRow, ...]:
    held = {each.name for each in fields(record)}
    return tuple(row for row in SETTINGS if row.name in held)


def rows_on(surface: Surface, *groups: Group) -> tuple[SettingRow, ...]:
    """The settings that a surface offers in some groups; in all for none."""
    return tuple(row for row in SETTINGS if row.surfaces & surface and (not groups or row.group in groups))


def neutral() -> dict[str, Any]:
    return {row.name: row.neutral for row in SETTINGS if row.neutral is not ...}


_BY_NAME = {row.name: row for row in SETTINGS}
