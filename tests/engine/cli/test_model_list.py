"""`models` on files as they are published: how each is listed, or why it cannot judge."""

import re
from pathlib import Path

import pytest

from tests.commands import printed, run_here
from tests.model_files import JUDGES, OTHERS, Listed, PublishedFile
from tests.small_models import SPLIT, split_model


@pytest.mark.parametrize(("file", "listed"), JUDGES, ids=[file.path for file, _ in JUDGES])
def test_a_judge_is_listed_as_people_know_it(tmp_path: Path, file: PublishedFile, listed: Listed) -> None:
    file.write(tmp_path)
    done = run_here("models", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    _header, line, *_ = done.stdout.splitlines()
    name, quantisation, _parameters, _size, context, _memory, fits, source, path = re.split(" {2,}", line)
    assert (name, quantisation, context) == (listed.name, listed.quantisation, listed.context)
    assert (fits, source, Path(path).is_file()) == ("fits", tmp_path.name, True)
    said = [one for one in done.stdout.splitlines() if one.startswith(f"{listed.name}: ")]
    assert len(said) == len(listed.remarks)
    for remark, one in zip(listed.remarks, said, strict=True):
        assert remark in one


@pytest.mark.parametrize(("file", "name", "why"), OTHERS, ids=[file.path for file, *_ in OTHERS])
def test_what_cannot_judge_is_named_with_the_reason(
    tmp_path: Path, file: PublishedFile, name: str, why: str
) -> None:
    path = file.write(tmp_path)
    done = run_here("models", tmp_path)
    assert "No usable models found" in done.stdout
    first, problem, _hint = done.stderr.splitlines()
    assert first == f"Not usable: {name}, {path}"
    assert why in problem
    assert why in run_here("models", "check", path).stderr


def test_a_check_tells_both_names_and_all_parts(tmp_path: Path) -> None:
    first = split_model(tmp_path)
    done = printed("models", "check", first.with_name(SPLIT[1]))
    facts = dict(re.split(" {2,}", line) for line in done.splitlines() if "  " in line)
    assert facts["file"] == f"{first}, and its 2 other parts"
    assert (facts["name"], facts["name in header"]) == ("Split-1B-Instruct-F16", "random weights")


def test_a_mixture_is_described_with_its_experts(tmp_path: Path) -> None:
    (mixture,) = [file for file, _ in JUDGES if file.architecture == "qwen3moe"]
    done = run_here("models", "check", mixture.write(tmp_path))
    assert "0.3 M (8 of 128 experts at a time)" in done.stdout
