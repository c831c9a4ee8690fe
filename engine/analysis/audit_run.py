"""The ordinary run that an audit of a model is: where its items and perturbations are kept, how the model is
asked.

The audit of a judge: all checks, with the issues among them.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.analysis.audit import AuditLine, AuditVerdict, judged_together
from engine.analysis.audit_labels import length_line, slice_line, tie_line
from engine.analysis.audit_lines import (
    JudgePredictions,
    again_line,
    change_lines,
    label_token_line,
    mass_line,
    order_lines,
    speed_line,
)
from engine.analysis.perturbations import MadePerturbations
from engine.core.formatting import short_name
from engine.core.items import Method
from engine.data.dataset import Dataset
from engine.results.run_results import RunResults
from engine.settings.rows import neutral
from engine.settings.run_setup import RunSetup


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


AUDIT_METHODS = (Method.LABEL_TOKENS, Method.PERMUTED_LABELS)
"""Both orders, and the methods that cover all checks: permuted label tokens show a label-token bias."""

_FOLDER = "audits"


def default_place(perturbations: MadePerturbations, store: Path) -> Path:
    """Where a set of probes is kept that is judged into a run store."""
    return store.parent / _FOLDER / perturbations.name


def audit_setup(
    setup: RunSetup, perturbations: Path, of_dataset: str, methods: tuple[Method, ...] = AUDIT_METHODS
) -> RunSetup:
    """A run of the same judge over a file of probes: all of them, labels alone, in both orders, without a
    calibration; it is called by the name of the dataset that the items are of.
    """
    return replace(
        setup,
        dataset_path=perturbations,
        columns=None,
        items=None,
        sample=None,
        ids=(),
        until=None,
        methods=methods,
        both_orders=True,
        **neutral(),
        calibration_path=None,
        fresh=False,
        resumes=None,
        name=f"audit with {short_name(of_dataset)}",
    )
