"""The published results of the ELOQUENT 2025 Preference Prediction task, for reference.

They were measured on the task's private test set, so they stand beside our own figures but are never
ranked with them. Source: the overview of the task in the CLEF 2025 working notes.

Knows: figures. Does not know: how ours are computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MEASURED_ON = "the task's private test set"


@dataclass(frozen=True)
class PublishedResult:
    """One system. All values are in percent.

    `accuracy`: by criterion; `mean_accuracy` as published. `explanations`: the means over the criteria of
    ROUGE-L, BERTScore and LLM agreement, empty where none were submitted. `remark`: what to know of it.
    """

    name: str
    accuracy: Mapping[str, float]
    mean_accuracy: float
    explanations: Mapping[str, float]
    remark: str = ""


_CRITERIA = ("relevance", "naturalness", "truthfulness", "safety", "overall_quality")
_EXPLAINED = ("rouge_l", "bertscore", "agreement")


def _result(
    name: str, accuracy: tuple[float, ...], mean: float, explained: tuple[float, ...] = (), remark: str = ""
) -> PublishedResult:
    explanations = dict(zip(_EXPLAINED, explained, strict=True)) if explained else {}
    return PublishedResult(name, dict(zip(_CRITERIA, accuracy, strict=True)), mean, explanations, remark)


PUBLISHED = (
    _result("VerbaNexAI", (45.91, 30.29, 75.16, 94.15, 39.42), 56.99, (20.04, 87.00, 33.04)),
    _result("FHS", (51.12, 44.39, 80.53, 83.33, 10.10), 53.89, remark="late submission"),
    _result("UTK", (39.98, 33.01, 38.62, 48.96, 33.01), 38.72, (9.0, 83.46, 18.38)),
    _result(
        "baseline Llama-3.1-8B",
        (33.81, 29.17, 17.95, 17.95, 49.60),
        29.70,
        (8.40, 83.13, 24.27),
        remark="the organisers' baseline",
    ),
)
