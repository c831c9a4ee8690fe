"""Weights and a tie threshold that were fitted, in a file: with what is kept of the fit.

Knows: the JSON that `weigh` writes. Does not know: how weights are fitted, commands.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.core.file_kinds import FileKind
from engine.core.fitted_on import FittedOn, KeptFit, kept_fit_of
from engine.core.value_tables import Estimate
from engine.data.dataset import Dataset
from engine.data.file_kinds import expecting
from engine.data.plain_file import load_record, real_number
from engine.system.gate import sandboxed
from engine.weigh.weight_fit import WeightFit


@dataclass(frozen=True)
class FittedWeights:
    """Weights (not negative) by criterion, a tie threshold in score points, and what is kept of their fit;
    None in a file of an earlier version, where it is not known what took part.
    """

    weights: Mapping[str, float]
    tie_threshold: float
    kept: KeptFit | None


def kept_of(fit: WeightFit, gold: Dataset, ids: Collection[str]) -> KeptFit:
    """What is kept of a fit to the items with these ids."""
    agreement = Estimate(fit.agreement, fit.intervals["agreement"])
    return KeptFit(gold.name, agreement, FittedOn.of(item for item in gold if item.id in ids))


def fit_json(fit: WeightFit, kept: KeptFit) -> dict[str, Any]:
    """All of a fit, as plain values."""
    return asdict(fit) | kept.as_json()


@sandboxed
def load_fitted_weights(path: Path, hint: str) -> FittedWeights:
    """The fitted weights in a file that `weigh` wrote. SetupError with this hint where it has none."""
    with expecting(path, FileKind.WEIGHTS):
        return load_record(path, "file of fitted weights", _fitted_weights, hint)


def _fitted_weights(value: Mapping[str, Any]) -> FittedWeights:
    fitted = value["fitted"]
    return FittedWeights(
        {str(name): real_number(weight) for name, weight in fitted["weights"].items()},
        real_number(fitted["tie_threshold"]),
        kept_fit_of(fitted) if "took_part" in fitted else None,
    )
