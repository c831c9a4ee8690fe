"""The audit of a judge: all lines, with what is a fault among them.

Knows: which lines there are. Does not know: how each is measured, where they are shown.
"""

from dataclasses import dataclass
from typing import Any

from engine.audit.against_people import length_line, slice_line, tie_line
from engine.audit.alone import letter_line, mass_line, order_lines, speed_line
from engine.audit.changed import again_line, change_lines
from engine.audit.heard import Heard
from engine.audit.lines import AuditLine, AuditVerdict, judged_together
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults


@dataclass(frozen=True)
class Audit:
    """What was found of a judge. `judge`: what it is called; `items`: how many items are no copies, `copies`:
    how many are; `unscored`: judgments that could not be made.
    """

    judge: str
    items: int
    copies: int
    unscored: int
    lines: tuple[AuditLine, ...]

    @property
    def faults(self) -> tuple[AuditLine, ...]:
        """The lines that are faults."""
        return tuple(line for line in self.lines if line.found)

    @property
    def looked_at(self) -> int:
        """How many lines were held against a bound."""
        return sum(line.found is not None for line in self.lines)

    @property
    def untold(self) -> int:
        """How many lines cannot be told."""
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
    """What the readings of a run tell of its judge; `dataset`: its items, `gold`: whose human labels count,
    None for those of the dataset.
    """
    return audit_of(Heard.of_run(results, dataset, gold), dataset, results.run.called)


def audit_of(heard: Heard, dataset: Dataset, judge: str) -> Audit:
    """The same of what was heard of items of a dataset."""
    lines = judged_together(
        [
            *order_lines(heard),
            letter_line(heard),
            length_line(heard),
            *change_lines(heard),
            again_line(heard),
            tie_line(heard),
            slice_line(heard, dataset),
            mass_line(heard),
            speed_line(heard),
        ]
    )
    own = len(heard.own)
    told = tuple(line.with_more(own) for line in lines)
    return Audit(judge, own, len(heard.items) - own, int((~heard.scored).sum()), told)
