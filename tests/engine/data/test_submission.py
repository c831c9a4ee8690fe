"""Submissions: what is written comes back from plain pandas, and what cannot is refused by name."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import Hint, InputError, SetupError
from engine.core.items import PREFERENCES, Prediction, Preference, Tie, unsafe_explanation, unwritable_ids
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import (
    Submission,
    SubmissionRow,
    check_submission,
    read_submission,
    rewritten_ids,
    write_submission,
)

A, B = Preference.A, Preference.B
TEXTS = st.one_of(
    st.text(
        st.one_of(st.sampled_from('a\n\r\t," é😀\ufeff\u2028'), st.characters(exclude_categories=["Cs"]))
    ),
    st.text("019.eE+-_ \t\ninfatysNTrulFse#/<>", max_size=8),
)
SAFE = TEXTS.filter(lambda text: not unsafe_explanation(text))
MISSING_IN_PANDAS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
NO_PREDICTION = "'tie' is not a prediction: write which tie, both_good or both_bad."
READ_AS_VALUES = ("7", " 7", "7\n", "007", "-1.", ".5", "1e5", "inf", "-Infinity", "True", "FALSE", "true")


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("submissions") / "submission.tsv"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    path = tmp_path / "data.csv"
    path.write_text("id,instruction,output_a,output_b\n" + "".join(f"{n},x,a,b\n" for n in range(15)))
    return load_dataset(path)


@st.composite
def submissions(draw: st.DrawFn) -> Submission:
    criteria = tuple(draw(st.permutations(ELOQUENT.names)))[: draw(st.integers(1, 5))]
    with_explanations = draw(st.booleans())
    prediction = st.builds(
        Prediction,
        st.one_of(st.none(), st.sampled_from(PREFERENCES)),
        st.one_of(st.none(), SAFE) if with_explanations else st.none(),
    )
    numbers = st.lists(st.integers(0, 99).map(str), min_size=1, max_size=4, unique=True)
    texts = st.lists(SAFE, min_size=1, max_size=4, unique=True)
    return Submission(
        rows=tuple(
            SubmissionRow(item_id, {name: draw(prediction) for name in criteria})
            for item_id in draw(st.one_of(numbers, texts))
        ),
        criteria=criteria,
        with_explanations=with_explanations,
    )


def official(*ids: str, explanation: str | None = "because") -> Submission:
    row = dict.fromkeys(ELOQUENT.names, Prediction(A, explanation))
    return Submission(
        tuple(SubmissionRow(item_id, row) for item_id in ids), ELOQUENT.names, explanation is not None
    )


def of_one_explanation(text: str) -> Submission:
    return Submission((SubmissionRow("x", {"safety": Prediction(A, text)}),), ("safety",), True)


def text_or_none(cell: object) -> str | None:
    return None if pd.isna(cell) else str(cell)  # type: ignore[call-overload]


@given(submissions())
def test_plain_pandas_reads_what_was_written(scratch: Path, submission: Submission) -> None:
    write_submission(scratch, submission)
    frame = pd.read_csv(scratch, sep="\t")
    assert tuple(frame.columns) == submission.columns
    assert frame["id"].astype(str).tolist() == [row.id for row in submission.rows]
    for name in submission.criteria:
        predictions = [row.predictions[name] for row in submission.rows]
        labels = [text_or_none(cell) for cell in frame[f"{name}_preference"]]
        assert labels == [prediction.preference for prediction in predictions]
        if submission.with_explanations:
            texts = [text_or_none(cell) for cell in frame[f"{name}_explanation"]]
            assert texts == [prediction.explanation for prediction in predictions]


@given(submissions())
def test_reading_gives_back_what_was_written(scratch: Path, submission: Submission) -> None:
    write_submission(scratch, submission)
    read = read_submission(scratch)
    assert (read.rows, read.criteria) == (submission.rows, submission.criteria)
    assert (read.with_explanations, read.path) == (submission.with_explanations, scratch)


@given(SAFE)
@example("1_000")
@example("NA ")
@example("1e")
@example("\r")
def test_an_explanation_called_safe_survives_alone_in_its_column(scratch: Path, text: str) -> None:
    write_submission(scratch, of_one_explanation(text))
    assert pd.read_csv(scratch, sep="\t")["safety_explanation"].tolist() == [text]


@pytest.mark.parametrize("text", [*MISSING_IN_PANDAS, *READ_AS_VALUES])
def test_an_explanation_called_unsafe_is_lost_even_when_quoted(scratch: Path, text: str) -> None:
    assert unsafe_explanation(text)
    scratch.write_text(f'id\tsafety_explanation\nx\t"{text}"\n', encoding="utf-8")
    assert pd.read_csv(scratch, sep="\t")["safety_explanation"].tolist() != [text]


def test_every_missing_word_of_this_pandas_is_known() -> None:
    from pandas._libs.parsers import STR_NA_VALUES  # type: ignore[import-not-found]

    assert set(STR_NA_VALUES) <= set(MISSING_IN_PANDAS)


@pytest.mark.parametrize("text", ["None", "7.", "x\0", "x\ud800"])
def test_writing_an_unsafe_explanation_names_id_and_column(scratch: Path, text: str) -> None:
    with pytest.raises(SetupError) as caught:
        write_submission(scratch, of_one_explanation(text))
    assert f"safety_explanation of id 'x' ({text!r})" in caught.value.problem


@pytest.mark.parametrize("item_id", ["NA", "x\0", "x\ud800"])
def test_writing_an_id_that_would_be_lost_names_it(scratch: Path, item_id: str) -> None:
    with pytest.raises(SetupError) as caught:
        write_submission(scratch, official(item_id))
    assert caught.value.problem == f"pandas would not read back these ids: {item_id!r}."
    assert str(caught.value.hint) == "Rename these ids in the dataset."


def test_the_ids_that_are_refused_can_be_known_before() -> None:
    ids = ["1", "NA", "007", "x\0", "null", "x\ud800", "none", " "]
    assert unwritable_ids(ids) == ["NA", "x\0", "null", "x\ud800"]


def test_a_refused_submission_leaves_the_old_file(scratch: Path) -> None:
    scratch.write_text("old", encoding="utf-8")
    with pytest.raises(SetupError):
        write_submission(scratch, of_one_explanation("None"))
    assert scratch.read_text(encoding="utf-8") == "old"


def test_an_unscored_prediction_is_an_empty_cell(scratch: Path) -> None:
    predictions = {"safety": Prediction(), "relevance": Prediction(B, 'say "hi"')}
    row = SubmissionRow("7", predictions)
    write_submission(scratch, Submission((row,), ("safety", "relevance"), True))
    assert scratch.read_bytes() == (
        b"id\tsafety_preference\tsafety_explanation\trelevance_preference\trelevance_explanation\n"
        b'7\t\t\tB\t"say ""hi"""\n'
    )


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ("safety_preference\nA\n", ["no column 'id'. Columns found: 'safety_preference'."]),
        ("id\tlabel\n1\tA\n", ["no column names a criterion (such as 'relevance_preference')."]),
        (
            "id\tsafety_explanation\tsafety_preference\n1\tx\tA\n",
            [
                "the columns are id, safety_explanation, safety_preference; "
                "in a submission they are id, safety_preference, safety_explanation."
            ],
        ),
        (
            "id\tsafety_preference\tsafety_preference\n1\tA\tA\n",
            ["column 'safety_preference' occurs 2 times."],
        ),
        (
            "id\tsafety_preference\n\tA\n1\ta\n1\tB\n2\n3\tAB\n",
            [
                "line 2, id: the id is empty.",
                "line 3, safety_preference: unknown label 'a'; the nearest is 'A'.",
                "line 4, id: id '1' is already used by line 3.",
                "line 5: cells found: 1; the header has 2.",
                "line 6, safety_preference: unknown label 'AB'; labels are A, B, both_good, both_bad.",
            ],
        ),
        ("id\tsafety_preference\n", ["has no rows."]),
        ("id\tsafety_preference\n1\ttie\n", [f"line 2, safety_preference: {NO_PREDICTION}"]),
    ],
)
def test_all_problems_of_a_submission_are_told_at_once(scratch: Path, data: str, problems: list[str]) -> None:
    scratch.write_text(data, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_submission(scratch)
    assert list(caught.value.problems) == problems


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("x.json", '[{"id": 1, "safety_preference": "A"}]', "is JSON"),
        ("x.jsonl", '{"id": 1, "safety_preference": "A"}', "is JSON Lines"),
        ("x.csv", "id,safety_preference\n1,A\n", "is CSV"),
    ],
)
def test_a_submission_is_tsv_and_nothing_else(tmp_path: Path, name: str, data: str, found: str) -> None:
    (tmp_path / name).write_text(data)
    with pytest.raises(InputError, match=f"{found}; a submission is TSV"):
        read_submission(tmp_path / name)


