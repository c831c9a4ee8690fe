"""The lines of an audit: Holm's procedure, and what is said of a value beside its bound."""

from dataclasses import replace
from typing import Any

import pytest

from engine.analysis.audit import AuditLine, AuditVerdict, judged_together
from engine.core.tables import Estimate


def line(value: float, low: float, high: float, **more: Any) -> AuditLine:
    return AuditLine("x", "an x", Estimate(value, (low, high)), "It is so.", 0.02, p=0.5, **more)


@pytest.mark.parametrize(
    ("chances", "rejected"),
    [
        ([0.04], {0}),
        ([0.04, 0.04], set()),
        ([0.04, 0.02], {0, 1}),
        ([0.9, 0.012, None, 0.03, 0.02], {1}),
        ([0.9, 0.012, None, 0.02, 0.016], {1, 3, 4}),
        ([None], set()),
    ],
)
def test_the_more_lines_the_surer_one_must_be(chances: list[float | None], rejected: set[int]) -> None:
    found = judged_together([replace(line(0.06, 0.03, 0.09), p=p) for p in chances])
    assert {place for place, each in enumerate(found) if each.found} == rejected


@pytest.mark.parametrize(
    ("known", "is_fault", "verdict"),
    [
        (line(0.06, 0.03, 0.09), True, AuditVerdict.FAULT),
        (line(0.06, 0.03, 0.09), False, AuditVerdict.PERHAPS),
        (line(0.01, -0.03, 0.04), False, AuditVerdict.NONE_FOUND),
        (line(0.01, 0.005, 0.015), False, AuditVerdict.SOUND),
        (line(-0.06, -0.09, -0.03), False, AuditVerdict.SOUND),
        (line(-0.06, -0.09, -0.03, two_sided=True), False, AuditVerdict.PERHAPS),
        (line(-0.01, -0.09, 0.01, two_sided=True), False, AuditVerdict.NONE_FOUND),
        (line(0.01, 0.0, 0.03, below=True), False, AuditVerdict.PERHAPS),
        (line(0.9, 0.8, 0.95, below=True), False, AuditVerdict.SOUND),
    ],
)
def test_what_is_said_of_a_value(known: AuditLine, is_fault: bool, verdict: AuditVerdict) -> None:
    assert known.judged(is_fault).verdict is verdict
    assert known.judged(is_fault).found is is_fault


@pytest.mark.parametrize(
    ("ends", "more", "is_told"),
    [
        ((0.03, 0.09), {}, True),
        ((0.01, 0.09), {}, False),
        ((-0.5, 0.02), {}, True),
        ((0.03, 0.09), {"two_sided": True}, True),
        ((-0.09, -0.03), {"two_sided": True}, True),
        ((-0.09, 0.01), {"two_sided": True}, False),
        ((-0.02, 0.02), {"two_sided": True}, True),
        ((-0.09, 0.09), {"two_sided": True}, False),
        ((0.0, 0.01), {"below": True}, True),
        ((0.0, 0.03), {"below": True}, False),
        ((0.02, 0.03), {"below": True}, True),
    ],
)
def test_a_line_is_told_where_its_interval_lies_on_one_side_of_the_bound(
    ends: tuple[float, float], more: dict[str, bool], is_told: bool
) -> None:
    assert line(0.0, 0.0, 0.0, **more).is_told_by(Estimate(0.0, ends)) is is_told


def test_what_is_not_known_says_how_many_items_more_would_tell() -> None:
    open_line = line(0.01, -0.03, 0.04, times=4).judged(is_fault=False)
    assert open_line.with_more(40).sentence == (
        "It is so. Not significant whether it is within its bound: about 120 more items would be enough,"
        " if they are like these."
    )
    never = line(0.03, -0.03, 0.04).judged(is_fault=False)
    assert never.with_more(40).sentence == (
        "It is so. Not significant whether it is beyond its bound: 960 more items would not be enough,"
        " if they are like these."
    )


def test_only_what_can_be_told_is_a_fault_or_none() -> None:
    untold = AuditLine.untold("y", "a y", "Too few.")
    fact = AuditLine("z", "a z", None, "So fast.", shown="3.0")
    found = judged_together([untold, line(0.06, 0.03, 0.09), fact])
    assert [each.found for each in found] == [None, False, None]
    assert [each.value_text for each in found] == ["-", "6.0 (3.0 to 9.0)", "3.0"]
    assert found[1].bound_text == "over 2.0"
    assert found[0].as_json()["verdict"] == "cannot be told"
    assert found[1].as_json()["interval"] == [0.03, 0.09]
