"""`pairs`: from files of outputs to a dataset, and what it says on the way."""

import json
from pathlib import Path

from engine.data.dataset import load_dataset
from tests.commands import facts, printed, refusal, run_here

NAMES = ("gemma-7b-it", "gpt4", "gpt4_1106_preview", "vicuna-7b-v1.5")


def real(shared_data: Path) -> list[Path]:
    return [shared_data / "ranking" / f"outputs_{name}.json" for name in NAMES]


def saved(path: Path, name: str, *asked: str) -> Path:
    rows = [{"instruction": one, "output": f"{name} says {one}", "generator": name} for one in asked]
    path.write_text(json.dumps(rows), "utf-8")
    return path


def test_four_real_files_become_a_dataset(shared_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.parquet"
    done = run_here("pairs", *real(shared_data), "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    told = facts(done.stdout)
    assert told["Instructions"] == "120, matched by their exact text"
    assert told["Pairs"] == "720, round robin"
    dataset = load_dataset(out)
    assert len(dataset) == 720
    assert set(dataset.texts("candidate_a").to_pylist()) == {*NAMES}


def test_a_part_is_drawn_evenly_and_says_its_seed(shared_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.tsv"
    done = run_here("pairs", *real(shared_data), "--out", out, "--pairs", 60, "--seed", 5)
    assert facts(done.stdout)["Pairs"] == "60 of 720 (round robin), a balanced subset, seed 5"
    assert set(load_dataset(out).texts("pairs_seed").to_pylist()) == {"5"}


def test_each_is_paired_with_a_baseline(shared_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.json"
    done = run_here("pairs", *real(shared_data), "--out", out, "--baseline", "gpt4")
    assert facts(done.stdout)["Pairs"] == "360, each against gpt4"
    wrong = refusal("pairs", *real(shared_data), "--out", out, "--baseline", "gpt-4")
    assert "No candidate is called gpt-4.\nDid you mean gpt4?" in wrong


def test_what_does_not_match_is_said(tmp_path: Path) -> None:
    files = [
        saved(tmp_path / "x.json", "x", "q1", "q2", "q3"),
        saved(tmp_path / "y.json", "y", "q3", "q1", "q1"),
    ]
    done = run_here("pairs", *files, "--out", tmp_path / "out.tsv")
    assert "x: 1 instruction is in no pair, not answered by every candidate: q2." in done.stdout
    assert "y: 1 response is to a repeated instruction; only the first one counts." in done.stdout


def test_a_response_that_is_null_is_in_no_pair_and_counted(tmp_path: Path) -> None:
    files = [saved(tmp_path / f"{name}.json", name, "q1", "q2") for name in "xy"]
    files[0].write_text(files[0].read_text("utf-8").replace('"x says q1"', "null"), "utf-8")
    done = run_here("pairs", *files, "--out", tmp_path / "out.tsv")
    assert "x: 1 response is null, so omitted." in done.stdout
    assert [item.instruction for item in load_dataset(tmp_path / "out.tsv")] == ["q2"]


def test_instructions_of_a_file_of_their_own(tmp_path: Path) -> None:
    for name in ("x", "y"):
        answers = [
            {"question_id": f"q{n}", "model_id": name, "choices": [{"turns": [{"content": f"{name} {n}"}]}]}
            for n in range(3)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, answers)), "utf-8")
    asked = [{"question_id": f"q{n}", "turns": [{"content": f"Why {n}?"}]} for n in range(3)]
    (tmp_path / "question.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    words = ["pairs", tmp_path / "x.jsonl", tmp_path / "y.jsonl", "--out", tmp_path / "out.tsv"]
    assert "has no instructions" in run_here(*words).stderr
    printed(*words, "--instructions", tmp_path / "question.jsonl")
    assert [item.instruction for item in load_dataset(tmp_path / "out.tsv")] == ["Why 0?", "Why 1?", "Why 2?"]


def test_two_candidates_of_one_name_are_refused_with_what_tells_them_apart(tmp_path: Path) -> None:
    files = [saved(tmp_path / f"{name}.json", "m", "q1", "q2") for name in "xy"]
    words = ["pairs", *files, "--out", tmp_path / "out.tsv"]
    refused = run_here(*words)
    assert "y.json: its candidate is called m, like that of x.json." in refused.stderr
    assert refused.stderr.rstrip().endswith("--columns candidate=")
    printed(*words, "--columns", "candidate=")
    assert "x~y" in (tmp_path / "out.tsv").read_text("utf-8")


def test_nothing_is_overwritten_and_bad_words_are_refused(tmp_path: Path) -> None:
    files = [saved(tmp_path / f"{name}.json", name, "q1") for name in "xy"]
    before = files[0].read_bytes()
    out = ("--out", tmp_path / "out.tsv")
    for words, says in (
        (("--out", files[0]), "it would be overwritten"),
        (("--out", tmp_path / "out.csv"), "a dataset is written as TSV, JSON or Parquet"),
        ((*out, "--columns", "output_a=output"), "'output_a' is not a column of model outputs"),
        ((*out, "--columns", "output=text"), "output: the file has no column 'text'"),
        ((*out, "--pairs", 0), "Request 1 or more"),
    ):
        refused = run_here("pairs", *files, *words)
        assert (refused.returncode, says in refused.stderr) == (2, True), refused.stderr
    assert files[0].read_bytes() == before
    assert not (tmp_path / "out.tsv").exists()
