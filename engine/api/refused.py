"""Errors, notices and stops in Python, worded by parameters and methods. Loads no library."""

import contextlib
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from engine.core.errors import FileKind, Hint, HintPart, Setting, SettingValue, SetupError, Step, Wording
from engine.core.events import Cancelled, CancelToken, FilesRead, Note, followed, interruptible
from engine.settings.rows import SETTINGS
from engine.system.paths import said_of_system

_NOT_THE_CALLER = (str(Path(__file__).resolve().parents[1]), str(contextlib.__file__))
"""Path prefixes of the engine's files, and of those between a decorated function and its caller."""
Result = TypeVar("Result")


class Refused(Exception):
    """A request cannot be done as given; the user can fix it.

    `problem`: the place and what was found. `hint`: the next step, by parameters and methods. `str` gives
    both. Its cause is the engine's own error.
    """

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return "\n".join(map(str, (self.problem, self.hint)))


class TiebreakNotice(UserWarning):
    """A notice on data, a model or a run, which can be used all the same.

    To hide notices: `warnings.simplefilter("ignore", tiebreak.Notice)`.
    """


def notice(said: Hint | str) -> None:
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_CALLER):
        frame, level = frame.f_back, level + 1
    warnings.warn(PARAMETERS.of(said), TiebreakNotice, stacklevel=level)


def with_notices(work: Generator[Any, None, Result], name: str = "", called: str = "") -> Result:
    """Do work to its end, with its notes as notices. A file of this `name` is `called` otherwise in them."""

    def tell(event: object) -> None:
        said: list[Hint | str] = [event.said] if isinstance(event, Note) else []
        if isinstance(event, FilesRead):
            said += [f"{event.model}: {event.model_notice}"] if event.model_notice else []
            said += event.notices
        for each in said:
            text = PARAMETERS.of(each)
            notice(text.replace(name, called) if name else text)

    try:
        return followed(work, tell)
    except SetupError as error:
        if not name:
            raise
        raise SetupError(error.problem.replace(name, called), error.hint) from error


@contextmanager
def in_python() -> Iterator[None]:
    """SetupError and errors of the system are raised as Refused, a stop as KeyboardInterrupt."""
    try:
        yield
    except (SetupError, OSError) as error:
        known = error if isinstance(error, SetupError) else said_of_system(error)
        if known is None:
            raise
        raise Refused(PARAMETERS.of(known.said), PARAMETERS.of(known.hint)) from known
    except Cancelled as error:
        raise KeyboardInterrupt("Stopped.") from error


