"""The ordinary run that an audit of a model is: where its items and perturbations are kept, how the model is
asked.

Knows: what of a described run an audit keeps. Does not know: how a run is prepared and judged.
"""

from dataclasses import replace
from pathlib import Path

from engine.audit.probe_set import MadePerturbations
from engine.core.formatting import short_name
from engine.core.items import Method
from engine.core.run_setup import RunSetup
from engine.core.settings import Mode

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
        mode=Mode.LABELS,
        methods=methods,
        both_orders=True,
        second_order_below=None,
        calibration_path=None,
        fresh=False,
        resumes=None,
        name=f"audit with {short_name(of_dataset)}",
    )
