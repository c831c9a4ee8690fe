"""Thresholds as they are kept with a run, for tests of what uses them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.results.trust import KeptThreshold, KeptTrust
from engine.settings.identity import TRUST


def kept_trust_of(least: Mapping[str, float | None], **more: Any) -> KeptTrust:
    """Found by labels of gold.tsv: the least confidence by criterion, None where nothing may stand."""
    tested = tuple(
        KeptThreshold(confidence=at, accepted=share, agreement=right, agreement_interval=ends, labels=labels)
        for at, share, right, ends, labels in (
            (0.9, 0.3, 0.95, (0.84, 0.99), 30),
            (0.6, 0.6, 0.9, (0.82, 0.95), 60),
            (0.3, 1.0, 0.75, (0.66, 0.82), 100),
        )
    )
    criteria = {
        name: KeptThreshold(confidence=None, tested=tested)
        if at is None
        else KeptThreshold(
            confidence=at,
            accepted=0.6,
            agreement=0.9,
            agreement_interval=(0.82, 0.95),
            labels=60,
            tested=tested,
        )
        for name, at in least.items()
    }
    facts: dict[str, Any] = {"target": 0.85, "risk": 0.1, "dataset": "gold.tsv", "calibration": None}
    return KeptTrust(**(facts | more), criteria=criteria)


def manifest_of(kept: KeptTrust) -> dict[str, Any]:
    """That of a run with which it is kept."""
    return {TRUST: msgspec.to_builtins(kept)}
