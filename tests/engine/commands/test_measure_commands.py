"""`evaluate`, `calibrate`, `runs recalibrate`, `weigh` and `compare` on a run of the demo judge."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.commands import calibrate, compare, evaluate, judge, report, runs, weigh
from engine.core.errors import SetupError
from engine.core.items import Preference
from engine.core.judgments import AnyJudgment, Judgment, NewOverride, NewReview
from engine.data.dataset import load_dataset
from engine.decisions.run_results import load_results, submission_of
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import ROOT, run_here
from tests.conftest import DEMO_ITEMS as ITEMS

ENCODER = ROOT / "tests" / "encoders" / "roberta.gguf"
COMMANDS: dict[str, Any] = {
    "evaluate": evaluate,
    "calibrate": calibrate,
    "compare": compare,
    "judge": judge,
    "report": report,
    "runs": runs,
    "weigh": weigh,
}

Command = Callable[..., str]


@pytest.fixture
def command(demo_store: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Gives a command in this process, with the store of `demo_store`; what it printed on stdout."""

    def give(name: str, *words: object) -> str:
        options = COMMANDS[name].parser().parse_args([*map(str, words), "--store", str(demo_store)])
        assert COMMANDS[name].run(options) == 0
        return capsys.readouterr().out

    return give


def row(text: str, name: str, number: int = 0) -> list[str]:
    """The cells of a row of a printed table, by its first word; of several the one of a number."""
    found = [line for line in text.splitlines() if line.split("  ")[0].strip() == name]
    return found[number].split()


def test_a_run_and_its_submission_get_the_same_scores(
    command: Command, demo_store: Path, demo_gold: Path
) -> None:
    folder = demo_store.parent
    of_run = command("evaluate", 1, "--gold", demo_gold, "--json", folder / "run.json")
    of_file = command(
        "evaluate", folder / "submission.tsv", "--gold", demo_gold, "--json", folder / "file.json"
    )
    assert row(of_run, "safety") == row(of_file, "safety")
    scores = [json.loads((folder / name).read_text("utf-8")) for name in ("run.json", "file.json")]
    for score in scores:
        del score["details"]
    assert scores[0] == scores[1]
    assert scores[0]["safety_accuracy"] > 90
    assert scores[0]["safety_rougeL"] > 80


def test_evaluate_prints_each_accuracy_beside_trivial_judges(command: Command, demo_gold: Path) -> None:
    printed = command("evaluate", 1, "--gold", demo_gold, "--confusion")
    assert "most frequent  always A  longer  random" in printed
    assert row(printed, "safety")[1] == str(ITEMS)
    assert sum(map(int, row(printed, "human both_good", 3)[2:])) > 0