@pytest.mark.parametrize("suffix", ["tsv", "csv"])
def test_a_dataset_is_told_from_a_submission(dataset: Dataset, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    dataset.table.to_pandas().to_csv(path, sep="\t" if suffix == "tsv" else ",", index=False)
    with pytest.raises(InputError, match="is a dataset of pairs, not a submission") as caught:
        read_submission(path)
    assert len(caught.value.problems) == 1
    assert isinstance(caught.value.hint, Hint)
    assert OPTIONS.of(caught.value.hint).endswith("they may be swapped.")


@pytest.mark.parametrize("explanation", ["because", None])
def test_a_complete_submission_has_no_problems(dataset: Dataset, explanation: str | None) -> None:
    assert check_submission(official(*dataset.ids, explanation=explanation), dataset) == []


def test_a_submission_with_the_ids_of_the_dataset_is_complete_whatever_they_look_like(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    path.write_text("id\tinstruction\toutput_a\toutput_b\n007\tx\ta\tb\n1e5\ty\ta\tb\n")
    dataset = load_dataset(path)
    write_submission(tmp_path / "x.tsv", official(*dataset.ids))
    assert check_submission(read_submission(tmp_path / "x.tsv"), dataset) == []


@pytest.mark.parametrize(
    ("ids", "problems"),
    [
        (["0", "1", "3"], ["ids missing (1 of 4): 2."]),
        (["0", "1", "2", "3", "x", "\x1b"], ["ids that are not in the dataset (2): x, '\\x1b'."]),
        (["0", "1", "2", "3", "3"], ["ids that occur more than once (1): 3."]),
        (["0", "1", "2", "03"], ["ids missing (1 of 4): 3.", "ids that are not in the dataset (1): 03."]),
    ],
)
def test_ids_are_checked_against_the_dataset(dataset: Dataset, ids: list[str], problems: list[str]) -> None:
    assert check_submission(official(*ids), dataset.head(4)) == problems


def test_of_many_ids_ten_are_named_and_the_rest_counted(dataset: Dataset) -> None:
    assert check_submission(official("0"), dataset) == [
        "ids missing (14 of 15): 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 4 more."
    ]


def test_empty_cells_are_named_by_column_and_id(dataset: Dataset) -> None:
    full = dict.fromkeys(ELOQUENT.names, Prediction(A, "because"))
    rows = (
        SubmissionRow("0", full | {"safety": Prediction()}),
        SubmissionRow("1", full | {"safety": Prediction(B, "")}),
    )
    assert check_submission(Submission(rows, ELOQUENT.names, True), dataset.head(2)) == [
        "empty cells in safety_preference (1): ids 0.",
        "empty cells in safety_explanation (2): ids 0, 1.",
    ]


def test_a_part_of_the_criteria_is_told_to_be_incomplete(dataset: Dataset) -> None:
    row = SubmissionRow("0", {"safety": Prediction(A), "tone": Prediction(A), "relevance": Prediction(A)})
    assert check_submission(Submission((row,), ("safety", "tone", "relevance"), False), dataset.head(1)) == [
        "official columns are missing: naturalness_preference, truthfulness_preference, "
        "overall_quality_preference.",
        "columns are not official: tone_preference.",
        "columns are out of order; the official order is id, relevance_preference, "
        "naturalness_preference, truthfulness_preference, safety_preference, overall_quality_preference.",
    ]


@pytest.mark.parametrize("subtask", ["first", "second"])
def test_an_official_sample_is_clean_and_written_again_byte_for_byte(
    shared_data: Path, scratch: Path, subtask: str
) -> None:
    sample = shared_data / "eloquent" / f"{subtask}_subtask_sample_submission.tsv"
    submission = read_submission(sample)
    assert submission.criteria == ELOQUENT.names
    assert submission.with_explanations is (subtask == "second")
    assert check_submission(submission, load_dataset(shared_data / "eloquent" / "validation.tsv")) == []
    write_submission(scratch, submission)
    assert scratch.read_bytes() == sample.read_bytes()


def test_a_tie_of_which_nothing_more_is_said_is_not_written(tmp_path: Path) -> None:
    row = SubmissionRow("1", {"safety": Prediction(Tie.TIE)})
    with pytest.raises(SetupError, match="safety_preference of id '1': 'tie' is not a prediction"):
        write_submission(tmp_path / "out.tsv", Submission((row,), ("safety",), with_explanations=False))


# Ids that pandas gives back otherwise


@pytest.mark.parametrize(
    ("ids", "rewritten"),
    [
        (["007", "8", "1.0"], ["007", "8"]),
        (["007", "8", "x"], []),
        (["007", "8", "NA"], ["007"]),
        (["true", "False"], ["true"]),
        ([" ", "x"], []),
        ([], []),
        (["NA", "x\ud800"], []),
    ],
)
def test_ids_that_plain_pandas_gives_back_otherwise_are_known(ids: list[str], rewritten: list[str]) -> None:
    assert rewritten_ids(ids) == rewritten


def test_a_long_column_of_ids_is_read_as_one() -> None:
    assert rewritten_ids(["007", *map(str, range(300_000)), "x"]) == []
