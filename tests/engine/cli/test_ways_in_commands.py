"""The ways of asking as a person meets them in the commands: asked, planned, compared, weighed by grades."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import ROOT, refusal, run_here

pytestmark = pytest.mark.usefixtures("demo_tried")

DEMO = ROOT / "examples" / "demo.tsv"
ITEMS = ("--items", 2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run 1 asked in three ways, its submission and its JSON beside it."""
    folder = tmp_path_factory.mktemp("ways")
    judged = run_here(
        *(
            "judge",
            DEMO,
            "--model",
            "demo",
            "--mode",
            "labels",
            *ITEMS,
            "--method",
            "pointwise-grade,label-tokens,pointwise-yes-no",
        ),
        *(
            "--out",
            folder / "submission.tsv",
            "--json",
            folder / "run.json",
            "--store",
            folder / "runs.sqlite",
        ),
    )
    assert judged.returncode == 0, judged.stderr
    (folder / "said.txt").write_text(judged.stdout, encoding="utf-8")
    return folder / "runs.sqlite"


def rows(printed: str) -> dict[str, list[str]]:
    """The lines of the table by way, by their first word."""
    lines = printed.split("By elicitation method")[1].splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines if line.strip()}


@pytest.mark.slow
def test_a_run_in_several_ways_says_what_each_is_worth(store: Path) -> None:
    printed = (store.parent / "said.txt").read_text(encoding="utf-8")
    found = rows(printed)
    assert {"method", "all", "label", "pointwise"} <= set(found)
    again = run_here("evaluate", 1, "--gold", DEMO, "--partial", "--store", store)
    assert again.returncode == 0, again.stderr
    assert rows(again.stdout) == found
    page = store.parent / "report.html"
    made = run_here("report", 1, "--gold", DEMO, "--partial", "--store", store, "--out", page)
    assert made.returncode == 0, made.stderr
    assert "By elicitation method" in page.read_text(encoding="utf-8")


def test_the_answers_of_every_way_are_exported(store: Path) -> None:
    run = json.loads((store.parent / "run.json").read_text(encoding="utf-8"))
    raw_predictions = run["items"][0]["judgments"]["safety"]["readings"]
    methods = {(reading["order"], reading["way"]): reading["answers"] for reading in raw_predictions}
    assert len(methods) == 6
    assert methods["AB", "letters"] == []
    assert [answer["question"] for answer in methods["BA", "graded"]] == ["A", "B"]
    assert all(len(answer["log_probabilities"]) == 5 for answer in methods["BA", "graded"])


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_the_plan_says_what_each_way_costs() -> None:
    asked = ("judge", DEMO, "--model", "demo", "--mode", "labels", *ITEMS, "--plan")
    one, several = (
        run_here(*asked),
        run_here(*asked, "--method", "label-tokens,permuted-labels,pointwise-grade"),
    )
    assert one.returncode == several.returncode == 0
    assert "elicitation methods" not in one.stdout
    assert "elicitation methods" in several.stdout
    assert "label tokens 100, permuted label tokens" in several.stdout
    assert "x 3 methods x both orders = 60" in several.stdout


def test_a_run_is_weighed_by_the_grades_that_it_gave(store: Path) -> None:
    weighed = run_here(
        "weighted-score", 1, "--grades", "--store", store, "--json", store.parent / "grades.json"
    )
    assert weighed.returncode == 0, weighed.stderr
    plain = run_here("weighted-score", 1, "--store", store, "--json", store.parent / "plain.json")
    assert plain.returncode == 0
    by_grades, by_labels = (
        json.loads((store.parent / name).read_text(encoding="utf-8"))["results"]
        for name in ("grades.json", "plain.json")
    )
    assert [each["id"] for each in by_grades] == [each["id"] for each in by_labels]
    assert [each["margin"] for each in by_grades] != [each["margin"] for each in by_labels]


def test_grades_are_asked_for_where_there_are_none(store: Path, demo_store: Path, tmp_path: Path) -> None:
    for what in (("1", "--store", demo_store), (store.parent / "submission.tsv",)):
        refused = refusal("weighted-score", *what, "--grades")
        assert "has no pointwise grades" in refused
        assert "--method" in refused
    scores = tmp_path / "scores.json"
    scores.write_text('[{"id": "1", "scores_a": {"x": 1}, "scores_b": {"x": 2}}]', encoding="utf-8")
    assert "--grades" in refusal("weighted-score", scores, "--weights", "x=1", "--grades")


@pytest.mark.parametrize("methods", ["", "label-token", "label-tokens,label-tokens"])
def test_ways_that_there_are_not_are_refused(methods: str) -> None:
    refused = refusal("judge", DEMO, "--model", "demo", "--plan", "--method", methods)
    assert (
        "Write some of label-tokens, permuted-labels, pointwise-yes-no, pointwise-grade, chain-of-thought"
        in refused
    )


def test_a_model_that_does_not_think_is_named_with_a_way_out(tried_model: Callable[[str], Path]) -> None:
    refused = refusal(
        "judge", DEMO, "--model", tried_model("headers"), "--plan", "--method", "chain-of-thought"
    )
    assert "has no reasoning block" in refused
    assert "--method" in refused