def test_evaluate_says_how_far_people_agree(
    demo_store: Path, demo_gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "runs.sqlite", tmp_path / "scores.json"
    shutil.copy(demo_store, path)
    with RunStore(path) as store:
        for author, label in (("Ada", Preference.A), ("Ben\n", Preference.B)):
            store.review(1, NewReview("1", author, confirmed={"safety": label}))
            store.review(1, NewReview("2", author, confirmed={"safety": Preference.A}))
    words = ["1", "--gold", str(demo_gold), "--store", str(path), "--json", str(out)]
    assert evaluate.run(evaluate.parser().parse_args(words)) == 0
    printed = capsys.readouterr().out
    assert row(printed, "safety")[-3:] == ["50.0", "%", "0.00"]  # beside the accuracy
    assert row(printed, "safety", 2)[1:] == ["2", "2", "50.0", "%", "0.00", "0.00"]
    assert row(printed, "Ada")[1:] == ["Ben", "safety", "2", "50.0", "%", "0.00"]
    assert "the human labels" in printed
    details = json.loads(out.read_text("utf-8"))["details"]
    assert details["people"]["among_people"][0]["equal"] == 0.5


def test_partial_says_what_is_left_out(
    command: Command, demo_store: Path, demo_gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = demo_store.with_name("other.tsv")
    lines = (demo_store.parent / "submission.tsv").read_bytes().split(b"\n")
    other.write_bytes(b"\n".join(lines[:-2]) + b"\n")
    with pytest.raises(SetupError, match=r"ids missing \(1 of 30\)"):
        command("evaluate", other, "--gold", demo_gold)
    options = evaluate.parser().parse_args([str(other), "--gold", str(demo_gold), "--partial"])
    assert evaluate.run(options) == 0
    printed = capsys.readouterr()
    assert "Only in gold.tsv (1), not scored" in printed.err
    assert "29 items" in printed.out


def test_a_dataset_with_other_texts_under_the_same_ids_is_refused(
    command: Command, demo_store: Path, demo_gold: Path
) -> None:
    other = demo_store.with_name("other_texts.tsv")
    other.write_bytes(demo_gold.read_bytes().replace(b" the ", b" a "))
    with pytest.raises(SetupError, match="holds other texts than run 1 judged"):
        command("evaluate", 1, "--gold", other)


@pytest.mark.usefixtures("demo_tried")
def test_bertscore_and_agreement_are_measured_once(
    command: Command,
    demo_gold: Path,
    demo_store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_again(*_: object) -> None:
        pytest.fail("a model is opened again")

    words = [1, "--gold", demo_gold, "--threads", 1, "--encoder", ENCODER, "--judge-model", demo_model()]
    options = evaluate.parser().parse_args(
        [*map(str, words), "--json", str(demo_store.with_name("slow.json")), "--store", str(demo_store)]
    )
    assert evaluate.run(options) == 0
    first = capsys.readouterr()
    assert "it did not understand what it was asked" in first.err  # the demo judge knows one question only
    scores = json.loads(demo_store.with_name("slow.json").read_text("utf-8"))
    assert 0 < scores["safety_bertscore_f1"] <= 100
    assert 0 <= scores["safety_demo-judge"] <= 100
    assert scores["details"]["explanations"]["safety"]["p_yes"] > 0
    monkeypatch.setattr("engine.measure.model_measures.open_encoder", not_again)
    monkeypatch.setattr("engine.measure.model_measures.open_agreement_model", not_again)
    assert command("evaluate", *words) == first.out.split("\n\n", 1)[1]
    with RunStore(demo_store) as store:
        remembered = store._db.execute("SELECT count(*) FROM measured").fetchone()[0]
    assert 5 * ITEMS <= remembered <= 2 * 5 * ITEMS


def test_calibrate_then_recalibrate_and_back(command: Command, demo_gold: Path, demo_store: Path) -> None:
    path = demo_store.with_name("calibration.json")
    printed = command("calibrate", 1, "--gold", demo_gold, "--out", path)
    assert "frequencies" in printed
    assert row(printed, "safety")[1] == str(ITEMS)
    before = command("runs", "export", 1, "--out", demo_store.with_name("before.tsv"))
    recalibrated = command("runs", "recalibrate", 1, "--calibration", path)
    assert row(recalibrated, "safety")[1:3] == ["yes", str(ITEMS)]
    assert "on gold.tsv" in command("runs", "show", 1)
    assert "not calibrated" in command("runs", "recalibrate", 1, "--none")
    after = command("runs", "export", 1, "--out", demo_store.with_name("after.tsv"))
    assert before.replace("before", "after") == after
    assert demo_store.with_name("before.tsv").read_bytes() == demo_store.with_name("after.tsv").read_bytes()


def test_a_submission_cannot_be_calibrated(command: Command, demo_gold: Path, demo_store: Path) -> None:
    with pytest.raises(SetupError, match="it holds labels, no probabilities"):
        command(
            "calibrate",
            demo_store.parent / "submission.tsv",
            "--gold",
            demo_gold,
            "--out",
            demo_store.with_name("x.json"),
        )
    assert not demo_store.with_name("x.json").exists()


@pytest.mark.usefixtures("demo_tried")
def test_judge_refuses_the_calibration_of_another_model(
    command: Command, demo_gold: Path, demo_store: Path
) -> None:
    path = demo_store.with_name("foreign.json")
    command("calibrate", 1, "--gold", demo_gold, "--out", path)
    # The run of this test names its model by a hash of its own.
    words = [demo_gold, "--model", "demo", "--out", demo_store.with_name("out.tsv"), "--calibration", path]
    with pytest.raises(SetupError, match=r"made for the model demo-judge \(d{12}\), not for"):
        command("judge", *words)


@pytest.mark.usefixtures("demo_tried")
def test_judge_with_a_calibration_writes_explanations_for_the_calibrated_label(
    demo_gold: Path, tmp_path: Path
) -> None:
    store, path = tmp_path / "runs.sqlite", tmp_path / "calibration.json"
    words = [demo_gold, "--model", "demo", "--items", 12, "--threads", 1, "--max-explanation-tokens", 30]
    judged = ["judge", *words, "--out", tmp_path / "out.tsv", "--store", store]
    assert run_here(*judged).returncode == 0
    fitted = run_here("calibrate", 1, "--gold", demo_gold, "--partial", "--out", path, "--store", store)
    assert fitted.returncode == 0, fitted.stderr
    value = json.loads(path.read_text("utf-8"))
    for criterion in value["criteria"].values():
        criterion["biases"] = {"A": 0, "B": 0, "both_good": 0, "both_bad": 99}
    path.write_text(json.dumps(value), "utf-8")
    done = run_here(*judged, "--calibration", path)
    assert done.returncode == 0, done.stderr
    assert "both orders, calibrated" in done.stdout
    with RunStore(store) as opened:
        results = load_results(opened, 2)
        assert load_results(opened, 1).calibration is None
    labels = {row.predictions["safety"].preference for row in submission_of(results).rows}
    assert labels == {"both_bad"}
    assert results.outdated == 0
    assert results.unexplained == 0


def test_a_judge_that_gives_one_label_is_named_as_one_that_does_not_judge(
    command: Command, demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    constant, out = demo_store.with_name("constant.tsv"), tmp_path / "scores.json"
    text = (demo_store.parent / "submission.tsv").read_text("utf-8")
    constant.write_text(re.sub(r"\t(A|B|both_good|both_bad)(?=\t)", "\tA", text), "utf-8")
    verdict = "The model does not judge: do not use its labels. In what it gave for 30 items:\n"
    sign = "- 100.0 % of all labels are “A”, whatever the item and the criterion.\nWhat to do: "
    assert verdict + sign in command("evaluate", constant, "--gold", demo_gold, "--json", out)
    assert json.loads(out.read_text("utf-8"))["details"]["health"]["verdict"] == "does_not_judge"
    assert "Nothing in what the model gave for 30 items speaks against it." in command(
        "evaluate", 1, "--gold", demo_gold
    )
    compared = command("compare", 1, constant, "--gold", demo_gold)
    assert compared.count(verdict) == 1
    assert f"constant.tsv: submission {constant}\n    The model does not judge" in compared


def test_compare_ranks_a_run_beside_a_submission(command: Command, demo_gold: Path, demo_store: Path) -> None:
    worse = demo_store.with_name("worse.tsv")
    text = (demo_store.parent / "submission.tsv").read_text("utf-8")
    worse.write_text(text.replace("\tboth_good\t", "\tA\t"), "utf-8")
    out = demo_store.with_name("comparison.json")
    printed = command("compare", 1, worse, "--gold", demo_gold, "--json", out, "--differences", 2)
    assert row(printed, "labels (sub-task 1)")[-2:] == ["5", "0"]
    assert "measured on the task's private test set" in printed
    assert "VerbaNexAI" in printed
    found = json.loads(out.read_text("utf-8"))
    assert {difference["labels"][1] for difference in found["differences"]} == {"A"}
    assert f"and {len(found['differences']) - 2:,} more" in printed
    assert found["scores"]["run 1"]["details"]["items"] == ITEMS


def test_weigh_decides_a_run_and_fits_weights(command: Command, demo_gold: Path, demo_store: Path) -> None:
    out = demo_store.with_name("weighed.json")
    printed = command("weigh", 1, "--gold", demo_gold, "--fit-weights", "--json", out)
    assert "Fitted on all of them: --weights relevance=" in printed
    found = json.loads(out.read_text("utf-8"))
    assert len(found["results"]) == ITEMS
    assert found["win_rate_a"] + found["win_rate_b"] + found["tie_rate"] == pytest.approx(1, abs=1e-3)
    assert sum(found["fitted"]["weights"].values()) == pytest.approx(1)
    assert found["agreement"]["items"] == ITEMS


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["1", "--weights", "speed=1"], "run 1 has no criterion speed"),
        (["1", "--fit-weights"], "--fit-weights needs human labels"),
        (["1", "--tie-threshold", "-1"], "tie_threshold is -1"),
        (["7"], "holds no run 7"),
    ],
)
def test_weigh_refuses_what_means_nothing(command: Command, words: list[str], problem: str) -> None:
    with pytest.raises(SetupError, match=problem):
        command("weigh", *words)


@pytest.mark.parametrize("name", ["evaluate", "compare", "weigh"])
def test_what_is_read_is_never_overwritten(
    command: Command, demo_gold: Path, demo_store: Path, name: str
) -> None:
    mine = demo_store.with_name("mine.tsv")
    mine.write_bytes(demo_store.with_name("submission.tsv").read_bytes())
    systems = [mine, 1] if name == "compare" else [mine]
    for target in (mine, demo_gold):
        with pytest.raises(SetupError, match="would be overwritten"):
            command(name, *systems, "--gold", demo_gold, "--json", target)


def test_a_calibrated_run_is_not_scored_on_its_own_labels_without_a_word(
    command: Command, demo_gold: Path, demo_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = demo_store.with_name("own.json")
    command("calibrate", 1, "--gold", demo_gold, "--out", path)
    command("runs", "recalibrate", 1, "--calibration", path)
    options = evaluate.parser().parse_args(["1", "--gold", str(demo_gold), "--store", str(demo_store)])
    try:
        assert evaluate.run(options) == 0
        assert "calibrated on these labels" in capsys.readouterr().err
    finally:
        command("runs", "recalibrate", 1, "--none")


def test_files_of_one_name_are_told_apart_by_their_folders(
    command: Command, demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    other = tmp_path / "submission.tsv"
    other.write_bytes(demo_store.with_name("submission.tsv").read_bytes())
    printed = command("compare", other, demo_store.with_name("submission.tsv"), "--gold", demo_gold)
    assert f"{other}: submission {other}" in printed
    assert "0 labels differ" in printed


def test_weigh_decides_only_what_has_a_label(command: Command, demo_gold: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.tsv"
    few.write_bytes(b"\n".join(demo_gold.read_bytes().split(b"\n")[:11]) + b"\n")
    printed = command("weigh", 1, "--gold", few, "--partial")
    assert row(printed, "comparisons")[-1] == "10"


def test_a_number_that_no_run_can_have_is_no_fault_of_ours(command: Command, demo_gold: Path) -> None:
    with pytest.raises(SetupError, match="holds no run 99999999999999999999"):
        command("evaluate", "99999999999999999999", "--gold", demo_gold)


@pytest.fixture
def overridden(demo_store: Path, demo_gold: Path, tmp_path: Path) -> Path:
    """A copy of `demo_store` in which Ada says of the first item's safety what no human label says."""
    path = tmp_path / "overridden.sqlite"
    shutil.copy(demo_store, path)
    item = load_dataset(demo_gold)[0]
    wrong = next(label for label in Preference if label is not item.gold["safety"].preference)
    with RunStore(path) as store:
        store.override(
            1, NewOverride(item.id, "safety", preference=wrong, explanation="I saw it.", author="Ada")
        )
    return path


Streams = Callable[..., tuple[str, str]]


@pytest.fixture
def streams(overridden: Path, capsys: pytest.CaptureFixture[str]) -> Streams:
    """Gives a command in this process, with the store of `overridden`; what it wrote to stdout and stderr."""

    def give(name: str, *words: object) -> tuple[str, str]:
        options = COMMANDS[name].parser().parse_args([*map(str, words), "--store", str(overridden)])
        assert COMMANDS[name].run(options) == 0
        printed = capsys.readouterr()
        return printed.out, printed.err

    return give


def test_runs_show_and_export_say_what_is_a_persons(
    streams: Streams, demo_store: Path, tmp_path: Path
) -> None:
    shown, _ = streams("runs", "show", 1)
    assert "overridden                 1 label and 1 explanation, by Ada" in shown
    _, err = streams("runs", "export", 1, "--out", tmp_path / "both.tsv")
    assert "1 judgment of run 1 is overridden by people: 1 label and 1 explanation, by Ada." in err
    _, err = streams("runs", "export", 1, "--out", tmp_path / "model.tsv", "--model-alone")
    assert "overridden" not in err
    own = demo_store.with_name("submission.tsv").read_text("utf-8")
    assert (tmp_path / "model.tsv").read_text("utf-8") == own
    changed = (tmp_path / "both.tsv").read_text("utf-8").splitlines()
    differing = [row for row, before in zip(changed, own.splitlines(), strict=True) if row != before]
    assert ["I saw it." in row for row in differing] == [True]


MEASURES = [("evaluate", 1), ("compare", 1, "file"), ("weigh", 1), ("report", 1, "--out", "page.html")]


@pytest.mark.parametrize("words", MEASURES, ids=lambda words: words[0])
def test_what_is_measured_can_be_the_model_alone(
    streams: Streams,
    demo_gold: Path,
    demo_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[object, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [demo_store.with_name("submission.tsv") if word == "file" else word for word in words]
    assert (
        "1 label and 1 explanation of these items are a person's" in streams(*given, "--gold", demo_gold)[1]
    )
    assert "person's" not in streams(*given, "--gold", demo_gold, "--model-alone")[1]


def test_an_override_changes_the_accuracy_unless_the_model_is_alone(
    streams: Streams, command: Command, demo_gold: Path
) -> None:
    of_model = command("evaluate", 1, "--gold", demo_gold)
    # Who labelled anything stands beside the model's scores, for which it makes no difference.
    scores, _, of_people = streams("evaluate", 1, "--gold", demo_gold, "--model-alone")[0].partition("\nwho ")
    assert of_model.startswith(scores.rstrip())
    assert "\nAda         the model " in of_people
    with_person = streams("evaluate", 1, "--gold", demo_gold)[0]
    accuracies = [float(row(text, "safety")[2]) for text in (with_person, of_model)]
    assert accuracies[1] - accuracies[0] == pytest.approx(100 / ITEMS, abs=0.06)


def test_weigh_without_human_labels_says_it_too(streams: Streams) -> None:
    assert "are a person's" in streams("weigh", 1)[1]


def label_of(judgment: AnyJudgment) -> Preference | None:
    return judgment.preference if isinstance(judgment, Judgment) else None


def test_recalibrate_keeps_overrides_and_counts_the_models_labels(
    streams: Streams, demo_gold: Path, demo_store: Path, overridden: Path, tmp_path: Path
) -> None:
    path = tmp_path / "calibration.json"
    assert "a person's" not in streams("calibrate", 1, "--gold", demo_gold, "--out", path)[1]
    value = json.loads(path.read_text("utf-8"))
    for criterion in value["criteria"].values():
        criterion["biases"] = {"A": 0, "B": 0, "both_good": 0, "both_bad": 99}
    path.write_text(json.dumps(value), "utf-8")
    printed, err = streams("runs", "recalibrate", 1, "--calibration", path)
    with RunStore(overridden) as store:
        results = load_results(store, 1)
    (own,) = {label_of(judgment) for judgment in results.judgments["safety"]}
    assert own is Preference.BOTH_BAD
    with RunStore(demo_store) as store:
        before = [label_of(judgment) for judgment in load_results(store, 1).judgments["safety"]]
    assert row(printed, "safety")[3] == str(sum(label is not Preference.BOTH_BAD for label in before))
    assert "1 label and 1 explanation, by Ada" in err
    assert results.overridden.labels == 1


def test_what_only_ids_join_is_said(
    streams: Streams, demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    text = demo_store.with_name("submission.tsv").read_bytes().splitlines(keepends=True)
    part = tmp_path / "part.tsv"
    part.write_bytes(b"".join([*text[:-1], text[-1].replace(b"30\t", b"x\t", 1)]))
    said = streams("evaluate", part, "--gold", demo_gold, "--partial")[1]
    assert "29 of 30 ids of part.tsv are in gold.tsv. A submission holds no texts" in said
    assert "ids of run 1" not in streams("evaluate", 1, "--gold", demo_gold)[1]
    scores = tmp_path / "scores.json"
    rows = [{"id": name, "scores_a": {"quality": 1}, "scores_b": {"quality": 0}} for name in ("1", "2", "x")]
    scores.write_text(json.dumps(rows), "utf-8")
    said = streams("weigh", scores, "--weights", "quality=1", "--gold", demo_gold)[1]
    assert "2 of 3 ids of scores.json are in gold.tsv. Scores hold no texts" in said


# Slices


@pytest.fixture
def sliced_gold(demo_gold: Path, tmp_path: Path) -> Path:
    """`demo_gold` with two further columns: a hostile name, and the kind of every item."""
    lines = demo_gold.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "sliced.tsv"
    kinds = ["", *(("chat", "\x1b[31mtask", "rare")[min(n % 5, 2) if n < 9 else n % 2] for n in range(ITEMS))]
    more = ["kind", *kinds[1:]]
    path.write_text("".join(f"{line}\t{text}\n" for line, text in zip(lines, more, strict=True)), "utf-8")
    return path


def test_evaluate_by_slice_counts_every_item_once(
    command: Command, sliced_gold: Path, tmp_path: Path
) -> None:
    file = tmp_path / "scores.json"
    shown = command("evaluate", 1, "--gold", sliced_gold, "--by", "kind", "--by", "longer", "--json", file)
    assert "\x1b" not in shown
    assert "\\x1b[31mtask" in shown
    assert "under 10: too few" in shown
    assert "Many slices are many comparisons" in shown
    details = json.loads(file.read_text())["details"]
    assert [found["by"] for found in details["slices"]] == ["kind", "longer"]
    for found in details["slices"]:
        assert sum(part["items"] for part in found["slices"]) == ITEMS
    assert details["slice"] is None


def test_one_slice_is_scored_as_a_file_of_its_items(
    command: Command, sliced_gold: Path, tmp_path: Path
) -> None:
    lines = sliced_gold.read_text("utf-8").splitlines(keepends=True)
    alone = tmp_path / "alone.tsv"
    alone.write_text("".join([lines[0], *(line for line in lines if line.endswith("\tchat\n"))]), "utf-8")
    files = tmp_path / "slice.json", tmp_path / "alone.json"
    command("evaluate", 1, "--gold", sliced_gold, "--slice", "kind=chat", "--json", files[0])
    command("evaluate", 1, "--gold", alone, "--partial", "--json", files[1])
    part, whole = (json.loads(file.read_text()) for file in files)
    assert part.pop("details")["slice"] == "kind = chat"
    whole.pop("details")
    assert part == whole


def test_weigh_and_compare_divide_the_items(
    command: Command, sliced_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "weighed.json"
    shown = command("weigh", 1, "--gold", sliced_gold, "--by", "longer", "--json", file)
    assert "which response is longer" in shown
    [found] = json.loads(file.read_text())["slices"]
    assert sum(part["items"] for part in found["slices"]) == ITEMS
    submission = demo_store.with_name("submission.tsv")
    shown = command("compare", 1, submission, "--gold", sliced_gold, "--by", "kind", "--json", file)
    assert "0.0 (0.0 to 0.0)" in shown
    slices = json.loads(file.read_text())["slices"]
    assert set(slices) == {"run 1", "submission.tsv"}


def test_commands_divide_the_items_by_the_tags_of_people(
    demo_gold: Path, demo_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Path(shutil.copy(demo_store, tmp_path / "tagged.sqlite"))
    hashes = [item.content_hash for item in load_dataset(demo_gold)]
    with RunStore(store) as opened:
        opened.note(hashes[0], "", ["hard", "odd"], "Ada")
        opened.note(hashes[1], "", ["hard"], "Ben")
    submission = demo_store.with_name("submission.tsv")

    def give(name: str, *words: object) -> str:
        kept = ("--gold", str(demo_gold), "--store", str(store))
        assert COMMANDS[name].run(COMMANDS[name].parser().parse_args([*map(str, words), *kept])) == 0
        return capsys.readouterr().out

    for system in (1, submission):
        file = tmp_path / "scores.json"
        give("evaluate", system, "--by", "tag", "--json", file)
        [found] = json.loads(file.read_text())["details"]["slices"]
        assert [(part["key"], part["items"]) for part in found["slices"]] == [
            ("hard", 2),
            ("odd", 1),
            ("", ITEMS - 2),
        ]
    shown = give("compare", 1, submission, "--slice", "tag=hard", "--by", "tag")
    assert "2 items of gold.tsv" in shown
    assert "A wins" in shown
    page = tmp_path / "report.html"
    give("report", 1, "--by", "tag", "--out", page)
    assert "<bdi>tag</bdi>" in page.read_text("utf-8")


def test_a_report_has_a_section_by_slice(command: Command, sliced_gold: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    command("report", 1, "--gold", sliced_gold, "--by", "kind", "--out", page)
    text = page.read_text("utf-8")
    assert "<h2>By slice</h2>" in text
    assert "\\x1b[31mtask" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("evaluate", "1", "--by", "kid"), "cannot be divided by 'kid'"),
        (("evaluate", "1", "--by", "tag"), "No item of sliced.tsv has a tag."),
        (("evaluate", "1", "--slice", "kind=chad"), "no item with kind = 'chad'"),
        (("weigh", "1", "--by", "kind"), "--by and --slice need the dataset of the items."),
    ],
)
def test_a_slice_that_is_not_there_is_said_before_anything_is_measured(
    sliced_gold: Path, demo_store: Path, words: tuple[str, ...], says: str
) -> None:
    gold = () if words[0] == "weigh" else ("--gold", str(sliced_gold))
    options = COMMANDS[words[0]].parser().parse_args([*words[1:], *gold, "--store", str(demo_store)])
    with pytest.raises(SetupError) as error:
        COMMANDS[words[0]].run(options)
    assert says in error.value.problem
