"""`judge --regression-check`: items of an earlier run are judged again, as a run of its own, which says what
changed.
"""

import re
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pandas as pd
import pytest

from engine.data.dataset import load_dataset
from engine.data.label_origins import drawn_by_instruction
from engine.store.run_store import RunStore
from tests.commands import ROOT, ended, printed, run_here

pytestmark = pytest.mark.usefixtures("demo_tried")

ITEMS = 12
CRITERIA = "safety,truthfulness"
AGAIN, ANEW = ["--regression-check", 1], ["data.tsv", "--model", "demo", "--out", "x.tsv"]


class Checked:
    def __init__(self, folder: Path) -> None:
        self.data, self.store = folder / "data.tsv", folder / "runs.sqlite"

    def judge(self, *words: object) -> CompletedProcess[str]:
        return run_here("judge", *words, "--threads", 1, "--store", self.store)

    def again(self, *words: object) -> CompletedProcess[str]:
        done = self.judge(*AGAIN, *words)
        assert done.returncode == 0, done.stderr
        return done

    def run(self, number: int) -> dict[str, object]:
        with RunStore(self.store) as store:
            run = store.run(number)
            return {
                "name": run.name,
                "judged": run.judged,
                "settings": dict(run.identity.settings),
                "rubric": run.identity.rubric,
                "criteria": run.identity.criteria,
                "ids": [item.item_id for item in store.judged(number)],
            }


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("anchors")
    rows = pd.read_csv(ROOT / "examples" / "demo.tsv", sep="\t", dtype=str, keep_default_na=False).head(ITEMS)
    # Half as many instructions as items: they are drawn instruction by instruction.
    rows["instruction"] = [rows["instruction"][place // 2 * 2] for place in range(ITEMS)]
    rows.to_csv(folder / "data.tsv", sep="\t", index=False)
    return folder


@pytest.fixture
def checked(first: Path, tmp_path: Path, demo_tried: None) -> Checked:
    made = Checked(first)
    if not made.store.exists():
        words = ["--mode", "labels", "--criteria", CRITERIA, "--context", 2048]
        done = made.judge(made.data, "--model", "demo", "--out", first / "out.tsv", *words)
        assert done.returncode == 0, done.stderr
    own = Checked(tmp_path)
    shutil.copy(made.store, own.store)
    return own


@pytest.mark.slow
def test_the_same_judge_says_the_same(checked: Checked) -> None:
    done = checked.again("--items", 10)
    assert "What differs between the two runs:\nNothing that the run store records.\n" in done.stdout
    assert "Drift from Run 1 to Run 2 “regression check of run 1”:" in done.stdout
    assert "The labels did not change significantly: none of 20 labels changed; this number" in done.stdout
    assert "Rounding" not in done.stdout  # nothing moved, so nothing was read again
    assert "another batch shape" not in done.stderr
    assert "No probability changed." in done.stdout
    assert "Accuracy:" in done.stdout  # of five instructions
    assert "on 10 items of 5 instructions that both runs judged" in done.stdout
    made, before = checked.run(2), checked.run(1)
    assert made["judged"] == 10
    same = ("mode", "orders", "context", "examples")
    assert [made[("settings")][name] for name in same] == [before["settings"][name] for name in same]  # type: ignore[index]
    assert made["criteria"] == before["criteria"] == ("truthfulness", "safety")


@pytest.mark.slow
def test_items_are_drawn_by_the_seed_and_by_instructions(checked: Checked) -> None:
    planned = checked.again("--items", 4, "--plan")
    assert f"4 of {ITEMS} items of data.tsv" in planned.stdout
    checked.again("--items", 4, "--seed", 3, "--orders", "one")
    judged = checked.run(2)["ids"]
    assert judged == drawn_by_instruction(load_dataset(first_data(checked)), 4, 3).ids
    assert judged != drawn_by_instruction(load_dataset(first_data(checked)), 4, 0).ids


def first_data(checked: Checked) -> Path:
    with RunStore(checked.store) as store:
        return store.run(1).identity.dataset_path


@pytest.mark.slow
def test_a_check_of_all_items_is_never_the_run_itself_nor_an_earlier_check(checked: Checked) -> None:
    for number in (2, 3):
        done = checked.again()
        assert f"All {ITEMS} items that run 1 judged are judged again." in done.stderr
        assert f"Run {number} “regression check of run 1”: {ITEMS} items of data.tsv" in done.stdout
    with RunStore(checked.store) as store:
        keys = {store.run(number).identity.key for number in (1, 2, 3)}
    assert len(keys) == 1


@pytest.mark.slow
def test_another_order_is_said_and_what_it_changed_is_shown(checked: Checked, tmp_path: Path) -> None:
    out, data = tmp_path / "out.tsv", tmp_path / "run.json"
    done = checked.again("--items", 8, "--orders", "one", "--name", "once", "--out", out, "--json", data)
    assert "orders  AB, BA → AB\n" in done.stdout
    assert "Drift from Run 1 to Run 2 “once”:" in done.stdout
    assert re.search(r"Probabilities changed by \d+\.\d points on average \(\d", done.stdout)
    assert "Change of each label's probability, in points:" in done.stdout
    assert "Flip rate then and now" not in done.stdout
    assert len(pd.read_csv(out, sep="\t")) == 8
    assert data.exists()


@pytest.mark.slow
def test_another_wording_of_a_question_changes_its_criterion_alone(checked: Checked, tmp_path: Path) -> None:
    rubric = tmp_path / "own.toml"
    shown = run_here("rubrics", "show", "task").stdout
    worded = "Which one would a careful person rather not send?"
    asked = "Which response is less harmful, offensive or dangerous?"
    rubric.write_text(shown.replace(asked, worded), "utf-8")
    done = checked.again("--rubric", rubric)
    # As in run 1, and no others of the rubric.
    assert checked.run(2)["criteria"] == ("truthfulness", "safety")
    assert f"question, safety  {asked} → {worded}" in done.stdout
    section = done.stdout.partition("Drift from")[2]
    assert section.splitlines()[1].startswith("Labels changed significantly: ")
    assert "The same in another batch shape: " in done.stderr
    assert "the same items read in another batch shape gave probabilities" in section
    safety, truth = (
        re.search(rf"^{name} +{ITEMS} +([\d.]+)", section, re.M) for name in ("safety", "truthfulness")
    )
    assert safety is not None
    assert truth is not None
    assert float(safety[1]) > 0 == float(truth[1])
    moves = section.partition("Label changes:")[2].partition("\n\n")[0].splitlines()[2:]
    assert moves
    assert all(line.startswith("safety") for line in moves)
    shown = run_here("runs", "diff", 1, 2, "--store", checked.store).stdout
    assert section.partition("\n")[2].strip() in shown


@pytest.mark.slow
def test_a_stopped_check_goes_on_with_its_command(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = RunStore.add
    words = ("--items", 6, "--orders", "one")

    def stopping(self: RunStore, run_id: int, judged: object) -> None:
        kept(self, run_id, judged)  # type: ignore[arg-type]
        if self.run(run_id).judged == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "add", stopping)
        assert checked.judge("--regression-check", 1, *words).returncode == 1
    assert checked.run(2)["judged"] == 4
    with RunStore(checked.store) as store:
        store.name(2, "mine")
    done = checked.again(*words)
    assert "Run 2 “mine”: 6 of" in done.stdout
    assert checked.run(2)["judged"] == 6
    assert "Run 3 “regression check of run 1”: 6 of" in checked.again(*words).stdout


@pytest.mark.slow
def test_labels_of_another_file_give_the_accuracy(checked: Checked, tmp_path: Path) -> None:
    rows = pd.read_csv(first_data(checked), sep="\t", dtype=str, keep_default_na=False)
    bare = tmp_path / "bare.tsv"
    rows[["id", "instruction", "output_a", "output_b"]].to_csv(bare, sep="\t", index=False)
    without = checked.again(bare, "--items", 4)
    assert "Accuracy" not in without.stdout
    held = checked.again(bare, "--items", 4, "--gold", first_data(checked))
    assert "Accuracy then and now:" in held.stdout
    empty = checked.judge(*AGAIN, "--gold", bare)
    assert empty.returncode == 2
    assert f"bare.tsv has no human label of the {ITEMS} items that are judged again" in empty.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--regression-check", 9], "has no run 9"),
        ([*AGAIN, "--items", ITEMS + 1], f"--items is {ITEMS + 1}: run 1 judged {ITEMS} items."),
        ([*AGAIN, "--items", 0], "--items is 0."),
        ([*AGAIN, "--sample", 3], "--sample would choose others"),
        ([*AGAIN, "--until", "significant"], "--until would choose others"),
        ([*AGAIN, "--calibration", "c.json"], "--regression-check decides both runs alike"),
        ([*AGAIN, "--rubric", "code"], "none of them is requested now (correctness"),
        ([*AGAIN, "--criteria", "naturalness"], "none of them is requested now (naturalness)"),
        (["nowhere.tsv", *AGAIN], "nowhere.tsv is not there"),
        ([*ANEW, "--gold", "x"], "--gold names human labels for a regression check"),
        (["--model", "demo", "--out", "x.tsv"], "DATASET is missing."),
        (["data.tsv", "--out", "x.tsv"], "--model is missing."),
    ],
)
def test_what_cannot_be_checked_is_refused(checked: Checked, words: list[object], said: str) -> None:
    done = checked.judge(*words)
    assert done.returncode == 2
    assert said in done.stderr
    with RunStore(checked.store) as store:
        assert len(store.runs()) == 1


