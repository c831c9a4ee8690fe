"""Hints in the words of the window.

Knows: the fields and places of the window that a hint may name. Does not know: errors, what pages do.
"""

from engine.core.file_kinds import FileKind
from engine.core.formatting import capitalised
from engine.core.remedies import Setting, Step, Wording
from engine.core.settings import SETTINGS

FIELDS = {
    **{setting: capitalised(setting.value) for setting in Setting},
    **{row.called: row.field_label for row in SETTINGS if isinstance(row.called, Setting)},
    Setting.DEVICE: "Compute on",
}
"""The fields by the names that stand on their pages, which take them from here."""

IN_THE_WINDOW = Wording(
    settings={setting: f"“{field}”" for setting, field in FIELDS.items()},
    steps={
        Step.ALLOW_SMALL_SOURCE: (
            "Convert the model's original in F16, BF16 or Q8_0, or tick “Convert it although it is a small"
            " quantisation already”."
        ),
        Step.ALLOW_MIXED_BUILDS: Step.ALLOW_MIXED_BUILDS.value,
        Step.ALLOW_PLAIN_TCP: Step.ALLOW_PLAIN_TCP.value,
        Step.CALIBRATE: "Calibrate a run of this judge on the Results page, under “Calibration”.",
        Step.CALIBRATE_AGAIN: "Make it again on the Results page, under “Calibration”.",
        Step.TUNE: "Make it again on the Judge page: “Find the best settings”.",
        Step.CHOOSE_ANSWERED_DATASET: "Open the dataset that it answers first: File > Open dataset.",
        Step.CHOOSE_JUDGED_DATASET: "Choose the judged dataset for the human labels",
        Step.CHOOSE_JUDGES: "On the Compare page, tick two runs or submissions, or more",
        Step.CHOOSE_RUN: "Choose a run on the Results page.",
        Step.CHOOSE_STORE: "Choose an existing run",
        Step.COPY_STORE: (
            "Copy its folder to a place where you can write, and set TIEBREAK_HOME to the folder"
            " above it; then start Tiebreak again."
        ),
        Step.DELETE_DAMAGED: (
            "Delete that run in the list of all runs, or set TIEBREAK_HOME to a folder with an"
            " earlier copy of the store. The other runs are not affected."
        ),
        Step.DELETE_DECISIONS: "Export the runs first, or tick that their annotations are deleted, too.",
        Step.EXPORT_RUN: "export the run's submission on the Results page and compare that",
        Step.GIVE_ITEMS: (
            "On the Compare page, also tick a run of the same items, or choose human labels and"
            " fit the jury to them."
        ),
        Step.FIND_DATASET: "open it on the Dataset page",
        Step.INSTALL_CLUSTER: Step.INSTALL_CLUSTER.value,
        Step.JUDGE_ONCE: "The same judge is ticked twice on the Compare page. Untick one.",
        Step.LABEL_AT_RANDOM: Step.LABEL_AT_RANDOM.value,
        Step.MAKE_CERTIFICATES: Step.MAKE_CERTIFICATES.value,
        Step.MAKE_PAIRS: (
            "Make pairs from the outputs of several candidate models on the same instructions: File > New"
            " dataset"
            " from outputs."
        ),
        Step.MAP_COLUMNS: "Open it with File > Open dataset, and choose which column is which",
        Step.NAME_CANDIDATES: (
            "Choose the columns that name them as candidate_a and candidate_b: “Choose columns…” on Ranking"
        ),
        Step.MAP_EXAMPLES: "Choose the few-shot examples again, and choose which column is which",
        Step.MOVE_STORE: (
            "Make its folder writable, or set TIEBREAK_HOME to another folder; then start Tiebreak again."
        ),
        Step.NAME_WORKER_MODEL: Step.NAME_WORKER_MODEL.value,
        Step.RESUME: "Resume the run on the Judge page",
        Step.START_SCHEDULER: Step.START_SCHEDULER.value,
        Step.START_WORKERS: Step.START_WORKERS.value,
        Step.STOP_AT_A_WIDTH: Step.STOP_AT_A_WIDTH.value,
        Step.USE_OTHER_STORE: (
            "Move it away, or set TIEBREAK_HOME to another folder; then start Tiebreak again."
        ),
        Step.WITH_JUDGE: "tick “Include the judge's labels”",
    },
    kinds={
        FileKind.DATASET: (
            "To judge it, open it with File > Open dataset. Human labels to compare with are chosen with"
            " “Choose labels…” on Results or Compare."
        ),
        FileKind.SUBMISSION: "Open it with File > Open submission.",
        FileKind.RUN_DATA: "Open it with File > Open dataset, or as labels: “Choose labels…” on Results.",
        FileKind.RUN_JSON: (
            "It is for other programs; Tiebreak does not read it. Export its run in another"
            " format: File > Export."
        ),
        FileKind.CALIBRATION: "Load it on the Results page, under “Calibration”.",
        FileKind.RECIPE: "Open it with “Find the best settings” on the Judge page.",
        FileKind.WEIGHTS: (
            "Only commands read it. In the window, set weights on Results, under “Weighted scoring”."
        ),
        FileKind.SCORES: "It is for other programs; Tiebreak does not read it.",
        FileKind.COMPARISONS: "Only the command weighted-score reads it.",
        FileKind.RUBRIC: "Open it on the Judge page, at “Rubric”.",
        FileKind.MODEL: "Choose it as the model on the Judge page.",
        FileKind.LABELS_OF_ANNOTATORS: "Open their run, then import them: File > Import annotations.",
        FileKind.RUN_STORE: (
            "Set TIEBREAK_HOME to the folder above it, then start Tiebreak again to see its runs."
        ),
    },
    setting_value="{0}: {1}",
)
