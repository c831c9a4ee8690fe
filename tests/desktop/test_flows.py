"""What people do with the program from the first start to the file that they hand in, by keys and mouse: what
comes out is read from the files that the program wrote, the window is compared with stored pictures.
"""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

from engine.core.items import HumanLabel, Preference
from engine.data.dataset import load_dataset
from engine.data.submission import Submission, check_submission, read_submission
from engine.store.run_store import RunStore
from tests.desktop.desk import PATIENCE, ROOT, Desk, wait_for
from tests.desktop.hands import BANNER, BUTTON, MAIN_BUTTON, MARK_OF_A, Hands, patches
from tests.desktop.loose_pictures import LoosePictures


def test_the_window_is_seen_and_closed_by_its_key(a_desk: Desk, tmp_path: Path) -> None:
    empty = a_desk.picture()
    with a_desk.program(home=tmp_path) as program:
        number = a_desk.window()
        active = ("xdotool", "getactivewindow")  # which fails as long as none is
        wait_for(lambda: a_desk.tool(*active, may_fail=True).strip() == number, "the focus")
        wait_for(lambda: a_desk.picture() != empty, "a picture of it")
        a_desk.press("ctrl+q")
        assert program.wait(timeout=PATIENCE) == 0


EXAMPLES = ROOT / "examples"
ITEMS = 6
AUTHOR, WORDS = "Ada", "Neither names the right country."

_TABS_TO_VALUES = 13


def test_a_first_study_from_the_first_start_to_both_files(
    a_desk: Desk, tmp_path: Path, pictures: LoosePictures
) -> None:
    hands = Hands(a_desk)
    with a_desk.program(home=tmp_path) as program:
        a_desk.window("demo.tsv")
        pictures.hold("judge-first", hands.rest())
        _judge_the_first(hands, tmp_path, ITEMS)
        pictures.hold("judge-done", hands.rest())
        pictures.hold("dataset", hands.keys("ctrl+1"))
        # The first measure of explanations loads ROUGE, 2 to 5 s in which nothing on the page moves.
        pictures.hold("results", hands.keys("ctrl+3"), hands.rest)
        pictures.hold("review", hands.keys("ctrl+4"))
        _override(hands)
        pictures.hold("review-overridden", hands.rest())
        labels = _exported(hands, "ctrl+e", tmp_path / "labels.tsv")
        explained = _exported(hands, "ctrl+shift+e", tmp_path / "explained.tsv")
        hands.keys("F8")
        hands.keys("Escape")  # the notice that says where they are
        pictures.hold("compare", hands.keys("ctrl+5"))
        for key in ("alt+v", "t", "d"):  # View > Theme > Dark
            hands.keys(key)
        pictures.hold("results-dark", hands.keys("ctrl+3"))
        a_desk.press("ctrl+q")
        assert program.wait(timeout=PATIENCE) == 0
    own = [cell for row in explained.rows for cell in row.predictions.values() if cell.explanation == WORDS]
    assert [cell.preference for cell in own] == [Preference.A]
    assert not labels.with_explanations
    assert _labels(labels) == _labels(explained)
    first = load_dataset(EXAMPLES / "demo.tsv").head(ITEMS)
    assert check_submission(explained, first) == check_submission(labels, first) == []


def test_a_killed_run_goes_on_by_the_banner_and_gives_what_an_unbroken_one_gives(
    a_desk: Desk, tmp_path: Path
) -> None:
    hands = Hands(a_desk)
    dataset = _first_of("demo.tsv", 30, tmp_path)
    with a_desk.program(str(dataset), home=tmp_path) as program:
        a_desk.window(dataset.name)
        hands.rest()
        a_desk.press("ctrl+r")
        a_desk.window("^[2-9][0-9] %")
        program.kill()
        program.wait()
    with RunStore(tmp_path / "data" / "runs.sqlite") as store:
        (run,) = store.runs()
    assert 0 < run.judged < 30
    with a_desk.program(home=tmp_path):
        a_desk.window(dataset.name)
        banner = patches(hands.rest(), *BANNER)[0]
        hands.click(BUTTON, inside=banner)
        hands.judged(tmp_path, 30)
        assert not patches(a_desk.picture(), *BANNER)
        _exported(hands, "ctrl+shift+e", tmp_path / "resumed.tsv")
    unbroken = tmp_path / "unbroken.tsv"
    other = tmp_path / "other"
    other.mkdir()
    _command(other, "judge", str(dataset), "--model", "demo", "--out", str(unbroken))
    assert (tmp_path / "resumed.tsv").read_bytes() == unbroken.read_bytes()


