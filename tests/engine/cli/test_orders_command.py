"""`orders`, and `judge --orders uncertain`, as a user gives them."""

import json
from pathlib import Path

import pytest

from tests.commands import ROOT, ended, refusal, run_here

DEMO = ROOT / "examples" / "demo.tsv"
ITEMS = 20
"""As few as tell a margin."""

UNCERTAIN, MARGIN, FROM = ("--orders", "uncertain"), "--margin-threshold", "--margin-threshold-from"

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run 1 read ITEMS items in both orders."""
    folder = tmp_path_factory.mktemp("orders")
    done = judge(folder / "runs.sqlite", folder / "out.tsv")
    assert done[0] == 0, done
    return folder / "runs.sqlite"


def judge(store: Path, out: Path, *more: object, items: int = ITEMS) -> tuple[int, str, str]:
    words = ["--model", "demo", "--mode", "labels", "--items", items, "--store", store, "--threads", 1]
    done = run_here("judge", DEMO, *words, "--out", out, *more)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_without_the_dataset_the_labels_are_still_counted(store: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "other.tsv"
    elsewhere.write_text("\n".join(DEMO.read_text("utf-8").splitlines()[:3]) + "\n", encoding="utf-8")
    assert "does not have the items" in refusal("orders", 1, "--store", store, "--dataset", elsewhere)


def test_a_learned_margin_reads_fewer_tokens_and_keeps_the_labels(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "doubtful.tsv"
    options = [*UNCERTAIN, FROM, 1, "--fresh", "--json", tmp_path / "run.json"]
    code, printed, told = judge(store, out, *options)
    assert code == 0, told
    assert f"learned from {ITEMS} items of run 1" in told
    assert f"of {ITEMS} items in both orders" in printed
    assert f"of {ITEMS} items in both orders" in run_here("runs", "show", 2, "--store", store).stdout
    assert "did not read all items in both orders" in run_here("orders", 2, "--store", store).stderr
    made = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert 0 < made["run"]["settings"]["second_order_below"] <= 1
    orders = {len(item["judgments"]["safety"]["readings"]) for item in made["items"]}
    assert orders <= {1, 2}
    both = judge(store, tmp_path / "both.tsv", "--json", tmp_path / "both.json")
    assert both[0] == 0
    whole = json.loads((tmp_path / "both.json").read_text("utf-8"))
    labels = [
        [[j["preference"] for j in item["judgments"].values()] for item in run["items"]]
        for run in (made, whole)
    ]
    assert labels[0] == labels[1]
    tokens = [sum(item["tokens_read"] for item in run["items"]) for run in (made, whole)]
    assert tokens[0] < 0.65 * tokens[1]


def test_a_plan_says_by_which_run_it_counts(store: Path, tmp_path: Path) -> None:
    words = ["--model", "demo", "--mode", "labels", "--items", ITEMS, *UNCERTAIN, "--plan"]
    known = ended("judge", DEMO, *words, "--margin-threshold", 0.31, "--store", store)
    assert "of the items, as in run 1" in known.stdout
    unknown = run_here("judge", DEMO, *words, "--store", tmp_path / "none.sqlite")
    assert "at most; no run tells how many items have a margin below 0.5" in unknown.stdout
    assert "Margin threshold: 0.5, the default." in unknown.stderr


@pytest.mark.parametrize(
    ("options", "found", "hint"),
    [
        ([MARGIN, 0.5], "--margin-threshold has no effect with --orders both", "--orders uncertain"),
        (["--orders", "one", FROM, 1], "--margin-threshold-from has no effect with --orders one", "remove"),
        ([*UNCERTAIN, MARGIN, 0.5, FROM, 1], "both set the margin threshold", "Remove one of them"),
        ([*UNCERTAIN, MARGIN, 0], "The margin threshold is 0.0", "more than 0 and at most 1"),
        ([*UNCERTAIN, FROM, 99], "99", "runs"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    store: Path, tmp_path: Path, options: list[object], found: str, hint: str
) -> None:
    code, _, told = judge(store, tmp_path / "out.tsv", *options)
    assert code == 2
    assert found in told
    assert hint in told


@pytest.mark.slow
def test_a_calibration_of_both_orders_decides_a_run_in_doubt(store: Path, tmp_path: Path) -> None:
    made = tmp_path / "calibration.json"
    ended("calibrate", 1, "--gold", DEMO, "--partial", "--out", made, "--store", store)
    options = [*UNCERTAIN, MARGIN, 0.6, "--calibration", made, "--fresh"]
    code, printed, told = judge(store, tmp_path / "out.tsv", *options)
    assert code == 0, told
    assert f"of {ITEMS} items in both orders, calibrated" in printed


def test_a_margin_of_another_judge_is_refused(store: Path, tmp_path: Path) -> None:
    options = [*UNCERTAIN, FROM, 1, "--examples", DEMO, "--few-shot", 1]
    code, _, told = judge(store, tmp_path / "out.tsv", *options)
    assert code == 2
    assert "--margin-threshold-from 1: that run had other labelled examples (none) than this one" in told
