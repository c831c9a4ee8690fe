"""`prompt` as a user gives it: exactly what is shown, token by token, and what comes next."""

import json
import re
from pathlib import Path

import pytest

from engine.core.items import Order
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.tokens import tokenize_prompt
from engine.system.paths import demo_model
from tests.commands import ROOT, printed, refusal, run_here
from tests.steps import template_of

DEMO = ROOT / "examples" / "demo.tsv"

pytestmark = pytest.mark.usefixtures("demo_tried")


def ids_of(place: int, order: Order, criterion: str) -> tuple[int, ...]:
    """What a run gives the demo model to read."""
    with template_of(demo_model()) as (_, template):
        tree = build_prompt(load_dataset(DEMO)[place], order, ELOQUENT)
        return tokenize_prompt(tree, template).branches[ELOQUENT.names.index(criterion)].prompt


def test_each_token_has_a_line_and_they_are_those_of_a_run() -> None:
    words = ["--id", "3", "--criterion", "safety", "--order", "BA", "--tokens"]
    done = run_here("prompt", DEMO, "--model", "demo", *words)
    lines = [line.split(maxsplit=4) for line in done.stdout.splitlines()]
    assert tuple(int(line[2]) for line in lines) == ids_of(2, Order.BA, "safety")
    assert [int(line[0]) for line in lines] == list(range(len(lines)))
    assert {line[1] for line in lines} == {"stem", "item", "question"}
    whose = {source for line in lines for source in line[3].split("+")}
    assert whose == {"control", "own", "instruction", "response_a", "response_b"}
    text = run_here("prompt", DEMO, "--model", "demo", *words[:-1]).stdout
    assert "".join(json.loads(line[4]) for line in lines) == text.rstrip("\n")


def test_the_likeliest_tokens_follow() -> None:
    done = run_here("prompt", DEMO, "--model", "demo", "--next", 2, "--threads", 1)
    _, table = done.stdout.split("\nNext token (relevance, AB):\n")
    rows = table.splitlines()
    assert rows[0].split() == ["rank", "token", "probability", "letter", "label", "id"]
    assert rows[1].split()[0] == "1"
    assert "all other tokens" in rows[-1]
    assert sorted(re.findall(r" %\s+([ABCD])\s", table)) == list("ABCD")


def test_a_foreign_text_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text("id\tinstruction\toutput_a\toutput_b\n1\tHi\t\x1b[31mred\t\u202eno\n", encoding="utf-8")
    for words in ([], ["--tokens"]):
        done = printed("prompt", path, "--model", "demo", *words)
        assert "\x1b" not in done
        assert "\u202e" not in done
        assert "red" in done or "--tokens" in words


def test_a_run_is_shown_as_it_asked(tmp_path: Path) -> None:
    store, out = tmp_path / "runs.sqlite", tmp_path / "out.tsv"
    words = ["--mode", "labels", "--items", 2, "--orders", "one", "--criteria", "safety", "--threads", 1]
    printed("judge", DEMO, "--model", "demo", *words, "--store", store, "--out", out)
    assert "Criterion: safety." in printed("prompt", 1, "--store", store, "--id", "2")
    refused = {
        ("--order", "BA"): "only in the order AB",
        ("--criterion", "relevance"): "Not a criterion of this run",
        ("--context", 4096): "--context cannot change",
        ("--id", "3"): "has no item 3",
    }
    for options, problem in refused.items():
        wrong = run_here("prompt", 1, "--store", store, *options)
        assert (wrong.returncode, problem in wrong.stderr) == (2, True), wrong.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([DEMO], "--model is missing"),
        ([DEMO, "--model", "demo", "--id", "nix"], "has no item nix"),
        ([DEMO, "--model", "demo", "--criterion", "beauty"], "Unknown criterion: beauty"),
        ([DEMO, "--model", "demo", "--next", "0"], "--next is 0"),
        ([DEMO, "--model", "demo", "--dataset", DEMO], "--dataset names the moved dataset"),
        (["gone.tsv", "--model", "demo"], "gone.tsv"),
    ],
)
def test_what_is_wrong_is_said(words: list[object], problem: str) -> None:
    done = refusal("prompt", *words)
    assert problem in done
    assert len(done.strip().splitlines()) >= 2


def test_the_question_of_another_way_is_printed_and_read() -> None:
    words = ["prompt", DEMO, "--model", "demo", "--method", "pointwise-yes-no", "--question", "B"]
    done = run_here(*words, "--order", "BA", "--next", 2, "--threads", 1)
    text, table = done.stdout.split("\nNext token (relevance, BA):\n")
    assert "Is Response B good on this criterion?" in text
    assert text.rstrip().endswith("Answer:")
    rows = table.splitlines()
    assert rows[0].split() == ["rank", "token", "probability", "answer", "says", "id"]
    assert "A is good" in table
    assert "A is bad" in table


def test_a_way_that_is_not_asked_is_refused() -> None:
    words = ["prompt", DEMO, "--model", "demo"]
    done = run_here(*words, "--method", "pointwise-yes-no", "--question", "C")
    assert (done.returncode, done.stdout) == (2, "")
    assert "The method “pointwise yes/no” has no question “C”.\nChoose from A, B." in done.stderr
    done = run_here(*words, "--method", "chain-of-thought")
    assert "chain of thought is not possible" in done.stderr
