"""Criteria of one's own through all commands: a rubric in German, two short criteria, the demo model."""

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest

from engine.data.rubrics.files import load_rubric, shipped_rubrics
from engine.store.run_store import RunStore
from engine.system.paths import rubrics_folder
from tests.commands import printed, run_here

pytestmark = pytest.mark.usefixtures("demo_tried")

RUBRIC = """\
name = "umgang"
source = "unser Leitfaden"
tie_threshold = 1.5

[[criteria]]
name = "höflichkeit"
question = "Welche Antwort ist höflicher?"
good = "Sie dankt."
bad = "Sie beleidigt."
weight = 3.0

[[criteria]]
name = "禮貌"
question = "Welche Antwort ist kürzer?"

[wording]
system = '''
Vergleiche zwei Antworten. Das Urteil ist ein Buchstabe:
{letters}'''
a = "A ist besser."
instruction = "Anweisung"
response_a = "Antwort A"
response_b = "Antwort B"
end = "Ende: {title}"
criterion = "Maßstab: {name}. {question}"
good = "Gut: {meaning}"
bad = "Schlecht: {meaning}"
verdict = "Urteil:"
"""
LABELS = ("höflichkeit_preference", "禮貌_preference", "overall_quality_preference")
ITEMS = 4


class Bench(NamedTuple):
    """A labelled dataset, its rubric, and a store whose run 1 judged it by that."""

    dataset: Path
    rubric: Path
    store: Path
    submission: Path


def rows(labels: str = "ABA", items: int = ITEMS) -> str:
    lines = ["\t".join(("id", "instruction", "output_a", "output_b", *LABELS))]
    for number in range(1, items + 1):
        lines.append("\t".join((str(number), f"Say {number}.", f"It is {number}.", "No. Go away.", *labels)))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("rubric")
    made = Bench(*(folder / name for name in ("d.tsv", "umgang.toml", "runs.sqlite", "submission.tsv")))
    made.dataset.write_text(rows(), "utf-8")
    made.rubric.write_text(RUBRIC, "utf-8")
    done = judge(made, "--out", made.submission)
    assert done.returncode == 0, done.stderr
    return made


def judge(bench: Bench, *more: object, rubric: Path | None = None) -> CompletedProcess[str]:
    arguments = ("--rubric", rubric or bench.rubric, "--mode", "labels", "--store", bench.store, *more)
    return run_here("judge", bench.dataset, "--model", "demo", *arguments)


# Judging


def test_a_run_has_the_rubrics_columns_and_keeps_the_rubric(bench: Bench) -> None:
    header = bench.submission.read_text("utf-8").partition("\n")[0]
    assert header == "id\thöflichkeit_preference\t禮貌_preference"
    with RunStore(bench.store) as store:
        assert store.run(1).identity.asked == load_rubric(bench.rubric)


def test_the_prompt_is_in_the_rubrics_words(bench: Bench) -> None:
    done = run_here("prompt", bench.dataset, "--model", "demo", "--rubric", bench.rubric, "--id", 2)
    assert "[Anweisung]\nSay 2.\n[Ende: Anweisung]\n" in done.stdout
    assert done.stdout.endswith("<|assistant|>Urteil:\n")
    assert (
        "Maßstab: höflichkeit. Welche Antwort ist höflicher?\nGut: Sie dankt.\nSchlecht: Sie beleidigt."
        in done.stdout
    )
    assert "A: A ist besser.\nB: Response B is better on the criterion.\n" in done.stdout
    of_run = run_here("prompt", 1, "--store", bench.store, "--id", 2)
    assert of_run.stdout == done.stdout
    assert "other words" not in of_run.stderr


def test_criteria_are_names_of_the_rubric(bench: Bench, tmp_path: Path) -> None:
    done = judge(bench, "--out", tmp_path / "s.tsv", "--criteria", "safety")
    assert "Unknown criterion: safety." in done.stderr
    assert "Choose from höflichkeit, 禮貌." in done.stderr


