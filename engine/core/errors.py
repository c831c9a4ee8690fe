"""The errors that the engine raises on purpose, and the next step out of each, in parts: text, and settings,
steps and kinds of files that commands and window name each in their own words.

EngineError
    ├── SetupError            the user can act: shown as problem + hint, never with a traceback
    │   ├── InputError        a file that was read is wrong; carries every problem found in it
    │   │   ├── ColumnsError  ... which may be read by other columns
    │   │   └── WrongKindError  ... which is a file of another kind
    │   ├── ProcessEnded      the process that did the work was ended, by a crash or from outside
    │   ├── DeviceFailed      a GPU does not compute, or wrongly; the processor would
    │   ├── ModelFileError    a model file cannot be used
    │   │   └── NoRoomError   ... for lack of memory at the moment
    │   └── StoreError        the run store cannot be read or written
    │       └── RunBusyError  the same run is being judged already
    └── EngineBug             we can act: logged whole
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from engine.core.formatting import without_middle


class FileKind(Enum):
    """What a file may be. The value: what it is called."""

    DATASET = "a dataset of pairs"
    SUBMISSION = "a submission"
    VERDICTS = "a file of another judge's verdicts"
    RUN_DATA = "all data of a run, as CSV"
    RUN_JSON = "all data of a run, as JSON"
    CALIBRATION = "a calibration"
    RECIPE = "a recipe"
    WEIGHTS = "a file of fitted weights"
    SCORES = "the scores of an evaluation"
    COMPARISONS = "a list of scored comparisons"
    RUBRIC = "a rubric"
    MODEL = "a model"
    LABELS_OF_ANNOTATORS = "an annotation file"
    RUN_STORE = "a run store"


class Setting(Enum):
    """What the user can set: an option of the commands, a field of the window. The value: its plain name."""

    CHOICE = "example selection"
    COLUMNS = "columns"
    CONTEXT = "context"
    DEVICE = "device"
    EXAMPLES = "labelled examples"
    EXPLANATION_TOKENS = "longest explanation"
    GPU_LAYERS = "GPU layers"
    INSTRUCTIONS = "instructions"
    KV_TYPE = "KV-cache type"
    JUDGE_COLUMN = "column of the judge"
    JUDGE_LABELS = "verdict values"
    LABELS = "label values"
    PARTIAL = "shared items only"
    SAMPLE = "random sample"
    SHORTEN = "shortened responses"
    SHOTS = "few-shot examples"
    METHODS = "elicitation methods"

    def at(self, value: object) -> "SettingValue":
        return SettingValue(self, str(value))


class Step(Enum):
    """What is done in another way by commands and in the window. The value: what it is, plainly."""

    ALLOW_MIXED_BUILDS = "Install the same llama-cpp-python everywhere, or allow mixed builds."
    ALLOW_PLAIN_TCP = "Make certificates and use an encrypted connection, or allow a plain one."
    CALIBRATE = "Calibrate a run of this judge."
    TUNE = "Make it again with tuning."
    CALIBRATE_AGAIN = "Make it again by calibrating a run."
    CHOOSE_ANSWERED_DATASET = "Choose the dataset of this submission."
    CHOOSE_JUDGED_DATASET = "Choose the dataset that was judged"
    CHOOSE_JUDGES = "Choose two runs or submissions, or more"
    CHOOSE_RUN = "Choose a run."
    CHOOSE_STORE = "Choose the right run store"
    COPY_STORE = "Copy the run store, with the files next to it that begin with its name, and use the copy."
    DELETE_DAMAGED = "Delete that run, or use an earlier copy of the store. The other runs are not affected."
    DELETE_DECISIONS = "Export the runs first, or delete them together with their annotations."
    EXPORT_RUN = "export the run's submission and use that"
    FIND_DATASET = "open it at its current place"
    GIVE_ITEMS = "Add a run of the same items, or name the dataset that they are in."
    INSTALL_CLUSTER = "Install what it needs: requirements-cluster.txt."
    JUDGE_ONCE = "The same judge is listed twice. Remove one."
    LIST_MODELS = "The page Judge lists the models on this computer."
    LABEL_AT_RANDOM = "on the page Review, in the order “Random sample”, from the top."
    MAKE_CERTIFICATES = "Make certificates, or put their folder where Tiebreak looks for it."
    MAKE_PAIRS = "Make pairs from the outputs of several candidate models on the same instructions."
    MAP_COLUMNS = "Map the columns"
    MAP_EXAMPLES = "Map the columns of the examples"
    MEASURE_SPEED = "Measure it on the page Judge to know the time."
    MOVE_STORE = "Move the run store to a folder where you may write."
    NAME_ANNOTATOR = "Open it as a dataset once to say how it is read."
    NAME_CANDIDATES = "Name their columns, as candidate_a and candidate_b"
    NAME_WORKER_MODEL = "Put the file in that computer's model folder, or start that worker with it."
    RANK_ALL = "Rank them all."
    RESUME = "Resume the run"
    SEE_MOVED = "or see which labels the wording moved."
    SEE_UNSCORED = "or see why these are unscored."
    START_SCHEDULER = "Start the scheduler again; then resume the run."
    START_WORKERS = "Start workers with the address of this scheduler."
    STOP_AT_A_WIDTH = (
        "Judge until the interval of A's win rate is narrow enough: that needs no candidate models."
    )
    TRUST = "Find out again which labels may stand, and keep that with the run."
    USE_OTHER_STORE = "Use another file for the run store."
    WITH_JUDGE = "export the judge's own labels as well"


@dataclass(frozen=True)
class SettingValue:
    setting: Setting
    value: str


@dataclass(frozen=True)
class Given:
    """A value of a request by its name there, `margin_threshold`; `value`: one to choose for it."""

    name: str
    value: object = None


HintPart = str | FileKind | Setting | SettingValue | Given | Step
"""A FileKind names what reads a file of that kind."""


@dataclass(frozen=True, init=False)
class Hint:
    """A next step. A Wording makes it a text for those who act on it; `str`: plain words, as in a report."""

    parts: tuple[HintPart, ...]

    def __init__(self, *parts: HintPart) -> None:
        object.__setattr__(self, "parts", parts)

    def __str__(self) -> str:
        return _PLAIN.of(self)

    def as_json(self) -> list[object]:
        return [_part_json(part) for part in self.parts]

    @classmethod
    def of_json(cls, value: object) -> "Hint":
        """What `as_json` gave. Raises KeyError or TypeError for anything else."""
        if not isinstance(value, list):
            raise TypeError(f"{value!r} is no list of parts")
        return cls(*(_part_of_json(part) for part in value))


@dataclass(frozen=True)
class Wording:
    """How hints are worded, for the command line or the window. `setting_value`: a setting, {0}, with the
    value to choose for it, {1}. `quoted`: how a value is written. ValueError where a name is missing.
    """

    settings: Mapping[Setting, str]
    steps: Mapping[Step, str]
    kinds: Mapping[FileKind, str]
    setting_value: str
    quoted: Callable[[str], str] = str
    given: Callable[[str], str] = lambda name: name.replace("_", " ")

    def __post_init__(self) -> None:
        known = {*self.settings, *self.steps, *self.kinds}
        missing = [part.name for part in (*Setting, *Step, *FileKind) if part not in known]
        if missing:
            raise ValueError(f"no words for {', '.join(missing)}")

    def of(self, hint: Hint | str) -> str:
        """A hint in these words; a text as it is."""
        return hint if isinstance(hint, str) else "".join(map(self._words, hint.parts))

    def _words(self, part: HintPart) -> str:
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
            case Given(name, chosen):
                form = "{0}" if chosen is None else self.setting_value
                return form.format(self.given(name), self.quoted(str(chosen)))


_PLAIN = Wording(
    {setting: setting.value for setting in Setting},
    {step: step.value for step in Step},
    {kind: f"Use it as what it is: {kind.value}." for kind in FileKind},
    "{0}: {1}",
)


_KEYS: Mapping[type, str] = {FileKind: "kind", Setting: "setting", Step: "step"}


def _part_json(part: HintPart) -> object:
    match part:
        case str():
            return part
        case SettingValue(setting, value):
            return {"setting": setting.name, "value": value}
        case Given(name, chosen):
            return {"given": name, "value": chosen}
        case _:
            return {_KEYS[type(part)]: part.name}


def _part_of_json(part: Any) -> HintPart:
    if isinstance(part, str):
        return part
    if "given" in part:
        return Given(part["given"], part["value"])
    if "kind" in part:
        return FileKind[part["kind"]]
    if "step" in part:
        return Step[part["step"]]
    setting = Setting[part["setting"]]
    return setting.at(part["value"]) if "value" in part else setting


MOST_PROBLEMS_SHOWN = 50
_LONGEST_NAME = 255  # that a file can have; a longer one leads nowhere


class EngineError(Exception):
    """Root of everything that engine/ raises on purpose."""


class SetupError(EngineError):
    """The user can fix it: `problem` says where and what was found, `hint` names the next step. As text it is
    for logs: whoever shows it words the hint, and `said`: the problem that may name settings.
    """

    def __init__(self, problem: Hint | str, hint: Hint | str) -> None:
        super().__init__(problem, hint)
        self.said = problem
        self.problem = str(problem)
        self.hint = hint if isinstance(hint, Hint) else Hint(hint)

    def __str__(self) -> str:
        return f"{self.problem}\n{self.hint}"


class DoubtfulCandidates(SetupError):
    """What names candidates looks like ids: whether these are models is for the user to say."""


class InputError(SetupError):
    """A dataset, submission or scores file is wrong. `problems` lists all that was found, up to 50."""

    def __init__(self, path: Path, problems: Sequence[str], hint: Hint | str) -> None:
        self.path = path
        self.problems = tuple(problems[:MOST_PROBLEMS_SHOWN])
        left_out = len(problems) - len(self.problems)
        name = without_middle(path.name, _LONGEST_NAME)
        if len(problems) == 1:
            text = f"{name}: {problems[0]}"
        else:
            text = f"{name}: {len(problems)} problems.\n" + "\n".join(f"  {p}" for p in self.problems)
        if left_out:
            text += f"\n  and {left_out} more."
        super().__init__(text, hint)

    def __reduce__(self) -> tuple[object, ...]:
        # Copies and pickles are made without what was omitted, so not by another __init__.
        return SetupError.__new__, (type(self), self.problem, self.hint), self.__dict__


class JudgeColumnError(InputError):
    """It is not known which column of a file holds a judge's verdicts, or what their values mean."""


