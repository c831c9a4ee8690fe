"""How many labels it takes: what is planned is what the program's own intervals and tests need."""

import pytest

from engine.core.numeric import chance_of_share, clopper_pearson
from engine.metrics import planning
from gui.review.filter_bar import HOW_MANY
from tests.commands import printed, refusal


def test_as_many_labels_as_planned_are_enough_and_one_fewer_is_not() -> None:
    for expected, half in ((0.7, 0.05), (0.95, 0.02)):
        labels = planning.labels_for_share(expected, half)
        widths = [high - low for low, high in (clopper_pearson(expected, n) for n in (labels - 1, labels))]
        assert widths[1] <= 2 * half < widths[0]
    # Worked example: both right independently, 90 and 80 %; 26 % differ, (1.96 x .510 + .842 x .5)^2 / .01.
    assert planning.labels_for_lead(0.9, 0.8) == 202
    # Cohen's variance: .58 x .42 / .49 / n.
    assert planning.labels_for_kappa(0.4, 0.05, 0.3) == 764
    labels = planning.labels_for_trust(0.9, 0.85, 0.1, power=0.5)
    assert chance_of_share(0.9, labels, 0.85) <= 0.1 < chance_of_share(0.9, labels - 1, 0.85)
    assert planning.items_for(100, 5) == 200


def test_the_window_says_what_is_planned() -> None:
    for half in (10, 5, 3):
        assert f"{planning.labels_for_share(0.7, half / 100):,}" in HOW_MANY


@pytest.mark.parametrize("each", [1, 5])
def test_the_command_counts_items_of_clustered_instructions(each: int) -> None:
    lines = printed("plan-labels", "--accuracy", 0.9, "--each", each).splitlines()
    found = next(line for line in lines if line.startswith("accuracy of 90.0 % within 5.0 points"))
    assert found.split()[-1] == str(planning.items_for(planning.labels_for_share(0.9, 0.05), each))


def test_what_no_number_of_labels_shows_has_a_dash_and_no_shares_are_refused() -> None:
    assert "target 85.0 %               -" in printed("plan-labels")
    assert "power is 1." in refusal("plan-labels", "--power", 1)
