"""Tables of values: how values of each kind are written, and by what they are sorted."""

import math

import pytest

from engine.core.errors import EngineBug
from engine.core.items import Preference
from engine.core.tables import Column, Estimate, Fact, Kind, Partial, Ranked, Table, Value
from tests.value_kinds import ASCENDING


def column(kind: Kind, key: str = "key") -> Column:
    return Column(key, "title", kind, "What it holds.")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.NAME, "overall quality", "overall quality"),
        (Kind.TEXT, "3 of\nthem\x00", "3 of\nthem\x00"),
        (Kind.TEXT, Preference.BOTH_GOOD, "both_good"),
        (Kind.FLAG, True, "yes"),
        (Kind.FLAG, False, "no"),
        (Kind.COUNT, 0, "0"),
        (Kind.COUNT, 12345, "12,345"),
        (Kind.SHARE, 0.4567, "45.7 %"),
        (Kind.NUMBER, 3.14159, "3.14"),
        (Kind.NUMBER, -0.001, "0.00"),
        (Kind.NUMBER, 12345.678, "12345.68"),
        (Kind.SHORTEST, 3.0, "3"),
        (Kind.SHORTEST, 0.5, "0.5"),
        (Kind.INTERVAL, (-1.04, 31.55), "-1.0 to 31.6"),
        (Kind.SHARE_INTERVAL, (0.153, 1.0), "15.3 to 100.0"),
        (Kind.PAIR, (4, 0), "4/0"),
        (Kind.RANKED, Ranked(85, 1), "85.00 [1]"),
        (Kind.RANKED, Ranked(85.126, 2.5), "85.13 [2.5]"),
        (Kind.RANKED, Ranked(85), "85.00"),
        (Kind.RANKED, Ranked(85, 1, (80.04, 90)), "85.00 (80.0 to 90.0) [1]"),
        (Kind.RANKED, Ranked(None), "-"),
        (Kind.PARTIAL, Partial(33.3), "33.30"),
        (Kind.PARTIAL, Partial(33.3, 1234), "33.30 (1,234 omitted)"),
        (Kind.PARTIAL, Partial(33.3, 2, (20.04, 50)), "33.30 (20.0 to 50.0) (2 omitted)"),
        (Kind.PARTIAL, Partial(None, 2), "- (2 omitted)"),
        (Kind.ESTIMATE, Estimate(0.5, (0.25, 0.751)), "50.0 (25.0 to 75.1)"),
        (Kind.ESTIMATE, Estimate(-0.025), "-2.5"),
        (Kind.FACT, Fact(Kind.COUNT, 1234), "1,234"),
        (Kind.FACT, Fact(Kind.SHARE, None), "-"),
        (Kind.FACT, Fact(Kind.TEXT, "none"), "none"),
    ],
)
def test_a_value_is_written_by_the_kind_of_its_column(kind: Kind, value: Value, text: str) -> None:
    assert column(kind).text(value) == text


@pytest.mark.parametrize("kind", Kind)
def test_what_is_not_known_is_a_dash_and_what_does_not_belong_is_empty(kind: Kind) -> None:
    assert (column(kind).text(None), column(kind).text("")) == ("-", "")


@pytest.mark.parametrize(
    ("digits", "least", "value", "text"),
    [
        (0, None, 1234, "1234"),
        (3, None, 0.0004, "0.000"),
        (3, 0.001, 0.0004, "<0.001"),
        (3, 0.001, 0.001, "0.001"),
        (4, 0.0001, 0.0, "<0.0001"),
        (4, 0.0001, None, "-"),
    ],
)
def test_a_column_says_how_many_decimals_and_which_number_is_the_least(
    digits: int, least: float | None, value: float | None, text: str
) -> None:
    shown = Column("key", "title", Kind.NUMBER, "What it holds.", digits=digits, least=least)
    assert shown.text(value) == text


def test_words_stand_for_some_values() -> None:
    strength = Column("key", "title", Kind.SHORTEST, "What.", instead={0.0: "as it is", math.inf: "all"})
    assert [strength.text(value) for value in (0.0, 0.03, math.inf)] == ["as it is", "0.03", "all"]
    assert [strength.sort_key(value) for value in (0.0, 0.03, math.inf)] == [0.0, 0.03, math.inf]


@pytest.mark.parametrize("kind", Kind)
def test_values_sort_by_size_and_what_is_not_known_comes_first(kind: Kind) -> None:
    ascending = ASCENDING[kind]
    descending = ascending[::-1]
    assert sorted(descending, key=column(kind).sort_key) == ascending
    assert column(kind).sort_key("") == column(kind).sort_key(None)


def test_a_table_writes_its_rows_by_their_columns() -> None:
    table = Table((column(Kind.NAME, "a"), column(Kind.SHARE, "b")), [["safety", 0.5], ["mean", None]])
    assert table.titles == ["title", "title"]
    assert table.texts() == [["safety", "50.0 %"], ["mean", "-"]]


@pytest.mark.parametrize(("keys", "row"), [("ab", ["x"]), ("ab", ["x", 1, 2]), ("aa", ["x", 1])])
def test_a_table_that_does_not_fit_its_columns_is_a_fault_of_ours(keys: str, row: list[Value]) -> None:
    with pytest.raises(EngineBug):
        Table([column(Kind.TEXT, key) for key in keys], [row])
