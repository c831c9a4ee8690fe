"""`judge --ids`, `--sample`: chosen and drawn items are a run of their own, which every other command finds
again.
"""

import io
import json
import sys
from pathlib import Path

import pandas as pd
import pytest

from engine.annotations.records import new_override
from engine.core.items import Preference
from engine.store.run_store import RunStore
from tests.commands import ROOT, ended, facts, printed, refusal, run_here, start, wait_until

DEMO = ROOT / "examples" / "demo.tsv"
IDS = ("3", "17", "20", "40", "41")

pytestmark = pytest.mark.usefixtures("demo_tried")


class Choice:
    """A command that judges IDS, with files of its own."""

    def __init__(self, folder: Path, *options: object) -> None:
        folder.mkdir(exist_ok=True)
        self.store, self.out, self.ids = folder / "runs.sqlite", folder / "chosen.tsv", folder / "ids.txt"
        self.ids.write_text("\n".join(reversed(IDS)), "utf-8")
        self.words = ["judge", DEMO, "--model", "demo", "--ids", self.ids, "--threads", 1]
        self.words += ["--max-explanation-tokens", 30, "--store", self.store, *options]

    def judged(self) -> int:
        if not self.store.exists():
            return 0
        with RunStore(self.store) as store:
            return store.run(1).judged if store.runs() else 0


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Choice:
    """IDS, judged; the tests leave the run as it is."""
    choice = Choice(tmp_path_factory.mktemp("chosen"))
    done = printed(*choice.words, "--out", choice.out)
    assert "Run 1: 5 of 240 items of demo.tsv" in done
    assert f"Submission: {choice.out} (5 chosen items of demo.tsv)" in done
    assert list(pd.read_csv(choice.out, sep="\t", dtype=str)["id"]) == list(IDS)
    return choice


def test_the_same_choice_is_the_same_run_however_it_is_written(chosen: Choice, tmp_path: Path) -> None:
    table, out = tmp_path / "ids.csv", tmp_path / "again.tsv"
    table.write_text("id,why\n" + "".join(f"{item_id},odd\n" for item_id in IDS), "utf-8")
    words = [table if word == chosen.ids else word for word in chosen.words]
    assert "Run 1: 5 of 240" in run_here(*words, "--out", out).stdout
    assert out.read_bytes() == chosen.out.read_bytes()


