"""Three people on two laptops label, a fourth settles, and the gold is opened: without a mouse."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.data.dataset import load_dataset
from tests.gui.review.three_people import Desk, Labels, MouseSeen

CRITERIA = ("relevance", "safety")
ITEMS = 20
ALL = tuple(Preference)


def turned(label: Preference, by: int = 1) -> Preference:
    """Another label."""
    return ALL[(ALL.index(label) + by) % len(ALL)]


def said(judged: Labels, every: int, of: str, by: int = 1) -> Labels:
    """What a person says who differs from the judge on some items of a criterion."""
    return {
        key: turned(label, by) if key.criterion == of and int(key.item_id) % every == 0 else label
        for key, label in judged.items()
    }


JUDGED = {
    JudgmentKey(str(item), criterion): ALL[item * (at + 1) % 4]
    for item in range(1, ITEMS + 1)
    for at, criterion in enumerate(CRITERIA)
}
ADA, BEN = said(JUDGED, 3, "relevance"), said(JUDGED, 4, "safety", by=2)
CLEO = said(said(JUDGED, 5, "relevance", by=3), 4, "safety", by=2)
DORA = {  # three people say three labels of the first; of the second she knows better than most
    JudgmentKey("15", "relevance"): Preference.A,
    JudgmentKey("4", "safety"): JUDGED[JudgmentKey("4", "safety")],
}
WHY = {"Ada": {"3": "Ada says why."}, "Ben": {"4": "Ben says why."}, "Cleo": {"5": "Cleo says why."}}


def load_gold(path: Path) -> Labels:
    """The labels of a dataset that was exported."""
    made = load_dataset(path)
    return {
        JudgmentKey(item, name): Preference(label)
        for name in CRITERIA
        for item, label in made.labels(name).items()
    }


@pytest.fixture
def mouse(qapp: QApplication) -> Iterator[MouseSeen]:
    made = MouseSeen(qapp)
    yield made
    qapp.removeEventFilter(made)


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Desk]]:
    """Opens the window of a laptop, by its name."""
    made: list[Desk] = []

    def laptop(name: str) -> Desk:
        monkeypatch.setenv("TIEBREAK_HOME", str(tmp_path / name))
        for before in made:
            before.end()
        made[:] = [Desk(tmp_path / name, monkeypatch, look)]
        return made[-1]

    yield laptop
    for each in made:
        each.end()


def look(moment: str, desk: Desk) -> None:
    """Keep a picture, where a folder is named for them."""
    if folder := os.environ.get("TIEBREAK_TEST_PICTURES"):
        (QApplication.activeModalWidget() or desk.frame).grab().save(str(Path(folder) / f"{moment}.png"))


@pytest.fixture
def files(demo_gold: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A dataset without labels, and a submission that answers it."""
    data, submission = tmp_path / "pairs.tsv", tmp_path / "judge.tsv"
    rows = [line.split("\t")[:4] for line in demo_gold.read_text("utf-8").split("\n")[: ITEMS + 1]]
    data.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    lines = [["id", *(f"{name}_preference" for name in CRITERIA)]]
    lines += [[row[0], *(JUDGED[JudgmentKey(row[0], name)] for name in CRITERIA)] for row in rows[1:]]
    submission.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8")
    return data, submission


@pytest.mark.models
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="there is no xvfb-run")
def test_the_same_on_a_real_screen() -> None:
    test = f"{__file__}::{test_three_people_label_a_fourth_settles_and_what_they_said_is_gold.__name__}"
    screen = ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 1280x720x24"]
    ran = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", "-m", "models", "-rP", test]
    done = subprocess.run(
        [*screen, *ran],
        env=os.environ | {"QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.models
def test_three_people_label_a_fourth_settles_and_what_they_said_is_gold(
    laptop: Callable[[str], Desk], mouse: MouseSeen, files: tuple[Path, Path], tmp_path: Path
) -> None:
    away = laptop("away")
    away.open(*files)
    away.seen("opened")
    away.sit_down("Cleo")
    away.label(CLEO, WHY["Cleo"])
    away.export_words(tmp_path / "cleo.json")
    away.seen("handed-over")
    desk = laptop("desk")
    desk.open(*files)
    desk.sit_down("Ada")
    desk.label(ADA, WHY["Ada"])
    desk.sit_down("Ben")
    desk.label(BEN, WHY["Ben"], blind=True)
    desk.add_words(tmp_path / "cleo.json")
    desk.seen("adding")
    desk.press("Return")
    desk.wait(lambda: "Cleo" in desk.reviews.annotators)
    desk.seen("added")
    dialog = desk.add_words(tmp_path / "cleo.json")
    desk.seen("nothing-new")
    assert not dialog.add.isEnabled()
    desk.press("Esc")
    desk.sit_down("Dora")
    desk.adjudicate(DORA)
    desk.seen("settled")
    desk.export("J", tmp_path / "all.json")
    desk.export("C", tmp_path / "all.csv")
    desk.export("D", tmp_path / "gold.tsv")
    desk.seen("exported")
    desk.open_dataset(tmp_path / "gold.tsv")
    desk.seen("gold")
    desk.open_submission(files[1])
    measured = desk.measured_alone().labels
    assert mouse.events == []
    annotators = {"Ada": ADA, "Ben": BEN, "Cleo": CLEO}
    gold = load_gold(tmp_path / "gold.tsv")
    for key, label in gold.items():
        given = {labels[key] for labels in annotators.values()}
        wanted = DORA.get(key) or Counter(labels[key] for labels in annotators.values()).most_common(1)[0][0]
        assert label is wanted, (key, given)
    for name in CRITERIA:
        right = [JUDGED[key] is label for key, label in gold.items() if key.criterion == name]
        assert measured[name].accuracy == pytest.approx(sum(right) / len(right))
        assert 0 < sum(right) < len(right)
    written = json.loads((tmp_path / "all.json").read_text("utf-8"))["items"]
    for item in written:
        for criterion in CRITERIA:
            words = item["judgments"][criterion]["people_said"]
            assert len({json.dumps(word, sort_keys=True) for word in words}) == len(words)
            labelled = [word for word in words if word["author"] in annotators and word["preference"]]
            found = {word["author"]: word["preference"] for word in labelled}
            key = JudgmentKey(item["id"], criterion)
            assert found == {name: labels[key] for name, labels in annotators.items()}
