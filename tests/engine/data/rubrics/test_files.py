"""Rubrics in TOML files: read with all that is wrong in them, written so that they come back."""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import InputError, SetupError
from engine.core.rubric import ELOQUENT, LONGEST_TEXT, Criterion, PromptWording, Rubric
from engine.data.rubrics import files

Save = Callable[[str, bytes], Path]

WHOLE = b"""
name = "manners"
source = "somewhere"
tie_threshold = 1

[[criteria]]
name = "politeness"
question = "Which response is more polite?"
good = "It thanks."
bad = "It insults."
weight = 2

[[criteria]]
name = "brevity"
question = "Which response is shorter?"

[wording]
yes = "ja"
no = "nein"
"""

MANNERS = Rubric(
    "manners",
    (
        Criterion("politeness", "Which response is more polite?", 2.0, "It thanks.", "It insults."),
        Criterion("brevity", "Which response is shorter?"),
    ),
    1.0,
    "somewhere",
    PromptWording(yes="ja", no="nein"),
)


def refused(path: Path) -> str:
    """What is said of a file that is no rubric."""
    with pytest.raises(SetupError) as error:
        files.load_rubric(path)
    return error.value.problem


def test_a_file_gives_the_rubric(save: Save) -> None:
    assert files.load_rubric(save("manners.toml", WHOLE)) == MANNERS


def test_marks_of_utf8_and_line_breaks_of_windows_change_nothing(save: Save) -> None:
    data = b"\xef\xbb\xbf" + WHOLE.replace(b"\n", b"\r\n")
    assert files.load_rubric(save("manners.toml", data)) == MANNERS


def test_all_that_is_wrong_is_said_at_once_with_its_place(save: Save) -> None:
    text = """nam = "x"
tie_threshold = "half"
[[criteria]]
name = "on topic"
questoin = "Which?"
[[criteria]]
name = "Order"
question = 3
weight = -1
[[criteria]]
name = "order"
question = " "
colour = 1979-05-27
[wording]
system = "Compare."
yes = "no"
"""
    problem = refused(save("x.toml", text.encode()))
    assert problem.splitlines() == [
        "x.toml: 13 problems.",
        '  "nam": not known. The nearest is "name".',
        "  \"tie_threshold\": the text 'half'. Write a number, such as 1.0.",
        '  "name": missing. Add name = "…".',
        '  criteria 1, "questoin": not known. The nearest is "question".',
        '  criteria 1, "question": missing. Add question = "Which response …?".',
        "  criteria 1, \"name\": 'on topic' cannot be part of a column name."
        " Use letters, digits and underscores, no digit first.",
        '  criteria 2, "question": a number. Write a text in quotes.',
        '  criteria 2, "weight": -1 is negative or not a number. Use 0 or a positive number.',
        '  criteria 3, "colour": not known. Known are name, question, good, bad, weight.',
        '  criteria 3, "question": is empty. Write a text.',
        "  \"criteria\": name 'order' twice (case is ignored). Name each once.",
        '  wording, "system": needs {letters}, each once; it has none.'
        " Write each mark once, where the program fills in its text.",
        '  wording, "yes, no": are not all different. Give each a different text.',
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'name = "x"\nquestion\n', "line 2, column 9: not valid TOML: expected '=' after a key"),
        (b'name = "x"\n[[criteria]]\nname = "\n', "line 3, column 9: not valid TOML: illegal character"),
        (b"name = [", "at its end: not valid TOML: invalid value."),
        (b'name = "x"\nname = "y"\n', "line 2, column 11: not valid TOML: cannot overwrite a value."),
        (b'name = "a"\nsource = "\xe4"\n', "line 2: the byte 0xe4 is not UTF-8."),
        (b"name = [" * 5000, "line 1, column 9: not valid TOML: invalid value."),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"a = " + b"9" * 5000, "is not valid TOML: Exceeds the limit"),
        (b".".join([b"a"] * 500_000) + b" = 1", "has a key of more than 100 parts."),
        (b"x={" + b".".join([b'"a b"'] * 150_000) + b" = 1}", "has a key of more than 100 parts."),
        (b"id\tinstruction\toutput_a\toutput_b\n", "looks like a table, not a rubric."),
        (b'name = "x"\ncriteria = []\n', '"criteria": are missing. Choose at least one.'),
        (b'name = "x"\ncriteria = "y"\n', "\"criteria\": the text 'y'. Begin each criterion with a line"),
        (b"name = 07:32:00\ncriteria = []\nwording = true\n", '"wording": yes or no. Begin it with a line'),
        (b"", "is empty."),
        (b"PK\x03\x04", "is a ZIP archive"),
        (b"x" * (files.MOST_BYTES_OF_RUBRIC + 1), "has 1 MiB; at most 1 MiB are read."),
    ],
)
def test_what_is_no_rubric_is_refused_at_its_place(save: Save, text: bytes, said: str) -> None:
    assert said in refused(save("x.toml", text))


@pytest.mark.parametrize("name", ["x.tsv", "x.parquet", "x.jsonl", "X.CSV"])
def test_a_dataset_by_mistake_is_known_by_its_name(save: Save, name: str) -> None:
    assert "is a table by its name" in refused(save(name, WHOLE))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "gone.toml")
    assert "is a folder" in refused(tmp_path)