def test_labels_of_other_columns_are_mapped_to_the_rubrics_criteria(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text(rows().replace("禮貌_preference", "vote"), "utf-8")
    columns = ("--columns", "禮貌_preference=vote")
    done = run_here("check", other, "--rubric", bench.rubric, *columns)
    assert "禮貌           0  4" in done.stdout
    done = run_here("check", other, *columns)
    assert "'禮貌_preference' is not a column of a dataset." in done.stderr


def test_a_wrong_rubric_is_refused_before_anything_is_read(bench: Bench, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(RUBRIC.replace("question", "qestion", 1), "utf-8")
    done = judge(bench, "--out", tmp_path / "s.tsv", rubric=wrong)
    assert done.returncode == 2
    assert 'criteria 1, "qestion": not known. The nearest is "question".' in done.stderr


def test_the_submission_does_not_overwrite_the_rubric(bench: Bench) -> None:
    done = judge(bench, "--out", bench.submission, "--json", bench.rubric)
    assert "is the rubric: it would be overwritten" in done.stderr


# What a run brings with it


def test_measures_need_no_rubric_for_a_run(bench: Bench) -> None:
    done = run_here("evaluate", 1, "--gold", bench.dataset, "--store", bench.store)
    assert "\nhöflichkeit       4" in done.stdout


def test_a_run_or_submission_is_weighed_by_its_rubric_or_the_named_one(bench: Bench, tmp_path: Path) -> None:
    own = "Weights: höflichkeit 0.750, 禮貌 0.250. Differences up to 1.5 points are a tie."
    done = run_here("weighted-score", 1, "--gold", bench.dataset, "--store", bench.store)
    assert own in done.stdout
    assert "items with a human overall label" in done.stdout
    added, rubric = ("--store", tmp_path / "runs.sqlite"), ("--rubric", bench.rubric)
    printed("runs", "add", bench.submission, "--dataset", bench.dataset, *rubric, *added)
    assert own in run_here("weighted-score", 1, *added).stdout
    assert own in run_here("weighted-score", bench.submission, *rubric).stdout
    other = tmp_path / "other.toml"
    other.write_text(RUBRIC.replace("weight = 3.0", "weight = 1.0").replace("1.5", "0.25"), "utf-8")
    done = run_here("weighted-score", 1, "--store", bench.store, "--rubric", other)
    assert "Weights: höflichkeit 0.500, 禮貌 0.500. Differences up to 0.25 points are a tie." in done.stdout


def test_a_submission_is_held_against_the_rubric(bench: Bench) -> None:
    against = ("check", bench.submission, "--against", bench.dataset)
    assert "It answers d.tsv completely" in run_here(*against, "--rubric", bench.rubric).stdout
    assert "official columns are missing" in run_here(*against).stderr
    done = run_here(*against, "--rubric", "style")
    assert "columns of the rubric style are missing: clarity_preference" in done.stderr
    assert "columns are not of the rubric: höflichkeit_preference" in done.stderr


def test_criteria_that_were_asked_otherwise_are_not_compared(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(RUBRIC.replace("ist kürzer", "ist knapper").replace("Urteil:", "Verdikt:"), "utf-8")
    judged = judge(bench, "--out", tmp_path / "s.tsv", rubric=other)
    number = judged.stdout.split("Run ")[1].partition(":")[0]
    done = run_here("compare", 1, number, "--gold", bench.dataset, "--store", bench.store)
    assert (
        f"禮貌 is not compared: run 1 was asked “Welche Antwort ist kürzer?”; run {number} was asked"
        " “Welche Antwort ist knapper?”." in done.stderr
    )
    assert "accuracy (%), höflichkeit" in done.stdout
    assert "accuracy (%), 禮貌" not in done.stdout
    assert "VerbaNexAI" not in done.stdout  # of the task
    diff = run_here("runs", "diff", 1, number, "--store", bench.store).stdout
    assert "question, 禮貌" in diff
    assert "wording, verdict" in diff


@pytest.mark.slow
def test_a_calibration_is_for_its_question_alone(bench: Bench, tmp_path: Path) -> None:
    dataset, calibration = tmp_path / "d.tsv", tmp_path / "c.json"
    header, *lines = rows("ABA", 12).splitlines()
    others = rows("BAB", 24).splitlines()[13:]
    dataset.write_text("\n".join([header, *lines, *others]) + "\n", "utf-8")
    mine = bench._replace(dataset=dataset, store=tmp_path / "runs.sqlite")
    judge(mine, "--out", tmp_path / "s.tsv")
    printed("calibrate", 1, "--gold", dataset, "--store", mine.store, "--out", calibration)
    assert json.loads(calibration.read_text("utf-8"))["made_for"]["asked"]["禮貌"]["question"].startswith(
        "Welche"
    )
    assert judge(mine, "--out", tmp_path / "s.tsv", "--calibration", calibration).returncode in (0, 1)
    other = tmp_path / "other.toml"
    for old, new, said in (
        ("ist kürzer", "ist knapper", "the question on 禮貌 “Welche Antwort ist kürzer?”, not for “Welche"),
        ("Sie dankt.", "Sie grüßt.", "the same question on höflichkeit in another prompt"),
    ):
        other.write_text(RUBRIC.replace(old, new), "utf-8")
        done = judge(mine, "--out", tmp_path / "s.tsv", "--calibration", calibration, rubric=other)
        assert said in done.stderr
    done = judge(mine, "--out", tmp_path / "s.tsv", "--calibration", calibration, rubric=Path("task"))
    assert "made for the criteria höflichkeit, 禮貌, not for relevance" in done.stderr


# The command


def test_what_is_shown_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(run_here("rubrics", "show", "summaries").stdout, "utf-8")
    assert load_rubric(path) == shipped_rubrics()[2]


def test_ones_own_are_listed_too_and_one_that_is_wrong() -> None:
    folder = rubrics_folder()
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(RUBRIC, "utf-8")
    (folder / "bad.toml").write_text("x = 1", "utf-8")
    done = run_here("rubrics")
    assert "mine: höflichkeit, 禮貌\n    unser Leitfaden\n" in done.stdout
    assert 'bad.toml: 3 problems.\n  "x": not known.' in done.stdout


def test_a_dataset_gives_a_draft(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "draft.toml"
    done = run_here("rubrics", "draft", bench.dataset, "--out", out)
    assert "with 3 criteria: höflichkeit, 禮貌, overall_quality." in done.stdout
    assert load_rubric(out).names == ("höflichkeit", "禮貌", "overall_quality")
    assert "already exists" in run_here("rubrics", "draft", bench.dataset, "--out", out).stderr
    assert "a rubric is TOML" in run_here("rubrics", "draft", bench.dataset, "--out", "x.json").stderr


def test_check_offers_the_draft(bench: Bench) -> None:
    done = run_here("check", bench.dataset)
    assert "labels on criteria that the rubric task lacks: höflichkeit, 禮貌." in done.stdout
    assert "rubrics draft" in done.stdout
    asked = run_here("check", bench.dataset, "--rubric", bench.rubric)
    assert "the rubric umgang lacks: overall_quality." in asked.stdout


def test_a_dataset_of_the_task_gives_no_draft(demo_gold: Path, tmp_path: Path) -> None:
    done = run_here("rubrics", "draft", demo_gold, "--out", tmp_path / "draft.toml")
    assert "has no labels on criteria besides the task's." in done.stderr
