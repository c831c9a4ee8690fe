"""Agreement beyond chance, and its intervals; whether these hold the truth is simulated in bench/coverage."""

import numpy as np
import pytest

from engine.metrics.beyond_chance import MetLabels, ac1_of, kappa_of
from tests.judged import A, B
from tests.steps import there

ALIKE = np.eye(2, dtype=bool)


def test_ac1_and_kappa_are_those_of_gwets_example() -> None:
    """Gwet, Kappa Statistic is not Satisfactory (2002): 118 of 125 subjects are of one kind for both."""
    met = np.array([[118.0, 5.0], [2.0, 0.0]])
    assert float(ac1_of(met, ALIKE)) == pytest.approx(0.9408, abs=5e-5)
    assert float(kappa_of(met, ALIKE)) == pytest.approx(-0.0234, abs=5e-5)


def test_an_interval_is_wider_where_items_of_an_instruction_go_together() -> None:
    human, judge = [A, B, A, B] * 20, [A, B, B, B] * 20
    apart = MetLabels.of(human, judge, range(80)).measured(kappa_of)
    together = MetLabels.of(human, judge, [place // 4 % 5 for place in range(80)]).measured(kappa_of)
    assert apart.interval is not None
    assert together.interval is not None
    assert apart.value == together.value == 0.5
    assert together.interval.low < apart.interval.low < 0.5 < apart.interval.high < together.interval.high


def test_what_never_disagreed_is_not_certain_to_agree() -> None:
    found = MetLabels.of([A, B] * 10, [A, B] * 10, range(20)).measured(kappa_of)
    assert found.value == 1
    assert found.interval is not None
    assert 0.5 < found.interval.low < 0.95
    assert found.interval.high == 1
    assert MetLabels.of([A, B], [A, B], [0, 0]).measured(kappa_of) == (1, None)  # one instruction
    assert MetLabels.of([A, A], [A, A], [0, 1]).measured(kappa_of) == (None, None)  # one label


def test_kappa_of_two_has_one_interval_whoever_is_first() -> None:
    """(A, B) and (B, A) move it as far here, with errors of their own."""
    one, other = [A] * 12 + [B] * 8, [A] * 9 + [B] * 3 + [A] * 3 + [B] * 5
    groups = [*(place // 2 for place in range(10)), *range(5, 15)]
    found, turned = (MetLabels.of(*two, groups).measured(kappa_of) for two in ((one, other), (other, one)))
    assert found.interval == pytest.approx(there(turned.interval), abs=1e-12)
