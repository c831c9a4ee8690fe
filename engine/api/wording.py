"""Hints in terms of Python: parameters and methods, or commands if there are none.

Knows: which parameter or method a hint means. Does not know: errors, what the calls do.
"""

import re

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import FileKind, HintPart, Setting, SettingValue, Step, Wording

_ESCAPED = re.compile(r"\\(.)")
_PART = re.compile(r"(?:[^\\,]|\\.)+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def _quoted(value: str) -> str:
    return value if _NUMBER.fullmatch(value) else repr(value)


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
        **{
            setting: option.removeprefix("--").replace("-", "_")
            for setting, option in OPTIONS.settings.items()
        },
        Setting.METHODS: "methods",
        Setting.PARTIAL: "partial=True",
        Setting.SHORTEN: "shorten=True",
    },
    steps={
        **OPTIONS.steps,
        Step.CALIBRATE: "Calibrate a run of this judge: run.calibrate(gold)",
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
        Step.RESUME: "Resume with the same call of Judge.run",
        Step.STOP_AT_A_WIDTH: (
            "Stop at an interval width of how often A wins, which needs no candidates: until=10, for 10"
            " points."
        ),
        Step.USE_OTHER_STORE: "Name another file for the runs: store=PATH",
    },
    kinds={
        **OPTIONS.kinds,
        FileKind.DATASET: "Pass it to Judge.run or tiebreak.read, or as gold.",
        FileKind.SUBMISSION: (
            f"See what it contains: tiebreak.read(path). With commands: {OPTIONS.kinds[FileKind.SUBMISSION]}"
        ),
        FileKind.CALIBRATION: "Apply it to a run, run.apply(path), or judge with it: calibration=path",
        FileKind.RECIPE: "Judge with it: Judge(None, recipe=path)",
        FileKind.WEIGHTS: "Rank with it: run.rank(weighted=True, weights=path)",
        FileKind.RUBRIC: "Judge with it, or read labels with it: rubric=path",
        FileKind.MODEL: "Judge with it: Judge(path)",
        FileKind.RUN_STORE: "See what it contains: tiebreak.runs(path)",
    },
    setting_value="{0}={1}",
    quoted=_quoted,
)
