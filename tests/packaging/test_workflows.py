"""The workflows and forms of `.github/`: their schemas, what they trust, when a bundle is made public."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.core import VERSION
from tests.commands import ROOT
from tests.packaging.steps import ran

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
BUNDLE = GITHUB / "workflows" / "bundle.yml"
TESTS = GITHUB / "workflows" / "tests.yml"
_USES = re.compile(r"uses: (\S+)@(\S+)(.*)")
_FILES = re.compile(r"\b(?:packaging|requirements)[\w./-]*\.\w+")
of_workflows = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def read(path: Path) -> dict[str | bool, Any]:
    """A file of YAML; the key `on` is read as a truth."""
    content: dict[str | bool, Any] = yaml.safe_load(path.read_text("utf-8"))
    return content


def place(steps: list[dict[str, Any]], name: str) -> int:
    """Where a step stands."""
    return [step.get("name") for step in steps].index(name)


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "paths"), [("workflows", WORKFLOWS), ("issue-forms", FORMS)])
def test_workflows_and_forms_fit_the_schemas_that_come_with_check_jsonschema(
    schema: str, paths: list[Path]
) -> None:
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.github-{schema}"]
    subprocess.run([*command, *map(str, paths)], check=True)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_for_the_diagnostics_and_can_do_without(path: Path) -> None:
    fields = {field["id"]: field for field in read(path)["body"] if "id" in field}
    assert "--diagnostics" in fields["diagnostics"]["attributes"]["description"]
    assert not fields["diagnostics"].get("validations", {}).get("required")
    assert "selftest" not in fields


@of_workflows
def test_actions_are_named_by_commit_with_their_version_beside_it(path: Path) -> None:
    for _action, commit, rest in _USES.findall(path.read_text("utf-8")):
        assert re.fullmatch(r"[0-9a-f]{40}", commit)
        assert re.fullmatch(r"  # v\d+(\.\d+)*", rest)


def test_an_action_has_one_commit() -> None:
    used = {found[:2] for path in WORKFLOWS for found in _USES.findall(path.read_text("utf-8"))}
    assert len(used) == len({action for action, _ in used})


@of_workflows
def test_a_job_has_its_own_rights_and_an_end(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["permissions"]
        assert "uses" in job or job["timeout-minutes"]  # another workflow's jobs have theirs


@of_workflows
def test_what_a_workflow_runs_is_there(path: Path) -> None:
    named = _FILES.findall(path.read_text("utf-8"))
    assert named
    assert not [name for name in named if not (ROOT / name).is_file()]


@of_workflows
def test_what_strangers_can_start_has_no_secrets(path: Path) -> None:
    started_by = read(path)[True]  # as YAML understands `on`
    assert "pull_request_target" not in started_by
    by_strangers = {"pull_request", "issues", "issue_comment"} & started_by.keys()
    assert not (by_strangers and "secrets." in path.read_text("utf-8"))


def test_only_who_publishes_may_write() -> None:
    jobs = read(BUNDLE)["jobs"]
    rights = [(name, right, how) for name, job in jobs.items() for right, how in job["permissions"].items()]
    writing = {(name, right) for name, right, how in rights if how == "write"}
    assert writing == {("attest", "id-token"), ("attest", "attestations"), ("publish", "contents")}
    assert (jobs["publish"]["needs"], jobs["attest"]["needs"]) == ("attest", "bundle")


def test_of_a_tag_nothing_is_built_before_its_tests_passed() -> None:
    jobs = read(BUNDLE)["jobs"]
    assert jobs["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert "workflow_call" in read(TESTS)[True]
    assert (jobs["tests"]["needs"], jobs["bundle"]["needs"]) == ("version", ["version", "tests"])
    assert jobs["version"]["if"] == "startsWith(github.ref, 'refs/tags/')"
    assert jobs["bundle"]["if"] == (
        "${{ !cancelled() && (needs.tests.result == 'success' || !startsWith(github.ref, 'refs/tags/')) }}"
    )
    assert "needs.bundle.result != 'skipped'" in jobs["attest"]["if"]
    assert "if" not in jobs["tests"]


@pytest.mark.skipif(sys.platform == "win32", reason="the job runs on Linux")
@pytest.mark.parametrize(
    ("tag", "code"), [(f"v{VERSION}", 0), (VERSION, 1), (f"v{VERSION}1", 1), ("v", 1), ("main", 1)]
)
def test_a_tag_is_held_to_the_version(tag: str, code: int) -> None:
    steps = read(BUNDLE)["jobs"]["version"]["steps"]
    script = steps[place(steps, "Hold the tag to the version")]["run"]
    as_the_service = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
    done = ran(*as_the_service, env={**os.environ, "GITHUB_REF_NAME": tag}, cwd=ROOT, check=False)
    assert done.returncode == code
    assert (f"v{VERSION}" in done.stdout) is bool(code)


def test_what_is_published_was_tried_as_it_is() -> None:
    jobs = read(BUNDLE)["jobs"]
    steps = jobs["bundle"]["steps"]
    tried, kept = place(steps, "Try it"), place(steps, "Keep what works")
    assert max(place(steps, f"Sign the {system} bundle") for system in ("Windows", "macOS")) < tried < kept
    assert steps[kept]["with"]["name"].startswith("works-")
    assert "if" not in steps[kept]
    for name in ("attest", "publish"):
        got = [step["with"] for step in jobs[name]["steps"] if "download-artifact" in step.get("uses", "")]
        assert [one["pattern"] for one in got] == ["works-*"]


def test_signing_is_skipped_where_there_are_no_secrets_and_that_is_said() -> None:
    steps = read(BUNDLE)["jobs"]["bundle"]["steps"]
    with_secrets = [step for step in steps if "secrets." in str(step)]
    assert len(with_secrets) == 2
    assert all(step["if"].startswith("env.CAN_SIGN_") for step in with_secrets)
    said = steps[place(steps, "Say whether it is signed")]
    assert "if" not in said
    assert said["run"].count("**not signed**") == 2


def test_signpath_is_asked_with_the_configuration_that_is_here() -> None:
    (asked,) = [step["with"] for step in read(BUNDLE)["jobs"]["bundle"]["steps"] if "signpath/" in str(step)]
    name = f"{asked['artifact-configuration-slug']}.xml"
    assert (ROOT / ".signpath" / "artifact-configurations" / name).is_file()


@pytest.mark.skipif(not (shutil.which("git") and (ROOT / ".git").exists()), reason="not a checkout of git")
def test_a_checkout_on_windows_has_the_same_bytes() -> None:
    names = ran("git", "ls-files", "-z", cwd=ROOT).stdout
    told = ran("git", "check-attr", "-z", "--stdin", "text", cwd=ROOT, input=names).stdout.split("\0")
    assert set(told[2::3]) == {"unset"}  # of path, attribute, value


# What continuous integration starts, and with what of the computer's environment


MAKE = '#!/bin/sh\necho "$@" >> "$HOME/made"\nenv > "$HOME/environment"\n'


@pytest.mark.skipif(sys.platform == "win32", reason="a shell")
def test_the_tests_are_given_path_home_and_lang_alone(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(MAKE, encoding="utf-8")
    make.chmod(0o755)
    given = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "ODD": "1"}
    subprocess.run([ROOT / ".ci" / "run"], env=given, cwd=tmp_path, check=True)
    made = (tmp_path / "made").read_text("utf-8").split()
    assert made == ["test", "test-models", "test-desktop", "test-oldest", "test-cluster"]
    names = {line.partition("=")[0] for line in (tmp_path / "environment").read_text("utf-8").splitlines()}
    of_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names - of_the_shell == {"PATH", "HOME", "LANG"}
