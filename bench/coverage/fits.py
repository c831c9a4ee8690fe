"""Fits to arrays, as the simulations and the tests of the fits make them."""

from collections.abc import Hashable, Sequence

from engine.calibration.fitting import (
    CalibrationReport,
    FeatureValues,
    Regularisation,
    fitted,
    fitted_with,
    measuring,
    refuse_too_few,
    views_of,
)
from engine.core.events import followed
from engine.core.judgments import CriterionCalibration
from engine.core.numeric import FloatArray, IntArray


def fit_calibration(
    log_probs: FloatArray,
    labels: IntArray,
    groups: Sequence[Hashable],
    others: FloatArray | None = None,
    *,
    beside: FeatureValues | None = None,
) -> CriterionCalibration:
    """As for `views_of`; the shrinkage is chosen by cross-validation. ValueError for unfit arrays."""
    return fitted(views_of(log_probs, labels, groups, others, beside=beside))


def fit_with_penalty(
    strength: float | None,
    log_probs: FloatArray,
    labels: IntArray,
    groups: Sequence[Hashable],
    others: FloatArray | None = None,
) -> CriterionCalibration:
    """The same with a strength that was chosen elsewhere: of other raw predictions of these items."""
    return fitted_with(views_of(log_probs, labels, groups, others), Regularisation(strength))


def calibrate_criterion(
    criterion: str,
    log_probs: FloatArray,
    labels: IntArray,
    groups: Sequence[Hashable],
    others: FloatArray | None = None,
) -> CalibrationReport:
    """Fit one criterion and measure it; as `views_of`. SetupError for fewer than two instructions."""
    refuse_too_few(criterion, groups)
    return followed(measuring(criterion, views_of(log_probs, labels, groups, others)), lambda _: None)
