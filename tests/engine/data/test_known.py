"""Each known file is recognised by rows in its shape, and read as its entry says."""

import json
from pathlib import Path

import pytest

from engine.core.items import HUMAN_LABELS, Gold, written_label
from engine.core.rubric import ELOQUENT
from engine.data.catalogue import Known, every_known
from engine.data.dataset import load_dataset
from engine.data.reading import FirstItem, report_on
from engine.data.rubrics.files import criteria_of_columns

ALL = [pytest.param(known, id=known.slug) for known in every_known()]
OF_PAIRS = [pytest.param(known, id=known.slug) for known in every_known() if known.kind == "pairs"]
SWAPPED = {label.value: written_label(label.value).swapped.value for label in HUMAN_LABELS}


def written(known: Known, folder: Path) -> Path:
    """A file of the rows of an entry: JSON Lines, or an object of JSON where the records lie in one."""
    rows = known.rows.strip()
    is_object = "records" in known.columns
    path = folder / ("x.json" if is_object else "x.jsonl")
    path.write_text(rows, encoding="utf-8")
    return path


def said(item: FirstItem, wanted: dict[str, object]) -> dict[str, object]:
    """What an item says of what is wanted, with the responses in the wanted order."""
    exchanged = (item.output_a, item.output_b) == (wanted["output_b"], wanted["output_a"])
    labels = {name: SWAPPED[label] if exchanged else label for name, label in item.labels.items()}
    people = item.annotators.get("overall_quality", {})
    given = {name: SWAPPED[label] if exchanged else label for name, label in people.items()}
    outputs = [item.output_b, item.output_a] if exchanged else [item.output_a, item.output_b]
    found: dict[str, object] = {
        "instruction": item.instruction,
        "output_a": outputs[0],
        "output_b": outputs[1],
        "label": labels.get("overall_quality", "none"),
        "labels": labels,
        "annotators": given,
    }
    return {name: found[name] for name in wanted}


@pytest.mark.parametrize("known", ALL)
def test_its_rows_are_recognised_and_read(known: Known, tmp_path: Path) -> None:
    report = report_on(written(known, tmp_path))
    assert (report.shape, report.kind) == (known.name, known.kind)
    assert not [*report.questions, *report.skipped]
    assert not [sign for sign in report.signs if sign.strong]
    wanted = [json.loads(line) for line in known.items.strip().splitlines()]
    assert len(wanted) == report.items
    assert [said(item, each) for item, each in zip(report.first, wanted, strict=True)] == wanted


@pytest.mark.parametrize("known", ALL)
def test_it_says_where_it_is_documented(known: Known) -> None:
    assert known.published
    assert known.documentation
    assert known.needs
    assert len(known.rows.strip().splitlines()) >= 2 or "records" in known.columns


@pytest.mark.parametrize("known", OF_PAIRS)
def test_it_is_loaded_as_it_is_reported(known: Known, tmp_path: Path) -> None:
    path = written(known, tmp_path)
    dataset, report = load_dataset(path), report_on(path)
    for item, first in zip(dataset, report.first, strict=True):
        for text in ("instruction", "output_a", "output_b"):
            assert getattr(item, text) == getattr(first, text)
        for name in ELOQUENT.names:
            gold = item.gold.get(name, Gold())
            assert gold.label == (first.labels.get(name) or None)
            assert {**gold.annotators} == {**first.annotators.get(name, {})}


def test_reference_answers_are_read(tmp_path: Path) -> None:
    named = {known.slug: known for known in every_known() if "reference" in known.columns}
    assert list(named) == ["prometheus-feedback-collection", "prometheus-preference-collection"]
    read = [load_dataset(written(known, tmp_path)) for known in named.values()]
    assert [dataset[0].reference for dataset in read] == ["The Vltava flows through Prague."] * 2
    assert all("orig_reference_answer" not in dataset.other_columns for dataset in read)


def test_columns_that_are_read_name_no_further_criteria(tmp_path: Path) -> None:
    (known,) = (known for known in every_known() if known.slug == "helpsteer3-preference")
    dataset = load_dataset(written(known, tmp_path))
    assert criteria_of_columns(dataset.label_names) == ["overall_quality"]
    assert {"domain", "language"} <= {*dataset.label_names}