@pytest.mark.parametrize(
    "criterion",
    [
        Criterion("höflichkeit", "Welche Antwort ist höflicher?", good="„Bitte“"),
        Criterion("禮貌", "哪個回答更有禮貌\uff1f"),
        Criterion("a" * 255, 'Quotes "" and """ and \\ and \\n at the end"', bad='ends with """'),
        Criterion("lines", "\nfirst\n\n  second\\\nthird\n", weight=1e-9, good="'''", bad="#no comment"),
        Criterion("dots", "." * 2000 + "\n" + "=" * 1000, weight=1e300),
    ],
)
def test_any_rubric_comes_back(tmp_path: Path, criterion: Criterion) -> None:
    rubric = Rubric("ein Name", (criterion,), 0.25, 'von "hier"\nund da', PromptWording(now="Jetzt"))
    path = tmp_path / "x.toml"
    files.save_rubric(path, rubric)
    assert files.load_rubric(path) == rubric
    files.save_rubric(path, ELOQUENT)
    files.save_rubric(path, rubric)
    assert files.load_rubric(path) == rubric


TEXTS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S"), include_characters=" \n"),
    min_size=1,
    max_size=60,
).filter(lambda text: bool(text.strip()))


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_no_text_breaks_the_file(question: str, good: str) -> None:
    rubric = Rubric("x", (Criterion("y", question, good=good),))
    assert tomllib.loads(files.rubric_text(rubric))["criteria"] == [
        {"name": "y", "question": question, "good": good, "weight": 1.0}
    ]


BY_HAND = """\
# Ours, since spring.
tie_threshold = 0.50  # half a point
name = 'manners'

# The first question.
[[criteria]]
weight = 2  # counts twice
name = "politeness"
question = '''Which response is more polite?'''

# The second.
[[criteria]]
name = "brevity"
question = "Which response is shorter?"   # in letters

[wording]  # German
yes = "ja"
no = "nein"
"""


def test_what_a_person_wrote_stays(save: Save) -> None:
    path = save("x.toml", BY_HAND.encode())
    rubric = files.load_rubric(path)
    files.save_rubric(path, rubric)
    assert path.read_text("utf-8") == BY_HAND
    polite, brief = rubric.criteria
    files.save_rubric(
        path, replace(rubric, criteria=(replace(polite, weight=3.0), replace(brief, good="Short.")))
    )
    lines = path.read_text("utf-8").splitlines()
    assert {"weight = 3.0  # counts twice", 'good = "Short."'} <= set(lines) or "# counts twice" in "".join(
        lines
    )
    assert 'question = "Which response is shorter?"   # in letters' in lines
    assert "[wording]  # German" in lines


def test_criteria_are_renamed_moved_added_and_removed_in_the_file(save: Save) -> None:
    path = save("x.toml", BY_HAND.encode())
    rubric = files.load_rubric(path)
    polite, brief = rubric.criteria
    for criteria in (
        (replace(polite, name="courtesy"), brief),
        (brief, replace(polite, name="courtesy")),
        (Criterion("order", "Which is better ordered?"), brief),
        (brief,),
        (brief, polite, Criterion("order", "Which is better ordered?")),
    ):
        changed = replace(rubric, criteria=criteria)
        files.save_rubric(path, changed)
        assert files.load_rubric(path) == changed
        assert "# Ours, since spring." in path.read_text("utf-8")


def test_a_renamed_criterion_keeps_its_comment(save: Save) -> None:
    path = save("x.toml", BY_HAND.encode())
    rubric = files.load_rubric(path)
    polite, brief = rubric.criteria
    files.save_rubric(path, replace(rubric, criteria=(replace(polite, name="courtesy"), brief)))
    assert "weight = 2  # counts twice\nname = \"courtesy\"\nquestion = '''Which" in path.read_text("utf-8")


def test_criteria_in_one_line_are_written_anew(save: Save) -> None:
    path = save("x.toml", b'name = "x"\ncriteria = [{name = "a", question = "Which?"}]\n')
    rubric = replace(files.load_rubric(path), name="y")
    files.save_rubric(path, rubric)
    assert files.load_rubric(path) == rubric


def test_line_breaks_of_windows_stay(save: Save) -> None:
    path = save("x.toml", BY_HAND.replace("\n", "\r\n").encode())
    rubric = files.load_rubric(path)
    files.save_rubric(path, replace(rubric, criteria=(*rubric.criteria, Criterion("order", "Two\nlines?"))))
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    assert files.load_rubric(path).criteria[-1].question == "Two\nlines?"


@pytest.mark.parametrize("data", [b"my notes\n", b"id\tinstruction\n", b"\xff\xfe\x00"])
def test_what_is_no_toml_is_not_overwritten(save: Save, data: bytes) -> None:
    path = save("notes.txt", data)
    with pytest.raises(InputError):
        files.save_rubric(path, MANNERS)
    assert path.read_bytes() == data


def test_a_wording_as_usual_is_not_written() -> None:
    assert "[wording]" not in files.rubric_text(ELOQUENT)
    assert files.rubric_text(MANNERS).count("ja") == 1


def test_the_longest_rubric_can_be_read(tmp_path: Path) -> None:
    long = "禮" * LONGEST_TEXT
    criteria = tuple(Criterion(f"c{number}", long, 1.0, long, long) for number in range(24))
    rubric = Rubric("long", criteria)
    files.save_rubric(tmp_path / "x.toml", rubric)
    assert files.load_rubric(tmp_path / "x.toml") == rubric


@pytest.mark.parametrize("rubric", files.shipped_rubrics(), ids=lambda rubric: rubric.name)
def test_the_shipped_ones_come_back(tmp_path: Path, rubric: Rubric) -> None:
    files.save_rubric(tmp_path / "x.toml", rubric)
    assert files.load_rubric(tmp_path / "x.toml") == rubric
