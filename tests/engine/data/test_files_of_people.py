"""Files as people have them, in the shapes of published datasets and exports: read right, or asked about."""

from pathlib import Path

import pytest

from engine.data.reading import report_on


@pytest.fixture
def folder(shared_data: Path) -> Path:
    """Where the files are; a test is skipped where they are not."""
    found = shared_data.parent / "cases" / "read"
    if not found.is_dir():
        pytest.skip(f"there is no folder {found}")
    return found


READ = {
    "ahv_labels2.csv": "A B tie A",
    "alpaca_012.json": "A tie B B",
    "alpaca_annotations.json": "A tie B tie",
    "argilla.parquet": "A B",
    "argilla_flat.json": "A B",
    "argilla_ragged.parquet": "A B",
    "classlabel.parquet": "A both_good",
    "excel_eu_cp1252.csv": "A B",
    "excel_eu_utf8bom.csv": "A B",
    "excel_tab_cp1252.tsv": "A B",
    "excel_utf16.tsv": "A B",
    "helpsteer2_preference.jsonl": "A B",
    "helpsteer3.jsonl": "A B",
    "helpsteer3_two.jsonl": "A B",
    "hf_rows.json": "A B",
    "kaggle_surrogate.csv": "A B",
    "label_studio_min.json": "A B",
    "labels_names.csv": "A B",
    "labels_response1.csv": "A B both_good",
    "labelstudio.json": "A B",
    "llm_comparator.json": "A B tie B",
    "multipref.jsonl": "A B",
    "pku_long.jsonl": "A B",
    "pku_saferlhf.jsonl": "A B",
    "prism_utterances.jsonl": "A B",
    "prometheus_pref.json": "A B",
    "summarize_feedback.jsonl": "A B",
    "webgpt.jsonl": "A B",
}
"""The first labels of overall quality, of files that are read without a question."""


@pytest.mark.parametrize("name", sorted(READ))
def test_it_is_read_right(name: str, folder: Path) -> None:
    report = report_on(folder / name)
    wanted = READ[name].split()
    assert report.is_certain
    assert [item.labels.get("overall_quality", "") for item in report.first][: len(wanted)] == wanted
    assert all(item.instruction.strip() and item.output_a.strip() for item in report.first[:2])


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("labels_likert5.csv", "preference"),
        ("labels_likert7.csv", "preference"),
        ("labels_mixed.csv", "winner"),
    ],
)
def test_it_is_asked_about(name: str, column: str, folder: Path) -> None:
    report = report_on(folder / name)
    assert [question.column for question in report.questions] == [column]


@pytest.mark.parametrize("name", ["mtbench_human_multi.parquet", "mturk_batch.csv", "labelstudio_min.csv"])
def test_a_row_for_each_annotation_becomes_an_item_with_its_annotators(name: str, folder: Path) -> None:
    report = report_on(folder / name)
    assert report.items == 8
    assert all(len(item.annotators["overall_quality"]) > 1 for item in report.first)


@pytest.mark.parametrize("name", ["trl_explicit.jsonl", "trl_text_prompt.jsonl", "system_role.jsonl"])
def test_what_was_asked_is_never_empty(name: str, folder: Path) -> None:
    report = report_on(folder / name)
    assert report.is_certain
    assert all("Name a river that crosses Vienna." in item.instruction for item in report.first[:1])


@pytest.mark.parametrize("name", ["arena140k_image.parquet", "arena_image_late.parquet"])
def test_a_picture_is_named(name: str, folder: Path) -> None:
    assert "picture" in [sign.kind.value for sign in report_on(folder / name).signs]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("arena_hard_judgment.jsonl", "verdicts"),
        ("mtbench_pair_judgment.jsonl", "verdicts"),
        ("samples_lmeval.jsonl", "outputs"),
        ("panel_0.tsv", "submission"),
        ("thai_sub.tsv", "submission"),
    ],
)
def test_what_holds_no_pairs_is_called_what_it_is(name: str, kind: str, folder: Path) -> None:
    assert report_on(folder / name).kind == kind


def test_every_pair_of_alternatives_is_read(folder: Path) -> None:
    report = report_on(folder / "reward_bench_2.parquet")
    assert (report.is_certain, report.items) == (True, 24)