class ProcessEnded(SetupError):
    """The process of its own that did the work was ended; `broke_down`: by itself, and not from outside."""

    def __init__(self, problem: str, hint: Hint | str, broke_down: bool = False) -> None:
        super().__init__(problem, hint)
        self.broke_down = broke_down

    @property
    def as_clause(self) -> str:
        return f"{self.problem[:1].lower()}{self.problem[1:].rstrip('.')}"


class DeviceFailed(SetupError):
    """A device besides the processor cannot be used or gives no numbers; `as_clause`: why."""

    def __init__(self, device: str, as_clause: str) -> None:
        super().__init__(f"{device}: {as_clause}.", Hint(Setting.DEVICE.at("cpu"), " computes without it."))
        self.device = device
        self.as_clause = as_clause

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.device, self.as_clause)


class ColumnsError(InputError):
    """A dataset cannot be read by these columns or meanings of labels. `foreign`: they are not mapped yet."""

    def __init__(
        self,
        path: Path,
        problems: Sequence[str],
        hint: Hint | str,
        foreign: bool = False,
        unknown: Sequence[str] = (),
    ) -> None:
        super().__init__(path, problems, hint)
        self.foreign = foreign
        self.unknown = tuple(unknown)


class WrongKindError(InputError):
    """A file is of another kind than was wanted, `kind`; the hint is what takes that one."""

    def __init__(self, path: Path, kind: FileKind, wanted: FileKind) -> None:
        super().__init__(path, [f"is {kind.value}, not {wanted.value}."], Hint(kind))
        self.kind = kind


class ModelFileError(SetupError):
    """A model file cannot be used: not a GGUF, damaged, of the wrong kind, too large, or changed."""


class NoRoomError(ModelFileError):
    """There is no memory for it now; not a problem of the file."""


class StoreError(SetupError):
    """The run store cannot be opened, read or written."""


class RunBusyError(StoreError):
    """The same run is being judged already, by another process or by this one."""


class EngineBug(EngineError):
    """We got it wrong: logged whole, shown with a request for a report."""
