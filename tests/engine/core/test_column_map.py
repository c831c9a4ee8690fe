"""A column map: written on one line, read back, refused where it is none."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.core.column_map import (
    ColumnMap,
    annotators_of,
    check_targets,
    of_annotators,
    parse_columns,
    parse_labels,
    targets,
)
from engine.core.rubric import ELOQUENT, Criterion, Rubric
from tests.steps import refused

NAMES = some.text(min_size=1).filter(str.strip) | some.text("\\,= a", min_size=1).filter(str.strip)
LABELS = some.sampled_from(["A", "B", "both_good", "both_bad", "tie", ""])


@given(some.dictionaries(some.sampled_from(targets(ELOQUENT)), NAMES), some.dictionaries(NAMES, LABELS))
def test_a_map_is_read_back_as_it_was_written(sources: dict[str, str], labels: dict[str, str]) -> None:
    columns = ColumnMap.of(sources, labels)
    assert parse_columns(columns.columns_text) == sources
    assert parse_labels(columns.labels_text) == labels
    assert ColumnMap.of_json(columns.as_json()) == columns


@given(some.lists(some.text(r"\|a, ", min_size=1) | some.text(min_size=1), min_size=2))
def test_annotators_are_read_back_as_they_were_written(annotators: list[str]) -> None:
    written = of_annotators(annotators)
    assert annotators_of(written) == tuple(annotators)
    columns = ColumnMap.of({"safety_preference": written})
    assert parse_columns(columns.columns_text) == columns.source_of


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a", ("a",)),
        (r"a\|b", ("a|b",)),
        ("a||b", ("a", "b")),
        ("a|", ("a|",)),
        ("", ("",)),
        (r"x\y", (r"x\y",)),
    ],
)
def test_one_source_is_one_annotator(source: str, expected: tuple[str, ...]) -> None:
    assert annotators_of(source) == expected


def test_a_map_is_written_in_the_usual_order_of_the_columns() -> None:
    columns = ColumnMap.of({"output_b": "y", "id": "", "instruction": "a,b", "output_a": "x=1"}, {"0": ""})
    assert columns.columns_text == "id=,instruction=a\\,b,output_a=x=1,output_b=y"
    assert columns.labels_text == "0=none"


@pytest.mark.parametrize(
    ("parse", "text", "problem"),
    [
        (parse_columns, "id", "Columns: cannot read 'id'."),
        (parse_columns, "id=a,id=b", "Columns: cannot read 'id=b'."),
        (parse_columns, "ids=a", "Columns: 'ids' is not a column of a dataset."),
        *((parse_labels, text, "Label values: cannot read ") for text in ("1", "1=C", "1=A,1=B")),
    ],
)
def test_what_cannot_be_read_is_named(parse: Callable[[str], object], text: str, problem: str) -> None:
    assert refused(lambda: parse(text)).problem.startswith(problem)


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        {},
        {"columns": {"id": 1}, "labels": {}},
        {"columns": {"ids": "x"}, "labels": {}},
        {"columns": []},
        {"columns": {}, "labels": {"1": "best"}},
    ],
)
def test_what_is_damaged_is_no_map(value: object) -> None:
    assert ColumnMap.of_json(value) is None


def test_labels_of_any_criterion_can_be_mapped_and_a_rubric_names_its_own() -> None:
    sources = parse_columns("instruction=prompt,höflichkeit_preference=vote,höflichkeit_explanation=why")
    assert ColumnMap.of_json(ColumnMap.of(sources).as_json()) == ColumnMap.of(sources)
    check_targets(sources, Rubric("x", (Criterion("höflichkeit", "Which?"),)))
    refused(lambda: check_targets(sources, ELOQUENT), "'höflichkeit_preference' is not a column of a dataset")
    refused(lambda: parse_columns("on topic_preference=vote"), "'on topic_preference' is not a column")