def test_a_file_with_columns_of_its_own_is_understood_judged_and_exported(
    a_desk: Desk, tmp_path: Path, pictures: LoosePictures
) -> None:
    hands = Hands(a_desk)
    own, winners = _foreign_file(tmp_path)
    with a_desk.program(home=tmp_path):
        a_desk.window("demo.tsv")
        hands.keys("ctrl+o")
        hands.name_file("Open", own)
        a_desk.window("Columns of")
        pictures.hold("columns", hands.rest())
        # From the instruction to the first value, B, and to the second, both good.
        hands.keys(*["Tab"] * _TABS_TO_VALUES, "Down", "Down", "Tab", "Down", "Down", "Down")
        pictures.hold("columns-chosen", hands.rest())
        hands.keys("alt+o")
        a_desk.window("own.csv - Tiebreak")
        pictures.hold("dataset-own", hands.rest())
        hands.keys("ctrl+2")
        hands.click(MAIN_BUTTON)
        hands.judged(tmp_path, len(winners))
        submission = _exported(hands, "ctrl+e", tmp_path / "labels.tsv")
    assert [row.id for row in submission.rows] == [str(number) for number in range(1, len(winners) + 1)]
    said = _command(tmp_path, "check", str(own)).split()  # the columns are remembered for all commands
    assert said[-5:-1] == ["0", str(winners.count("2")), str(winners.count("3")), "0"]


def test_candidates_are_judged_and_ranked(a_desk: Desk, tmp_path: Path, pictures: LoosePictures) -> None:
    hands, written = Hands(a_desk), tmp_path / "ranking.json"
    dataset = _first_of("demo-candidates.tsv", 24, tmp_path)
    with a_desk.program(str(dataset), home=tmp_path):
        a_desk.window(dataset.name)
        hands.rest()
        hands.click(MAIN_BUTTON)
        hands.judged(tmp_path, 24)
        pictures.hold("ranking", hands.keys("ctrl+6"), hands.rest)
        hands.keys("alt+s")
        hands.name_file("Save", written)
        wait_for(written.exists, "the ranking")
    ranking = json.loads(written.read_text(encoding="utf-8"))
    assert ranking["ranked"] == "run 1, overall quality"
    assert {each["name"] for each in ranking["candidates"]} == {"alder", "hazel", "maple", "rowan"}
    rates = [each["win_rate"] for each in ranking["candidates"]]
    assert rates == sorted(rates, reverse=True)


def _judge_the_first(hands: Hands, home: Path, items: int) -> None:
    """Choose on the page Judge that only the first items are judged, and press Run."""
    # Past the head, Run, the queue and the part that scrolls to the items, and on to their number.
    hands.keys(*["Tab"] * 8, "Down", "Tab")
    hands.desk.press("ctrl+a")
    hands.desk.type(str(items))
    hands.rest()
    hands.click(MAIN_BUTTON)
    hands.judged(home, items)


def _override(hands: Hands) -> None:
    """Give the most doubtful judgment label A, with words of one's own, and confirm the item."""
    hands.click(MARK_OF_A, which=-1)
    hands.desk.window("Who is annotating")
    hands.rest()
    hands.desk.press("ctrl+a")
    hands.desk.type(AUTHOR)
    hands.keys("Return")
    hands.keys("e")
    hands.desk.press("ctrl+a")
    hands.desk.type(WORDS)
    hands.keys("ctrl+Return")
    hands.keys("Return")


def _exported(hands: Hands, keys: str, path: Path) -> Submission:
    """Export the open run through the dialog for files; what was written."""
    hands.desk.press(keys)
    hands.desk.window("Export run")
    hands.keys("alt+b")
    hands.name_file("Export run", path)
    hands.keys("Return")
    wait_for(path.exists, f"{path.name}")
    hands.rest()
    return read_submission(path)


def _labels(submission: Submission) -> list[tuple[str, list[HumanLabel | None]]]:
    return [(row.id, [cell.preference for cell in row.predictions.values()]) for row in submission.rows]


def _first_of(example: str, items: int, folder: Path) -> Path:
    lines = (EXAMPLES / example).read_bytes().splitlines(keepends=True)
    path = folder / f"first-{example}"
    path.write_bytes(b"".join(lines[: items + 1]))
    return path


def _foreign_file(folder: Path) -> tuple[Path, list[str]]:
    """Items of the demo under other names, with numbers for labels; the file, and these."""
    path, winners = folder / "own.csv", []
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "first", "second", "winner"])
        for item in load_dataset(EXAMPLES / "demo.tsv").head(ITEMS):
            winners.append("2" if item.gold["overall_quality"].label is Preference.B else "3")
            writer.writerow([item.instruction, item.output_a, item.output_b, winners[-1]])
    return path, winners


def _command(home: Path, *words: str) -> str:
    environment = {**os.environ, "TIEBREAK_HOME": str(home)}
    command = [sys.executable, str(ROOT / "main.py"), *words]
    return subprocess.check_output(command, env=environment, cwd=home, encoding="utf-8")
