"""`generate`: from prompts and two models to a dataset of pairs that a third one judges."""

import json
import re
import shutil
from pathlib import Path

import pytest

from engine.data.dataset import load_dataset
from engine.system.paths import demo_model
from tests.commands import facts, refusal, run_here

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    beside = {"context": "A list of fruits.", "reference": "An apple."}
    rows = [{"id": f"q{number}", "prompt": f"Name {number} fruits.", **beside} for number in range(1, 5)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def others(tmp_path: Path) -> list[Path]:
    """The demo model under two names of its own."""
    return [Path(shutil.copy(demo_model(), tmp_path / f"{name}.gguf")) for name in ("one", "two")]


def test_prompts_become_pairs_no_candidate_judges(prompts: Path, others: list[Path], tmp_path: Path) -> None:
    out, pairs = tmp_path / "responses", tmp_path / "pairs.tsv"
    models = ("--model", others[0], "--model", others[1])
    asked = ("generate", prompts, *models, "--out", out, "--max-tokens", 8, "--threads", 1)
    planned = run_here(*asked, "--plan")
    assert "4 prompts; greedy, at most 8 tokens." in planned.stdout
    assert re.search(r"^one +4 of 4 +\d+ +32  +not known", planned.stdout, re.MULTILINE)
    assert not out.exists()
    done = run_here(*asked, "--pairs", pairs)
    assert done.returncode == 0
    assert facts(done.stdout)["Pairs"] == "4, round robin"
    dataset = load_dataset(pairs)
    assert [*dataset.candidates] == ["one", "two"]
    assert json.loads(dataset.candidates["one"])["max_tokens"] == 8
    assert (dataset[0].instruction, dataset[0].background) == (
        "Name 1 fruits.",
        {"context": "A list of fruits.", "reference": "An apple."},
    )
    again = run_here(*asked)
    assert "one.jsonl is there already: nothing is written again." in again.stderr
    judged = ("judge", pairs, "--model", "demo", "--out", tmp_path / "judged.tsv", "--criteria", "relevance")
    assert "candidates are one, two (itself)" in refusal(*judged)
    accepted = run_here(*judged, "--mode", "labels", "--accept-own-candidates", "--show-context")
    assert accepted.returncode == 0


def test_the_context_and_the_system_message_of_a_prompt_stand_with_its_pairs(
    others: list[Path], tmp_path: Path
) -> None:
    prompts, pairs, out = tmp_path / "prompts.tsv", tmp_path / "pairs.tsv", tmp_path / "out"
    prompts.write_text(
        "id\tsystem\tinstruction\tcontext\n1\tBe brief.\tWho?\tAda\n2\t\tName one.\t\n", "utf-8"
    )
    models = ("--model", others[0], "--model", others[1])
    asked = ("generate", prompts, *models, "--out", out, "--max-tokens", 2, "--threads", 1, "--pairs", pairs)
    assert run_here(*asked).returncode == 0
    dataset = load_dataset(pairs)
    assert [(item.instruction, item.context) for item in dataset] == [("Who?", "Ada"), ("Name one.", "")]
    assert dataset.texts("system").to_pylist() == ["Be brief.", ""]
    again = tmp_path / "again.tsv"
    assert run_here("pairs", *sorted(out.glob("*.jsonl")), "--out", again).returncode == 0
    assert again.read_bytes() == pairs.read_bytes()
    judged = ("judge", pairs, "--model", "demo", "--out", tmp_path / "labels.tsv", "--mode", "labels")
    shown = (*judged, "--show-context", "--criteria", "relevance", "--accept-own-candidates")
    assert "1 item has no context to show" in run_here(*shown).stderr


def test_an_instruction_that_is_the_same_for_each_context_is_asked(
    others: list[Path], tmp_path: Path
) -> None:
    prompts, pairs = tmp_path / "prompts.tsv", tmp_path / "pairs.tsv"
    rows = [f"{number}\tSummarise the text.\tText {number} is on trees." for number in range(1, 5)]
    prompts.write_text("\n".join(["id\tinstruction\tcontext", *rows]), "utf-8")
    models = ("--model", others[0], "--model", others[1])
    asked = ("generate", prompts, *models, "--out", tmp_path / "out", "--max-tokens", 2, "--threads", 1)
    assert "it would be overwritten" in refusal(*asked, "--pairs", prompts)
    assert run_here(*asked, "--pairs", pairs).returncode == 0
    items = [(item.instruction, item.context) for item in load_dataset(pairs)]
    assert items == [("Summarise the text.", f"Text {number} is on trees.") for number in range(1, 5)]


def test_what_is_no_prompt_is_named(prompts: Path, others: list[Path], tmp_path: Path) -> None:
    with prompts.open("a", encoding="utf-8") as file:
        file.write('{"id": "q9", "prompt": "  "}\n')
    wrong = refusal("generate", prompts, "--model", others[0], "--out", tmp_path / "out")
    assert "line 5: the instruction is empty." in wrong
    columns = refusal("generate", prompts, "--model", "demo", "--out", tmp_path, "--columns", "output=x")
    assert "'output' is not a column of prompts" in columns