@contextmanager
def stoppable(loss: Callable[[], str] = lambda: "") -> Iterator[CancelToken]:
    """A token that Ctrl-C sets; never on another thread than the main one, which alone receives Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield CancelToken()
        return
    # A further Ctrl-C must not end the program, which is a notebook.
    with interruptible(print_beside, loss, signal.default_int_handler) as cancel:
        yield cancel


def print_beside(text: str) -> None:
    # kernels and services may have no stderr
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


_ESCAPED = re.compile(r"\\(.)")
_PART = re.compile(r"(?:[^\\,]|\\.)+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class _InPython(Wording):
    """Options with one text, `id=uid,instruction=prompt`, become a dictionary."""

    def _words(self, part: HintPart) -> str:
        match part:
            case SettingValue(Setting.COLUMNS | Setting.LABELS as setting, value):
                # Neither our column names nor labels contain =.
                cut = str.partition if setting is Setting.COLUMNS else str.rpartition
                pairs = [cut(_ESCAPED.sub(r"\1", each), "=") for each in _PART.findall(value)]
                return f"{self.settings[setting]}={ {name: value for name, _, value in pairs} }"
        return super()._words(part)


PARAMETERS = _InPython(
    settings={
        **{setting: setting.name.lower() for setting in Setting},
        **{row.called: row.name for row in SETTINGS if isinstance(row.called, Setting)},
        Setting.CHOICE: "few_shot_selection",
        Setting.PARTIAL: "partial=True",
        Setting.SHORTEN: "shorten=True",
        Setting.SHOTS: "few_shot",
    },
    steps={
        **{step: step.value for step in Step},
        Step.CALIBRATE: "Calibrate a run of this judge: run.calibrate(gold)",
        Step.TRUST: "Find out with run.trust(gold, keep=True).",
        Step.CALIBRATE_AGAIN: "Make it again: run.calibrate(gold).save(path)",
        Step.CHOOSE_JUDGED_DATASET: "Pass the dataset that was judged",
        Step.CHOOSE_RUN: "Choose another run: tiebreak.runs(store) lists them.",
        Step.CHOOSE_STORE: "Name the right one: store=PATH",
        Step.COPY_STORE: (
            "Copy it, with the files next to it whose names begin with its name, to a folder where you may"
            " write, and name the copy, or another file for the runs: store=PATH"
        ),
        Step.EXPORT_RUN: "write the run's submission, run.submission(path), and score that with the command",
        Step.FIND_DATASET: "pass its file as gold",
        Step.LIST_MODELS: "Tiebreak's command `models` lists the models on this computer.",
        Step.MEASURE_SPEED: "Tiebreak's command `models speed` measures it.",
        Step.MAP_COLUMNS: (
            "Rename the columns of the frame, or name the columns of the file: tiebreak.read(path, ...)"
        ),
        Step.MAP_EXAMPLES: (
            "Read the examples with tiebreak.read(path, ...) and what follows, and write the result to a file"
            " with to_csv, without its index"
        ),
        Step.MOVE_STORE: "Name a file for the runs in a folder where you may write: store=PATH",
        Step.NAME_CANDIDATES: (
            "Name their columns candidate_a and candidate_b, and pass this to Judge.run again, which judges"
            " nothing twice"
        ),
        Step.RANK_ALL: "Pass many_candidates=True.",
        Step.RESUME: "Resume with the same call of Judge.run",
        Step.SEE_MOVED: "or see which labels the wording moved: run.drift(other)",
        Step.SEE_UNSCORED: "or see why these are unscored: run.judgments",
        Step.STOP_AT_A_WIDTH: (
            "Stop at an interval width of how often A wins, which needs no candidates: until=10, for 10"
            " points."
        ),
        Step.USE_OTHER_STORE: "Name another file for the runs: store=PATH",
    },
    kinds={
        FileKind.DATASET: "Pass it to Judge.run or tiebreak.read, or as gold.",
        FileKind.SUBMISSION: (
            "See what it contains: tiebreak.read(path). Tiebreak's commands score it (`evaluate`), rank by it"
            " (`rank`), or add it for review (`runs add`)."
        ),
        FileKind.VERDICTS: "Evaluate, compare or store it with Tiebreak's commands.",
        FileKind.RUN_DATA: "Use its labels: pass it as gold.",
        FileKind.RUN_JSON: (
            "It is for other programs, and Tiebreak does not read it. Write the run in another format:"
            " run.submission(path) or run.csv(path)"
        ),
        FileKind.CALIBRATION: "Apply it to a run, run.apply(path), or judge with it: calibration=path",
        FileKind.RECIPE: "Judge with it: Judge(None, recipe=path)",
        FileKind.LABELS_OF_ANNOTATORS: (
            "Import them into a run with Tiebreak's command `annotations import`."
        ),
        FileKind.WEIGHTS: "Rank with it: run.rank(weighted=True, weights=path)",
        FileKind.SCORES: "It is for other programs, and Tiebreak does not read it.",
        FileKind.COMPARISONS: "Decide it with tiebreak.pairwise_preference_judge.",
        FileKind.RUBRIC: "Judge with it, or read labels with it: rubric=path",
        FileKind.MODEL: "Judge with it: Judge(path)",
        FileKind.RUN_STORE: "See what it contains: tiebreak.runs(path)",
    },
    setting_value="{0}={1}",
    quoted=lambda value: value if _NUMBER.fullmatch(value) else repr(value),
    given=str,
)
