"""Responses that workers write are those of one computer, byte for byte, whoever is killed meanwhile."""

import json
from pathlib import Path

import pytest

from tests.cluster.asking import over
from tests.cluster.running import LocalCluster
from tests.commands import run, start, wait_until

pytestmark = pytest.mark.usefixtures("demo_tried")


def test_the_file_is_that_of_one_computer_also_after_a_kill(cluster: LocalCluster, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    rows = [{"id": f"q{number}", "prompt": f"Name {number} fruits."} for number in range(24)]
    prompts.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")

    def asked(where: str) -> list[object]:
        sampled = ["--max-tokens", 40, "--at-once", 3, "--temperature", 0.8, "--seed", 7]
        return ["generate", prompts, "--model", "demo", "--out", tmp_path / where, *sampled]

    alone = run(*asked("alone"), "--threads", 1)
    assert alone.returncode == 0, alone.stderr
    part = tmp_path / "over" / "demo-judge.jsonl.part"
    child = start(*asked("over"), *over(cluster))
    wait_until(lambda: part.exists() and part.read_bytes().count(b"\n") > 3, child)
    child.kill()
    child.communicate()
    worker = cluster.parts[-1].judging()
    child = start(*asked("over"), *over(cluster))
    if worker is not None:
        worker.kill()
    _out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    whole = (tmp_path / "alone" / "demo-judge.jsonl").read_bytes()
    assert (tmp_path / "over" / "demo-judge.jsonl").read_bytes() == whole
    assert whole.count(b"\n") == len(rows)
