"""`judge`: killed, interrupted, run twice at once, offline, with wrong input."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from engine.store.run_store import RunStore
from tests.commands import MAIN, ROOT, ended, interrupt, printed, refusal, run, run_here, start, wait_until
from tests.inhibitors import asked, inhibitor, runs

SmallModel = Callable[[str], Path]

SAMPLE = ROOT / "examples" / "sample.tsv"


class Job:
    """One `judge` command with files of its own."""

    def __init__(self, folder: Path, model: Path, *options: object) -> None:
        folder.mkdir(exist_ok=True)
        self.out = folder / "submission.tsv"
        self.store = folder / "runs.sqlite"
        self.arguments = ["judge", SAMPLE, "--model", model, "--out", self.out, "--store", self.store]
        self.arguments += ["--items", 16, "--max-explanation-tokens", 16, "--threads", 1, *options]

    def stored(self, statement: str = "SELECT count(*) FROM judged_item") -> int:
        """A number from the store; 0 until it exists."""
        if not self.store.exists():
            return 0
        db = sqlite3.connect(self.store)
        try:
            return int(db.execute(statement).fetchone()[0])
        except sqlite3.OperationalError:
            return 0
        finally:
            db.close()

    def model_is_open(self) -> bool:
        return bool(self.stored("SELECT count(*) FROM run WHERE manifest != '{}'"))


@pytest.fixture
def model(tried_model: SmallModel) -> Path:
    return tried_model("headers")


@pytest.fixture
def slower_model(tried_model: SmallModel) -> Path:
    """One that is at work long enough to be stopped."""
    return tried_model("bytes")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program of Linux")
def test_a_named_run_keeps_the_computer_awake_to_its_end(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with inhibitor(tmp_path) as told:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
        few = ("--items", 4, "--mode", "labels")
        job = Job(tmp_path / "job", model, *few, "--name", "night, Q8", "--keep-awake", "no")
        assert "\nRun 1 “night, Q8”: 4 of " in run_here(*job.arguments).stdout
        assert not asked(told)
        run(*job.arguments, "--fresh", "--keep-awake", "yes")
        (process,) = asked(told)
        assert not runs(process)


@pytest.mark.slow
def test_a_run_is_called_as_it_was_asked_for_also_where_it_goes_on(tmp_path: Path, model: Path) -> None:
    job = Job(tmp_path / "job", model, "--items", "2", "--mode", "labels")
    run_here(*job.arguments, "--name", "night", "--note", "with a larger cache")
    again = run_here(*job.arguments)  # without words the run keeps those that it has
    assert "\nRun 1 “night”: 2 of " in again.stdout
    run_here(*job.arguments, "--name", "")
    with RunStore(job.store) as store:
        assert [(run.name, run.note) for run in store.runs()] == [("", "with a larger cache")]
    refused = refusal(*job.arguments, "--name", "n" * 256)
    assert refused.startswith("The name of the run has 256 characters.")


def test_a_judged_dataset_has_an_answer(tmp_path: Path, model: Path, demo_gold: Path) -> None:
    data = tmp_path / "data.tsv"
    data.write_bytes(b"".join(demo_gold.read_bytes().splitlines(keepends=True)[:13]))
    few = ("--items", 12, "--max-explanation-tokens", 4, "--json", tmp_path / "all.json")
    job = Job(tmp_path, model, *few)
    job.arguments[1] = data
    done = ended(*job.arguments)
    assert "most-frequent-label baseline" in done.stdout
    assert "The model does not judge: do not use its labels. In its answers for 12 items:" in done.stdout
    assert "In its answers for 10 items:" in done.stderr  # while it still judged
    read = pd.read_csv(job.out, sep="\t")
    assert list(read["id"]) == list(range(1, 13))
    judgment = json.loads((tmp_path / "all.json").read_text("utf-8"))["items"][0]["judgments"]["safety"]
    assert judgment["preference"] == read["safety_preference"][0]
    assert json.loads((tmp_path / "all.json").read_text("utf-8"))["health"]["verdict"] == "does_not_judge"
    assert judgment["explanation"]["text"] == read["safety_explanation"][0]
    assert len(judgment["readings"]) == 2
    printed("check", job.out, "--against", data)


@pytest.mark.slow
def test_each_item_is_shown_the_examples_nearest_to_it(tmp_path: Path, model: Path) -> None:
    near = ["--items", 2, "--mode", "labels", "--examples", SAMPLE]
    near += ["--few-shot", 2, "--few-shot-selection", "nearest"]
    job = Job(tmp_path, model, *near)
    printed(*job.arguments)
    assert run_here(*job.arguments, "--items", 2).returncode == 0  # the same run, which is complete
    assert job.stored("SELECT count(*) FROM run") == 1
    ended(*job.arguments, "--few-shot-selection", "fixed")
    assert job.stored("SELECT count(*) FROM run") == 2
    plan = run_here(*job.arguments, "--plan")
    assert "2 of " in plan.stdout
    shown = [
        run_here("prompt", SAMPLE, "--model", model, *near[4:-1], choice) for choice in ("nearest", "fixed")
    ]
    assert all("Example 2\n" in each.stdout for each in shown)
    assert shown[0].stdout != shown[1].stdout


@pytest.mark.slow
def test_a_run_at_work_keeps_others_away_and_ctrl_c_stops_it_and_says_how_to_go_on(
    tmp_path: Path, tried_model: SmallModel
) -> None:
    job = Job(tmp_path, tried_model("slow"))
    child = start(*job.arguments)
    wait_until(job.model_is_open, child)
    second = run_here(*job.arguments)
    assert child.poll() is None
    interrupt(child)  # while a prompt is read
    _, err = child.communicate(timeout=60)
    assert second.returncode == 2
    assert f"is being judged by another process (process id {child.pid})" in second.stderr
    assert child.returncode == 1
    assert "0 of 16 items are judged and stored" in err
    assert "The same command resumes it" in err
    assert "Traceback" not in err
    assert not job.out.exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
def test_a_request_to_end_stops_cleanly_too(tmp_path: Path, slower_model: Path) -> None:
    job = Job(tmp_path, slower_model, "--items", 48, "--mode", "labels")
    child = start(*job.arguments)
    wait_until(lambda: job.stored() >= 1, child)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1
    assert f"{job.stored()} of 48 items are judged and stored" in err


def test_a_finished_run_is_exported_again_without_its_model(tmp_path: Path, model: Path) -> None:
    model = Path(shutil.copy(model, tmp_path / "model.gguf"))
    job = Job(tmp_path, model, "--items", 2, "--max-explanation-tokens", 4)
    ended(*job.arguments)
    model.unlink()
    printed("runs", "export", 1, "--out", tmp_path / "again.tsv", "--store", job.store)
    assert (tmp_path / "again.tsv").read_bytes() == job.out.read_bytes()


@pytest.mark.slow
def test_unscored_items_are_empty_cells_and_exit_code_1(tmp_path: Path, tried_model: SmallModel) -> None:
    job = Job(tmp_path, tried_model("bytes"), "--mode", "labels", "--context", 1800, "--items", 5)
    done = run_here(*job.arguments)
    assert done.returncode == 1
    assert "judgments are unscored; their cells are empty" in done.stderr
    read = pd.read_csv(job.out, sep="\t")
    assert len(read) == 5
    assert 0 < read["safety_preference"].isna().sum() < 5
    shown = run_here("runs", "show", 1, "--store", job.store)
    assert "tokens, the context holds 1,800" in shown.stdout


def test_a_subset_of_the_criteria_in_one_order_and_afresh(tmp_path: Path, model: Path) -> None:
    criteria = ["--criteria", "safety,relevance", "--orders", "one", "--mode", "labels", "--items", 2]
    job = Job(tmp_path, model, *criteria)
    ended(*job.arguments)
    assert list(pd.read_csv(job.out, sep="\t")) == ["id", "relevance_preference", "safety_preference"]
    assert "Run 2" in run_here(*job.arguments, "--fresh").stdout
    assert run_here("runs", "--store", job.store).stdout.count("2 of 2") == 2


def test_no_socket_is_opened_and_no_text_of_a_dataset_is_logged_or_stored(
    tmp_path: Path, small_model: SmallModel, monkeypatch: pytest.MonkeyPatch, private_home: Path
) -> None:
    """The whole job, its child processes included, with a hook that ends it at any use of the network."""
    model = small_model("headers")  # to make one reads a file
    hook = tmp_path / "hook"
    hook.mkdir()
    seen = tmp_path / "hooked"
    (hook / "sitecustomize.py").write_text(
        "import os, sys\n"
        f"open({str(seen)!r}, 'a').write('x')\n"
        "def hook(event, _arguments):\n"
        "    if event.startswith('socket.') and event != 'socket.gethostname':\n"
        "        os._exit(77)\n"
        "sys.addaudithook(hook)\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(hook))
    word, data = "unheard-of-word", tmp_path / "data.tsv"
    header = "id\tinstruction\toutput_a\toutput_b"
    data.write_text(f"{header}\n1\tSay {word}.\t{word}!\tNo {word}.\n", encoding="utf-8")
    # One process reads the file; a model that was never tried is tried by another, two render its template.
    words = ["--model", model, "--max-explanation-tokens", 8, "--threads", 1]
    done = run("judge", data, *words, "--out", tmp_path / "submission.tsv")
    assert done.returncode == 0, done.stderr
    assert len(seen.read_text("utf-8")) == 5
    kept = [path for path in private_home.rglob("*") if path.is_file()]
    assert any(path.suffix == ".sqlite" for path in kept)
    assert not [path for path in kept if path.suffix == ".log" or word.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("options", "problem", "hint"),
    [
        (["--criteria", "charm"], "Unknown criterion: charm", "Choose from relevance"),
        (["--items", "0"], "--items is 0", "Use 1 or more"),
        (["--context", "9000"], "a context of 9,000 tokens is more than the 8,192", "--context 8192"),
        (["--context", "256"], "tokens, the context holds 256: no item fits", "larger --context"),
        (["--temperature", "-1"], "The temperature is -1.0", "Use 0 (greedy)"),
        (["--criteria", ","], "--criteria: cannot read ','", "relevance,naturalness"),
        (["--few-shot", "2"], "--few-shot without --examples", "--examples"),
        (["--few-shot-selection", "nearest"], "--few-shot-selection without --examples", "--examples"),
        (["--few-shot-selection", "near", "--examples", SAMPLE], "invalid choice: 'near'", "nearest"),
        (
            ["--few-shot-selection", "nearest", "--few-shot", "999", "--examples", SAMPLE],
            "999 examples were requested",
            "--few-shot ",
        ),
        (["--out", "submission.csv"], "a submission is TSV", "Name it submission.tsv"),
        (["--few-shot", "0", "--examples", SAMPLE], "The number of examples is 0", "Use 1 or more"),
        (["--out", "nowhere/at/all.tsv"], "does not exist", "Create the folder"),
        (["--examples", "missing.tsv"], "missing.tsv", "name"),
        (["--model", "missing.gguf"], "missing.gguf", "Check"),
    ],
)
def test_wrong_input_is_a_problem_with_a_remedy(
    tmp_path: Path, slower_model: Path, options: list[object], problem: str, hint: str
) -> None:
    done = refusal(*Job(tmp_path, slower_model, *options).arguments)
    assert problem in done
    assert hint in done


def test_an_unknown_command_is_answered_with_the_usage() -> None:
    done = run("jugde")
    assert done.returncode == 2
    assert "There is no command and no file 'jugde'." in done.stderr
    assert "judge           judge a dataset" in done.stderr


@pytest.mark.parametrize("typed", ["judge items.tsv", "models devices"])  # loaded at once; where it is used
def test_a_llama_cpp_that_cannot_be_loaded_is_no_fault_of_the_program(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    done = run(*typed.split())
    assert done.returncode == 2
    problem, hint = done.stderr.splitlines()
    assert problem.startswith("llama.cpp cannot be loaded: FileNotFoundError: ")
    assert hint == "Set Tiebreak up again."


def test_help_does_not_wait_for_the_libraries() -> None:
    heavy = {"llama_cpp", "numpy", "pandas", "pyarrow"}
    program = f"import sys, main; main.main(['--help']); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=MAIN.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    ("item_id", "code", "sentence"),
    [
        ("NA", 2, "a submission cannot hold these ids"),
        ("007", 0, "reads these ids of the submission as numbers"),
    ],
)
def test_ids_that_pandas_changes_are_met_before_the_run(
    tmp_path: Path, model: Path, item_id: str, code: int, sentence: str
) -> None:
    data = tmp_path / "data.json"
    record = {"id": item_id, "instruction": "Hi", "output_a": "Hello", "output_b": "No"}
    data.write_text(json.dumps([record]), encoding="utf-8")
    job = Job(tmp_path, model, "--mode", "labels")
    done = run_here("judge", data, *job.arguments[2:])
    assert done.returncode == code
    assert sentence in done.stderr
    assert job.stored("SELECT count(*) FROM run") == (code == 0)
