"""Remedies in the words of the command line.

Knows: the options and commands that a remedy may name. Does not know: errors, what the options do.
"""

import re
import shlex

from engine.core.file_kinds import FileKind
from engine.core.remedies import Setting, Step, Wording
from engine.core.settings import SETTINGS
from engine.system.paths import is_installed, program

_PLAIN = re.compile(r"[\w,=.:/@%+-]+")
_FIT_FOR_DOUBLE_QUOTES = re.compile(r'[^"$`\\!%\n]*')


def _quoted(value: str) -> str:
    """A value as it is typed: in double quotes, which Windows knows too, where it would not be one word."""
    if _PLAIN.fullmatch(value):
        return value
    return f'"{value}"' if _FIT_FOR_DOUBLE_QUOTES.fullmatch(value) else shlex.quote(value)


OPTIONS = Wording(
    settings={
        **{setting: f"--{setting.name.lower()}" for setting in Setting},
        **{row.called: row.option for row in SETTINGS if isinstance(row.called, Setting)},
        Setting.CHOICE: "--choose",
    },
    steps={
        Step.ALLOW_SMALL_SOURCE: (
            "Convert the model's original in F16, BF16 or Q8_0, or this one all the same: --lossy-source"
        ),
        Step.ALLOW_MIXED_BUILDS: (
            "Install the same llama-cpp-python everywhere, or judge by different ones all the same:"
            " --mixed-builds"
        ),
        Step.ALLOW_PLAIN_TCP: (
            f"Make certificates ({program()} cluster certificates) and write tls:// in place of tcp://. On a"
            " network where you trust every computer and every person: --plain-tcp"
        ),
        Step.CALIBRATE: f"Calibrate a run of this judge: {program()} calibrate RUN --gold LABELLED-DATASET",
        Step.CALIBRATE_AGAIN: "Make it again with the command calibrate.",
        Step.TUNE: "Make it again with the command tune.",
        Step.CHOOSE_ANSWERED_DATASET: "Name the dataset that it answers with --dataset.",
        Step.CHOOSE_JUDGED_DATASET: "Name the dataset that was judged",
        Step.CHOOSE_JUDGES: "Name two runs by their ids, or submissions, or more",
        Step.CHOOSE_RUN: f"Name the id of a run: see {program()} runs",
        Step.CHOOSE_STORE: "Name the right store with --store",
        Step.COPY_STORE: (
            "Copy it, with the files beside it that begin with its name, to a folder where you may write, and"
            " name the copy (--store); or name another file for the run store."
        ),
        Step.DELETE_DAMAGED: (
            f"Delete that run ({program()} runs delete ID), or name a copy of the store from before: --store."
            " The other runs are as they were."
        ),
        Step.DELETE_DECISIONS: (
            "Export them first (runs export ID --json FILE), or delete them with what people decided:"
            " --with-decisions"
        ),
        Step.EXPORT_RUN: "write the run's submission with `runs export` and use that",
        Step.GIVE_ITEMS: "Name a run of the same items as well, or their dataset with --dataset.",
        Step.FIND_DATASET: "name its file with --dataset",
        Step.INSTALL_CLUSTER: (
            "Install what it needs: python -m pip install"
            f" {'tiebreak[cluster]' if is_installed() else '-r requirements-cluster.txt'}"
        ),
        Step.JUDGE_ONCE: "A judge has one voice: name it once.",
        Step.LABEL_AT_RANDOM: (
            "in the window, on the page Review, in the order “Random sample”, from the top."
        ),
        Step.MAKE_CERTIFICATES: (
            f"Make them with {program()} cluster certificates, once for all computers, and copy the folder to"
            " each; name it with --certificates where it lies elsewhere."
        ),
        Step.MAKE_PAIRS: (
            "Make pairs out of the outputs of several candidates on the same instructions:"
            f" {program()} pairs FILE FILE... --out DATASET.tsv"
        ),
        Step.MAP_COLUMNS: "Say which column is which",
        Step.MAP_EXAMPLES: (
            f"Have the columns of the examples remembered first, by {program()} check EXAMPLES --save-columns"
            " and what follows"
        ),
        Step.MOVE_STORE: "Name a file for the run store in a folder where you may write (--store).",
        Step.NAME_CANDIDATES: (
            "Say which columns name them: --columns candidate_a=COLUMN,candidate_b=COLUMN"
        ),
        Step.NAME_WORKER_MODEL: (
            "Put the file there among the models, or name it where that worker is started: cluster worker"
            " ADDRESS --model FILE"
        ),
        Step.RESUME: "Go on with the same judge command",
        Step.START_SCHEDULER: (
            f"Start it with {program()} cluster scheduler, or check the address. The same judge command goes"
            " on from what is kept."
        ),
        Step.START_WORKERS: f"Start some, on any computer: {program()} cluster worker ADDRESS",
        Step.STOP_AT_A_WIDTH: (
            "Judge until it is known how often A wins, which needs no candidates: --until 10, for an interval"
            " of 10 points."
        ),
        Step.USE_OTHER_STORE: "Name another file for the run store (--store).",
        Step.WITH_JUDGE: "let the judge's own labels out as well: --with-judge",
    },
    kinds={
        FileKind.DATASET: (
            f"Judge it ({program()} judge FILE), or give it where a dataset is asked for (--gold, --dataset,"
            " --against). If you gave both, are the two swapped?"
        ),
        FileKind.SUBMISSION: (
            f"Measure it ({program()} evaluate FILE --gold DATASET), rank by it ({program()} rank FILE --gold"
            f" DATASET), check it ({program()} check FILE), or keep it for review ({program()}"
            " runs add FILE --dataset DATASET)."
        ),
        FileKind.RUN_DATA: f"Take its labels (--gold FILE), or see what it holds: {program()} check FILE",
        FileKind.RUN_JSON: (
            "It is for other programs, and nothing here reads it. Write the run in another form:"
            f" {program()} runs export ID --out FILE.tsv, --csv FILE or --as-dataset FILE"
        ),
        FileKind.CALIBRATION: (
            f"Decide a run by it ({program()} runs recalibrate ID --calibration FILE), or judge with it:"
            " --calibration FILE"
        ),
        FileKind.RECIPE: f"Judge by it: {program()} judge DATASET --recipe FILE --out FILE.tsv",
        FileKind.LABELS_OF_PEOPLE: f"Add them to a run: {program()} people add RUN FILE",
        FileKind.WEIGHTS: f"Weigh by it: {program()} weigh SYSTEM --weights FILE",
        FileKind.SCORES: "It is for other programs, and nothing here reads it.",
        FileKind.COMPARISONS: f"Weigh it: {program()} weigh FILE --weights NAME=NUMBER,...",
        FileKind.RUBRIC: "Judge by it (--rubric FILE), or name it where labels are read: --rubric FILE",
        FileKind.MODEL: f"Judge with it (--model FILE), or see what it is: {program()} models check FILE",
        FileKind.RUN_STORE: f"Name it with --store; what it holds: {program()} runs --store FILE",
    },
    setting_value="{0} {1}",
    quoted=_quoted,
)
