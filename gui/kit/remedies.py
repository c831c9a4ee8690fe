"""Remedies in the words of the window.

Knows: the fields and places of the window that a remedy may name. Does not know: errors, what pages do.
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
            "Convert the model's original in F16, BF16 or Q8_0, or tick that this source will do."
        ),
        Step.ALLOW_MIXED_BUILDS: Step.ALLOW_MIXED_BUILDS.value,
        Step.ALLOW_PLAIN_TCP: Step.ALLOW_PLAIN_TCP.value,
        Step.CALIBRATE: "Calibrate a run of this judge on the Results page, under “Calibration”.",
        Step.CALIBRATE_AGAIN: "Make it again on the Results page, under “Calibration”.",
        Step.TUNE: "Make it again on the Judge page: “Find the best settings”.",
        Step.CHOOSE_ANSWERED_DATASET: "Open it with the dataset that it answers: File > Open dataset first.",
        Step.CHOOSE_JUDGED_DATASET: "As human labels, choose the dataset that was judged",
        Step.CHOOSE_JUDGES: "On the Compare page, tick two runs or submissions, or more",
        Step.CHOOSE_RUN: "Choose a run on the Results page.",
        Step.CHOOSE_STORE: "Choose a run that is there",
        Step.COPY_STORE: (
            "Copy its folder to a place where you may write, and let TIEBREAK_HOME name the folder above it;"
            " then start Tiebreak again."
        ),
        Step.DELETE_DAMAGED: (
            "Delete that run in the list of all runs, or let TIEBREAK_HOME name a folder with a copy of the"
            " store from before. The other runs are as they were."
        ),
        Step.DELETE_DECISIONS: "Export the runs first, or tick that what people decided goes with them.",
        Step.EXPORT_RUN: "export the run's submission on the Results page and compare that",
        Step.GIVE_ITEMS: (
            "On the Compare page, tick a run of the same items as well, or choose human labels and decide by"
            " these."
        ),
        Step.FIND_DATASET: "open it on the Dataset page",
        Step.INSTALL_CLUSTER: Step.INSTALL_CLUSTER.value,
        Step.JUDGE_ONCE: "A judge has one voice: on the Compare page, tick it once.",
        Step.LABEL_AT_RANDOM: Step.LABEL_AT_RANDOM.value,
        Step.MAKE_CERTIFICATES: Step.MAKE_CERTIFICATES.value,
        Step.MAKE_PAIRS: (
            "Make pairs out of the outputs of several candidates on the same instructions: File > New dataset"
            " from outputs."
        ),
        Step.MAP_COLUMNS: "Open it with File > Open dataset, and say there which column is which",
        Step.NAME_CANDIDATES: (
            "Say which columns name them, as candidate_a and candidate_b: “Choose columns…” on Ranking"
        ),
        Step.MAP_EXAMPLES: "Choose the labelled examples again, and say which of their columns is which",
        Step.MOVE_STORE: (
            "See that you may write in its folder, or let TIEBREAK_HOME name another folder; then start"
            " Tiebreak again."
        ),
        Step.NAME_WORKER_MODEL: Step.NAME_WORKER_MODEL.value,
        Step.RESUME: "Resume the run on the Judge page",
        Step.START_SCHEDULER: Step.START_SCHEDULER.value,
        Step.START_WORKERS: Step.START_WORKERS.value,
        Step.STOP_AT_A_WIDTH: Step.STOP_AT_A_WIDTH.value,
        Step.USE_OTHER_STORE: (
            "Move it away, or let TIEBREAK_HOME name another folder; then start Tiebreak again."
        ),
        Step.WITH_JUDGE: "tick that the judge's labels go out as well",
    },
    kinds={
        FileKind.DATASET: (
            "To judge it, open it with File > Open dataset. Human labels to compare with are chosen with"
            " “Choose labels…” on Results or Compare."
        ),
        FileKind.SUBMISSION: "Open it with File > Open submission.",
        FileKind.RUN_DATA: "Open it with File > Open dataset, or as labels: “Choose labels…” on Results.",
        FileKind.RUN_JSON: (
            "It is for other programs, and nothing here reads it. Its run can be exported in other forms:"
            " File > Export."
        ),
        FileKind.CALIBRATION: "Load it on the Results page, under “Calibration”.",
        FileKind.RECIPE: "Open it with “Find the best settings” on the Judge page.",
        FileKind.WEIGHTS: "Only commands read it. Here, weights are set on Results, under “Weighted judge”.",
        FileKind.SCORES: "It is for other programs, and nothing here reads it.",
        FileKind.COMPARISONS: "The commands weigh it; nothing here reads it.",
        FileKind.RUBRIC: "Open it on the Judge page, at “Rubric”.",
        FileKind.MODEL: "Choose it as the model on the Judge page.",
        FileKind.LABELS_OF_PEOPLE: "Open their run, then add them: File > Add labels of others.",
        FileKind.RUN_STORE: (
            "Let TIEBREAK_HOME name the folder above it, then start Tiebreak again: its runs are shown then."
        ),
    },
    setting_value="{0}: {1}",
)
