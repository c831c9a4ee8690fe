"""The audit of a judge: all checks, with the issues among them.

Knows: which lines there are. Does not know: how each is measured, where they are shown.
"""

from dataclasses import dataclass
from typing import Any

from engine.audit.against_people import length_line, slice_line, tie_line
from engine.audit.alone import label_token_line, mass_line, order_lines, speed_line
from engine.audit.changed import again_line, change_lines
from engine.audit.heard import JudgePredictions
from engine.audit.lines import AuditLine, AuditVerdict, judged_together
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults


@dataclass(frozen=True)
class Audit:
    """What was found of a judge. `judge`: what it is called; `items`: how many items are no perturbations,
    `copies`: how many are; `unscored`: judgments that could not be made.
    """

    judge: str
    items: int
    copies: int
    unscored: int
    lines: tuple[AuditLine, ...]

    @property
    def faults(self) -> tuple[AuditLine, ...]:
        """The lines that are issues."""
        return tuple(line for line in self.lines if line.found)

    @property
    def looked_at(self) -> int:
        """How many lines were compared with a bound."""
        return sum(line.found is not None for line in self.lines)

    @property
    def untold(self) -> int:
        """How many lines could not be measured."""
        return sum(line.verdict is AuditVerdict.UNKNOWN for line in self.lines)

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "judge": self.judge,
            "items": self.items,
            "copies": self.copies,
            "unscored": self.unscored,
            "faults": [line.name for line in self.faults],
            "lines": [line.as_json() for line in self.lines],
        }


def audit(results: RunResults, dataset: Dataset, gold: Dataset | None = None) -> Audit:
    """What the raw predictions of a run tell of its judge; `dataset`: its items, `gold`: whose human labels
    count, None for those of the dataset.
    """
    return audit_of(JudgePredictions.of_run(results, dataset, gold), dataset, results.run.called)


def audit_of(received: JudgePredictions, dataset: Dataset, judge: str) -> Audit:
    """The same of what was received for items of a dataset."""
    lines = judged_together(
        [
            *order_lines(received),
            label_token_line(received),
            length_line(received),
            *change_lines(received),
            again_line(received),
            tie_line(received),
            slice_line(received, dataset),
            mass_line(received),
            speed_line(received),
        ]
    )
    own = len(received.own)
    told = tuple(line.with_more(own) for line in lines)
    return Audit(judge, own, len(received.items) - own, int((~received.scored).sum()), told)
