"""`annotations`: three annotators on two computers, each with a data folder, exchange annotations."""

import json
import shutil
from copy import copy
from datetime import timedelta
from pathlib import Path

import pytest

from engine.data.dataset import load_dataset
from tests.commands import run_here
from tests.engine.results.laptops import START, Laptop
from tests.judged import BAD, GOOD, A, B

ITEMS = range(1, 21)


class Home:
    """The data folder of a computer, and `annotators` given there."""

    def __init__(self, folder: Path, labelled: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._monkeypatch = folder, monkeypatch
        shutil.copytree(labelled.path.parent, folder / "data")
        self.laptop = copy(labelled)
        self.laptop.path = folder / "data" / labelled.path.name

    def annotators(self, *words: object, code: int = 0) -> str:
        self._monkeypatch.setenv("TIEBREAK_HOME", str(self._folder))
        done = run_here("annotations", *words)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Laptop, Laptop]:
    """Of Ada, and of Ben and Cy, who is blind: 60 labels are stored once, and each test has copies."""
    folder = tmp_path_factory.mktemp("computers")
    desk, away = Laptop(folder / "desk"), Laptop(folder / "away")
    away.at = START + timedelta(hours=1)
    for item in ITEMS:
        desk.label(item, A, "Ada", f"{item} is better.")
        away.label(item, B, "Ben", f"{item} is worse.")
        away.agree(item, A, "Cy", blind=True)
    away.note(7, "unclear", "Cy", "ask")
    return desk, away


