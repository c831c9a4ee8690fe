"""Hints in terms of the command line. Does not know: errors, what the options do."""

import re
import shlex

from engine.core.errors import FileKind, Setting, Step, Wording
from engine.settings.rows import SETTINGS
from engine.system.paths import is_installed, program

_PLAIN = re.compile(r"[\w,=.:/@%+-]+")
_FIT_FOR_DOUBLE_QUOTES = re.compile(r'[^"$`\\!%\n]*')

_OTHERWISE = {"methods": "method", "tool": "for"}
"""The options that are not called as the request calls their value."""


def _quoted(value: str) -> str:
    """A value as it is typed: in double quotes, which Windows has too, if it would not be one word."""
    if _PLAIN.fullmatch(value):
        return value
    return f'"{value}"' if _FIT_FOR_DOUBLE_QUOTES.fullmatch(value) else shlex.quote(value)


OPTIONS = Wording(
    settings={
        **{setting: f"--{setting.name.lower().replace('_', '-')}" for setting in Setting},
        **{row.called: row.option for row in SETTINGS if isinstance(row.called, Setting)},
        Setting.METHODS: "--method",
        Setting.SHOTS: "--few-shot",
        Setting.CHOICE: "--few-shot-selection",
    },
    steps={
        Step.ALLOW_MIXED_BUILDS: (
            "Install the same llama-cpp-python everywhere, or allow different builds: --mixed-builds"
        ),
        Step.ALLOW_PLAIN_TCP: (
            f"Make certificates ({program()} cluster certificates) and use tls:// instead of tcp://. On a"
            " network where you trust every computer and user: --plain-tcp"
        ),
        Step.CALIBRATE: f"Calibrate a run of this judge: {program()} calibrate RUN --gold LABELLED-DATASET",
        Step.TRUST: "Find out with: trust RUN --keep",
        Step.CALIBRATE_AGAIN: "Make it again with the command calibrate.",
        Step.TUNE: "Make it again with the command tune.",
        Step.CHOOSE_ANSWERED_DATASET: "Name the dataset that it answers with --dataset.",
        Step.CHOOSE_JUDGED_DATASET: "Name the dataset that was judged",
        Step.CHOOSE_JUDGES: "Name two or more runs (by id) or submissions",
        Step.CHOOSE_RUN: f"Name the id of a run: see {program()} runs",
        Step.CHOOSE_STORE: "Name the right store with --store",
        Step.COPY_STORE: (
            "Copy it, with the files next to it whose names begin with its name, to a folder where you may"
            " write, and name the copy (--store); or name another file for the run store."
        ),
        Step.DELETE_DAMAGED: (
            f"Delete that run ({program()} runs delete ID), or name an earlier copy of the store: --store."
            " The other runs are not affected."
        ),
        Step.DELETE_DECISIONS: (
            "Export them first (runs export ID --json FILE), or delete them with their annotations:"
            " --with-decisions"
        ),
        Step.EXPORT_RUN: "write the run's submission with `runs export` and use that",
        Step.GIVE_ITEMS: "Name a run of the same items as well, or their dataset with --dataset.",
        Step.FIND_DATASET: "name its file with --dataset",
        Step.INSTALL_CLUSTER: (
            "Install what it needs: python -m pip install"
            f" {'tiebreak[cluster]' if is_installed() else '-r requirements-cluster.txt'}"
        ),
        Step.JUDGE_ONCE: "The same judge is named twice. Remove one.",
        Step.LABEL_AT_RANDOM: (
            "in the window, on the page Review, in the order “Random sample”, from the top."
        ),
        Step.LIST_MODELS: f"{program()} models lists the models on this computer.",
        Step.MAKE_CERTIFICATES: (
            f"Make them with {program()} cluster certificates, once for all computers, and copy the folder to"
            " each; name it with --certificates if it is in another place."
        ),
        Step.MEASURE_SPEED: f"{program()} models speed measures it: then the time is known.",
        Step.MAKE_PAIRS: (
            "Make pairs from the outputs of several candidate models for the same instructions:"
            f" {program()} pairs FILE FILE... --out DATASET.tsv"
        ),
        Step.NAME_ANNOTATOR: "--by NAME; or --columns annotator=…",
        Step.MAP_COLUMNS: "Name the columns",
        Step.MAP_EXAMPLES: (
            f"First store the columns of the examples: {program()} check EXAMPLES --save-columns"
            " and what follows"
        ),
        Step.MOVE_STORE: "Name a file for the run store in a folder where you may write (--store).",
        Step.NAME_CANDIDATES: ("Name their columns: --columns candidate_a=COLUMN,candidate_b=COLUMN"),
        Step.NAME_WORKER_MODEL: (
            "Put the file in the model folder of that worker, or name it when the worker is started: cluster"
            " worker ADDRESS --model FILE"
        ),
        Step.RANK_ALL: "Add --many-candidates.",
        Step.RESUME: "Resume with the same judge command",
        Step.SEE_MOVED: "or see which labels the wording moved: runs diff",
        Step.SEE_UNSCORED: "or see why these are unscored: runs show",
        Step.START_SCHEDULER: (
            f"Start it with {program()} cluster scheduler, or check the address. The same command resumes."
        ),
        Step.START_WORKERS: f"Start some, on any computer: {program()} cluster worker ADDRESS",
        Step.STOP_AT_A_WIDTH: (
            "Stop at an interval width of how often A wins, which needs no candidates: --until 10, for 10"
            " points."
        ),
        Step.USE_OTHER_STORE: "Name another file for the run store (--store).",
        Step.WITH_JUDGE: "export the judge's own labels as well: --with-judge",
    },
    kinds={
        FileKind.DATASET: (
            f"Judge it ({program()} judge FILE), or name it where a dataset is expected (--gold, --dataset,"
            " --against). If you named both, they may be swapped."
        ),
        FileKind.SUBMISSION: (
            f"Score it ({program()} evaluate FILE --gold DATASET), rank by it ({program()} rank FILE --gold"
            f" DATASET), check it ({program()} check FILE), or add it for review ({program()}"
            " runs add FILE --dataset DATASET)."
        ),
        FileKind.VERDICTS: (
            f"Evaluate or compare it like a run, {program()} evaluate FILE --gold DATASET, or store it:"
            f" {program()} runs add FILE --dataset DATASET"
        ),
        FileKind.RUN_DATA: f"Use its labels (--gold FILE), or see what it contains: {program()} check FILE",
        FileKind.RUN_JSON: (
            "It is for other programs, and Tiebreak does not read it. Export the run in another format:"
            f" {program()} runs export ID --out FILE.tsv, --csv FILE or --as-dataset FILE"
        ),
        FileKind.CALIBRATION: (
            f"Apply it to a run ({program()} runs recalibrate ID --calibration FILE), or judge with it:"
            " --calibration FILE"
        ),
        FileKind.RECIPE: f"Judge with it: {program()} judge DATASET --recipe FILE --out FILE.tsv",
        FileKind.LABELS_OF_ANNOTATORS: f"Import them into a run: {program()} annotations import RUN FILE",
        FileKind.WEIGHTS: f"Use it: {program()} weighted-score SYSTEM --weights FILE",
        FileKind.SCORES: "It is for other programs, and Tiebreak does not read it.",
        FileKind.COMPARISONS: f"Decide it: {program()} weighted-score FILE --weights NAME=NUMBER,...",
        FileKind.RUBRIC: "Judge with it, or read labels with it: --rubric FILE",
        FileKind.MODEL: f"Judge with it (--model FILE), or see what it is: {program()} models check FILE",
        FileKind.RUN_STORE: f"Name it with --store; to list its runs: {program()} runs --store FILE",
    },
    setting_value="{0} {1}",
    quoted=_quoted,
    given=lambda name: f"--{_OTHERWISE.get(name, name).replace('_', '-')}",
)
