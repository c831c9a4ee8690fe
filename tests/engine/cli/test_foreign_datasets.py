"""Datasets with other columns, by commands: a guess is printed, taken as it is typed, and remembered."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from engine.core.formatting import visible
from engine.system.paths import demo_model
from tests.commands import ended, printed, refusal, run_here
from tests.published_shapes import (
    SHAPES,
    hh_rlhf,
    unknown_arena,
    unknown_llm_bar,
    unknown_mt_bench,
    unknown_panda_lm,
)

Shape = Callable[[Path], Path]


SAID = {"0": "tie", "1": "A", "2": "B", "overall_quality_preference": "1.5>preference"}
"""What a person puts into the gaps that are left in what the published shapes are guessed to be."""


def advised(error: str) -> list[str]:
    """What an error says to add to the command, as a shell reads it, its gaps filled in."""
    words = shlex.split(error[error.index("--columns") :])
    return [re.sub(r"(\w+)=…", lambda gap: f"{gap[1]}={SAID[gap[1]]}", word) for word in words]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_check_advises_opens_the_file_when_it_is_typed(shape: Shape, tmp_path: Path) -> None:
    path = shape(tmp_path)
    refused = run_here("check", path)
    if not refused.returncode:
        assert "Note: Read as " in refused.stdout  # a known one
        return
    assert "A guess of their meaning" in refused.stdout
    assert f"{path.name}: a dataset of" in printed("check", path, *advised(refused.stderr))


def test_check_prints_the_guess_and_the_first_rows(tmp_path: Path) -> None:
    done = run_here("check", unknown_mt_bench(tmp_path))
    for text in (
        "question_id+model_a+model_b+judge+turn",
        "conversation_b@replies:turn",
        "Label values:",
        "instruction: Name a prime number above ten.",
        "overall_quality_preference: B",
    ):
        assert text in done.stdout


def test_columns_are_remembered_for_all_commands(tmp_path: Path) -> None:
    path = unknown_arena(tmp_path)
    words = advised(run_here("check", path).stderr)
    saved = run_here("check", path, *words, "--save-columns")
    assert "The columns are stored" in saved.stderr
    assert "Note: Its columns are mapped: id is 'question_id'" in printed("check", path)


def test_numbers_are_refused_with_their_counts_and_what_to_write(tmp_path: Path) -> None:
    path = unknown_panda_lm(tmp_path)
    first = run_here("check", path)
    assert re.search(r"^0\s+1\s+\?$", first.stdout, re.MULTILINE)
    said = "fill in what the labels '1' (6 times), '2' (5 times), '0' (1 time) mean"
    assert f"{said}: A, B, both_good, both_bad, tie or none: --columns" in first.stderr
    assert first.stderr.rstrip().endswith('--labels "0=…,1=…,2=…"')
    columns = ("--columns", advised(first.stderr)[1])
    again = refusal("check", path, *columns)
    assert "for '1' (6 times), '2' (5 times), '0' (1 time): --labels" in again
    assert again.rstrip().endswith('--labels "0=…,1=…,2=…"')
    assert "Label values: cannot read '0=…'" in run_here("check", path, "--labels", "0=…,1=…").stderr


def test_annotators_are_counted_as_their_majority_and_their_agreement_is_said(tmp_path: Path) -> None:
    path = unknown_panda_lm(tmp_path)
    done = printed("check", path, *advised(run_here("check", path).stderr))
    assert re.search(r"^overall_quality\s+2\s+1\s+0\s+0\s+1$", done, re.MULTILINE)
    assert "Overall quality: of 3 annotators, two give the same label to 25.0 % (95 %: 0.5 to 81.6)" in done


def test_shares_of_annotators_and_their_agreement_are_measured_with_a_submission(tmp_path: Path) -> None:
    path, out, scores = unknown_panda_lm(tmp_path), tmp_path / "out.tsv", tmp_path / "x.json"
    out.write_text("id\toverall_quality_preference\n0\tA\n1\tA\n2\tB\n3\tA\n", encoding="utf-8")
    words = advised(run_here("check", path).stderr)
    done = ended("evaluate", out, "--gold", path, "--json", scores, *words)
    assert "annotators" in done.stdout
    assert "only “tie”, without" not in done.stderr + done.stdout  # the one tie is no majority
    details = json.loads(scores.read_text("utf-8"))["details"]
    assert details["labels"]["overall_quality"]["items"] == 3
    assert details["annotators"]["overall_quality"]["2"] == {
        "label": None,
        "shares": {"A": 1 / 3, "B": 1 / 3, "tie": 1 / 3},
        "annotators": {"annotator1": "tie", "annotator2": "A", "annotator3": "B"},
    }
    assert details["people"]["among_people"][0]["people"] == 3


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_a_foreign_dataset_is_judged_and_measured_by_its_columns(tmp_path: Path) -> None:
    path, out, store = unknown_panda_lm(tmp_path), tmp_path / "out.tsv", tmp_path / "runs.sqlite"
    words = advised(run_here("check", path).stderr)
    judge = ("judge", path, "--model", demo_model(), "--mode", "labels", "--out", out, "--store", store)
    assert run_here(*judge).returncode == 2
    done = run_here(*judge, *words)
    assert "Against the human labels of pandalm.json" in done.stdout
    evaluated = run_here("evaluate", out, "--gold", path, "--store", store, *words)
    assert "4 items" in evaluated.stdout
    others = [words[0], words[1].replace("instruction+input", "instruction"), *words[2:]]
    exported = run_here("runs", "export", 1, "--csv", tmp_path / "x.csv", "--store", store, *others)
    assert "pandalm.json does not have the items of run 1" in exported.stderr
    assert "without texts and human labels" in exported.stderr
    both = ["--csv", tmp_path / "x.csv", "--json", tmp_path / "x.json"]
    run_here("runs", "export", 1, *both, "--store", store, *words)
    assert "Answer in one sentence." in (tmp_path / "x.csv").read_text(encoding="utf-8")
    assert set(pd.read_csv(tmp_path / "x.csv")["cmp_key"]) == {"opt-7b_pythia-6.9b"}
    items = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["items"]
    assert {item["other_columns"]["cmp_key"] for item in items} == {"opt-7b_pythia-6.9b"}


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_a_run_reads_its_dataset_by_the_columns_that_it_was_judged_with(tmp_path: Path) -> None:
    """Nothing is remembered for other files, and no command has to be told again."""
    path, store = unknown_panda_lm(tmp_path), tmp_path / "runs.sqlite"
    words = advised(run_here("check", path).stderr)
    out, kept = tmp_path / "out.tsv", ("--store", store)
    run_here("judge", path, "--model", demo_model(), "--mode", "labels", "--out", out, *kept, *words)
    table, report = tmp_path / "x.csv", tmp_path / "x.html"
    assert not run_here("runs", "export", 1, "--csv", table, *kept).stderr
    assert "Answer in one sentence." in table.read_text(encoding="utf-8")
    evaluated = run_here("evaluate", 1, "--gold", path, *kept)
    assert "pandalm.json is read with the same columns as when it was judged." in evaluated.stderr
    assert "4 items" in evaluated.stdout
    ended("report", 1, "--gold", path, "--out", report, *kept)
    ended("weighted-score", 1, "--gold", path, *kept)
    printed("compare", 1, out, "--gold", path, *kept)
    assert "Answer in one sentence." in run_here("prompt", 1, *kept).stdout
    assert "instruction=instruction+input" in run_here("runs", "show", 1, *kept).stdout
    assert run_here("evaluate", out, "--gold", path, *kept).returncode == 2  # a file keeps no columns


@pytest.mark.usefixtures("demo_tried")
def test_a_dataset_that_was_written_anew_with_our_columns_is_that_of_its_run(tmp_path: Path) -> None:
    path, store = unknown_llm_bar(tmp_path), tmp_path / "runs.sqlite"
    words = advised(run_here("check", path).stderr)
    out = tmp_path / "out.tsv"
    run_here(
        *("judge", path, "--model", demo_model(), "--mode", "labels", "--out", out, "--store", store), *words
    )
    names = {"instruction": "input", "output_a": "output_1", "output_b": "output_2"}
    items = [
        {"id": str(place), **{ours: row[theirs] for ours, theirs in names.items()}}
        for place, row in enumerate(json.loads(path.read_text("utf-8")), start=1)
    ]
    path.write_text(json.dumps(items), encoding="utf-8")
    exported = run_here("runs", "export", 1, "--csv", tmp_path / "x.csv", "--store", store)
    assert not exported.stderr
    items[0]["instruction"] = "Another one?"
    path.write_text(json.dumps(items), encoding="utf-8")
    exported = run_here("runs", "export", 1, "--csv", tmp_path / "x.csv", "--store", store)
    assert "without texts and human labels" in exported.stderr


@pytest.mark.usefixtures("demo_tried")
def test_chosen_items_of_a_foreign_dataset(tmp_path: Path) -> None:
    path, ids = unknown_llm_bar(tmp_path), tmp_path / "ids.txt"
    ids.write_text("2\n", encoding="utf-8")
    words = advised(run_here("check", path).stderr)
    store = tmp_path / "runs.sqlite"
    plan = ("--model", demo_model(), "--mode", "labels", "--plan", "--ids", ids, "--store", store)
    done = run_here("judge", path, *plan, *words)
    assert "1 of 4 items of llmbar.json" in done.stdout


def test_half_a_ranked_pair_is_refused(tmp_path: Path) -> None:
    path = hh_rlhf(tmp_path)
    done = run_here("check", path, "--columns", "instruction=chosen@prompt,chosen=chosen@reply")
    assert "'rejected' has no column" in done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--save-columns"], "--save-columns: there are no columns to store."),
        (["--columns", "prompt"], "Columns: cannot read 'prompt'."),
        (["--columns", "question=prompt"], "Columns: 'question' is not a column of a dataset."),
        (["--labels", "1=best"], "Label values: cannot read '1=best'."),
        (["--columns", "instruction=nope"], "instruction: the file has no column 'nope'."),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(words: list[str], problem: str, tmp_path: Path) -> None:
    assert problem in refusal("check", unknown_llm_bar(tmp_path), *words)


def test_foreign_names_cannot_lead_the_terminal_astray(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "prompt\x1b[31m,response_1,response_2\nWhy is it so?,So it is.,It is not.\n", encoding="utf-8"
    )
    done = run_here("check", path)
    assert "\x1b" not in done.stdout + done.stderr
    assert visible("\x1b") in done.stdout
