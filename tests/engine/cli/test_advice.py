"""What an error says to do next is an option of the command, or of another one that the error names."""

import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import main
from engine.annotations.records import new_override
from engine.core.items import Preference
from engine.store.run_store import RunStore
from tests.commands import ended, printed, run_here
from tests.test_docs import ACTIONS, options_of

_OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
FOREIGN = "uid,prompt,a,b,best\n1,Say a,x,y,A\n2,Say b,x,y,B\n"

OF_A_FILE = """
judge FILE --model demo --plan
judge --regression-check 1 --gold FILE --plan
tune demo FILE --out r.json
prompt FILE --model demo
prompt 1 --dataset FILE
check FILE
check sub.tsv --against FILE
rubrics draft FILE --out r.toml
runs add sub.tsv --dataset FILE
runs export 1 --as-dataset x.tsv --dataset FILE
runs export 1 --for dpo --out x.jsonl --dataset FILE
runs diff 1 2 --dataset FILE
evaluate 1 --gold FILE
calibrate 1 --gold FILE --out c.json
learning-curve 1 --gold FILE
jury 1 sub.tsv --dataset FILE
jury 1 sub.tsv --gold FILE
audit demo FILE
audit 1 --gold FILE
orders 1 --dataset FILE
weighted-score 1 --gold FILE
rank 1 --gold FILE
rank FILE
compare 1 sub.tsv --gold FILE
report 1 --gold FILE --out r.html
"""
OF_A_RUN = """
judge --regression-check 1 --plan
prompt 1
runs export 1 --as-dataset x.tsv
runs export 1 --for dpo --out x.jsonl
runs export 1 --csv x.csv --json x.json
runs diff 1 2
annotations export 1 --with-texts --out p.json
jury 1 2
audit 1
orders 1
weighted-score 1
weighted-score 1 --by length
rank 1
rank 1 --weighted
"""


def of_command(name: str, next_word: str) -> frozenset[str]:
    return options_of(name, next_word if next_word in ACTIONS.get(name, ()) else "")


def untaken(words: list[str], said: str) -> list[str]:
    """The options that are named and that neither the command takes nor one that the sentence names."""
    found = []
    for sentence in re.split(r"(?<=[.:;])\s", said):
        named = [of_command(words[0], words[1])]
        for name in main.COMMANDS:
            named += [of_command(name, after) for after in re.findall(rf"\b{name}\b ?([a-z]*)", sentence)]
        taken = frozenset().union(*named)
        found += [option for option in _OPTION.findall(sentence) if option not in taken]
    return found


@pytest.fixture
def folder(demo_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_tried: None) -> Path:
    """Where the commands are typed: a store of two runs, a submission of one, a file with other columns."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(demo_store, tmp_path / "runs.sqlite")
    shutil.copy(demo_store.with_name("submission.tsv"), tmp_path / "sub.tsv")
    (tmp_path / "foreign.csv").write_text(FOREIGN, "utf-8")
    words = ("judge", demo_store.with_name("gold.tsv"), "--model", "demo", "--mode", "labels", "--threads", 1)
    more = ("--criteria", "safety", "--out", "second.tsv", "--store", "runs.sqlite")
    ended(*words, *more)
    return tmp_path


def refused(line: str) -> str:
    """What a command says against what it was given."""
    words = shlex.split(line)
    has_store = "--store" in of_command(words[0], words[1])
    done = run_here(*words, *(["--store", "runs.sqlite"] if has_store else []))
    assert done.returncode in {0, 2}, (line, done.stderr)
    assert not untaken(words, done.stderr), (line, done.stderr)
    return done.stderr


@pytest.mark.slow
def test_other_columns_are_mended_by_options_that_the_command_takes(folder: Path) -> None:
    for line in OF_A_FILE.strip().splitlines():
        assert "--columns" in refused(line.replace("FILE", "foreign.csv")), line


FOREIGN_COLUMNS = "id=uid,instruction=prompt,output_a=a,output_b=b"


def test_a_foreign_file_is_shown_and_drafted_from_by_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_tried: None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "foreign.csv").write_text(FOREIGN, "utf-8")
    columns = ("--columns", FOREIGN_COLUMNS)
    assert "Say b" in printed("prompt", "foreign.csv", "--model", "demo", "--id", "2", *columns)
    labelled, draft = ("--columns", f"{FOREIGN_COLUMNS},clarity_preference=best"), ("rubrics", "draft")
    assert run_here(*draft, "foreign.csv", "--out", "none.toml", *columns).returncode == 2
    wrong = run_here(*draft, "foreign.csv", "--out", "none.toml", "--columns", "clarity_preference=x")
    assert "clarity_preference: the file has no column 'x'" in wrong.stderr
    assert not (tmp_path / "none.toml").exists()
    drafted = run_here(*draft, "foreign.csv", "--out", "r.toml", *labelled, "--save-columns")
    assert "with 1 criterion: clarity." in drafted.stdout
    ended(*draft, "foreign.csv", "--out", "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == (tmp_path / "r.toml").read_bytes()


@pytest.mark.slow
def test_a_dataset_that_was_moved_is_read_where_it_is_named(folder: Path, demo_gold: Path) -> None:
    with closing(sqlite3.connect(folder / "runs.sqlite")) as db, db:
        db.execute("UPDATE run SET dataset_path = ?", (str(folder / "gone.tsv"),))
    rows = demo_gold.read_text("utf-8").partition("\n")
    named = rows[0].replace("output_a", "first").replace("output_b", "second")
    (folder / "moved.tsv").write_text(f"{named}\n{rows[2]}", "utf-8")
    there = ["--dataset", "moved.tsv", "--columns", "output_a=first,output_b=second"]
    there += ["--store", "runs.sqlite"]
    done = run_here("runs", "diff", 1, 2, *there)
    assert (done.returncode, "Drift is not measured" in done.stderr) == (0, False), done.stderr
    with RunStore(folder / "runs.sqlite") as store:
        store.annotate(1, new_override("1", "safety", Preference.A, None, author="Ada"))
    done = ended("annotations", "export", 1, "--with-texts", "--out", "p.json", *there, "--save-columns")
    assert "The columns are stored" in done.stderr
    refused = run_here("rank", 1, "--store", "runs.sqlite")
    assert "Put it back, or name its file with --gold." in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["moved.tsv", "foreign.csv", "sub.tsv"])
def test_a_dataset_that_was_moved_is_named_by_options_that_the_command_takes(folder: Path, gone: str) -> None:
    with closing(sqlite3.connect(folder / "runs.sqlite")) as db, db:
        db.execute("UPDATE run SET dataset_path = ?", (str(folder / gone),))
    for line in OF_A_RUN.strip().splitlines():
        refused(line)