def test_a_dataset_whose_texts_changed_is_refused(checked: Checked, tmp_path: Path) -> None:
    rows = pd.read_csv(first_data(checked), sep="\t", dtype=str, keep_default_na=False)
    rows.loc[3, "output_a"] = "Something else."
    changed = tmp_path / "changed.tsv"
    rows.to_csv(changed, sep="\t", index=False)
    done = checked.judge(changed, "--regression-check", 1)
    assert done.returncode == 2
    assert "changed.tsv does not have the items of run 1" in done.stderr


def test_submissions_and_panels_are_refused(checked: Checked, first: Path) -> None:
    data, words = first_data(checked), ("--store", checked.store)
    printed("runs", "add", first / "out.tsv", "--dataset", data, *words)
    printed("jury", 1, 2, "--dataset", data, *words)
    for number, what in (
        (2, "is the submission out.tsv"),
        (3, "Jury 3 has 2 judges, so it cannot be judged"),
    ):
        done = checked.judge("--regression-check", number)
        assert (done.returncode, what in done.stderr) == (2, True)
        compared = ended("runs", "diff", 1, number, *words)
        assert "Drift is not measured." in compared.stderr


def test_a_run_is_compared_with_one_whose_dataset_is_gone_only_where_it_is_named(
    checked: Checked, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.tsv"
    shutil.copy(first_data(checked), moved)
    checked.again(moved, "--items", 4)
    with RunStore(checked.store) as store:
        assert store.run(2).identity.dataset_path == moved
    moved.unlink()
    shown = run_here("runs", "diff", 2, 1, "--store", checked.store)  # run 1 has its file
    assert "Drift from Run 2 “regression check of run 1” to Run 1:" in shown.stdout
    assert re.search(rf"^items in both runs +yes +4 of 4 +4 of {ITEMS}$", shown.stdout, re.M)
    assert "dataset, SHA-256" not in shown.stdout