@pytest.fixture
def desk(labelled: tuple[Laptop, Laptop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Ada labels here."""
    return Home(tmp_path / "desk", labelled[0], monkeypatch)


@pytest.fixture
def away(labelled: tuple[Laptop, Laptop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Ben and Cy label here, Cy blind."""
    return Home(tmp_path / "away", labelled[1], monkeypatch)


def test_three_people_on_two_computers_say_everything_once(desk: Home, away: Home, tmp_path: Path) -> None:
    file, back = tmp_path / "away.json", tmp_path / "desk.json"
    said = away.annotators("export", 1, "--out", file)
    assert "61 annotations by Ben, Cy on 20 items of run 1." in said  # agreeing and done are two
    assert "question 1" not in file.read_text("utf-8")
    counted = desk.annotators("import", 1, file, "--dry-run")
    assert "20 of 20 items are in this run." in counted
    assert desk.laptop.words == 20
    desk.annotators("import", 1, file)
    assert len(desk.laptop.labels) == 60
    assert "Nothing in this file is new to run 1." in desk.annotators("import", 1, file)
    desk.annotators("export", 1, "--out", back)
    away.annotators("import", 1, back)
    assert desk.laptop.labels == away.laptop.labels
    assert desk.laptop.words == away.laptop.words == 81
    blind = json.loads(back.read_text("utf-8"))["confirmations"]
    assert {(word["author"], word["blind"]) for word in blind} == {("Cy", True)}


def test_items_are_dealt_and_agreement_is_printed(desk: Home, away: Home, tmp_path: Path) -> None:
    data, dealt = tmp_path / "data.json", tmp_path / "dealt"
    texts = {"output_a": "a", "output_b": "b"}
    rows = [{"id": item.id, "instruction": item.instruction, **texts} for item in desk.laptop.data]
    data.write_text(json.dumps(rows))
    names = ("--annotator", "Ada", "--annotator", "Ben")
    said = desk.annotators("assign", data, *names, "--repeats", 4, "--out", dealt)
    assert "Ada.tsv: 0 training items, 0 gold items, 10 other items, 4 hidden repeats." in said
    assert len(load_dataset(dealt / "Ben.tsv")) == 14
    away.annotators("export", 1, "--out", tmp_path / "away.json")
    desk.annotators("import", 1, tmp_path / "away.json")
    said = desk.annotators("agreement", 1, "--dataset", data)
    assert "Inter-annotator agreement" in said
    assert "Accuracy, pace and tiring of each annotator" in said


def test_a_fourth_settles_and_what_he_settled_is_gold(desk: Home, away: Home, tmp_path: Path) -> None:
    names = ("away.json", "data.tsv", "gold.tsv", "all.json")
    file, data, gold, all_said = (tmp_path / name for name in names)
    away.annotators("export", 1, "--out", file)
    desk.annotators("import", 1, file)
    for item in ITEMS:
        desk.laptop.label(item, A if item <= 10 else BAD, "Dora", f"{item} is settled.", settles=True)
    rows = [(item.id, item.instruction, item.output_a, item.output_b) for item in desk.laptop.data]
    lines = map("\t".join, [("id", "instruction", "output_a", "output_b"), *rows])
    data.write_text("\n".join([*lines, ""]), "utf-8")
    of_dora = ("--as-dataset", gold, "--labels-of", "adjudicated")
    made = run_here("runs", "export", 1, "--dataset", data, *of_dora)
    assert "20 of 20 labels are human ones, by Dora." in made.stdout + made.stderr
    adjudicated = load_dataset(gold)
    labels = adjudicated.labels("safety")
    assert labels == {str(item): A if item <= 10 else BAD for item in ITEMS}
    assert adjudicated[0].gold["safety"].annotators == {"Ada": A, "Ben": B, "Cy": A}
    assert adjudicated[0].gold["safety"].explanation == "1 is settled."
    for whose, share in (("judge", 0.5), ("settled", 1.0), ("majority", 0.5), ("Ben", 0.0)):
        scores = tmp_path / f"{whose}.json"
        run_here("evaluate", 1, "--gold", gold, "--labels-of", whose, "--json", scores)
        assert json.loads(scores.read_text("utf-8"))["safety_accuracy"] == 100 * share
    run_here("runs", "export", 1, "--json", all_said)
    said = json.loads(all_said.read_text("utf-8"))["items"][0]["judgments"]["safety"]["people_said"]
    assert sorted(word["author"] for word in said) == ["Ada", "Ben", "Cy", "Dora"]


def test_a_name_on_both_computers_is_asked_about(desk: Home, away: Home, tmp_path: Path) -> None:
    file = tmp_path / "away.json"
    away.laptop.label(1, GOOD, "Ada")
    away.annotators("export", 1, "--out", file, "--annotator", "Ada")
    asked = desk.annotators("import", 1, file, code=2)
    assert 'One person: --same "Ada". Two: --as "Ada=Ada (2)".' in asked
    assert desk.laptop.words == 20
    desk.annotators("import", 1, file, "--as", "Ada=Ada (2)")
    assert desk.laptop.labels["Ada (2)", "1"] == "both_good"
    assert desk.laptop.labels["Ada", "1"] == "A"
    away.laptop.label(2, BAD, "Ada")
    away.annotators("export", 1, "--out", file)
    desk.annotators("import", 1, file)  # nobody is asked again
    assert desk.laptop.labels["Ada (2)", "2"] == "both_bad"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--as", "Ada"], "this is not a pair of names"),
        (["--same", "Dee"], "No file has annotations by Dee"),
        (["--same", "Ben", "--as", "Ben=Cy"], "Ben is named twice"),
    ],
)
def test_answers_that_make_no_sense_are_refused(
    desk: Home, away: Home, tmp_path: Path, options: list[str], said: str
) -> None:
    file = tmp_path / "away.json"
    away.annotators("export", 1, "--out", file)
    assert said in desk.annotators("import", 1, file, *options, code=2)
    assert desk.laptop.words == 20


def test_items_that_the_run_lacks_end_in_exit_code_1(
    away: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "away.json"
    away.annotators("export", 1, "--out", file)
    (tmp_path / "small").mkdir()
    Laptop(tmp_path / "small" / "data", items=19)
    monkeypatch.setenv("TIEBREAK_HOME", str(tmp_path / "small"))
    done = run_here("annotations", "import", 1, file)
    assert done.returncode == 1
    assert "19 of 20 items are in this run; 1 is not in it, refused." in done.stdout
    assert "Not in this run: 20." in done.stdout