def test_ids_come_from_stdin(chosen: Choice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["-" if word == chosen.ids else word for word in chosen.words]
    whole, none = ("\n".join(IDS), 0, "Run 1: 5 of 240"), ("", 2, "standard input: contains no ids.")
    for given, code, said in (whole, none):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
        done = run_here(*words, "--out", tmp_path / "again.tsv")
        assert done.returncode == code
        assert said in done.stdout + done.stderr


def test_standard_input_is_not_waited_for_where_options_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.BytesIO(b"3\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given, encoding="utf-8"))
    done = refusal("judge", DEMO, "--model", "demo", "--ids", "-", "--items", 2, "--out", tmp_path / "o.tsv")
    assert "--ids and --items both choose the items." in done
    assert given.tell() == 0


@pytest.mark.slow
def test_a_killed_run_of_chosen_items_goes_on_to_the_same_submission(chosen: Choice, tmp_path: Path) -> None:
    killed = Choice(tmp_path)
    child = start(*killed.words, "--out", killed.out)
    wait_until(lambda: killed.judged() >= 2, child)
    child.kill()
    child.communicate()
    kept = killed.judged()
    assert 2 <= kept < len(IDS)
    assert not killed.out.exists()
    again = ended(*killed.words, "--out", killed.out)
    assert f"is resumed: {kept} of 5" in again.stderr
    assert "Run 1: 5 of 240" in again.stdout
    assert killed.out.read_bytes() == chosen.out.read_bytes()


def test_a_plan_counts_chosen_items_alone(chosen: Choice, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("5\n6\n", "utf-8")
    words = [other if word == chosen.ids else word for word in chosen.words]
    planned = run_here(*words, "--plan").stdout
    assert "on 2 of 240 items of demo.tsv:" in planned
    assert "2 items x 5 criteria x both orders = 20" in planned
    assert "in the store" not in planned


def test_the_stored_run_knows_its_items(chosen: Choice, tmp_path: Path) -> None:
    store = ["--store", chosen.store]
    assert "5 chosen items of demo.tsv" in run_here("runs", *store).stdout
    assert facts(run_here("runs", "show", 1, *store).stdout)["chosen items"] == "3, 17, 20, 40, 41"
    out, data, table = tmp_path / "out.tsv", tmp_path / "all.json", tmp_path / "all.csv"
    done = printed("runs", "export", 1, "--out", out, "--json", data, "--csv", table, *store)
    assert "(5 chosen items of demo.tsv)" in done
    assert out.read_bytes() == chosen.out.read_bytes()
    assert json.loads(data.read_text("utf-8"))["run"]["settings"]["chosen_items"] == list(IDS)
    texts = pd.read_csv(table, dtype=str, keep_default_na=False)
    assert set(texts["item_id"]) == set(IDS)
    assert all(texts["instruction"])


def test_chosen_items_are_scored_against_all_labels_only_where_that_is_asked_for(chosen: Choice) -> None:
    words = ["evaluate", 1, "--gold", DEMO, "--store", chosen.store]
    refused = refusal(*words)
    assert "ids missing (235 of 240)" in refused
    assert "The run judged only 5 chosen items of demo.tsv." in refused
    assert "--partial" in refused
    assert "run 1 against the human labels of demo.tsv: 5 items" in printed(*words, "--partial")


@pytest.mark.slow
def test_chosen_items_are_compared_and_reported(chosen: Choice, tmp_path: Path) -> None:
    held = ["--gold", DEMO, "--partial", "--store", chosen.store]
    assert "5 chosen items of demo.tsv" in printed("compare", 1, chosen.out, *held)
    report = tmp_path / "report.html"
    reported = ended("report", 1, *held, "--out", report)
    assert "lacks 235 items of demo.tsv, not scored: " in reported.stderr
    assert "3, 17, 20, 40, 41" in report.read_text("utf-8")


def test_explanations_of_chosen_items_are_written_again(tmp_path: Path) -> None:
    choice = Choice(tmp_path, "--criteria", "safety")
    ended(*choice.words, "--out", choice.out)
    with RunStore(choice.store) as store:
        (label,) = pd.read_csv(choice.out, sep="\t", dtype=str).query("id == '20'")["safety_preference"]
        other = Preference.A if label != "A" else Preference.B
        store.annotate(1, new_override("20", "safety", other, None, "Ann"))
    done = printed("runs", "rewrite", 1, "--threads", 1, "--store", choice.store)
    assert "1 of 1 stale explanations" in done


def test_a_dataset_whose_chosen_items_were_changed_is_not_that_of_the_run(tmp_path: Path) -> None:
    moved = tmp_path / "moved.tsv"
    lines = DEMO.read_bytes().splitlines(keepends=True)
    moved.write_bytes(b"".join(lines))
    choice = Choice(tmp_path, "--mode", "labels")
    choice.words[1] = moved
    ended(*choice.words, "--out", choice.out)
    table = tmp_path / "all.csv"
    export = ["runs", "export", 1, "--csv", table, "--store", choice.store]
    # Other items around the chosen ones do not matter to them.
    moved.write_bytes(b"".join([lines[0], *lines[3:42]]))
    assert "without texts" not in run_here(*export).stderr
    moved.write_bytes(b"".join([lines[0], *lines[4:42]]))
    assert "does not have the items of run 1" in run_here(*export).stderr


def test_drawn_items_are_judged_and_named_wherever_the_run_is(tmp_path: Path) -> None:
    out, store = tmp_path / "out.tsv", tmp_path / "runs.sqlite"
    words = ["judge", DEMO, "--model", "demo", "--mode", "labels", "--criteria", "safety", "--store", store]
    drawn = ["--sample", 8, "--seed", 5, "--sample-by", "overall_quality_preference"]
    how = "evenly over overall_quality_preference, seed 5"
    planned = run_here(*words, *drawn, "--plan")
    assert f"demo-judge on 8 of 240 items of demo.tsv {how}:" in planned.stdout
    assert "Items by overall_quality_preference: A: 2, B: 2, both_bad: 2, both_good: 2." in planned.stderr
    judged = run_here(*words, *drawn, "--out", out, "--json", tmp_path / "run.json")
    assert f"Submission: {out} (8 items of demo.tsv {how})" in judged.stdout
    assert f"Run 1: 8 of 240 items of demo.tsv {how}" in judged.stdout
    assert "all 8 items are judged in run 1" in run_here(*words, *drawn, "--plan").stdout
    settings = json.loads((tmp_path / "run.json").read_text("utf-8"))["run"]["settings"]
    assert settings["items_drawn"] == {"items": 8, "seed": 5, "by": "overall_quality_preference"}
    assert f"8 items of demo.tsv {how}" in run_here("runs", "--store", store).stdout
    assert facts(run_here("runs", "show", 1, "--store", store).stdout)["items drawn"] == how


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--sample", 0], "The sample size is 0."),
        (["--sample", 4, "--seed", -1], "The seed is -1."),
        (["--sample", 4, "--items", 5], "--items and --sample both choose the items."),
        (["--sample-by", "x"], "--sample-by needs the number of items."),
        (["--sample", 4, "--sample-by", "x"], "demo.tsv has no column 'x'"),
    ],
)
def test_a_sample_that_cannot_be_is_refused(tmp_path: Path, options: list[object], problem: str) -> None:
    assert problem in refusal("judge", DEMO, "--model", "demo", "--out", tmp_path / "x.tsv", *options)
