"""Remedies in the words of Python: parameters and methods, and the commands where there are none.

Knows: which parameter or method a remedy means. Does not know: errors, what the calls do.
"""

import re

from engine.commands.shared.remedies import OPTIONS
from engine.core.file_kinds import FileKind
from engine.core.remedies import RemedyPart, Setting, SettingValue, Step, Wording

_ESCAPED = re.compile(r"\\(.)")
_PART = re.compile(r"(?:[^\\,]|\\.)+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def _quoted(value: str) -> str:
    return value if _NUMBER.fullmatch(value) else repr(value)


class _InPython(Wording):
    """What options say in one text, `id=uid,instruction=prompt`, is a dictionary here."""

    def _words(self, part: RemedyPart) -> str:
        match part:
            case SettingValue(Setting.COLUMNS | Setting.LABELS as setting, value):
                # A column of ours has no = in its name, and no label has one.
                cut = str.partition if setting is Setting.COLUMNS else str.rpartition
                pairs = [cut(_ESCAPED.sub(r"\1", each), "=") for each in _PART.findall(value)]
                return f"{self.settings[setting]}={ {name: said for name, _, said in pairs} }"
        return super()._words(part)


PARAMETERS = _InPython(
    settings={
        **{
            setting: option.removeprefix("--").replace("-", "_")
            for setting, option in OPTIONS.settings.items()
        },
        Setting.PARTIAL: "partial=True",
        Setting.SHORTEN: "shorten=True",
    },
    steps={
        **OPTIONS.steps,
        Step.CALIBRATE: "Calibrate a run of this judge: run.calibrate(gold)",
        Step.CALIBRATE_AGAIN: "Make it again: run.calibrate(gold).save(path)",
        Step.CHOOSE_JUDGED_DATASET: "Give the dataset that was judged",
        Step.CHOOSE_RUN: "Choose another run: tiebreak.runs(store) lists them.",
        Step.CHOOSE_STORE: "Name the right one: store=PATH",
        Step.COPY_STORE: (
            "Copy it, with the files beside it that begin with its name, to a folder where you may write, and"
            " name the copy, or another file for the runs: store=PATH"
        ),
        Step.EXPORT_RUN: "write the run's submission, run.submission(path), and measure that by the command",
        Step.FIND_DATASET: "give its file where it is now as gold",
        Step.MAP_COLUMNS: (
            "Rename the columns of the frame, or say for tiebreak.read(path, ...) which column of the file is"
            " which"
        ),
        Step.MAP_EXAMPLES: (
            "Read the examples by tiebreak.read(path, ...) and what follows, and write what it gives to a"
            " file with to_csv, without its index"
        ),
        Step.MOVE_STORE: "Name a file for the runs in a folder where you may write: store=PATH",
        Step.NAME_CANDIDATES: (
            "Call the columns that name them candidate_a and candidate_b, and give this to Judge.run once"
            " more, which judges nothing again"
        ),
        Step.RESUME: "Go on with the same call of Judge.run",
        Step.STOP_AT_A_WIDTH: (
            "Judge until it is known how often A wins, which needs no candidates: until=10, for an interval"
            " of 10 points."
        ),
        Step.USE_OTHER_STORE: "Name another file for the runs: store=PATH",
    },
    kinds={
        **OPTIONS.kinds,
        FileKind.DATASET: "Give it to Judge.run or to tiebreak.read, or as gold.",
        FileKind.SUBMISSION: (
            f"See what it holds: tiebreak.read(path). By commands: {OPTIONS.kinds[FileKind.SUBMISSION]}"
        ),
        FileKind.CALIBRATION: "Decide a run by it, run.apply(path), or judge with it: calibration=path",
        FileKind.RECIPE: "Judge by it: Judge(None, recipe=path)",
        FileKind.WEIGHTS: "Rank by it: run.rank(weighted=True, weights=path)",
        FileKind.RUBRIC: "Judge by it, or read labels by it: rubric=path",
        FileKind.MODEL: "Judge with it: Judge(path)",
        FileKind.RUN_STORE: "See what it holds: tiebreak.runs(path)",
    },
    setting_value="{0}={1}",
    quoted=_quoted,
)
