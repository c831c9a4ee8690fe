"""The ordinary run that an audit of a model is: where its items and copies are kept, how the model is asked.

Knows: what of a described run an audit keeps. Does not know: how a run is prepared and judged.
"""

from dataclasses import replace
from pathlib import Path

from engine.audit.probe_set import MadeProbes
from engine.core.formatting import short_name
from engine.core.items import Way
from engine.core.run_setup import RunSetup
from engine.core.settings import Mode

AUDIT_WAYS = (Way.LETTERS, Way.PERMUTED)
"""What tells of everything: by the latter a lean to a letter is seen."""

_FOLDER = "audits"


def usual_place(probes: MadeProbes, store: Path) -> Path:
    """Where a set of probes is kept that is judged into a run store."""
    return store.parent / _FOLDER / probes.name


def audit_setup(
    setup: RunSetup, probes: Path, of_dataset: str, ways: tuple[Way, ...] = AUDIT_WAYS
) -> RunSetup:
    """A run of the same judge over a file of probes: all of them, labels alone, in both orders, without a
    calibration; it is called by the name of the dataset that the items are of.
    """
    return replace(
        setup,
        dataset_path=probes,
        columns=None,
        items=None,
        sample=None,
        ids=(),
        until=None,
        mode=Mode.LABELS,
        ways=ways,
        both_orders=True,
        second_order_below=None,
        calibration_path=None,
        fresh=False,
        resumes=None,
        name=f"audit with {short_name(of_dataset)}",
    )
