"""The next step out of an error, in parts: text, and settings and steps that commands and window name each in
their own words.

Knows: settings and steps by plain names. Does not know: options of commands, fields of the window.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from engine.core.file_kinds import FileKind


class Setting(Enum):
    """What a person can set: an option of the commands, a field of the window. The value: its plain name."""

    CHOICE = "choice of examples"
    COLUMNS = "columns"
    CONTEXT = "context"
    DEVICE = "device"
    EXAMPLES = "labelled examples"
    EXPLANATION_TOKENS = "longest explanation"
    GPU_LAYERS = "GPU layers"
    INSTRUCTIONS = "instructions"
    KV_TYPE = "KV cache"
    LABELS = "label values"
    PARTIAL = "shared items only"
    SAMPLE = "items at random"
    SHORTEN = "shortened responses"
    SHOTS = "examples shown"
    WAYS = "ways of asking"

    def at(self, value: object) -> "SettingValue":
        """The setting with the value to choose for it."""
        return SettingValue(self, str(value))


class Step(Enum):
    """What is done in another way by commands and in the window. The value: what it is, plainly."""

    ALLOW_SMALL_SOURCE = "Convert the model's original in F16, BF16 or Q8_0, or allow a small source."
    ALLOW_MIXED_BUILDS = "Install the same llama-cpp-python everywhere, or allow mixed builds."
    ALLOW_PLAIN_TCP = "Make certificates and use an encrypted connection, or allow a plain one."
    CALIBRATE = "Calibrate a run of this judge."
    TUNE = "Make it again by finding the best settings."
    CALIBRATE_AGAIN = "Make it again by calibrating a run."
    CHOOSE_ANSWERED_DATASET = "Choose the dataset that it answers."
    CHOOSE_JUDGED_DATASET = "Choose the dataset that was judged"
    CHOOSE_JUDGES = "Choose two runs or submissions, or more"
    CHOOSE_RUN = "Choose a run."
    CHOOSE_STORE = "Choose the right run store"
    COPY_STORE = "Copy the run store, with the files beside it that begin with its name, and use the copy."
    DELETE_DAMAGED = (
        "Delete that run, or use a copy of the store from before. The other runs are as they were."
    )
    DELETE_DECISIONS = "Export the runs first, or delete them together with what people decided."
    EXPORT_RUN = "export the run's submission and use that"
    FIND_DATASET = "open it where it is now"
    GIVE_ITEMS = "Take a run of the same items as well, or say in which dataset they are."
    INSTALL_CLUSTER = "Install what it needs: requirements-cluster.txt."
    JUDGE_ONCE = "A judge has one voice: choose it once."
    LABEL_AT_RANDOM = "on the page Review, in the order “Random sample”, from the top."
    MAKE_CERTIFICATES = "Make certificates, or put their folder where it is looked for."
    MAKE_PAIRS = "Make pairs out of the outputs of several candidates on the same instructions."
    MAP_COLUMNS = "Say which column is which"
    MAP_EXAMPLES = "Say which column of the examples is which"
    MOVE_STORE = "Keep the run store in a folder where you may write."
    NAME_CANDIDATES = "Say which columns name them, as candidate_a and candidate_b"
    NAME_WORKER_MODEL = "Put the file there among the models, or start that worker with it."
    RESUME = "Go on with the run"
    START_SCHEDULER = "Start the scheduler again; then go on with the run."
    START_WORKERS = "Start workers with the address of this scheduler."
    STOP_AT_A_WIDTH = "Judge until it is known how often A wins: that needs no candidates."
    USE_OTHER_STORE = "Use another file for the run store."
    WITH_JUDGE = "let the judge's own labels out as well"


@dataclass(frozen=True)
class SettingValue:
    """A setting with the value to choose for it."""

    setting: Setting
    value: str


RemedyPart = str | FileKind | Setting | SettingValue | Step
"""A FileKind says what takes a file of that kind."""


@dataclass(frozen=True, init=False)
class Remedy:
    """A next step. A Wording makes it a text for those who act on it; `str`: plain words, as in a report."""

    parts: tuple[RemedyPart, ...]

    def __init__(self, *parts: RemedyPart) -> None:
        object.__setattr__(self, "parts", parts)

    def __str__(self) -> str:
        return _PLAIN.of(self)

    def as_json(self) -> list[object]:
        """Its parts, as plain values."""
        return [_part_json(part) for part in self.parts]

    @classmethod
    def of_json(cls, value: object) -> "Remedy":
        """What `as_json` gave. Raises KeyError or TypeError for anything else."""
        if not isinstance(value, list):
            raise TypeError(f"{value!r} is no list of parts")
        return cls(*(_part_of_json(part) for part in value))


@dataclass(frozen=True)
class Wording:
    """How remedies are worded by whoever shows them: every setting and step by name.

    `kinds`: what takes a file of each kind. `setting_value`: a setting, {0}, with the value to choose for it,
    {1}. `quoted`: how a value is written. ValueError where a name is missing.
    """

    settings: Mapping[Setting, str]
    steps: Mapping[Step, str]
    kinds: Mapping[FileKind, str]
    setting_value: str
    quoted: Callable[[str], str] = str

    def __post_init__(self) -> None:
        known = {*self.settings, *self.steps, *self.kinds}
        missing = [part.name for part in (*Setting, *Step, *FileKind) if part not in known]
        if missing:
            raise ValueError(f"no words for {', '.join(missing)}")

    def of(self, remedy: Remedy | str) -> str:
        """A remedy in these words; a text as it is."""
        return remedy if isinstance(remedy, str) else "".join(map(self._words, remedy.parts))

    def _words(self, part: RemedyPart) -> str:
        match part:
            case str():
                return part
            case FileKind():
                return self.kinds[part]
            case Setting():
                return self.settings[part]
            case Step():
                return self.steps[part]
            case SettingValue(setting, value):
                return self.setting_value.format(self.settings[setting], self.quoted(value))


_PLAIN = Wording(
    {setting: setting.value for setting in Setting},
    {step: step.value for step in Step},
    {kind: f"Use it as what it is: {kind.value}." for kind in FileKind},
    "{0}: {1}",
)


def _part_json(part: RemedyPart) -> object:
    match part:
        case str():
            return part
        case FileKind():
            return {"kind": part.name}
        case Setting():
            return {"setting": part.name}
        case Step():
            return {"step": part.name}
        case SettingValue(setting, value):
            return {"setting": setting.name, "value": value}


def _part_of_json(part: Any) -> RemedyPart:
    if isinstance(part, str):
        return part
    if "kind" in part:
        return FileKind[part["kind"]]
    if "step" in part:
        return Step[part["step"]]
    setting = Setting[part["setting"]]
    return setting.at(part["value"]) if "value" in part else setting
