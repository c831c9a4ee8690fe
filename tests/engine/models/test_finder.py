"""Model files found in the folders of many programs, all or by a part of the name."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.models.finder import FoundModel, find_models, models_named, stamps
from engine.models.model_file import read_model_file
from tests.able import needs_links

SmallModel = Callable[[str], Path]
IN_HEADER = b"random weights"


Put = Callable[[Path], Path]
Made = Callable[..., Path]
Named = Callable[[str], list[Path]]


def paths(found: list[FoundModel]) -> list[Path]:
    return [entry.path for entry in found]


def test_models_are_found_at_any_depth_and_described(tmp_path: Path, put: Put) -> None:
    tree = tmp_path / "tree"
    deep, upper = put(tree / "a" / "b" / "c" / "deep.gguf"), put(tree / "UPPER.GGUF")
    found = list(find_models([tree]))
    assert paths(found) == [upper, deep]
    assert [entry.model for entry in found] == [read_model_file(upper), read_model_file(deep)]
    assert {entry.source for entry in found} == {"tree"}


@pytest.mark.parametrize(
    "name",
    [
        *("incomplete-x.gguf", "x.gguf.part", "._x.gguf", "x.bin", "sha256-" + "0" * 64),
        *("mmproj-x.gguf", "x.mmproj-Q8_0.gguf", "x-mmproj-f16.gguf"),
    ],
)
def test_unfinished_downloads_and_helpers_are_left_out(tmp_path: Path, put: Put, name: str) -> None:
    put(tmp_path / "tree" / name)
    assert not list(find_models([tmp_path / "tree"]))


def test_stamps_tell_what_came_grew_or_went_in_any_part_of_a_model(tmp_path: Path) -> None:
    first, second = (tmp_path / "deep" / f"m-0000{part}-of-00002.gguf" for part in (1, 2))
    first.parent.mkdir()
    (first.parent / "m.gguf.part").write_bytes(b"GGUF")
    chosen = tmp_path / "chosen.bin"
    for path in (first, second, chosen):
        path.write_bytes(b"GGUF")
    before = stamps([first.parent], [chosen, tmp_path / "gone.gguf"])
    assert set(before) == {first, second, chosen}
    second.write_bytes(b"GGUF and more")
    chosen.unlink()
    now = stamps([first.parent], [chosen])
    assert {path: now[path] == before[path] for path in now} == {first: True, second: False}


def test_bad_files_and_folders_come_with_errors_and_the_rest_is_found_once(tmp_path: Path, put: Put) -> None:
    good, bad = put(tmp_path / "tree" / "inner" / "good.gguf"), tmp_path / "tree" / "bad.gguf"
    bad.write_bytes(b"<html>")
    missing, one, other = find_models([tmp_path / "gone", tmp_path / "tree" / "inner", tmp_path / "tree"])
    assert missing.error
    assert "gone: the folder cannot be read" in missing.error.problem
    assert (one.path, one.error) == (good, None)
    assert (other.path, other.model) == (bad, None)
    assert other.error
    assert "web page" in other.error.problem


def link(path: Path, target: Path) -> None:
    path.symlink_to(target, target_is_directory=target.is_dir())


@needs_links
def test_links_are_followed_their_target_listed_once_and_loops_do_no_harm(tmp_path: Path, put: Put) -> None:
    tree = tmp_path / "tree"
    blob, snapshots = put(tree / "blobs" / "0123"), tree / "snapshots"
    snapshots.mkdir()
    link(snapshots / "first.gguf", blob)
    link(snapshots / "second.gguf", blob)
    link(tree / "up", tree)
    link(tree / "itself.gguf", tree / "itself.gguf")
    link(tree / "gone.gguf", tmp_path / "nowhere.gguf")
    assert paths(list(find_models([tree]))) == [snapshots / "first.gguf"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_an_unreadable_folder_is_reported_and_the_rest_is_found(tmp_path: Path, put: Put) -> None:
    if os.access("/", os.W_OK):
        pytest.skip("this user may read everything")
    closed = put(tmp_path / "tree" / "closed" / "model.gguf").parent
    model = put(tmp_path / "tree" / "open" / "model.gguf")
    closed.chmod(0)
    try:
        found = {entry.path: entry.error for entry in find_models([tmp_path / "tree"])}
    finally:
        closed.chmod(0o700)
    assert set(found) == {closed, model}
    assert found[closed] is not None


# A part of a name


@pytest.fixture
def made(small_model: SmallModel, tmp_path: Path) -> Made:
    """Puts a sound model into the folder `tree`; `header`: the name that it gives itself, 14 letters."""

    def made(name: str, header: bytes = IN_HEADER) -> Path:
        assert len(header) == len(IN_HEADER)
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small_model("chatml").read_bytes().replace(IN_HEADER, header))
        return path

    return made


@pytest.fixture
def named(tmp_path: Path) -> Named:
    """The files of the models in `tree` that are called so."""
    return lambda text: [place.path for place in models_named(text, [tmp_path / "tree"])]


@pytest.fixture
def no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """No header is read."""

    def read(path: Path) -> None:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr("engine.models.model_file.read_model_file", read)


@pytest.mark.parametrize("text", ["sparrow", "SPARROW", "Quiet-Sp", "w-1b-Q8", "quiet-sparrow-1b-q8.gguf"])
def test_a_part_of_one_files_name_finds_it_without_its_header(
    made: Made, named: Named, no_header: None, text: str
) -> None:
    sparrow = made("deep/er/Quiet-Sparrow-1b-Q8.gguf")
    made("Loud-Goose-7b-Q4.gguf")
    assert named(text) == [sparrow]


def test_a_folder_that_names_its_model_finds_it_and_a_whole_name_goes_before_a_part_of_a_longer_one(
    made: Made, named: Named, no_header: None
) -> None:
    goose = made("Loud-Goose-7b-Q4/model.gguf")
    short, _ = made("sparrow.gguf"), made("sparrow-7b.gguf")
    assert named("goose") == [goose]
    assert named("Sparrow") == named("sparrow.gguf") == [short]


def test_a_part_finds_all_whose_names_have_it_and_nothing_where_none_fits(
    made: Made, named: Named, tmp_path: Path
) -> None:
    models = [made("one/a-1b.gguf"), made("one/b-1b.gguf"), made("two/a-1b.gguf")]
    made("two/a-7b.gguf")
    assert named("1b") == models
    made("goose.gguf").write_bytes(b"<html>")
    assert named("sparrow") == []
    assert models_named("sparrow", [tmp_path / "nowhere"]) == []


def test_the_name_in_a_header_counts_where_no_files_name_fits(made: Made, named: Named) -> None:
    made("model-00.gguf")
    sparrow = made("model-01.gguf", b"Quiet Sparrow!")
    assert named("sparrow") == [sparrow]
    assert named("model-01") == [sparrow]
    (found,) = models_named("sparrow", [sparrow.parent])
    assert found.name == "Quiet Sparrow!"


def test_of_several_those_that_can_judge_are_meant_or_all_where_none_can(made: Made, named: Named) -> None:
    whole, cut = made("sparrow-q8.gguf"), made("sparrow-q4.gguf")
    cut.write_bytes(cut.read_bytes()[:5000])
    assert named("sparrow") == [whole]
    assert named("sparrow-q4") == [cut]
    whole.write_bytes(b"<html>")
    assert named("sparrow") == [cut, whole]


def test_a_split_model_counts_once_by_its_first_part(made: Made, named: Named, no_header: None) -> None:
    parts = [made(f"one/sparrow-0000{number}-of-00003.gguf") for number in (1, 2, 3)]
    goose = made("goose-00001-of-00001.gguf")
    assert named("sparrow") == parts[:1]
    assert named("goose") == [goose]
