"""`runs` as a place to keep order: names, notes, archive, deletion, search, two runs side by side."""

import io
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import SetupError, StoreError
from engine.store.run_store import RunStore
from tests.engine.cli.in_process import give_runs


@pytest.fixture
def store(demo_store: Path, tmp_path: Path) -> Path:
    """A copy of `demo_store` with a second run of other settings, of which nothing is judged."""
    path = Path(shutil.copy(demo_store, tmp_path))
    with RunStore(path) as opened:
        identity = opened.run(1).identity
        db = sqlite3.connect(path)
        with opened.begin(identity, fresh=True) as other:
            settings = "replace(settings, '\"context\": 4096', '\"context\": 2048')"
            db.execute(f"UPDATE run SET settings = {settings} WHERE id = ?", (other.id,))
            db.commit()
        db.close()
    return path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_runs_are_found_by_words(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert give_runs(store, "find", "CONTEXT", "2048") == 0
    assert [line[0] for line in said(capsys).splitlines()[1:]] == ["2"]
    assert give_runs(store, "find", "zebra") == 1
    assert "No run has 'zebra'" in said(capsys)
    give_runs(store, "archive", 2)
    said(capsys)
    assert give_runs(store, "find", "2048") == 1
    assert "add --all" in said(capsys)
    assert give_runs(store, "find", "2048", "--all") == 0


class Terminal(io.StringIO):
    """Somebody sits there and types this; at its end he presses Ctrl-D."""

    def isatty(self) -> bool:
        return True


def test_ctrl_d_at_a_question_is_a_no(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    assert give_runs(store, "delete", 2) == 1
    assert said(capsys).endswith("[y/N] \nNothing is deleted.\n")


def test_deleting_says_what_goes_and_asks(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert give_runs(store, "delete", 2) == 1
    answer = said(capsys)
    assert "Run 2: 0 judged items" in answer
    assert "This cannot be undone" in answer
    assert "Nothing is deleted." in answer
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert give_runs(store, "delete", 2) == 0
    assert "Run 2 is deleted" in said(capsys)
    with pytest.raises(StoreError, match="Run 2 was deleted"):
        give_runs(store, "show", 2)


def test_where_nobody_can_answer_deleting_needs_its_option(store: Path) -> None:
    with pytest.raises(SetupError) as caught:
        give_runs(store, "delete", 2)
    assert "--yes" in OPTIONS.of(caught.value.hint)
    assert give_runs(store, "delete", 2, "--yes") == 0


def test_a_damaged_run_is_listed_as_such_and_deleted_and_the_others_go_on(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(store) as db:
        db.execute("UPDATE run SET settings = '{}' WHERE id = 2")
    db.close()
    assert give_runs(store) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1].split() == ["2", "0", "damaged"]
    assert "Run 2: settings: found '{}', and 'mode' is missing." in printed.err
    assert "runs delete ID" in printed.err
    with pytest.raises(StoreError, match="Run 2: settings"):
        give_runs(store, "show", 2)
    assert give_runs(store, "show", 1) == 0
    assert give_runs(store, "delete", 2, "--yes") == 0
    assert "Run 2 (damaged): 0 judged items" in said(capsys)
    assert give_runs(store) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("calibration", ['{"scale": 1}', '{"tiebreak_calibration": 1, "criteria": []}'])
def test_a_run_with_a_calibration_of_another_kind_is_named(store: Path, calibration: str) -> None:
    with sqlite3.connect(store) as db:
        db.execute("UPDATE run SET calibration = ? WHERE id = 1", (calibration,))
    db.close()
    with pytest.raises(StoreError, match="Run 1: calibration: "):
        give_runs(store, "show", 1)
