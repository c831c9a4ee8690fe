"""The kinds of files that Tiebreak reads and writes, by what they are called.

Knows: their names. Does not know: how one is distinguished from another, what takes which.
"""

from enum import Enum


class FileKind(Enum):
    """What a file may be. The value: what it is called."""

    DATASET = "a dataset of pairs"
    SUBMISSION = "a submission"
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
